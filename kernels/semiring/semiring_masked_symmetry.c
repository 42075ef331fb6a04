/* semiring_masked_symmetry.c: the proof that T is symmetric (semiring_masked.h). */
#include <stdlib.h>

#include "kernels/semiring/semiring_masked_rows.h"
#include "kernels/semiring/semiring_operands.h"

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

bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b)
{
  return a->offsets == b->offsets && a->indices == b->indices && a->ids == b->ids;
}

static bool same_arrays(const struct shunt_sparse *a, const struct shunt_sparse *b)
{
  return shunt_same_pattern(a, b) && a->by_column == b->by_column && a->values == b->values;
}

/* Would a proof that M is symmetric prove that A is, too, and B the same?  Then neither has to be
   transposed, whichever way they are held.  */
static bool all_are_one(const struct shunt_masked_dot *p)
{
  return shunt_same_pattern(&p->m, &p->a) && shunt_same_pattern(&p->m, &p->b) && values_alike(p) &&
         p->a.rows == p->a.cols && p->b.rows == p->b.cols;
}

/* Fills `mirror`; next: [rows] scratch.  False: M is not symmetric. */
static bool pair_up(const struct shunt_sparse *m, int64_t *next, uint32_t *mirror)
{
  for (int64_t i = 0; i < m->rows; i++) {
    const int64_t end = shunt_vector_begin(m, i + 1);
    int64_t p = shunt_vector_begin(m, i);
    for (; p < end && shunt_entry_index(m, p) < i; p++) {
      const int64_t j = shunt_entry_index(m, p), q = next[j]++;
      if (q >= shunt_vector_begin(m, j + 1) || shunt_entry_index(m, q) != i) return false;
      mirror[p] = (uint32_t)q;
      mirror[q] = (uint32_t)p;
    }
    if (p < end && shunt_entry_index(m, p) == i) mirror[p] = (uint32_t)p, p++;
    next[i] = p; /* behind the diagonal */
  }
  for (int64_t i = 0; i < m->rows; i++)
    if (next[i] != shunt_vector_begin(m, i + 1)) return false;
  return true;
}

bool shunt_find_symmetry(struct shunt_masked_dot *p, uint32_t **mirror)
{
  const struct shunt_sparse *m = &p->m;
  const bool one = all_are_one(p);
  *mirror = NULL;
  if (m->rows != m->cols || m->ids || m->nnz > UINT32_MAX ||
      !(one || (same_arrays(&p->a, &p->b) && commutes(p))))
    return false;
  int64_t *next = malloc(((size_t)m->rows + 1) * sizeof *next);
  *mirror = malloc(((size_t)m->nnz + 1) * sizeof **mirror);
  const bool symmetric = next && *mirror && pair_up(m, next, *mirror);
  free(next);
  if (one && symmetric) p->a.by_column = p->b.by_column = false;
  return symmetric;
}
