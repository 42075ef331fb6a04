#include "backend/graphblas/gpu/gpu_product.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/pins.h"
#include "backend/graphblas/gpu/pipeline/host_fallback.h"
#include "backend/graphblas/gpu/proof.h"

/* ---- C in host memory ------------------------------------------------------------------------ */

/* Rows of S without entries have no elements in C. */
static void mark_present(const struct shunt_host_spmm *p, const int32_t *empty, int64_t count,
                         int threads)
{
  const struct shunt_full *c = &p->c;
  bool by_row = c->col_stride == 1;
  int64_t lines = by_row ? c->rows : c->cols, length = by_row ? c->cols : c->rows;
  int64_t stride = by_row ? c->row_stride : c->col_stride;
  if (!c->present) return;
#pragma omp parallel for num_threads(threads)
  for (int64_t l = 0; l < lines; l++) memset(c->present + l * stride, 1, (size_t)length);
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < c->cols; j++)
      c->present[empty[i] * c->row_stride + j * c->col_stride] = 0;
}

struct work {
  struct grb_gpu_view *view;
  struct grb_gpu_devices *devices;
  pthread_mutex_t *residents_lock;
  struct grb_gpu_counts *counts;
  struct grb_gpu_deal deal;
  struct grb_gpu_run *run;   /* of this round, one a device */
  struct grb_gpu_rows *rows; /* of this round's parts; of columns only the first, for all */
  struct grb_gpu_pages pages;
  bool committed; /* pieces of C += were written in rounds before */
};

/* Which of the rows are those of run i. */
static struct grb_gpu_rows *rows_of(const struct work *w, int i)
{
  return &w->rows[w->deal.way == GRB_GPU_BY_COLUMNS ? 0 : i];
}

static bool is_empty(const struct grb_gpu_run *run)
{
  return run->part.row == run->part.row_end;
}

/* ---- pins ------------------------------------------------------------------------------------ */

/* A strip that is a whole array, by row, is in the order in which it is sent. */
static bool one_piece(const struct grb_gpu_cut *cut, const struct shunt_full *m, bool turned)
{
  return cut->strips == 1 && cut->width == m->cols && !turned && m->row_stride == m->cols;
}

static char *take_pin(const struct work *w, const void *handle, const struct shunt_full *m)
{
  const int64_t bytes = m->rows * m->cols * (int64_t)shunt_type_size(w->view->p->semiring.type);
  if (!handle || bytes < GRB_GPU_LEAST_PIN || bytes > grb_gpu_proof_most_bytes() ||
      !grb_gpu_pins_take(&w->devices->device[0], handle, m->values, bytes))
    return NULL;
  return m->values;
}

/* Between the cut and the list of tasks. */
static void take_pins(struct work *w, struct grb_gpu_run *run)
{
  const struct grb_gpu_view *v = w->view;
  const struct grb_gpu_cut *cut = &run->cut;
  /* C's pieces go through slots anyway, and a B that does not would keep the bus from them. */
  if (v->p->accumulate || !grb_gpu_part_has_all_rows(v->p, &run->part)) return;
  if (cut->b == GRB_GPU_B_HOST && one_piece(cut, &v->p->b, cut->b_turned))
    run->b_pinned = take_pin(w, v->b_own, &v->p->b);
  if (one_piece(cut, &v->p->c, cut->c_turned)) run->c_pinned = take_pin(w, v->c_own, &v->p->c);
  grb_gpu_proof_begin(run, w->devices->lane[0] + GRB_GPU_SLOTS * (int64_t)GRB_GPU_SLOT_BYTES);
}

static void give_pins_back(const struct grb_gpu_view *v, struct grb_gpu_run *run)
{
  if (run->b_pinned) grb_gpu_pins_give_back(v->b_own);
  if (run->c_pinned) grb_gpu_pins_give_back(v->c_own);
}

/* ---- a round --------------------------------------------------------------------------------- */

static shunt_status find(struct work *w, int round)
{
  struct grb_gpu_view *v = w->view;
  CUcontext before;
  for (int i = 0; i < w->deal.devices; i++) {
    struct grb_gpu_run *run = &w->run[i];
    run->device = &w->devices->device[i];
    run->pages = &w->pages;
    run->whole = v->p;
    run->part = grb_gpu_part_of(v->p, &w->deal, round, i);
    run->s_stays = w->deal.way != GRB_GPU_IN_TURNS;
  }
  for (int i = 0; i < w->deal.devices; i++) {
    struct grb_gpu_run *run = &w->run[i];
    shunt_status s = grb_gpu_enter(run->device, &before);
    if (s != SHUNT_OK) return s;
    pthread_mutex_lock(w->residents_lock);
    grb_gpu_shard_find(run, v);
    pthread_mutex_unlock(w->residents_lock);
    grb_gpu_leave(before);
  }
  return SHUNT_OK;
}

