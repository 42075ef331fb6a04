/* host_sorted_from_csr.c: the order of rows by length, on the host: the slow twin of
   sorted_from_csr.cu.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/sorted/sorted_conv.h"

static int64_t length_of(const struct shunt_csr *a, int64_t row)
{
  const uint64_t begin = (uint64_t)index_at(a->row_offsets, a->index_type, row);
  return (int64_t)((uint64_t)index_at(a->row_offsets, a->index_type, row + 1) - begin);
}

shunt_status shunt_csr_to_sorted_host(const struct shunt_csr *a, const struct shunt_sorted *out)
{
  int64_t place = 0;
  if (shunt_sorted_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (out->rows != a->rows) return SHUNT_E_ARGUMENT;
  memset(out->counts, 0, sizeof *out->counts);
  for (int64_t i = 0; i < a->rows; i++) out->kind[i] = (uint8_t)shunt_sorted_kind(length_of(a, i));
  for (int kind = SHUNT_SORTED_KINDS - 1; kind >= 0; kind--)
    for (int64_t i = 0; i < a->rows; i++)
      if (out->kind[i] == kind) out->order[place++] = (uint32_t)i;
  for (int64_t i = 0; i < a->rows; i++)
    for (int k = 0; k < SHUNT_SORTED_COUNTS; k++)
      out->counts->at_least[k] += out->kind[i] >= shunt_sorted_kind(shunt_sorted_least(k));
  return SHUNT_OK;
}
