// srbcrs_quantise.cu: symmetric quantisation of a dense matrix (srbcrs_quantise.h).
//
//   per row      a row's largest |x|, then its integers
//   per tensor   scale        of each block's largest |x|; a division by one number keeps the order,
//                             and the bits of floats that are not negative have theirs: the largest
//                             scale, in whatever order, is that of the largest |x|
//                integers
//
// A warp takes a row, or a piece of 1024 columns; but short rows, of whole sets of eight columns as
// the heads of an attention have them, are read once, by 16 bytes, a lane for each set:
//
//   lanes    0 .. 7        8 .. 15        16 .. 23       24 .. 31         64 columns
//            | row 0     | | row 1      | | row 2      | | row 3      |
//
// Bound: x read once, and a second time, out of L2 where it fits, per tensor and of long rows.
#include "kernels/common/early_launch.cuh"
#include "kernels/common/number.cuh"
#include "kernels/srbcrs/attention/srbcrs_e4m3.cuh"
#include "kernels/srbcrs/attention/srbcrs_quantise.h"

namespace shunt
{
namespace srbcrs
{
namespace quantise
{

constexpr int kWarps = 8, kThreads = kWarps * 32; // of a block
constexpr int kPiece = 1024;                      // columns, an even number
constexpr int kSet = 8, kLongest = 32 * kSet;     // columns of a lane, of a short row

struct job {
  const void *from;
  uint8_t *to;
  float *scales;
  int64_t rows, cols, row_stride, row_bytes; // from's stride in elements, to's in bytes
  int64_t problems, heads, head_stride, batch_stride;
  int per_row, bits;
  bool is_e4m3;   // in place of 8-bit integers
  float most;     // what the largest |x| becomes
  int log2_lanes; // of short rows: 2^this lanes have one; -1: rows are not such ones

