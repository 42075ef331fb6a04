#include "backend/graphblas/cuda_pipeline.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/cuda_fill.h"
#include "backend/graphblas/cuda_strip.h"
#include "backend/plan/cuda_call.h"

enum source { OFFSETS, COLUMNS, VALUES, DENSE_UP, DENSE_DOWN };

/* Elements first <= e < first + count of an array of S, or of a strip. */
struct grb_cuda_task {
  enum source what;
  int unit;
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

static int strip_of(const struct grb_cuda_run *r, int unit)
{
  return unit / r->plan.blocks;
}

/* Where a unit's block begins, in rows; `end`: where it ends. */
static int64_t unit_row(const struct grb_cuda_run *r, bool of_b, int unit, int end)
{
  const int i = unit % r->plan.blocks;
  return grb_cuda_block_first(&r->plan, of_b ? r->p->s.cols : r->p->s.rows,
                              (of_b ? r->plan.b_order[i] : r->plan.c_order[i]) + end);
}

/* The unit's elements, counted in its strip: the first, and the end. */
static int64_t unit_first(const struct grb_cuda_run *r, bool of_b, int unit)
{
  return unit_row(r, of_b, unit, 0) * strip_columns(r, strip_of(r, unit));
}

static int64_t unit_last(const struct grb_cuda_run *r, bool of_b, int unit)
{
  return unit_row(r, of_b, unit, 1) * strip_columns(r, strip_of(r, unit));
}

/* Units of B, from the first on, that product `unit` waits for. */
static int units_needed(const struct grb_cuda_run *r, int unit)
{
  const int i = unit % r->plan.blocks;
  return r->plan.b == GRB_CUDA_B_HOST ? unit - i + r->plan.needed[i] : 0;
}

/* ---- where strips are on the device ------------------------------------------------------ */

/* As copied up, and as copied down: in the host's order. */
static char *b_as_sent(const struct grb_cuda_run *r, int s)
{
  if (!r->plan.b_ring) return r->b + s * r->plan.b_strip;
  return r->block + r->plan.b_ring_at + s % r->plan.b_ring_strips * r->plan.b_strip;
}

static char *c_kept(const struct grb_cuda_run *r, int unit)
{
  return r->c + strip_of(r, unit) * r->plan.c_strip +
         unit_first(r, false, unit) * (int64_t)element(r);
}

static char *c_as_fetched(const struct grb_cuda_run *r, int unit)
{
  if (!r->plan.c_ring) return c_kept(r, unit);
  return r->block + r->plan.c_ring_at + unit % r->plan.c_ring_blocks * r->plan.c_block;
}

/* As the kernel wants them: row-major. */
static char *b_rows(const struct grb_cuda_run *r, int s)
{
  if (r->plan.b == GRB_CUDA_B_CONSTANT) return r->block + r->plan.b_scratch_at;
  if (r->b) return r->b + s * r->plan.b_strip;
  return r->plan.b_turned ? r->block + r->plan.b_scratch_at : b_as_sent(r, s);
}

static char *c_rows(const struct grb_cuda_run *r, int unit)
{
  if (r->c) return c_kept(r, unit);
  return r->plan.c_turned ? r->block + r->plan.c_scratch_at : c_as_fetched(r, unit);
}

/* ---- events: one of each kind per unit, and one for S ------------------------------------ */

static cudaEvent_t sent(const struct grb_cuda_run *r, int unit)
{
  return r->device->events[1 + 3 * unit];
}
static cudaEvent_t computed(const struct grb_cuda_run *r, int unit)
{
  return r->device->events[2 + 3 * unit];
}
static cudaEvent_t fetched(const struct grb_cuda_run *r, int unit)
{
  return r->device->events[3 + 3 * unit];
}

/* ---- the product of one unit ------------------------------------------------------------- */

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

static shunt_status multiply(const struct grb_cuda_run *r, int unit)
{
  const struct shunt_host_spmm *p = r->p;
  const int blocks = r->plan.blocks, block = r->plan.c_order[unit % blocks], s = strip_of(r, unit);
  const int64_t columns = strip_columns(r, s);
  const int64_t first = unit_row(r, false, unit, 0);
  const int64_t rows = unit_row(r, false, unit, 1) - first;
  const int32_t *begin = &r->s.chunks.begin[block * (GRB_CUDA_CHUNKS / blocks)];
  const struct shunt_spmm x = {
      .a = {.rows = rows,
            .cols = p->s.cols,
            .nnz = begin[GRB_CUDA_CHUNKS / blocks] - begin[0],
            .row_offsets = r->s.offsets + first,
            .columns = r->s.columns,
            .values = r->s.values,
            .index_type = SHUNT_I32,
            .value_type = p->semiring.type},
      .b = dense(r, b_rows(r, s), p->s.cols, columns, false),
      .c = dense(r, c_rows(r, unit), rows, columns, false),
      .alpha = {.host = 1},
      .compute = p->semiring.type,
  };
  const struct shunt_device *d = &r->device->about;
  /* The kernel would look for long rows from entry 0 on, which is not the block's first.  The plan
     has seen to it that there are none that matter.  */
  if (blocks > 1)
    return SHUNT_LAUNCH(shunt_spmm_csr_rows_split_cuda(&x, 0, d, NULL, 0, r->device->compute));
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

static shunt_status launch(struct grb_cuda_run *r, int unit)
{
  const struct grb_cuda_plan *plan = &r->plan;
  const int s = strip_of(r, unit);
  cudaStream_t stream = r->device->compute;
  shunt_status status = SHUNT_OK;
  if (unit == 0) {
    status = fill_constants(r);
    if (status == SHUNT_OK && r->rows)
      status = SHUNT_CUDA(cudaStreamWaitEvent(stream, r->device->events[0], 0));
  }
  while (status == SHUNT_OK && r->b_awaited < units_needed(r, unit))
    status = SHUNT_CUDA(cudaStreamWaitEvent(stream, sent(r, r->b_awaited++), 0));
  if (status == SHUNT_OK && plan->c_ring && unit >= plan->c_ring_blocks)
    status = SHUNT_CUDA(cudaStreamWaitEvent(stream, fetched(r, unit - plan->c_ring_blocks), 0));
  if (status == SHUNT_OK && plan->b == GRB_CUDA_B_HOST && plan->b_turned)
    status = turn(r, b_as_sent(r, s), b_rows(r, s), r->p->s.cols, strip_columns(r, s), true);
  if (status == SHUNT_OK) status = multiply(r, unit);
  if (status == SHUNT_OK && plan->c_turned)
    status =
        turn(r, c_rows(r, unit), c_as_fetched(r, unit), r->p->s.rows, strip_columns(r, s), false);
  if (status == SHUNT_OK) status = SHUNT_CUDA(cudaEventRecord(computed(r, unit), stream));
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
  const int unit = atomic_load(&r->launched), ring = r->plan.c_ring_blocks;
  return unit < r->units && r->s_left == 0 && r->b_ready >= units_needed(r, unit) &&
         (!r->plan.c_ring || unit < ring || r->c_left[unit - ring] == 0);
}

static shunt_status advance(struct grb_cuda_run *r)
{
  shunt_status status = SHUNT_OK;
  while (r->b_ready < r->units && r->b_left[r->b_ready] == 0)
    r->b_ready++;
  while (status == SHUNT_OK && may_launch(r)) {
    status = launch(r, atomic_load(&r->launched));
    if (status == SHUNT_OK) atomic_fetch_add(&r->launched, 1);
  }
  pthread_cond_broadcast(&r->launch);
  return status;
}

static bool launched(const struct grb_cuda_run *r, int unit)
{
  return atomic_load(&r->launched) > unit || failed(r);
}

/* The product has been launched, or the run has failed.  As a rule that is a matter of a copy, less
   than a sleeper takes to wake up.  The lock is given up meanwhile.  */
static void wait_for_launch(struct grb_cuda_run *r, int unit)
{
  enum { PATIENCE = 200 };
  if (launched(r, unit)) return;
  pthread_mutex_unlock(&r->lock);
  for (int i = 0; i < PATIENCE && !launched(r, unit); i++)
    sched_yield();
  pthread_mutex_lock(&r->lock);
  while (!launched(r, unit))
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
    struct grb_cuda_strip strip = host_strip(r, &r->p->b, strip_of(r, t->unit));
    grb_cuda_strip_read(&strip, t->first, t->count, to);
  }
  }
}

