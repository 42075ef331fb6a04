// wgmma.cpp: what a thread of a warpgroup computes of D (kernels/ptx/wgmma.cuh), and reads for it.
//
//   D[64 x N] (+)= A[64 x k] B[k x N]      a thread has two rows of D, and two columns of each 8
//
// Columns of B that the thread needs are first gathered beside one another, so that a k is added to
// all of them at once.  Each sum is added up in the order of k.
#include <string.h>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "machine.h"
#include "wgmma.h"

namespace emulator
{

constexpr int most_columns = 256, most_own = most_columns / 4; // of D; of those a thread's

// 16 bytes of an operand that a descriptor names: value (i, k), i along M or N, and those behind it
// along k, or where it is MN-major along i; which is a multiple of what 16 bytes hold.
template <class T> static const T *piece(uint64_t operand, int i, int k, bool k_major)
{
  constexpr int each = 16 / sizeof(T), row = 128 / sizeof(T), size = sizeof(T);
  const uint32_t start = (operand & 0x3fff) << 4, leading = (operand >> 16 & 0x3fff) << 4,
                 stride = (operand >> 32 & 0x3fff) << 4;
  const bool swizzled = operand >> 62;
  if (!k_major && !swizzled) fail("wgmma: a plain operand that is MN-major");
  uint32_t at = start;
  if (!swizzled)
    at += i / 8 * stride + i % 8 * 16 + k / each * leading;
  else if (k_major)
    at += i / 8 * stride + i % 8 * 128 + k * size;
  else
    at += i / row * leading + i % row * size + k / 8 * stride + k % 8 * 128;
  if (swizzled) at ^= (at >> 7 & 7) << 4;
  return static_cast<const T *>(at_shared(at, 16, 16, "wgmma"));
}

static float number(__half x)
{
  return float_of_half(x.x);
}
static float number(__nv_bfloat16 x)
{
  return float_of_bfloat16(x.x);
}
static int32_t number(int8_t x)
{
  return x;
}

// Row i of a K-major operand: `count` values, `apart` in `to`.
template <class T, class Sum>
static void read_row(uint64_t operand, int i, int count, Sum *to, int apart)
{
  constexpr int each = 16 / sizeof(T);
  for (int k = 0; k < count; k += each) {
    const T *from = piece<T>(operand, i, k, true);
    for (int e = 0; e < each; e++) to[(k + e) * apart] = number(from[e]);
  }
}

static int own_row()
{
  return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
}

// to[k][2 j + c]: B's value of k in column 8 j + 2 (lane % 4) + c.
template <class T, class Sum>
static void read_columns(uint64_t b, int columns, int count, bool k_major, Sum (*to)[most_own])
{
  const int first = threadIdx.x % 4 * 2;
  for (int j = 0; j < columns / 8; j++) {
    if (k_major) {
      for (int c = 0; c < 2; c++)
        read_row<T>(b, 8 * j + first + c, count, &to[0][2 * j + c], most_own);
      continue;
    }
    for (int k = 0; k < count; k++) {
      const T *from = piece<T>(b, 8 * j, k, false) + first;
      for (int c = 0; c < 2; c++) to[k][2 * j + c] = number(from[c]);
    }
  }
}

// Adds row h's sums to what D holds, or in its place.
template <class Sum> static void put(Sum *d, int columns, int h, const Sum *sums, bool keep)
{
  for (int own = 0; own < columns / 4; own++) {
    Sum *to = &d[own / 2 * 4 + 2 * h + own % 2];
    *to = (keep ? *to : 0) + sums[own];
  }
}

template <class T, class Sum>
static void multiply(const wgmma_operands &x, int depth, int stored, const uint8_t (*place)[32],
                     Sum *d)
{
  Sum left[32], right[64][most_own];
  read_columns<T>(x.b, x.columns, depth, !x.b_mn_major, right);
  for (int h = 0; h < 2; h++) {
    Sum sums[most_own] = {};
    read_row<T>(x.a, own_row() + 8 * h, stored, left, 1);
    for (int p = 0; p < stored; p++) {
      const Sum *row = right[place ? place[h][p] : p];
      for (int own = 0; own < x.columns / 4; own++) sums[own] += left[p] * row[own];
    }
    put(d, x.columns, h, sums, x.keep);
  }
}

void wgmma(wgmma_type type, const wgmma_operands &x, float *d)
{
  if (type == wgmma_type::f16)
    multiply<__half>(x, 16, 16, nullptr, d);
  else
    multiply<__nv_bfloat16>(x, 16, 16, nullptr, d);
}
void wgmma_sparse(wgmma_type type, const wgmma_operands &x, const uint8_t (*place)[32], float *d)
{
  if (type == wgmma_type::f16)
    multiply<__half>(x, 32, 16, place, d);
  else
    multiply<__nv_bfloat16>(x, 32, 16, place, d);
}
void wgmma_sparse_s8(const wgmma_operands &x, const uint8_t (*place)[32], int32_t *d)
{
  multiply<int8_t>(x, 64, 32, place, reinterpret_cast<uint32_t *>(d));
}

} // namespace emulator
