#include "backend/graphblas/cuda_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/cuda_fill.h"
#include "backend/graphblas/cuda_strip.h"
#include "backend/plan/cuda_call.h"

enum source { OFFSETS, COLUMNS, VALUES, DENSE_UP, DENSE_DOWN };

/* Elements first <= e < first + count of an array of S, or of a strip. */
struct grb_cuda_task {
  enum source what;
  int strip;
  int64_t first, count;
};

/* Rows longer than this: the balanced kernel (tests/bench/NOTES.md; backend/routes/rows.c). */
enum { LONGEST_FOR_SPLIT = 16384 };

/* ---- sizes ------------------------------------------------------------------------------ */

static size_t element(const struct grb_cuda_run *r)
{
  return shunt_type_size(r->p->semiring.type);
}

static int64_t strip_columns(const struct grb_cuda_run *r, int s)
{
  return grb_cuda_strip_last(&r->plan, s) - grb_cuda_strip_first(&r->plan, s);
}

static struct grb_cuda_strip host_strip(const struct grb_cuda_run *r, const struct shunt_full *m,
                                        int s)
{
  return grb_cuda_strip(m, grb_cuda_strip_first(&r->plan, s), grb_cuda_strip_last(&r->plan, s),
                        element(r));
}

/* ---- where strips are on the device ------------------------------------------------------ */

/* As copied up, and as copied down: in the host's order. */
static char *b_as_sent(const struct grb_cuda_run *r, int s)
{
  if (!r->plan.b_ring) return r->b + s * r->plan.b_strip;
  return r->block + r->plan.b_ring_at + s % GRB_CUDA_RING_B * r->plan.b_strip;
}

static char *c_as_fetched(const struct grb_cuda_run *r, int s)
{
  if (!r->plan.c_ring) return r->c + s * r->plan.c_strip;
  return r->block + r->plan.c_ring_at + s % GRB_CUDA_RING_C * r->plan.c_strip;
}

/* As the kernel wants them: row-major. */
static char *b_rows(const struct grb_cuda_run *r, int s)
{
  if (r->plan.b == GRB_CUDA_B_CONSTANT) return r->block + r->plan.b_scratch_at;
  if (r->b) return r->b + s * r->plan.b_strip;
  return r->plan.b_turned ? r->block + r->plan.b_scratch_at : b_as_sent(r, s);
}

static char *c_rows(const struct grb_cuda_run *r, int s)
{
  if (r->c) return r->c + s * r->plan.c_strip;
  return r->plan.c_turned ? r->block + r->plan.c_scratch_at : c_as_fetched(r, s);
}

/* ---- events: one of each kind per strip, and one for S ----------------------------------- */

static cudaEvent_t sent(const struct grb_cuda_run *r, int s)
{
  return r->device->events[1 + 3 * s];
}
static cudaEvent_t computed(const struct grb_cuda_run *r, int s)
{
  return r->device->events[2 + 3 * s];
}
static cudaEvent_t fetched(const struct grb_cuda_run *r, int s)
{
  return r->device->events[3 + 3 * s];
}

/* ---- the product of one strip ------------------------------------------------------------ */

static struct shunt_dense dense(const struct grb_cuda_run *r, char *values, int64_t rows,
                                int64_t cols, bool by_column)
{
  return (struct shunt_dense){.rows = rows,
                              .cols = cols,
                              .row_stride = by_column ? 1 : cols,
                              .col_stride = by_column ? rows : 1,
                              .values = values,
                              .type = r->p->semiring.type};
}

static shunt_status turn(const struct grb_cuda_run *r, char *from, char *to, int64_t rows,
                         int64_t cols, bool from_by_column)
{
  struct shunt_dense a = dense(r, from, rows, cols, from_by_column);
  struct shunt_dense b = dense(r, to, rows, cols, !from_by_column);
  return SHUNT_LAUNCH(shunt_dense_copy_cuda(&a, &b, &r->device->about, r->device->compute));
}

static double constant_of_b(const struct grb_cuda_run *r)
{
  enum shunt_multiplier m = r->p->semiring.multiplier;
  if (m == SHUNT_FIRST || m == SHUNT_PAIR) return 1;
  return r->p->semiring.type == SHUNT_F32 ? (double)*(const float *)r->p->b.values
                                          : *(const double *)r->p->b.values;
}

