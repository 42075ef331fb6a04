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

/* Of a part, and of its columns first <= j < first + columns: elements first_element <= e <
   end_element, in the order of the host.  */
struct missing {
  const struct shunt_host_spmm *p; /* the whole product */
  const struct grb_gpu_part *part;
  int64_t first, columns, first_element, end_element;
};

/* C(i, j) += s B(k, j) for what is missing of row i: slow, and in need of nothing that could
   fail.  */
static void add_entry(const struct missing *m, int64_t i, int64_t k, double s)
{
  const struct shunt_host_spmm *p = m->p;
  const shunt_type type = p->semiring.type;
  const bool by_column = grb_gpu_by_column(&p->c), constant = grb_gpu_constant_b(p);
  const int64_t rows = m->part->row_end - m->part->row, row = i - m->part->row;
  if (row < 0 || row >= rows) return;
  if (!by_column &&
      ((row + 1) * m->columns <= m->first_element || row * m->columns >= m->end_element))
    return;
  for (int64_t j = 0; j < m->columns; j++) {
    int64_t e = by_column ? j * rows + row : row * m->columns + j;
    if (e < m->first_element || e >= m->end_element) continue;
    int64_t b_at = k * p->b.row_stride + (m->first + j) * p->b.col_stride;
    double b = constant ? grb_gpu_constant_of_b(p) : value_at(p->b.values, b_at, type);
    int64_t c_at = i * p->c.row_stride + (m->first + j) * p->c.col_stride;
    if (type == SHUNT_F32)
      ((float *)p->c.values)[c_at] += (float)(s * b);
    else
      ((double *)p->c.values)[c_at] += s * b;
  }
}

static void add(const struct missing *m)
{
  const struct shunt_sparse *s = &m->p->s;
  const bool ones = grb_gpu_ones(m->p);
  for (int64_t v = 0; v < s->vectors; v++) {
    int64_t vector = s->ids ? index_at(s->ids, s->id_bytes, v) : v;
    int64_t end = index_at(s->offsets, s->offset_bytes, v + 1);
    for (int64_t q = index_at(s->offsets, s->offset_bytes, v); q < end; q++) {
      int64_t other = index_at(s->indices, s->index_bytes, q);
      double value = ones ? 1 : value_at(s->values, s->iso ? 0 : q, m->p->semiring.type);
      add_entry(m, s->by_column ? other : vector, s->by_column ? vector : other, value);
    }
  }
}

void grb_gpu_part_add(const struct shunt_host_spmm *p, const struct grb_gpu_part *part)
{
  const int64_t columns = part->last - part->first;
  const struct missing m = {p,       part, part->first,
                            columns, 0,    (part->row_end - part->row) * columns};
  if (m.end_element > 0) add(&m);
}

void grb_gpu_run_add_missing(const struct grb_gpu_run *r)
{
  if (!r->tasks || !r->committed) {
    grb_gpu_part_add(r->whole, &r->part);
    return;
  }
  for (int64_t i = 0; i < r->task_count; i++) {
    const struct grb_gpu_task *t = &r->tasks[i];
    if (t->what != GRB_GPU_DENSE_DOWN || r->committed[i]) continue;
    const int s = grb_gpu_strip_of(r, t->unit);
    const struct missing m = {
        r->whole, &r->part,           grb_gpu_strip_first(&r->cut, s), grb_gpu_strip_columns(r, s),
        t->first, t->first + t->count};
    add(&m);
  }
}
