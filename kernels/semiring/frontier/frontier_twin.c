/* frontier_twin.c: the frontier product as its definition reads. */
#include <string.h>

#include "kernels/semiring/frontier/frontier_kernels.h"
#include "kernels/semiring/semiring_operands.h"

/* Is there an entry (i,j), and which? */
static bool find(const struct shunt_lines *x, int64_t i, int64_t j, double *value)
{
  const struct shunt_full *d = &x->full;
  if (x->dense) {
    const int64_t at = i * d->row_stride + j;
    if (d->present && !d->present[at]) return false;
    if (value) *value = ((const double *)d->values)[d->iso ? 0 : at];
    return true;
  }
  const struct shunt_line l = shunt_find_line(&x->sparse, i);
  for (int64_t q = l.begin; q < l.end; q++) {
    if (shunt_entry_index(&x->sparse, q) != j) continue;
    if (value) *value = ((const double *)x->sparse.values)[x->sparse.iso ? 0 : q];
    return true;
  }
  return false;
}

static void term(const struct shunt_frontier *p, int64_t s, int64_t k, int64_t j, double *values,
                 bool *exists)
{
  const int64_t at = s * p->a.cols + j;
  double value = 0;
  if (!find(&p->f, s, k, p->sums ? &value : NULL)) return;
  if (find(&p->m, s, j, NULL) == p->complement) return;
  if (p->sums) values[at] = exists[at] ? values[at] + value : value;
  if (p->parents && !(exists[at] && values[at] < (double)k)) values[at] = (double)k;
  exists[at] = true;
}

shunt_status shunt_frontier_twin(const struct shunt_frontier *p, double *values, bool *exists)
{
  const struct shunt_sparse *a = &p->a;
  memset(exists, 0, (size_t)(p->rows * a->cols));
  for (int64_t s = 0; s < p->rows; s++)
    for (int64_t v = 0; v < a->vectors; v++)
      for (int64_t q = shunt_vector_begin(a, v); q < shunt_vector_begin(a, v + 1); q++) {
        const int64_t id = shunt_vector_id(a, v), index = shunt_entry_index(a, q);
        term(p, s, a->by_column ? index : id, a->by_column ? id : index, values, exists);
      }
  return SHUNT_OK;
}
