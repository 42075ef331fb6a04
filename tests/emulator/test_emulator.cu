// test_emulator.cu: the emulator against plain statements of what instructions do.
#include <cuda.h>

#include "instructions.h"
#include "kernels/ptx/gpu_scope.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/tma.cuh"
#include "tests/gpu/common/harness.cuh"

using namespace harness;
using namespace shunt;

// ---- numbers
// -------------------------------------------------------------------------------------

static void test_half()
{
  bool exact = true, nearest = true;
  for (int i = 0; i < 65536; i++) {
    const __half h = __ushort_as_half((unsigned short)i);
    const float f = __half2float(h);
    exact &= isnan(f) || __half_as_ushort(__float2half_rn(f)) == i;
    if (i % 0x8000 >= 0x7bff) continue; // the last finite one, infinity, NaN
    const float above = __half2float(__ushort_as_half((unsigned short)(i + 1)));
    const double middle = ((double)f + above) / 2;
    const unsigned short even = (unsigned short)(i % 2 ? i + 1 : i);
    nearest &= __half_as_ushort(__float2half_rn((float)middle)) == even;
    nearest &= __half_as_ushort(__half(middle + (above - middle) * 1e-6)) == i + 1;
  }
  check(exact, "each f16 goes to f32 and back");
  check(nearest, "f32 goes to the nearest f16, halves to the even one");
  check(__half_as_ushort(__float2half_rn(65519.0f)) == 0x7bff &&
            __half_as_ushort(__float2half_rn(65520.0f)) == 0x7c00 &&
            __half_as_ushort(__float2half_rn(-1e-9f)) == 0x8000,
        "f16 overflows and underflows where it must");
  check(__bfloat162float(__float2bfloat16_rn(1.00390625f)) == 1.0f &&
            __bfloat162float(__float2bfloat16_rn(1.01171875f)) == 1.015625f &&
            isnan(__bfloat162float(__float2bfloat16_rn(NAN))),
        "bf16 rounds to even and keeps NaN");
}

// ---- one warp, one instruction
// ---------------------------------------------------------------------

// Numbers that every type here holds exactly, so that any order of adding gives the same.
static double small(Random &r)
{
  return (double)r.below(17) - 8;
}

template <class Layout> struct fragments {
  typename Layout::a_word a[32][4];
  typename Layout::b_word b[32][4];
  typename Layout::d_word d[32][4];
  uint32_t metadata[32];
};

template <class Layout> __global__ void run_mma(fragments<Layout> *f, int selector)
{
  const int l = threadIdx.x;
  emulator::mma<Layout>(f->d[l], f->a[l], f->b[l], f->metadata[l], selector);
}

static uint32_t halves(bool bf, double low, double high)
{
  const uint32_t x = bf ? __bfloat16_as_ushort((float)low) : __half_as_ushort((float)low);
  const uint32_t y = bf ? __bfloat16_as_ushort((float)high) : __half_as_ushort((float)high);
  return x | y << 16;
}

// Fragments as kernels/ptx/mma.cuh and the PTX ISA draw them; D = A B + C by three loops.
template <class Layout, class Fill, class Place>
static bool product_right(int m, int n, int k, Fill fill, Place place, int selector = 0)
{
  static fragments<Layout> f;
  static double a[16][32], b[32][8], c[16][8];
  Random r(11);
  memset(&f, 0xee, sizeof f);
  for (int i = 0; i < m; i++)
    for (int q = 0; q < k; q++) a[i][q] = small(r);
  for (int q = 0; q < k; q++)
    for (int j = 0; j < n; j++) b[q][j] = small(r);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) c[i][j] = small(r);
  fill(f, a, b, r);
  for (int l = 0; l < 32; l++)
    for (int w = 0; w < (m == 16 ? 4 : 2); w++) {
      int i, j;
      place(l, w, &i, &j);
      f.d[l][w] = (typename Layout::d_word)c[i][j];
    }
  emulator::launcher(run_mma<Layout>, 1, 32)(&f, selector);
  bool good = true;
  for (int l = 0; l < 32; l++)
    for (int w = 0; w < (m == 16 ? 4 : 2); w++) {
      int i, j;
      place(l, w, &i, &j);
      double sum = c[i][j];
      for (int q = 0; q < k; q++) sum += a[i][q] * b[q][j];
      good &= (double)f.d[l][w] == sum;
    }
  return good;
}

static void place_16x8(int l, int w, int *i, int *j)
{
  *i = l / 4 + w / 2 * 8, *j = l % 4 * 2 + w % 2;
}

