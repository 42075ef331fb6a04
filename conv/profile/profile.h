/* profile.h: what a sparse pattern looks like, for the choice of a format.

   The rules of kernels/common/device.h.  Counts are exact, and the same on device and host.  */
#ifndef SHUNT_PROFILE_H
#define SHUNT_PROFILE_H

#include "kernels/common/device.h"
#include "kernels/sorted/sorted_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `groups_equal[v]` counts the aligned groups of 8, 4, 2 rows (v = 0, 1, 2; a ragged last group
   does not count) whose rows have the same column list, in the same order, and at least one entry;
   `groups_nonempty[v]` those with at least one entry.  */
struct shunt_profile {
  int64_t rows, cols, nnz;
  int64_t empty_rows;
  int64_t longest_row;
  int64_t unsorted_rows; /* columns not strictly ascending (so: unsorted or repeated) */
  int64_t crowded_rows;  /* some entry and the one two before it in the same aligned four columns:
                                 not 2:4 */
  int64_t groups_nonempty[3];
  int64_t groups_equal[3];
  double row_length_squares; /* sum over rows of length^2: skewness */
  /* How rows that are taken side by side wait for each other: over the aligned groups of 4 rows, by
     how much each row is shorter than its group's longest, lengths above SHUNT_PROFILE_ABREAST
     taken for that.  */
  int64_t idle_steps;
  /* Of values of 16 bits, else 0.  Aligned blocks of 16 rows, evenly spread, at most
     SHUNT_PROFILE_BLOCKS: how many there are (of ceil(rows / 16)), and tiles of 32 columns they
     take if columns that none of a block's rows has are left out (columns modulo 32768: never more
     than there are).  A block with an impossible offset counts as empty.  */
  int64_t merged_blocks, merged_tiles;
  struct shunt_sorted_counts lengths; /* how many rows are how long; all 0: nobody counted */
  /* Of vertical strips of SHUNT_PROFILE_STRIP columns: runs of entries, in the order in which a row
     has them, in one strip, which are the rows of strips with an entry where no row descends; their
     normalised entropy, and how entries crowd into them (conv/dcsr/dcsr_traversal.h, SC '19).  */
  int64_t segments;
  double entropy, ssf;
  uint64_t serial; /* written last by the device: equals the serial asked for */
};
/* out: pinned host memory (device-accessible), filled when the stream gets
   there; out->serial == serial tells a polling host that all of it is.
   scratch: SHUNT_PROFILE_SCRATCH bytes of device memory, zeroed inside.  */
#define SHUNT_PROFILE_SCRATCH 256
enum { SHUNT_PROFILE_BLOCKS = 8192, SHUNT_PROFILE_MODULUS = 32768, SHUNT_PROFILE_STRIP = 64 };
enum { SHUNT_PROFILE_ABREAST = 64 };
shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_profile *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_profile_csr_host(const struct shunt_csr *a, struct shunt_profile *out);

/* The long profile of `shunt inspect` (host only): shares of the structures that formats use.
   Tiles are counted in conv/tile/tile_conv.h.  */
struct shunt_structure {
  double fill[3];         /* nnz / (V x nonzero aligned V x 1 vectors), V = 8, 4, 2 */
  double strip_occupancy; /* mean share of non-empty rows in a 64-wide vertical strip */
};
shunt_status shunt_structure_csr_host(const struct shunt_csr *a, struct shunt_structure *out);

#ifdef __cplusplus
}
#endif
#endif
