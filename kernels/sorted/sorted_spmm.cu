// sorted_spmm.cu: shunt_sorted_spmm_cuda: checks, the shape of a launch, and the way to the kernels
// of each type (sorted_spmm.cuh explains how work is cut).
#include "kernels/common/spmm_operands.cuh"
#include "kernels/csr/csr_layers.h"
#include "kernels/sorted/sorted_layers.h"
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

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

// No more than there are: counts may be an older matrix's.
int64_t rows_of(const struct shunt_sorted_counts *known, int64_t least, int64_t rows)
{
  if (least == 0) return rows;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++)
    if (shunt_sorted_least(i) == least)
      return known->at_least[i] < rows ? (int64_t)known->at_least[i] : rows;
  return -1;
}

// ---- shape -----------------------------------------------------------------------------------

// Warps of a multiprocessor, if each row has but its lanes.
static int64_t warps_of(const struct shunt_spmm *p, int V, int lanes_log2,
                        const struct shunt_device *d)
{
  const int64_t lanes = p->a.rows * slices_of(p->b.cols, V, lanes_log2) << lanes_log2;
  return lanes / 32 / d->multiprocessors;
}

// The least limit from `least` on that no more than `most` rows reach; 0: there is none.
static int first_limit(const struct shunt_sorted_counts *known, int64_t least, int64_t last,
                       int64_t most)
{
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) {
    const int64_t length = shunt_sorted_least(i);
    if (length >= least && length <= last && known->at_least[i] <= most) return (int)length;
  }
  return 0;
}

// Rows of C: groups as wide as C, 16 lanes at most; where warps are few, half of that.  Rows of B
// in flight: 8 where warps are few.
static void choose_rows(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                        const struct shunt_device *d)
{
  const int64_t n = p->b.cols;
  s->lanes_log2 = 1;
  while (s->lanes_log2 < 4 && V << s->lanes_log2 < n) s->lanes_log2++;
  const bool narrower = s->lanes_log2 == 4 && n <= V << 4 && warps_of(p, V, 4, d) < 64;
  if (narrower) s->lanes_log2 = 3;
  const int64_t mean = p->a.nnz / p->a.rows;
  const bool many = p->a.rows * slices_of(n, V, 5) >= 100 * d->multiprocessors && V < 8;
  if (many && mean >= 24 && n > V << 4) s->lanes_log2 = 5;
  s->team_log2 = s->lanes_log2 < csr::kLeastTeamLog2 ? csr::kLeastTeamLog2 : s->lanes_log2;
  const int64_t few = narrower ? 32 : s->lanes_log2 <= 2 ? 16 : 8 << s->lanes_log2;
  s->chunk = warps_of(p, V, s->lanes_log2, d) < few ? 8 : 4;
  if (many && mean >= 48 && s->lanes_log2 >= 4) s->chunk = 8;
  s->wide = s->lanes_log2 == 2 ? 32 : 64;
}

// Wide C of many rows that are neither short nor long: two words a lane, in narrow groups where rows
// are more than a few hundred a multiprocessor.
static bool choose_words(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_device *d)
{
  enum { LEAST_BYTES = 256, LEAST_MEAN = 8, MEAN_OF_LONG = 24, WARPS = 80, MANY_ROWS = 256 };
  const int64_t n = p->b.cols, rows = p->a.rows;
  const int lanes_log2 = rows >= MANY_ROWS * d->multiprocessors || n % (2 * V << 4) ? 3 : 4;
  if (n * 16 / V < LEAST_BYTES || n % (2 * V << lanes_log2) || p->a.nnz < LEAST_MEAN * rows ||
      p->a.nnz >= MEAN_OF_LONG * rows || rows * n / (2 * V) / 32 < WARPS * d->multiprocessors)
    return false;
  s->words = 2, s->chunk = 4;
  s->lanes_log2 = s->team_log2 = lanes_log2;
  s->wide = 64;
  return true;
}

// us that all rows of B take, from L2.
static double gathered_us(const struct shunt_spmm *p)
{
  return (double)p->a.nnz * (double)p->b.cols * (double)shunt_type_size(p->b.type) / 8.5e6;
}

// us that the longest rows which are not long keep a warp, at 1.15 a step of all its groups.
static double last_row_us(const struct shunt_sorted_shape *s, int64_t rows,
                          const struct shunt_sorted_counts *known)
{
  const int64_t longs = rows_of(known, s->limit, rows);
  int i = SHUNT_SORTED_COUNTS - 1;
  while (i > 0 && (shunt_sorted_least(i) >= s->limit || known->at_least[i] <= longs)) i--;
  const int64_t most = 2 * shunt_sorted_least(i), step = csr::kUnstagedChunk << (5 - s->lanes_log2);
  return 1.15 * (double)most / (double)step;
}

// C of at most 4 loads a row: A is not staged, but for 4 if a warp's row would end last.  Shares are
// such that as many warps are made as run at once, nearly.
static bool choose_unstaged(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                            const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  enum { MOST_LANES = 4, WARPS = 28 };
  const int64_t n = p->b.cols;
  if (n > MOST_LANES * V) return false;
  s->lanes_log2 = n <= V ? 0 : n <= 2 * V ? 1 : 2;
  if (s->lanes_log2 == 2 && last_row_us(s, p->a.rows, known) > gathered_us(p) + 6) return false;
  const int64_t each = p->a.nnz << s->lanes_log2, most = s->lanes_log2 == 2 ? 32 : 16;
  s->team_log2 = csr::kLeastTeamLog2, s->chunk = 4;
  s->share = s->lanes_log2 ? 8 : 4;
  // Up to the power of 2 that is nearest by its logarithm: 10 / 7 is about the root of 2.
  while (s->share < most && 7 * each > 10 * (int64_t)s->share * 32 * WARPS * d->multiprocessors)
    s->share *= 2;
  return true;
}