  // The block's problem.
  template <class T> __device__ __forceinline__ const T *row_from(int64_t row) const
  {
    const int64_t z = blockIdx.y;
    return static_cast<const T *>(from) + z / heads * batch_stride + z % heads * head_stride +
           row * row_stride;
  }
  __device__ __forceinline__ uint8_t *row_to(int64_t row) const
  {
    return to + (blockIdx.y * rows + row) * row_bytes;
  }
  __device__ __forceinline__ float *scale(int64_t row) const
  {
    return scales + (per_row ? blockIdx.y * rows + row : blockIdx.y);
  }
};

template <int Bits> constexpr float kMost = Bits == 16 ? 32767.0f : Bits == 8 ? 127.0f : 7.0f;

// 0 for what is no number or has no end.
__device__ __forceinline__ float magnitude(float x)
{
  const float a = fabsf(x);
  return a <= 3.402823466e38f ? a : 0.0f;
}

// What the largest |x| becomes: of whole bytes it may be less than they have room for.
template <int Bits> __device__ __forceinline__ float most_of(const job &k)
{
  return Bits == 8 ? k.most : kMost<Bits>;
}

template <int Bits> __device__ __forceinline__ int integer_of(const job &k, float x, float scale)
{
  if (Bits == 8 && k.is_e4m3) return e4m3_of(x, scale);
  const float q = rintf(__fdiv_rn(x, scale));
  if (!(scale > 0) || q != q) return 0;
  return static_cast<int>(fminf(fmaxf(q, -most_of<Bits>(k)), most_of<Bits>(k)));
}

// Columns first .. end - 1 of a row: what a warp takes.
struct piece {
  int64_t row, first, end;
};

template <class T> __device__ __forceinline__ float largest_of(const job &k, const piece &x)
{
  const T *from = k.row_from<T>(x.row);
  float mine = 0.0f;
  for (int64_t j = x.first + threadIdx.x % 32; j < x.end; j += 32)
    mine = fmaxf(mine, magnitude(widen<float>(from[j])));
  for (int other = 16; other > 0; other /= 2)
    mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, other));
  return mine;
}

// x.first is even.
template <class T, int Bits>
__device__ __forceinline__ void put(const job &k, const piece &x, float scale)
{
  const T *from = k.row_from<T>(x.row);
  uint8_t *to = k.row_to(x.row);
  constexpr int kStep = Bits == 4 ? 2 : 1; // elements of a lane
  for (int64_t j = x.first + kStep * (threadIdx.x % 32); j < x.end; j += kStep * 32) {
    const int q = integer_of<Bits>(k, widen<float>(from[j]), scale);
    if constexpr (Bits == 16) {
      reinterpret_cast<int16_t *>(to)[j] = static_cast<int16_t>(q);
    } else if constexpr (Bits == 8) {
      to[j] = static_cast<uint8_t>(q);
    } else {
      const int high = j + 1 < x.end ? integer_of<4>(k, widen<float>(from[j + 1]), scale) : 0;
      to[j / 2] = static_cast<uint8_t>((q & 15) | high << 4);
    }
  }
}

__device__ __forceinline__ int64_t first_unit()
{
  return static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
}
__device__ __forceinline__ int64_t units_at_once()
{
  return static_cast<int64_t>(gridDim.x) * kWarps;
}

// Which row and set of columns a lane has, of short rows.
struct place {
  int64_t row, column;
  bool exists;
};
__device__ __forceinline__ place place_of(const job &k, int64_t unit)
{
  const int64_t lane = unit * 32 + threadIdx.x % 32, row = lane >> k.log2_lanes;
  const int64_t column = (lane & ((1 << k.log2_lanes) - 1)) * kSet;
  return {row, column, row < k.rows && column < k.cols};
}
// Warps that short rows take.
__host__ __device__ inline int64_t units_of_short(const job &k)
{
  return ((k.rows << k.log2_lanes) + 31) / 32;
}

// Zeros where there are none.
template <class T>
__device__ __forceinline__ void load_set(const job &k, const place &x, float (&to)[kSet])
{
  constexpr int kWide = 16 / static_cast<int>(sizeof(T));
  vec<T, kWide> raw[kSet / kWide] = {};
  if (x.exists)
#pragma unroll
    for (int i = 0; i < kSet / kWide; i++)
      raw[i] = reinterpret_cast<const vec<T, kWide> *>(k.row_from<T>(x.row) + x.column)[i];
#pragma unroll
  for (int i = 0; i < kSet; i++) to[i] = widen<float>(raw[i / kWide].at[i % kWide]);
}

__device__ __forceinline__ float largest_of_set(const float (&x)[kSet])
{
  float mine = 0.0f;
#pragma unroll
  for (int i = 0; i < kSet; i++) mine = fmaxf(mine, magnitude(x[i]));
  return mine;
}

template <int Bits>
__device__ __forceinline__ void put_set(const job &k, const place &x, const float (&from)[kSet],
                                        float scale)
{
  vec<uint8_t, Bits> out = {};
#pragma unroll
  for (int i = 0; i < kSet; i++) {
    const int q = integer_of<Bits>(k, from[i], scale);
    if constexpr (Bits == 16)
      out.at[2 * i] = static_cast<uint8_t>(q), out.at[2 * i + 1] = static_cast<uint8_t>(q >> 8);
    else if constexpr (Bits == 8)
      out.at[i] = static_cast<uint8_t>(q);
    else
      out.at[i / 2] |= static_cast<uint8_t>((q & 15) << i % 2 * 4);
  }
  if (x.exists)
    *reinterpret_cast<vec<uint8_t, Bits> *>(k.row_to(x.row) + x.column * Bits / 8) = out;
}

template <class T, int Bits> __device__ __forceinline__ void short_rows(const job &k)
{
  for (int64_t u = first_unit(); u < units_of_short(k); u += units_at_once()) {
    const place at = place_of(k, u);
    float x[kSet];
    load_set<T>(k, at, x);
    float largest = largest_of_set(x);
    for (int other = 1 << k.log2_lanes >> 1; other > 0; other /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, other));
    const float scale = __fdiv_rn(largest, most_of<Bits>(k));
    put_set<Bits>(k, at, x, scale);
    if (at.exists && at.column == 0) *k.scale(at.row) = scale;
  }
}

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) quantise_short_rows(const __grid_constant__ job k)
{
  wait_for_previous();
  let_next_in();
  short_rows<T, Bits>(k);
}

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) quantise_rows(const __grid_constant__ job k)
{
  wait_for_previous();
  let_next_in();
  for (int64_t row = first_unit(); row < k.rows; row += units_at_once()) {
    const piece whole = {row, 0, k.cols};
    const float scale = __fdiv_rn(largest_of<T>(k, whole), most_of<Bits>(k));
    put<T, Bits>(k, whole, scale);
    if (threadIdx.x % 32 == 0) *k.scale(row) = scale;
  }
}

// Piece u of all rows'.
__device__ __forceinline__ piece piece_of(const job &k, int64_t u)
{
  const int64_t pieces = (k.cols + kPiece - 1) / kPiece, first = u % pieces * kPiece;
  return {u / pieces, first, first + kPiece < k.cols ? first + kPiece : k.cols};
}

// The largest |x| of what the warp has of a problem, of short rows and of others.
template <class T> __device__ __forceinline__ float largest_of_short_rows(const job &k)
{
  float largest = 0.0f;
  for (int64_t u = first_unit(); u < units_of_short(k); u += units_at_once()) {
    float x[kSet];
    load_set<T>(k, place_of(k, u), x);
    largest = fmaxf(largest, largest_of_set(x));
  }
  for (int other = 16; other > 0; other /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, other));
  return largest;
}
template <class T> __device__ __forceinline__ float largest_of_pieces(const job &k)
{
  float largest = 0.0f;
  const int64_t units = k.rows * ((k.cols + kPiece - 1) / kPiece);
  for (int64_t u = first_unit(); u < units; u += units_at_once())
    largest = fmaxf(largest, largest_of<T>(k, piece_of(k, u)));
  return largest;
}