template <class E, int K> static void test_mma_half(bool bf, const char *name)
{
  const bool good = product_right<emulator::m16n8_half<E, K>>(
      16, 8, K,
      [&](auto &f, auto &a, auto &b, Random &) {
        for (int l = 0; l < 32; l++) {
          const int g = l / 4, t = l % 4;
          for (int half = 0; half < K / 8; half++) {
            const int q = 2 * t + 8 * half;
            f.a[l][2 * half] = halves(bf, a[g][q], a[g][q + 1]);
            f.a[l][2 * half + 1] = halves(bf, a[g + 8][q], a[g + 8][q + 1]);
            f.b[l][half] = halves(bf, b[q][g], b[q + 1][g]);
          }
        }
      },
      place_16x8);
  check(good, "mma.m16n8k%d, %s", K, name);
}

static void test_mma_others()
{
  const auto float_bits = [](double x) {
    return __float_as_uint((float)x) | 0x1fff;
  }; // not looked at
  check(product_right<emulator::m16n8k8_tf32>(
            16, 8, 8,
            [&](auto &f, auto &a, auto &b, Random &) {
              for (int l = 0; l < 32; l++) {
                const int g = l / 4, t = l % 4;
                f.a[l][0] = float_bits(a[g][t]), f.a[l][1] = float_bits(a[g + 8][t]);
                f.a[l][2] = float_bits(a[g][t + 4]), f.a[l][3] = float_bits(a[g + 8][t + 4]);
                f.b[l][0] = float_bits(b[t][g]), f.b[l][1] = float_bits(b[t + 4][g]);
              }
            },
            place_16x8),
        "mma.m16n8k8, tf32, whose lower 13 bits are not looked at");
  const auto bytes = [](const double *x, int step) {
    uint32_t word = 0;
    for (int e = 0; e < 4; e++) word |= (uint32_t)(uint8_t)(int8_t)x[e * step] << 8 * e;
    return word;
  };
  check(product_right<emulator::m16n8k32_8<true, true>>(
            16, 8, 32,
            [&](auto &f, auto &a, auto &b, Random &) {
              for (int l = 0; l < 32; l++) {
                const int g = l / 4, t = l % 4;
                f.a[l][0] = bytes(&a[g][4 * t], 1), f.a[l][1] = bytes(&a[g + 8][4 * t], 1);
                f.a[l][2] = bytes(&a[g][4 * t + 16], 1),
                f.a[l][3] = bytes(&a[g + 8][4 * t + 16], 1);
                f.b[l][0] = bytes(&b[4 * t][g], 8), f.b[l][1] = bytes(&b[4 * t + 16][g], 8);
              }
            },
            place_16x8),
        "mma.m16n8k32, int8");
  check(product_right<emulator::m8n8k4_f64>(
            8, 8, 4,
            [&](auto &f, auto &a, auto &b, Random &) {
              for (int l = 0; l < 32; l++) f.a[l][0] = a[l / 4][l % 4], f.b[l][0] = b[l % 4][l / 4];
            },
            [](int l, int w, int *i, int *j) { *i = l / 4, *j = l % 4 * 2 + w; }),
        "mma.m8n8k4, f64");
}

// Two of each four of A are kept; the metadata of row g and g + 8 stand in lanes 2 selector and
// 2 selector + 1 of the four lanes of g.
static void test_mma_sparse(int selector)
{
  const bool good = product_right<emulator::m16n8k32_sparse<emulator::f16>>(
      16, 8, 32,
      [&](auto &f, auto &a, auto &b, Random &r) {
        int keep[16][8][2];
        for (int i = 0; i < 16; i++)
          for (int four = 0; four < 8; four++) {
            const int first = (int)r.below(3), second = first + 1 + (int)r.below(3 - first);
            keep[i][four][0] = first, keep[i][four][1] = second;
            for (int e = 0; e < 4; e++)
              if (e != first && e != second) a[i][4 * four + e] = 0;
          }
        for (int l = 0; l < 32; l++) {
          const int g = l / 4, t = l % 4;
          for (int w = 0; w < 4; w++) {
            const int i = g + w % 2 * 8, four = t + w / 2 * 4;
            f.a[l][w] =
                halves(false, a[i][4 * four + keep[i][four][0]], a[i][4 * four + keep[i][four][1]]);
            f.b[l][w] = halves(false, b[2 * t + 8 * w][g], b[2 * t + 8 * w + 1][g]);
          }
          if (t / 2 != selector) continue; // rubbish that must not matter
          f.metadata[l] = 0;
          for (int four = 0; four < 4; four++)
            for (int e = 0; e < 2; e++) {
              f.metadata[l] |= (uint32_t)keep[g][t % 2 * 4 + four][e] << (4 * four + 2 * e);
              f.metadata[l] |= (uint32_t)keep[g + 8][t % 2 * 4 + four][e]
                               << (16 + 4 * four + 2 * e);
            }
        }
      },
      place_16x8, selector);
  check(good, "mma.sp.m16n8k32, f16, selector %d", selector);
}

