/* host_dense_from_csr.c: CSR to row-major dense and back, on the host: the slow twin of
   dense_from_csr.cu.  Values are moved, never computed with.  */
#include <stdlib.h>
#include <string.h>

#include "conv/common/index.h"
#include "conv/dense/dense_conv.h"

/* Scatters row i into its zeroed place; nonzero when a column is out of range or
   repeats.  seen[c] == i + 1 marks a column of this row.  */
static int scatter_row(const struct shunt_csr *a, int64_t i, char *to, int64_t *seen)
{
  int64_t begin = index_at(a->row_offsets, a->index_type, i);
  int64_t end = index_at(a->row_offsets, a->index_type, i + 1);
  size_t size = shunt_type_size(a->value_type);
  int bad = 0;

  if (begin < a->base || end < begin || end - a->base > a->nnz) return 1;
  for (int64_t p = begin - a->base; p < end - a->base; p++) {
    int64_t c = index_at(a->columns, a->index_type, p);
    if (c < a->base || c - a->base >= a->cols) {
      bad = 1;
      continue;
    }
    c -= a->base;
    bad |= seen[c] == i + 1;
    seen[c] = i + 1;
    memcpy(to + (size_t)c * size, (const char *)a->values + (size_t)p * size, size);
  }
  return bad;
}

shunt_status shunt_csr_to_dense_host(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular)
{
  size_t size = shunt_type_size(a->value_type);
  int64_t *seen;
  int bad = 0;

  if (!is_index(a->index_type) || dense->type != a->value_type || dense->col_stride != 1 ||
      dense->row_stride < a->cols || dense->rows != a->rows || dense->cols != a->cols)
    return SHUNT_E_UNSUPPORTED;
  if (a->rows == 0 || dense->row_stride == 0) return SHUNT_OK;
  seen = calloc((size_t)a->cols + 1, sizeof *seen);
  if (!seen) return SHUNT_E_MEMORY;
  for (int64_t i = 0; i < a->rows; i++) {
    char *to = (char *)dense->values + (size_t)(i * dense->row_stride) * size;
    memset(to, 0, (size_t)dense->row_stride * size);
    bad |= scatter_row(a, i, to, seen);
  }
  free(seen);
  if (bad && irregular) *irregular |= SHUNT_IRREGULAR;
  return SHUNT_OK;
}

/* Whether an element counts as an entry: anything but a zero of either sign. */
static int is_entry(const void *element, shunt_type type)
{
  uint16_t h;
  float f, two[2];
  double g, wide[2];
  int64_t whole;

  switch (type) {
  case SHUNT_F16:
  case SHUNT_BF16: memcpy(&h, element, sizeof h); return (h & 0x7fff) != 0;
  case SHUNT_F32: memcpy(&f, element, sizeof f); return f != 0;
  case SHUNT_F64: memcpy(&g, element, sizeof g); return g != 0;
  case SHUNT_I8:
  case SHUNT_U8: return *(const uint8_t *)element != 0;
  case SHUNT_I32: return *(const int32_t *)element != 0;
  case SHUNT_I16: memcpy(&h, element, sizeof h); return h != 0;
  case SHUNT_C32: memcpy(two, element, sizeof two); return two[0] != 0 || two[1] != 0;
  case SHUNT_C64: memcpy(wide, element, sizeof wide); return wide[0] != 0 || wide[1] != 0;
  default: memcpy(&whole, element, sizeof whole); return whole != 0;
  }
}

shunt_status shunt_dense_to_csr_host(const struct shunt_dense *dense, struct shunt_csr *a)
{
  size_t size = shunt_type_size(a->value_type);
  void *offsets = (void *)(uintptr_t)a->row_offsets, *columns = (void *)(uintptr_t)a->columns;
  int64_t p = 0;

  if (!is_index(a->index_type) || dense->type != a->value_type) return SHUNT_E_UNSUPPORTED;
  a->rows = dense->rows;
  a->cols = dense->cols;
  for (int64_t i = 0; i < dense->rows; i++) {
    set_index(offsets, a->index_type, i, p + a->base);
    for (int64_t j = 0; j < dense->cols; j++) {
      int64_t at = i * dense->row_stride + j * dense->col_stride;
      const char *element = (const char *)dense->values + (size_t)at * size;
      if (!is_entry(element, dense->type)) continue;
      set_index(columns, a->index_type, p, j + a->base);
      memcpy((char *)a->values + (size_t)p * size, element, size);
      p++;
    }
  }
  set_index(offsets, a->index_type, dense->rows, p + a->base);
  a->nnz = p;
  return SHUNT_OK;
}
