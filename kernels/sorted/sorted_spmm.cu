// sorted_spmm.cu: shunt_sorted_spmm_cuda: checks, and the way to the kernels of each type
// (sorted_spmm.cuh explains how work is cut, sorted_shape.c chooses).
#include "kernels/common/spmm_operands.cuh"
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

static_assert(SHUNT_SORTED_LEAST_TEAM_LOG2 == csr::kLeastTeamLog2 &&
                  SHUNT_SORTED_UNSTAGED_CHUNK == csr::kUnstagedChunk,
              "the walks are the split kernel's");

static bool has_types(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type, out = p->c.type;
  if (p->b.type != t) return false;
  if (t == SHUNT_F16 || t == SHUNT_BF16)
    return (out == t || out == SHUNT_F32) && p->compute == SHUNT_F32;
  return (t == SHUNT_F32 || t == SHUNT_F64) && out == t && p->compute == t;
}

static bool has_sizes(const struct shunt_spmm *p)
{
  const int64_t most = csr::kMostNonzeros;
  const int64_t row_bytes = p->b.row_stride * (int64_t)shunt_type_size(p->b.type);
  return p->a.rows < most && p->a.nnz < most && p->a.cols <= UINT32_MAX && p->b.cols <= 65535 &&
         (!b_in_place(p->b) || (row_bytes >= 0 && row_bytes <= UINT32_MAX));
}

static bool is_power(int x, int least, int most)
{
  return x >= least && x <= most && (x & (x - 1)) == 0;
}

static bool staged_in_range(const struct shunt_sorted_shape *s)
{
  return (s->chunk == 4 || s->chunk == 8) && s->lanes_log2 >= 1 && s->lanes_log2 <= 5 &&
         s->team_log2 >= csr::kLeastTeamLog2 && s->team_log2 >= s->lanes_log2 &&
         s->team_log2 <= 5 &&
         (s->brief == 0 ||
          (is_power(s->brief, 4, 16) && s->chunk == 4 && s->lanes_log2 >= csr::kLeastTeamLog2 &&
           s->spread >= 0 && s->brief << s->spread <= 4 << s->lanes_log2));
}

// Two words a lane, of `columns` of C.
static bool words_in_range(const struct shunt_sorted_shape *s, int64_t columns, int V)
{
  if (s->words == 1) return true;
  return s->words == 2 && s->chunk == 4 && !s->brief && !s->share &&
         columns % (2 * V << s->lanes_log2) == 0;
}

static bool in_range(const struct shunt_sorted_shape *s)
{
  const bool others = s->share == 0
                          ? staged_in_range(s)
                          : is_power(s->share, 4, 64) && s->lanes_log2 >= 0 && s->lanes_log2 <= 5;
  return others && s->long_lanes_log2 >= 1 && s->long_lanes_log2 <= 5 && is_power(s->cluster, 1, 8);
}

} // namespace sorted
} // namespace shunt

using namespace shunt::sorted;

extern "C" bool shunt_sorted_spmm_fits(const struct shunt_spmm *p)
{
  return has_types(p) && !p->only_if && has_sizes(p) && shunt::pieces_are_whole(p->b) &&
         (!shunt::b_in_place(p->b) || shunt::aligned(p->b));
}

extern "C" size_t shunt_sorted_spmm_workspace(const struct shunt_spmm *p)
{
  return shunt::b_in_place(p->b) ? 0 : shunt::aligned_copy_bytes(p->b);
}

// Rows that a limit of the shape sets apart.
static int64_t first_rows(const struct shunt_sorted_counts *known, int limit, int64_t rows)
{
  return limit ? shunt_sorted_rows_of(known, limit, rows) : 0;
}

static shunt_status launch_typed(const launch_plan &l)
{
  switch (l.p->a.value_type) {
  case SHUNT_F16: return launch_f16(l);
  case SHUNT_BF16: return launch_bf16(l);
  case SHUNT_F32: return launch_f32(l);
  default: return launch_f64(l);
  }
}

extern "C" shunt_status shunt_sorted_spmm_cuda(const struct shunt_spmm *p,
                                               const struct shunt_sorted *v,
                                               const struct shunt_sorted_counts *known,
                                               const struct shunt_sorted_shape *shape,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream)
{
  const int V = 16 / (int)shunt_type_size(p->b.type);
  if (!shunt_sorted_spmm_fits(p) || !in_range(shape) || !words_in_range(shape, p->b.cols, V))
    return SHUNT_E_UNSUPPORTED;
  shunt_status s = shunt::check_spmm_sizes(p);
  if (s != SHUNT_OK) return s;
  if (v->rows != p->a.rows) return SHUNT_E_ARGUMENT;

  struct shunt_spmm q = *p;
  struct shunt_sorted_shape of = *shape;
  if (!shunt::can_launch_early(d->compute_capability)) of.huge = 0, of.cluster = 1;
  const int64_t longs = first_rows(known, of.limit, v->rows),
                huge = first_rows(known, of.huge, v->rows),
                wide = first_rows(known, of.wide, v->rows);
  if (longs < 0 || huge < 0 || wide < 0) return SHUNT_E_UNSUPPORTED;
  launch_plan l = {&q, v, known, &of, (int)longs, 0, 0, d, stream};
  l.huge = (int)(huge < longs ? huge : longs);
  l.wide = (int)(wide > longs ? wide - longs : 0);
  if (l.huge == 0) of.cluster = 1;

  s = shunt::place_b(p->b, workspace, workspace_bytes, &q.b);
  if (s == SHUNT_OK) s = shunt::copy_b(p->b, q.b, d, stream);
  return s == SHUNT_OK ? launch_typed(l) : s;
}