/* What is not resident. */
static shunt_status make_rows(struct work *w)
{
  const struct shunt_host_spmm *p = w->view->p;
  shunt_status s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < w->deal.devices; i++) {
    const struct grb_gpu_run *run = &w->run[i];
    struct grb_gpu_rows *rows = rows_of(w, i);
    if (run->kept_s || rows->s || is_empty(run)) continue;
    const struct grb_gpu_rows_wish wish = {.row = run->part.row,
                                           .row_end = run->part.row_end,
                                           .size = shunt_type_size(p->semiring.type),
                                           .values = !grb_gpu_ones(p),
                                           .needs = w->deal.way != GRB_GPU_IN_TURNS};
    s = grb_gpu_rows_make(rows, &p->s, &wish, w->view->threads);
  }
  return s;
}

static int64_t empty_rows(const struct work *w, int i, const int32_t **empty)
{
  const struct grb_gpu_rows *rows = rows_of(w, i);
  *empty = rows->s ? rows->empty : w->run[i].kept_s->empty;
  return rows->s ? rows->empty_count : w->run[i].kept_s->empty_count;
}

static shunt_status make_shard(struct work *w, int i)
{
  struct grb_gpu_run *run = &w->run[i];
  CUcontext before;
  const int32_t *empty;
  const bool full_c = empty_rows(w, i, &empty) == 0 || !w->view->p->c.present;
  shunt_status s = grb_gpu_enter(run->device, &before);
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(w->residents_lock);
  s = grb_gpu_shard_make(run, w->view, rows_of(w, i), full_c);
  pthread_mutex_unlock(w->residents_lock);
  run->made = s == SHUNT_OK;
  if (run->made) take_pins(w, run);
  if (run->made) s = grb_gpu_run_make(run);
  grb_gpu_leave(before);
  return s;
}

static shunt_status prepare(struct work *w, int round)
{
  shunt_status s = find(w, round);
  if (s == SHUNT_OK) s = make_rows(w);
  for (int i = 0; s == SHUNT_OK && i < w->deal.devices; i++)
    if (!is_empty(&w->run[i])) s = make_shard(w, i);
  return s;
}

/* More wait for the driver's locks: of an H200 32 threads copied 2 GB each way in 68 ms, 16 in 49.
 */
enum { THREADS_PER_DEVICE = 16 };

/* Is there nothing for threads to copy? */
static bool nothing_to_copy(const struct work *w)
{
  const struct grb_gpu_run *r = &w->run[0];
  return w->deal.devices == 1 && !r->rows && r->c_pinned &&
         (r->b_pinned || r->cut.b != GRB_GPU_B_HOST);
}

static void run_all(struct work *w)
{
  int threads = w->view->threads < w->devices->lanes ? w->view->threads : w->devices->lanes;
  const int count = w->deal.devices;
  if (threads > THREADS_PER_DEVICE * count) threads = THREADS_PER_DEVICE * count;
  if (nothing_to_copy(w)) threads = 1;
#pragma omp parallel num_threads(threads)
  {
#ifdef _OPENMP
    int number = omp_get_thread_num(), present = omp_get_num_threads();
#else
    int number = 0, present = 1;
#endif
    for (int i = number % count; i < count; i += present)
      if (w->run[i].made)
        grb_gpu_run_work(&w->run[i], number, w->devices->lane[number], number / count % 2);
  }
}

/* A shard that failed after pieces of C += were written can't be taken back: the host does what
   is missing of all shards, and of all rounds after this one.  */
static shunt_status settle(struct work *w, int round, shunt_status s)
{
  if (!w->view->p->accumulate) return s;
  for (int i = 0; i < w->deal.devices; i++)
    w->committed |= w->run[i].made && grb_gpu_run_committed(&w->run[i]);
  if (s == SHUNT_OK || !w->committed) return s;
  for (int i = 0; i < w->deal.devices; i++) grb_gpu_run_add_missing(&w->run[i]);
  for (int later = round + 1; later < w->deal.rounds; later++)
    for (int i = 0; i < w->deal.devices; i++) {
      const struct grb_gpu_part part = grb_gpu_part_of(w->view->p, &w->deal, later, i);
      grb_gpu_part_add(w->view->p, &part);
    }
  w->counts->finished_on_host++;
  return SHUNT_OK;
}

static void count_shard(const struct work *w, const struct grb_gpu_run *run)
{
  struct grb_gpu_counts *counts = w->counts;
  counts->bytes_up += run->bytes_up;
  counts->bytes_down += run->bytes_down;
  counts->sparse_uploads += !run->kept_s;
  counts->dense_uploads += run->cut.b == GRB_GPU_B_HOST;
  counts->dense_reuses += run->cut.b == GRB_GPU_B_RESIDENT;
  counts->row_parts += w->deal.way != GRB_GPU_BY_COLUMNS;
}

