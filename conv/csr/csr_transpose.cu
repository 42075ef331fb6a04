// csr_transpose.cu: the transpose of a CSR matrix; writes what host_csr_transpose.c writes.
//
// One launch, in steps, each cut into pieces:
//
//   clear    pieces of the offsets     offsets[c] = 0, where that was not done before the launch
//   count    pieces of A's entries     offsets[c + 1] += 1 for each of column c
//   sum up   one piece                 offsets[c + 1] = where row c of A^T begins
//   place    pieces of A's entries     t = offsets[c + 1]++; places[t] = the entry's place
//   order    pieces of A^T's rows      places ascending in each row (csr_transpose_order.cuh)
//
// Integers are added up in any order, and what `place` leaves in any order is put in order by the
// last step: the result is always the same.
//
// A block takes the next piece of a step until none is left, then waits until all are done and goes
// on with the next step.  Who waits, waits for pieces that running blocks took, and those wait
// for nobody: so no block has to be resident for another to get on, and nothing can lock up,
// whatever else runs on the device.
//
// Refreshing what a call multiplies by is a gather: values by the places kept, and with a proof the
// pattern kept.  Places stand within A's arrays whatever its pattern is by now, so nobody has to
// know yet whether it is the one that was kept:
//
//   gather        block: its part of the pattern's fingerprint, its share of values and pattern
//   (transpose)   block: adds up the parts; leaves where the pattern stands, else A is transposed
//                 over what was gathered
#include <cuda_runtime.h>

#include "conv/csr/csr_transpose_order.cuh"
#include "kernels/common/early_launch.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/guard/guard.h"

