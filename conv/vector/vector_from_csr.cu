// vector_from_csr.cu: CSR to the `vector` format, in one pass.
//
// A warp packs one group of 8 rows, half a strip of 64 columns at a time, so that nothing is
// counted beforehand: where a group's steps begin follows from its first entry alone
// (conv/vector/vector_conv.h).  The vectors of the last 8 halves stand in shared memory, by column
// modulo 512:
//
//   ring   512 x 8 values, 512 masks                 rows 0 .. 7 of the group
//            ^ scattered by column        <-- read coalesced, 64 entries a row and half
//
// SEQUENTIAL: the half's columns that have entries are numbered by a ballot and put behind
// those before.  WINDOWED: which vectors wait for a step is kept in 8 words of 64 bits, by
// residue modulo 8 (lane l holds that of residue l % 8), the oldest half in the lowest byte;
// see host_vector_from_csr.c, whose steps these are.  Each lane finds one slot of a step and writes
// one lane's fragment of values.
//
// Bound by the latency of one load and a few ballots for each half: 20 us for a few dozen.  A
// conversion is made once for a packed copy.
#include <cuda_runtime.h>

#include "conv/vector/vector_conv.h"

namespace shunt
{
namespace
{

constexpr int kRows = SHUNT_VECTOR_ROWS, kStep = SHUNT_VECTOR_STEP;
constexpr int kStrip = SHUNT_VECTOR_STRIP, kWindow = SHUNT_VECTOR_WINDOW;
constexpr int kHalf = kStrip / 2, kHalves = kWindow / kHalf;
constexpr unsigned kAll = 0xffffffffu;

struct pack_job {
  const void *offsets, *columns, *values;
  int64_t rows, cols, nnz;
  int base;
  struct shunt_vector v;
  struct shunt_vector_room room;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

// The entries of the row at a place; false: there is no such row.
template <class I>
__device__ __forceinline__ bool find_row(const pack_job &j, int64_t place, int64_t *begin,
                                         int64_t *end)
{
  const I *offsets = static_cast<const I *>(j.offsets);
  const int64_t row = j.v.row_of ? j.v.row_of[place] : place;
  *begin = *end = 0;
  if (row >= j.rows) return false;
  const int64_t from = from_base(offsets[row], j.base), to = from_base(offsets[row + 1], j.base);
  if (from < 0 || to < from || to > j.nnz) return false;
  *begin = from, *end = to;
  return true;
}

// Entries before each group, of rows in the order of row_of; one block, 1024 groups at a time.
template <class I>
__global__ void __launch_bounds__(1024) before_kernel(const __grid_constant__ pack_job j)
{
  __shared__ int64_t sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int64_t carried = 0;
  for (int64_t first = 0; first < j.v.groups; first += 1024) {
    const int64_t g = first + threadIdx.x;
    int64_t own = 0;
    for (int64_t place = g * kRows; place < min((g + 1) * kRows, j.rows); place++) {
      int64_t begin, end;
      find_row<I>(j, place, &begin, &end);
      own += end - begin;
    }
    int64_t sum = own; // of the warp's lanes up to this one
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int64_t left = __shfl_up_sync(kAll, sum, step);
      if (lane >= step) sum += left;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int64_t before = carried + sum - own;
    for (int w = 0; w < 32; w++) {
      if (w < warp) before += sums[w];
      carried += sums[w];
    }
    if (g < j.v.groups) j.v.before[g] = min(before, j.nnz);
    __syncthreads();
  }
}

// One group on its way into steps; all lanes hold the same but where said.
// Of a block of T, bits of 2 or 4 bytes: so many as have room.
template <class T> constexpr int warps_of_block = sizeof(T) == 2 ? 4 : 2;

// T: the bits of a value.
template <class I, class T> struct packer {
  struct alignas(16) column_values {
    T of[kRows];
  };
  struct alignas(4 * sizeof(T)) fragment_values { // of a lane
    T at[4];
  };
  const pack_job &j;
  int64_t group;
  int64_t at, end; // lane r: what is left of row r (0 .. 7)
  int64_t first_step, room, steps, vectors, last_column;
  uint64_t waiting;    // lane l: of residue l % 8
  column_values *ring; // [kWindow]
  uint32_t *mask;      // [kWindow / 4], a byte a column
  bool irregular;      // lane's own

  __device__ __forceinline__ packer(const pack_job &job, int64_t g, column_values *ring_at,
                                    uint32_t *mask_at)
      : j(job), group(g), steps(0), vectors(0), last_column(0), waiting(0), ring(ring_at),
        mask(mask_at), irregular(false)
  {
    const int lane = threadIdx.x % 32;
    const int64_t place = group * kRows + lane % kRows;
    at = end = 0;
    if (place < j.rows) irregular = !find_row<I>(j, place, &at, &end);
    first_step = begin_of(group);
    room = begin_of(group + 1) - first_step;
    if (room < 0) room = 0, irregular = true;
  }

  __device__ __forceinline__ int64_t begin_of(int64_t g) const
  {
    if (g == j.v.groups) return j.room.steps;
    const int64_t entry = j.v.row_of
                              ? j.v.before[g]
                              : from_base(static_cast<const I *>(j.offsets)[g * kRows], j.base);
    const int64_t before = entry < 0 ? 0 : entry > j.nnz ? j.nnz : entry;
    return before * j.room.multiplier / j.room.divisor + g * j.room.slack;
  }
  __device__ __forceinline__ uint8_t *masks() { return reinterpret_cast<uint8_t *>(mask); }

  // Entries q, q + 32 (q = lane) of row r that lie in the half go into the ring, up to the first
  // whose column does not ascend: so no two lanes store to one place.  When the next half comes
  // that entry is still there, lies before it, and makes the matrix irregular.
  __device__ __forceinline__ void take_row(int r, int64_t low, const I (&c)[2], const T (&x)[2])
  {
    const int lane = threadIdx.x % 32, place = static_cast<int>(low % kWindow);
    const int64_t row_at = __shfl_sync(kAll, at, r), left = __shfl_sync(kAll, end, r) - row_at;
    int64_t taken = 0;
    I last = I(-1); // of the 32 entries before
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int64_t column = from_base(c[h], j.base);
      const bool there = lane + 32 * h < left, first = lane == 0 && h == 0;
      const I left_one = __shfl_up_sync(kAll, c[h], 1);
      const I before = lane == 0 ? last : left_one;
      last = __shfl_sync(kAll, c[h], 31);
      const bool ascends = first || c[h] > before;
      const unsigned beyond = __ballot_sync(kAll, !there || column >= low + kHalf || !ascends);
      const int many = taken == 32 * h ? (beyond ? __ffs(beyond) - 1 : 32) : 0;
      if (lane < many) {
        const bool inside = column >= low && column < j.cols;
        if (!inside) irregular = true;
        if (inside) {
          ring[place + (column - low)].of[r] = x[h];
          masks()[place + (column - low)] |= 1u << r;
        }
      }
      taken += many;
    }
    if (lane % kRows == r) at += taken;
    __syncwarp();
  }

