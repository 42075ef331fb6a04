// dense_spmm_fma_operand.cuh: tiles of D and of B in shared memory, for dense_spmm_fma.cuh.
//
// A tile of an operand has `Lines` lines, rows of D or columns of B, and `Depth` of K.  It lies in
// shared memory as in memory, in words of 16 bytes:
//
//   along K: D by rows, B by columns                 across K: D transposed, B by rows
//   | line 0: k 0 .. Depth - 1       | 4 unused |    | k 0: line 0 .. Lines - 1       |
//   | line 1: k 0 .. Depth - 1       | 4 unused |    | k 1: line 0 .. Lines - 1       |
//   | ..                                        |    | ..                             |
//
// With the unused words eight lines that are read at once lie in different banks.  A thread has
// `Own` lines (2, 4 or 8): along K each `Threads`-th, across K `beside` neighbours in each beside x
// Threads.  What lies beyond the matrix is zero.
#pragma once
#include <cuda_runtime.h>

#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace dense
{
namespace fma
{

// An operand in memory.  Lines of memory begin on 16 bytes.
struct source {
  const float *values;
  int64_t pitch; // floats from line to line of memory
  int lines;     // of the operand
  int depth;     // K
};

// One load of 8 or 16 bytes.
__device__ __forceinline__ void load_word(const float *from, float (&to)[2])
{
  const float2 v = *reinterpret_cast<const float2 *>(from);
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void load_word(const float *from, float (&to)[4])
{
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

template <int Lines, int Threads, int Own, bool AlongK, int Depth> struct operand {
  static constexpr int pitch = AlongK ? Depth + 4 : Lines; // floats
  static constexpr int floats = AlongK ? Lines * pitch : Depth * pitch;
  static constexpr int beside = Own < 4 ? Own : 4;

  // Which line of the tile is the thread's i-th.
  static __device__ __forceinline__ int line(int thread, int i)
  {
    return AlongK ? thread + Threads * i : beside * (thread + Threads * (i / beside)) + i % beside;
  }

  // Asks for the tile of lines from `first` on and K from k on; by all of Block threads.
  template <int Block>
  static __device__ __forceinline__ void fetch(uint32_t to, const source &x, int first, int k)
  {
    constexpr int per_line = (AlongK ? Depth : Lines) / 4, words = floats / pitch * per_line;
#pragma unroll
    for (int w = threadIdx.x; w < (words + Block - 1) / Block * Block; w += Block) {
      if (words % Block && w >= words) break;
      const int outer = w / per_line, inner = w % per_line * 4;
      const int line = AlongK ? first + outer : k + outer, at = AlongK ? k + inner : first + inner;
      const int lines = AlongK ? x.lines : x.depth, across = AlongK ? x.depth : x.lines;
      const int here = line < lines ? min(max(across - at, 0), 4) : 0;
      const float *from = here ? x.values + line * x.pitch + at : x.values;
      ptx::cp_async_16(to + 4 * (outer * pitch + inner), from, 4 * here);
    }
  }

  // Count (2 or 4) of K from k on, of the thread's lines.
  template <int Count>
  static __device__ __forceinline__ void read(const float *tile, int thread, int k,
                                              float (&out)[Count][Own])
  {
    if constexpr (AlongK) {
#pragma unroll
      for (int i = 0; i < Own; i++) {
        float word[Count];
        load_word(tile + line(thread, i) * pitch + k, word);
#pragma unroll
        for (int q = 0; q < Count; q++) out[q][i] = word[q];
      }
    } else {
#pragma unroll
      for (int q = 0; q < Count; q++)
#pragma unroll
        for (int i = 0; i < Own; i += beside) {
          float word[beside];
          load_word(tile + (k + q) * pitch + line(thread, i), word);
#pragma unroll
          for (int j = 0; j < beside; j++) out[q][i + j] = word[j];
        }
    }
  }
};

} // namespace fma
} // namespace dense
} // namespace shunt
