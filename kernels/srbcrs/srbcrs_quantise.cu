// srbcrs_quantise.cu: symmetric quantisation of a dense matrix (srbcrs_quantise.h).
//
//   per row      a warp a row: its largest |x|, then its integers
//   per tensor   largest      a warp a piece of a row; the largest bits of floats that are not
//                             negative are the largest float, in whatever order: scales[0]
//                integers     a warp a piece of a row, from the largest
//                scale        what stands in scales[0] at last
//
// Bound: x read twice, the second time out of L2 where it fits.
#include "kernels/common/number.cuh"
#include "kernels/srbcrs/srbcrs_quantise.h"

namespace shunt
{
namespace srbcrs
{
namespace quantise
{

constexpr int kWarps = 8, kThreads = kWarps * 32; // of a block
constexpr int kPiece = 1024;                      // columns, an even number

struct job {
  const void *from;
  uint8_t *to;
  float *scales;
  int64_t rows, cols, row_stride, row_bytes; // from's stride in elements, to's in bytes
  int64_t heads, head_stride, batch_stride;
  int per_row;

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

template <int Bits> __device__ __forceinline__ int integer_of(float x, float scale)
{
  const float q = rintf(__fdiv_rn(x, scale));
  if (!(scale > 0) || q != q) return 0;
  return static_cast<int>(fminf(fmaxf(q, -kMost<Bits>), kMost<Bits>));
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
    const int q = integer_of<Bits>(widen<float>(from[j]), scale);
    if constexpr (Bits == 16) {
      reinterpret_cast<int16_t *>(to)[j] = static_cast<int16_t>(q);
    } else if constexpr (Bits == 8) {
      to[j] = static_cast<uint8_t>(q);
    } else {
      const int high = j + 1 < x.end ? integer_of<4>(widen<float>(from[j + 1]), scale) : 0;
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

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) quantise_rows(const __grid_constant__ job k)
{
  for (int64_t row = first_unit(); row < k.rows; row += units_at_once()) {
    const piece whole = {row, 0, k.cols};
    const float scale = __fdiv_rn(largest_of<T>(k, whole), kMost<Bits>);
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

template <class T>
__global__ void __launch_bounds__(kThreads) largest_of_all(const __grid_constant__ job k)
{
  const int64_t units = k.rows * ((k.cols + kPiece - 1) / kPiece);
  float largest = 0.0f;
  for (int64_t u = first_unit(); u < units; u += units_at_once())
    largest = fmaxf(largest, largest_of<T>(k, piece_of(k, u)));
  __shared__ float of_warp[kWarps];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < kWarps; i++) largest = fmaxf(largest, of_warp[i]);
  atomicMax(reinterpret_cast<unsigned *>(k.scale(0)), __float_as_uint(largest));
}

template <class T, int Bits>
__global__ void __launch_bounds__(kThreads) quantise_all(const __grid_constant__ job k)
{
  const int64_t units = k.rows * ((k.cols + kPiece - 1) / kPiece);
  const float scale = __fdiv_rn(*k.scale(0), kMost<Bits>);
  for (int64_t u = first_unit(); u < units; u += units_at_once())
    put<T, Bits>(k, piece_of(k, u), scale);
}

template <int Bits>
__global__ void __launch_bounds__(kThreads) scale_of_all(float *scales, int64_t problems)
{
  const int64_t z = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (z < problems) scales[z] = __fdiv_rn(scales[z], kMost<Bits>);
}

template <class T, int Bits>
static cudaError_t launch(const job &k, int64_t problems, const struct shunt_device *d,
                          cudaStream_t stream)
{
  const int64_t pieces = k.per_row ? 1 : (k.cols + kPiece - 1) / kPiece;
  const int64_t wanted = (k.rows * pieces + kWarps - 1) / kWarps;
  const int64_t most = INT64_C(16) * d->multiprocessors; // blocks of a problem
  const dim3 blocks(static_cast<unsigned>(wanted < most ? wanted : most),
                    static_cast<unsigned>(problems));
  if (k.per_row) {
    quantise_rows<T, Bits><<<blocks, kThreads, 0, stream>>>(k);
    return cudaGetLastError();
  }
  const size_t bytes = sizeof *k.scales * static_cast<size_t>(problems);
  const unsigned few = static_cast<unsigned>((problems + kThreads - 1) / kThreads);
  const cudaError_t e = cudaMemsetAsync(k.scales, 0, bytes, stream);
  if (e != cudaSuccess) return e;
  largest_of_all<T><<<blocks, kThreads, 0, stream>>>(k);
  quantise_all<T, Bits><<<blocks, kThreads, 0, stream>>>(k);
  scale_of_all<Bits><<<few, kThreads, 0, stream>>>(k.scales, problems);
  return cudaGetLastError();
}

template <class T>
static cudaError_t launch_bits(const job &k, const struct shunt_quantise *p,
                               const struct shunt_device *d, cudaStream_t stream)
{
  if (p->to.bits == 16) return launch<T, 16>(k, p->problems, d, stream);
  if (p->to.bits == 8) return launch<T, 8>(k, p->problems, d, stream);
  return launch<T, 4>(k, p->problems, d, stream);
}

} // namespace quantise
} // namespace srbcrs
} // namespace shunt

extern "C" shunt_status shunt_quantise_cuda(const struct shunt_quantise *p,
                                            const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::srbcrs::quantise;
  const shunt_status s = shunt_quantise_check(p);
  if (s != SHUNT_OK) return s;
  job k = {};
  k.from = p->from.values;
  k.to = const_cast<uint8_t *>(static_cast<const uint8_t *>(p->to.values));
  k.scales = p->scales;
  k.rows = p->from.rows;
  k.cols = p->from.cols;
  k.row_stride = p->from.row_stride;
  k.row_bytes = p->to.row_bytes;
  k.heads = p->heads;
  k.head_stride = p->head_stride;
  k.batch_stride = p->batch_stride;
  k.per_row = p->per_row;
  const cudaError_t e = p->from.type == SHUNT_F16    ? launch_bits<__half>(k, p, d, stream)
                        : p->from.type == SHUNT_BF16 ? launch_bits<__nv_bfloat16>(k, p, d, stream)
                                                     : launch_bits<float>(k, p, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
