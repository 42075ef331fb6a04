// density.cu: where the entries of a pattern lie (conv/profile/density.h).
//
// A block takes an aligned group of 8 rows, a warp a row of it, a lane an entry: the other seven
// rows are searched for its column, which gives 8 bits, and these the kind; or else its neighbours.
// Where its row has half of the tile's columns, the others are asked for theirs first.
//
//   warp 2: row 2   c0 c1 c2 ...       lane 1: is c1 in row 0, 1, 3, 4, 5, 6, 7?
//                      |                       bits 0 0 1 1 0 0 0 0   rows 2 and 3: 2 x 1
#include <cuda_runtime.h>

#include "conv/profile/density.h"

namespace shunt
{
namespace
{

constexpr int group_rows = 8;
constexpr int block_threads = 32 * group_rows;
constexpr int blocks_per_multiprocessor = 8;

struct scratch_area {
  unsigned long long looked[SHUNT_DENSITY_CELLS];
  unsigned long long entries[SHUNT_DENSITY_CELLS][SHUNT_DENSITY_CELLS][SHUNT_DENSITY_KINDS];
  unsigned done;
};
static_assert(sizeof(scratch_area) <= SHUNT_DENSITY_SCRATCH, "SHUNT_DENSITY_SCRATCH too small");

struct density_job {
  const void *offsets, *columns;
  int64_t rows, cols, nnz, groups, looked; // `looked` of the `groups`
  int base, high, wide;
  uint64_t serial;
  struct shunt_density *out;
  scratch_area *scratch;
};

struct span {
  int64_t begin, length;
};

// Row `row`, empty where there is none or its offsets are impossible.
template <class I> __device__ span row_of(const density_job &g, int64_t row)
{
  if (row >= g.rows) return {0, 0};
  const I *offsets = static_cast<const I *>(g.offsets);
  const int64_t begin = (int64_t)offsets[row], end = (int64_t)offsets[row + 1];
  if (begin < g.base || end < begin || end - g.base > g.nnz) return {0, 0};
  return {begin - g.base, end - begin};
}

// The first entry of the row whose column is at least that; its end: none.
template <class I> __device__ int64_t first_from(const I *columns, span row, int64_t column)
{
  int64_t from = row.begin, to = row.begin + row.length;
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (columns[middle] < column)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

template <class I> __device__ bool has(const I *columns, span row, I column)
{
  const int64_t p = first_from(columns, row, column);
  return p < row.begin + row.length && columns[p] == column;
}

// Has the row half or more of the columns from `first` on that a tile has?
template <class I> __device__ bool is_crowded(const I *columns, span row, int64_t first)
{
  const int64_t end = first_from(columns, row, first + SHUNT_DENSITY_TILE_WIDE);
  return end - first_from(columns, row, first) >= SHUNT_DENSITY_TILE_LEAST;
}

template <class I>
__device__ bool in_tile(const density_job &g, const span *group, int at, I column)
{
  const I *columns = static_cast<const I *>(g.columns);
  const int64_t within = ((int64_t)column - g.base) % SHUNT_DENSITY_TILE_WIDE;
  const int64_t first = (int64_t)column - within;
  if (!is_crowded(columns, group[at], first)) return false;
  for (int other = 0; other < group_rows; other++)
    if (other != at && !is_crowded(columns, group[other], first)) return false;
  return true;
}

// How many entries next to entry p of the row, and itself, lie in its aligned four columns.
template <class I> __device__ int in_four(const density_job &g, span row, int64_t p)
{
  const I *columns = static_cast<const I *>(g.columns);
  const uint64_t four = ((uint64_t)(int64_t)columns[p] - (uint64_t)g.base) / 4;
  int n = 0;
  for (int64_t q = max(p - 3, row.begin); q <= p + 3 && q < row.begin + row.length; q++)
    n += ((uint64_t)(int64_t)columns[q] - (uint64_t)g.base) / 4 == four;
  return n;
}

template <class I>
__device__ int kind_of(const density_job &g, const span *group, int at, int64_t p)
{
  const I *columns = static_cast<const I *>(g.columns);
  const unsigned four = 0xfu << (at & 4), two = 3u << (at & 6);
  if (in_tile(g, group, at, columns[p])) return SHUNT_DENSITY_TILE;
  unsigned rows = 1u << at;
  for (int other = 0; other < group_rows; other++)
    if (other != at && has(columns, group[other], columns[p])) rows |= 1u << other;
  if (rows == 0xff) return SHUNT_DENSITY_8;
  if ((rows & four) == four) return SHUNT_DENSITY_4;
  if ((rows & two) == two) return SHUNT_DENSITY_2;
  return in_four<I>(g, group[at], p) == 2 ? SHUNT_DENSITY_24 : SHUNT_DENSITY_OTHER;
}

// A warp, row `at` of the group; `group`: all 8.
template <class I>
__device__ void count_row(const density_job &g, int64_t first, int at, const span *group)
{
  const I *columns = static_cast<const I *>(g.columns);
  const span row = group[at];
  const int64_t entries = row.length < SHUNT_DENSITY_ENTRIES ? row.length : SHUNT_DENSITY_ENTRIES;
  const int64_t line = (first + at) * g.high / g.rows;

  if (threadIdx.x % 32 == 0) atomicAdd(&g.scratch->looked[line], 1ull);
  for (int64_t k = threadIdx.x % 32; k < entries; k += 32) {
    const int64_t place = k * row.length / entries, next = (k + 1) * row.length / entries;
    const I column = columns[row.begin + place];
    if (column < g.base || (int64_t)column - g.base >= g.cols) continue;
    const int kind = kind_of<I>(g, group, at, row.begin + place);
    atomicAdd(&g.scratch->entries[line][((int64_t)column - g.base) * g.wide / g.cols][kind],
              (unsigned long long)(next - place));
  }
}

// The block that is last writes the sums where the host polls, the serial behind all others.
__device__ void report(const density_job &g)
{
  constexpr int cells = SHUNT_DENSITY_CELLS * SHUNT_DENSITY_CELLS * SHUNT_DENSITY_KINDS;
  volatile struct shunt_density *out = g.out;
  volatile uint64_t *entries = &g.out->entries[0][0][0];

  __threadfence();
  for (int i = threadIdx.x; i < cells; i += block_threads)
    entries[i] = atomicAdd(&g.scratch->entries[0][0][0] + i, 0ull);
  for (int i = threadIdx.x; i < SHUNT_DENSITY_CELLS; i += block_threads)
    out->looked[i] = atomicAdd(&g.scratch->looked[i], 0ull);
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x > 0) return;
  out->rows = g.rows, out->cols = g.cols;
  out->high = g.high, out->wide = g.wide;
  __threadfence_system();
  out->serial = g.serial;
  __threadfence_system();
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    density_kernel(const __grid_constant__ density_job g)
{
  __shared__ span group[group_rows];
  __shared__ bool last;

  for (int64_t k = blockIdx.x; k < g.looked; k += gridDim.x) {
    const int64_t first = k * g.groups / g.looked * group_rows;
    __syncthreads();
    if (threadIdx.x < group_rows) group[threadIdx.x] = row_of<I>(g, first + threadIdx.x);
    __syncthreads();
    const int at = (int)threadIdx.x / 32;
    if (first + at < g.rows) count_row<I>(g, first, at, group);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&g.scratch->done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) report(g);
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_density_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                               struct shunt_density *out, void *scratch,
                                               const struct shunt_device *d, shunt_stream stream)
{
  density_job g = {};
  void *arguments[] = {&g};

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!out || !scratch) return SHUNT_E_ARGUMENT;
  g.offsets = a->row_offsets, g.columns = a->columns;
  g.rows = a->rows, g.cols = a->cols, g.nnz = a->nnz, g.base = a->base;
  g.groups = (a->rows + group_rows - 1) / group_rows;
  g.looked = g.groups < SHUNT_DENSITY_GROUPS ? g.groups : SHUNT_DENSITY_GROUPS;
  g.high = shunt_density_cells(a->rows), g.wide = shunt_density_cells(a->cols);
  g.serial = serial, g.out = out, g.scratch = static_cast<scratch_area *>(scratch);

  int64_t blocks = (int64_t)d->multiprocessors * blocks_per_multiprocessor;
  if (blocks > g.looked) blocks = g.looked;
  if (blocks < 1) blocks = 1;
  if (cudaMemsetAsync(scratch, 0, sizeof(scratch_area), stream) != cudaSuccess) return SHUNT_E_CUDA;
  const void *kernel = a->index_type == SHUNT_I32
                           ? reinterpret_cast<const void *>(density_kernel<int32_t>)
                           : reinterpret_cast<const void *>(density_kernel<int64_t>);
  cudaError_t e =
      cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(block_threads), arguments, 0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
