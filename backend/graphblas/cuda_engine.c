#include "backend/graphblas/cuda_engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/graphblas/cuda_cost.h"
#include "backend/graphblas/cuda_pipeline.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/options.h"

/* Of multiply-adds: below it a product is over before a GPU has begun. */
enum { LEAST_WORK = 4000000 };
/* Seconds: what the start of CUDA takes. */
#define START 0.4
/* A GPU has to be better by so much, since the estimates are not exact. */
#define MARGIN 1.3

/* STARTING: somebody is in start(); left, like the first, with the notes locked. */
enum state { UNTRIED, STARTING, READY, NONE };
static atomic_int state;

static pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER; /* products take turns */
static pthread_mutex_t notes = PTHREAD_MUTEX_INITIALIZER;  /* kept lists, below, and what follows */
static struct grb_cuda_devices devices;
static struct grb_cuda_rates rates;
static double gain_so_far;
static int forced_devices;
static int failures; /* of CUDA, one after another */
static struct shunt_grb_cuda_counts counts;

/* Products of an S that was not worth its upload yet: what each upload would have gained. */
static struct sighting {
  struct grb_cuda_key key;
  double gain;
} sightings[16];
static unsigned next_sighting;

/* ---- forks -------------------------------------------------------------------------------- */

/* A CUDA context does not survive a fork, and neither does a lock that another thread held. */
static void forget_in_child(void)
{
  if (atomic_load(&state) != UNTRIED) atomic_store(&state, NONE);
}

__attribute__((constructor)) static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, forget_in_child);
}

/* ---- what is taken ------------------------------------------------------------------------ */

static bool built(const struct shunt_host_spmm *p)
{
  const struct shunt_semiring *r = &p->semiring;
  return r->monoid == SHUNT_PLUS && (r->type == SHUNT_F32 || r->type == SHUNT_F64) &&
         (r->multiplier == SHUNT_TIMES || r->multiplier == SHUNT_FIRST ||
          r->multiplier == SHUNT_SECOND || r->multiplier == SHUNT_PAIR) &&
         !p->b.present && !p->c.iso && p->s.nnz > 0 && p->s.rows > 0 && p->c.cols > 0 &&
         p->s.nnz < GRB_CUDA_MOST_INDEX && p->s.rows < GRB_CUDA_MOST_INDEX &&
         p->s.cols < GRB_CUDA_MOST_INDEX && p->c.cols < GRB_CUDA_MOST_INDEX;
}

/* Values of S that are not read: 1 times b is b, NaN and Inf included. */
static bool ones(const struct shunt_host_spmm *p)
{
  return p->semiring.multiplier == SHUNT_SECOND || p->semiring.multiplier == SHUNT_PAIR;
}

/* B is one value: its own, or the 1 of FIRST and PAIR. */
static bool constant_b(const struct shunt_host_spmm *p)
{
  return p->b.iso || p->semiring.multiplier == SHUNT_FIRST || p->semiring.multiplier == SHUNT_PAIR;
}

/* ---- one product's view of what is kept ---------------------------------------------------- */

struct call {
  const struct shunt_host_spmm *p;
  int threads;
  bool s_keyed, b_keyed, c_keyed; /* may be kept */
  struct grb_cuda_key s_key, b_key, c_key;
  bool s_hashed, b_hashed;
  uint64_t s_hash, b_hash;
};

static struct call make_call(const struct shunt_host_spmm *p,
                             const struct shunt_grb_identity *sparse,
                             const struct shunt_grb_identity *dense,
                             const struct shunt_grb_identity *out)
{
  struct call c = {.p = p, .threads = p->threads < 1 ? 1 : p->threads};
  const shunt_type type = p->semiring.type;
  if (c.threads > GRB_CUDA_MOST_LANES) c.threads = GRB_CUDA_MOST_LANES;
  c.s_keyed = grb_cuda_sparse_key(&p->s, type, ones(p), sparse, shunt_options()->verify, &c.s_key);
  c.b_keyed =
      !constant_b(p) && grb_cuda_dense_key(&p->b, type, dense, shunt_options()->verify, &c.b_key);
  struct shunt_full whole = p->c;
  whole.present = NULL; /* where elements are missing, nothing is kept (see keep_results) */
  c.c_keyed =
      !p->accumulate && grb_cuda_dense_key(&whole, type, out, shunt_options()->verify, &c.c_key);
  return c;
}

