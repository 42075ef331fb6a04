// dense_from_csr.cu: CSR to row-major dense, one pass at memory bandwidth.
//
// A team of threads (a warp for short rows, a block for others) builds one piece of
// one row in shared memory and stores it with 16-byte stores, so dense needs no
// clearing beforehand and every byte of it is written once:
//
//   entries of row i        c0 c1 c2 c3 ...        read coalesced, eight loads in
//                            |   \   \              flight a thread and array
//   image (shared)      [0 0 v0 0 v1 0 v2 ...0]    zeroed, then scattered into
//                       |16 bytes|16 bytes| ...
//   dense (global)      [----- row i, columns first .. first + width -----]
//
// The image starts as many bytes past a multiple of 16 as its place in dense does
// (`lead`), so that image and dense agree on where 16-byte pieces lie; the ragged
// ends are stored element by element.
//
// Rows wider than the image are cut into tiles; each tile's team reads the whole row
// and keeps its own columns.
//
// Repeated columns: ascending columns cannot repeat, and comparing each with its
// predecessor costs a shuffle.  Only a row that is not strictly ascending is read a
// second time, with a bitmap in the place of the image.
//
// Offsets and columns are trusted for nothing: an offset outside the arrays makes its
// row empty, a column outside the matrix is dropped, both are reported.
#include <cuda_runtime.h>

#include "conv/dense/dense_conv.h"

