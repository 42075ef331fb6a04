// bsr_spmm_i8.cuh: int8: up to 8 rows of a row of square blocks of A times 8X columns of B by one
// warp, on the tensor cores, both read in place.
//
//              k of the row's list       The blocks of a row stand side by side in a list, and each
//              0       b      2b         32 of its k make a step: a block of 32, or 4 of 8.  Slot s
//     b rows | block | block | ...       of step t: column k % b of block k / b, k = 32t + s.
//
// As in kernels/srbcrs/srbcrs_spmm.cuh the rows of A are the narrow side of mma.m16n8k32,
//
//     D[16 columns of C x 8 rows of A] += B^T[16 columns x 32 slots] A^T[32 slots x 8 rows]
//
// lane (g, t), g = l / 4, t = l % 4, has row g of slots 4t .. 4t + 3 and 4t + 16 .. 4t + 19, and
// gathers those rows of B, X of their columns from gX on; srbcrs_gather.cuh turns them in registers.
// The next step's are on their way meanwhile, and the columns of the blocks behind it.
//
// Slots without a block, behind the list or padding of Blocked-ELL, are zeros of A.
//
// Sums are int32.  Into int32 they wrap.  Into f32 an image is of floats, to which the sums go before
// they could leave int32: so whatever the row, none wraps, and up to 1024 entries of a row all is
// exact.
//
// Roofline: bytes gathered from L2, k of all lists x n, and once more for each 8 rows that a block
// has, at 8.5 TB/s on an H200.
#pragma once
#include <type_traits>

#include "kernels/bsr/bsr_spmm_operands.cuh"
#include "kernels/srbcrs/srbcrs_gather.cuh"

namespace shunt
{
namespace bsr
{

constexpr int kIntegerStep = 32;
// Steps whose sums stay in int32: 32 products of 2^14 each.
constexpr int kExactSteps = 4095;

template <int Size_, int X_> struct integer_shape {
  static constexpr int kSize = Size_, kX = X_;
  static constexpr int kRows = kSize < 8 ? kSize : 8, kUnits = kSize / kRows;
  static constexpr int kTile = 8 * kX, kPitch = kTile + 4, kImage = kRows * kPitch;
  static constexpr int kRun = kSize < 4 ? kSize : 4; // slots of a lane in one block
  static constexpr int kBytes = kWarps * kImage * 4;
};

// What a lane multiplies in a step: its words of A, its rows of B.
template <int X> struct lane_step {
  uint32_t a[2];
  srbcrs::lane_rows<X, 8> b;
};

template <class Shape> struct integer_gather {
  static constexpr int kSize = Shape::kSize, kRun = Shape::kRun, kX = Shape::kX;
  const operands &p;
  const list &blocks;
  const char *a, *b; // the lane's row of block 0 of the list; its first column of row 0
  bool row_there, column_there;

  __device__ __forceinline__ integer_gather(const operands &p_, const list &blocks_, int down,
                                            int column0)
      : p(p_), blocks(blocks_)
  {
    const int g = threadIdx.x % 32 / 4;
    row_there = g < Shape::kRows;
    column_there = column0 + g * kX < p.n;
    a = p.values + blocks.origin + (down + g) * p.row_pitch;
    b = p.b + column0 + g * kX;
  }

  // kRun neighbours of the lane's row of A.
  static __device__ __forceinline__ uint32_t some_of_a(const char *from)
  {
    if constexpr (kRun == 4) return __ldg(reinterpret_cast<const uint32_t *>(from));
    return __ldg(reinterpret_cast<const uint16_t *>(from));
  }

  // Where the lane's slot s of a step stands in the list.
  static __device__ __forceinline__ int k_of(int step, int s)
  {
    return step * kIntegerStep + s / 4 * 16 + threadIdx.x % 4 * 4 + s % 4;
  }

  // The columns of the blocks that the lane's slots are in.
  __device__ __forceinline__ vec<int, 8 / kRun> columns(int step) const
  {
    vec<int, 8 / kRun> out;
#pragma unroll
    for (int s = 0; s < 8; s += kRun) out.at[s / kRun] = blocks.column(p, k_of(step, s) / kSize);
    return out;
  }

  __device__ __forceinline__ lane_step<kX> fetch(int step, const vec<int, 8 / kRun> &columns) const
  {
    lane_step<kX> out = {};
#pragma unroll
    for (int s = 0; s < 8; s += kRun) {
      const int k = k_of(step, s), column = columns.at[s / kRun];
      if (column < 0) continue;
      if (row_there)
        out.a[s / 4] |= some_of_a(a + k / kSize * p.block_pitch + k % kSize) << s % 4 * 8;
      if (!column_there) continue;
      const char *const row = b + (int64_t(column) * kSize + k % kSize) * p.b_row_bytes;
#pragma unroll
      for (int i = 0; i < kRun; i++)
        srbcrs::load_words(reinterpret_cast<const uint8_t *>(row + i * int64_t(p.b_row_bytes)),
                           out.b.word[s + i]);
    }
    return out;
  }
};

// The lane's X columns of rows 2t and 2t + 1, to or onto the image.
template <class Shape, class S>
__device__ __forceinline__ void put(S *image, bool onto, int (&d)[Shape::kX / 2][4])
{
  constexpr int kX = Shape::kX;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    if (2 * t + h >= Shape::kRows) continue;
    S *const to = image + (2 * t + h) * Shape::kPitch + g * kX;
#pragma unroll
    for (int c = 0; c < kX; c++) {
      const S x = static_cast<S>(d[c % (kX / 2)][c / (kX / 2) * 2 + h]);
      to[c] = onto ? add<S>(to[c], x) : x;
    }
  }
#pragma unroll
  for (int i = 0; i < kX / 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) d[i][j] = 0;
}

// The products of a list's blocks, to the image.
template <class Shape, class S>
__device__ __forceinline__ void multiply_integers(const operands &p, const list &blocks, int down,
                                                  int column0, S *image)
{
  constexpr int kX = Shape::kX;
  const int steps = (blocks.count * Shape::kSize + kIntegerStep - 1) / kIntegerStep;
  const integer_gather<Shape> from(p, blocks, down, column0);
  int d[kX / 2][4] = {}, exact = kExactSteps;
  bool onto = false;
  lane_step<kX> next = from.fetch(0, from.columns(0));
  auto coming = from.columns(1);
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const lane_step<kX> now = next;
    next = from.fetch(step + 1, coming);
    coming = from.columns(step + 2);
    uint32_t column[2][kX];
    srbcrs::columns_of<kX, 8, 0>(now.b, column);
#pragma unroll
    for (int i = 0; i < kX / 2; i++) {
      const uint32_t columns[4] = {column[0][i], column[0][i + kX / 2], column[1][i],
                                   column[1][i + kX / 2]};
      ptx::mma_m16n8k32<true, true>(d[i], columns, now.a);
    }
    if (!std::is_same<S, float>::value || --exact > 0) continue;
    put<Shape>(image, onto, d);
    onto = true, exact = kExactSteps;
  }
  put<Shape>(image, onto, d);
}

