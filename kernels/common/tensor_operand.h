/* tensor_operand.h: dense matrices as the tensor copy engine wants them.  Host only. */
#ifndef SHUNT_TENSOR_OPERAND_H
#define SHUNT_TENSOR_OPERAND_H

#include <cstdint>

#include "kernels/common/divide.h"
#include "kernels/common/types.h"

namespace shunt
{

// m as the engine sees it: rows of memory.
inline struct shunt_dense as_stored(const struct shunt_dense &m)
{
  if (m.col_stride == 1) return m;
  return {m.cols, m.rows, m.col_stride, 1, m.values, m.type};
}

// Rows of memory that all begin on 16 bytes.
inline bool on_16_bytes(const struct shunt_dense &m)
{
  return m.col_stride == 1 && reinterpret_cast<uintptr_t>(m.values) % 16 == 0 &&
         m.row_stride * static_cast<int64_t>(shunt_type_size(m.type)) % 16 == 0;
}

} // namespace shunt
#endif
