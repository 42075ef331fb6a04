#include "backend/graphblas/gpu/placement.h"

#include <stdint.h>
#include <string.h>

#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/rows.h"
#include "backend/options/options.h"

/* Of multiply-adds: below it a product is over before a GPU has begun. */
enum { LEAST_WORK = 4000000 };
/* Seconds: what the start of CUDA takes. */
#define START 0.4

bool grb_gpu_may_gain(const struct shunt_host_spmm *p)
{
  if (p->s.nnz < LEAST_WORK / 4096 || (double)p->s.nnz * (double)p->c.cols < LEAST_WORK)
    return false;
  /* The host writes such a C faster than the bus brings it. */
  return grb_gpu_built(p) && !grb_gpu_constant_b(p);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* What the device may take, with the other processes; one that is not open yet is taken to be like
   the first.  What they leave is known from the last product: who waited for more would never know
   that it has come.  */
static int64_t limit_of(const struct grb_gpu_devices *devices, int i)
{
  const int64_t limit = devices->count > 0 ? devices->device[i < devices->count ? i : 0].most
                                           : shunt_options()->cache_bytes;
  return limit < 0 ? INT64_MAX : limit;
}

static int64_t least_limit(const struct grb_gpu_devices *devices, int count)
{
  int64_t least = limit_of(devices, 0);
  for (int i = 0; i < count && i < devices->count; i++)
    if (devices->device[i].limit < least) least = devices->device[i].limit;
  return least;
}

/* Of a device: S, and the narrowest strips. */
static int64_t sparse_bytes(const struct shunt_host_spmm *p, int64_t entries, int64_t rows)
{
  return entries * (4 + (int64_t)shunt_type_size(p->semiring.type)) + 4 * rows;
}
static int64_t narrow_bytes(const struct shunt_host_spmm *p, int64_t rows)
{
  return 16 * (GRB_GPU_RING_B * p->s.cols + GRB_GPU_RING_C * rows);
}

static bool part_fits(const struct shunt_host_spmm *p, const struct grb_gpu_part *part,
                      int64_t limit)
{
  const int64_t entries = grb_gpu_part_entries(p, part), rows = part->row_end - part->row;
  return entries < GRB_GPU_MOST_INDEX &&
         sparse_bytes(p, entries, rows) + narrow_bytes(p, rows) <= limit;
}

static bool fits(const struct grb_gpu_view *v, const struct grb_gpu_devices *devices,
                 const struct grb_gpu_deal *deal)
{
  for (int i = 0; i < deal->devices; i++) {
    const struct grb_gpu_part part = grb_gpu_part_of(v->p, deal, 0, i);
    if (!part_fits(v->p, &part, limit_of(devices, i))) return false;
  }
  return true;
}

/* What each device may give to a part of S in turn: B stays, if that leaves half. */
static int64_t room_in_turns(const struct grb_gpu_view *v, int64_t limit, bool *b_stays)
{
  const struct shunt_host_spmm *p = v->p;
  const int64_t b = p->s.cols * p->c.cols * (int64_t)shunt_type_size(p->semiring.type);
  *b_stays = b < limit / 2 && v->b_keyed;
  return limit - (b < limit / 2 ? b : limit / 2) - limit / 8;
}

/* Rounds so many that each part has room, with some of its C; 0: there is none. */
static int rounds_in_turns(const struct grb_gpu_view *v, int64_t limit, int count, bool *b_stays)
{
  const struct shunt_host_spmm *p = v->p;
  const int64_t room = room_in_turns(v, limit, b_stays);
  const int64_t c = p->c.rows * p->c.cols * (int64_t)shunt_type_size(p->semiring.type);
  const int64_t each = sparse_bytes(p, p->s.nnz, p->s.rows) / count;
  if (16 * GRB_GPU_RING_B * p->s.cols > limit / 2 || room <= 0) return 0;
  int64_t rounds = (each + c / 2 / count) / room + 1;
  const int64_t by_index = p->s.nnz / count / (GRB_GPU_MOST_INDEX / 2) + 1;
  if (rounds < by_index) rounds = by_index;
  return rounds <= GRB_GPU_MOST_ROUNDS / 2 ? (int)rounds : 0;
}

struct grb_gpu_deal grb_gpu_turns(const struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                                  struct grb_gpu_devices *devices, int count)
{
  enum { ROUNDS_FOR_TESTS = 3 };
  bool b_stays;
  int rounds = rounds_in_turns(v, least_limit(devices, count), count, &b_stays);
  if (l->forced_way == GRB_GPU_IN_TURNS && rounds > 0 && rounds < ROUNDS_FOR_TESTS)
    rounds = ROUNDS_FOR_TESTS;
  return (struct grb_gpu_deal){GRB_GPU_IN_TURNS, count, rounds};
}

/* ---- times ----------------------------------------------------------------------------------- */

#define OUT_OF_REACH 1e30

/* S stays. */
static void estimate_resident(const struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                              const struct grb_gpu_rates *rates, struct grb_gpu_estimate *e)
{
  const int n = e->deal.devices;
  const bool rows = e->deal.way == GRB_GPU_BY_ROWS;
  int missing = 0;
  bool b_resident = true;
  if (!fits(v, devices, &e->deal)) return;
  for (int i = 0; i < n; i++) {
    const struct grb_gpu_part part = grb_gpu_part_of(v->p, &e->deal, 0, i);
    struct grb_gpu_resident_list *residents = &devices->device[i].residents;
    bool open = i < devices->count;
    if (!open || !grb_gpu_view_find_sparse(v, residents, &part)) missing++;
    if (!open || !grb_gpu_view_find_dense(v, residents, &part)) b_resident = false;
  }
  struct grb_gpu_load l = {missing, rows ? 1.0 / n : 1, 0, 0};
  e->upload = missing ? grb_gpu_upload_seconds(v->p, rates, &l) : 0;
  l = (struct grb_gpu_load){n, 0, b_resident ? 0 : rows ? 1 : 1.0 / n, 1.0 / n};
  e->stream = grb_gpu_stream_seconds(v->p, rates, &l);
}

/* It does not stay, so that bringing it is never for later. */
static void estimate_turns(const struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                           const struct grb_gpu_rates *rates, struct grb_gpu_estimate *e)
{
  const int n = e->deal.devices;
  bool b_stays;
  if (rounds_in_turns(v, limit_of(devices, 0), n, &b_stays) == 0) return;
  const int rounds = e->deal.rounds;
  const struct grb_gpu_load l = {n, 1.0 / n, b_stays ? 1 : rounds, 1.0 / n};
  e->stream = grb_gpu_upload_seconds(v->p, rates, &l) + grb_gpu_stream_seconds(v->p, rates, &l) +
              (rounds - 1) * grb_gpu_round_seconds(n);
  /* Each round looks at all of it. */
  if (v->p->s.by_column)
    e->stream += (rounds - 1) * grb_gpu_transpose_seconds(v->p->s.nnz, v->p->threads) / 4;
}

/* So many devices, or as many as there are pieces or rows for. */
static struct grb_gpu_deal deal_among(const struct grb_gpu_placement *l,
                                      const struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                                      enum grb_gpu_way way, int n)
{
  if (way == GRB_GPU_IN_TURNS) return grb_gpu_turns(l, v, devices, n);
  const int64_t most = way == GRB_GPU_BY_COLUMNS ? grb_gpu_pieces(v->p) : v->p->s.rows;
  return (struct grb_gpu_deal){way, n < most ? n : (int)most, 1};
}

/* The best for so many devices. */
static struct grb_gpu_estimate estimate(const struct grb_gpu_placement *l,
                                        const struct grb_gpu_view *v,
                                        struct grb_gpu_devices *devices, int n)
{
  struct grb_gpu_estimate best = {{GRB_GPU_BY_COLUMNS, 1, 1}, 0, OUT_OF_REACH, 0};
  for (enum grb_gpu_way way = GRB_GPU_BY_COLUMNS; way <= GRB_GPU_IN_TURNS; way++) {
    if (l->forced_way != GRB_GPU_ANY_WAY && l->forced_way != way) continue;
    if (way == GRB_GPU_IN_TURNS && best.stream < OUT_OF_REACH) continue;
    struct grb_gpu_estimate e = {deal_among(l, v, devices, way, n), 0, OUT_OF_REACH, 0};
    if (way == GRB_GPU_IN_TURNS)
      estimate_turns(v, devices, &l->rates, &e);
    else
      estimate_resident(v, devices, &l->rates, &e);
    if (e.upload + e.stream < best.upload + best.stream || way == l->forced_way) best = e;
  }
  return best;
}

static int most_devices(const struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                        const struct grb_gpu_devices *devices)
{
  const int visible = devices->visible > 0 ? devices->visible : 1;
  if (l->forced_devices > 0) return l->forced_devices < visible ? l->forced_devices : visible;
  return visible < v->threads ? visible : v->threads;
}

/* More devices cost their start, if they are not open yet, and S's way to them: once those before
   would have saved as much.  */
static void invest(const struct grb_gpu_placement *l, const struct grb_gpu_devices *devices,
                   struct grb_gpu_estimate *best, const struct grb_gpu_estimate *e)
{
  const double gain = best->stream - GRB_GPU_MARGIN * e->stream;
  const double cost = (e->deal.devices > devices->count ? START : 0) + e->upload - best->upload;
  if (gain <= 0) return;
  if (l->foregone + gain > cost) {
    *best = *e;
    best->foregone = -l->foregone;
  } else if (gain > best->foregone) {
    best->foregone = gain;
  }
}

struct grb_gpu_estimate grb_gpu_estimate(const struct grb_gpu_placement *l,
                                         const struct grb_gpu_view *v,
                                         struct grb_gpu_devices *devices)
{
  const int most = most_devices(l, v, devices);
  if (l->forced_devices > 0) return estimate(l, v, devices, most);
  struct grb_gpu_estimate best = estimate(l, v, devices, 1);
  for (int n = 2; n <= most; n++) {
    struct grb_gpu_estimate e = estimate(l, v, devices, n);
    e.foregone = best.foregone;
    /* Each has narrower parts of the rows, and all share the host's memory. */
    if (n <= devices->count && GRB_GPU_MARGIN * (e.upload + e.stream) <= best.upload + best.stream)
      best = e;
    else
      invest(l, devices, &best, &e);
  }
  return best;
}

/* ---- the host or the GPU --------------------------------------------------------------------- */

/* An upload that pays only over several products is made once those that went by without would
   have paid it.  */
static bool upload_pays_later(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                              double gain, double upload)
{
  struct grb_gpu_deferral *s = NULL;
  if (!v->s_keyed || gain <= 0) return false;
  for (unsigned i = 0; !s && i < GRB_GPU_MOST_DEFERRALS; i++)
    if (memcmp(&l->deferrals[i].key, &v->s_key, sizeof v->s_key) == 0) s = &l->deferrals[i];
  if (!s) {
    s = &l->deferrals[l->next_deferral++ % GRB_GPU_MOST_DEFERRALS];
    *s = (struct grb_gpu_deferral){v->s_key, 0};
  }
  s->gain += gain;
  return s->gain > upload;
}

bool grb_gpu_start_pays(struct grb_gpu_placement *l, double gain)
{
  return gain > 0 && (l->gain_so_far += gain) > START;
}

bool grb_gpu_worth_start(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                         struct grb_gpu_devices *devices)
{
  l->rates = grb_gpu_usual_rates();
  const struct grb_gpu_estimate e = grb_gpu_estimate(l, v, devices);
  double gain = grb_gpu_host_seconds(v->p) - GRB_GPU_MARGIN * e.stream;
  return grb_gpu_start_pays(l, gain);
}

bool grb_gpu_worth_product(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                           struct grb_gpu_devices *devices)
{
  const struct grb_gpu_estimate e = grb_gpu_estimate(l, v, devices);
  double gain = grb_gpu_host_seconds(v->p) - GRB_GPU_MARGIN * e.stream;
  return gain > GRB_GPU_MARGIN * e.upload || upload_pays_later(l, v, gain, e.upload);
}