  // Takes the entries of half p; returns bits of its columns that have any.
  __device__ __forceinline__ uint64_t read_half(int64_t p)
  {
    const int lane = threadIdx.x % 32;
    const int64_t low = p * kHalf;
    const int place = static_cast<int>(low % kWindow);
    const I *columns = static_cast<const I *>(j.columns);
    I c[kRows][2];
    const T *values = static_cast<const T *>(j.values);
    T x[kRows][2];
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const int64_t row_at = __shfl_sync(kAll, at, r), row_end = __shfl_sync(kAll, end, r);
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int64_t q = row_at + lane + 32 * h;
        c[r][h] = 0, x[r][h] = 0;
        if (q < row_end) c[r][h] = columns[q], x[r][h] = values[q];
      }
    }
    ring[place + lane] = ring[place + lane + 32] = {};
    if (lane < kHalf / 4) mask[place / 4 + lane] = 0;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < kRows; r++) take_row(r, low, c[r], x[r]);
    const uint64_t high = __ballot_sync(kAll, masks()[place + 32 + lane] != 0);
    return high << 32 | __ballot_sync(kAll, masks()[place + lane] != 0);
  }

  // ---- SEQUENTIAL ------------------------------------------------------------------

  __device__ __forceinline__ void put(int64_t number, int64_t column, bool used)
  {
    const int64_t step = number / kStep, to = first_step + step;
    const int slot = static_cast<int>(number % kStep), place = static_cast<int>(column % kWindow);
    if (step >= room) {
      irregular = true;
      return;
    }
    j.v.columns[to * kStep + slot] = static_cast<uint32_t>(column);
    j.v.masks[to * kStep + slot] = used ? masks()[place] : 0;
    T *values = static_cast<T *>(j.v.values) + to * SHUNT_VECTOR_STEP_VALUES + slot % 8 / 2 * 4 +
                slot / 8 * 2 + slot % 2;
#pragma unroll
    for (int r = 0; r < kRows; r++) values[r * 16] = used ? ring[place].of[r] : T(0);
  }

  __device__ __forceinline__ void append_half(int64_t p, uint64_t found)
  {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const uint32_t half = static_cast<uint32_t>(found >> (32 * h));
      const int64_t low = p * kHalf + 32 * h;
      if (half >> lane & 1) put(vectors + __popc(half & ((1u << lane) - 1)), low + lane, true);
      if (half) last_column = low + 31 - __clz(half);
      vectors += __popc(half);
    }
  }

  __device__ __forceinline__ void finish_sequence()
  {
    const int lane = threadIdx.x % 32;
    steps = (vectors + kStep - 1) / kStep;
    if (vectors + lane < steps * kStep) put(vectors + lane, last_column, false);
  }

  // ---- WINDOWED --------------------------------------------------------------------

  // The two oldest vectors of each residue, when half p has come.
  __device__ __forceinline__ void make_step(int64_t p)
  {
    const int lane = threadIdx.x % 32, residue = lane % 8, slot = lane % kStep;
    const int64_t first_half = p - (kHalves - 1);
    const int64_t first_strip = p * kHalf / kStrip - (SHUNT_VECTOR_STRIPS - 1);
    const int64_t oldest = (first_strip > 0 ? first_strip : 0) * kStrip + residue;
    const uint64_t rest = waiting & (waiting - 1);
    const uint64_t mine = slot < 8 ? waiting : rest;
    const bool used = mine != 0;
    const int bit = __ffsll(static_cast<long long>(mine)) - 1;
    const int64_t column = used              ? (first_half * 8 + bit) * 8 + residue
                           : oldest < j.cols ? oldest
                                             : j.cols - 1;
    const int place = static_cast<int>(column % kWindow);
    const int64_t to = first_step + steps;
    vectors += __popc(__ballot_sync(kAll, used) & 0xffff);
    waiting = rest & (rest - 1);

    // Lane's fragment of values: row g of slots 2t, 2t + 1, 2t + 8, 2t + 9.
    const int g = lane / 4, t = lane % 4;
    fragment_values fragment;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int from = __shfl_sync(kAll, used ? place : -1, 2 * t + i % 2 + i / 2 * 8);
      fragment.at[i] = from >= 0 ? ring[from].of[g] : T(0);
    }
    if (steps++ >= room) {
      irregular = true;
      return;
    }
    if (lane < kStep) {
      j.v.columns[to * kStep + slot] = static_cast<uint32_t>(column);
      j.v.masks[to * kStep + slot] = used ? masks()[place] : 0;
    }
    static_cast<fragment_values *>(j.v.values)[to * 32 + lane] = fragment;
  }

  __device__ __forceinline__ void window_half(int64_t p, uint64_t found)
  {
    const int lane = threadIdx.x % 32;
    const bool last_half = (p + 1) * kHalf >= j.cols;
    const uint64_t leaving = last_half ? ~uint64_t(0) : 0xffff; // the oldest strip
    uint64_t came = 0;
#pragma unroll
    for (int q = 0; q < 8; q++) came |= (found >> (8 * q + lane % 8) & 1) << q;
    waiting = waiting >> 8 | came << 56;
    if (p % 2 == 0 && !last_half) return;
    while (__all_sync(kAll, (waiting & (waiting - 1)) != 0) ||
           __any_sync(kAll, (waiting & leaving) != 0))
      make_step(p);
    if (lane == 0)
      j.v.strip_end[group * j.v.strips + p * kHalf / kStrip] =
          static_cast<uint32_t>(min(steps, room));
    __syncwarp();
  }

  __device__ __forceinline__ void pack()
  {
    const bool windowed = j.v.order == SHUNT_VECTOR_WINDOWED;
    for (int64_t p = 0; p * kHalf < j.cols; p++) {
      const uint64_t found = read_half(p);
      if (windowed)
        window_half(p, found);
      else
        append_half(p, found);
      __syncwarp();
    }
    if (!windowed) finish_sequence();
    irregular |= at != end;
    const bool bad = __any_sync(kAll, irregular);
    if (threadIdx.x % 32 != 0) return;
    j.v.begin[group] = static_cast<uint32_t>(first_step);
    j.v.count[group] = static_cast<uint32_t>(min(steps, room));
    atomicAdd(reinterpret_cast<unsigned long long *>(&j.v.counts->vectors), vectors);
    atomicAdd(reinterpret_cast<unsigned long long *>(&j.v.counts->steps), steps);
    if (bad) atomicOr(&j.v.counts->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
  }
};

