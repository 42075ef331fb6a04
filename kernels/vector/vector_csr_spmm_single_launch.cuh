// vector_csr_spmm_single_launch.cuh: column vectors straight from CSR in one launch, a group of 8
// rows a block; f16 and bf16.  For small products, whose time is that of launches and latencies.
//
//     offsets -> columns and values of 8 rows, compared -> rows of B -> mma -> sum -> C
//                ^ staged in shared memory, chunk by chunk
//
// The block compares the lists of its rows while it stages them, so it knows what they share
// before it gathers (levels as in vector_csr_spmm.cuh: 8, 4, 2 or 1 rows a list), and its warps
// part the lists between them.  For N columns, tiles = ceil(N / 64) <= 4 of a block, slots warps a
// tile:
//
//     warp            tile 0                       tile 1
//     level 8   steps 0,4.. 1,5.. 2,6.. 3,7.. |  the same        of the one list
//     level 4   list 0: 0,2.. 1,3..  list 1: 0,2.. 1,3..
//     level 2   list 0  list 1  list 2  list 3
//     level 1   the same, in two rounds
//
// A step is 16 entries of a list times 64 columns, fragments and ring as in
// vector_csr_spmm_mma.cuh. What the warps of one list have is added in order, so the bits never
// vary.  A list longer than a chunk turns out to differ after some of it was multiplied: then the
// group begins again at the level found; nothing was stored.
//
// Roofline: as the other kernel's, bytes gathered / 8.5 TB/s; of a few us five dependent latencies.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/common/mma_of.cuh"
#include "kernels/vector/vector_csr_spmm.cuh"

namespace shunt
{
namespace vector::csr
{

// Blocks: of these that a multiprocessor is to have room for.
template <int Warps_, int Stages_, int Chunk_, int Blocks_> struct once_shape {
  static constexpr int kWarps = Warps_, kStages = Stages_, kChunk = Chunk_, kBlocks = Blocks_;
  static constexpr int kRowBytes = 64 * 2, kStepBytes = 16 * kRowBytes;
  static constexpr int kWarpBytes = kStages * kStepBytes;          // ring, later the image
  static constexpr int kValuesPitch = kChunk * 2 + 32;             // bytes: rows on other banks
  static constexpr int kValues = kWarps * kWarpBytes;              // 8 rows of values
  static constexpr int kColumns = kValues + kGroup * kValuesPitch; // 8 lists of columns
  static constexpr int kBytes = kColumns + kGroup * kChunk * 4;
  static constexpr int kEach = kChunk > kWarps * 32 ? 2 : 1; // entries that a thread loads at once
  static_assert(image<64>::kBytes <= kWarpBytes, "the image lies in the ring");
};

// The rows of a group, in each lane.
struct group_rows {
  int start[kGroup], length[kGroup], present, longest, level;

