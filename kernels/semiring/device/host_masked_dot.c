/* host_masked_dot.c: the twins of the masked dot product on the device, as its definition reads:
   each entry of row i of A against each of row j of B.  */
#include <string.h>

#include "kernels/semiring/device/masked_dot_cuda.h"
#include "kernels/semiring/masked/masked_rows.h"

/* The sum of one term more. */
static void add_term(const struct shunt_masked_device *p, int32_t e, int64_t at_a, int64_t at_b)
{
  const uint32_t each[2] = {0, 1};
  const size_t size = shunt_type_size(p->semiring.type);
  const struct shunt_semiring plus_first = {SHUNT_PLUS, SHUNT_FIRST, p->semiring.type, false};
  uint64_t terms[2] = {0, 0};
  char *term = (char *)terms + size; /* behind the sum so far */
  const char *a = p->a.values, *b = p->b.values;
  struct shunt_terms one = {.count = 1, .met = each, .k = each, .a = term, .b = term};
  if (p->semiring.multiplier != SHUNT_SECOND) one.a = a + (p->a.iso ? 0 : at_a) * (int64_t)size;
  if (p->semiring.multiplier != SHUNT_FIRST) one.b = b + (p->b.iso ? 0 : at_b) * (int64_t)size;
  shunt_sum_of (&p->semiring)(&p->semiring, &one, term, 0);
  if (p->counts[e] == 0) {
    memcpy((char *)p->values + (size_t)e * size, term, size);
    return;
  }
  memcpy(terms, (char *)p->values + (size_t)e * size, size);
  const struct shunt_terms two = {.count = 2, .met = each, .k = each, .a = terms, .b = terms};
  shunt_sum_of (&plus_first)(&plus_first, &two, p->values, e);
}

static void dot(const struct shunt_masked_device *p, int64_t i, int32_t e)
{
  const int32_t j = p->m.columns[e];
  p->counts[e] = 0;
  for (int32_t q = p->a.offsets[i]; q < p->a.offsets[i + 1]; q++)
    for (int32_t r = p->b.offsets[j]; r < p->b.offsets[j + 1]; r++) {
      if (p->a.columns[q] != p->b.columns[r]) continue;
      if (p->values) add_term(p, e, q, r);
      p->counts[e]++;
    }
}

shunt_status shunt_masked_dot_host(const struct shunt_masked_device *p)
{
  if (p->values && !shunt_sum_of(&p->semiring)) return SHUNT_E_UNSUPPORTED;
  for (int64_t i = 0; i < p->m.rows; i++)
    for (int32_t e = p->m.offsets[i]; e < p->m.offsets[i + 1]; e++) dot(p, i, e);
  return SHUNT_OK;
}

shunt_status shunt_masked_compact_host(const struct shunt_masked_compact *p)
{
  int32_t to = 0;
  for (int64_t i = 0; i < p->m.rows; i++) {
    p->to_offsets[i] = to;
    for (int32_t e = p->m.offsets[i]; e < p->m.offsets[i + 1]; e++) {
      if (p->counts[e] == 0) continue;
      p->to_columns[to] = p->m.columns[e];
      if (p->values)
        memcpy((char *)p->to_values + (size_t)to * p->size,
               (const char *)p->values + (size_t)e * p->size, p->size);
      to++;
    }
  }
  p->to_offsets[p->m.rows] = to;
  return SHUNT_OK;
}
