// bundle_spmm.cuh: the kernel that multiplies 8 rows of A at once, by the merged list of
// their columns (kernels/bundle/bundle_format.h), so that each row of B is loaded once for all of
// them.
//
//   C[m x n] = alpha A[m x k] B[k x n] + beta C,   A in CSR, read in place
//
//                            columns of C
//                           | tile | tile |       block    8 or 4 warps: warps / slices groups
//     group 0  slice 0, 1   |  ww  |      |       warp     group x slice x tile
//     group 1               |  ww  |      |       tile     V << lanes_log2 columns
//
//   grid.x   | long blocks: slots x tiles | groups of tile 0 | groups of tile 1 | ..
//
//   shared   | warp 0: values, columns, found of A | ring of B | warp 1: .. |    later: images
//
// Long groups (more than SHUNT_BUNDLE_LONG vectors) come first, a block of 8 warps each, with
// narrow tiles: more of their vectors are then in flight at once, which is what bounds them.  A
// group's slices leave their sums in shared memory and are added in order, so the bits never vary.
// Where one slice of a group is not as hinted, its warps share the rows.
//
// What comes from memory goes to shared memory by cp.async, so registers hold sums only and 24
// warps find room on a multiprocessor (16 with 4 tiles of mma), each with 2 KiB of B under way (4
// KiB) while it multiplies as much:
//
//     bytes a warp      A      ring    in all    warps, KiB of a multiprocessor
//     f32             3328     4096      7424    24, 174
//     f64, 1, 2 tiles 5376     4096      9472    24, 222
//     f64, 4 tiles    5376     8192     13568    16, 212
//
// Roofline, for v vectors in all, n columns of size s, e entries and m rows:
//
//     B       v n s bytes from L2 at 8.5 TB/s, less what neighbouring groups share through L1
//     A       e (4 + s) + 5 v bytes; tiles after the first have them from L2
//     C       m n s bytes, written once
//     FMA     fp32: 8 v n at 32 T/s, half of B's time; fp64: v n / 128 mma of 29 turns a scheduler,
//             a quarter of it
//     issue   warp instructions: 227 a chunk of 32 vectors to stage A; 186 for every 2 KiB of B
//             (fp32), 70 for every 2 KiB or 79 for every 4 KiB (fp64); some 330 a warp at its two
//             ends
//
// So fp64 is bound by the gather; fp32 by issue, and for narrow C (n <= 32) by staging A.
#pragma once
#include "kernels/bundle/bundle_kernels.h"
#include "kernels/bundle/bundle_spmm_fma.cuh"
#include "kernels/bundle/bundle_spmm_mma.cuh"
#include "kernels/common/early_launch.cuh"

namespace shunt
{
namespace bundle
{

// What falls to a warp.
struct task {
  int group; // -1: nothing
  int slices_log2;
  bool if_short; // the group is another block's if it is long