/* A device that can't be entered any more keeps nothing new, but what the host holds of its shard
   goes all the same.  */
static void clean_up(struct work *w, bool good)
{
  CUcontext before;
  for (int i = 0; i < w->deal.devices; i++) {
    struct grb_gpu_run *run = &w->run[i];
    if (!run->device) continue;
    const bool entered = grb_gpu_enter(run->device, &before) == SHUNT_OK;
    pthread_mutex_lock(w->residents_lock);
    give_pins_back(w->view, run);
    if (good && run->made) count_shard(w, run);
    if (good && run->made && entered) grb_gpu_shard_keep(run, w->view, rows_of(w, i));
    grb_gpu_shard_release(run);
    pthread_mutex_unlock(w->residents_lock);
    if (entered) grb_gpu_leave(before);
  }
  for (int i = 0; i < w->deal.devices; i++)
    if (w->rows[i].s) grb_gpu_rows_free(&w->rows[i]);
}

/* Of the rows of this round's parts. */
static void mark_parts(const struct work *w)
{
  const int parts = w->deal.way == GRB_GPU_BY_COLUMNS ? 1 : w->deal.devices;
  for (int i = 0; i < parts; i++) {
    if (!w->run[i].made) continue;
    const int32_t *empty;
    const int64_t count = empty_rows(w, i, &empty);
    mark_present(w->run[i].p, empty, count, w->view->threads);
  }
}

/* Once: what is let go of is not pinned again. */
static bool pins_were_stale(struct grb_gpu_view *v, const struct grb_gpu_run *r)
{
  if (!r->b_pinned && !r->c_pinned) return false;
  if (grb_gpu_proof_holds(r)) return false;
  if (r->b_pinned) grb_gpu_pins_distrust(v->b_own);
  if (r->c_pinned) grb_gpu_pins_distrust(v->c_own);
  return true;
}

/* `fits` false: nothing was begun, for want of room. */
static shunt_status do_round(struct work *w, int round, bool *fits, bool *stale)
{
  const int count = w->deal.devices;
  memset(w->run, 0, (size_t)count * sizeof *w->run);
  memset(w->rows, 0, (size_t)count * sizeof *w->rows);
  shunt_status s = prepare(w, round);
  *fits = s != SHUNT_E_UNSUPPORTED;
  if (s == SHUNT_OK) run_all(w);
  for (int i = 0; i < count; i++) {
    shunt_status end = w->run[i].made ? grb_gpu_run_finish(&w->run[i]) : SHUNT_OK;
    if (s == SHUNT_OK) s = end;
  }
  *stale = s == SHUNT_OK && pins_were_stale(w->view, &w->run[0]);
  if (*stale) s = SHUNT_E_CUDA;
  const bool good = s == SHUNT_OK, halves = !*fits && w->deal.rounds < GRB_GPU_MOST_ROUNDS &&
                                            w->deal.way == GRB_GPU_IN_TURNS;
  if (!halves) s = settle(w, round, s);
  if (good && !w->view->p->accumulate) mark_parts(w);
  clean_up(w, good);
  *fits = !halves;
  return s;
}

/* ---- the product ----------------------------------------------------------------------------- */

static shunt_status product(struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                            struct grb_gpu_deal deal, pthread_mutex_t *residents_lock,
                            struct grb_gpu_counts *counts, bool *stale)
{
  struct grb_gpu_run run[GRB_GPU_MOST_DEVICES];
  struct grb_gpu_rows rows[GRB_GPU_MOST_DEVICES];
  struct work w = {.view = v,
                   .devices = devices,
                   .residents_lock = residents_lock,
                   .counts = counts,
                   .deal = deal,
                   .run = run,
                   .rows = rows};
  shunt_status s = grb_gpu_lanes(devices, v->threads);
  if (s == SHUNT_OK) grb_gpu_pages_make(&w.pages, &v->p->c, shunt_type_size(v->p->semiring.type));
  for (int round = 0; s == SHUNT_OK && round < w.deal.rounds;) {
    bool fits;
    const uint64_t finished = counts->finished_on_host;
    s = do_round(&w, round, &fits, stale);
    if (counts->finished_on_host > finished) break;
    if (fits) {
      round++;
    } else { /* the same rows, in two rounds */
      w.deal.rounds *= 2;
      round *= 2;
      s = SHUNT_OK;
    }
  }
  return s;
}

shunt_status grb_gpu_product(struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                             struct grb_gpu_deal deal, pthread_mutex_t *residents_lock,
                             struct grb_gpu_counts *counts)
{
  bool stale = false;
  if (deal.rounds < 1) return SHUNT_E_UNSUPPORTED;
  shunt_status s = product(v, devices, deal, residents_lock, counts, &stale);
  if (!stale) return s;
  counts->stale_pins++;
  return product(v, devices, deal, residents_lock, counts, &stale);
}