static uint64_t hash_of_s(struct call *c)
{
  if (!c->s_hashed)
    c->s_hash =
        grb_cuda_sparse_hash(&c->p->s, c->p->semiring.type, shunt_options()->verify, c->threads);
  c->s_hashed = true;
  return c->s_hash;
}

static uint64_t hash_of_b(struct call *c)
{
  if (!c->b_hashed)
    c->b_hash =
        grb_cuda_dense_hash(&c->p->b, c->p->semiring.type, shunt_options()->verify, c->threads);
  c->b_hashed = true;
  return c->b_hash;
}

static int64_t columns_per_piece(const struct shunt_host_spmm *p)
{
  return 16 / (int64_t)shunt_type_size(p->semiring.type);
}

static int64_t pieces_of_columns(const struct shunt_host_spmm *p)
{
  return (p->c.cols + columns_per_piece(p) - 1) / columns_per_piece(p);
}

/* Columns that device `d` of `count` computes: whole 16-byte pieces, one at least, as even as
   can be.  */
static int64_t share_begin(const struct shunt_host_spmm *p, int d, int count)
{
  int64_t begin = pieces_of_columns(p) * d / count * columns_per_piece(p);
  return d == count || begin > p->c.cols ? p->c.cols : begin;
}

static struct grb_cuda_kept *find_s(struct call *c, struct grb_cuda_device *d)
{
  return c->s_keyed ? grb_cuda_kept_find(&d->kept, &c->s_key, true, 0, 0) : NULL;
}

static struct grb_cuda_kept *find_b(struct call *c, struct grb_cuda_device *d, int64_t first,
                                    int64_t last)
{
  return c->b_keyed ? grb_cuda_kept_find(&d->kept, &c->b_key, false, first, last) : NULL;
}

/* ---- placement ------------------------------------------------------------------------------ */

struct estimate {
  int devices;
  double upload, stream; /* of S where it is missing; of the rest */
};

/* The notes are locked. */
static struct estimate estimate(struct call *c)
{
  struct estimate best = {1, 0, 1e30};
  int most = devices.visible > 0 ? devices.visible : 1;
  if (most > c->threads) most = c->threads;
  if (most > pieces_of_columns(c->p)) most = (int)pieces_of_columns(c->p);
  for (int n = 1; n <= most; n++) {
    int missing = 0;
    bool b_kept = true;
    for (int i = 0; i < n; i++) {
      struct grb_cuda_device *d = &devices.device[i];
      bool open = i < devices.count;
      if (!open || !find_s(c, d)) missing++;
      if (!open || !find_b(c, d, share_begin(c->p, i, n), share_begin(c->p, i + 1, n)))
        b_kept = false;
    }
    struct estimate e = {n, missing ? grb_cuda_upload_seconds(c->p, &rates, missing) : 0,
                         grb_cuda_stream_seconds(c->p, &rates, b_kept, n)};
    /* A device that is not open yet costs a second start. */
    if (n > 1 && n > devices.count && e.upload + e.stream + START > best.upload + best.stream)
      continue;
    if (e.upload + e.stream < best.upload + best.stream) best = e;
  }
  return best;
}

/* An upload that pays only over several products is made once those that went by without would
   have paid it.  The notes are locked.  */
static bool upload_pays_later(struct call *c, double gain, double upload)
{
  struct sighting *s = NULL;
  if (!c->s_keyed || gain <= 0) return false;
  for (unsigned i = 0; !s && i < sizeof sightings / sizeof *sightings; i++)
    if (memcmp(&sightings[i].key, &c->s_key, sizeof c->s_key) == 0) s = &sightings[i];
  if (!s) {
    s = &sightings[next_sighting++ % (sizeof sightings / sizeof *sightings)];
    *s = (struct sighting){c->s_key, 0};
  }
  s->gain += gain;
  return s->gain > upload;
}

