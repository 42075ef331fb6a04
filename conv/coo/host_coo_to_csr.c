/* host_coo_to_csr.c: row offsets of a row-sorted COO matrix, on the host; the slow twin
   of coo_to_csr.cu.

     row_offsets[r] = base + number of entries before the first with row >= r

   found by binary search, so that even unsorted rows give offsets inside
   [base, nnz + base].  */
#include "conv/common/index.h"
#include "conv/coo/coo_conv.h"

static int64_t lower_bound(const void *rows, shunt_type type, int64_t nnz, int64_t row)
{
  int64_t low = 0, high = nnz;

  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (index_at(rows, type, middle) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

shunt_status shunt_coo_to_csr_host(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type index_type, int base, void *row_offsets,
                                   uint32_t *irregular)
{
  int bad = 0;

  if (index_type != SHUNT_I32 && index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  for (int64_t r = 0; r <= rows; r++) {
    int64_t p = r < rows ? lower_bound(row_indices, index_type, nnz, r + base) : nnz;
    if (index_type == SHUNT_I32)
      ((int32_t *)row_offsets)[r] = (int32_t)(p + base);
    else
      ((int64_t *)row_offsets)[r] = p + base;
  }
  for (int64_t p = 0; p < nnz; p++) {
    int64_t row = index_at(row_indices, index_type, p);
    bad |= row < base || row - base >= rows;
    bad |= p > 0 && row < index_at(row_indices, index_type, p - 1);
  }
  if (bad && irregular) *irregular |= SHUNT_IRREGULAR;
  return SHUNT_OK;
}
