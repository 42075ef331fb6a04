// vector_csr_spmm.cu: shunt_vector_csr_spmm_cuda: which groups of 8 rows share their
// columns (classify_groups), and the launch of the multiplication.
//
//   row_offsets, columns --> classify_groups --> levels[groups] (8, 4, 2 or 1)
//                                                     |
//   row_offsets, columns, values, B ------------> spmm_vector_kernel --> C
//
// The lists are compared once, not once for each tile of columns.  Both kernels run on
// the caller's stream in every call, so what they agree on cannot be stale; where the
// device can, the second starts while the first runs and waits for it before it stores.
//
// Small products of f16 and bf16 are one launch, whose blocks compare as they read
// (vector_csr_spmm_single_launch.cuh).
//
// Workspace:  | levels, 1 byte a group, padded to 256 | row-major copy of B, if needed |
// A copy is needed when B is column-major or its rows are not multiples of 16 bytes.
// A misaligned pointer to otherwise aligned rows needs it too, but workspace sizes
// must not depend on pointers: then the call answers SHUNT_E_WORKSPACE unless more
// than was asked for is there.
#include "kernels/common/dense_copy.h"
#include "kernels/common/spmm_operands.cuh"
#include "kernels/vector/vector_csr_spmm.cuh"
#include "kernels/vector/vector_kernels.h"

namespace shunt
{
namespace vector::csr
{

// levels[g] of group g: the largest v of 8, 4, 2, 1 such that the aligned sets of v
// rows in the group have equal lists; rows beyond the matrix do not count.  Row r is
// compared with row r & (r - 1), its number without the lowest bit:
//
//     0 <- 1    0 <- 2 <- 3    0 <- 4 <- 5,6 <- 7     difference found at row r:
//                                                     sets of more than r & -r rows
//                                                     are not equal
// Bound by reading the index array once.  Warps = 8: one group a block, for long
// rows; 1: a group a warp.
template <int Warps>
__global__ void __launch_bounds__(256) classify_groups(const matrix p, uint8_t *levels)
{
  __shared__ int found[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group = Warps == 8 ? blockIdx.x : blockIdx.x * 8 + warp;
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion(); // the multiplication may begin
#endif
  if (group >= p.groups) return;

  const int row0 = group * kGroup, present = min(kGroup, p.rows - row0);
  const int my_start = row_start(p, row0 + min(lane, present));
  int start[kGroup], length[kGroup], longest = 0, level = kGroup;
#pragma unroll
  for (int r = 0; r < kGroup; r++) {
    start[r] = __shfl_sync(0xffffffffu, my_start, r);
    length[r] = __shfl_sync(0xffffffffu, my_start, r + 1) - start[r];
    longest = max(longest, length[r]);
    if (r > 0 && r < present && length[r] != length[r & (r - 1)]) level = min(level, r & -r);
  }
  for (int e0 = (warp % Warps) * 32; e0 < longest; e0 += Warps * 32) {
    if (__any_sync(0xffffffffu, level == 1)) break;
    uint32_t column[kGroup];
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      column[r] = 0;
      if (e0 + lane < length[r])
        column[r] =
            load_index(p.columns, static_cast<int64_t>(start[r]) + e0 + lane, p.index_bytes);
    }
#pragma unroll
    for (int r = 1; r < kGroup; r++)
      if (r < present && column[r] != column[r & (r - 1)]) level = min(level, r & -r);
  }
  level = __reduce_min_sync(0xffffffffu, level);
  if (Warps == 1) {
    if (lane == 0) levels[group] = level;
    return;
  }
  if (lane == 0) found[warp] = level;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++) level = min(level, found[w]);
    levels[group] = level;
  }
}

static cudaError_t launch_classify(const matrix &p, uint8_t *levels, bool long_rows,
                                   cudaStream_t stream)
{
  const void *kernel = long_rows ? reinterpret_cast<const void *>(&classify_groups<8>)
                                 : reinterpret_cast<const void *>(&classify_groups<1>);
  void *parameters[] = {const_cast<matrix *>(&p), &levels};
  return cudaLaunchKernel(kernel, dim3(long_rows ? p.groups : (p.groups + 7) / 8), dim3(256),
                          parameters, 0, stream);
}

