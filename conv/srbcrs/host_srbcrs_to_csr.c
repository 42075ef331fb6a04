/* host_srbcrs_to_csr.c: the `srbcrs` format back to CSR, on the host.  Values are moved, never
   computed with.  A row's entries are the slots of its group whose masks name it. */
#include "conv/common/index.h"
#include "conv/srbcrs/srbcrs_conv.h"

shunt_status shunt_srbcrs_to_csr_host(const struct shunt_srbcrs *v, struct shunt_csr *a)
{
  int64_t count = 0;
  if (v->counts->irregular || !is_index(a->index_type)) return SHUNT_E_ARGUMENT;
  for (int64_t row = 0; row < v->rows; row++) {
    const int64_t g = row / v->height;
    const int r = (int)(row % v->height);
    set_index((void *)a->row_offsets, a->index_type, row, count + a->base);
    for (int64_t s = v->begin[g]; s < v->end[g]; s++) {
      if (!(v->masks[s] >> r & 1)) continue;
      if (count == v->nnz) return SHUNT_E_ARGUMENT;
      set_index((void *)a->columns, a->index_type, count, (int64_t)v->columns[s] + a->base);
      const int x = shunt_srbcrs_value(v, r, s);
      if (v->value_type == SHUNT_I16)
        ((int16_t *)a->values)[count] = (int16_t)x;
      else
        ((int8_t *)a->values)[count] = (int8_t)x;
      count++;
    }
  }
  set_index((void *)a->row_offsets, a->index_type, v->rows, count + a->base);
  a->rows = v->rows, a->cols = v->cols, a->nnz = count;
  a->value_type = v->value_type;
  return count == v->nnz ? SHUNT_OK : SHUNT_E_ARGUMENT;
}
