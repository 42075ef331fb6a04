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

/* ---- the product ----------------------------------------------------------------------------- */

struct work {
  struct grb_gpu_view *view;
  struct grb_gpu_devices *devices;
  pthread_mutex_t *residents_lock;
  struct grb_gpu_counts *counts;
  struct grb_gpu_run *run;
  struct grb_gpu_rows rows;
  bool has_rows;
  struct grb_gpu_pages pages;
  int count; /* of runs, one a device */
};

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
  if (v->p->accumulate) return;
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

static shunt_status prepare(struct work *w, const int32_t **empty, int64_t *empty_count)
{
  struct grb_gpu_view *v = w->view;
  shunt_status s = SHUNT_OK;
  CUcontext before;
  bool missing = false;
  for (int i = 0; i < w->count; i++) {
    struct grb_gpu_run *run = &w->run[i];
    run->device = &w->devices->device[i];
    run->pages = &w->pages;
    if ((s = grb_gpu_enter(run->device, &before)) != SHUNT_OK) return s;
    pthread_mutex_lock(w->residents_lock);
    grb_gpu_shard_find(run, v, grb_gpu_share_begin(v->p, i, w->count),
                       grb_gpu_share_begin(v->p, i + 1, w->count));
    pthread_mutex_unlock(w->residents_lock);
    grb_gpu_leave(before);
    missing |= !run->kept_s;
  }
  if (missing) {
    s = grb_gpu_rows_make(&w->rows, &v->p->s, shunt_type_size(v->p->semiring.type),
                          !grb_gpu_ones(v->p), v->threads);
    if (s != SHUNT_OK) return s;
    w->has_rows = true;
  }
  *empty = w->has_rows ? w->rows.empty : w->run[0].kept_s->empty;
  *empty_count = w->has_rows ? w->rows.empty_count : w->run[0].kept_s->empty_count;
  for (int i = 0; s == SHUNT_OK && i < w->count; i++) {
    struct grb_gpu_run *run = &w->run[i];
    if ((s = grb_gpu_enter(run->device, &before)) != SHUNT_OK) return s;
    pthread_mutex_lock(w->residents_lock);
    s = grb_gpu_shard_make(run, v, &w->rows, !(v->p->c.present && *empty_count > 0),
                           grb_gpu_share_begin(v->p, i, w->count),
                           grb_gpu_share_begin(v->p, i + 1, w->count));
    pthread_mutex_unlock(w->residents_lock);
    run->made = s == SHUNT_OK;
    if (run->made) take_pins(w, run);
    if (run->made) s = grb_gpu_run_make(run);
    grb_gpu_leave(before);
  }
  return s;
}

/* More wait for the driver's locks: of an H200 32 threads copied 2 GB each way in 68 ms, 16 in 49.
 */
enum { THREADS_PER_DEVICE = 16 };

/* Is there nothing for threads to copy? */
static bool nothing_to_copy(const struct work *w)
{
  const struct grb_gpu_run *r = &w->run[0];
  return w->count == 1 && !r->rows && r->c_pinned && (r->b_pinned || r->cut.b != GRB_GPU_B_HOST);
}

static void run_all(struct work *w)
{
  int threads = w->view->threads < w->devices->lanes ? w->view->threads : w->devices->lanes;
  if (threads > THREADS_PER_DEVICE * w->count) threads = THREADS_PER_DEVICE * w->count;
  if (nothing_to_copy(w)) threads = 1;
#pragma omp parallel num_threads(threads)
  {
#ifdef _OPENMP
    int number = omp_get_thread_num(), present = omp_get_num_threads();
#else
    int number = 0, present = 1;
#endif
    for (int i = number % w->count; i < w->count; i += present)
      grb_gpu_run_work(&w->run[i], number, w->devices->lane[number], number / w->count % 2);
  }
}

/* A shard that failed after pieces of C += were written can't be taken back: the host does what
   is missing of all shards.  */
