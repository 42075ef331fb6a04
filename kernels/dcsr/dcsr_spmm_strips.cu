// dcsr_spmm_strips.cu: C = alpha A B + beta C, B-stationary: A in strips of dcsr, a strip of B in
// shared memory while the segments of that strip pass.
//
//   strip s   rows     1 4 5 9 12 ..     B: rows 64 s .. 64 s + 63, a panel of columns
//             segment  [c c][c][c c c]..      +----------+
//                        |   |    |           | tile     |   two of them: the next strip's comes
//                        v   v    v           +----------+   while this one is multiplied
//             P        row g of the panel: the sum over segment g of value x tile row
//
// then C = alpha S P + beta C (kernels/dcsr/dcsr_kernels.h, kernels/dcsr/dcsr_combine.cuh).
// Segments and entries together are cut into equal pieces, one a block, so that a block walks a few
// strips or shares one with others:
//
//   items    |s s s s s|s s|s s s s s s s s|s s s s|       s: strip's segments + their entries
//   block    |--- 0 ---|--- 1 ---|--- 2 ---|- 3 --|
//
// A group of lanes takes a segment.  Roofline, for g segments, e entries, n columns of size s:
//
//   A        e (4 + s) + 8 g bytes a panel        B   cols x n x s, once and what blocks share
//   P        2 g n s (4 bytes where s is 2): written and read, from L2 where a panel's fit there
//   shared   e n s at 128 bytes a clock and multiprocessor: 33 TB/s
//
// against e n s of gather for C-stationary: it pays where segments have many entries each.
#include "kernels/dcsr/dcsr_combine.cuh"
#include "kernels/dcsr/dcsr_spmm_panel.cuh"
#include "kernels/dcsr/dcsr_sums.cuh"