static void set_state(enum state now)
{
  pthread_mutex_lock(&notes);
  if (now == READY) {
    const struct grb_cuda_device *d = &devices.device[0];
    rates = (struct grb_cuda_rates){d->rate_up, d->rate_down, 4e10 * d->about.multiprocessors};
  }
  atomic_store(&state, now);
  pthread_mutex_unlock(&notes);
}

static bool start(void)
{
  pthread_mutex_lock(&engine);
  if (atomic_load(&state) == UNTRIED) {
    set_state(STARTING);
    bool good = grb_cuda_devices_open(&devices, 1, shunt_options()->cache_bytes) == SHUNT_OK;
    set_state(good ? READY : NONE);
  }
  pthread_mutex_unlock(&engine);
  return atomic_load(&state) == READY;
}

/* Of a device: S, and the narrowest strips. */
static int64_t least_bytes(const struct shunt_host_spmm *p)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  return p->s.nnz * (4 + size) + 4 * p->s.rows +
         16 * (GRB_CUDA_RING_B * p->s.cols + GRB_CUDA_RING_C * p->s.rows);
}

/* The notes are locked. */
static bool fits(const struct shunt_host_spmm *p)
{
  int64_t limit = devices.count > 0 ? devices.device[0].limit : shunt_options()->cache_bytes;
  return limit < 0 || least_bytes(p) <= limit;
}

bool shunt_grb_cuda_wise(const struct shunt_host_spmm *p, const struct shunt_grb_identity *sparse,
                         const struct shunt_grb_identity *dense,
                         const struct shunt_grb_identity *out)
{
  if (p->s.nnz < LEAST_WORK / 4096 || (double)p->s.nnz * (double)p->c.cols < LEAST_WORK)
    return false;
  if (atomic_load(&state) == NONE || !built(p)) return false;
  /* The host writes such a C faster than the bus brings it. */
  if (constant_b(p)) return false;
  struct call c = make_call(p, sparse, dense, out);
  pthread_mutex_lock(&notes);
  const int at = atomic_load(&state);
  bool now = false;
  if ((at == UNTRIED || at == READY) && fits(p)) {
    if (at == UNTRIED) rates = grb_cuda_usual_rates();
    struct estimate e = estimate(&c);
    double gain = grb_cuda_host_seconds(p) - MARGIN * e.stream;
    if (at == READY)
      now = gain > MARGIN * e.upload || upload_pays_later(&c, gain, e.upload);
    else if (gain > 0)
      now = (gain_so_far += gain) > START;
  }
  pthread_mutex_unlock(&notes);
  return now && (at == READY || start());
}

/* ---- one device's part ---------------------------------------------------------------------- */

struct part {
  struct grb_cuda_run run;
  struct grb_cuda_kept *s, *b; /* entries that are used; NULL: not kept */
  int64_t block_bytes, b_bytes, c_bytes;
  bool made;
};

static size_t workspace(const struct shunt_host_spmm *p, int64_t width, const void *context)
{
  const struct part *part = context;
  const shunt_type type = p->semiring.type;
  if (part->run.s.longest <= 16384) return 0;
  struct shunt_spmm x = {
      .a = {p->s.rows, p->s.cols, p->s.nnz, NULL, NULL, NULL, SHUNT_I32, type, 0},
      .b = {p->s.cols, width, width, 1, NULL, type},
      .c = {p->s.rows, width, width, 1, NULL, type},
      .compute = type};
  return shunt_spmm_csr_rows_workspace(&x, &part->run.device->about);
}

/* Entries of the same matrices that can't come into use any more make room first. */
static void drop_stale(struct call *c, struct grb_cuda_device *d)
{
  const struct grb_cuda_key *key[] = {c->s_keyed ? &c->s_key : NULL, c->b_keyed ? &c->b_key : NULL,
                                      c->c_keyed ? &c->c_key : NULL};
  struct grb_cuda_kept *stale;
  for (int i = 0; i < 3; i++)
    while (key[i] && (stale = grb_cuda_kept_stale(&d->kept, key[i])))
      grb_cuda_let_go(d, stale);
}

