// fingerprint_csr.cu: 128 bits that stand for the content of a CSR matrix.
//
// One pass over row offsets, columns and values at copy bandwidth (the mathematics is in
// kernels/fingerprint.h).  The arrays are cut into tiles of about 4096 bytes, numbered
// through; a warp takes every W-th tile, W the number of warps in the grid:
//
//   tile   0 ........ t0 ............ t1 ........ t2
//          | offsets  |   columns     |  values   |
//
// Every block writes the sum of its tiles, its part; the fingerprint is the sum of the
// parts.
//
// Cost a 16-byte piece: one load, 12 instructions to absorb it, 5 for its share of
// closing the chunk: below the memory time of every device this is built for.
#include <cuda_runtime.h>

#include "kernels/early_launch.cuh"
#include "kernels/fingerprint.h"
#include "kernels/fingerprint_parts.cuh"
#include "kernels/shunt_kernels.h"

namespace shunt {
namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 3;
constexpr unsigned whole_warp = 0xffffffffu;

// One array of A.  `align` is the largest power of two, up to 16, that divides its
// address: how wide its loads may be.
struct array_job {
  const unsigned char *at;
  int64_t bytes;
  int64_t tiles;
  int align;
};

struct fingerprint_job {
  array_job array[3];
  int64_t tiles; // of all three together
  struct shunt_fingerprint seed;
  struct shunt_fingerprint *parts;
  uint32_t *zero;
};

// ---- loads -------------------------------------------------------------------

// W bytes at p, which is a multiple of W, as four words, zeros behind.
template <int W> __device__ __forceinline__ uint4 load_wide(const unsigned char *p)
{
  if constexpr (W == 16) return __ldg(reinterpret_cast<const uint4 *>(p));
  uint4 v = make_uint4(0, 0, 0, 0);
  if constexpr (W == 8) {
    uint2 a = __ldg(reinterpret_cast<const uint2 *>(p));
    v.x = a.x, v.y = a.y;
  }
  if constexpr (W == 4) v.x = __ldg(reinterpret_cast<const unsigned *>(p));
  if constexpr (W == 2) v.x = __ldg(reinterpret_cast<const unsigned short *>(p));
  if constexpr (W == 1) v.x = __ldg(p);
  return v;
}

// 16 bytes at p, which is a multiple of W only.
template <int W> __device__ __forceinline__ uint4 load_piece(const unsigned char *p)
{
  if constexpr (W == 16) {
    return load_wide<16>(p);
  } else if constexpr (W == 8) {
    uint4 a = load_wide<8>(p), b = load_wide<8>(p + 8);
    return make_uint4(a.x, a.y, b.x, b.y);
  } else {
    uint32_t w[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      w[i] = 0;
#pragma unroll
      for (int k = 0; k < 4; k += W) w[i] |= load_wide<W>(p + 4 * i + k).x << (8 * k);
    }
    return make_uint4(w[0], w[1], w[2], w[3]);
  }
}

// The first n (1..15) of 16 bytes, zeros behind.
__device__ uint4 load_ragged(const unsigned char *p, int n)
{
  uint64_t low = 0, high = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    uint64_t byte = __ldg(p + i);
    if (i < 8)
      low |= byte << (8 * i);
    else
      high |= byte << (8 * (i - 8));
  }
  return make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
}

// ---- tiles ----------------------------------------------------------

// A lane's eight pieces, `left` (0..4096) bytes of the array from p on.
template <int W>
__device__ __forceinline__ void fetch(uint4 (&piece)[SHUNT_FP_PIECES], const unsigned char *p,
                                      int left)
{
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) {
    bool whole = left >= j * SHUNT_FP_ROW + SHUNT_FP_PIECE;
    piece[j] = whole ? load_piece<W>(p + j * SHUNT_FP_ROW) : make_uint4(0, 0, 0, 0);
  }
}

__device__ __forceinline__ void hash_tile(const array_job &a, unsigned id, int64_t tile, int lane,
                                          struct shunt_fingerprint &sum)
{
  int64_t first = tile * SHUNT_FP_TILE + lane * SHUNT_FP_PIECE;
  int64_t rest = a.bytes - first;
  int left = rest <= 0 ? 0 : rest < SHUNT_FP_TILE ? (int)rest : SHUNT_FP_TILE;
  const unsigned char *p = a.at + first;
  uint4 piece[SHUNT_FP_PIECES];

  switch (a.align) {
  case 16: fetch<16>(piece, p, left); break;
  case 8: fetch<8>(piece, p, left); break;
  case 4: fetch<4>(piece, p, left); break;
  case 2: fetch<2>(piece, p, left); break;
  default: fetch<1>(piece, p, left); break;
  }
  // At most one piece of the whole array is cut by its end.
  int cut = left % SHUNT_FP_ROW;
  if (cut > 0 && cut < SHUNT_FP_PIECE) {
    int which = left / SHUNT_FP_ROW;
    uint4 v = load_ragged(p + which * SHUNT_FP_ROW, cut);
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++)
      if (j == which) piece[j] = v;
  }

  struct shunt_fp_chunk c = { 0, 0 };
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) {
    shunt_fp_absorb(&c, 2 * j, piece[j].x, piece[j].y);
    shunt_fp_absorb(&c, 2 * j + 1, piece[j].z, piece[j].w);
  }
  shunt_fp_add(&sum, shunt_fp_close(c, id, (uint64_t)(tile * SHUNT_FP_LANES + lane)));
}