static shunt_status multiply(const struct grb_cuda_run *r, int s)
{
  const struct shunt_host_spmm *p = r->p;
  const int64_t columns = strip_columns(r, s);
  const struct shunt_spmm x = {
      .a = {.rows = p->s.rows,
            .cols = p->s.cols,
            .nnz = p->s.nnz,
            .row_offsets = r->s.offsets,
            .columns = r->s.columns,
            .values = r->s.values,
            .index_type = SHUNT_I32,
            .value_type = p->semiring.type},
      .b = dense(r, b_rows(r, s), p->s.cols, columns, false),
      .c = dense(r, c_rows(r, s), p->s.rows, columns, false),
      .alpha = {.host = 1},
      .compute = p->semiring.type,
  };
  const struct shunt_device *d = &r->device->about;
  if (r->s.longest <= LONGEST_FOR_SPLIT) {
    shunt_status status = SHUNT_LAUNCH(
        shunt_spmm_csr_rows_split_cuda(&x, r->s.longest, d, NULL, 0, r->device->compute));
    if (status != SHUNT_E_UNSUPPORTED) return status;
  }
  return SHUNT_LAUNCH(shunt_spmm_csr_rows_cuda(&x, d, r->block + r->plan.workspace_at,
                                               (size_t)(r->plan.block_bytes - r->plan.workspace_at),
                                               r->device->compute));
}

/* What is the same all over need not be sent. */
static shunt_status fill_constants(struct grb_cuda_run *r)
{
  const struct shunt_host_spmm *p = r->p;
  const shunt_type type = p->semiring.type;
  shunt_status s = SHUNT_OK;
  if (r->rows && (r->ones || p->s.iso)) {
    double value = r->ones             ? 1
                   : type == SHUNT_F32 ? (double)*(const float *)p->s.values
                                       : *(const double *)p->s.values;
    s = SHUNT_LAUNCH(shunt_grb_cuda_fill(r->s.values, p->s.nnz, type, value, r->device->compute));
  }
  if (s == SHUNT_OK && r->plan.b == GRB_CUDA_B_CONSTANT)
    s = SHUNT_LAUNCH(shunt_grb_cuda_fill(r->block + r->plan.b_scratch_at, p->s.cols * r->plan.width,
                                         type, constant_of_b(r), r->device->compute));
  return s;
}

static shunt_status launch(struct grb_cuda_run *r, int s)
{
  const struct grb_cuda_plan *plan = &r->plan;
  cudaStream_t stream = r->device->compute;
  shunt_status status = SHUNT_OK;
  if (s == 0) {
    status = fill_constants(r);
    if (status == SHUNT_OK && r->rows)
      status = SHUNT_CUDA(cudaStreamWaitEvent(stream, r->device->events[0], 0));
  }
  if (status == SHUNT_OK && plan->b == GRB_CUDA_B_HOST)
    status = SHUNT_CUDA(cudaStreamWaitEvent(stream, sent(r, s), 0));
  if (status == SHUNT_OK && plan->c_ring && s >= GRB_CUDA_RING_C)
    status = SHUNT_CUDA(cudaStreamWaitEvent(stream, fetched(r, s - GRB_CUDA_RING_C), 0));
  if (status == SHUNT_OK && plan->b == GRB_CUDA_B_HOST && plan->b_turned)
    status = turn(r, b_as_sent(r, s), b_rows(r, s), r->p->s.cols, strip_columns(r, s), true);
  if (status == SHUNT_OK) status = multiply(r, s);
  if (status == SHUNT_OK && plan->c_turned)
    status = turn(r, c_rows(r, s), c_as_fetched(r, s), r->p->s.rows, strip_columns(r, s), false);
  if (status == SHUNT_OK) status = SHUNT_CUDA(cudaEventRecord(computed(r, s), stream));
  return status;
}

/* ---- under the lock ------------------------------------------------------------------------ */

static bool failed(const struct grb_cuda_run *r)
{
  return atomic_load(&r->status) != SHUNT_OK;
}

static void fail(struct grb_cuda_run *r, shunt_status status)
{
  int none = SHUNT_OK;
  atomic_compare_exchange_strong(&r->status, &none, (int)status);
  pthread_cond_broadcast(&r->launch);
}

