// srbcrs_steps.cu: int8 SpMM with B through shared memory, step by step (srbcrs_steps.h).
//
// A warp owns V rows x 64 columns of C.  Of a stride it brings 32 rows of B, 64 bytes each, into
// shared memory, and picks its operands out of them byte by byte: lane (g, t) the column 16 i + g
// of rows 4t .. 4t + 3.  In the 32 banks of 4 bytes, row r begins at bank r x pitch / 4:
//
//     64 bytes   t = 0, 1, 2, 3: banks 0, 0, 0, 0    four rows wait for each other
//     72 bytes                   banks 0, 8, 16, 24
#include "kernels/ptx/mma_s8.cuh"
#include "tests/bench/ablation/srbcrs_steps.h"

namespace shunt
{
namespace srbcrs
{
namespace
{

constexpr int kRows = SHUNT_SRBCRS_STRIDE, kColumns = 64, kWarpsOfBlock = 4;

struct step_arguments {
  struct shunt_srbcrs v;
  const uint8_t *b;
  int64_t b_row_bytes;
  int n;
  int32_t *c;
  int64_t c_row_stride;
};

// A stride's rows of B: each lane has eight pieces of 8 bytes.
struct pieces {
  uint2 at[8];
};

__device__ __forceinline__ pieces load(const step_arguments &p, int64_t stride, int column0)
{
  pieces x;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int piece = i * 32 + static_cast<int>(threadIdx.x % 32), column = piece % 8 * 8;
    const int64_t row = p.v.columns[stride * kRows + piece / 8];
    // Columns beyond the last are the first: what comes of them is not stored.
    x.at[i] = *reinterpret_cast<const uint2 *>(p.b + row * p.b_row_bytes +
                                               (column0 + column < p.n ? column0 + column : 0));
  }
  return x;
}

template <int Pitch>
__device__ __forceinline__ void put(uint8_t (&m)[kRows][Pitch], const pieces &x)
{
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int piece = i * 32 + static_cast<int>(threadIdx.x % 32);
    *reinterpret_cast<uint2 *>(&m[piece / 8][piece % 8 * 8]) = x.at[i];
  }
}

template <int Pitch>
__device__ __forceinline__ uint32_t four_rows(const uint8_t (&m)[kRows][Pitch], int row, int column)
{
  return m[row][column] | static_cast<uint32_t>(m[row + 1][column]) << 8 |
         static_cast<uint32_t>(m[row + 2][column]) << 16 |
         static_cast<uint32_t>(m[row + 3][column]) << 24;
}

template <int Pitch>
__device__ __forceinline__ void multiply(int32_t (&d)[kColumns / 16][4], const step_arguments &p,
                                         const uint8_t (&m)[kRows][Pitch], int64_t stride)
{
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const uint32_t *words =
      reinterpret_cast<const uint32_t *>(p.v.values) + (stride * p.v.height + g) * 8;
  uint32_t a[2] = {};
  if (g < p.v.height) a[0] = words[t], a[1] = words[t + 4];
#pragma unroll
  for (int i = 0; i < kColumns / 16; i++) {
    const int column = 16 * i + g;
    const uint32_t columns[4] = {four_rows(m, 4 * t, column), four_rows(m, 4 * t, column + 8),
                                 four_rows(m, 4 * t + 16, column),
                                 four_rows(m, 4 * t + 16, column + 8)};
    ptx::mma_m16n8k32<true, true>(d[i], columns, a);
  }
}

__device__ __forceinline__ void store(const step_arguments &p, int64_t group, int column0,
                                      const int32_t (&d)[kColumns / 16][4])
{
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < kColumns / 16; i++)
#pragma unroll
    for (int h = 0; h < 4; h++) {
      const int column = column0 + 16 * i + g + h / 2 * 8, r = 2 * t + h % 2;
      const int64_t row = group * p.v.height + r;
      if (r < p.v.height && row < p.v.rows && column < p.n)
        p.c[row * p.c_row_stride + column] = d[i][h];
    }
}

