/* shunt_kernels.h: the launchers of kernels/.

   Kernels compute and never decide: a launcher checks that it was built for
   what it is given (else SHUNT_E_UNSUPPORTED), computes its grid and enqueues.
   It never reads the environment, logs, allocates, synchronises or uses any
   stream but the one given; so every *_cuda function is legal inside stream
   capture and may be called from any thread.  All results are deterministic:
   the same inputs give the same bits.

   Workspace: device memory of at least the size that the matching
   *_workspace function returned for the same sizes and types, aligned to 256
   bytes, content undefined before and after, private to the call until the
   stream has passed it.  *_workspace functions depend on sizes, types, strides
   and `multiprocessors` only, never on pointers or on data.

   *_host functions are the slow, obviously right twins (and, where OpenMP is
   on, the host engine): same mathematics over host pointers.  */
#ifndef SHUNT_KERNELS_H
#define SHUNT_KERNELS_H

#include <stdbool.h>

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CUDA stream, opaque here so that builds without CUDA need no header. */
typedef struct CUstream_st *shunt_stream;

/* What a launcher may know of the device it launches on. */
struct shunt_device {
  int multiprocessors;    /* 132 on an H200 */
  int compute_capability; /* 90 for 9.0 */
  int shared_per_block;   /* bytes a block may opt in to */
  int64_t l2_bytes;
};

/* ---- SpMM, any CSR matrix (kernels/spmm_csr_rows*.cu) -------------------
   Work is split by nonzeros, not by rows, so that long rows spread over many
   blocks; partial sums of split rows are added in a fixed order by a second
   kernel.  Types: f16/bf16 -> same or f32 (compute f32); f32; f64; i8 -> i32
   (compute i32) or f32 (compute f32).  B and C in either order.  When
   `only_if` is set the launch is one small kernel that needs no workspace
   (slower, for the rare repair).  */
size_t shunt_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_csr_spmm_merge_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                       void *workspace, size_t workspace_bytes,
                                       shunt_stream stream);
/* The same result with one launch: a group of lanes per row, long rows by blocks that look
   for them.  Right for any matrix, the faster of the two unless a row has some 16,000
   entries.  longest_row: how long the longest was when somebody looked, -1 if nobody
   did; a hint that may be wrong.  The workspace (as above) is needed only for a column-major
   B.  No `only_if`; fewer than 2^30 rows and nonzeros (else SHUNT_E_UNSUPPORTED).  */
shunt_status shunt_csr_spmm_split_cuda(const struct shunt_spmm *p, int64_t longest_row,
                                       const struct shunt_device *d, void *workspace,
                                       size_t workspace_bytes, shunt_stream stream);
/* Bits of the word that csr -> dense and coo -> csr set. */
enum { SHUNT_IRREGULAR = 4 /* a column repeats within a row, or is out of range */ };

/* When a repair's launch may begin, which is always behind one kernel, the product. */
enum shunt_guard_start {
  SHUNT_GUARD_BEHIND,    /* when that has ended */
  SHUNT_GUARD_EARLY,     /* when that lets the next one in (kernels/common/early_launch.cuh), */
  SHUNT_GUARD_OVERLAPPED /* when all its blocks have begun: where the caller ordered it so; both only
                          if it began behind all else, so that A is settled and is read beside it */
};

/* Repairs C after a product with a dense copy of A: computes C from A, B and C's old
   content if anything speaks against the copy, else leaves C alone.  That is, if
     *p->only_if is not 0           (NULL: no such word)
     A's fingerprint is not *expected: A changed since it was copied.  (104 of its 128 bits
     are compared.)
     the first row of `product` holds a NaN or an Inf: B may (kernels/guard/probe.cuh)
   product is C itself (when beta is 0) or the f32 matrix that C is combined from later.
   One launch (kernels/guard/repair.cuh), no workspace; f16, bf16 or f32 in,
   compute f32 only.

   `sets` is memory through which the blocks of a launch agree: device memory, aligned to
   SHUNT_GUARD_SET_BYTES, zero before the first launch that is given it and written by nothing but
   repairs as long as one may still run.  Launches that may run at once must differ in `sets`
   or in `key`; the address of the call's private workspace is such a key.  Launches with the
   same key must be ordered, by a stream or events.  Each key takes one of the set_count
   sets for good; a launch that finds none left repairs and reports a change, so that
   its owner makes copy and sets anew.  */
