// bundle_spmm.cu: shunt_bundle_spmm_cuda: checks, the shape of a launch, and the way
// to the kernels of each type (bundle_spmm.cuh explains how work is cut).
//
// Workspace:  | row-major copy of B, rows padded to 16 bytes, if B is column-major |
#include "kernels/bundle/bundle_shape.h"
#include "kernels/bundle/bundle_spmm.cuh"
#include "kernels/common/dense_copy.h"
#include "kernels/common/spmm_operands.cuh"

namespace shunt
{
namespace bundle
{

static constexpr int64_t kMost = INT32_MAX - 1024; // entries, columns: positions are 32-bit
static constexpr uint32_t kMostLongSlots = 1024;

static shunt_status check(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type;
  if (t != SHUNT_F32 && t != SHUNT_F64) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || p->c.type != t || p->compute != t || p->only_if) return SHUNT_E_UNSUPPORTED;
  const shunt_status s = check_spmm_sizes(p);
  if (s != SHUNT_OK) return s;
  if (p->a.rows > INT32_MAX - 64 || p->a.nnz > kMost || p->a.cols > kMost || p->b.cols > kMost)
    return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

static bool is_of(const struct shunt_bundle *g, const struct shunt_csr &a)
{
  return g->rows == a.rows && g->cols == a.cols && g->groups == (a.rows + kGroup - 1) / kGroup &&
         g->nnz >= 0 && g->nnz <= kMost;
}

// ---- B ---------------------------------------------------------------------------------------

static bool is_row_major(const struct shunt_dense &m)
{
  return m.col_stride == 1 || m.cols == 1;
}

// Whether rows of B may be read 16 bytes at a time.  A ragged last piece must exist: in the copy it
// does, behind the last row of the caller's B it may not.
static bool reads_wide(const struct shunt_dense &b, bool is_copy)
{
  return aligned(b) && (is_copy || pieces_are_whole(b));
}

// ---- shape -----------------------------------------------------------------------------------

// Where long groups are the rule, slices by the mean length do.  (Counts of some other hint may
// name more than there can be.)
static bool long_groups_are_few(const struct shunt_bundle *g, uint32_t long_groups)
{
  return long_groups <= kMostLongSlots && long_groups <= g->groups / 4 + 1 &&
         long_groups <= g->nnz / SHUNT_BUNDLE_LONG;
}

// `columns`: of C that a lane has.
static struct shunt_bundle_shape choose_shape(const struct shunt_spmm *p,
                                              const struct shunt_bundle *g, int columns,
                                              const struct shunt_bundle_counts *known,
                                              const struct shunt_device *d)
{
  struct shunt_bundle_work w = {};
  w.groups = g->groups;
  w.vectors = known ? static_cast<int64_t>(known->vectors) : p->a.nnz / 4;
  w.n = p->b.cols, w.columns = columns, w.type = p->a.value_type;
  w.multiprocessors = d->multiprocessors;
  const struct shunt_bundle_cut cut = shunt_bundle_choose_cut(&w);
  struct shunt_bundle_shape s = {cut.lanes_log2, cut.slices_log2, 0, 0};
  // Narrow tiles: a block of 8 warps then reads 64 or 32 rows of B at a time.
  s.long_lanes_log2 = w.n > columns << 4 ? kLeastLanesLog2 + 1 : shunt_bundle_least_lanes_log2(&w);
  if (known && long_groups_are_few(g, known->long_groups)) s.long_slots = known->long_groups;
  return s;
}

static bool in_range(const struct shunt_bundle_shape *s, const struct shunt_bundle *g)
{
  return s->lanes_log2 >= kLeastLanesLog2 && s->lanes_log2 <= 5 && s->slices_log2 >= 0 &&
         s->slices_log2 <= SHUNT_BUNDLE_MOST_SLICES_LOG2 &&
         (s->long_slots == 0 || s->long_lanes_log2 >= kLeastLanesLog2) && s->long_lanes_log2 >= 0 &&
         s->long_lanes_log2 <= 5 && s->long_slots <= g->nnz / SHUNT_BUNDLE_LONG;
}

// ---- launch ----------------------------------------------------------------------------------

template <class T>
static arguments<T> make_arguments(const struct shunt_spmm *p, const struct shunt_dense &b,
                                   const struct shunt_bundle *hint)
{
  arguments<T> k = {};
  k.offsets = p->a.row_offsets;
  k.columns = p->a.columns;
  k.values = static_cast<const T *>(p->a.values);
  k.index_bytes = static_cast<uint32_t>(shunt_type_size(p->a.index_type));
  k.base = p->a.base;
  k.rows = static_cast<int>(p->a.rows);
  k.groups = static_cast<int>(hint->groups);
  k.n = static_cast<int>(b.cols);
  k.b = static_cast<const char *>(b.values);
  k.b_row_bytes = static_cast<uint32_t>(b.row_stride * static_cast<int64_t>(sizeof(T)));
  k.c = static_cast<T *>(p->c.values);
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = p->c.col_stride;
  k.c_wide = aligned(p->c);
  k.alpha = make_scalar_arg<T>(p->alpha);
  k.beta = make_scalar_arg<T>(p->beta);
  k.hint = *hint;
  return k;
}

// Columns of C that a lane has where the rows of B are these.
static int columns_of_lane(const struct shunt_dense &b, bool is_copy)
{
  return reads_wide(b, is_copy) ? 16 / static_cast<int>(shunt_type_size(b.type)) : 1;
}

} // namespace bundle
} // namespace shunt

using namespace shunt::bundle;

extern "C" size_t shunt_bundle_spmm_workspace(const struct shunt_spmm *p)
{
  return check(p) == SHUNT_OK && !is_row_major(p->b) ? shunt::aligned_copy_bytes(p->b) : 0;
}

extern "C" struct shunt_bundle_shape
shunt_bundle_spmm_shape(const struct shunt_spmm *p, const struct shunt_bundle *hint,
                        const struct shunt_bundle_counts *known, const struct shunt_device *d)
{
  const bool copy = !is_row_major(p->b);
  // A workspace is aligned; its address does not matter.
  const struct shunt_dense b = copy ? shunt::aligned_copy(p->b, NULL) : p->b;
  return choose_shape(p, hint, columns_of_lane(b, copy), known, d);
}

extern "C" shunt_status shunt_bundle_spmm_cuda(const struct shunt_spmm *p,
                                               const struct shunt_bundle *hint,
                                               const struct shunt_bundle_shape *shape,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p);
  if (s != SHUNT_OK) return s;
  if (!is_of(hint, p->a)) return SHUNT_E_ARGUMENT;
  if (!in_range(shape, hint)) return SHUNT_E_UNSUPPORTED;

  const bool copy = !is_row_major(p->b);
  if (copy && (!workspace || workspace_bytes < shunt::aligned_copy_bytes(p->b) ||
               reinterpret_cast<uintptr_t>(workspace) % 256 != 0))
    return SHUNT_E_WORKSPACE;
  const struct shunt_dense b = copy ? shunt::aligned_copy(p->b, workspace) : p->b;
  if (b.row_stride < 0 || b.row_stride > UINT32_MAX / static_cast<int64_t>(shunt_type_size(b.type)))
    return SHUNT_E_UNSUPPORTED;
  const bool wide = columns_of_lane(b, copy) > 1;
  if (copy) s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
  if (s != SHUNT_OK) return s;
  if (p->a.value_type == SHUNT_F32)
    return launch_f32(make_arguments<float>(p, b, hint), *shape, wide, d, stream);
  return launch_f64(make_arguments<double>(p, b, hint), *shape, wide, d, stream);
}