namespace shunt
{
namespace transposing
{
namespace
{

constexpr int kEntries = 4096; // of a piece of A's entries
constexpr int kMostRows = 64;  // of a piece of A^T's rows
constexpr int kItems = 16;     // that a thread sums up
constexpr int kResident = 4;   // blocks a multiprocessor
constexpr int kSums = kThreads * kItems;
constexpr int kProving = guard::hash_blocks_per_multiprocessor; // blocks a multiprocessor
constexpr int kMostParts = SHUNT_FINGERPRINT_SCRATCH / sizeof(struct shunt_fingerprint);
static_assert(kThreads == guard::hash_threads, "the blocks of a gather take a fingerprint");

int64_t pieces_of(int64_t count, int64_t piece)
{
  return (count + piece - 1) / piece;
}

// ---- steps -------------------------------------------------------------------------------------

// Does piece p of so many of step s, until none is left; waits: until all are done.
template <class F>
__device__ __forceinline__ void share(const job &j, int s, uint32_t pieces, bool waits, F piece)
{
  __shared__ uint32_t next;
  volatile uint32_t *done = &j.to.words->done[s];

  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(&j.to.words->taken[s], 1u);
    __syncthreads();
    const uint32_t mine = next;
    __syncthreads();
    if (mine >= pieces) break;
    piece(static_cast<int64_t>(mine));
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&j.to.words->done[s], 1u);
  }
  if (!waits) return;
  if (threadIdx.x == 0) {
    while (*done < pieces) __nanosleep(200);
    __threadfence();
  }
  __syncthreads();
}

// count(c) for the column of each entry of a piece, and then use(p, what that returned), p its
// place: kBatch of them under way at once.
template <class I, class F, class G>
__device__ __forceinline__ void each_entry(const job &j, int64_t piece, F count, G use)
{
  const int64_t end = end_of_entries<I>(j), first = first_entry<I>(j) + piece * kEntries;
  const int64_t last = first + kEntries < end ? first + kEntries : end;

  for (int64_t p0 = first + threadIdx.x; p0 < last; p0 += kBatch * kThreads) {
    int c[kBatch], got[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      const int64_t p = p0 + k * kThreads;
      c[k] = p < last ? column_at<I>(j, p) : -1;
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) got[k] = c[k] >= 0 ? count(c[k]) : 0;
#pragma unroll
    for (int k = 0; k < kBatch; k++)
      if (c[k] >= 0) use(p0 + k * kThreads, got[k]);
  }
}

// The sum of the block's threads before this one; *total of all of them.
__device__ __forceinline__ int sum_before(int x, int *total)
{
  __shared__ int warp_sums[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = x, before = 0, all = 0;

  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(kAll, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  for (int w = 0; w < kWarps; w++) {
    if (w == warp) before = all;
    all += warp_sums[w];
  }
  __syncthreads();
  *total = all;
  return before + sum - x;
}

// The thread's counts of those from `first` on.
__device__ __forceinline__ void load_counts(const int32_t *counts, int64_t first, int64_t n,
                                            int (&count)[kItems])
{
  const int64_t mine = first + threadIdx.x * kItems;
#pragma unroll
  for (int i = 0; i < kItems; i++) count[i] = mine + i < n ? counts[mine + i] : 0;
}

// counts[i] becomes the sum of those before it; one block, which has its next counts under way
// while it adds up some.
__device__ __forceinline__ void sum_up(int32_t *counts, int64_t n)
{
  int carried = 0, total, count[kItems], next[kItems];

  load_counts(counts, 0, n, next);
  for (int64_t first = 0; first < n; first += kSums) {
    const int64_t mine = first + threadIdx.x * kItems;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < kItems; i++) sum += count[i] = next[i];
    load_counts(counts, first + kSums, n, next);
    int before = carried + sum_before(sum, &total);
#pragma unroll
    for (int i = 0; i < kItems; i++) {
      if (mine + i < n) counts[mine + i] = before;
      before += count[i];
    }
    carried += total;
  }
}

// By one lane.  A look first, as few rows are longer than all before them.
__device__ __forceinline__ void note_length(const job &j, uint32_t length)
{
  uint32_t *longest = &j.to.words->longest;
  if (length > *static_cast<volatile uint32_t *>(longest)) atomicMax(longest, length);
}

// The rows [first, last) of A^T that Mine entries a lane are enough for, and no fewer; returns the
// longest of all.
template <class I, int Mine>
__device__ __forceinline__ int order_rows(const job &j, int64_t first, int64_t last)
{
  constexpr int kCount = kBatch / Mine;
  const int32_t *offsets = j.to.offsets;
  int longest = 0;

  for (int64_t r0 = first + threadIdx.x / 32; r0 < last; r0 += kCount * kWarps) {
    int begin[kCount], count[kCount];
    bool any = false;
#pragma unroll
    for (int k = 0; k < kCount; k++) {
      const int64_t r = r0 + k * kWarps;
      begin[k] = r < last ? offsets[r] : 0;
      count[k] = r < last ? offsets[r + 1] - begin[k] : 0;
      longest = count[k] > longest ? count[k] : longest;
      any = any || (count[k] > Mine / 2 * 32 && count[k] <= Mine * 32);
    }
    if (any) order_by_rank<I, kCount, Mine>(j, begin, count);
  }
  return longest;
}

template <class I> __device__ __forceinline__ void order(const job &j, int64_t piece, int32_t *room)
{
  const int64_t first = piece * j.rows_a_piece, end = first + j.rows_a_piece;
  const int64_t last = end < j.cols ? end : j.cols;
  const int32_t *offsets = j.to.offsets;
  const int longest = order_rows<I, 1>(j, first, last);

  if (threadIdx.x % 32 == 0) note_length(j, static_cast<uint32_t>(longest));
  if (!__syncthreads_or(longest > 32)) return;
  order_rows<I, 2>(j, first, last);
  order_rows<I, 4>(j, first, last);
  order_rows<I, 8>(j, first, last);
  for (int64_t r = first; r < last; r++) {
    const int begin = offsets[r], count = offsets[r + 1] - begin;
    if (count <= kRanked) continue;
    if (count <= kSorted)
      order_by_sort<I>(j, begin, count, room);
    else if (!walk_pays(j, count))
      order_by_sorts<I>(j, begin, count, room);
    else
      order_by_walk<I>(j, static_cast<int>(r), begin, room);
  }
}

// Do the parts of A's fingerprint add up to what is expected?  All blocks come to the same; the
// first says so to the host.
__device__ __forceinline__ bool pattern_stands(const job &j)
{
  __shared__ bool stands;
  struct shunt_fingerprint now = {0, 0};

  for (int i = threadIdx.x; i < j.part_count; i += kThreads) shunt_fp_add(&now, j.parts[i]);
  now = guard::block_sum(now);
  if (threadIdx.x == 0) {
    stands = now.lo == j.expected->lo && now.hi == j.expected->hi;
    if (!stands && blockIdx.x == 0 && j.changed) *static_cast<volatile uint32_t *>(j.changed) = 1;
  }
  __syncthreads();
  return stands;
}

// Offsets are cleared as pieces of that many entries are.
__device__ __forceinline__ void clear(const job &j, int64_t piece)
{
  const int64_t end = (piece + 1) * kEntries <= j.cols ? (piece + 1) * kEntries : j.cols + 1;

  for (int64_t c = piece * kEntries + threadIdx.x; c < end; c += kThreads) j.to.offsets[c] = 0;
}

template <class I>
__global__ void __launch_bounds__(kThreads) transpose_kernel(const __grid_constant__ job j)
{
  __shared__ int32_t room[kSorted];
  wait_for_previous();
  if (j.parts && pattern_stands(j)) return;
  const uint32_t entries = static_cast<uint32_t>((j.nnz + kEntries - 1) / kEntries);
  const uint32_t rows = static_cast<uint32_t>((j.cols + j.rows_a_piece - 1) / j.rows_a_piece);
  const uint32_t offsets = static_cast<uint32_t>(j.cols / kEntries + 1);
  int32_t *ends = j.to.offsets + 1, *places = j.to.places ? j.to.places : j.to.columns;

  if (j.parts) share(j, 0, offsets, true, [&](int64_t piece) { clear(j, piece); });
  share(j, 1, entries, true, [&](int64_t piece) {
    each_entry<I>(
        j, piece, [&](int c) { return atomicAdd(&ends[c], 1); }, [](int64_t, int) {});
  });
  share(j, 2, 1, true, [&](int64_t) { sum_up(ends, j.cols); });
  share(j, 3, entries, true, [&](int64_t piece) {
    each_entry<I>(
        j, piece, [&](int c) { return atomicAdd(&ends[c], 1); },
        [&](int64_t p, int t) { places[t] = static_cast<int32_t>(p); });
  });
  share(j, 4, rows, false, [&](int64_t piece) { order<I>(j, piece, room); });
}

// ---- refreshing --------------------------------------------------------------------------------

struct gather_job {
  struct shunt_transposed kept, to;
  const void *values; // A's
  bool conjugate;
  int64_t rows; // of A^T
  // With a proof:
  guard::hash_job pattern; // A's
  struct shunt_fingerprint *parts;
};

// Values, and with a proof columns, of the thread's share of the entries.
template <class V, bool Proves> __device__ __forceinline__ void gather_entries(const gather_job &g)
{
  constexpr int kMine = Proves && sizeof(V) == 16 ? kBatch / 2 : kBatch; // for registers' sake
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  const int64_t entries = g.kept.offsets[g.rows];
  const V *from = static_cast<const V *>(g.values);
  V *to = static_cast<V *>(g.to.values);

  for (int64_t t0 = thread; t0 < entries; t0 += kMine * threads) {
    int32_t column[kMine];
    V value[kMine];
#pragma unroll
    for (int k = 0; k < kMine; k++) {
      const int64_t t = t0 + k * threads;
      if (t >= entries) continue;
      value[k] = from[g.kept.places[t]];
      if (Proves) column[k] = g.kept.columns[t];
    }
#pragma unroll
    for (int k = 0; k < kMine; k++) {
      const int64_t t = t0 + k * threads;
      if (t >= entries) continue;
      to[t] = conjugated(value[k], g.conjugate);
      if (Proves) g.to.columns[t] = column[k];
    }
  }
}

template <class V>
__global__ void __launch_bounds__(kThreads) gather_kernel(const __grid_constant__ gather_job g)
{
  wait_for_previous();
  gather_entries<V, false>(g);
}

// The words are zero for the launch behind this one.
template <class V>
__global__ void __launch_bounds__(kThreads, kProving)
    prove_and_gather_kernel(const __grid_constant__ gather_job g)
{
  wait_for_previous();
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  struct shunt_fingerprint part =
      guard::hash_share(g.pattern, guard::worker_of(blockIdx.x, gridDim.x));

  if (thread == 0) *g.to.words = shunt_transpose_words{};
  for (int64_t r = thread; r <= g.rows; r += threads) g.to.offsets[r] = g.kept.offsets[r];
  gather_entries<V, true>(g);
  part = guard::block_sum(part);
  if (threadIdx.x == 0) g.parts[blockIdx.x] = part;
}

// ---- launches ----------------------------------------------------------------------------------

dim3 blocks_for(int64_t pieces, int each, const struct shunt_device *d)
{
  const int64_t most = static_cast<int64_t>(d->multiprocessors > 0 ? d->multiprocessors : 1) * each;
  return dim3(static_cast<unsigned>(pieces < 1 ? 1 : pieces < most ? pieces : most));
}

// Of A^T as `out`; what makes a job of its own beside it, the caller adds.
job job_of(const struct shunt_csr *a, bool conjugate, const struct shunt_transposed *out)
{
  job j = {};
  j.offsets = a->row_offsets, j.columns = a->columns, j.values = a->values;
  j.rows = a->rows, j.cols = a->cols, j.nnz = a->nnz;
  j.base = a->base, j.value_size = static_cast<int>(shunt_type_size(a->value_type));
  j.conjugate = conjugate && shunt_type_is_complex(a->value_type);
  j.to = *out;
  return j;
}

// A row for each warp at least, and a piece for each block of those that run at once.
int rows_a_piece(int64_t rows, const struct shunt_device *d)
{
  const int64_t each = pieces_of(rows, blocks_for(rows, kResident, d).x);
  return static_cast<int>(each < kWarps ? kWarps : each < kMostRows ? each : kMostRows);
}

shunt_status transpose(const struct shunt_csr *a, job j, const struct shunt_device *d,
                       cudaStream_t stream)
{
  j.rows_a_piece = rows_a_piece(a->cols, d);
  const int64_t entries = pieces_of(a->nnz, kEntries), rows = pieces_of(a->cols, j.rows_a_piece);
  return launch_early(
      a->index_type == SHUNT_I64 ? transpose_kernel<int64_t> : transpose_kernel<int32_t>,
      blocks_for(entries > rows ? entries : rows, kResident, d), dim3(kThreads), d, stream, j);
}

template <class V>
shunt_status gather_as(const gather_job &g, dim3 blocks, const struct shunt_device *d,
                       cudaStream_t stream)
{
  return launch_early(g.parts ? prove_and_gather_kernel<V> : gather_kernel<V>, blocks,
                      dim3(kThreads), d, stream, g);
}

shunt_status gather(const struct shunt_csr *a, const gather_job &g, dim3 blocks,
                    const struct shunt_device *d, cudaStream_t stream)
{
  switch (shunt_type_size(a->value_type)) {
  case 1: return gather_as<uint8_t>(g, blocks, d, stream);
  case 2: return gather_as<uint16_t>(g, blocks, d, stream);
  case 4: return gather_as<uint32_t>(g, blocks, d, stream);
  case 8: return gather_as<uint64_t>(g, blocks, d, stream);
  case 16: return gather_as<ulonglong2>(g, blocks, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

// Blocks of a gather with a proof: as many as the device holds at once, each with a part.
dim3 proving_blocks(int64_t pieces, const guard::hash_job &pattern, const struct shunt_device *d)
{
  const int hashing = guard::hash_blocks(pattern.tiles, d, kMostParts);
  const dim3 wanted = blocks_for(pieces > hashing ? pieces : hashing, kProving, d);
  return wanted.x > kMostParts ? dim3(kMostParts) : wanted;
}

// The gather, and the launch that transposes where the pattern does not stand.
shunt_status refresh_proved(const struct shunt_csr *a, gather_job g,
                            const struct shunt_transpose_proof *proof, job j,
                            const struct shunt_device *d, cudaStream_t stream)
{
  const struct shunt_csr pattern = shunt_fp_pattern_of(a);
  shunt_status s = guard::make_hash_job(&pattern, &g.pattern);
  if (s != SHUNT_OK) return s;
  const dim3 blocks = proving_blocks(pieces_of(a->nnz, kThreads * kBatch), g.pattern, d);
  g.parts = static_cast<struct shunt_fingerprint *>(proof->scratch);
  j.parts = g.parts, j.part_count = static_cast<int>(blocks.x);
  j.expected = proof->expected, j.changed = proof->changed;
  s = gather(a, g, blocks, d, stream);
  return s == SHUNT_OK ? transpose(a, j, d, stream) : s;
}

} // namespace
} // namespace transposing
} // namespace shunt

using namespace shunt::transposing;

extern "C" shunt_status shunt_csr_transpose_cuda(const struct shunt_csr *a, bool conjugate,
                                                 const struct shunt_transposed *out,
                                                 const struct shunt_device *d, shunt_stream stream)
{
  if (!shunt_transposed_bytes(a, out->places != NULL)) return SHUNT_E_UNSUPPORTED;
  const char *begin = reinterpret_cast<const char *>(out->words);
  const char *end = reinterpret_cast<const char *>(out->offsets + a->cols + 1);
  if (cudaMemsetAsync(out->words, 0, static_cast<size_t>(end - begin), stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  return transpose(a, job_of(a, conjugate, out), d, stream);
}

extern "C" shunt_status shunt_transposed_refresh_cuda(const struct shunt_csr *a, bool conjugate,
                                                      const struct shunt_transposed *kept,
                                                      const struct shunt_transpose_proof *proof,
                                                      const struct shunt_transposed *out,
                                                      const struct shunt_device *d,
                                                      shunt_stream stream)
{
  if (!shunt_transposed_bytes(a, false)) return SHUNT_E_UNSUPPORTED;
  if (!kept->places || !out->values) return SHUNT_E_ARGUMENT;
  if (proof && (!proof->scratch || !proof->expected)) return SHUNT_E_ARGUMENT;
  gather_job g = {};
  const job j = job_of(a, conjugate, out);
  g.kept = *kept, g.to = *out, g.values = a->values, g.rows = a->cols;
  g.conjugate = j.conjugate;
  if (proof) return refresh_proved(a, g, proof, j, d, stream);
  return gather(a, g, blocks_for(pieces_of(a->nnz, kThreads * kBatch), 8, d), d, stream);
}