/* Holds `e` if it is proved fresh, else lets go of it. */
static struct grb_cuda_kept *prove(struct grb_cuda_device *d, struct grb_cuda_kept *e,
                                   uint64_t hash)
{
  if (e->hash != hash) {
    grb_cuda_let_go(d, e);
    return NULL;
  }
  e->held = true;
  grb_cuda_kept_touch(&d->kept, e);
  return e;
}

static void find_kept(struct call *c, struct part *part, int64_t first, int64_t last)
{
  struct grb_cuda_device *d = part->run.device;
  part->s = find_s(c, d);
  if (part->s) part->s = prove(d, part->s, hash_of_s(c));
  part->b = find_b(c, d, first, last);
  if (part->b) part->b = prove(d, part->b, hash_of_b(c));
  drop_stale(c, d); /* not before: B may be an earlier C */
}

static int64_t held_bytes(const struct grb_cuda_device *d)
{
  int64_t sum = 0;
  for (int i = 0; i < GRB_CUDA_MOST_KEPT; i++)
    if (d->kept.entry[i].used && d->kept.entry[i].held) sum += d->kept.entry[i].bytes;
  return sum;
}

/* S takes its place before B and C: it is to stay. */
static shunt_status place_s(struct call *c, struct part *part, const struct grb_cuda_rows *rows)
{
  struct grb_cuda_run *r = &part->run;
  if (part->s) {
    r->s = *part->s;
    return SHUNT_OK;
  }
  const struct shunt_sparse *s = &c->p->s;
  int64_t offsets = grb_cuda_round((s->rows + 1) * 4), columns = grb_cuda_round(s->nnz * 4);
  r->s = (struct grb_cuda_kept){.sparse = true, .longest = rows->longest, .chunks = rows->chunks};
  r->s.bytes =
      offsets + columns + grb_cuda_round(s->nnz * (int64_t)shunt_type_size(c->p->semiring.type));
  if (r->s.bytes > r->device->limit - held_bytes(r->device)) return SHUNT_E_UNSUPPORTED;
  shunt_status status = grb_cuda_allocate(r->device, r->s.bytes, &r->s.memory);
  if (status != SHUNT_OK) return status;
  r->s.offsets = r->s.memory;
  r->s.columns = (int32_t *)((char *)r->s.memory + offsets);
  r->s.values = (char *)r->s.memory + offsets + columns;
  r->rows = rows;
  return SHUNT_OK;
}

static bool plan(struct call *c, struct part *part, int64_t first, int64_t last, bool full_c)
{
  const struct grb_cuda_device *d = part->run.device;
  struct grb_cuda_wish wish = {
      .first = first,
      .last = last,
      .b = constant_b(c->p) ? GRB_CUDA_B_CONSTANT
           : part->b        ? GRB_CUDA_B_KEPT
                            : GRB_CUDA_B_HOST,
      .kept_width = part->b ? part->b->width : 0,
      .may_keep_b = c->b_keyed,
      .may_keep_c = c->c_keyed && full_c,
      .available = d->limit - held_bytes(d) - (part->s ? 0 : part->run.s.bytes),
      .s = &part->run.s,
      .workspace = workspace,
      .context = part,
  };
  if (grb_cuda_plan_make(&part->run.plan, c->p, &wish)) return true;
  if (!part->b) return false;
  part->b->held = false;
  part->b = NULL;
  return plan(c, part, first, last, full_c);
}

static shunt_status place_dense(struct part *part)
{
  struct grb_cuda_run *r = &part->run;
  const struct grb_cuda_plan *plan = &r->plan;
  void *block, *b, *c;
  part->block_bytes = plan->block_bytes;
  part->b_bytes = plan->keep_b ? plan->strips * plan->b_strip : 0;
  part->c_bytes = plan->keep_c ? plan->strips * plan->c_strip : 0;
  shunt_status s = grb_cuda_allocate(r->device, part->block_bytes, &block);
  r->block = block;
  if (s != SHUNT_OK) return s;
  s = grb_cuda_allocate(r->device, part->b_bytes, &b);
  r->b = part->b ? part->b->memory : b;
  if (s != SHUNT_OK) return s;
  s = grb_cuda_allocate(r->device, part->c_bytes, &c);
  r->c = c;
  return s;
}