// Warps that take the rows of fewer than 8 entries as lists, of a multiprocessor.
static int64_t list_warps(const struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                          const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  const int64_t four = known->at_least[1], eight = known->at_least[2];
  const int64_t slices = slices_of(p->b.cols, V, s->lanes_log2);
  return (((p->a.rows - four) << s->spread) / 32 + ((four - eight) << s->spread) / 16) * slices /
         d->multiprocessors;
}

// Short rows in lists: where most rows are, and either their warps are as many as run at once, or
// what others do takes longer than the last lists.  Of fewer rows than that a team has 8 at a time,
// where most of the device has a list then.
static void choose_brief(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  const int64_t some = known->at_least[0], four = known->at_least[1], eight = known->at_least[2];
  const int64_t entries = 2 * (some - four) + 11 * (four - eight) / 2; // of short rows, about
  if (some == 0 || s->lanes_log2 < 3 || 2 * (p->a.rows - eight) < p->a.rows) return;
  s->spread = s->lanes_log2 - 3;
  const int64_t most = list_warps(s, p, V, known, d);
  const bool at_once = 5 * (p->a.rows - eight) >= 3 * p->a.rows && most >= 12 && most <= 60;
  if (!at_once) s->spread = 0;
  const int64_t warps = list_warps(s, p, V, known, d);
  const bool beside = s->lanes_log2 == 4 && warps >= 12 && 5 * entries < 2 * p->a.nnz;
  if (!at_once && !beside && warps < 26) return;
  s->chunk = 4;
  s->brief = !at_once && s->lanes_log2 == 4 && warps >= 40 ? 16 : 8;
}

// Long rows: as many as there are blocks for at once.  A row that would end last by itself has more
// blocks, by narrower slices, too.
static void choose_longs(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  enum { LONGEST = 16384 };
  const int64_t n = p->b.cols, blocks = d->multiprocessors;
  const bool alone =
      known->at_least[SHUNT_SORTED_COUNTS - 1] > 0 && p->a.nnz < 4 * LONGEST * blocks;
  s->long_lanes_log2 = n <= V << 1 ? 1 : n <= V << 2 ? 2 : 3;
  if (alone) s->long_lanes_log2 = n <= V << 5 ? 1 : 2;
  s->limit = first_limit(known, alone ? 512 : n <= V << 1 ? 256 : 128, 1024, 3 * blocks / 2);
  if (!s->limit) s->limit = 1024;
  s->huge = first_limit(known, 2048, 4096, blocks / 4);
  s->cluster = alone ? 8 : 4;
}

// The place of a length among the counts; behind all of them for 0.
static int count_of(int64_t length)
{
  int i = 0;
  while (i < SHUNT_SORTED_COUNTS && shunt_sorted_least(i) != length) i++;
  return i;
}

// Of a layer, by lines (sorted_layers.h).
static bool choose_layer(struct shunt_sorted_shape *s, const struct shunt_spmm *p,
                         const struct shunt_sorted_counts *known)
{
  struct shunt_sorted_layer m = {};
  m.rows = p->a.rows, m.nonzeros = p->a.nnz, m.n = p->b.cols;
  m.size = (int64_t)shunt_type_size(p->b.type);
  m.huge = count_of(s->huge), m.cluster = s->cluster;
  if (!shunt_sorted_layer_has_lines(&m, known)) return false;
  shunt_sorted_layer_count(&m, known);
  const shunt_sorted_layer_cut cut = shunt_sorted_choose_layer_cut(&m);
  s->chunk = 8;
  s->lanes_log2 = cut.lanes_log2;
  s->team_log2 = shunt_sorted_layer_team_log2(cut.lanes_log2);
  s->long_lanes_log2 = cut.long_lanes_log2;
  s->limit = (int)shunt_sorted_least(cut.limit);
  s->wide = (int)shunt_sorted_least(SHUNT_SORTED_LAYER_WIDE);
  return true;
}

// Of another layer, whose rows are few and long: more rows have blocks, as many as run at once, while
// the last of the others would take a warp far longer than gathering all.
static void choose_more_longs(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                              const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  enum { LEAST = 128 };
  const int64_t slices = slices_of(p->b.cols, V, s->long_lanes_log2);
  const int64_t most = (int64_t)csr::kBlocksPerSm * d->multiprocessors / slices;
  while (s->limit > LEAST && rows_of(known, s->limit / 2, p->a.rows) <= most &&
         last_row_us(s, p->a.rows, known) > 4 * gathered_us(p) + 4)
    s->limit /= 2;
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

extern "C" struct shunt_sorted_shape
shunt_sorted_spmm_shape(const struct shunt_spmm *p, const struct shunt_sorted_counts *known,
                        const struct shunt_device *d)
{
  const int V = 16 / (int)shunt_type_size(p->b.type);
  struct shunt_sorted_shape s = {};
  s.words = 1;
  choose_longs(&s, p, V, known, d);
  const bool layer = shunt_csr_is_layer(&p->a), words = choose_words(&s, p, V, d);
  if (!words && layer && choose_layer(&s, p, known)) return s;
  if (!words && !choose_unstaged(&s, p, V, known, d)) {
    choose_rows(&s, p, V, d);
    choose_brief(&s, p, V, known, d);
  }
  if (layer) choose_more_longs(&s, p, V, known, d);
  return s;
}

// Rows that a limit of the shape sets apart.
static int64_t first_rows(const struct shunt_sorted_counts *known, int limit, int64_t rows)
{
  return limit ? rows_of(known, limit, rows) : 0;
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
