// guard_csr.cu: proves on the device that a kept plan still holds.
//
// Two jobs in one launch, both a single pass at copy bandwidth:
//
//   A   fingerprint (kernels/fingerprint.h) of row offsets, columns and values
//   B   does a dense matrix hold a NaN or an Inf
//
// Both are cut into tiles of about 4096 bytes, numbered through; a warp takes every
// W-th tile, W the number of warps in the grid:
//
//   tile   0 ........ t0 ............ t1 ........ t2 ............ t3
//          | offsets  |   columns     |  values   |      B        |
//
// The grid is small (two blocks a multiprocessor) so that the guard runs beside a
// GEMM.  Sums meet in the scratch by integer atomics, so the order in which blocks
// finish does not matter; the last block compares with what was expected.  A small
// matrix is one block's work and needs no scratch at all.
//
//   scratch   | sum.lo | sum.hi | blocks done |      (8, 8, 4 bytes)
//
// Cost a 16-byte piece of A: one load, 12 instructions to absorb it, 5 for its share
// of closing the chunk: below the memory time of every device this is built for.
#include <cuda_runtime.h>

#include "kernels/fingerprint.h"
#include "kernels/shunt_kernels.h"

namespace shunt {
namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 2;
constexpr int small_tiles = 2 * block_warps;  // up to here one block does it all
constexpr unsigned whole_warp = 0xffffffffu;

// One array of A.  `align` is the largest power of two, up to 16, that divides its
// address: how wide its loads may be.
struct array_job {
  const unsigned char *at;
  int64_t bytes;
  int64_t tiles;
  int align;
};

// B as `lines` runs of `line_bytes` bytes, `stride_bytes` apart; the gaps between
// are not looked at.  A unit is one load of `width` bytes (the last of a line may be
// shorter); eight units a lane make a tile.  A 32-bit word w with an even or odd
// place in its unit holds a NaN or Inf when ((w & mask) + step) & top: the addition
// carries into the sign's place when all bits of the exponent are set.
struct plane_job {
  const unsigned char *at;
  int64_t lines, line_bytes, stride_bytes;
  int64_t units_per_line, units, tiles;
  int width, element;
  uint32_t mask[2], step[2], top[2];
};

struct guard_job {
  array_job array[3];
  plane_job plane;
  int64_t tiles;                       // of all four together
  struct shunt_fingerprint seed;
  const struct shunt_fingerprint *expected;
  struct shunt_fingerprint *out;
  uint32_t *broken, *notify;
  unsigned long long *sums;
  unsigned *done;
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

// ---- A: fingerprint ----------------------------------------------------------

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

// ---- B: finite ---------------------------------------------------------------

__device__ __forceinline__ uint32_t suspect(const plane_job &b, uint32_t word, int odd)
{
  return ((word & b.mask[odd]) + b.step[odd]) & b.top[odd];
}

// The last unit of a line, n < width bytes, element by element.
__device__ uint32_t suspect_ragged(const plane_job &b, const unsigned char *p, int n)
{
  uint32_t bad = 0;
#pragma unroll 1
  for (int i = 0; i < n; i += b.element) {
    if (b.element == 2) bad |= suspect(b, load_wide<2>(p + i).x, 0);
    if (b.element == 4) bad |= suspect(b, load_wide<4>(p + i).x, 0);
    if (b.element == 8) bad |= suspect(b, load_wide<8>(p + i).y, 1);
  }
  return bad;
}

// a / b for 0 <= a, 0 < b; the short division where it will do.
__device__ __forceinline__ int64_t divide(int64_t a, int64_t b)
{
  if (((a | b) >> 32) == 0) return (int64_t)((uint32_t)a / (uint32_t)b);
  return a / b;
}

// Where unit u lies: its address, and its bytes' distance from the line's end.
__device__ __forceinline__ const unsigned char *locate(const plane_job &b, int64_t u, int64_t &rest)
{
  int64_t line = b.lines == 1 ? 0 : divide(u, b.units_per_line);
  int64_t at = (u - line * b.units_per_line) * b.width;
  rest = b.line_bytes - at;
  return b.at + line * b.stride_bytes + at;
}

template <int W>
__device__ __forceinline__ uint32_t check_tile(const plane_job &b, int64_t tile, int lane)
{
  int64_t first = tile * (SHUNT_FP_PIECES * 32) + lane;
  uint4 unit[SHUNT_FP_PIECES];
  uint32_t bad = 0, ragged = 0;

#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) {
    int64_t u = first + j * 32, rest;
    const unsigned char *p = locate(b, u, rest);
    unit[j] = make_uint4(0, 0, 0, 0);
    if (u < b.units && rest >= W) unit[j] = load_wide<W>(p);
    if (u < b.units && rest < W) ragged |= 1u << j;
  }
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) {
    bad |= suspect(b, unit[j].x, 0);
    if (W >= 8) bad |= suspect(b, unit[j].y, 1);
    if (W >= 16) bad |= suspect(b, unit[j].z, 0) | suspect(b, unit[j].w, 1);
  }
#pragma unroll 1
  for (int j = 0; ragged >> j; j++) {
    int64_t rest;
    if (!(ragged >> j & 1)) continue;
    const unsigned char *p = locate(b, first + j * 32, rest);
    bad |= suspect_ragged(b, p, (int)rest);
  }
  return bad;
}

