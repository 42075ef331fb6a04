// vector_csr_sddmm.cu: SDDMM where rows come in aligned groups of 8 that share their
// columns; right for any pattern.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   p = (i, j)
//
// A group's entries are cut into tiles of 32 list positions x 8 rows
// (vector_csr_sddmm.cuh).  Each tile checks its own 256 indices as it reads them and
// is multiplied at once, or row by row if they differ; a group whose rows differ in
// length, and a last group of fewer than 8 rows, goes entry by entry.
//
// Work is cut by entries (kernels/vector/vector_sddmm_share.h): a warp owns the entries
// begin <= position < end.  A tile belongs to the warp that owns its anchor, start of the group +
// 256 * tile.
//
//   entries   |      group 0 (even)       | group 1 (uneven) |  group 2 (even)   |
//   anchors   ^     ^     ^     ^     ^                       ^     ^     ^     ^
//   warps     |------ 0 ------|------ 1 ------|------ 2 ------|------ 3 ------|--
//              tiles 0 1 2      tiles 3 4,      rest of group 1  tiles 0 1 2    3
//                               part of group 1
//
// A group of mean size is shared by `phases` warps.  A block's warps, alone on their
// multiprocessor, all take the same phase of different groups: they walk the same
// columns of B at the same time, and what two groups share is fetched from L2 once.
//
//   group  0   | warp 0 | warp 1 | warp 2 |      block 0: warps 0, 3, 6, ..
//   group  1   | warp 3 | warp 4 | warp 5 |      block 1: warps 1, 4, 7, ..
//   group  2   | warp 6 | warp 7 | warp 8 |      block 2: warps 2, 5, 8, ..
//
// Roofline: a group gathers each of its columns of B once from L2:
// nnz / 8 * K * size / 8.5 TB/s; f32 also nnz * K fused multiply-adds.
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_sddmm_operands.cuh"
#include "kernels/vector/vector_csr_sddmm.cuh"
#include "kernels/vector/vector_kernels.h"
#include "kernels/vector/vector_sddmm_share.h"