enum {
  SHUNT_GUARD_SET_BYTES = 64,
  SHUNT_GUARD_WAIT_CYCLES = 100000 /* some 50 us: far beyond what blocks are apart */
};
struct shunt_guard {
  const struct shunt_dense *product;
  const struct shunt_fingerprint *expected; /* device; NULL: A cannot have changed, is not read;
                                               of_values, below */
  void *sets;                               /* device, see above */
  int set_count;                            /* a power of two, up to 2^20 */
  const void *key;                          /* not NULL; never followed */
  int64_t wait_cycles; /* a block waits so long for the others, to help: SHUNT_GUARD_WAIT_CYCLES;
                           0: only the last block repairs */
  uint32_t *verdict;   /* device word that says afterwards whether C was repaired; or NULL */
  uint32_t *changed;   /* pinned host words set to 1 when A changed, */
  uint32_t *nonfinite; /* when the first row is nonfinite and A did not; or NULL */
  enum shunt_guard_start start;
  bool of_values; /* *expected is of A's values alone, the pattern is known to be the same */
};
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream stream);
/* How a product with a dense copy of A is computed; all ways give right results.  A tile of C has 64
   rows and 64 columns, and `split` (1, 2) blocks share one: one tile for each, all at once; or 128
   rows and `columns` (128, 256) columns, and `split` is 1.  */
struct shunt_dense_shape {
  int columns, split;
};
/* C = alpha D B, D the dense copy of p->a that an earlier call made (row-major), and in the same
   launch what shunt_guard_repair_cuda does behind a product (kernels/dense/dense_spmm_wgmma.cuh):
   r->product is not looked at, C is the product.  No workspace.  p->only_if has the meaning
   that it has for a repair.  f16, bf16 -> same or f32, compute f32, beta 0 and on the
   host.  SHUNT_E_UNSUPPORTED, and nothing enqueued, for all else: other devices than compute
   capability 9.0, D or B not on multiples of 16 bytes (address, and from row to row, of a
   column-major B from column to column), a build without sm_90a, and shapes that do not fit.
   _takes: are build, device, A's type and beta such?  */
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p,
                                          const struct shunt_dense *copy,
                                          const struct shunt_dense_shape *shape,
                                          const struct shunt_guard *r, const struct shunt_device *d,
                                          shunt_stream stream);
shunt_status shunt_csr_spmm_host(const struct shunt_spmm *p);          /* one thread, the twin */
shunt_status shunt_csr_spmm_parallel_host(const struct shunt_spmm *p); /* OpenMP, the host engine */

/* ---- SpMM, A transposed (kernels/csr/csr_spmm_transposed.cu) -------------------
   C = alpha A^T B + beta C: A is k x m as it is stored, B k x n, C m x n.  Right for any A
   and slow (each tile of C walks all of A): for repairs.  Honours `only_if`; no workspace;
   f16, bf16 -> same or f32, f32; compute f32.  */
shunt_status shunt_csr_spmm_transposed_cuda(const struct shunt_spmm *p,
                                            const struct shunt_device *d, shunt_stream stream);
/* shunt_guard_repair_cuda for this product, in two launches.  `actual` (device): A's
   fingerprint as it is now; NULL exactly where r->expected is.  r->verdict must be given; of
   r's other words only product, expected, changed and nonfinite are looked at.  */
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_csr_spmm_transposed_host(const struct shunt_spmm *p);