  __device__ __forceinline__ group_rows(const matrix &p, int group) : longest(0), level(kGroup)
  {
    const int row0 = group * kGroup;
    present = min(kGroup, p.rows - row0);
    const int mine = row_start(p, row0 + min(static_cast<int>(threadIdx.x % 32), present));
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      start[r] = __shfl_sync(0xffffffffu, mine, r);
      length[r] = __shfl_sync(0xffffffffu, mine, r + 1) - start[r];
      longest = max(longest, length[r]);
    }
#pragma unroll
    for (int r = 1; r < kGroup; r++)
      if (r < present && length[r] != length[r & (r - 1)]) level = min(level, r & -r);
  }
  // length[r], r not a constant.
  __device__ __forceinline__ int length_of(int row) const
  {
    int l = length[0];
#pragma unroll
    for (int r = 1; r < kGroup; r++)
      if (row == r) l = length[r];
    return l;
  }
};

// Stages entries e0 .. e0 + kChunk - 1 of all rows, zeros behind their ends, and lowers the level
// to what they leave.  Called by all threads; a barrier before it, and one inside.
template <class Shape>
__device__ __forceinline__ void stage_chunk(const matrix &p, group_rows &rows, int e0,
                                            unsigned char *shared, int *found)
{
  constexpr int kEach = Shape::kEach, kThreads = Shape::kWarps * 32;
  const uint16_t *values = reinterpret_cast<const uint16_t *>(p.values);
  uint16_t *to_values = reinterpret_cast<uint16_t *>(shared + Shape::kValues);
  uint32_t *to_columns = reinterpret_cast<uint32_t *>(shared + Shape::kColumns);
  const int end = min(Shape::kChunk, (rows.longest - e0 + 15) / 16 * 16);
  int level = rows.level;

#pragma unroll 1
  for (int first = threadIdx.x; first < end; first += kEach * kThreads) {
    uint32_t column[kEach][kGroup];
    uint16_t value[kEach][kGroup];
#pragma unroll
    for (int i = 0; i < kEach; i++)
#pragma unroll
      for (int r = 0; r < kGroup; r++) {
        const int e = e0 + first + i * kThreads;
        const int64_t at = static_cast<int64_t>(rows.start[r]) + e;
        const bool inside = e < rows.length[r];
        column[i][r] = inside ? load_index(p.columns, at, p.index_bytes) : 0;
        value[i][r] = inside ? __ldg(values + at) : 0;
      }
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const int e = first + i * kThreads;
      if (e >= end) break;
#pragma unroll
      for (int r = 0; r < kGroup; r++) {
        if (r > 0 && r < rows.present && column[i][r] != column[i][r & (r - 1)])
          level = min(level, r & -r);
        to_columns[r * Shape::kChunk + e] = column[i][r];
        to_values[r * (Shape::kValuesPitch / 2) + e] = value[i][r];
      }
    }
  }
  level = __reduce_min_sync(0xffffffffu, level);
  if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = level;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < Shape::kWarps; w++) level = min(level, found[w]);
  rows.level = level;
}

// Where a lane works, among the 64 columns of B from column0 on and the list of row `first`.
template <class Shape> struct staged_place {
  const char *b;     // of row 0 of B: what it brings
  int part;          // which entries of a step: 4 part ..
  uint32_t to, from; // in stage 0 of the ring: of what it brings; of what it hands to ldmatrix
  const uint4 *columns;
  const unsigned char *values;

  __device__ __forceinline__ staged_place(const arguments &p, unsigned char *shared, int first,
                                          int column0)
  {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int piece = lane % 8, column = column0 + 8 * piece;
    const uint32_t ring = ptx::shared_address(shared + warp * Shape::kWarpBytes);
    part = lane / 8;
    // Lanes beyond the last column bring the first; what it makes is not stored.
    b = based_b(p) + static_cast<int64_t>(column < p.n ? column : 0) * 2;
    asm("" : "+l"(b));
    to = ring + part * 4 * Shape::kRowBytes + ((piece ^ part * 2) << 4);
    const int i = lane % 8, j = lane / 8;
    const int entry = (i >> 1) * 4 + (i & 1) + (j >> 1) * 2;
    from = ring + entry * Shape::kRowBytes + (((j & 1) ^ i) << 4);
    columns =
        reinterpret_cast<const uint4 *>(shared + Shape::kColumns + first * Shape::kChunk * 4) +
        part;
    values = shared + Shape::kValues + g * Shape::kValuesPitch + t * 8;
  }
};

// Asks for the 16 rows of B of a step; count: entries of the list that are staged.
template <class Shape>
__device__ __forceinline__ void fetch(const arguments &p, const staged_place<Shape> &l, int count,
                                      int step, int stage)
{
  const uint4 four = l.columns[step * 4];
  const uint32_t index[4] = {four.x, four.y, four.z, four.w};
  const int left = count - 16 * step - 4 * l.part;
  const uint32_t at = l.to + stage * Shape::kStepBytes;
#pragma unroll
  for (int k = 0; k < 4; k++)
    ptx::cp_async_16((at ^ (k & 1) << 4) + k * Shape::kRowBytes,
                     k < left ? l.b + static_cast<uint64_t>(index[k]) * p.b_row_bytes : p.b,
                     k < left ? 16 : 0);
}

template <class T, class Shape>
__device__ __forceinline__ void multiply_step(const staged_place<Shape> &l, int step, int stage,
                                              float (&d)[4][4])
{
  const uint2 fragment = *reinterpret_cast<const uint2 *>(l.values + step * 32);
  const uint32_t row_values[2] = {fragment.x, fragment.y};
  const uint32_t at = l.from + stage * Shape::kStepBytes;
#pragma unroll
  for (int m = 0; m < 4; m++) {
    uint32_t a[4];
    ptx::ldmatrix_x4_trans(a, at ^ m << 5);
    mma_of<T>::run(d[m], a, row_values);
  }
}