template <class I, class T>
__global__ void __launch_bounds__(warps_of_block<T> * 32)
    pack_kernel(const __grid_constant__ pack_job j)
{
  constexpr int kWarps = warps_of_block<T>;
  __shared__ typename packer<I, T>::column_values ring[kWarps][kWindow];
  __shared__ uint32_t mask[kWarps][kWindow / 4];
  const int warp = threadIdx.x / 32;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (group >= j.v.groups) return;
  packer<I, T> k(j, group, ring[warp], mask[warp]);
  k.pack();
}

template <class I, class T> bool pack(pack_job &j, cudaStream_t stream)
{
  constexpr int kWarps = warps_of_block<T>;
  void *parameters[] = {&j};
  const dim3 grid(static_cast<unsigned>((j.v.groups + kWarps - 1) / kWarps));
  if (j.v.row_of && cudaLaunchKernel(reinterpret_cast<const void *>(&before_kernel<I>), dim3(1),
                                     dim3(1024), parameters, 0, stream) != cudaSuccess)
    return false;
  return cudaLaunchKernel(reinterpret_cast<const void *>(&pack_kernel<I, T>), grid,
                          dim3(kWarps * 32), parameters, 0, stream) == cudaSuccess;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_csr_to_vector_cuda(const struct shunt_csr *a,
                                                 const struct shunt_vector_layout *layout,
                                                 const struct shunt_vector *v,
                                                 const struct shunt_device *d, shunt_stream stream)
{
  pack_job j = {};
  (void)d;
  j.room = shunt_vector_room(a, layout);
  if (j.room.steps == 0) return SHUNT_E_UNSUPPORTED;
  j.offsets = a->row_offsets, j.columns = a->columns;
  j.values = a->values;
  j.rows = a->rows, j.cols = a->cols, j.nnz = a->nnz;
  j.base = a->base;
  j.v = *v;
  if (cudaMemsetAsync(v->counts, 0, sizeof *v->counts, stream) != cudaSuccess) return SHUNT_E_CUDA;
  const bool narrow = a->index_type == SHUNT_I32;
  const bool good =
      a->value_type == SHUNT_F32
          ? (narrow ? pack<int32_t, uint32_t>(j, stream) : pack<int64_t, uint32_t>(j, stream))
          : (narrow ? pack<int32_t, uint16_t>(j, stream) : pack<int64_t, uint16_t>(j, stream));
  return good ? SHUNT_OK : SHUNT_E_CUDA;
}