namespace shunt
{
namespace
{

constexpr int block_threads = 256;
constexpr int blocks_resident = 4; // a multiprocessor; leaves 64 registers a thread
// Entries a thread has in flight, as many as there are registers for.
template <class V> constexpr int batch_of = sizeof(V) == 16 ? 4 : 8;
constexpr int64_t warp_row_bytes = 2048;  // rows up to here are a warp's work
constexpr int64_t image_most = 46 * 1024; // of a block; below the 48 KB of any device
constexpr int64_t units_most = 1 << 30;   // so that 32 bits count them, and a step more
constexpr unsigned whole_warp = 0xffffffffu;

struct dense_job {
  const void *offsets, *columns, *values;
  void *dense;
  int64_t rows, cols, nnz, stride; // stride: elements of a row of dense, all written
  unsigned tiles, units;           // tiles a row; units = rows * tiles
  int tile_width, image_bytes;     // elements of a tile; shared bytes of a team
  int base;
  uint32_t *irregular;
};

// Barriers among the T threads of a team.
template <int T> struct team {
  static __device__ __forceinline__ int rank() { return threadIdx.x % T; }
  static __device__ __forceinline__ void sync()
  {
    if (T == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  static __device__ __forceinline__ bool any(bool x)
  {
    if (T != 32) return __syncthreads_or(x);
    bool found = __any_sync(whole_warp, x);
    __syncwarp();
    return found;
  }
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int64_t base)
{
  return (int64_t)((uint64_t)(int64_t)index - (uint64_t)base);
}

template <class I> struct row_range {
  int64_t begin, end;
  bool valid;

  __device__ __forceinline__ row_range(const dense_job &g, I from, I to)
  {
    begin = from_base(from, g.base);
    end = from_base(to, g.base);
    valid = 0 <= begin && begin <= end && end <= g.nnz;
    if (!valid) begin = end = 0;
  }
};

// Scatters the row's entries with columns in [first, first + width) into image.
// Sets `bad` on a column out of range, `unsorted` on one not above its predecessor.
// Each warp takes a run of 32 x batch entries, so that the predecessor of a lane's
// entry is its neighbour's, and lane 0's is lane 31's of the step before:
//
//   step k    | p .................. p + 31 |        rotated by one lane:
//   lane      | 0    1    2    ...       31 |        lane l has l - 1's column,
//                                                    lane 0 has lane 31's: keep it
//
// Lanes past the row's end read its last entry once more and store it to the same
// place, which does no harm and needs no predicates.
template <class V, class I, int T>
__device__ __forceinline__ void scatter(const dense_job &g, const row_range<I> &row, int64_t first,
                                        int width, V *image, bool &bad, bool &unsorted)
{
  constexpr int batch = batch_of<V>, run = 32 * batch;
  int lane = threadIdx.x % 32, above = (lane + 31) % 32;
  int64_t open = g.cols - first < width ? g.cols - first : width; // below 0: none
  int64_t origin = first + g.base;                                // index of image[0]
  int64_t p0 = row.begin + team<T>::rank() / 32 * run;
  bool start = true;

  if (open < 0) open = 0;
  for (int64_t q = row.begin; start || q < row.end; q += T * batch, p0 += T * batch) {
    int64_t rest = row.end - p0;
    int n = rest < run ? (int)rest : run; // of this warp's run; may be negative
    const I *columns = static_cast<const I *>(g.columns) + p0;
    const V *values = static_cast<const V *>(g.values) + p0;
    I c[batch], last = I(-1);
    V v[batch];
    if (n > 0) {
#pragma unroll
      for (int k = 0; k < batch; k++) c[k] = columns[min(k * 32 + lane, n - 1)];
#pragma unroll
      for (int k = 0; k < batch; k++) v[k] = values[min(k * 32 + lane, n - 1)];
      if (p0 > row.begin) last = columns[-1];
    }
    if (start) team<T>::sync(); // the image is zeroed by now
    start = false;
    if (n <= 0) continue;
    bool stray = false;
#pragma unroll
    for (int k = 0; k < batch; k++) {
      I rotated = __shfl_sync(whole_warp, c[k], above);
      I before = lane == 0 ? last : rotated;
      last = rotated;
      unsorted |= c[k] <= before && k * 32 + lane < n;
      int64_t place = from_base(c[k], origin);
      bool mine = (uint64_t)place < (uint64_t)open;
      if (mine) image[place] = v[k];
      stray |= !mine;
    }
    if (!stray) continue;
#pragma unroll
    for (int k = 0; k < batch; k++) // another tile's, or out of range
      bad |= (uint64_t)from_base(c[k], g.base) >= (uint64_t)g.cols;
  }
}

// dense[0 .. width) = image[lead .. lead + width); dense - lead lies on 16 bytes.
template <class V, int T>
__device__ __forceinline__ void store(V *dense, const V *image, int lead, int width)
{
  constexpr int piece = 16 / sizeof(V);
  int pieces = (lead + width + piece - 1) / piece;
  V *origin = dense - lead;

#pragma unroll 2
  for (int k = team<T>::rank(); k < pieces; k += T) {
    int from = k * piece;
    if (from >= lead && from + piece <= lead + width) {
      *reinterpret_cast<uint4 *>(origin + from) = *reinterpret_cast<const uint4 *>(image + from);
      continue;
    }
#pragma unroll 1
    for (int i = from; i < from + piece; i++)
      if (i >= lead && i < lead + width) origin[i] = image[i];
  }
}

// Whether a column in [first, first + width) comes twice in the row.
template <class I, int T>
__device__ bool repeats(const dense_job &g, const row_range<I> &row, int64_t first, int width,
                        unsigned *bitmap)
{
  const I *columns = static_cast<const I *>(g.columns);
  bool found = false;

  for (int k = team<T>::rank(); k < width / 32 + 1; k += T) bitmap[k] = 0;
  team<T>::sync();
  for (int64_t p = row.begin + team<T>::rank(); p < row.end; p += T) {
    int64_t column = from_base(columns[p], g.base);
    int64_t place = column - first;
    if ((uint64_t)column >= (uint64_t)g.cols || (uint64_t)place >= (uint64_t)width) continue;
    unsigned bit = 1u << (place % 32);
    found |= (atomicOr(&bitmap[place / 32], bit) & bit) != 0;
  }
  return found;
}

template <class V, class I, int T>
__global__ void __launch_bounds__(block_threads, blocks_resident)
    csr_to_dense_kernel(const __grid_constant__ dense_job g)
{
  extern __shared__ uint4 shared[];
  constexpr int teams = block_threads / T;
  const I *offsets = static_cast<const I *>(g.offsets);
  uint4 *image = shared + (int64_t)(threadIdx.x / T) * (g.image_bytes / 16);
  unsigned step = gridDim.x * teams;
  unsigned u = blockIdx.x * teams + threadIdx.x / T;
  unsigned i = u / g.tiles;
  if (u >= g.units) return;
  I from = offsets[i], to = offsets[i + 1];

  while (u < g.units) {
    int64_t first = (int64_t)(u - i * g.tiles) * g.tile_width;
    int64_t rest = g.stride - first;
    int width = rest < g.tile_width ? (int)rest : g.tile_width;
    V *dense = static_cast<V *>(g.dense) + (int64_t)i * g.stride + first;
    int lead = (int)(reinterpret_cast<uintptr_t>(dense) % 16 / sizeof(V));
    row_range<I> row(g, from, to);
    bool bad = !row.valid, unsorted = false;

    u += step;
    if (u < g.units) { // the next unit's offsets arrive while this one is built
      i = u / g.tiles;
      from = offsets[i], to = offsets[i + 1];
    }
#pragma unroll 2
    for (int k = team<T>::rank(); k < g.image_bytes / 16; k += T) image[k] = make_uint4(0, 0, 0, 0);
    scatter<V, I, T>(g, row, first, width, reinterpret_cast<V *>(image) + lead, bad, unsorted);
    bool look_again = team<T>::any(unsorted);
    store<V, T>(dense, reinterpret_cast<const V *>(image), lead, width);
    team<T>::sync();
    if (!g.irregular) continue;
    if (look_again) {
      bad |= repeats<I, T>(g, row, first, width, reinterpret_cast<unsigned *>(image));
      team<T>::sync();
    }
    if (__any_sync(whole_warp, bad) && threadIdx.x % 32 == 0)
      atomicOr(g.irregular, (uint32_t)SHUNT_IRREGULAR);
  }
}

template <class V, class I, int T>
shunt_status launch(dense_job *g, int multiprocessors, shunt_stream stream)
{
  constexpr int teams = block_threads / T;
  int64_t blocks = (g->units + teams - 1) / teams;
  int64_t most = (int64_t)multiprocessors * blocks_resident * 2; // 2: uneven rows even out
  void *arguments[] = {g};

  if (blocks > most) blocks = most;
  cudaError_t e = cudaLaunchKernel(reinterpret_cast<const void *>(csr_to_dense_kernel<V, I, T>),
                                   dim3((unsigned)blocks), dim3(block_threads), arguments,
                                   (size_t)teams * g->image_bytes, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

// Cuts rows into equal tiles that end on 16 bytes and chooses the team.
template <class V, class I>
shunt_status divide(dense_job *g, int multiprocessors, shunt_stream stream)
{
  constexpr int64_t piece = 16 / sizeof(V);
  int64_t most = image_most / (int64_t)sizeof(V);
  int64_t tiles, width;

  tiles = (g->stride + most - 1) / most;
  width = (g->stride + tiles - 1) / tiles;
  g->tile_width = (int)((width + piece - 1) / piece * piece);
  g->image_bytes = g->tile_width * (int)sizeof(V) + 16;    // 16: the lead
  tiles = (g->stride + g->tile_width - 1) / g->tile_width; // rounding may have saved one
  if (tiles > units_most / g->rows) return SHUNT_E_UNSUPPORTED;
  g->tiles = (unsigned)tiles;
  g->units = (unsigned)(g->rows * tiles);
  if (g->stride * (int64_t)sizeof(V) <= warp_row_bytes)
    return launch<V, I, 32>(g, multiprocessors, stream);
  return launch<V, I, block_threads>(g, multiprocessors, stream);
}

template <class I>
shunt_status choose_value(dense_job *g, size_t size, int multiprocessors, shunt_stream stream)
{
  switch (size) {
  case 1: return divide<uint8_t, I>(g, multiprocessors, stream);
  case 2: return divide<uint16_t, I>(g, multiprocessors, stream);
  case 4: return divide<uint32_t, I>(g, multiprocessors, stream);
  case 8: return divide<uint64_t, I>(g, multiprocessors, stream);
  case 16: return divide<uint4, I>(g, multiprocessors, stream);
  }
  return SHUNT_E_UNSUPPORTED;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_csr_to_dense_cuda(const struct shunt_csr *a,
                                                const struct shunt_dense *dense,
                                                uint32_t *irregular, const struct shunt_device *d,
                                                shunt_stream stream)
{
  size_t size = shunt_type_size(a->value_type);
  dense_job g = {};

  if (dense->type != a->value_type || dense->col_stride != 1 || dense->row_stride < a->cols ||
      dense->rows != a->rows || dense->cols != a->cols)
    return SHUNT_E_UNSUPPORTED;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (a->rows == 0 || dense->row_stride == 0) return SHUNT_OK;
  if (reinterpret_cast<uintptr_t>(dense->values) % size) return SHUNT_E_ARGUMENT;
  g.offsets = a->row_offsets, g.columns = a->columns, g.values = a->values;
  g.dense = dense->values;
  g.rows = a->rows, g.cols = a->cols, g.nnz = a->nnz, g.stride = dense->row_stride;
  g.base = a->base;
  g.irregular = irregular;
  if (a->index_type == SHUNT_I32)
    return choose_value<int32_t>(&g, size, d->multiprocessors, stream);
  return choose_value<int64_t>(&g, size, d->multiprocessors, stream);
}