template <int Pitch, bool Prefetch>
__global__ void __launch_bounds__(kWarpsOfBlock * 32)
    spmm_srbcrs_step(const __grid_constant__ step_arguments p)
{
  __shared__ __align__(16) uint8_t memory[kWarpsOfBlock][kRows][Pitch];
  uint8_t(&m)[kRows][Pitch] = memory[threadIdx.x / 32];
  const int wide = (p.n + kColumns - 1) / kColumns;
  const int64_t unit = static_cast<int64_t>(blockIdx.x) * kWarpsOfBlock + threadIdx.x / 32;
  const int64_t group = unit / wide;
  if (group >= p.v.groups) return;
  const int column0 = static_cast<int>(unit % wide) * kColumns;
  const int64_t begin = p.v.begin[group] / kRows, end = (p.v.end[group] + kRows - 1) / kRows;
  int32_t d[kColumns / 16][4] = {};
  pieces x = {};
  if (Prefetch && begin < end) x = load(p, begin, column0);
  for (int64_t s = begin; s < end; s++) {
    if (!Prefetch) x = load(p, s, column0);
    put(m, x);
    __syncwarp();
    if (Prefetch && s + 1 < end) x = load(p, s + 1, column0);
    multiply(d, p, m, s);
    __syncwarp();
  }
  store(p, group, column0, d);
}

template <int Pitch, bool Prefetch>
shunt_status launch_step(const step_arguments &p, cudaStream_t stream)
{
  const int64_t units = p.v.groups * ((p.n + kColumns - 1) / kColumns);
  const int64_t blocks = (units + kWarpsOfBlock - 1) / kWarpsOfBlock;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  if (blocks == 0) return SHUNT_OK;
  void *parameters[] = {const_cast<step_arguments *>(&p)};
  const cudaError_t e = cudaLaunchKernel(
      reinterpret_cast<const void *>(&spmm_srbcrs_step<Pitch, Prefetch>),
      dim3(static_cast<unsigned>(blocks)), dim3(kWarpsOfBlock * 32), parameters, 0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

shunt_status check(const struct shunt_spmm *p, const struct shunt_srbcrs *v)
{
  if (p->a.value_type != SHUNT_I8 || p->b.type != SHUNT_I8 || p->c.type != SHUNT_I32 ||
      p->compute != SHUNT_I32 || v->bits != 8 || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  if (p->alpha.device || p->beta.device || p->alpha.host != 1 || p->beta.host != 0)
    return SHUNT_E_UNSUPPORTED;
  if (v->rows != p->a.rows || v->cols != p->a.cols || p->b.rows != p->a.cols ||
      p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (p->b.col_stride != 1 || p->c.col_stride != 1 || p->b.cols % 8 || p->b.row_stride % 8 ||
      p->b.cols > INT32_MAX - 1024 || reinterpret_cast<uintptr_t>(p->b.values) % 8)
    return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

} // namespace
} // namespace srbcrs
} // namespace shunt

using namespace shunt::srbcrs;

extern "C" shunt_status shunt_ablation_srbcrs_cuda(const struct shunt_spmm *p,
                                                   const struct shunt_srbcrs *v,
                                                   enum shunt_srbcrs_step step, shunt_stream stream)
{
  const shunt_status s = shunt::srbcrs::check(p, v);
  if (s != SHUNT_OK) return s;
  const step_arguments k = {*v,
                            static_cast<const uint8_t *>(p->b.values),
                            p->b.row_stride,
                            static_cast<int>(p->b.cols),
                            static_cast<int32_t *>(p->c.values),
                            p->c.row_stride};
  switch (step) {
  case SHUNT_SRBCRS_BASIC: return launch_step<64, false>(k, stream);
  case SHUNT_SRBCRS_CONFLICT_FREE: return launch_step<72, false>(k, stream);
  default: return launch_step<72, true>(k, stream);
  }
}