static bool may_launch(const struct grb_cuda_run *r)
{
  int s = r->launched;
  return s < r->plan.strips && r->s_left == 0 && r->b_left[s] == 0 &&
         (!r->plan.c_ring || s < GRB_CUDA_RING_C || r->c_left[s - GRB_CUDA_RING_C] == 0);
}

static shunt_status advance(struct grb_cuda_run *r)
{
  shunt_status status = SHUNT_OK;
  while (status == SHUNT_OK && may_launch(r)) {
    status = launch(r, r->launched);
    if (status == SHUNT_OK) r->launched++;
  }
  pthread_cond_broadcast(&r->launch);
  return status;
}

/* Product s has been launched, or the run has failed. */
static void wait_for_launch(struct grb_cuda_run *r, int s)
{
  while (r->launched <= s && !failed(r))
    pthread_cond_wait(&r->launch, &r->lock);
}

/* ---- up ------------------------------------------------------------------------------------ */

struct slot {
  char *memory;
  cudaEvent_t done;
  const struct grb_cuda_task *task; /* what it is busy with; NULL: free */
};

static size_t task_element(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  return t->what == OFFSETS || t->what == COLUMNS ? sizeof(int32_t) : element(r);
}

static void read_piece(const struct grb_cuda_run *r, const struct grb_cuda_task *t, void *to)
{
  switch (t->what) {
  case OFFSETS:
    memcpy(to, r->rows->offsets + t->first, (size_t)t->count * sizeof(int32_t));
    break;
  case COLUMNS:
    grb_cuda_rows_columns(r->rows, t->first, t->count, to);
    break;
  case VALUES:
    grb_cuda_rows_values(r->rows, t->first, t->count, to);
    break;
  default: {
    struct grb_cuda_strip strip = host_strip(r, &r->p->b, t->strip);
    grb_cuda_strip_read(&strip, t->first, t->count, to);
  }
  }
}

static char *destination(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  char *base = t->what == OFFSETS   ? (char *)r->s.offsets
               : t->what == COLUMNS ? (char *)r->s.columns
               : t->what == VALUES  ? (char *)r->s.values
                                    : b_as_sent(r, t->strip);
  return base + t->first * (int64_t)task_element(r, t);
}

static int64_t pieces_of_strip(const struct grb_cuda_run *r, int64_t rows, int s)
{
  int64_t most = r->piece_bytes / (int64_t)element(r);
  return (rows * strip_columns(r, s) + most - 1) / most;
}

/* The lock is held. */
static shunt_status enqueue_up(struct grb_cuda_run *r, const struct grb_cuda_task *t,
                               struct slot *slot)
{
  cudaStream_t up = r->device->up;
  const bool of_b = t->what == DENSE_UP;
  int64_t *left = of_b ? &r->b_left[t->strip] : &r->s_left;
  size_t bytes = (size_t)t->count * task_element(r, t);
  shunt_status s = SHUNT_OK;
  if (of_b && r->plan.b_ring && t->strip >= GRB_CUDA_RING_B &&
      *left == pieces_of_strip(r, r->p->s.cols, t->strip))
    s = SHUNT_CUDA(cudaStreamWaitEvent(up, computed(r, t->strip - GRB_CUDA_RING_B), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(destination(r, t), slot->memory, bytes, cudaMemcpyHostToDevice, up));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, up));
  if (s != SHUNT_OK) return s;
  slot->task = t;
  atomic_fetch_add(&r->bytes_up, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(of_b ? sent(r, t->strip) : r->device->events[0], up));
  return s == SHUNT_OK ? advance(r) : s;
}

static shunt_status send_up(struct grb_cuda_run *r, const struct grb_cuda_task *t,
                            struct slot *slot)
{
  shunt_status s = SHUNT_OK;
  if (slot->task) s = SHUNT_CUDA(cudaEventSynchronize(slot->done));
  if (s != SHUNT_OK) return s;
  slot->task = NULL;
  read_piece(r, t, slot->memory);
  pthread_mutex_lock(&r->lock);
  if (t->what == DENSE_UP && r->plan.b_ring && t->strip >= GRB_CUDA_RING_B)
    wait_for_launch(r, t->strip - GRB_CUDA_RING_B);
  if (!failed(r)) s = enqueue_up(r, t, slot);
  pthread_mutex_unlock(&r->lock);
  return s;
}