static char *destination(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  char *base = t->what == OFFSETS   ? (char *)r->s.offsets
               : t->what == COLUMNS ? (char *)r->s.columns
               : t->what == VALUES  ? (char *)r->s.values
                                    : b_as_sent(r, strip_of(r, t->unit));
  return base + t->first * (int64_t)task_element(r, t);
}

static int64_t pieces_of_unit(const struct grb_cuda_run *r, bool of_b, int unit)
{
  int64_t most = r->piece_bytes / (int64_t)element(r);
  return (unit_last(r, of_b, unit) - unit_first(r, of_b, unit) + most - 1) / most;
}

/* The last unit whose product reads what the task's place in the ring of B held before; negative:
   none.  */
static int last_reader(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  if (t->what != DENSE_UP || !r->plan.b_ring) return -1;
  return (strip_of(r, t->unit) - r->plan.b_ring_strips + 1) * r->plan.blocks - 1;
}

/* The lock is held. */
static shunt_status enqueue_up(struct grb_cuda_run *r, const struct grb_cuda_task *t,
                               struct slot *slot)
{
  cudaStream_t up = r->device->up;
  const bool of_b = t->what == DENSE_UP;
  const int reader = last_reader(r, t);
  int64_t *left = of_b ? &r->b_left[t->unit] : &r->s_left;
  size_t bytes = (size_t)t->count * task_element(r, t);
  shunt_status s = SHUNT_OK;
  if (reader >= 0 && *left == pieces_of_unit(r, true, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(up, computed(r, reader), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(destination(r, t), slot->memory, bytes, cudaMemcpyHostToDevice, up));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, up));
  if (s != SHUNT_OK) return s;
  slot->task = t;
  atomic_fetch_add(&r->bytes_up, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(of_b ? sent(r, t->unit) : r->device->events[0], up));
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
  wait_for_launch(r, last_reader(r, t));
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
  struct grb_cuda_strip strip = host_strip(r, &r->p->c, strip_of(r, t->unit));
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
  int64_t *left = &r->c_left[t->unit];
  int64_t place = t->first - unit_first(r, false, t->unit);
  size_t bytes = (size_t)t->count * element(r);
  shunt_status s = SHUNT_OK;
  if (*left == pieces_of_unit(r, false, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(down, computed(r, t->unit), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync(slot->memory,
                                   c_as_fetched(r, t->unit) + place * (int64_t)element(r), bytes,
                                   cudaMemcpyDeviceToHost, down));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, down));
  if (s != SHUNT_OK) return s;
  slot->task = t;
  atomic_fetch_add(&r->bytes_down, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(fetched(r, t->unit), down));
  return s == SHUNT_OK ? advance(r) : s;
}

