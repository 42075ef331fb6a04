/* masked_twin.c: the masked dot product as its definition reads: for each entry of M, for
   each pair of entries of A and B that are in its row, in any order of storage.  */
#include <stdlib.h>

#include "kernels/semiring/masked/masked.h"
#include "kernels/semiring/masked/masked_rows.h"
#include "kernels/semiring/semiring_operands.h"

/* One entry of a sparse matrix, wherever it stands. */
static void entry(const struct shunt_sparse *s, int64_t v, int64_t q, int64_t *i, int64_t *k)
{
  const int64_t id = shunt_vector_id(s, v), index = shunt_entry_index(s, q);
  *i = s->by_column ? index : id;
  *k = s->by_column ? id : index;
}

/* place[k]: the entry of row i in column k, or -1. */
static void spread_row(const struct shunt_sparse *s, int64_t row, int64_t *place)
{
  for (int64_t k = 0; k < s->cols; k++) place[k] = -1;
  for (int64_t v = 0; v < s->vectors; v++)
    for (int64_t q = shunt_vector_begin(s, v); q < shunt_vector_begin(s, v + 1); q++) {
      int64_t i, k;
      entry(s, v, q, &i, &k);
      if (i == row) place[k] = q;
    }
}

shunt_status shunt_masked_dot_twin(const struct shunt_masked_dot *p, void *values, bool *exists)
{
  const size_t k_end = (size_t)p->a.cols;
  const struct shunt_rows a = {.values = p->a.values, .iso = p->a.iso};
  const struct shunt_rows b = {.values = p->b.values, .iso = p->b.iso};
  const shunt_sum sum = shunt_sum_of(p->semiring.type);
  int64_t *place = malloc((4 * k_end + 4) * sizeof *place);
  if (!sum || !place) {
    free(place);
    return sum ? SHUNT_E_MEMORY : SHUNT_E_UNSUPPORTED;
  }
  int64_t *other = place + k_end + 1;
  struct shunt_meetings met = {0, other + k_end + 1, other + 2 * k_end + 2};
  for (int64_t v = 0; v < p->m.vectors; v++)
    for (int64_t q = shunt_vector_begin(&p->m, v); q < shunt_vector_begin(&p->m, v + 1); q++) {
      spread_row(&p->a, shunt_vector_id(&p->m, v), place);
      spread_row(&p->b, shunt_entry_index(&p->m, q), other);
      met.count = 0;
      for (size_t k = 0; k < k_end; k++) {
        if (place[k] < 0 || other[k] < 0) continue;
        met.a[met.count] = place[k];
        met.b[met.count++] = other[k];
      }
      exists[q] = met.count > 0;
      if (exists[q]) sum(&p->semiring, &a, &b, &met, values, q);
    }
  free(place);
  return SHUNT_OK;
}
