// mma_f64.cuh: kernels/ptx/mma_f64.cuh for the emulator.
#pragma once
#include "cuda_runtime.h"
#include "instructions.h"

namespace shunt
{
namespace ptx
{

// m16n8k8:  a[w]: row g + 8 (w % 2), k = t + 4 (w / 2)      b[w]: k = t + 4w, column g
struct m16n8k8_f64 : emulator::m16n8 {
  static constexpr const char *name = "mma.m16n8k8.f64";
  static constexpr int K = 8;
  using number = double;
  using a_word = double;
  using b_word = double;
  using d_word = double;
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    for (int w = 0; w < 4; w++) f(l / 4 + w % 2 * 8, l % 4 + w / 2 * 4, lanes[l]->a[w]);
  }
  template <class F> static void each_b(int l, const b_word *b, F f)
  {
    for (int w = 0; w < 2; w++) f(l % 4 + w * 4, l / 4, b[w]);
  }
};

inline void mma_m16n8k8_f64(double (&d)[4], const double (&a)[4], const double (&b)[2])
{
  emulator::mma<m16n8k8_f64>(d, a, b);
}

} // namespace ptx
} // namespace shunt
