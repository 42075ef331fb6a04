// spmm_operands.cuh: what the launchers of SpMM ask of their operands, and the copy of B that
// kernels read where B itself cannot be read 16 bytes at a time:
//
//     row i of the copy   | b(i, 0) .. b(i, n - 1) | padding |     a multiple of 16 bytes
#pragma once
#include <stdint.h>

#include "kernels/common/dense_copy.h"
#include "kernels/common/types.h"

namespace shunt
{

// An index type that there is, sizes of at least 1 that agree.
inline shunt_status check_spmm_sizes(const struct shunt_spmm *p)
{
  if (p->a.index_type != SHUNT_I32 && p->a.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->a.nnz < 0 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

// Row-major, rows 16 bytes or multiples of it apart.
inline bool rows_aligned(const struct shunt_dense &m)
{
  return m.col_stride == 1 &&
         m.row_stride * static_cast<int64_t>(shunt_type_size(m.type)) % 16 == 0;
}

// And the first begins at a multiple of 16 bytes.
inline bool aligned(const struct shunt_dense &m)
{
  return rows_aligned(m) && reinterpret_cast<uintptr_t>(m.values) % 16 == 0;
}

// Rows have no ragged last piece of 16 bytes, which need not exist behind the last row.
inline bool pieces_are_whole(const struct shunt_dense &m)
{
  return m.cols * static_cast<int64_t>(shunt_type_size(m.type)) % 16 == 0;
}

// The aligned, row-major matrix of m's sizes and type at `at`.
inline struct shunt_dense aligned_copy(const struct shunt_dense &m, void *at)
{
  const int64_t wide = 16 / static_cast<int64_t>(shunt_type_size(m.type));
  struct shunt_dense copy = m;
  copy.row_stride = (m.cols + wide - 1) / wide * wide;
  copy.col_stride = 1;
  copy.values = at;
  return copy;
}

inline size_t aligned_copy_bytes(const struct shunt_dense &m)
{
  const struct shunt_dense copy = aligned_copy(m, NULL);
  return static_cast<size_t>(copy.rows) * static_cast<size_t>(copy.row_stride) *
         shunt_type_size(copy.type);
}

// Can B be read 16 bytes at a time where it lies, if it begins at a multiple of 16?
inline bool b_in_place(const struct shunt_dense &b)
{
  return rows_aligned(b) && pieces_are_whole(b);
}

// *to: where B will be read.  That is B itself, or a copy in the workspace, made by copy_b().
inline shunt_status place_b(const struct shunt_dense &b, void *workspace, size_t workspace_bytes,
                            struct shunt_dense *to)
{
  *to = b;
  if (b_in_place(b) && aligned(b)) return SHUNT_OK;
  if (!workspace || workspace_bytes < aligned_copy_bytes(b) ||
      reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return SHUNT_E_WORKSPACE;
  *to = aligned_copy(b, workspace);
  return SHUNT_OK;
}

inline shunt_status copy_b(const struct shunt_dense &b, const struct shunt_dense &to,
                           const struct shunt_device *d, shunt_stream stream)
{
  return to.values == b.values ? SHUNT_OK : shunt_dense_copy_cuda(&b, &to, d, stream);
}

} // namespace shunt