static shunt_status fetch(struct grb_cuda_run *r, const struct grb_cuda_task *t, struct slot *slot,
                          struct slot *other)
{
  shunt_status s = empty_slot(r, slot);
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(&r->lock);
  if (!launched(r, t->unit) && other->task) { /* something better to do than to wait */
    pthread_mutex_unlock(&r->lock);
    s = empty_slot(r, other);
    pthread_mutex_lock(&r->lock);
  }
  wait_for_launch(r, t->unit);
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

static void add(struct list *l, enum source what, int unit, int64_t first, int64_t count)
{
  if (l->tasks) l->tasks[l->count] = (struct grb_cuda_task){what, unit, first, count};
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

/* What is left to be listed of units unit .. end - 1 of B or C. */
struct rest {
  enum source what;
  int unit, end;
  int64_t first; /* element of the next piece */
};

static struct rest make_rest(const struct grb_cuda_run *r, enum source what, int unit, int end)
{
  return (struct rest){what, unit, end, unit < end ? unit_first(r, what == DENSE_UP, unit) : 0};
}

static void add_next_piece(const struct grb_cuda_run *r, struct list *l, struct rest *rest)
{
  if (rest->unit >= rest->end) return;
  int64_t most = r->piece_bytes / (int64_t)element(r);
  int64_t left = unit_last(r, rest->what == DENSE_UP, rest->unit) - rest->first;
  add(l, rest->what, rest->unit, rest->first, left < most ? left : most);
  if (left <= most)
    *rest = make_rest(r, rest->what, rest->unit + 1, rest->end);
  else
    rest->first += most;
}

/* Units of B that stand in the list before product `unit`'s C. */
static int units_before(const struct grb_cuda_run *r, int unit)
{
  if (r->plan.b != GRB_CUDA_B_HOST) return 0;
  if (unit >= r->units) return r->units;
  int before = units_needed(r, unit) + r->ahead;
  return before < r->units ? before : r->units;
}

/* Unit `down` of C, none if negative, in turns with units of B up to what the next one needs. */
static void add_units(const struct grb_cuda_run *r, struct list *l, int down, int *listed)
{
  int end = units_before(r, down + 1);
  struct rest c = make_rest(r, DENSE_DOWN, down, down < 0 ? down : down + 1);
  struct rest b = make_rest(r, DENSE_UP, *listed, end);
  while (c.unit < c.end || b.unit < b.end) {
    add_next_piece(r, l, &c);
    add_next_piece(r, l, &b);
  }
  if (end > *listed) *listed = end;
}

static void list_tasks(struct grb_cuda_run *r, struct list *l)
{
  const struct shunt_sparse *s = &r->p->s;
  const bool up = r->plan.b == GRB_CUDA_B_HOST;
  int listed = 0;
  r->s_left = 0;
  if (r->rows) {
    r->s_left += add_array(l, OFFSETS, s->rows + 1, r->piece_bytes / 4);
    r->s_left += add_array(l, COLUMNS, s->nnz, r->piece_bytes / 4);
    if (!r->ones && !s->iso)
      r->s_left += add_array(l, VALUES, s->nnz, r->piece_bytes / (int64_t)element(r));
  }
  for (int i = -1; i < r->units; i++)
    add_units(r, l, i, &listed);
  for (int i = 0; i < r->units; i++) {
    r->b_left[i] = up ? pieces_of_unit(r, true, i) : 0;
    r->c_left[i] = pieces_of_unit(r, false, i);
  }
}

/* Pieces so small that every thread gets some, within reason: each takes the driver microseconds.
 */
static int64_t choose_piece(const struct grb_cuda_run *r, int threads)
{
  const int64_t least = GRB_CUDA_SLOT_BYTES / 4, per_thread = 8;
  int64_t bytes = r->plan.c_strip > r->plan.b_strip ? r->plan.c_strip : r->plan.b_strip;
  bytes = bytes * r->plan.strips / (per_thread * threads) / 4096 * 4096;
  return bytes < least ? least : bytes > GRB_CUDA_SLOT_BYTES ? GRB_CUDA_SLOT_BYTES : bytes;
}

/* A unit, and what the threads hold in their hands; a strip at most, for the ring's sake. */
static int choose_ahead(const struct grb_cuda_run *r, int threads)
{
  int64_t unit = r->plan.b_strip / r->plan.blocks;
  int64_t ahead = 1 + threads * r->piece_bytes / (unit > 0 ? unit : 1);
  return ahead < r->plan.blocks ? (int)ahead : r->plan.blocks;
}

static void make_lock(struct grb_cuda_run *r)
{
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  /* It is held for microseconds, which is no time to sleep. */
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&r->lock, &kind);
  pthread_mutexattr_destroy(&kind);
  pthread_cond_init(&r->launch, NULL);
}

shunt_status grb_cuda_run_make(struct grb_cuda_run *r, int threads)
{
  struct list l = {NULL, 0};
  r->piece_bytes = choose_piece(r, threads);
  r->ahead = choose_ahead(r, threads);
  r->units = r->plan.strips * r->plan.blocks;
  r->b_ready = r->b_awaited = 0;
  atomic_init(&r->launched, 0);
  atomic_init(&r->next, 0);
  atomic_init(&r->status, SHUNT_OK);
  atomic_init(&r->bytes_up, 0);
  atomic_init(&r->bytes_down, 0);
  make_lock(r);
  r->tasks = NULL;
  r->committed = NULL;
  r->b_left = SHUNT_TRY_OR(NULL, calloc(2 * (size_t)r->units, sizeof *r->b_left));
  if (!r->b_left) return SHUNT_E_MEMORY;
  r->c_left = r->b_left + r->units;
  list_tasks(r, &l);
  r->task_count = l.count;
  r->tasks = SHUNT_TRY_OR(NULL, malloc((size_t)l.count * sizeof *r->tasks));
  r->committed = SHUNT_TRY_OR(NULL, calloc((size_t)l.count, 1));
  if (!r->tasks || !r->committed) return SHUNT_E_MEMORY;
  l = (struct list){r->tasks, 0};
  list_tasks(r, &l);
  shunt_status s = grb_cuda_events(r->device, 1 + 3 * r->units);
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
  const int64_t first = grb_cuda_strip_first(&r->plan, strip_of(r, t->unit));
  const int64_t columns = strip_columns(r, strip_of(r, t->unit));
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
