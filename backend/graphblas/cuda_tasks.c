#include "backend/graphblas/cuda_tasks.h"

#include <stdlib.h>

#include "backend/graphblas/cuda_units.h"
#include "backend/plan/fault.h"

struct list {
  struct grb_cuda_task *tasks; /* NULL: only count */
  int64_t count;
};

static void add(struct list *l, enum grb_cuda_source what, int unit, int64_t first, int64_t count)
{
  if (l->tasks) l->tasks[l->count] = (struct grb_cuda_task){what, unit, first, count};
  l->count++;
}

/* Pieces of an array of `total` elements; how many there were. */
static int64_t add_array(struct list *l, enum grb_cuda_source what, int64_t total, int64_t most)
{
  int64_t before = l->count;
  for (int64_t first = 0; first < total; first += most)
    add(l, what, 0, first, total - first < most ? total - first : most);
  return l->count - before;
}

/* What is left to be listed of units unit .. end - 1 of B or C. */
struct rest {
  enum grb_cuda_source what;
  int unit, end;
  int64_t first; /* element of the next piece */
};

static struct rest make_rest(const struct grb_cuda_run *r, enum grb_cuda_source what, int unit,
                             int end)
{
  return (struct rest){what, unit, end,
                       unit < end ? grb_cuda_unit_first(r, what == GRB_CUDA_DENSE_UP, unit) : 0};
}

static void add_next_piece(const struct grb_cuda_run *r, struct list *l, struct rest *rest)
{
  if (rest->unit >= rest->end) return;
  int64_t most = r->piece_bytes / (int64_t)grb_cuda_element(r);
  int64_t left = grb_cuda_unit_last(r, rest->what == GRB_CUDA_DENSE_UP, rest->unit) - rest->first;
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
  int before = grb_cuda_units_needed(r, unit) + r->ahead;
  return before < r->units ? before : r->units;
}

/* Unit `down` of C, none if negative, in turns with units of B up to what the next one needs. */
static void add_units(const struct grb_cuda_run *r, struct list *l, int down, int *listed)
{
  int end = units_before(r, down + 1);
  struct rest c = make_rest(r, GRB_CUDA_DENSE_DOWN, down, down < 0 ? down : down + 1);
  struct rest b = make_rest(r, GRB_CUDA_DENSE_UP, *listed, end);
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
    r->s_left += add_array(l, GRB_CUDA_OFFSETS, s->rows + 1, r->piece_bytes / 4);
    r->s_left += add_array(l, GRB_CUDA_COLUMNS, s->nnz, r->piece_bytes / 4);
    if (!r->ones && !s->iso)
      r->s_left +=
          add_array(l, GRB_CUDA_VALUES, s->nnz, r->piece_bytes / (int64_t)grb_cuda_element(r));
  }
  for (int i = -1; i < r->units; i++)
    add_units(r, l, i, &listed);
  for (int i = 0; i < r->units; i++) {
    r->b_left[i] = up ? grb_cuda_unit_pieces(r, true, i) : 0;
    r->c_left[i] = grb_cuda_unit_pieces(r, false, i);
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

shunt_status grb_cuda_tasks_make(struct grb_cuda_run *r, int threads)
{
  struct list l = {NULL, 0};
  r->piece_bytes = choose_piece(r, threads);
  r->ahead = choose_ahead(r, threads);
  r->units = r->plan.strips * r->plan.blocks;
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
  return SHUNT_OK;
}

void grb_cuda_tasks_free(struct grb_cuda_run *r)
{
  free(r->tasks);
  free(r->b_left);
  free(r->committed);
}
