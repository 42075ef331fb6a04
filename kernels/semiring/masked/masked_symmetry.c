/* masked_symmetry.c: the proof that T is symmetric (masked.h). */
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/masked/masked_work.h"

static bool same_bytes(const void *x, const void *y, int64_t n, size_t size)
{
  return x == y || (x && y && memcmp(x, y, (size_t)n * size) == 0);
}

bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b)
{
  if (a->vectors != b->vectors || a->nnz != b->nnz || a->offset_bytes != b->offset_bytes ||
      a->index_bytes != b->index_bytes || (a->ids && b->ids && a->id_bytes != b->id_bytes))
    return false;
  return same_bytes(a->offsets, b->offsets, a->vectors + 1, (size_t)a->offset_bytes) &&
         same_bytes(a->ids, b->ids, a->vectors, (size_t)a->id_bytes) &&
         same_bytes(a->indices, b->indices, a->nnz, (size_t)a->index_bytes);
}

bool shunt_same_values(const struct shunt_sparse *a, const struct shunt_sparse *b, size_t size)
{
  return a->iso == b->iso && a->nnz == b->nnz &&
         same_bytes(a->values, b->values, a->iso ? 1 : a->nnz, size);
}

/* Are both operands read as one value each, or not at all? */
static bool values_alike(const struct shunt_masked_dot *p)
{
  return p->a.iso && p->b.iso;
}

static bool commutes(const struct shunt_masked_dot *p)
{
  const enum shunt_multiplier by = p->semiring.multiplier;
  return by == SHUNT_PAIR || by == SHUNT_TIMES || by == SHUNT_ADD || values_alike(p);
}

static bool are_one(const struct shunt_masked_dot *p)
{
  return p->a.by_column == p->b.by_column && commutes(p) &&
         (values_alike(p) || shunt_same_values(&p->a, &p->b, shunt_type_size(p->semiring.type))) &&
         shunt_same_pattern(&p->a, &p->b);
}

/* Would a proof that M is symmetric prove that A is, too, and B the same?  Then neither has to be
   transposed, whichever way they are held.  */
static bool all_are_one(const struct shunt_masked_dot *p)
{
  return values_alike(p) && p->a.rows == p->a.cols && p->b.rows == p->b.cols &&
         shunt_same_pattern(&p->m, &p->a) && shunt_same_pattern(&p->m, &p->b);
}

/* Fills x->mirror; next: [rows] scratch.  False: M is not symmetric. */
static bool pair_up(struct shunt_masked_dot_work *x, int64_t *next)
{
  const struct shunt_sparse m = x->p->m;
  const uint32_t *columns = x->columns;
  uint32_t *mirror = x->mirror;
  const int64_t n = m.rows;
  for (int64_t i = 0; i < n; i++) {
    const int64_t end = shunt_vector_begin(&m, i + 1);
    int64_t p = shunt_vector_begin(&m, i);
    for (; p < end && columns[p] < i; p++) {
      const int64_t j = columns[p], q = next[j]++;
      if (q >= shunt_vector_begin(&m, j + 1) || columns[q] != i) return false;
      mirror[p] = (uint32_t)q;
      mirror[q] = (uint32_t)p;
    }
    if (p < end && columns[p] == i) mirror[p] = (uint32_t)p, p++;
    next[i] = p; /* behind the diagonal */
  }
  for (int64_t i = 0; i < n; i++)
    if (next[i] != shunt_vector_begin(&m, i + 1)) return false;
  return true;
}

bool shunt_find_symmetry(struct shunt_masked_dot_work *x)
{
  struct shunt_masked_dot *p = &x->copy;
  const struct shunt_sparse *m = &p->m;
  if (m->rows != m->cols || m->ids || m->nnz > UINT32_MAX) return false;
  const bool one = all_are_one(p);
  if (!one && !are_one(p)) return false;
  int64_t *next = malloc(((size_t)m->rows + 1) * sizeof *next);
  x->mirror = malloc(((size_t)m->nnz + 1) * sizeof *x->mirror);
  const bool symmetric = next && x->mirror && pair_up(x, next);
  free(next);
  if (one && symmetric) p->a.by_column = p->b.by_column = false;
  return symmetric;
}
