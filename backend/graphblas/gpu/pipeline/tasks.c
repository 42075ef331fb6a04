#include "backend/graphblas/gpu/pipeline/tasks.h"

#include <stdlib.h>

#include "backend/graphblas/gpu/pipeline/units.h"
#include "backend/plan/fault.h"

struct list {
  struct grb_gpu_task *tasks; /* NULL: only count */
  int64_t count;
};

/* Elements first .. end - 1 in pieces of `most`; how many pieces. */
static int64_t add(struct list *l, enum grb_gpu_source what, int unit, int64_t first, int64_t end,
                   int64_t most)
{
  const int64_t before = l->count;
  for (; first < end; first += most, l->count++)
    if (l->tasks)
      l->tasks[l->count] =
          (struct grb_gpu_task){what, unit, first, end - first < most ? end - first : most};
  return l->count - before;
}

static int64_t add_unit(const struct grb_gpu_run *r, struct list *l, bool of_b, int unit)
{
  return add(l, of_b ? GRB_GPU_DENSE_UP : GRB_GPU_DENSE_DOWN, unit,
             grb_gpu_unit_first(r, of_b, unit), grb_gpu_unit_last(r, of_b, unit),
             grb_gpu_piece(r, of_b, unit));
}

static void list_tasks(struct grb_gpu_run *r, struct list *l)
{
  const struct shunt_sparse *s = &r->p->s;
  const int64_t most = GRB_GPU_SLOT_BYTES, size = (int64_t)grb_gpu_element(r);
  r->s_left = 0;
  if (r->rows) {
    r->s_left += add(l, GRB_GPU_OFFSETS, 0, 0, s->rows + 1, most / 4);
    r->s_left += add(l, GRB_GPU_COLUMNS, 0, 0, s->nnz, most / 4);
    if (!r->ones && !s->iso) r->s_left += add(l, GRB_GPU_VALUES, 0, 0, s->nnz, most / size);
  }
  for (int i = 0; i < r->units; i++)
    r->b_left[i] = r->cut.b == GRB_GPU_B_HOST ? add_unit(r, l, true, i) : 0;
  r->up_count = l->count;
  for (int i = 0; i < r->units; i++) r->c_left[i] = add_unit(r, l, false, i);
}

shunt_status grb_gpu_tasks_make(struct grb_gpu_run *r)
{
  struct list l = {NULL, 0};
  r->units = r->cut.strips * r->cut.blocks;
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

void grb_gpu_tasks_free(struct grb_gpu_run *r)
{
  free(r->tasks);
  free(r->b_left);
  free(r->committed);
}