namespace shunt
{
namespace dcsr
{
namespace
{

constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 4;
constexpr int64_t kLeastSegments = 64; // of a block
constexpr int kAhead = 4;              // entries that a lane loads at once

template <class T> struct strips_job {
  b_panel<T> b;
  const struct shunt_dcsr_counts *counts;
  const void *strip_begin, *offsets, *columns;
  const T *values;
  int64_t strips;
  int width;
  lane_sums<T> *partial; // [segments][1 << lanes_log2]
};

// The segments of this block, and the strip of the first.
struct piece {
  int64_t begin, end, strip;
};

template <class T, class I>
__device__ __forceinline__ piece my_piece(const strips_job<T> &j, int64_t segments)
{
  __shared__ int64_t cut[2], strip;
  const I *offsets = static_cast<const I *>(j.offsets),
          *begins = static_cast<const I *>(j.strip_begin);
  const int warp = threadIdx.x / 32;
  if (warp < 2) {
    const int64_t items = segments + offsets[segments];
    const int64_t target = items / gridDim.x * (blockIdx.x + warp) +
                           min(items % gridDim.x, static_cast<int64_t>(blockIdx.x) + warp);
    const int64_t g = warp_search(segments, [&](int64_t at) { return offsets[at] + at >= target; });
    if (threadIdx.x % 32 == 0) cut[warp] = g;
    if (warp == 0) {
      const int64_t s = warp_search(j.strips, [&](int64_t at) { return begins[at + 1] > g; });
      if (threadIdx.x == 0) strip = s;
    }
  }
  __syncthreads();
  return {cut[0], cut[1], strip};
}

// Entries q .. q + 3; q is a multiple of 4, so that the last may be behind the array's end, in what
// an array is rounded up to (conv/dcsr/dcsr_conv.h).
template <class T, class I> struct four {
  vec<I, kAhead> column;
  vec<T, kAhead> value;
};

template <class T, class I>
__device__ __forceinline__ four<T, I> load_four(const strips_job<T> &j, I q)
{
  return {*reinterpret_cast<const vec<I, kAhead> *>(static_cast<const I *>(j.columns) + q),
          *reinterpret_cast<const vec<T, kAhead> *>(j.values + q)};
}

// The segment of entries [begin, end), not empty, of a strip whose first column is `first`.
template <class T, class I>
__device__ __forceinline__ lane_sums<T> multiply_segment(const strips_job<T> &j, I begin, I end,
                                                         I first, const lane_columns<T> *tile)
{
  lane_sums<T> sum = {};
  I q = begin & ~I(kAhead - 1);
  four<T, I> now = load_four<T, I>(j, q);
  for (bool more = true; more; q += kAhead) {
    four<T, I> next = {};
    more = q + kAhead < end;
    if (more) next = load_four<T, I>(j, q + kAhead);
#pragma unroll
    for (int u = 0; u < kAhead; u++)
      if (q + u >= begin && q + u < end)
        add_row<T>(sum, now.value.at[u],
                   tile[static_cast<int>(now.column.at[u] - first) << j.b.lanes_log2]);
    now = next;
  }
  return sum;
}

// Segments [from, until) of one strip.
template <class T, class I>
__device__ __forceinline__ void multiply_strip(const strips_job<T> &j, int64_t from, int64_t until,
                                               int64_t first, const lane_columns<T> *tile)
{
  const I *offsets = static_cast<const I *>(j.offsets);
  const int lane = threadIdx.x & ((1 << j.b.lanes_log2) - 1);
  const int groups = kThreads >> j.b.lanes_log2;
  int64_t g = from + (threadIdx.x >> j.b.lanes_log2);
  if (g >= until) return;
  I begin = offsets[g], end = offsets[g + 1];
  while (true) {
    const int64_t next = g + groups;
    const bool more = next < until;
    const I next_begin = more ? offsets[next] : I(0), next_end = more ? offsets[next + 1] : I(0);
    j.partial[(g << j.b.lanes_log2) + lane] =
        multiply_segment<T, I>(j, begin, end, static_cast<I>(first), tile + lane);
    if (!more) return;
    g = next, begin = next_begin, end = next_end;
  }
}

template <class T, class I>
__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor)
    spmm_dcsr_strips(const __grid_constant__ strips_job<T> j)
{
  extern __shared__ __align__(16) unsigned char shared[];
  if (j.counts->irregular) return;
  const piece mine = my_piece<T, I>(j, static_cast<int64_t>(j.counts->segments));
  if (mine.begin >= mine.end) return;

  const I *begins = static_cast<const I *>(j.strip_begin);
  lane_columns<T> *tiles = reinterpret_cast<lane_columns<T> *>(shared);
  const int tile_size = j.width << j.b.lanes_log2;

  int64_t strip = mine.strip, begin = mine.begin;
  load_tile(j.b, strip * j.width, j.width, tiles, threadIdx.x, kThreads);
  ptx::cp_async_commit();
  for (int stage = 0; begin < mine.end; stage ^= 1) {
    const int64_t last = begins[strip + 1], end = last < mine.end ? last : mine.end;
    int64_t next = strip + 1; // the next strip with segments
    if (end < mine.end) {
      while (begins[next + 1] == end) next++;
      load_tile(j.b, next * j.width, j.width, tiles + (stage ^ 1) * tile_size, threadIdx.x,
                kThreads);
    }
    ptx::cp_async_commit();
    ptx::cp_async_wait<1>();
    __syncthreads();
    multiply_strip<T, I>(j, begin, end, strip * j.width, tiles + stage * tile_size);
    __syncthreads(); // the tile has been read
    strip = next, begin = end;
  }
}

// ---- launch ------------------------------------------------------------------------------------

template <class T>
shunt_status launch(const struct shunt_spmm *p, const struct shunt_dcsr *d, int64_t first,
                    const struct shunt_device *device, void *workspace, shunt_stream stream)
{
  const strips_job<T> j = {panel_of<T>(p, first),
                           d->counts,
                           d->strip_begin,
                           d->offsets,
                           d->columns,
                           static_cast<const T *>(d->values),
                           d->strips,
                           static_cast<int>(d->width),
                           static_cast<lane_sums<T> *>(workspace)};
  const int bytes = 2 * j.width * j.b.width() * static_cast<int>(sizeof(T));
  auto kernel =
      d->index_type == SHUNT_I32 ? &spmm_dcsr_strips<T, int32_t> : &spmm_dcsr_strips<T, int64_t>;
  if (bytes > device->shared_per_block) return SHUNT_E_UNSUPPORTED;
  if (bytes > 48 * 1024 && cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                bytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  const int64_t most = static_cast<int64_t>(device->multiprocessors) * kBlocksPerProcessor;
  const int64_t some = (d->room + kLeastSegments - 1) / kLeastSegments;
  kernel<<<static_cast<unsigned>(some < most ? some : most), kThreads, bytes, stream>>>(j);
  if (cudaPeekAtLastError() != cudaSuccess) return SHUNT_E_CUDA;
  return SHUNT_OK;
}

shunt_status check_strips(const struct shunt_spmm *p, const struct shunt_dcsr *d)
{
  if (!has_types(p) || p->only_if) return SHUNT_E_UNSUPPORTED;
  const shunt_status s = check_shape(p);
  if (s != SHUNT_OK) return s;
  if (d->rows != p->a.rows || d->cols != p->a.cols || d->value_type != p->a.value_type)
    return SHUNT_E_ARGUMENT;
  if (d->width > SHUNT_DCSR_MOST_WIDTH || d->room > kMostSegments || d->rows > kMostSegments)
    return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// The first phase of a panel: P.
shunt_status multiply(const struct shunt_spmm *p, const struct shunt_dcsr *d, int64_t first,
                      const struct shunt_device *device, void *partial, shunt_stream stream)
{
  if (d->room == 0) return SHUNT_OK;
  switch (p->a.value_type) {
  case SHUNT_F16: return launch<__half>(p, d, first, device, partial, stream);
  case SHUNT_BF16: return launch<__nv_bfloat16>(p, d, first, device, partial, stream);
  case SHUNT_F32: return launch<float>(p, d, first, device, partial, stream);
  default: return launch<double>(p, d, first, device, partial, stream);
  }
}

} // namespace
} // namespace dcsr
} // namespace shunt

using namespace shunt::dcsr;

extern "C" size_t shunt_dcsr_spmm_strips_workspace(const struct shunt_spmm *p,
                                                   const struct shunt_dcsr *d)
{
  return check_strips(p, d) == SHUNT_OK ? static_cast<size_t>(d->room) * partial_row_bytes(p) : 0;
}

extern "C" shunt_status
shunt_dcsr_spmm_strips_cuda(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                            const struct shunt_dcsr_sums *sums, const struct shunt_device *device,
                            void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check_strips(p, d);
  if (s != SHUNT_OK) return s;
  if (sums->rows != d->rows || sums->value_type != p->compute) return SHUNT_E_ARGUMENT;
  if (workspace_bytes < shunt_dcsr_spmm_strips_workspace(p, d) ||
      reinterpret_cast<uintptr_t>(workspace) % 256)
    return SHUNT_E_WORKSPACE;
  const int width = panel_width(p);
  for (int64_t first = 0; s == SHUNT_OK && p->c.rows > 0 && first < p->c.cols; first += width) {
    const int columns = static_cast<int>(p->c.cols - first < width ? p->c.cols - first : width);
    s = multiply(p, d, first, device, workspace, stream);
    if (s == SHUNT_OK)
      s = p->c.type == p->compute
              ? add_segments(p, sums, workspace, width, columns, first, device, stream)
              : combine(p, sums, workspace, width, columns, first, device, stream);
    if (s != SHUNT_OK && first > 0) s = SHUNT_E_WRITTEN;
  }
  return s;
}