__global__ void run_ldmatrix(uint32_t *out)
{
  __shared__ __align__(16) uint16_t rows[32][24]; // 48 bytes from row to row
  const int l = threadIdx.x;
  for (int k = 0; k < 8; k++) rows[l][k] = (uint16_t)(l * 8 + k);
  __syncwarp();
  uint32_t with[4];
  ptx::ldmatrix_x4_trans(with, ptx::shared_address(rows[l]));
  uint32_t without[2];
  emulator::ldmatrix<2, false>(without, ptx::shared_address(rows[l]));
  for (int j = 0; j < 4; j++) out[l * 6 + j] = with[j];
  for (int j = 0; j < 2; j++) out[l * 6 + 4 + j] = without[j];
}
static void test_ldmatrix()
{
  uint32_t out[32 * 6];
  run_ldmatrix<<<1, 32>>>(out);
  bool good = true;
  for (int l = 0; l < 32; l++)
    for (int j = 0; j < 6; j++) {
      const int g = l / 4, t = l % 4, m = j % 4 * 64; // matrix m holds m .. m + 63
      const int low = j < 4 ? m + 2 * t * 8 + g : m + g * 8 + 2 * t, step = j < 4 ? 8 : 1;
      good &= out[l * 6 + j] == ((uint32_t)low | (uint32_t)(low + step) << 16);
    }
  check(good, "ldmatrix x4.trans and x2");
}

__global__ void run_warp(int *out)
{
  const int l = threadIdx.x % 32;
  int all, *o = out + threadIdx.x * 10;
  o[0] = __shfl_sync(~0u, l, 5, 16);
  o[1] = __shfl_up_sync(~0u, l, 3);
  o[2] = __shfl_down_sync(~0u, l, 3, 8);
  o[3] = __shfl_xor_sync(~0u, l, 6);
  o[4] = (int)__ballot_sync(~0u, l % 3 == 0);
  o[5] = (int)__match_any_sync(~0u, l / 5);
  o[6] =
      l < 20 ? (int)__reduce_add_sync(0xfffff, (unsigned)l) : (int)__reduce_max_sync(0xfff00000, l);
  o[7] = __syncthreads_count(threadIdx.x % 7 == 0);
  o[8] = __syncthreads_or(threadIdx.x == 40) + 2 * __syncthreads_and(threadIdx.x != 40);
  o[9] = (int)__match_all_sync(~0u, 3, &all) == -1 && all;
}
static void test_warp()
{
  static int out[96 * 10];
  run_warp<<<1, 96>>>(out);
  bool good = true;
  for (int t = 0; t < 96; t++) {
    const int l = t % 32, *o = out + t * 10;
    uint32_t thirds = 0, fives = 0;
    for (int k = 0; k < 32; k++)
      thirds |= (uint32_t)(k % 3 == 0) << k, fives |= (uint32_t)(k / 5 == l / 5) << k;
    good &= o[0] == l / 16 * 16 + 5 && o[1] == (l < 3 ? l : l - 3) && o[3] == (l ^ 6);
    good &= o[2] == (l % 8 + 3 > 7 ? l : l + 3);
    good &= (uint32_t)o[4] == thirds && (uint32_t)o[5] == fives;
    good &= o[6] == (l < 20 ? 190 : 31) && o[7] == 14 && o[8] == 1 && o[9] == 1;
  }
  check(good, "shuffles, votes, reductions and counting barriers");
  check(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311 &&
            __byte_perm(0x80, 0, 0x8888) == 0xffffffff,
        "prmt takes bytes and signs");
}

// ---- copies and barriers in shared memory
// ------------------------------------------------------------