namespace shunt
{
namespace vector::sddmm
{
namespace
{

constexpr int ANCHOR = SHUNT_VECTOR_SDDMM_ANCHOR;
static_assert(ANCHOR == TILE * GROUP, "the entries of a tile");

template <class T> constexpr int warps_of = sizeof(T) == 2 ? 16 : 12; // shunt_vector_sddmm_warps

// The tiles of a group whose anchors lie in begin .. end - 1, at most SHUNT_VECTOR_SDDMM_MOST; the
// lists of the next tile are on their way while one is multiplied.  Tiles whose lists differ are put
// off to the end, where the calls that they need disturb no registers.
template <class T, class I>
__device__ __forceinline__ void even_group(const args<T, I> &p, const scale<T> &by,
                                           const group_rows<I> &rows, I begin, I end, stage &room,
                                           int lane)
{
  const I origin = rows.begin();
  const I first = (begin - origin + ANCHOR - 1) / ANCHOR;
  const I stop = min(I((rows.length + TILE - 1) / TILE), I((end - origin + ANCHOR - 1) / ANCHOR));
  const int tiles = (int)(stop - first);
  unsigned put_off = 0;
  if (tiles <= 0) return;

  tile_lists<T, I> lists, next;
  lists.load(p.c, rows, I(first * TILE), lane);
  for (int i = 0; i < tiles; i++) {
    if (i + 1 < tiles) next.load(p.c, rows, I((first + i + 1) * TILE), lane);
    if (lists.agree())
      vector_tile(p, by, rows, lists, room, lane);
    else
      put_off |= 1u << i;
    lists = next;
  }
  for (; put_off; put_off &= put_off - 1) {
    const I at = (first + __ffs(put_off) - 1) * TILE;
    for (int r = 0; r < GROUP; r++)
      one_row_of_tile(p, rows.first + r, I(rows.start_of(r) + at),
                      (int)min(I(TILE), I(rows.length - at)));
  }
}

template <class T, class I>
__global__ void __launch_bounds__(warps_of<T> *WARP, 1)
    vector_kernel(const __grid_constant__ args<T, I> p, shunt_vector_sddmm_share how)
{
  __shared__ stage room[warps_of<T>];
  const int lane = threadIdx.x % WARP, member = threadIdx.x / WARP;
  wait_for_previous();
  const int64_t warp = ((int64_t)(blockIdx.x / how.phases) * warps_of<T> + member) * how.phases +
                       blockIdx.x % how.phases;
  if (warp * how.run >= p.c.nnz) return;
  const I begin = I(warp * how.run);
  const I end = p.c.nnz - begin < how.run ? p.c.nnz : I(begin + how.run);
  const int64_t groups = (p.c.rows + GROUP - 1) / GROUP;
  const scale<T> by(p.out);

  int64_t group = find_row(p.c.offsets, 0, groups, GROUP, I(begin + p.c.base),
                           guess_row(p.c, begin) / GROUP, lane);
  for (I position = begin; position < end; group++) {
    group_rows<I> rows;
    rows.load(p.c, group, lane);
    if (rows.end() <= position) { // an empty group: look for the one that holds position
      group = find_row(p.c.offsets, group, groups, GROUP, I(position + p.c.base), group, lane);
      rows.load(p.c, group, lane);
    }
    if (rows.even)
      even_group(p, by, rows, position, end, room[member], lane);
    else
      uneven_group(p, rows.first, position, min(end, rows.end()));
    position = rows.end();
  }
}

template <class T, class I>
shunt_status launch(const struct shunt_sddmm *p, const operands &o, const struct shunt_device *d,
                    cudaStream_t stream)
{
  args<T, I> a = make_args<T, I>(p, o);
  const shunt_vector_sddmm_share how =
      shunt_vector_sddmm_share_of(p->c.rows, p->c.nnz, sizeof(T), d->multiprocessors);
  const int64_t in_phase = (int64_t)warps_of<T> * how.phases; // warps of `phases` blocks
  const int64_t warps = (p->c.nnz + how.run - 1) / how.run;
  const int64_t blocks = (warps + in_phase - 1) / in_phase * how.phases;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  return launch_early(vector_kernel<T, I>, dim3((unsigned)blocks), dim3(warps_of<T> * WARP), d,
                      stream, a, how);
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const operands &o,
                        const struct shunt_device *d, cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? launch<T, int32_t>(p, o, d, stream)
                                      : launch<T, int64_t>(p, o, d, stream);
}

} // namespace
} // namespace vector::sddmm
} // namespace shunt

extern "C" size_t shunt_vector_csr_sddmm_workspace(const struct shunt_sddmm *p,
                                                   const struct shunt_device *d)
{
  (void)d;
  return shunt::csr::sddmm::operands_bytes(p);
}

extern "C" shunt_status shunt_vector_csr_sddmm_cuda(const struct shunt_sddmm *p,
                                                    const struct shunt_device *d, void *workspace,
                                                    size_t workspace_bytes, shunt_stream stream)
{
  using namespace shunt::vector::sddmm;
  shunt_status s = check_problem(p);
  if (s != SHUNT_OK) return s;
  if (p->a.type == SHUNT_F64) return SHUNT_E_UNSUPPORTED;
  if (p->c.nnz == 0) return SHUNT_OK;
  operands o;
  s = make_operands(p, d, workspace, workspace_bytes, stream, &o);
  if (s != SHUNT_OK) return s;
  if (!o.aligned) return rows_with(p, o, {}, d, nullptr, stream);
  switch (p->a.type) {
  case SHUNT_F16: return with_index<__half>(p, o, d, stream);
  case SHUNT_BF16: return with_index<__nv_bfloat16>(p, o, d, stream);
  case SHUNT_F32: return with_index<float>(p, o, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}
