// skewness_device.cu: the inputs of SSF (conv/skewness.h) in one read of a CSR matrix.
//
// A warp takes a row, 32 entries at a time.  Where the strips of a row do not descend, a segment is
// a run of entries in one strip:
//
//   strip of the entry   3 3 3 7 7 9 9 9 | 9 9 12 ..      | : the next 32
//   begins a run         1 0 0 1 0 1 0 0 | 0 0 1          one vote
//   its length           3     2   (3 so far)             the distance to the next bit
//
// the last run stays open until its end is seen.  A row that descends somewhere is counted again,
// each entry against all of its row.  m log m is added in steps of 2^-24, an integer: the order of
// the additions does not count.  The last block works out SSF and tells the host.
#include <cuda_runtime.h>

#include "conv/skewness.h"

namespace shunt
{
namespace
{

constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 8;
constexpr unsigned kAll = ~0u;
constexpr int kBatch = 8;           // times 32 entries of a row in flight
constexpr double kSteps = 16777216; // of weight in 1

struct scratch_area {
  unsigned long long filled, segments, weight, guessed;
  unsigned done;
};
static_assert(sizeof(scratch_area) <= SHUNT_SKEWNESS_SCRATCH, "SHUNT_SKEWNESS_SCRATCH too small");

struct skewness_job {
  const void *offsets, *columns;
  int64_t rows, cols, nnz, width;
  int base, width_log2; // -1: the width is no power of two
  uint64_t serial;
  struct shunt_skewness *out;
  scratch_area *scratch;
};

// Of a lane.
struct tally {
  unsigned long long filled, segments, weight, guessed;
};

__device__ __forceinline__ void add_segment(tally &t, int64_t m)
{
  t.segments++;
  if (m > 1) {
    const double n = static_cast<double>(m);
    t.weight += static_cast<unsigned long long>(rint(n * log(n) * kSteps));
  }
}

template <class I> __device__ __forceinline__ int64_t strip_at(const skewness_job &j, int64_t p)
{
  const int64_t column = static_cast<int64_t>(static_cast<const I *>(j.columns)[p]) - j.base;
  return j.width_log2 < 0 ? column / j.width : column >> j.width_log2;
}

// The runs of a row, 32 entries after the other.
struct runs_so_far {
  int64_t open; // entries of the last run
  int64_t last; // its strip
  bool descends;
};

// All lanes: the next `entries`, up to 32, whose strips are these.
__device__ __forceinline__ void count_32(int64_t strip, int entries, runs_so_far &r, tally &t)
{
  const int lane = threadIdx.x % 32;
  int64_t before = __shfl_up_sync(kAll, strip, 1);
  if (lane == 0) before = r.last;
  const bool there = lane < entries, begins = strip != before;
  r.descends = r.descends || (there && strip < before);
  r.last = __shfl_sync(kAll, strip, entries - 1);
  const unsigned runs = __ballot_sync(kAll, there && begins);
  if (!runs) {
    r.open += entries;
    return;
  }
  if (lane == 0 && r.open + __ffs(runs) - 1 > 0) add_segment(t, r.open + __ffs(runs) - 1);
  const unsigned after = lane < 31 ? runs >> (lane + 1) : 0;
  if ((runs >> lane & 1) && after) add_segment(t, __ffs(after));
  r.open = entries - (31 - __clz(static_cast<int>(runs)));
}

// All lanes; false where strips descend, and then the tally is of runs, not of segments.
template <class I>
__device__ __forceinline__ bool count_runs(const skewness_job &j, int64_t begin, int64_t end,
                                           tally &t)
{
  runs_so_far r = {0, INT64_MIN, false};
  for (int64_t first = begin; first < end; first += 32 * kBatch) {
    int64_t strip[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      const int64_t p = first + k * 32 + threadIdx.x % 32;
      strip[k] = p < end ? strip_at<I>(j, p) : 0;
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++)
      if (first + k * 32 < end)
        count_32(strip[k], static_cast<int>(min(end - first - k * 32, int64_t{32})), r, t);
  }
  if (threadIdx.x % 32 == 0 && r.open > 0) add_segment(t, r.open);
  return !__any_sync(kAll, r.descends);
}

// All lanes: a row in no order.
template <class I>
__device__ __forceinline__ void count_pairs(const skewness_job &j, int64_t begin, int64_t end,
                                            tally &t)
{
  for (int64_t p = begin + threadIdx.x % 32; p < end; p += 32) {
    const int64_t strip = strip_at<I>(j, p);
    int64_t same = 0;
    bool first = true;
    for (int64_t q = begin; q < end; q++)
      if (strip_at<I>(j, q) == strip) {
        first = first && q >= p;
        same++;
      }
    if (first) add_segment(t, same);
  }
}

__device__ __forceinline__ unsigned long long add_warp(unsigned long long x)
{
  for (int apart = 16; apart > 0; apart /= 2)
    x += __shfl_xor_sync(kAll, x, apart);
  return x;
}

__device__ void report(const skewness_job &j)
{
  volatile struct shunt_skewness *out = j.out;
  scratch_area *s = j.scratch;
  const double n = static_cast<double>(j.nnz);
  const double weight = static_cast<double>(atomicAdd(&s->weight, 0ull)) / kSteps;
  const unsigned long long filled = atomicAdd(&s->filled, 0ull);
  const unsigned long long segments = atomicAdd(&s->segments, 0ull);
  const int64_t strips = (j.cols + j.width - 1) / j.width;
  const double entropy = j.nnz > 1 ? (log(n) - weight / n) / log(n) : 0;

  out->nnz = j.nnz;
  out->filled_rows = static_cast<int64_t>(filled);
  out->segments = static_cast<int64_t>(segments);
  out->strips = strips;
  out->guessed_rows = static_cast<int64_t>(atomicAdd(&s->guessed, 0ull));
  out->weight = weight;
  out->entropy = entropy;
  out->ssf = segments
                 ? n * static_cast<double>(filled) /
                       (static_cast<double>(segments) / static_cast<double>(strips)) * (1 - entropy)
                 : 0;
  __threadfence_system();
  out->serial = j.serial;
  __threadfence_system();
}

template <class I>
__global__ void __launch_bounds__(kThreads) skewness_kernel(const __grid_constant__ skewness_job j)
{
  __shared__ bool last;
  const I *offsets = static_cast<const I *>(j.offsets);
  const int lane = threadIdx.x % 32;
  const int64_t warps = static_cast<int64_t>(gridDim.x) * (kThreads / 32);
  tally t = {};
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
       row < j.rows; row += warps) {
    const int64_t begin = static_cast<int64_t>(offsets[row]) - j.base;
    const int64_t end = static_cast<int64_t>(offsets[row + 1]) - j.base;
    if (begin < 0 || end <= begin || end > j.nnz) continue;
    if (lane == 0) t.filled++;
    const bool is_long = end - begin > SHUNT_SKEWNESS_LONG;
    const tally before = t;
    if (count_runs<I>(j, begin, end, t)) continue;
    if (is_long) {
      if (lane == 0) t.guessed++;
    } else {
      t = before;
      count_pairs<I>(j, begin, end, t);
    }
  }
  t = {add_warp(t.filled), add_warp(t.segments), add_warp(t.weight), add_warp(t.guessed)};
  if (lane == 0) {
    atomicAdd(&j.scratch->filled, t.filled);
    atomicAdd(&j.scratch->segments, t.segments);
    atomicAdd(&j.scratch->weight, t.weight);
    atomicAdd(&j.scratch->guessed, t.guessed);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&j.scratch->done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) report(j);
}

int log2_of(int64_t width)
{
  int log2 = 0;
  while (log2 < 62 && int64_t{1} << log2 < width)
    log2++;
  return int64_t{1} << log2 == width ? log2 : -1;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_skewness_csr_cuda(const struct shunt_csr *a, int64_t width,
                                                uint64_t serial, struct shunt_skewness *out,
                                                void *scratch, const struct shunt_device *d,
                                                shunt_stream stream)
{
  const int64_t most = static_cast<int64_t>(d->multiprocessors) * kBlocksPerProcessor;
  const int64_t wanted = (a->rows + kThreads / 32 - 1) / (kThreads / 32);
  const unsigned blocks = static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
  const skewness_job j = {a->row_offsets,
                          a->columns,
                          a->rows,
                          a->cols,
                          a->nnz,
                          width,
                          a->base,
                          log2_of(width),
                          serial,
                          out,
                          static_cast<scratch_area *>(scratch)};

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!out || !scratch || width < 1) return SHUNT_E_ARGUMENT;
  if (cudaMemsetAsync(scratch, 0, sizeof(scratch_area), stream) != cudaSuccess) return SHUNT_E_CUDA;
  if (a->index_type == SHUNT_I32)
    skewness_kernel<int32_t><<<blocks, kThreads, 0, stream>>>(j);
  else
    skewness_kernel<int64_t><<<blocks, kThreads, 0, stream>>>(j);
  return cudaPeekAtLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