__global__ void run_cp_async(const int *from, int *out)
{
  __shared__ __align__(16) int to[2][64 * 4];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    ptx::cp_async_16(ptx::shared_address(&to[k][4 * t]), from + k * 256 + 4 * t, t % 2 ? 16 : 8);
    ptx::cp_async_commit();
  }
  ptx::cp_async_wait<1>();
  for (int e = 0; e < 4; e++) out[4 * t + e] = to[0][4 * t + e];
  ptx::cp_async_wait<0>();
  __syncthreads();
  for (int e = 0; e < 4; e++) out[256 + 4 * t + e] = to[1][4 * (63 - t) + e];
}
static void test_cp_async()
{
  alignas(16) static int from[512], out[512];
  for (int i = 0; i < 512; i++) from[i] = i + 1;
  run_cp_async<<<1, 64>>>(from, out);
  bool good = true;
  for (int i = 0; i < 256; i++) {
    const int other = (63 - i / 4) * 4 + i % 4;
    good &= out[i] == (i / 4 % 2 || i % 4 < 2 ? from[i] : 0);
    good &= out[256 + i] == (other / 4 % 2 || i % 4 < 2 ? from[256 + other] : 0);
  }
  check(good, "cp.async brings what was committed, zeros behind `bytes`");
}

// Four rows for each block of a cluster of two.
__global__ void run_boxes(const __grid_constant__ CUtensorMap map, uint16_t *out)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) uint64_t full;
  const uint32_t to = ptx::shared_address(shared), bar = ptx::shared_address(&full);
  const uint32_t rank = ptx::cluster_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_barrier();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect(bar, 4 * 128);
    ptx::tensor_load_2d(to, &map, 8, 2 + 4 * (int)rank, bar);
  }
  while (!ptx::mbarrier_try_wait(bar, 0)) {
  }
  for (int i = threadIdx.x; i < 4 * 64; i += 32) {
    const int row = i / 64, piece = i % 64 / 8 ^ row % 8; // unswizzled
    out[rank * 256 + i] = *(const uint16_t *)(shared + row * 128 + piece * 16 + i % 8 * 2);
  }
  ptx::cluster_barrier();
}
static void test_boxes()
{
  alignas(16) static uint16_t from[7 * 48], out[512];
  for (int i = 0; i < 7 * 48; i++) from[i] = (uint16_t)(i + 1);
  CUtensorMap map;
  const cuuint64_t sizes[2] = {40, 7}, pitch[1] = {96};
  const cuuint32_t box[2] = {64, 4}, steps[2] = {1, 1};
  bool good = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, from, sizes, pitch,
                                     box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 2, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2), config.blockDim = dim3(32), config.dynamicSmemBytes = 1024;
  config.attrs = &cluster, config.numAttrs = 1;
  good &= cudaLaunchKernelEx(&config, run_boxes, map, (uint16_t *)out) == cudaSuccess;
  for (int i = 0; i < 512; i++) {
    const int x = 8 + i % 64, y = 2 + i / 64;
    good &= out[i] == (x < 40 && y < 7 ? from[y * 48 + x] : 0);
  }
  check(good, "cp.async.bulk.tensor in both blocks of a cluster, swizzled, zeros outside");
  config.gridDim = dim3(3);
  check(cudaLaunchKernelEx(&config, run_boxes, map, (uint16_t *)out) != cudaSuccess,
        "a grid that clusters do not divide is refused");
}

__global__ void count_blocks(unsigned *order, unsigned *next)
{
  order[atomicAdd(next, 1u)] = blockIdx.x;
}
static void test_launches()
{
  unsigned order[100], next = 0, seen[100] = {};
  bool each_once = true, ascending = true;
  count_blocks<<<100, 1>>>(order, &next);
  for (unsigned i = 0; i < 100; i++) seen[order[i]]++, ascending &= order[i] == i;
  for (unsigned s : seen) each_once &= s == 1;
  check(each_once && next == 100 && !ascending, "each block runs once, in another order");
  count_blocks<<<1, 2000>>>(order, &next);
  check(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess,
        "2000 threads a block are refused");
  emulator::launcher(count_blocks, 1, 1, 50 << 10)(order, &next);
  check(cudaGetLastError() != cudaSuccess, "50 KB of shared memory want to be asked for before");

  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t x;
  next = 0;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  count_blocks<<<3, 1, 0, s>>>(order, &next);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&x, g, 0);
  const bool waits = next == 0;
  cudaGraphLaunch(x, s);
  cudaGraphLaunch(x, s);
  check(waits && next == 6, "a captured launch runs with each replay, not before");
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
  cudaStreamDestroy(s);
}

int main()
{
  test_half();
  test_mma_half<emulator::f16, 16>(false, "f16");
  test_mma_half<emulator::bf16, 16>(true, "bf16");
  test_mma_half<emulator::f16, 8>(false, "f16");
  test_mma_half<emulator::bf16, 8>(true, "bf16");
  test_mma_others();
  test_mma_sparse(0);
  test_mma_sparse(1);
  test_ldmatrix();
  test_warp();
  test_cp_async();
  test_boxes();
  test_launches();
  return finish();
}
