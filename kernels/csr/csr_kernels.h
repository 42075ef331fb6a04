/* csr_kernels.h: launchers of SpMM and SDDMM that work on any matrix in CSR, in place.

   They are right for every pattern: nothing is remembered from one call to the next, so nothing
   can be out of date.  The rules of kernels/common/device.h.  */
#ifndef SHUNT_CSR_KERNELS_H
#define SHUNT_CSR_KERNELS_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- SpMM: C = alpha A B + beta C -----------------------------------------------------------
   Types: f16 or bf16 into the same or f32 (compute f32); f32; f64; c32; c64; i8 into i32 (compute
   i32) or f32 (compute f32).  merge and the twins also take f32 with f16 or bf16, into B's type or
   f32, and f16 or bf16 with f32, into f32.  Indices of 32 or 64 bits.  B and C in either order.

   merge (kernels/csr/csr_spmm_merge.cuh): work is cut by nonzeros, not by rows, so that long rows
   spread over many blocks; a second kernel adds the partial sums of rows that were cut, in a
   fixed order.  With p->only_if the launch is one small kernel that needs no workspace and is
   slower (kernels/guard/row_by_row.cuh).  */
size_t shunt_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_csr_spmm_merge_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                       void *workspace, size_t workspace_bytes,
                                       shunt_stream stream);

/* split (kernels/csr/split/csr_spmm_split.cuh): the same result with one launch.  A group of lanes
   has a row; blocks that look for long rows share those.  The faster of the two unless a row has
   some 16,000 entries.  longest_row: how long the longest row was when somebody looked, -1 if
   nobody did; a hint that may be wrong.  The workspace, of the same size, is needed only for a
   column-major B.  SHUNT_E_UNSUPPORTED with only_if, or for 2^30 rows or nonzeros and more.  */
shunt_status shunt_csr_spmm_split_cuda(const struct shunt_spmm *p, int64_t longest_row,
                                       const struct shunt_device *d, void *workspace,
                                       size_t workspace_bytes, shunt_stream stream);

/* Not of complex types, which have a twin of their own. */
shunt_status shunt_csr_spmm_host(const struct shunt_spmm *p);          /* one thread, the twin */
shunt_status shunt_csr_spmm_parallel_host(const struct shunt_spmm *p); /* OpenMP, the host engine */
shunt_status shunt_csr_spmm_complex_host(const struct shunt_spmm *p);

/* ---- SpMM with A transposed: C = alpha A^T B + beta C ------------------------------------------
   A is k x m as it is stored, B k x n, C m x n.  Right for any A and slow, as each tile of C walks
   all of A: for repairs (kernels/csr/csr_spmm_transposed.cuh).  Honours only_if; no workspace; f16
   or bf16 into the same or f32, f32; compute f32.  */
shunt_status shunt_csr_spmm_transposed_cuda(const struct shunt_spmm *p,
                                            const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_csr_spmm_transposed_host(const struct shunt_spmm *p);

/* ---- SDDMM: C.values = alpha (A B) at C's pattern + beta C.values -------------------------------
   Dot products, for any pattern.  Types: f16 into f16 or f32, bf16 into bf16 or f32 (compute f32),
   f32, f64, c32, c64; i8 into i32 (compute i32) or f32 (compute f32).  A and B in any order: the
   workspace holds copies where the kernel wants the other one.

   Of i8 sums are int32.  Into i32 all wraps, alpha dot + beta C included; into f32, sums of up to
   SHUNT_CSR_SDDMM_EXACT products are taken, none of which leaves int32.

   alike: neighbouring rows often have the same columns (kernels/csr/csr_sddmm_alike.cuh); a hint
   that may be wrong, with the same result bit for bit.  */
enum { SHUNT_CSR_SDDMM_EXACT = 131071 }; /* (2^31 - 1) / 2^14 */

/* Elements from one to the next of what is read along the inner dimension, at most: a copy's rows
   are whole loads. */
static inline double shunt_csr_sddmm_step(int64_t inner, int64_t along, int64_t across)
{
  return along == 1 && across > inner + 15 ? (double)across : (double)inner + 15;
}
/* Is p one that shunt_csr_sddmm_cuda takes wherever its operands stand?  It may refuse others: what
   32-bit indices do not reach, and sums in f32 that are not exact.  Types and shapes are not looked
   at.  */
static inline bool shunt_csr_sddmm_fits(const struct shunt_sddmm *p)
{
  const double a = shunt_csr_sddmm_step(p->a.cols, p->a.col_stride, p->a.row_stride),
               b = shunt_csr_sddmm_step(p->a.cols, p->b.row_stride, p->b.col_stride);
  if (p->a.type == SHUNT_I8 && p->compute == SHUNT_F32 && p->a.cols > SHUNT_CSR_SDDMM_EXACT)
    return false;
  if (p->a.cols > INT32_MAX) return false;
  return p->c.index_type == SHUNT_I64 ||
         (p->c.nnz <= INT32_MAX - 65536 && 32 * a <= (double)UINT32_MAX &&
          (double)p->b.cols * b <= (double)UINT32_MAX);
}

/* Is p taken in one launch, which needs no workspace?  Where B stands by rows, and a program such
   as PyTorch takes longer to make the call than all of A B takes; one that keeps the device busy
   would be faster by two (tests/bench/sddmm.md). */
static inline bool shunt_csr_sddmm_direct(const struct shunt_sddmm *p)
{
  const double cells = (double)p->c.rows * (double)p->c.cols, inner = (double)p->a.cols;
  const bool f64 = p->a.type == SHUNT_F64;
  const bool half = p->a.type == SHUNT_F16 || p->a.type == SHUNT_BF16;
  const bool small = f64 || half ? cells * inner <= 1 << 24 /* of 2 bytes others go on the chip */
                                 : inner <= 64 || cells * inner <= 1 << 25;
  if (p->a.type > SHUNT_F64 || p->b.col_stride != 1 || p->b.row_stride <= 1) return false;
  if (inner > (f64 ? 64 : 128) || cells > (f64 ? 768 * 768 : 1024 * 1024)) return false;
  /* Of larger ones cuSPARSE computes so few places that it is faster where less is stored. */
  return small || ((p->a.type == SHUNT_F32 || f64) && 50 * (double)p->c.nnz >= cells);
}
/* Columns of a tile there: 128 where tiles of 16 x 64 are more than two a multiprocessor. */
static inline int shunt_csr_sddmm_direct_columns(const struct shunt_sddmm *p, int multiprocessors)
{
  const int64_t tiles = (p->c.rows + 15) / 16 * ((p->c.cols + 63) / 64);
  return tiles > 2 * (int64_t)multiprocessors ? 128 : 64;
}

/* How entries lie, as far as the caller knows, by which the kernel is chosen: any is right. */
struct shunt_csr_sddmm_pattern {
  bool alike;   /* neighbouring rows have the same columns: they are taken together */
  bool crowded; /* in windows or blocks: panels of B's columns would find work in few rows */
};

/* Bytes of `workspace`, on 256, for any pattern; the launcher, and its twin on the host, which
   needs none.  */
size_t shunt_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_csr_sddmm_cuda(const struct shunt_sddmm *p,
                                  struct shunt_csr_sddmm_pattern pattern,
                                  const struct shunt_device *d, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream);
shunt_status shunt_csr_sddmm_host(const struct shunt_sddmm *p);

#ifdef __cplusplus
}
#endif
#endif