// Adds to d what steps slice, slice + slices, .. of the staged part of the list of row `first` make
// with 64 columns; count: entries of it that are staged.
template <class T, class Shape>
__device__ __forceinline__ void multiply_staged(const arguments &p, unsigned char *shared,
                                                int first, int count, int slice, int slices,
                                                int column0, float (&d)[4][4])
{
  constexpr int kAhead = Shape::kStages - 1;
  const staged_place<Shape> l(p, shared, first, column0);
  const int steps = (count + 15) / 16;

#pragma unroll
  for (int s = 0; s < kAhead; s++) {
    if (slice + s * slices < steps) fetch(p, l, count, slice + s * slices, s);
    ptx::cp_async_commit();
  }
  int to_stage = kAhead, from_stage = 0;
#pragma unroll 1
  for (int step = slice; step < steps; step += slices) {
    ptx::cp_async_wait<kAhead - 1>();
    __syncwarp();
    if (step + kAhead * slices < steps) fetch(p, l, count, step + kAhead * slices, to_stage);
    ptx::cp_async_commit();
    multiply_step<T>(l, step, from_stage, d);
    to_stage = to_stage == kAhead ? 0 : to_stage + 1;
    from_stage = from_stage == kAhead ? 0 : from_stage + 1;
  }
  ptx::cp_async_wait<0>();
  __syncwarp();
}

// How the warps of a tile part the lists of a group: lists at a time, slices of each.
struct parting {
  int at_once, slices;

  __device__ __forceinline__ parting(int level, int slots)
      : at_once(min(kGroup / level, slots)), slices(slots / at_once)
  {
  }
};

// Adds the images of the slices and stores rows `first` .. `end` - 1 of the group.
template <class Shape, class Out>
__device__ __forceinline__ void store_staged(const arguments &p, const unsigned char *shared,
                                             const parting &part, int level, int group, int first,
                                             int end, int column0)
{
  constexpr int kPitch = image<64>::kPitch, kWide = 16 / sizeof(Out);
  const float alpha = p.alpha.get(), beta = p.beta.get();
  const int width = min(p.n - column0, (Shape::kWarps >> p.log2_slices) * 64);
  const int row0 = group * kGroup;
  auto images = [&](int row, int column) {
    const int warp = (column / 64 << p.log2_slices) + (row - first) / level * part.slices;
    return reinterpret_cast<const float *>(shared + warp * Shape::kWarpBytes) + row * kPitch +
           column % 64;
  };

  if (p.c_wide) {
    const int runs = (width + kWide - 1) / kWide;
    for (int i = threadIdx.x; i < (end - first) * runs; i += Shape::kWarps * 32) {
      const int row = first + i / runs, column = i % runs * kWide;
      const float *from = images(row, column);
      float v[kWide] = {};
      for (int s = 0; s < part.slices; s++, from += Shape::kWarpBytes / 4)
#pragma unroll
        for (int k = 0; k < kWide; k += 4) {
          const float4 x = *reinterpret_cast<const float4 *>(from + k);
          v[k] += x.x, v[k + 1] += x.y, v[k + 2] += x.z, v[k + 3] += x.w;
        }
      store_run<Out>(p, alpha, beta, row0 + row, column0 + column, v);
    }
    return;
  }
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  const bool down = p.c_row_stride == 1;
  const int rows = end - first;
  for (int i = threadIdx.x; i < rows * width; i += Shape::kWarps * 32) {
    const int row = first + (down ? i % rows : i / width), column = down ? i / rows : i % width;
    const float *from = images(row, column);
    float v[1] = {};
    for (int s = 0; s < part.slices; s++, from += Shape::kWarpBytes / 4) v[0] += *from;
    store_run<Out>(p, alpha, beta, row0 + row, column0 + column, v);
  }
}