  __device__ __forceinline__ int slice() const
  {
    return static_cast<int>(threadIdx.x / 32) & ((1 << slices_log2) - 1);
  }
  __device__ __forceinline__ bool is_last() const { return slice() + 1 == 1 << slices_log2; }
};

// What there is to know of a group before its list is read: loaded at once.
struct group_head {
  int my_begin; // row_begin_of_lane
  uint32_t list, count;
};

// Which slice of the group's list; the cuts are multiples of 8 vectors.
template <class T>
__device__ __forceinline__ list_slice slice_list(const arguments<T> &a, const task &t,
                                                 const group_head &g)
{
  constexpr uint32_t kCut = 8;
  const int begin = __shfl_sync(kAll, g.my_begin, 0), end = __shfl_sync(kAll, g.my_begin, kGroup);
  const uint32_t cuts = (g.count + kCut - 1) / kCut; // below 2^28
  list_slice w;
  w.list = g.list;
  w.at = g.list + min(g.count, (cuts * t.slice() >> t.slices_log2) * kCut);
  w.end = g.list + min(g.count, (cuts * (t.slice() + 1) >> t.slices_log2) * kCut);
  w.sound = g.count <= static_cast<uint32_t>(end - begin) && g.list <= a.hint.nnz &&
            g.count <= a.hint.nnz - g.list;
  return w;
}

// ---- the image: a group's sums of one tile in shared memory, a part of it for each slice --------

// Elements from one row of the image to the next: rows stand on different banks.
template <class T, int V> __host__ __device__ inline int image_pitch(int lanes_log2)
{
  return (V << lanes_log2) + 16 / static_cast<int>(sizeof(T));
}
template <class T, int V> inline int image_bytes(int lanes_log2)
{
  return kGroup * image_pitch<T, V>(lanes_log2) * static_cast<int>(sizeof(T));
}
// Adds the images of all slices, in order, and stores this slice's share of C.
template <class T, int V>
__device__ __forceinline__ void store_images(const arguments<T> &a, const lane_place<T, V> &l,
                                             const task &t, const unsigned char *images)
{
  const int slices = 1 << t.slices_log2, start = t.slice() * 32 + threadIdx.x % 32;
  const int pitch = image_pitch<T, V>(l.lanes_log2), runs = 1 << l.lanes_log2;
  const int row0 = t.group * kGroup, column0 = l.tile_column;
  const T alpha = a.alpha.get(), beta = a.beta.get();
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  for (int i = start; i < kGroup * runs; i += slices * 32) {
    const bool down = a.c_row_stride == 1;
    const int row = down ? i % kGroup : i / runs, column = (down ? i / kGroup : i % runs) * V;
    T sum[V] = {};
    for (int s = 0; s < slices; s++) {
      const vec<T, V> x = *reinterpret_cast<const vec<T, V> *>(
          reinterpret_cast<const T *>(images + s * a.warp_bytes) + row * pitch + column);
#pragma unroll
      for (int k = 0; k < V; k++) sum[k] += x.at[k];
    }
    if (row0 + row < a.rows && column0 + column < a.n)
      store_run<T, V>(a, alpha, beta, row0 + row, column0 + column, sum);
  }
}

// ---- the kernel ------------------------------------------------------------------------------

// The warp's task; the same number of slices in all warps of a block.  The tile and the lanes of
// a row of B come with it.
template <class T>
__device__ __forceinline__ task find_task(const arguments<T> &a, uint32_t long_groups,
                                          uint32_t &tile, int &lanes_log2)
{
  // If the hint has more long groups than slots, all groups are taken alike.
  const bool apart = long_groups > 0 && long_groups <= a.long_slots;
  uint32_t block = blockIdx.x;
  task t = {-1, kMostWarpsLog2, false};

  if (block < a.long_slots * a.long_tiles) {
    const uint32_t slot = block / a.long_tiles;
    tile = block % a.long_tiles;
    lanes_log2 = a.long_lanes_log2;
    if (apart && slot < long_groups) t.group = static_cast<int>(__ldg(a.hint.long_list + slot));
    return t;
  }
  block -= a.long_slots * a.long_tiles;
  tile = block / a.group_blocks;
  lanes_log2 = a.lanes_log2;
  t.slices_log2 = a.slices_log2;
  t.if_short = apart;
  const uint32_t group = (block % a.group_blocks << (a.warps_log2 - a.slices_log2)) +
                         (threadIdx.x / 32 >> a.slices_log2);
  if (group < static_cast<uint32_t>(a.groups)) t.group = static_cast<int>(group);
  return t;
}

// Whether sums go from registers to C.
template <class T> __device__ __forceinline__ bool is_direct(const arguments<T> &a, const task &t)
{
  return t.slices_log2 == 0 && a.c_wide;
}

// Whether what falls to the warp is as hinted; then its sums stand in C (is_direct) or in its
// image.
template <class Sums, class T, int V>
__device__ __forceinline__ bool multiply_group(const arguments<T> &a, const lane_place<T, V> &l,
                                               const task &t, const list_slice &list, int my_begin,
                                               unsigned char *mine)
{
  Sums sums(a, l, mine + sizeof(staging<T>));
  walker<T, Sums> w(a, *reinterpret_cast<staging<T> *>(mine), sums, my_begin);
  bool as_hinted = w.walk(list) && (!t.is_last() || w.ends_as_rows_do());
  if (!as_hinted && a.hint.stale && threadIdx.x % 32 == 0 && __ldg(a.hint.count + t.group) > 0)
    *a.hint.stale = 1;
  sums.finish();
  as_hinted = as_hinted && !sums.has_nan(a);
  __syncwarp(); // what was staged has been read
  if (as_hinted && is_direct(a, t))
    sums.store(a, t.group);
  else if (as_hinted)
    sums.write_image(reinterpret_cast<T *>(mine), image_pitch<T, V>(l.lanes_log2));
  return as_hinted;
}

// Which sums.  Mma: 0: by FMA; else f64 by mma, so many tiles of 16 columns, lanes_log2 = 3, 4, 5
// being 1, 2, 4 of them.  Long groups have one.
template <class T, int V, int Mma> struct sums_of {
  using sums = mma_sums<Mma>;
};
template <class T, int V> struct sums_of<T, V, 0> {
  using sums = fma_sums<T, V, kEach>;
};
// Where the fewest lanes share a row of B.
template <class T, int V, int Mma> struct least_sums_of {
  static constexpr int kLanesLog2 = kMmaLanesLog2;
  using sums = mma_sums<1>;
};
template <class T, int V> struct least_sums_of<T, V, 0> {
  static constexpr int kLanesLog2 = kLeastLanesLog2;
  using sums = fma_sums<T, V, kEach / 2>;
};

template <class T, int V, int Mma>
__global__ void __launch_bounds__(32 << kMostWarpsLog2,
                                  SHUNT_BUNDLE_WARPS_AT_ONCE(Mma) >> kMostWarpsLog2)
    spmm_bundle(const __grid_constant__ arguments<T> a)
{
  using least = least_sums_of<T, V, Mma>;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int good[1 << kMostWarpsLog2];
  const int warp = threadIdx.x / 32;
  wait_for_previous();
  const uint32_t long_groups = a.long_slots > 0 ? __ldg(&a.hint.counts->long_groups) : 0;
  uint32_t tile;
  int lanes_log2;
  task t = find_task(a, long_groups, tile, lanes_log2);
  const lane_place<T, V> l(a, tile, lanes_log2);
  int at = warp * a.warp_bytes;
  asm("" : "+r"(at)); // else it is multiplied again for every address
  unsigned char *mine = shared + at;
  bool as_hinted = false;

  if (t.group >= 0) {
    const group_head g = {row_begin_of_lane(a, t.group), __ldg(a.hint.begin + t.group),
                          __ldg(a.hint.count + t.group)};
    const list_slice list = slice_list(a, t, g);
    asm("" : "+r"(t.slices_log2)); // else what follows from it is kept from here on
    if (t.if_short && g.count > SHUNT_BUNDLE_LONG)
      t.group = -1;
    else if (lanes_log2 == least::kLanesLog2)
      as_hinted = multiply_group<typename least::sums>(a, l, t, list, g.my_begin, mine);
    else
      as_hinted =
          multiply_group<typename sums_of<T, V, Mma>::sums>(a, l, t, list, g.my_begin, mine);
  }
  const int first_warp = warp - t.slice();
  if (t.slices_log2 > 0) {
    if (threadIdx.x % 32 == 0) good[warp] = as_hinted;
    __syncthreads();
    for (int s = 0; s < 1 << t.slices_log2; s++) as_hinted = as_hinted && good[first_warp + s];
  } else {
    __syncwarp();
  }
  if (t.group < 0 || (as_hinted && is_direct(a, t))) return;
  if (as_hinted) {
    store_images(a, l, t, shared + first_warp * a.warp_bytes);
    return;
  }
  const int end = min(a.rows, (t.group + 1) * kGroup);
  for (int row = t.group * kGroup + t.slice(); row < end; row += 1 << t.slices_log2)
    multiply_row<T, V>(a, l, row);
}

// Bytes of shared memory of a warp: what it stages, and later its image where it leaves one.
template <class T, int V, int Mma>
inline int warp_bytes(const arguments<T> &a, const shunt_bundle_shape &s)
{
  int bytes = static_cast<int>(sizeof(staging<T>)) + sums_of<T, V, Mma>::sums::kRing;
  if ((s.slices_log2 > 0 || !a.c_wide) && image_bytes<T, V>(s.lanes_log2) > bytes)
    bytes = image_bytes<T, V>(s.lanes_log2);
  if (s.long_slots > 0 && image_bytes<T, V>(s.long_lanes_log2) > bytes)
    bytes = image_bytes<T, V>(s.long_lanes_log2);
  return bytes;
}

// Blocks of a launch, or 0: more than a grid takes.
template <class T, int V> inline uint32_t cut_grid(arguments<T> &a, const shunt_bundle_shape &s)
{
  const int64_t tile = V << s.lanes_log2, long_tile = V << s.long_lanes_log2;
  const int64_t tiles = (a.n + tile - 1) / tile, long_tiles = (a.n + long_tile - 1) / long_tile;

  a.warps_log2 = kWarpsLog2<T>;
  if (s.slices_log2 > a.warps_log2) a.warps_log2 = s.slices_log2;
  if (s.long_slots > 0) a.warps_log2 = kMostWarpsLog2;
  const int64_t each = 1 << (a.warps_log2 - s.slices_log2);
  const int64_t group_blocks = (a.groups + each - 1) / each;
  const int64_t blocks = s.long_slots * long_tiles + group_blocks * tiles;

  a.lanes_log2 = s.lanes_log2, a.slices_log2 = s.slices_log2;
  a.long_lanes_log2 = s.long_lanes_log2;
  a.long_slots = s.long_slots;
  a.long_tiles = static_cast<uint32_t>(long_tiles);
  a.group_blocks = static_cast<uint32_t>(group_blocks);
  return blocks <= INT32_MAX ? static_cast<uint32_t>(blocks) : 0;
}

template <class T, int V, int Mma>
inline shunt_status launch(arguments<T> a, const shunt_bundle_shape &s,
                           const struct shunt_device *d, cudaStream_t stream)
{
  const auto kernel = &spmm_bundle<T, V, Mma>;
  const uint32_t blocks = cut_grid<T, V>(a, s);
  if (blocks == 0) return SHUNT_E_UNSUPPORTED;
  a.warp_bytes = warp_bytes<T, V, Mma>(a, s);
  const int shared = a.warp_bytes << a.warps_log2;
  // Kept by the context, which the program may destroy: so asked for each time.
  if (shared > 48 * 1024 &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) !=
          cudaSuccess)
    return SHUNT_E_CUDA;
  return launch_early_with(shared, kernel, dim3(blocks), dim3(32 << a.warps_log2), d, stream, a);
}

// One file per type; `wide`: 16 bytes of B at once.
shunt_status launch_f32(const arguments<float> &a, const shunt_bundle_shape &s, bool wide,
                        const struct shunt_device *d, cudaStream_t stream);
shunt_status launch_f64(const arguments<double> &a, const shunt_bundle_shape &s, bool wide,
                        const struct shunt_device *d, cudaStream_t stream);

} // namespace bundle
} // namespace shunt
