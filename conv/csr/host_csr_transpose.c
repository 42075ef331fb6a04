/* host_csr_transpose.c: the transpose of a CSR matrix, on the host; the slow twin of
   csr_transpose.cu.  */
#include "conv/common/index.h"
#include "conv/csr/csr_conv.h"
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"

#include <string.h>

/* Where A's entries begin, and how many there are, within its arrays. */
static void entries_of(const struct shunt_csr *a, int64_t *first, int64_t *last)
{
  *first = from_base(index_at(a->row_offsets, a->index_type, 0), a->base);
  *last = from_base(index_at(a->row_offsets, a->index_type, a->rows), a->base);
  if (*first < 0) *first = 0;
  if (*last > a->nnz) *last = a->nnz;
}

/* The last row that begins at `place` or before.  Of offsets that do not ascend, some row: the same
   as on the device. */
static int64_t row_of(const struct shunt_csr *a, int64_t place)
{
  int64_t low = 0;
  for (int64_t among = a->rows; among > 1; among -= among / 2) {
    const int64_t middle = low + among / 2;
    if (from_base(index_at(a->row_offsets, a->index_type, middle), a->base) <= place) low = middle;
  }
  return low;
}

/* -1: none of A's. */
static int64_t column_at(const struct shunt_csr *a, int64_t place)
{
  const int64_t c = from_base(index_at(a->columns, a->index_type, place), a->base);
  return c >= 0 && c < a->cols ? c : -1;
}

static void copy_value(const struct shunt_csr *a, bool conjugate, int64_t from, void *values,
                       int64_t to)
{
  const size_t size = shunt_type_size(a->value_type);
  char *at = (char *)values + (size_t)to * size;
  memcpy(at, (const char *)a->values + (size_t)from * size, size);
  /* The sign of the imaginary part is the last byte's, little-endian. */
  if (conjugate && shunt_type_is_complex(a->value_type)) at[size - 1] ^= (char)0x80;
}

/* offsets[c + 1]: first how many entries column c has, then where it begins, at last where it
   ends. */
shunt_status shunt_csr_transpose_host(const struct shunt_csr *a, bool conjugate,
                                      const struct shunt_transposed *out)
{
  int64_t first, last, begin = 0;
  if (!shunt_transposed_bytes(a, out->places != NULL)) return SHUNT_E_UNSUPPORTED;
  memset(out->words, 0, sizeof *out->words);
  memset(out->offsets, 0, (size_t)(a->cols + 1) * 4);
  entries_of(a, &first, &last);
  for (int64_t s = first; s < last; s++)
    if (column_at(a, s) >= 0) out->offsets[column_at(a, s) + 1]++;
  for (int64_t c = 0; c < a->cols; c++) {
    const int32_t count = out->offsets[c + 1];
    if ((uint32_t)count > out->words->longest) out->words->longest = (uint32_t)count;
    out->offsets[c + 1] = (int32_t)begin;
    begin += count;
  }
  for (int64_t s = first; s < last; s++) {
    const int64_t c = column_at(a, s);
    if (c < 0) continue;
    const int64_t t = out->offsets[c + 1]++;
    out->columns[t] = (int32_t)row_of(a, s);
    if (out->places) out->places[t] = (int32_t)s;
    if (out->values) copy_value(a, conjugate, s, out->values, t);
  }
  return SHUNT_OK;
}

static bool pattern_stands(const struct shunt_csr *a, const struct shunt_transpose_proof *proof)
{
  const struct shunt_csr pattern = shunt_fp_pattern_of(a);
  const struct shunt_fingerprint now = shunt_fingerprint_csr_host(&pattern);
  return now.lo == proof->expected->lo && now.hi == proof->expected->hi;
}

shunt_status shunt_transposed_refresh_host(const struct shunt_csr *a, bool conjugate,
                                           const struct shunt_transposed *kept,
                                           const struct shunt_transpose_proof *proof,
                                           const struct shunt_transposed *out)
{
  if (proof && !pattern_stands(a, proof)) {
    if (proof->changed) *proof->changed = 1;
    return shunt_csr_transpose_host(a, conjugate, out);
  }
  if (proof) memcpy(out->offsets, kept->offsets, (size_t)(a->cols + 1) * 4);
  const int32_t entries = kept->offsets[a->cols];
  for (int32_t t = 0; t < entries; t++) {
    if (proof) out->columns[t] = kept->columns[t];
    copy_value(a, conjugate, kept->places[t], out->values, t);
  }
  return SHUNT_OK;
}
