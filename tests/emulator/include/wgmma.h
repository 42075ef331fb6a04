// wgmma.h: products of a warpgroup (wgmma.cpp), which kernels/ptx/wgmma.cuh and wgmma_sparse.cuh
// issue.  A thread computes its sums where the product is issued.
#ifndef SHUNT_EMULATOR_WGMMA_H
#define SHUNT_EMULATOR_WGMMA_H

#include <stdint.h>

namespace emulator
{

enum class wgmma_type { f16, bf16 };

struct wgmma_operands {
  uint64_t a, b; // descriptors
  int columns;   // of B and D, at most 256
  bool b_mn_major;
  bool keep; // D += A B, else D = A B
};

// d: what the thread has of D, columns / 2 of it.
void wgmma(wgmma_type type, const wgmma_operands &x, float *d);
// place[h][p]: along k, where value p that A stores of the thread's row h stands; ascending.
// Only these are multiplied: zeros of A meet no NaN of B.
void wgmma_sparse(wgmma_type type, const wgmma_operands &x, const uint8_t (*place)[32], float *d);
void wgmma_sparse_s8(const wgmma_operands &x, const uint8_t (*place)[32], int32_t *d);

} // namespace emulator
#endif
