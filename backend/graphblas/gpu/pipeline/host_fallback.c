#include "backend/graphblas/gpu/pipeline/host_fallback.h"

#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/pipeline/tasks.h"
#include "backend/graphblas/gpu/pipeline/units.h"

bool grb_gpu_run_committed(const struct grb_gpu_run *r)
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
static void add_entry(const struct grb_gpu_run *r, const struct grb_gpu_task *t, int64_t i,
                      int64_t k, double s)
{
  const struct shunt_host_spmm *p = r->p;
  const shunt_type type = p->semiring.type;
  const bool by_column = grb_gpu_by_column(&p->c);
  const int64_t first = grb_gpu_strip_first(&r->cut, grb_gpu_strip_of(r, t->unit));
  const int64_t columns = grb_gpu_strip_columns(r, grb_gpu_strip_of(r, t->unit));
  if (!by_column && ((i + 1) * columns <= t->first || i * columns >= t->first + t->count)) return;
  for (int64_t j = 0; j < columns; j++) {
    int64_t e = by_column ? j * p->c.rows + i : i * columns + j;
    if (e < t->first || e >= t->first + t->count) continue;
    int64_t b_at = k * p->b.row_stride + (first + j) * p->b.col_stride;
    double b = r->cut.b == GRB_GPU_B_CONSTANT ? grb_gpu_constant_of_b(r->p)
                                              : value_at(p->b.values, b_at, type);
    int64_t c_at = i * p->c.row_stride + (first + j) * p->c.col_stride;
    if (type == SHUNT_F32)
      ((float *)p->c.values)[c_at] += (float)(s * b);
    else
      ((double *)p->c.values)[c_at] += s * b;
  }
}

static void add_piece(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
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

void grb_gpu_run_add_missing(const struct grb_gpu_run *r)
{
  for (int64_t i = 0; i < r->task_count; i++)
    if (r->tasks[i].what == GRB_GPU_DENSE_DOWN && !r->committed[i]) add_piece(r, &r->tasks[i]);
}
