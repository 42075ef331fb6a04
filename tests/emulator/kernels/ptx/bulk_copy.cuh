// bulk_copy.cuh: kernels/ptx/bulk_copy.cuh for the emulator: boxes of one row, of at most 2048
// bytes each.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline void bulk_piece(uint32_t to, const char *from, uint32_t bytes, uint32_t barrier)
{
  CUtensorMap map = {};
  const cuuint64_t sizes[2] = {bytes / 8, 1}, pitch[1] = {bytes};
  const cuuint32_t box[2] = {bytes / 8, 1}, steps[2] = {1, 1};
  // Refused where the instruction would not be right; copy_box then ends the program.
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<char *>(from), sizes,
                         pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  emulator::copy_box(to, &map, 0, 0, barrier);
}

inline void bulk_load(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
  constexpr uint32_t most = 2048;
  for (uint32_t at = 0; at < bytes; at += most)
    bulk_piece(to + at, static_cast<const char *>(from) + at, bytes - at < most ? bytes - at : most,
               barrier);
}

inline void bulk_load_once(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier,
                           uint64_t)
{
  bulk_load(to, from, bytes, barrier);
}

} // namespace ptx
} // namespace shunt