// ---- the kernel ----------------------------------------------------------------

// The sum of all threads' fingerprints, in thread 0.
__device__ struct shunt_fingerprint block_sum(struct shunt_fingerprint f)
{
  __shared__ struct shunt_fingerprint part[block_warps];

  for (int step = 16; step > 0; step /= 2) {
    f.lo += __shfl_down_sync(whole_warp, f.lo, step);
    f.hi += __shfl_down_sync(whole_warp, f.hi, step);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = f;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < block_warps; w++) shunt_fp_add(&f, part[w]);
  return f;
}

__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    fingerprint_kernel(const __grid_constant__ fingerprint_job g)
{
  int lane = threadIdx.x % 32;
  int64_t warp = (int64_t)blockIdx.x * block_warps + threadIdx.x / 32;
  int64_t warps = (int64_t)gridDim.x * block_warps;
  int64_t t0 = g.array[0].tiles, t1 = t0 + g.array[1].tiles;
  struct shunt_fingerprint sum = { 0, 0 };

  let_next_in();
  wait_for_previous();
  for (int64_t t = warp; t < g.tiles; t += warps) {
    int id = t < t0 ? SHUNT_FP_OFFSETS : t < t1 ? SHUNT_FP_COLUMNS : SHUNT_FP_VALUES;
    hash_tile(g.array[id], id, t - (id == 0 ? 0 : id == 1 ? t0 : t1), lane, sum);
  }
  struct shunt_fingerprint f = block_sum(sum);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) shunt_fp_add(&f, g.seed);
  if (blockIdx.x == 0 && g.zero) *g.zero = 0;
  g.parts[blockIdx.x] = f;
}

__global__ void __launch_bounds__(block_threads)
    sum_kernel(const struct shunt_fingerprint *parts, int count, struct shunt_fingerprint *out)
{
  wait_for_previous();
  struct shunt_fingerprint f = sum_parts(parts, count);
  if (threadIdx.x == 0) *out = f;
}

// ---- the launcher --------------------------------------------------------------

int alignment(uint64_t bits, int limit)
{
  int a = 1;
  while (a < limit && bits % (2 * a) == 0) a *= 2;
  return a;
}

shunt_status describe_arrays(const struct shunt_csr *a, fingerprint_job *g)
{
  const void *at[3] = { a->row_offsets, a->columns, a->values };
  int64_t bytes[3];

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (a->rows < 0 || a->nnz < 0) return SHUNT_E_ARGUMENT;
  shunt_fp_sizes(a, bytes);
  for (int i = 0; i < 3; i++) {
    array_job *job = &g->array[i];
    job->at = static_cast<const unsigned char *>(at[i]);
    job->bytes = bytes[i];
    job->tiles = shunt_fp_tiles(bytes[i]);
    job->align = alignment((uint64_t)(uintptr_t)at[i], 16);
    g->tiles += job->tiles;
  }
  g->seed = shunt_fp_seed(a);
  return SHUNT_OK;
}

}  // namespace
}  // namespace shunt

using namespace shunt;

extern "C" int shunt_fingerprint_parts(const struct shunt_csr *a, const struct shunt_device *d)
{
  int64_t bytes[3], tiles = 0;
  shunt_fp_sizes(a, bytes);
  for (int i = 0; i < 3; i++) tiles += shunt_fp_tiles(bytes[i]);
  int64_t blocks = (tiles + block_warps - 1) / block_warps;
  int64_t most = (int64_t)d->multiprocessors * blocks_per_multiprocessor;
  if (most > SHUNT_FINGERPRINT_MOST_PARTS) most = SHUNT_FINGERPRINT_MOST_PARTS;
  return (int)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

extern "C" shunt_status shunt_fingerprint_parts_cuda(const struct shunt_csr *a,
                                                     struct shunt_fingerprint *parts,
                                                     uint32_t *zero, const struct shunt_device *d,
                                                     shunt_stream stream)
{
  fingerprint_job job = {};
  if (!parts) return SHUNT_E_ARGUMENT;
  shunt_status s = describe_arrays(a, &job);
  if (s != SHUNT_OK) return s;
  job.parts = parts;
  job.zero = zero;
  return launch_early(fingerprint_kernel, dim3(shunt_fingerprint_parts(a, d)), dim3(block_threads),
                      d, stream, job);
}

extern "C" shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a,
                                                   struct shunt_fingerprint *out,
                                                   const struct shunt_device *d, void *scratch,
                                                   shunt_stream stream)
{
  struct shunt_fingerprint *parts = static_cast<struct shunt_fingerprint *>(scratch);
  if (!out) return SHUNT_E_ARGUMENT;
  shunt_status s = shunt_fingerprint_parts_cuda(a, parts, nullptr, d, stream);
  if (s != SHUNT_OK) return s;
  return launch_early(sum_kernel, dim3(1), dim3(block_threads), d, stream, parts,
                      shunt_fingerprint_parts(a, d), out);
}
