/* sorted_kernels.h: C = alpha A B + beta C with A in CSR and an order of its rows by length
   (kernels/sorted/sorted_format.h).

   The rules of kernels/common/device.h.  Direct: A's offsets, columns and values are those of the
   moment.  Right for any A, whatever it was when it was sorted.

     value type of A and B      C              compute
     f16                        f16, f32       f32
     bf16                       bf16, f32      f32
     f32                        f32            f32
     f64                        f64            f64

   Rows of B are whole loads of 16 bytes: n columns of 16 bytes or a multiple.  They are read where
   they stand if B is row-major and they begin at multiples of 16, else from a copy in the
   workspace.  C in either order.  Indices of 32 or 64 bits.  Deterministic: the order of a sum
   depends on the row's length, its place, the shape and sizes, on nothing that varies from call to
   call.  */
#ifndef SHUNT_SORTED_KERNELS_H
#define SHUNT_SORTED_KERNELS_H

#include "kernels/common/device.h"
#include "kernels/sorted/sorted_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a launch is cut.  Rows by length, each limit 0 or one that is counted
   (shunt_sorted_least):

     huge and more     a cluster of `cluster` blocks each
     limit and more    a block each
   and of the others, where share is 0,
     wide and more     a warp each
     less              a team of 2^team_log2 lanes each
     below brief       several to a team of 2^lanes_log2 lanes, as one list
   or else, A being read without staging it,
     2^k shares        a team of 2^(k + 1) groups of 2^lanes_log2 lanes each
     below a share     a group each  */
struct shunt_sorted_shape {
  int chunk;                 /* rows of B in flight per lane: 4 or 8; with brief, or 2 words, 4 */
  int words;                 /* of a lane, 16 bytes of a row of B each: 1; or 2 where C is whole
                                slices of them, brief and share are 0 */
  int lanes_log2, team_log2; /* 1 .. 5, with share 0 .. 5; at least 2, and lanes_log2 */
  int long_lanes_log2;       /* of the blocks that have a row each: 1 .. 5 */
  int limit, huge, cluster;  /* cluster: 1, 2, 4 or 8 */
  int wide;
  int brief;  /* 0, 4, 8 or 16; 0 where lanes_log2 is 1 */
  int spread; /* of those: 0 .. 2; they have 2^spread times the lanes that fetch them, and a warp as
                 many fewer; at most lanes_log2, and 1 less for each power of 2 of brief beyond 4 */
  int share;  /* 0, or 4, 8 .. 64: nothing but lanes_log2 and what long rows have counts then */
};

enum {
  SHUNT_SORTED_LEAST_TEAM_LOG2 = 2,
  SHUNT_SORTED_UNSTAGED_CHUNK = 4 /* rows of B in flight per lane where A is not staged */
};

/* Can shunt_sorted_spmm_cuda take it?  Types, orders, sizes and alignment are looked at. */
bool shunt_sorted_spmm_fits(const struct shunt_spmm *p);

/* The shape that was found to be the fastest for rows as counted: host memory.  d: its
   multiprocessors are read. */
struct shunt_sorted_shape shunt_sorted_spmm_shape(const struct shunt_spmm *p,
                                                  const struct shunt_sorted_counts *known,
                                                  const struct shunt_device *d);

/* us that the lines say which that shape was chosen by (sorted_layers.h); 0: by none.  Host time:
   up to a microsecond at 2 GHz where there are.  */
double shunt_sorted_spmm_us(const struct shunt_spmm *p, const struct shunt_sorted_counts *known,
                            const struct shunt_device *d);

/* Columns of C, in parts that a group has; V: columns of a lane. */
static inline int64_t shunt_sorted_slices(int64_t n, int V, int lanes_log2)
{
  return (n + (V << lanes_log2) - 1) / (V << lanes_log2);
}

/* us that a row of B for each nonzero takes, from L2; size: bytes of an element. */
static inline double shunt_sorted_gathered_us(int64_t nonzeros, int64_t n, int64_t size)
{
  return (double)nonzeros * (double)n * (double)size / 8.5e6;
}

/* The product; every shape gives a right result.

   v: made by conv/sorted/sorted_conv.h for as many rows; complete when the stream comes to this
   launch.  known: its counts, host memory; all 0 where nothing is known, which costs time.
   Workspace: 256-byte aligned, shunt_sorted_spmm_workspace(p) bytes, for a copy of B; 0 where B is
   read where it stands.

   SHUNT_E_UNSUPPORTED: does not fit; a shape out of range.  SHUNT_E_ARGUMENT: sizes that do not
   match.  SHUNT_E_WORKSPACE: too little of it.  SHUNT_E_CUDA: a launch failed.  SHUNT_E_WRITTEN:
   one failed behind another that writes C.  */
size_t shunt_sorted_spmm_workspace(const struct shunt_spmm *p);
shunt_status shunt_sorted_spmm_cuda(const struct shunt_spmm *p, const struct shunt_sorted *v,
                                    const struct shunt_sorted_counts *known,
                                    const struct shunt_sorted_shape *shape,
                                    const struct shunt_device *d, void *workspace,
                                    size_t workspace_bytes, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