/* ---- down ---------------------------------------------------------------------------------- */

/* The copy into the slot has been enqueued; puts its content where it belongs. */
static shunt_status empty_slot(struct grb_cuda_run *r, struct slot *slot)
{
  const struct grb_cuda_task *t = slot->task;
  if (!t) return SHUNT_OK;
  shunt_status s = SHUNT_CUDA(cudaEventSynchronize(slot->done));
  slot->task = NULL;
  if (s != SHUNT_OK) return s;
  struct grb_cuda_strip strip = host_strip(r, &r->p->c, t->strip);
  if (r->p->accumulate)
    grb_cuda_strip_add(&strip, t->first, t->count, slot->memory);
  else
    grb_cuda_strip_write(&strip, t->first, t->count, slot->memory);
  r->committed[t - r->tasks] = 1;
  return SHUNT_OK;
}

/* The lock is held. */
static shunt_status enqueue_down(struct grb_cuda_run *r, const struct grb_cuda_task *t,
                                 struct slot *slot)
{
  cudaStream_t down = r->device->down;
  int64_t *left = &r->c_left[t->strip];
  size_t bytes = (size_t)t->count * element(r);
  shunt_status s = SHUNT_OK;
  if (*left == pieces_of_strip(r, r->p->s.rows, t->strip))
    s = SHUNT_CUDA(cudaStreamWaitEvent(down, computed(r, t->strip), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync(slot->memory,
                                   c_as_fetched(r, t->strip) + t->first * (int64_t)element(r),
                                   bytes, cudaMemcpyDeviceToHost, down));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, down));
  if (s != SHUNT_OK) return s;
  slot->task = t;
  atomic_fetch_add(&r->bytes_down, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(fetched(r, t->strip), down));
  return s == SHUNT_OK ? advance(r) : s;
}

static shunt_status fetch(struct grb_cuda_run *r, const struct grb_cuda_task *t, struct slot *slot,
                          struct slot *other)
{
  shunt_status s = empty_slot(r, slot);
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(&r->lock);
  if (r->launched <= t->strip && other->task) { /* something better to do than to wait */
    pthread_mutex_unlock(&r->lock);
    s = empty_slot(r, other);
    pthread_mutex_lock(&r->lock);
  }
  wait_for_launch(r, t->strip);
  if (s == SHUNT_OK && !failed(r)) s = enqueue_down(r, t, slot);
  pthread_mutex_unlock(&r->lock);
  return s;
}

/* ---- threads ------------------------------------------------------------------------------- */

static shunt_status take_tasks(struct grb_cuda_run *r, struct slot *slot)
{
  unsigned up = 0, down = 0;
  shunt_status s = SHUNT_OK;
  while (s == SHUNT_OK && !failed(r)) {
    int64_t i = atomic_fetch_add(&r->next, 1);
    if (i >= r->task_count) break;
    const struct grb_cuda_task *t = &r->tasks[i];
    if (t->what != DENSE_DOWN) {
      s = send_up(r, t, &slot[up]);
      up ^= 1;
    } else {
      s = fetch(r, t, &slot[2 + down], &slot[2 + (down ^ 1)]);
      down ^= 1;
    }
  }
  /* The older one first. */
  if (s == SHUNT_OK && !failed(r)) s = empty_slot(r, &slot[2 + down]);
  if (s == SHUNT_OK && !failed(r)) s = empty_slot(r, &slot[2 + (down ^ 1)]);
  return s;
}

void grb_cuda_run_work(struct grb_cuda_run *r, int number, char *lane)
{
  CUcontext before;
  struct slot slot[GRB_CUDA_SLOTS];
  shunt_status s = grb_cuda_enter(r->device, &before);
  if (s == SHUNT_OK) {
    for (int i = 0; i < GRB_CUDA_SLOTS; i++)
      slot[i] = (struct slot){lane + (int64_t)i * GRB_CUDA_SLOT_BYTES,
                              r->device->slot_done[number][i], NULL};
    s = take_tasks(r, slot);
    grb_cuda_leave(before);
  }
  if (s == SHUNT_OK) return;
  pthread_mutex_lock(&r->lock);
  fail(r, s);
  pthread_mutex_unlock(&r->lock);
}

