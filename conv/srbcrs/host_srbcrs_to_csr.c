/* host_srbcrs_to_csr.c: the `srbcrs` format back to CSR, on the host.  Values are moved, never
   computed with.  A row's entries are the slots of its group whose masks name it, in the order of
   their columns. */
#include "conv/common/index.h"
#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/common/alignment.h"

static int value_of(const struct shunt_csr *a, int64_t entry)
{
  return a->value_type == SHUNT_I16 ? ((const int16_t *)a->values)[entry]
                                    : ((const int8_t *)a->values)[entry];
}
static void set_value(struct shunt_csr *a, int64_t entry, int x)
{
  if (a->value_type == SHUNT_I16)
    ((int16_t *)a->values)[entry] = (int16_t)x;
  else
    ((int8_t *)a->values)[entry] = (int8_t)x;
}

/* Before those of the row, which begins at entry `first`, whose columns are greater: spread ones
   are few.  */
static void insert(struct shunt_csr *a, int64_t first, int64_t at, int64_t column, int x)
{
  for (; at > first && index_at(a->columns, a->index_type, at - 1) > column; at--) {
    set_index((void *)a->columns, a->index_type, at, index_at(a->columns, a->index_type, at - 1));
    set_value(a, at, value_of(a, at - 1));
  }
  set_index((void *)a->columns, a->index_type, at, column);
  set_value(a, at, x);
}

shunt_status shunt_srbcrs_to_csr_host(const struct shunt_srbcrs *v, struct shunt_csr *a)
{
  int64_t count = 0;
  if (v->counts->irregular || !is_index(a->index_type)) return SHUNT_E_ARGUMENT;
  a->value_type = v->value_type;
  for (int64_t row = 0; row < v->rows; row++) {
    const int64_t g = row / v->height, first = count;
    const int64_t end = (int64_t)shunt_align_up(v->end[g], SHUNT_SRBCRS_STRIDE);
    const int r = (int)(row % v->height);
    set_index((void *)a->row_offsets, a->index_type, row, count + a->base);
    for (int64_t s = v->begin[g]; s < end; s++) {
      if (!(v->masks[s] >> r & 1)) continue;
      if (count == v->nnz) return SHUNT_E_ARGUMENT;
      insert(a, first, count++, (int64_t)v->columns[s] + a->base, shunt_srbcrs_value(v, r, s));
    }
  }
  set_index((void *)a->row_offsets, a->index_type, v->rows, count + a->base);
  a->rows = v->rows, a->cols = v->cols, a->nnz = count;
  return count == v->nnz ? SHUNT_OK : SHUNT_E_ARGUMENT;
}