// largest: that of the warp.  scale(0): 0 before.
template <int Bits> __device__ __forceinline__ void add_to_scale(const job &k, float largest)
{
  __shared__ float of_warp[kWarps];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < kWarps; i++) largest = fmaxf(largest, of_warp[i]);
  atomicMax(reinterpret_cast<unsigned *>(k.scale(0)),
            __float_as_uint(__fdiv_rn(largest, most_of<Bits>(k))));
}

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) scale_of_all(const __grid_constant__ job k)
{
  wait_for_previous();
  let_next_in();
  add_to_scale<Bits>(k, k.log2_lanes >= 0 ? largest_of_short_rows<T>(k) : largest_of_pieces<T>(k));
}

// ---- several matrices of short rows -------------------------------------------------------------

constexpr int kMostJobs = SHUNT_QUANTISED_TOGETHER;
struct jobs {
  job of[kMostJobs];
};

// The integers of rows, or the scale of a tensor.
template <class T, int Bits> __device__ __forceinline__ void first_part(const job &k)
{
  if (k.per_row)
    short_rows<T, Bits>(k);
  else
    add_to_scale<Bits>(k, largest_of_short_rows<T>(k));
}

// The grid's z is the matrix.
template <class T>
__global__ void __launch_bounds__(kThreads) quantise_together(const __grid_constant__ jobs all)
{
  wait_for_previous();
  let_next_in();
  const job &k = all.of[blockIdx.z];
  if (blockIdx.y >= k.problems || first_unit() - threadIdx.x / 32 >= units_of_short(k)) return;
  switch (k.bits) {
  case 16: return first_part<T, 16>(k);
  case 8: return first_part<T, 8>(k);
  default: return first_part<T, 4>(k);
  }
}

// ---- the integers of a tensor -------------------------------------------------------------------

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) quantise_all(const __grid_constant__ job k)
{
  wait_for_previous();
  let_next_in();
  const float scale = *k.scale(0);
  if (k.log2_lanes >= 0) {
    for (int64_t u = first_unit(); u < units_of_short(k); u += units_at_once()) {
      const place at = place_of(k, u);
      float x[kSet];
      load_set<T>(k, at, x);
      put_set<Bits>(k, at, x, scale);
    }
    return;
  }
  const int64_t units = k.rows * ((k.cols + kPiece - 1) / kPiece);
  for (int64_t u = first_unit(); u < units; u += units_at_once())
    put<T, Bits>(k, piece_of(k, u), scale);
}

// ---- launches -----------------------------------------------------------------------------------

// Blocks for each problem.
static dim3 grid_of(const job &k, const struct shunt_device *d)
{
  const int64_t pieces = k.per_row ? 1 : (k.cols + kPiece - 1) / kPiece;
  const int64_t units = k.log2_lanes >= 0 ? units_of_short(k) : k.rows * pieces;
  const int64_t wanted = (units + kWarps - 1) / kWarps;
  const int64_t most = INT64_C(16) * d->multiprocessors;
  return dim3(static_cast<unsigned>(wanted < most ? wanted : most),
              static_cast<unsigned>(k.problems));
}

