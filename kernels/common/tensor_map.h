/* tensor_map.h: descriptors for the tensor copy engine (kernels/ptx/tma.cuh).  Host only.

   The driver's encoder is found through the runtime, so nothing links against libcuda.  */
#ifndef SHUNT_TENSOR_MAP_H
#define SHUNT_TENSOR_MAP_H

#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/types.h"

namespace shunt
{

// A box of box_rows x box_cols elements of a row-major matrix of 16 bits, f32 or int8, whose rows
// of 128, 64 or 32 bytes are swizzled: piece q (16 bytes) of row r stands at q ^ (r % 8), of 64
// bytes at q ^ (r / 2 % 4), of 32 at q ^ (r / 4 % 2).  So box_cols is 64, of f32 32, of int8 128,
// 64 or 32; the box's place in shared memory is a multiple of 1024.  False when the driver cannot:
// no such function, or values and rows not on multiples of 16 bytes.
bool make_tensor_map(CUtensorMap *map, const struct shunt_dense &m, int box_rows, int box_cols);

} // namespace shunt
#endif
