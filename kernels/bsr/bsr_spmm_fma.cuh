// bsr_spmm_fma.cuh: f32 and f64: up to 8 rows of a row of square blocks of A times Lanes pieces
// (16 bytes) of B's rows by one warp, both read in place: exact FMA, no TF32.
//
//     lanes  0 .. Lanes - 1    blocks 0, P, 2P, ..    A lane holds kRows x (4 or 2) sums.  The
//     lanes  Lanes ..          blocks 1, P + 1, ..    P = 32 / Lanes parts of a warp take turns
//                                                     at the blocks; their sums are added in order.
//
// A's values are broadcasts of 16 bytes, 4 (or 2) columns of a row, through L1, as are B's rows: a
// load of B feeds 8 FMAs.  (16 rows a warp: in f32 as fast, in f64 1.2 times the time; they leave
// room for fewer warps.)
//
// Roofline: bytes gathered, k of all lists x n x 4 or 8 and once more for each 8 rows that a block
// has, at 8.5 TB/s on an H200; reached are 5.
#pragma once
#include "kernels/bsr/bsr_spmm_operands.cuh"
#include "kernels/common/allow_shared.h"

namespace shunt
{
namespace bsr
{

template <class T_, int Size_, int Lanes_> struct fma_shape {
  using T = T_;
  static constexpr int kSize = Size_, kLanes = Lanes_, kParts = 32 / kLanes;
  static constexpr int kRows = kSize < 8 ? kSize : 8, kUnits = kSize / kRows;
  static constexpr int kWide = 16 / sizeof(T);               // columns of a lane
  static constexpr int kRun = kSize < kWide ? kSize : kWide; // columns of A loaded at once
  static constexpr int kTile = kLanes * kWide, kPitch = kTile + kWide, kImage = kRows * kPitch;
  static constexpr int kBytes = kWarps * kImage * static_cast<int>(sizeof(T));
};

template <class T, int N> __device__ __forceinline__ vec<T, N> load_piece(const T *from)
{
  vec<T, N> out;
  if (sizeof(out) == 16) {
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(from));
    out = *reinterpret_cast<const vec<T, N> *>(&bits);
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) out.at[i] = __ldg(from + i);
  }
  return out;
}

// The sums of every kParts-th block of the list; a, b: the rows and the columns of this lane in
// block 0 of the list and row 0 of B.
template <class Shape, class T>
__device__ __forceinline__ void multiply(const operands &p, const list &l, const T *a,
                                         const char *b, T (&sum)[Shape::kRows][Shape::kWide])
{
  constexpr int kSize = Shape::kSize, kRun = Shape::kRun, kWide = Shape::kWide;
  const int part = threadIdx.x % 32 / Shape::kLanes;
  int next = l.column(p, part);
#pragma unroll 1
  for (int q = part; q < l.count; q += Shape::kParts) {
    const int column = next;
    next = l.column(p, q + Shape::kParts);
    if (column < 0) continue;
    const T *block = a + q * p.block_pitch;
    const char *row = b + int64_t(column) * kSize * p.b_row_bytes;
#pragma unroll(kSize <= 8 ? kSize : 2)
    for (int k = 0; k < kSize; k += kRun) {
      vec<T, kWide> x[kRun];
#pragma unroll
      for (int i = 0; i < kRun; i++)
        x[i] = load_piece<T, kWide>(reinterpret_cast<const T *>(row + (k + i) * p.b_row_bytes));
#pragma unroll
      for (int r = 0; r < Shape::kRows; r++) {
        const vec<T, kRun> v = load_piece<T, kRun>(block + r * p.row_pitch + k);
#pragma unroll
        for (int i = 0; i < kRun; i++)
#pragma unroll
          for (int c = 0; c < kWide; c++) sum[r][c] = multiply_add(v.at[i], x[i].at[c], sum[r][c]);
      }
    }
  }
}

template <class Shape>
__global__ void __launch_bounds__(kWarps * 32, 2)
    bsr_spmm_fma(const __grid_constant__ arguments<typename Shape::T> p)
{
  using T = typename Shape::T;
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int kRows = Shape::kRows, kWide = Shape::kWide, kPitch = Shape::kPitch;
  const int lane = threadIdx.x % 32;
  const place at(p, Shape::kTile, Shape::kUnits);
  T *image = reinterpret_cast<T *>(shared) + threadIdx.x / 32 * Shape::kImage;

  if (at.inside) {
    const list l(p, at.row / Shape::kUnits, at.slice, Shape::kSize);
    const int down = at.row % Shape::kUnits * kRows, across = lane % Shape::kLanes * kWide;
    const T *a = reinterpret_cast<const T *>(p.values) + l.origin + down * p.row_pitch;
    // Lanes beyond the last column take the first; what they make is not stored.
    const int column = at.column0 + across < p.n ? at.column0 + across : 0;
    T sum[kRows][kWide] = {};
    multiply<Shape, T>(p, l, a, p.b + column * static_cast<int>(sizeof(T)), sum);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      vec<T, kWide> out;
#pragma unroll
      for (int c = 0; c < kWide; c++) {
        T x = sum[r][c];
#pragma unroll
        for (int apart = Shape::kLanes; apart < 32; apart *= 2)
          x += __shfl_xor_sync(0xffffffffu, x, apart);
        out.at[c] = x;
      }
      if (lane < Shape::kLanes)
        *reinterpret_cast<vec<T, kWide> *>(image + r * kPitch + across) = out;
    }
  }
  images_written(p);
  if (!at.inside) return;
  store<kRows, Shape::kTile, kPitch, Shape::kImage, T>(
      p, image - at.slice * Shape::kImage, at.slice, int64_t(at.row) * kRows, at.column0);
}

template <class Shape>
inline cudaError_t launch_fma_shape(const arguments<typename Shape::T> &p, cudaStream_t stream)
{
  constexpr auto kernel = &bsr_spmm_fma<Shape>;
  const cudaError_t e = allow_shared<kernel>(Shape::kBytes);
  if (e != cudaSuccess) return e;
  void *parameters[] = {const_cast<arguments<typename Shape::T> *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel),
                          grid_of(p, Shape::kTile, Shape::kUnits), dim3(kWarps * 32), parameters,
                          Shape::kBytes, stream);
}

template <class T, int Size>
inline cudaError_t launch_fma_size(const arguments<T> &p, int tile, cudaStream_t stream)
{
  switch (tile * static_cast<int>(sizeof(T)) / 16) {
  case 8: return launch_fma_shape<fma_shape<T, Size, 8>>(p, stream);
  case 16: return launch_fma_shape<fma_shape<T, Size, 16>>(p, stream);
  default: return launch_fma_shape<fma_shape<T, Size, 32>>(p, stream);
  }
}

template <class T>
inline cudaError_t launch_fma(const arguments<T> &p, int size, int tile, cudaStream_t stream)
{
  switch (size) {
  case 2: return launch_fma_size<T, 2>(p, tile, stream);
  case 4: return launch_fma_size<T, 4>(p, tile, stream);
  case 8: return launch_fma_size<T, 8>(p, tile, stream);
  case 16: return launch_fma_size<T, 16>(p, tile, stream);
  default: return launch_fma_size<T, 32>(p, tile, stream);
  }
}

} // namespace bsr
} // namespace shunt
