#include "backend/graphblas/mask.h"

#include <string.h>

size_t grb_mask_value_size(const struct grb_library *l, GrB_Type type)
{
  static const size_t size[GRB_NUMBER_COUNT] = {4, 8, 4, 8, 8};
  static const size_t other_size[GRB_OTHER_TYPE_COUNT] = {1, 1, 2, 1, 2, 4};
  for (int i = 0; i < GRB_NUMBER_COUNT; i++)
    if (type == l->type[i]) return size[i];
  for (int i = 0; i < GRB_OTHER_TYPE_COUNT; i++)
    if (type == l->other_type[i]) return other_size[i];
  return 0;
}

bool grb_mask_is_true(const void *values, size_t size, int64_t p)
{
  uint64_t x = 0;
  memcpy(&x, (const char *)values + (size_t)p * size, size);
  return x != 0;
}

/* Among n numbers of this size, those missing left out. */
static bool holds_minus_zero(const void *values, size_t size, const int8_t *present, int64_t n,
                             int threads)
{
  int found = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : found) if (n > 65536)
  for (int64_t i = 0; i < n; i++) {
    const bool minus = size == 4 ? ((const uint32_t *)values)[i] == UINT32_C(1) << 31
                                 : ((const uint64_t *)values)[i] == UINT64_C(1) << 63;
    found |= minus && (!present || present[i]);
  }
  return found;
}

struct shunt_verdict grb_mask_check_zeros(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const GrB_Type type = p->masked ? grb_operand_type(l, &p->mask) : NULL;
  if (!p->masked || p->settings.structural) return SHUNT_VERDICT(SHUNT_FITS);
  const size_t size = grb_mask_value_size(l, type);
  SHUNT_DECLINE_IF(size == 0, SHUNT_R_TYPES);
  if (type != l->type[GRB_FP32] && type != l->type[GRB_FP64]) return SHUNT_VERDICT(SHUNT_FITS);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->mask), SHUNT_R_EMPTY);
  const struct grb_operand *m = &p->mask;
  const bool dense = grb_operand_is_dense(m);
  const int64_t places = m->iso ? 1 : dense ? m->rows * m->cols : m->nnz;
  const int8_t *present = dense && !m->iso ? m->present : NULL;
  SHUNT_DECLINE_IF(holds_minus_zero(m->values, size, present, places, p->threads), SHUNT_R_MASK);
  return SHUNT_VERDICT(SHUNT_FITS);
}