static shunt_status clear_scale(const job &k, cudaStream_t stream)
{
  const size_t bytes = sizeof *k.scales * static_cast<size_t>(k.problems);
  return cudaMemsetAsync(k.scales, 0, bytes, stream) == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T, int Bits>
static shunt_status launch(const job &k, const struct shunt_device *d, cudaStream_t stream)
{
  const dim3 blocks = grid_of(k, d), threads(kThreads);
  if (k.per_row && k.log2_lanes >= 0)
    return launch_early(quantise_short_rows<T, Bits>, blocks, threads, d, stream, k);
  if (k.per_row) return launch_early(quantise_rows<T, Bits>, blocks, threads, d, stream, k);
  const shunt_status s = clear_scale(k, stream);
  if (s != SHUNT_OK) return s;
  scale_of_all<T, Bits><<<blocks, threads, 0, stream>>>(k); // no kernel in front to overlap with
  if (cudaGetLastError() != cudaSuccess) return SHUNT_E_CUDA;
  return launch_early(quantise_all<T, Bits>, blocks, threads, d, stream, k);
}

template <class T>
static shunt_status launch_bits(const job &k, const struct shunt_device *d, cudaStream_t stream)
{
  if (k.bits == 16) return launch<T, 16>(k, d, stream);
  if (k.bits == 8) return launch<T, 8>(k, d, stream);
  return launch<T, 4>(k, d, stream);
}

template <class T>
static shunt_status launch_all(const job &k, const struct shunt_device *d, cudaStream_t stream)
{
  const dim3 blocks = grid_of(k, d), threads(kThreads);
  if (k.bits == 16) return launch_early(quantise_all<T, 16>, blocks, threads, d, stream, k);
  if (k.bits == 8) return launch_early(quantise_all<T, 8>, blocks, threads, d, stream, k);
  return launch_early(quantise_all<T, 4>, blocks, threads, d, stream, k);
}

template <class T>
static shunt_status launch_together(const jobs &all, int count, const struct shunt_device *d,
                                    cudaStream_t stream)
{
  dim3 grid(1, 1, static_cast<unsigned>(count));
  shunt_status s = SHUNT_OK;
  for (int i = 0; i < count && s == SHUNT_OK; i++) {
    const dim3 own = grid_of(all.of[i], d);
    grid.x = own.x > grid.x ? own.x : grid.x;
    grid.y = own.y > grid.y ? own.y : grid.y;
    if (!all.of[i].per_row) s = clear_scale(all.of[i], stream);
  }
  if (s == SHUNT_OK) s = launch_early(quantise_together<T>, grid, dim3(kThreads), d, stream, all);
  for (int i = 0; i < count && s == SHUNT_OK; i++)
    if (!all.of[i].per_row) s = launch_all<T>(all.of[i], d, stream);
  return s;
}

// Of short rows, each of which begins at a multiple of 16 bytes; elements of `size` bytes.
static int log2_lanes(const job &k, int size)
{
  const int64_t steps = k.row_stride | k.head_stride | k.batch_stride;
  int log2 = 0;
  if (k.cols % kSet || k.cols > kLongest || steps * size % 16) return -1;
  if (reinterpret_cast<uintptr_t>(k.from) % 16) return -1;
  while (kSet << log2 < k.cols) log2++;
  return log2;
}

static job job_of(const struct shunt_quantise *p)
{
  job k = {};
  k.from = p->from.values;
  k.to = const_cast<uint8_t *>(static_cast<const uint8_t *>(p->to.values));
  k.scales = p->scales;
  k.rows = p->from.rows;
  k.cols = p->from.cols;
  k.row_stride = p->from.row_stride;
  k.row_bytes = p->to.row_bytes;
  k.problems = p->problems;
  k.heads = p->heads;
  k.head_stride = p->head_stride;
  k.batch_stride = p->batch_stride;
  k.per_row = p->per_row;
  k.bits = p->to.bits;
  k.is_e4m3 = p->is_e4m3;
  k.most = p->is_e4m3 ? kMostE4m3 : p->narrow ? kMost<4> : kMost<8>;
  k.log2_lanes = log2_lanes(k, static_cast<int>(shunt_type_size(p->from.type)));
  return k;
}

static bool run_together(const struct shunt_quantise *p, int count)
{
  if (count < 2 || count > kMostJobs) return false;
  for (int i = 0; i < count; i++)
    if (p[i].from.type != p->from.type || job_of(&p[i]).log2_lanes < 0) return false;
  return true;
}

} // namespace quantise
} // namespace srbcrs
} // namespace shunt

using namespace shunt::srbcrs::quantise;

extern "C" shunt_status shunt_quantise_cuda(const struct shunt_quantise *p,
                                            const struct shunt_device *d, shunt_stream stream)
{
  const shunt_status s = shunt_quantise_check(p);
  if (s != SHUNT_OK) return s;
  const job k = job_of(p);
  if (p->from.type == SHUNT_F16) return launch_bits<__half>(k, d, stream);
  if (p->from.type == SHUNT_BF16) return launch_bits<__nv_bfloat16>(k, d, stream);
  return launch_bits<float>(k, d, stream);
}

extern "C" shunt_status shunt_quantise_several_cuda(const struct shunt_quantise *p, int count,
                                                    const struct shunt_device *d,
                                                    shunt_stream stream)
{
  shunt_status s = SHUNT_OK;
  jobs all = {};
  for (int i = 0; i < count && s == SHUNT_OK; i++) s = shunt_quantise_check(&p[i]);
  if (s != SHUNT_OK) return s;
  if (!run_together(p, count)) {
    for (int i = 0; i < count && s == SHUNT_OK; i++) s = shunt_quantise_cuda(&p[i], d, stream);
    return s;
  }
  for (int i = 0; i < count; i++) all.of[i] = job_of(&p[i]);
  if (p->from.type == SHUNT_F16) return launch_together<__half>(all, count, d, stream);
  if (p->from.type == SHUNT_BF16) return launch_together<__nv_bfloat16>(all, count, d, stream);
  return launch_together<float>(all, count, d, stream);
}