/* The device is entered, the notes are locked. */
static shunt_status make_part(struct call *c, struct part *part, const struct grb_cuda_rows *rows,
                              bool full_c, int64_t first, int64_t last)
{
  struct grb_cuda_run *r = &part->run;
  r->p = c->p;
  r->ones = ones(c->p);
  shunt_status s = place_s(c, part, rows);
  if (s == SHUNT_OK && !plan(c, part, first, last, full_c)) s = SHUNT_E_UNSUPPORTED;
  return s == SHUNT_OK ? place_dense(part) : s;
}

/* ---- after the product ----------------------------------------------------------------------- */

/* The memory stays under this key; false: there is no place. */
static bool keep(struct grb_cuda_device *d, struct grb_cuda_kept what,
                 const struct grb_cuda_key *key, uint64_t hash)
{
  struct grb_cuda_kept *e = grb_cuda_kept_unused(&d->kept), *old;
  if (!e && (old = grb_cuda_kept_oldest(&d->kept))) {
    grb_cuda_let_go(d, old);
    e = old;
  }
  if (!e) return false;
  *e = what;
  e->used = true;
  e->key = *key;
  e->hash = hash;
  grb_cuda_kept_touch(&d->kept, e);
  return true;
}

static struct grb_cuda_kept kept_dense(const struct grb_cuda_plan *plan, void *memory,
                                       int64_t strip_bytes)
{
  return (struct grb_cuda_kept){.memory = memory,
                                .bytes = plan->strips * strip_bytes,
                                .first = plan->first,
                                .last = plan->last,
                                .width = plan->width,
                                .strip_bytes = strip_bytes};
}

/* Moves what may stay from the part to the list; what is left in the part is released. */
static void keep_results(struct call *c, struct part *part, struct grb_cuda_rows *rows)
{
  struct grb_cuda_run *r = &part->run;
  struct grb_cuda_device *d = r->device;
  if (!part->s && c->s_keyed) {
    r->s.empty_count = rows->empty_count;
    if (rows->empty_count > 0) {
      size_t bytes = (size_t)rows->empty_count * sizeof *rows->empty;
      r->s.empty = SHUNT_TRY_OR(NULL, malloc(bytes));
      if (r->s.empty) memcpy(r->s.empty, rows->empty, bytes);
    }
    if ((rows->empty_count == 0 || r->s.empty) && keep(d, r->s, &c->s_key, hash_of_s(c)))
      r->s.memory = NULL;
    else
      free(r->s.empty);
  }
  if (r->plan.keep_b &&
      keep(d, kept_dense(&r->plan, r->b, r->plan.b_strip), &c->b_key, hash_of_b(c)))
    r->b = NULL;
  uint64_t hash = r->plan.keep_c ? grb_cuda_dense_hash(&c->p->c, c->p->semiring.type,
                                                       shunt_options()->verify, c->threads)
                                 : 0;
  if (r->plan.keep_c && keep(d, kept_dense(&r->plan, r->c, r->plan.c_strip), &c->c_key, hash))
    r->c = NULL;
}

/* Everything that is the part's own goes.  The device is entered. */
static void release_part(struct part *part)
{
  struct grb_cuda_run *r = &part->run;
  if (part->s)
    part->s->held = false;
  else
    grb_cuda_release(r->device, r->s.memory, r->s.bytes);
  if (part->b)
    part->b->held = false;
  else
    grb_cuda_release(r->device, r->b, part->b_bytes);
  grb_cuda_release(r->device, r->c, part->c_bytes);
  grb_cuda_release(r->device, r->block, part->block_bytes);
  if (part->made) grb_cuda_run_free(r);
}

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
  for (int64_t l = 0; l < lines; l++)
    memset(c->present + l * stride, 1, (size_t)length);
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < c->cols; j++)
      c->present[empty[i] * c->row_stride + j * c->col_stride] = 0;
}

