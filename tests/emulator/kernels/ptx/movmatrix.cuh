// movmatrix.cuh: kernels/ptx/movmatrix.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "instructions.h"

namespace emulator
{

// Lane l brings elements (l / 4, 2t), (l / 4, 2t + 1) of an 8 x 8 matrix, t = l % 4, and gets those
// of the transpose.
struct transpose_matrix {
  static constexpr const char *name = "movmatrix";
  uint32_t in, out;
  static void complete(transpose_matrix *const *lanes)
  {
    uint16_t at[8][8];
    for (int l = 0; l < 32; l++)
      for (int e = 0; e < 2; e++) at[l / 4][l % 4 * 2 + e] = (uint16_t)(lanes[l]->in >> 16 * e);
    for (int l = 0; l < 32; l++)
      lanes[l]->out = at[l % 4 * 2][l / 4] | (uint32_t)at[l % 4 * 2 + 1][l / 4] << 16;
  }
};

} // namespace emulator

namespace shunt
{
namespace ptx
{

inline uint32_t movmatrix_trans(uint32_t a)
{
  emulator::transpose_matrix m = {a, 0};
  emulator::all_together(m);
  return m.out;
}

} // namespace ptx
} // namespace shunt