/* ---- SpMM, rows in groups of 8 that share columns (spmm_csr_vector*.cu) --
   Works on the caller's CSR in place.  A first small launch compares the column lists of
   every aligned group of 8 rows on each call, so nothing is remembered and nothing can be
   stale; equal lists (of 8, 4 or 2 rows) go to mma.m16n8k16 (f16, bf16; f32 accumulate) or
   to FMAs that share their load of B (f32), the others row by row.  Right for any CSR, fast
   for V x 1 column vectors (SC'21, column-vector sparse encoding).  Types: f16/bf16 -> same
   or f32, f32.  No `only_if`.
   Small products of f16 and bf16 are one launch, of blocks that compare a group as they read it
   (kernels/vector/vector_csr_spmm_single_launch.cuh).  */
size_t shunt_vector_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d);
/* Is p such a product?  Then a group is `blocks` blocks of so many warps, each with `tiles` tiles of 64
   columns, which take `chunk` entries of a row at a time.  */
struct shunt_vector_single_launch {
  int warps, tiles, chunk, blocks;
};
bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p, const struct shunt_device *d,
                                         struct shunt_vector_single_launch *how);
shunt_status shunt_vector_csr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                        void *workspace, size_t workspace_bytes,
                                        shunt_stream stream);

/* ---- SDDMM ---------------------------------------------------------------
   rows: any CSR pattern, dot products.  vector: 8-row groups on the tensor
   cores, differing groups entry by entry.  Types: f16 -> f16 or f32, bf16 ->
   bf16 or f32 (compute f32), f32, f64 (rows only).  A and B in any order
   (copies made in the workspace where a kernel wants the other one).  */
size_t shunt_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_csr_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                  void *workspace, size_t workspace_bytes, shunt_stream stream);
size_t shunt_vector_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_vector_csr_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                         void *workspace, size_t workspace_bytes,
                                         shunt_stream stream);
shunt_status shunt_csr_sddmm_host(const struct shunt_sddmm *p);

/* The same by the dense product, of which only what C's pattern names leaves the chip (kernels/
   kernels/dense/dense_sddmm_wgmma.cu): f16 and bf16 into the same on compute capability 9.0, beta 0, A row-major, A
   and B with rows of memory on 16 bytes; SHUNT_E_UNSUPPORTED otherwise.  Rows that are not sorted
   come out right and slow.  _takes: whether it takes p.  */
bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                    shunt_stream stream);

/* C.values[p] = alpha D(i, j) + beta C.values[p] for every entry p = (i, j) of
   C: the second half of SDDMM through a dense product D (kernels/
   kernels/dense/dense_sddmm_sample.cu).  D is row-major, type f32 or c's value type.  With
   `prescaled`, D already holds alpha A B and alpha is not applied again.  */
shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                           const struct shunt_dense *product, int prescaled,
                                           const struct shunt_device *d, shunt_stream stream);

/* C = alpha W + beta C where *only_unless == 0, nothing otherwise; W is m x n
   row-major f32 (kernels/guard/combine.cu).  The epilogue of the dense route
   when C's old content counts.  */
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream stream);

/* to = from, element by element, for two layouts of one matrix; same type
   (kernels/common/dense_copy.cu).  */
shunt_status shunt_dense_copy_cuda(const struct shunt_dense *from, const struct shunt_dense *to,
                                   const struct shunt_device *d, shunt_stream stream);

/* ---- Fingerprint (kernels/guard/fingerprint.cu) -------------------------------
   out (device memory) = 128 bits over offsets, columns and values (values == NULL: the
   pattern only).  scratch: SHUNT_FINGERPRINT_SCRATCH bytes of device memory, aligned to
   16.  */
#define SHUNT_FINGERPRINT_SCRATCH 16384
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch,
                                        shunt_stream stream);
struct shunt_fingerprint shunt_fingerprint_csr_host(const struct shunt_csr *a);

#ifdef __cplusplus
}
#endif
#endif