/* C is fresh memory as a rule: fewer, larger page faults. */
static void advise_large_pages(const struct shunt_host_spmm *p)
{
  const uintptr_t page = 2u << 20;
  int64_t last = (p->c.rows - 1) * p->c.row_stride + (p->c.cols - 1) * p->c.col_stride + 1;
  uintptr_t begin = (uintptr_t)p->c.values;
  uintptr_t end = begin + (uintptr_t)last * shunt_type_size(p->semiring.type);
  begin = (begin + page - 1) & ~(page - 1);
  end &= ~(page - 1);
  if (end > begin && end - begin >= 2 * page) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* ---- the product ------------------------------------------------------------------------------
 */

struct work {
  struct call *call;
  struct part *part;
  struct grb_cuda_rows rows;
  bool has_rows;
  int count; /* of parts */
};

static shunt_status prepare(struct work *w, const int32_t **empty, int64_t *empty_count)
{
  struct call *c = w->call;
  shunt_status s = SHUNT_OK;
  CUcontext before;
  bool missing = false;
  for (int i = 0; i < w->count; i++) {
    struct part *part = &w->part[i];
    part->run.device = &devices.device[i];
    if ((s = grb_cuda_enter(part->run.device, &before)) != SHUNT_OK) return s;
    pthread_mutex_lock(&notes);
    find_kept(c, part, share_begin(c->p, i, w->count), share_begin(c->p, i + 1, w->count));
    pthread_mutex_unlock(&notes);
    grb_cuda_leave(before);
    missing |= !part->s;
  }
  if (missing) {
    s = grb_cuda_rows_make(&w->rows, &c->p->s, shunt_type_size(c->p->semiring.type), !ones(c->p),
                           c->threads);
    if (s != SHUNT_OK) return s;
    w->has_rows = true;
  }
  *empty = w->has_rows ? w->rows.empty : w->part[0].s->empty;
  *empty_count = w->has_rows ? w->rows.empty_count : w->part[0].s->empty_count;
  for (int i = 0; s == SHUNT_OK && i < w->count; i++) {
    struct part *part = &w->part[i];
    if ((s = grb_cuda_enter(part->run.device, &before)) != SHUNT_OK) return s;
    pthread_mutex_lock(&notes);
    s = make_part(c, part, &w->rows, !(c->p->c.present && *empty_count > 0),
                  share_begin(c->p, i, w->count), share_begin(c->p, i + 1, w->count));
    pthread_mutex_unlock(&notes);
    part->made = s == SHUNT_OK;
    if (part->made) s = grb_cuda_run_make(&part->run, c->threads);
    grb_cuda_leave(before);
  }
  return s;
}

static void run_all(struct work *w)
{
  int threads = w->call->threads < devices.lanes ? w->call->threads : devices.lanes;
#pragma omp parallel num_threads(threads)
  {
#ifdef _OPENMP
    int number = omp_get_thread_num(), present = omp_get_num_threads();
#else
    int number = 0, present = 1;
#endif
    for (int i = number % w->count; i < w->count; i += present)
      grb_cuda_run_work(&w->part[i].run, number, devices.lane[number]);
  }
}

/* A part that failed after pieces of C += were written can't be taken back: the host does the
   rest of all parts.  */
static shunt_status settle(struct work *w, shunt_status s)
{
  bool committed = false;
  if (s == SHUNT_OK || !w->call->p->accumulate) return s;
  for (int i = 0; i < w->count; i++)
    committed |= w->part[i].made && grb_cuda_run_committed(&w->part[i].run);
  if (!committed) return s;
  for (int i = 0; i < w->count; i++)
    grb_cuda_run_add_rest(&w->part[i].run);
  counts.finished_on_host++;
  return SHUNT_OK;
}

static void count_part(const struct part *part)
{
  counts.bytes_up += part->run.bytes_up;
  counts.bytes_down += part->run.bytes_down;
  counts.sparse_uploads += !part->s;
  counts.dense_uploads += part->run.plan.b == GRB_CUDA_B_HOST;
  counts.dense_reuses += part->run.plan.b == GRB_CUDA_B_KEPT;
}

static void clean_up(struct work *w, bool good)
{
  CUcontext before;
  for (int i = 0; i < w->count; i++) {
    struct part *part = &w->part[i];
    if (!part->run.device || grb_cuda_enter(part->run.device, &before) != SHUNT_OK) continue;
    pthread_mutex_lock(&notes);
    if (good) {
      count_part(part);
      keep_results(w->call, part, &w->rows);
    }
    release_part(part);
    pthread_mutex_unlock(&notes);
    grb_cuda_leave(before);
  }
  if (w->has_rows) grb_cuda_rows_free(&w->rows);
}

static shunt_status product(struct call *c, int count)
{
  struct part part[GRB_CUDA_MOST_DEVICES];
  struct work w = {.call = c, .part = part, .count = count};
  const int32_t *empty = NULL;
  int64_t empty_count = 0;
  memset(part, 0, sizeof part);
  shunt_status s = grb_cuda_lanes(&devices, c->threads);
  if (s == SHUNT_OK) s = prepare(&w, &empty, &empty_count);
  if (s == SHUNT_OK) {
    advise_large_pages(c->p);
    run_all(&w);
  }
  for (int i = 0; i < count; i++) {
    shunt_status end = part[i].made ? grb_cuda_run_finish(&part[i].run) : SHUNT_OK;
    if (s == SHUNT_OK) s = end;
  }
  bool good = s == SHUNT_OK;
  s = settle(&w, s);
  if (s == SHUNT_OK && !c->p->accumulate) mark_present(c->p, empty, empty_count, c->threads);
  clean_up(&w, good);
  return s;
}

shunt_status shunt_grb_cuda_spmm(const struct shunt_host_spmm *p,
                                 const struct shunt_grb_identity *sparse,
                                 const struct shunt_grb_identity *dense,
                                 const struct shunt_grb_identity *out)
{
  if (!built(p) || atomic_load(&state) == NONE || (atomic_load(&state) != READY && !start()))
    return SHUNT_E_UNSUPPORTED;
  struct call c = make_call(p, sparse, dense, out);
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&notes);
  int count = forced_devices > 0 ? forced_devices : estimate(&c).devices;
  if (count > devices.count) grb_cuda_devices_open(&devices, count, shunt_options()->cache_bytes);
  if (count > devices.count) count = devices.count;
  if (count > pieces_of_columns(p)) count = (int)pieces_of_columns(p);
  pthread_mutex_unlock(&notes);
  shunt_status s = product(&c, count);
  counts.products += s == SHUNT_OK;
  failures = s == SHUNT_E_CUDA ? failures + 1 : s == SHUNT_OK ? 0 : failures;
  /* The device may be gone for good (reset by somebody, or broken). */
  if (failures >= 3) set_state(NONE);
  pthread_mutex_unlock(&engine);
  return s;
}

void shunt_grb_cuda_read_counts(struct shunt_grb_cuda_counts *out)
{
  pthread_mutex_lock(&engine);
  *out = counts;
  out->devices = devices.count;
  pthread_mutex_unlock(&engine);
}

void shunt_grb_cuda_force_devices(int count)
{
  pthread_mutex_lock(&engine);
  forced_devices = count;
  pthread_mutex_unlock(&engine);
}

void shunt_grb_cuda_forget(void)
{
  CUcontext before;
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&notes);
  for (int i = 0; i < devices.count; i++) {
    struct grb_cuda_device *d = &devices.device[i];
    struct grb_cuda_kept *e;
    if (grb_cuda_enter(d, &before) != SHUNT_OK) continue;
    while ((e = grb_cuda_kept_oldest(&d->kept)))
      grb_cuda_let_go(d, e);
    grb_cuda_leave(before);
  }
  pthread_mutex_unlock(&notes);
  pthread_mutex_unlock(&engine);
}