__device__ __forceinline__ uint32_t check_tile(const plane_job &b, int64_t tile, int lane)
{
  switch (b.width) {
  case 16: return check_tile<16>(b, tile, lane);
  case 8: return check_tile<8>(b, tile, lane);
  case 4: return check_tile<4>(b, tile, lane);
  default: return check_tile<2>(b, tile, lane);
  }
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

// Adds this block's share; true in the last block, whose f is then everybody's.
__device__ bool meet(const guard_job &g, struct shunt_fingerprint &f)
{
  if (gridDim.x == 1) return true;
  atomicAdd(&g.sums[0], (unsigned long long)f.lo);
  atomicAdd(&g.sums[1], (unsigned long long)f.hi);
  __threadfence();
  if (atomicAdd(g.done, 1u) != gridDim.x - 1) return false;
  __threadfence();
  f.lo = atomicAdd(&g.sums[0], 0ull);
  f.hi = atomicAdd(&g.sums[1], 0ull);
  return true;
}

__device__ void conclude(const guard_job &g, struct shunt_fingerprint f)
{
  shunt_fp_add(&f, g.seed);
  if (g.out) *g.out = f;
  if (!g.expected || (f.lo == g.expected->lo && f.hi == g.expected->hi)) return;
  atomicOr(g.broken, (uint32_t)SHUNT_GUARD_CHANGED);
  if (g.notify) {
    *(volatile uint32_t *)g.notify = 1;  // volatile: a store at system scope
    __threadfence_system();
  }
}

__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    guard_kernel(const __grid_constant__ guard_job g)
{
  int lane = threadIdx.x % 32;
  int64_t warp = (int64_t)blockIdx.x * block_warps + threadIdx.x / 32;
  int64_t warps = (int64_t)gridDim.x * block_warps;
  int64_t t0 = g.array[0].tiles, t1 = t0 + g.array[1].tiles, t2 = t1 + g.array[2].tiles;
  struct shunt_fingerprint sum = { 0, 0 };
  uint32_t bad = 0;

  for (int64_t t = warp; t < g.tiles; t += warps) {
    if (t >= t2) {
      bad |= check_tile(g.plane, t - t2, lane);
      continue;
    }
    int id = t < t0 ? SHUNT_FP_OFFSETS : t < t1 ? SHUNT_FP_COLUMNS : SHUNT_FP_VALUES;
    hash_tile(g.array[id], id, t - (id == 0 ? 0 : id == 1 ? t0 : t1), lane, sum);
  }
  if (__syncthreads_or(bad != 0) && threadIdx.x == 0)
    atomicOr(g.broken, (uint32_t)SHUNT_GUARD_NONFINITE);
  if (!g.expected && !g.out) return;
  struct shunt_fingerprint f = block_sum(sum);
  if (threadIdx.x == 0 && meet(g, f)) conclude(g, f);
}

// ---- the launcher --------------------------------------------------------------

int alignment(uint64_t bits, int limit)
{
  int a = 1;
  while (a < limit && bits % (2 * a) == 0) a *= 2;
  return a;
}

shunt_status describe_arrays(const struct shunt_csr *a, guard_job *g)
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

// Sets the words of the exponent test; false for types that are always finite.
bool exponent_test(shunt_type type, plane_job *b)
{
  // By type: mask of the exponent, its lowest bit, the bit above it; for the word with
  // an even and the one with an odd place.
  static const struct {
    shunt_type type;
    uint32_t mask[2], step[2], top[2];
  } table[] = {
    { SHUNT_F16, { 0x7c007c00, 0x7c007c00 }, { 0x04000400, 0x04000400 },
      { 0x80008000, 0x80008000 } },
    { SHUNT_BF16, { 0x7f807f80, 0x7f807f80 }, { 0x00800080, 0x00800080 },
      { 0x80008000, 0x80008000 } },
    { SHUNT_F32, { 0x7f800000, 0x7f800000 }, { 0x00800000, 0x00800000 },
      { 0x80000000, 0x80000000 } },
    { SHUNT_F64, { 0, 0x7ff00000 }, { 0, 0x00100000 }, { 0, 0x80000000 } },
  };

  for (const auto &row : table) {
    if (row.type != type) continue;
    for (int i = 0; i < 2; i++)
      b->mask[i] = row.mask[i], b->step[i] = row.step[i], b->top[i] = row.top[i];
    return true;
  }
  return false;
}

shunt_status describe_plane(const struct shunt_dense *m, guard_job *g)
{
  plane_job *b = &g->plane;
  int64_t lines = m->rows, length = m->cols, stride = m->row_stride;
  int64_t size = (int64_t)shunt_type_size(m->type);

  if (m->col_stride != 1 && m->row_stride != 1) return SHUNT_E_UNSUPPORTED;
  if (m->rows <= 0 || m->cols <= 0 || !exponent_test(m->type, b)) return SHUNT_OK;
  if (m->col_stride != 1 || (m->cols == 1 && m->row_stride == 1))
    lines = m->cols, length = m->rows, stride = m->col_stride;
  if (stride == length) length *= lines, lines = 1;
  b->at = static_cast<const unsigned char *>(m->values);
  b->lines = lines;
  b->line_bytes = length * size;
  b->stride_bytes = lines == 1 ? 0 : stride * size;
  b->element = (int)size;
  b->width = alignment((uint64_t)(uintptr_t)b->at | (uint64_t)b->stride_bytes, 16);
  if (b->width < b->element) return SHUNT_E_ARGUMENT;
  b->units_per_line = (b->line_bytes + b->width - 1) / b->width;
  b->units = b->units_per_line * lines;
  b->tiles = (b->units + SHUNT_FP_PIECES * 32 - 1) / (SHUNT_FP_PIECES * 32);
  g->tiles += b->tiles;
  return SHUNT_OK;
}

shunt_status launch(guard_job *g, const struct shunt_device *d, void *scratch, shunt_stream stream)
{
  int64_t blocks = (g->tiles + block_warps - 1) / block_warps;
  int64_t most = (int64_t)d->multiprocessors * blocks_per_multiprocessor;
  void *arguments[] = { g };

  if (g->tiles <= small_tiles) blocks = 1;
  if (blocks > most) blocks = most;
  if (blocks > 1 && (g->expected || g->out)) {
    g->sums = static_cast<unsigned long long *>(scratch);
    g->done = reinterpret_cast<unsigned *>(g->sums + 2);
    if (!scratch) return SHUNT_E_WORKSPACE;
    if (cudaMemsetAsync(scratch, 0, 24, stream) != cudaSuccess) return SHUNT_E_CUDA;
  }
  cudaError_t e = cudaLaunchKernel(reinterpret_cast<const void *>(guard_kernel),
                                   dim3((unsigned)blocks), dim3(block_threads), arguments, 0,
                                   stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

}  // namespace
}  // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_guard_cuda(const struct shunt_guard *g, const struct shunt_device *d,
                                         void *scratch, shunt_stream stream)
{
  guard_job job = {};

  if (!g->broken) return SHUNT_E_ARGUMENT;
  job.broken = g->broken;
  job.notify = g->notify;
  if (g->a) {
    if (!g->expected) return SHUNT_E_ARGUMENT;
    job.expected = g->expected;
    shunt_status s = describe_arrays(g->a, &job);
    if (s != SHUNT_OK) return s;
  }
  if (g->b) {
    shunt_status s = describe_plane(g->b, &job);
    if (s != SHUNT_OK) return s;
  }
  if (!job.expected && job.tiles == 0) return SHUNT_OK;
  return launch(&job, d, scratch, stream);
}

extern "C" shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a,
                                                   struct shunt_fingerprint *out,
                                                   const struct shunt_device *d, void *scratch,
                                                   shunt_stream stream)
{
  guard_job job = {};

  if (!out) return SHUNT_E_ARGUMENT;
  job.out = out;
  shunt_status s = describe_arrays(a, &job);
  return s == SHUNT_OK ? launch(&job, d, scratch, stream) : s;
}