/* ---- the list ------------------------------------------------------------------------------ */

struct list {
  struct grb_cuda_task *tasks; /* NULL: only count */
  int64_t count;
};

static void add(struct list *l, enum source what, int strip, int64_t first, int64_t count)
{
  if (l->tasks) l->tasks[l->count] = (struct grb_cuda_task){what, strip, first, count};
  l->count++;
}

/* Pieces of an array of `total` elements; how many there were. */
static int64_t add_array(struct list *l, enum source what, int64_t total, int64_t most)
{
  int64_t before = l->count;
  for (int64_t first = 0; first < total; first += most)
    add(l, what, 0, first, total - first < most ? total - first : most);
  return l->count - before;
}

/* Pieces of strip `up` of B and of strip `down` of C, in turns; a strip below 0 is none. */
static void add_strips(const struct grb_cuda_run *r, struct list *l, int up, int down)
{
  int64_t most = r->piece_bytes / (int64_t)element(r), first[2] = {0, 0};
  int64_t total[2] = {down < 0 ? 0 : r->p->s.rows * strip_columns(r, down),
                      up < 0 ? 0 : r->p->s.cols * strip_columns(r, up)};
  while (first[0] < total[0] || first[1] < total[1])
    for (int i = 0; i < 2; i++) {
      int64_t left = total[i] - first[i];
      if (left <= 0) continue;
      add(l, i ? DENSE_UP : DENSE_DOWN, i ? up : down, first[i], left < most ? left : most);
      first[i] += most;
    }
}

static void list_tasks(struct grb_cuda_run *r, struct list *l)
{
  const struct shunt_sparse *s = &r->p->s;
  const int ahead = GRB_CUDA_RING_B - 1, strips = r->plan.strips;
  const bool up = r->plan.b == GRB_CUDA_B_HOST;
  r->s_left = 0;
  if (r->rows) {
    r->s_left += add_array(l, OFFSETS, s->rows + 1, r->piece_bytes / 4);
    r->s_left += add_array(l, COLUMNS, s->nnz, r->piece_bytes / 4);
    if (!r->ones && !s->iso)
      r->s_left += add_array(l, VALUES, s->nnz, r->piece_bytes / (int64_t)element(r));
  }
  for (int i = 0; up && i < ahead && i < strips; i++)
    add_strips(r, l, i, -1);
  for (int i = 0; i < strips; i++)
    add_strips(r, l, up && i + ahead < strips ? i + ahead : -1, i);
  for (int i = 0; i < strips; i++) {
    r->b_left[i] = up ? pieces_of_strip(r, s->cols, i) : 0;
    r->c_left[i] = pieces_of_strip(r, s->rows, i);
  }
}

/* Pieces so small that every thread gets one of each strip, within reason. */
static int64_t choose_piece(const struct grb_cuda_run *r, int threads)
{
  const int64_t least = GRB_CUDA_SLOT_BYTES / 4;
  int64_t bytes = r->plan.c_strip > r->plan.b_strip ? r->plan.c_strip : r->plan.b_strip;
  bytes = bytes / threads / 4096 * 4096;
  return bytes < least ? least : bytes > GRB_CUDA_SLOT_BYTES ? GRB_CUDA_SLOT_BYTES : bytes;
}

shunt_status grb_cuda_run_make(struct grb_cuda_run *r, int threads)
{
  struct list l = {NULL, 0};
  r->piece_bytes = choose_piece(r, threads);
  r->launched = 0;
  atomic_init(&r->next, 0);
  atomic_init(&r->status, SHUNT_OK);
  atomic_init(&r->bytes_up, 0);
  atomic_init(&r->bytes_down, 0);
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->launch, NULL);
  r->tasks = NULL;
  r->committed = NULL;
  r->b_left = SHUNT_TRY_OR(NULL, calloc(2 * (size_t)r->plan.strips, sizeof *r->b_left));
  if (!r->b_left) return SHUNT_E_MEMORY;
  r->c_left = r->b_left + r->plan.strips;
  list_tasks(r, &l);
  r->task_count = l.count;
  r->tasks = SHUNT_TRY_OR(NULL, malloc((size_t)l.count * sizeof *r->tasks));
  r->committed = SHUNT_TRY_OR(NULL, calloc((size_t)l.count, 1));
  if (!r->tasks || !r->committed) return SHUNT_E_MEMORY;
  l = (struct list){r->tasks, 0};
  list_tasks(r, &l);
  shunt_status s = grb_cuda_events(r->device, 1 + 3 * r->plan.strips);
  /* What was allocated in order of this stream is used on others, too. */
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(r->device->compute));
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(&r->lock);
  s = advance(r); /* everything may be there already */
  pthread_mutex_unlock(&r->lock);
  return s;
}