static shunt_status settle(struct work *w, shunt_status s)
{
  bool committed = false;
  if (s == SHUNT_OK || !w->view->p->accumulate) return s;
  for (int i = 0; i < w->count; i++)
    committed |= w->run[i].made && grb_gpu_run_committed(&w->run[i]);
  if (!committed) return s;
  for (int i = 0; i < w->count; i++) grb_gpu_run_add_missing(&w->run[i]);
  w->counts->finished_on_host++;
  return SHUNT_OK;
}

static void count_shard(struct grb_gpu_counts *counts, const struct grb_gpu_run *run)
{
  counts->bytes_up += run->bytes_up;
  counts->bytes_down += run->bytes_down;
  counts->sparse_uploads += !run->kept_s;
  counts->dense_uploads += run->cut.b == GRB_GPU_B_HOST;
  counts->dense_reuses += run->cut.b == GRB_GPU_B_RESIDENT;
}

/* A device that can't be entered any more keeps nothing new, but what the host holds of its shard
   goes all the same.  */
static void clean_up(struct work *w, bool good)
{
  CUcontext before;
  for (int i = 0; i < w->count; i++) {
    struct grb_gpu_run *run = &w->run[i];
    if (!run->device) continue;
    const bool entered = grb_gpu_enter(run->device, &before) == SHUNT_OK;
    pthread_mutex_lock(w->residents_lock);
    give_pins_back(w->view, run);
    if (good) count_shard(w->counts, run);
    if (good && entered) grb_gpu_shard_keep(run, w->view, &w->rows);
    grb_gpu_shard_release(run);
    pthread_mutex_unlock(w->residents_lock);
    if (entered) grb_gpu_leave(before);
  }
  if (w->has_rows) grb_gpu_rows_free(&w->rows);
}

/* Once: what is let go of is not pinned again. */
static bool pins_were_stale(struct grb_gpu_view *v, const struct grb_gpu_run *r)
{
  if (grb_gpu_proof_holds(r)) return false;
  if (r->b_pinned) grb_gpu_pins_distrust(v->b_own);
  if (r->c_pinned) grb_gpu_pins_distrust(v->c_own);
  return true;
}

static shunt_status product(struct grb_gpu_view *v, struct grb_gpu_devices *devices, int count,
                            pthread_mutex_t *residents_lock, struct grb_gpu_counts *counts,
                            bool *stale)
{
  struct grb_gpu_run run[GRB_GPU_MOST_DEVICES];
  struct work w = {.view = v,
                   .devices = devices,
                   .residents_lock = residents_lock,
                   .counts = counts,
                   .run = run,
                   .count = count};
  const int32_t *empty = NULL;
  int64_t empty_count = 0;
  memset(run, 0, sizeof run);
  shunt_status s = grb_gpu_lanes(devices, v->threads);
  if (s == SHUNT_OK) s = prepare(&w, &empty, &empty_count);
  if (s == SHUNT_OK) {
    grb_gpu_pages_make(&w.pages, &v->p->c, shunt_type_size(v->p->semiring.type));
    run_all(&w);
  }
  for (int i = 0; i < count; i++) {
    shunt_status end = run[i].made ? grb_gpu_run_finish(&run[i]) : SHUNT_OK;
    if (s == SHUNT_OK) s = end;
  }
  *stale = s == SHUNT_OK && pins_were_stale(v, &run[0]);
  if (*stale) s = SHUNT_E_CUDA;
  bool good = s == SHUNT_OK;
  s = settle(&w, s);
  if (s == SHUNT_OK && !v->p->accumulate) mark_present(v->p, empty, empty_count, v->threads);
  clean_up(&w, good);
  return s;
}

shunt_status grb_gpu_product(struct grb_gpu_view *v, struct grb_gpu_devices *devices, int count,
                             pthread_mutex_t *residents_lock, struct grb_gpu_counts *counts)
{
  bool stale = false;
  shunt_status s = product(v, devices, count, residents_lock, counts, &stale);
  if (!stale) return s;
  counts->stale_pins++;
  return product(v, devices, count, residents_lock, counts, &stale);
}