static size_t levels_bytes(const struct shunt_spmm *p)
{
  return (static_cast<size_t>(p->a.rows) / kGroup + 1 + 255) / 256 * 256;
}

static shunt_status check(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type;
  const shunt_type sum = t == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32 && t != SHUNT_F64)
    return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != sum)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != sum || p->only_if) return SHUNT_E_UNSUPPORTED;
  const shunt_status s = check_spmm_sizes(p);
  if (s != SHUNT_OK) return s;
  // Positions and row numbers are 32-bit in the kernels, column numbers 32-bit unsigned.
  if (p->a.rows > INT32_MAX - 64 || p->a.nnz > INT32_MAX - 1024 || p->a.cols > INT32_MAX)
    return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// How many slices, as a power of two, fill `slots` with `tasks` lists of `mean` entries.
static int slices_for(int64_t tasks, int64_t slots, int64_t mean, int most)
{
  int log2_slices = 0;
  while (log2_slices < most && (tasks << (log2_slices + 1)) <= slots &&
         mean >> (log2_slices + 1) >= 32)
    ++log2_slices;
  return log2_slices;
}

// Tile width and slices: what fills about 16 warps on each SM at least cost.  Half a
// tile costs a little more than half a tile's time (A is read for each).
static void choose_split(const struct shunt_spmm *p, const struct shunt_device *d, int64_t groups,
                         int *tile, int *log2_slices)
{
  const int64_t slots = static_cast<int64_t>(d->multiprocessors) * 16;
  const int64_t tasks128 = groups * ((p->b.cols + 127) / 128);
  const int64_t tasks64 = groups * ((p->b.cols + 63) / 64);
  const int64_t mean = p->a.nnz / p->a.rows;
  const bool half = shunt_type_size(p->a.value_type) == 2, wide = p->a.value_type == SHUNT_F32;
  const int most = half ? 2 : 4;
  const int sliced64 = slices_for(tasks64, slots, mean, most);
  const int sliced128 = wide ? slices_for(tasks128, slots, mean, most) : 0;
  // f16 compares without slices: 128 columns have none, and 64 with them are the better.
  const int64_t rounds64 = half ? (tasks64 + slots - 1) / slots * 16
                                : ((tasks64 << sliced64) + slots - 1) / slots * (16 >> sliced64);
  const int64_t rounds128 = ((tasks128 << sliced128) + slots - 1) / slots * (16 >> sliced128);

  const bool whole =
      (half && rounds128 * 20 < rounds64 * 11) || (wide && rounds128 * 7 < rounds64 * 4);
  *tile = whole ? 128 : 64;
  *log2_slices = whole ? sliced128 : sliced64;
}

template <class Sum>
static arguments_of<Sum> fill_arguments(const struct shunt_spmm *p, const struct shunt_dense *b,
                                        const uint8_t *levels, int log2_slices)
{
  arguments_of<Sum> k;
  k.row_offsets = static_cast<const char *>(p->a.row_offsets);
  k.columns = static_cast<const char *>(p->a.columns);
  k.values = static_cast<const char *>(p->a.values);
  k.index_bytes = static_cast<int>(shunt_type_size(p->a.index_type));
  k.base = p->a.base;
  k.rows = static_cast<int>(p->a.rows);
  k.groups = (k.rows + kGroup - 1) / kGroup;
  k.n = static_cast<int>(b->cols);
  k.b = static_cast<const char *>(b->values);
  k.b_row_bytes = static_cast<uint32_t>(b->row_stride * shunt_type_size(b->type));
  k.c = p->c.values;
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = p->c.col_stride;
  k.c_wide = aligned(p->c);
  k.alpha = make_scalar_arg<Sum>(p->alpha);
  k.beta = make_scalar_arg<Sum>(p->beta);
  k.levels = levels;
  k.log2_slices = log2_slices;
  k.next_waits = p->next_waits;
  return k;
}