// S: int32 or float, as C.
template <class Shape, class S>
__global__ void __launch_bounds__(kWarps * 32, 2)
    bsr_spmm_i8(const __grid_constant__ arguments<S> p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  const place at(p, Shape::kTile, Shape::kUnits);
  S *image = reinterpret_cast<S *>(shared) + threadIdx.x / 32 * Shape::kImage;
  if (at.inside) {
    const list blocks(p, at.row / Shape::kUnits, at.slice, Shape::kSize);
    multiply_integers<Shape>(p, blocks, at.row % Shape::kUnits * Shape::kRows, at.column0, image);
  }
  images_written(p);
  if (!at.inside) return;
  store<Shape::kRows, Shape::kTile, Shape::kPitch, Shape::kImage, S>(
      p, image - at.slice * Shape::kImage, at.slice, int64_t(at.row) * Shape::kRows, at.column0);
}

template <class Shape, class S>
inline cudaError_t launch_integer_shape(const arguments<S> &p, cudaStream_t stream)
{
  static_assert(Shape::kBytes <= 48 << 10, "what a kernel gets without asking");
  const void *kernel = reinterpret_cast<const void *>(&bsr_spmm_i8<Shape, S>);
  void *parameters[] = {const_cast<arguments<S> *>(&p)};
  return cudaLaunchKernel(kernel, grid_of(p, Shape::kTile, Shape::kUnits), dim3(kWarps * 32),
                          parameters, Shape::kBytes, stream);
}

template <int Size, class S>
inline cudaError_t launch_integer_size(const arguments<S> &p, int tile, cudaStream_t stream)
{
  switch (tile) {
  case 32: return launch_integer_shape<integer_shape<Size, 4>>(p, stream);
  case 64: return launch_integer_shape<integer_shape<Size, 8>>(p, stream);
  default: return launch_integer_shape<integer_shape<Size, 16>>(p, stream);
  }
}

template <class S>
inline cudaError_t launch_integers(const arguments<S> &p, int size, int tile, cudaStream_t stream)
{
  switch (size) {
  case 2: return launch_integer_size<2>(p, tile, stream);
  case 4: return launch_integer_size<4>(p, tile, stream);
  case 8: return launch_integer_size<8>(p, tile, stream);
  case 16: return launch_integer_size<16>(p, tile, stream);
  default: return launch_integer_size<32>(p, tile, stream);
  }
}

} // namespace bsr
} // namespace shunt