shunt_status grb_cuda_run_finish(struct grb_cuda_run *r)
{
  cudaStream_t stream[] = {r->device->up, r->device->compute, r->device->down};
  shunt_status s = (shunt_status)atomic_load(&r->status);
  for (int i = 0; i < 3; i++) {
    cudaError_t e = cudaStreamSynchronize(stream[i]);
    if (s == SHUNT_OK) s = shunt_from_cuda(e);
  }
  return s;
}

/* ---- the rest of C += S (x) B --------------------------------------------------------------- */

bool grb_cuda_run_committed(const struct grb_cuda_run *r)
{
  for (int64_t i = 0; r->committed && i < r->task_count; i++)
    if (r->committed[i]) return true;
  return false;
}

static double value_at(const void *values, int64_t i, shunt_type type)
{
  return type == SHUNT_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static int64_t index_at(const void *array, int bytes, int64_t i)
{
  return bytes == 4 ? (int64_t)((const uint32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* C(i, j) += s B(k, j) for what a piece holds of row i: slow, and in need of nothing that
   could fail.  */
static void add_entry(const struct grb_cuda_run *r, const struct grb_cuda_task *t, int64_t i,
                      int64_t k, double s)
{
  const struct shunt_host_spmm *p = r->p;
  const shunt_type type = p->semiring.type;
  const bool by_column = grb_cuda_by_column(&p->c);
  const int64_t first = grb_cuda_strip_first(&r->plan, t->strip);
  const int64_t columns = strip_columns(r, t->strip);
  if (!by_column && ((i + 1) * columns <= t->first || i * columns >= t->first + t->count)) return;
  for (int64_t j = 0; j < columns; j++) {
    int64_t e = by_column ? j * p->c.rows + i : i * columns + j;
    if (e < t->first || e >= t->first + t->count) continue;
    int64_t b_at = k * p->b.row_stride + (first + j) * p->b.col_stride;
    double b =
        r->plan.b == GRB_CUDA_B_CONSTANT ? constant_of_b(r) : value_at(p->b.values, b_at, type);
    int64_t c_at = i * p->c.row_stride + (first + j) * p->c.col_stride;
    if (type == SHUNT_F32)
      ((float *)p->c.values)[c_at] += (float)(s * b);
    else
      ((double *)p->c.values)[c_at] += s * b;
  }
}

static void add_piece(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  const struct shunt_sparse *s = &r->p->s;
  for (int64_t v = 0; v < s->vectors; v++) {
    int64_t vector = s->ids ? index_at(s->ids, s->id_bytes, v) : v;
    int64_t end = index_at(s->offsets, s->offset_bytes, v + 1);
    for (int64_t q = index_at(s->offsets, s->offset_bytes, v); q < end; q++) {
      int64_t other = index_at(s->indices, s->index_bytes, q);
      double value = r->ones ? 1 : value_at(s->values, s->iso ? 0 : q, r->p->semiring.type);
      add_entry(r, t, s->by_column ? other : vector, s->by_column ? vector : other, value);
    }
  }
}

void grb_cuda_run_add_rest(const struct grb_cuda_run *r)
{
  for (int64_t i = 0; i < r->task_count; i++)
    if (r->tasks[i].what == DENSE_DOWN && !r->committed[i]) add_piece(r, &r->tasks[i]);
}

void grb_cuda_run_free(struct grb_cuda_run *r)
{
  free(r->tasks);
  free(r->b_left);
  free(r->committed);
  pthread_mutex_destroy(&r->lock);
  pthread_cond_destroy(&r->launch);
}