// The image of a warp: rows that are not in its list hold rubbish.
__device__ __forceinline__ void write_image(float *to, const float (&d)[4][4])
{
  constexpr int kPitch = image<64>::kPitch;
  const int lane = threadIdx.x % 32;
  to += lane % 4 * 2 * kPitch + lane / 4;
#pragma unroll
  for (int m = 0; m < 4; m++) {
    to[16 * m] = d[m][0];
    to[16 * m + kPitch] = d[m][1];
    to[16 * m + 8] = d[m][2];
    to[16 * m + 8 + kPitch] = d[m][3];
  }
}

// p.log2_slices: of the warps that a tile has.
template <class T, class Out, class Shape>
__global__ void __launch_bounds__(Shape::kWarps * 32, Shape::kBlocks)
    spmm_single_launch(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ int found[Shape::kWarps];
  const int slots = 1 << p.log2_slices, warp = threadIdx.x / 32, slot = warp & (slots - 1);
  const int column0 = blockIdx.y * (Shape::kWarps >> p.log2_slices) * 64;
  const int my_column0 = column0 + (warp >> p.log2_slices) * 64;
  wait_for_previous();
  if (p.next_waits) let_next_in();

  group_rows rows(p, blockIdx.x);
  int staged = -1;
  for (int first = 0; first < rows.present;) {
    const int level = rows.level;
    const parting part(level, slots);
    const int list = first + slot / part.slices * level, end = first + part.at_once * level;
    float d[4][4] = {};
    for (int e0 = 0; e0 < rows.longest; e0 += Shape::kChunk) {
      if (staged != e0) {
        __syncthreads();
        stage_chunk<Shape>(p, rows, e0, shared, found);
        staged = e0;
      }
      if (rows.level != level) break;
      const int count = list < rows.present ? min(Shape::kChunk, rows.length_of(list) - e0) : 0;
      if (my_column0 < p.n)
        multiply_staged<T, Shape>(p, shared, list, count, slot % part.slices, part.slices,
                                  my_column0, d);
    }
    if (rows.level != level) continue;
    write_image(reinterpret_cast<float *>(shared + warp * Shape::kWarpBytes), d);
    __syncthreads();
    store_staged<Shape, Out>(p, shared, part, level, blockIdx.x, first, min(end, rows.present),
                             column0);
    first = end;
    if (first < rows.present) __syncthreads();
  }
}

// tiles: 1, 2 or 4 of 64 columns a block, at most Shape::kWarps.
template <class T, class Out, class Shape>
inline cudaError_t launch_once(arguments p, int tiles, int compute_capability, cudaStream_t stream)
{
  constexpr auto kernel = &spmm_single_launch<T, Out, Shape>;
  if (Shape::kBytes > 48 * 1024) {
    const cudaError_t e = allow_shared<kernel>(Shape::kBytes);
    if (e != cudaSuccess) return e;
  }
  p.log2_slices = 0;
  while (tiles << (p.log2_slices + 1) <= Shape::kWarps) p.log2_slices++;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(p.groups, (p.n + tiles * 64 - 1) / (tiles * 64));
  config.blockDim = dim3(Shape::kWarps * 32);
  config.dynamicSmemBytes = Shape::kBytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = can_launch_early(compute_capability) ? 1 : 0;
  void *parameters[] = {&p};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), parameters);
}

template <class T>
inline cudaError_t launch_once_of(const arguments &p, const shunt_vector_single_launch &how,
                                  shunt_type out, int compute_capability, cudaStream_t stream)
{
  using few = once_shape<4, 2, 128, 8>;
  using some = once_shape<8, 2, 256, 4>;
  using many = once_shape<4, 3, 512, 4>;
  const int tiles = how.tiles, cc = compute_capability;
  if (out == SHUNT_F32)
    return how.chunk == few::kChunk    ? launch_once<T, float, few>(p, tiles, cc, stream)
           : how.chunk == some::kChunk ? launch_once<T, float, some>(p, tiles, cc, stream)
                                       : launch_once<T, float, many>(p, tiles, cc, stream);
  return how.chunk == few::kChunk    ? launch_once<T, T, few>(p, tiles, cc, stream)
         : how.chunk == some::kChunk ? launch_once<T, T, some>(p, tiles, cc, stream)
                                     : launch_once<T, T, many>(p, tiles, cc, stream);
}

} // namespace vector::csr
} // namespace shunt
