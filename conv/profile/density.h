/* density.h: where the entries of a pattern lie, on a grid of few cells, and of which vectors they
   are: the picture of a matrix in the report of a run.

     a pattern                  cells               in each, entries by kind
     +----------------+         +---+---+---+       tile    all 8 rows of the aligned group have
     | x x   .        |         |   |   |   |               half or more of the 32 aligned columns;
     | x x     x      |  --->   +---+---+---+       8 x 1   of no tile, and all 8 rows have an
     |        x  x    |         |   |   |   |               entry in that column,
     +----------------+         +---+---+---+       4 x 1   or the 4 aligned rows of the entry's,
                                                    2 x 1   or the 2;
                                                    2:4     of none of them, and one of just two
                                                            in the aligned 4 columns of its row
                                                    other   none of these

   Row i lies in the cells of line i * high / rows, column j in those of place j * wide / cols.

   Large patterns are looked at in part, evenly spread: SHUNT_DENSITY_GROUPS of the aligned groups
   of 8 rows, and SHUNT_DENSITY_ENTRIES of a row's entries, each of which then stands for those up
   to the next one.  So the counts of a row add up to its entries, and the work is bounded.

   Rows are searched as if their columns ascend.  Where they don't, an entry of a vector or tile may
   be counted as of another kind; counts without regard to the kind are the same.

   The rules of kernels/common/device.h.  Counts are the same on device and host where the rows'
   columns ascend.  An impossible offset makes its row empty, and a column that is outside of the
   matrix is left out.  */
#ifndef SHUNT_DENSITY_H
#define SHUNT_DENSITY_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_density_kind {
  SHUNT_DENSITY_8,
  SHUNT_DENSITY_4,
  SHUNT_DENSITY_2,
  SHUNT_DENSITY_24,
  SHUNT_DENSITY_TILE,
  SHUNT_DENSITY_OTHER,
  SHUNT_DENSITY_KINDS
};
enum { SHUNT_DENSITY_CELLS = 32, SHUNT_DENSITY_GROUPS = 8192, SHUNT_DENSITY_ENTRIES = 512 };
enum { SHUNT_DENSITY_TILE_WIDE = 32, SHUNT_DENSITY_TILE_LEAST = SHUNT_DENSITY_TILE_WIDE / 2 };

struct shunt_density {
  int64_t rows, cols;
  int32_t high, wide; /* cells, at most SHUNT_DENSITY_CELLS, fewer in small ones */
  uint64_t looked[SHUNT_DENSITY_CELLS]; /* rows looked at in each line of cells */
  uint64_t entries[SHUNT_DENSITY_CELLS][SHUNT_DENSITY_CELLS][SHUNT_DENSITY_KINDS];
  uint64_t serial; /* written last by the device: equals the serial asked for */
};

/* out: pinned host memory, filled when the stream gets there; out->serial == serial tells a host
   that polls that all of it is.  scratch: SHUNT_DENSITY_SCRATCH bytes of device memory, aligned to
   8, zeroed inside.  */
enum { SHUNT_DENSITY_SCRATCH = sizeof(struct shunt_density) };
shunt_status shunt_density_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_density *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_density_csr_host(const struct shunt_csr *a, struct shunt_density *out);

/* ---- what both twins take from it ---- */

/* Cells in a line, or lines of cells, for `n` columns or rows. */
static inline int32_t shunt_density_cells(int64_t n)
{
  return (int32_t)(n < SHUNT_DENSITY_CELLS ? n : SHUNT_DENSITY_CELLS);
}

/* Rows or columns, of so many, that place i of n has. */
static inline int64_t shunt_density_extent(int64_t of, int n, int i)
{
  return ((i + 1) * of + n - 1) / n - (i * of + n - 1) / n;
}

#ifdef __cplusplus
}
#endif
#endif
