/* masked_twin.c: the masked dot product as its definition reads: for each entry of M, for
   each pair of entries of A and B that are in its row, in any order of storage.  */
#include <stdlib.h>
#include <string.h>

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
  for (int64_t v = 0; v < s->vectors; v++) {
    if (!s->by_column && shunt_vector_id(s, v) != row) continue;
    for (int64_t q = shunt_vector_begin(s, v); q < shunt_vector_begin(s, v + 1); q++) {
      int64_t i, k;
      entry(s, v, q, &i, &k);
      if (i == row) place[k] = q;
    }
  }
}

/* Row a's and row b's values where both have any, side by side. */
static int64_t meet(const struct shunt_masked_dot *p, size_t size, const int64_t *a,
                    const int64_t *b, char *u, char *w, uint32_t *each)
{
  int64_t count = 0;
  for (int64_t k = 0; k < p->a.cols; k++) {
    if (a[k] < 0 || b[k] < 0) continue;
    const size_t from_a = p->a.iso ? 0 : (size_t)a[k], from_b = p->b.iso ? 0 : (size_t)b[k];
    memcpy(u + (size_t)count * size, (const char *)p->a.values + from_a * size, size);
    memcpy(w + (size_t)count * size, (const char *)p->b.values + from_b * size, size);
    each[count] = (uint32_t)count;
    count++;
  }
  return count;
}

shunt_status shunt_masked_dot_twin(const struct shunt_masked_dot *p, void *values, bool *exists)
{
  const size_t k_end = (size_t)p->a.cols + 1, size = shunt_type_size(p->semiring.type);
  const shunt_sum sum = shunt_sum_of(&p->semiring);
  int64_t *place = malloc(k_end * (2 * sizeof *place + 2 * sizeof(uint64_t) + sizeof(uint32_t)));
  if (!sum || !place) {
    free(place);
    return sum ? SHUNT_E_MEMORY : SHUNT_E_UNSUPPORTED;
  }
  int64_t *other = place + k_end;
  char *u = (char *)(other + k_end), *w = u + k_end * sizeof(uint64_t);
  uint32_t *each = (uint32_t *)(void *)(w + k_end * sizeof(uint64_t));
  for (int64_t v = 0; v < p->m.vectors; v++) {
    spread_row(&p->a, shunt_vector_id(&p->m, v), place);
    for (int64_t q = shunt_vector_begin(&p->m, v); q < shunt_vector_begin(&p->m, v + 1); q++) {
      spread_row(&p->b, shunt_entry_index(&p->m, q), other);
      const struct shunt_terms terms = {
          .count = meet(p, size, place, other, u, w, each), .met = each, .k = each, .a = u, .b = w};
      exists[q] = terms.count > 0;
      if (exists[q]) sum(&p->semiring, &terms, values, q);
    }
  }
  free(place);
  return SHUNT_OK;
}
