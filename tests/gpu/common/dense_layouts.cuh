// dense_layouts.cuh: where the elements of a test's dense matrix are, in every way that a
// kernel may be given one.
//
//   0  row-major, packed            . . . . .         3  column-major, a gap of one element
//                                   . . . . .            . . .
//   1  row-major, rows at           . . . . .|| |        . . .
//      multiples of 16 bytes        . . . . .|| |        - - -
//      and a gap behind                 pad gap       4  as 1 without the gap, but the matrix
//   2  row-major, 3 elements more   . . . . .---         begins one element off
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

// Counted in elements.
struct DenseLayout {
  int64_t rows, cols, row_stride, col_stride, offset;
  int64_t size() const { return offset + (rows - 1) * row_stride + (cols - 1) * col_stride + 1; }
  int64_t at(int64_t i, int64_t j) const { return offset + i * row_stride + j * col_stride; }
  shunt_dense view(void *memory, shunt_type t) const
  {
    char *first = (char *)memory + offset * (int64_t)shunt_type_size(t);
    return shunt_dense{rows, cols, row_stride, col_stride, first, t};
  }
};

enum { DENSE_LAYOUTS = 5 };

// `wide`: elements in 16 bytes.
inline DenseLayout dense_layout(int kind, int64_t rows, int64_t cols, int64_t wide = 8)
{
  const int64_t aligned = (cols + wide - 1) / wide * wide;
  switch (kind) {
  case 0: return {rows, cols, cols, 1, 0};
  case 1: return {rows, cols, aligned + (wide > 8 ? wide : 8), 1, 0};
  case 2: return {rows, cols, cols + 3, 1, 0};
  case 3: return {rows, cols, 1, rows + 1, 0};
  default: return {rows, cols, aligned, 1, 1};
  }
}

} // namespace harness