template <class Sum, class Launch>
static shunt_status classify_and_launch(const arguments_of<Sum> &k, uint8_t *levels,
                                        const struct shunt_spmm *p, cudaStream_t stream,
                                        Launch launch)
{
  if (launch_classify(k, levels, p->a.nnz / p->a.rows >= 64, stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  return launch(k) == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace vector::csr
} // namespace shunt

using namespace shunt::vector::csr;

extern "C" size_t shunt_vector_csr_spmm_workspace(const struct shunt_spmm *p,
                                                  const struct shunt_device *d)
{
  (void)d;
  if (check(p) != SHUNT_OK) return 0;
  return levels_bytes(p) + (shunt::b_in_place(p->b) ? 0 : shunt::aligned_copy_bytes(p->b));
}

// All blocks are to run at once, 8 or 4 on a multiprocessor.  Measured: 4 warps a block and small
// chunks where lists are short or groups many, 8 warps where groups are few, which also take fewer
// tiles a block, and large chunks where long lists fill the device.
extern "C" bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p,
                                                    const struct shunt_device *d,
                                                    struct shunt_vector_single_launch *how)
{
  if (check(p) != SHUNT_OK || shunt_type_size(p->a.value_type) != 2) return false;
  const int64_t groups = (p->a.rows + kGroup - 1) / kGroup, mean = p->a.nnz / p->a.rows;
  const int64_t tiles = (p->b.cols + 63) / 64, sms = d->multiprocessors;
  if (mean > 640 || groups * mean * tiles > 4096 * sms) return false;

  const bool few = mean <= 32 || groups > 6 * sms, many = !few && mean > 110 && groups > 3 * sms;
  how->chunk = few ? 128 : many ? 512 : 256;
  how->warps = few || many ? 4 : 8;
  how->tiles = tiles >= 3 ? 4 : static_cast<int>(tiles);
  for (;; how->tiles /= 2) {
    how->blocks = static_cast<int>((tiles + how->tiles - 1) / how->tiles);
    if (how->tiles == 1 || groups * how->blocks > sms * (few || many ? 2 : 1)) break;
  }
  return groups * how->blocks <= sms * (few ? 10 : 4);
}

extern "C" shunt_status shunt_vector_csr_spmm_cuda(const struct shunt_spmm *p,
                                                   const struct shunt_device *d, void *workspace,
                                                   size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p);
  if (s != SHUNT_OK) return s;

  const bool copy = !shunt::b_in_place(p->b) || !shunt::aligned(p->b);
  const size_t needed = levels_bytes(p) + (copy ? shunt::aligned_copy_bytes(p->b) : 0);
  if (!workspace || workspace_bytes < needed || reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return SHUNT_E_WORKSPACE;

  uint8_t *levels = static_cast<uint8_t *>(workspace);
  const struct shunt_dense b = copy ? shunt::aligned_copy(p->b, levels + levels_bytes(p)) : p->b;
  if (b.row_stride * static_cast<int64_t>(shunt_type_size(b.type)) > UINT32_MAX)
    return SHUNT_E_UNSUPPORTED;
  int tile, log2_slices;
  choose_split(p, d, (p->a.rows + kGroup - 1) / kGroup, &tile, &log2_slices);

  if (copy) {
    s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
    if (s != SHUNT_OK) return s;
  }
  const shunt_type t = p->a.value_type, out = p->c.type;
  const int cc = d->compute_capability;
  if (t == SHUNT_F64)
    return classify_and_launch(
        fill_arguments<double>(p, &b, levels, log2_slices), levels, p, stream,
        [=](const arguments_of<double> &k) { return launch_f64(k, cc, stream); });
  struct shunt_vector_single_launch once;
  if (shunt_vector_csr_spmm_single_launch(p, d, &once)) {
    const arguments k = fill_arguments<float>(p, &b, levels, 0);
    const cudaError_t e = t == SHUNT_F16 ? launch_once_f16(k, once, out, cc, stream)
                                         : launch_once_bf16(k, once, out, cc, stream);
    return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
  }
  return classify_and_launch(fill_arguments<float>(p, &b, levels, log2_slices), levels, p, stream,
                             [=](const arguments &k) {
                               return t == SHUNT_F16    ? launch_f16(k, tile, out, cc, stream)
                                      : t == SHUNT_BF16 ? launch_bf16(k, tile, out, cc, stream)
                                                        : launch_f32(k, tile, cc, stream);
                             });
}
