/* csr_transpose_layout.c: sizes of a transpose, and its arrays in one allocation. */
#include "conv/csr/csr_conv.h"
#include "kernels/common/alignment.h"

#include <string.h>

static bool can_be_made(const struct shunt_csr *a)
{
  const int64_t most = INT32_MAX - 1024;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return false;
  if (a->rows < 1 || a->cols < 1 || a->nnz < 0) return false;
  return a->rows < most && a->cols < most && a->nnz < most;
}

/* The words stand before the offsets, as both are set to zero together. */
static size_t lay_out(const struct shunt_csr *a, bool kept, char *memory,
                      struct shunt_transposed *out)
{
  size_t at = 0;
  memset(out, 0, sizeof *out);
  if (!can_be_made(a)) return 0;
  out->words = shunt_place_in(memory, &at, sizeof *out->words);
  out->offsets = shunt_place_in(memory, &at, (size_t)(a->cols + 1) * 4);
  out->columns = shunt_place_in(memory, &at, (size_t)a->nnz * 4);
  if (kept)
    out->places = shunt_place_in(memory, &at, (size_t)a->nnz * 4);
  else
    out->values = shunt_place_in(memory, &at, (size_t)a->nnz * shunt_type_size(a->value_type));
  return shunt_align_up(at, 256);
}

size_t shunt_transposed_bytes(const struct shunt_csr *a, bool kept)
{
  struct shunt_transposed none;
  return lay_out(a, kept, NULL, &none);
}

bool shunt_transposed_lay_out(const struct shunt_csr *a, bool kept, void *memory,
                              struct shunt_transposed *out)
{
  return lay_out(a, kept, memory, out) != 0;
}

struct shunt_csr shunt_transposed_csr(const struct shunt_csr *a,
                                      const struct shunt_transposed *pattern, void *values)
{
  return (struct shunt_csr){.rows = a->cols,
                            .cols = a->rows,
                            .nnz = a->nnz,
                            .row_offsets = pattern ? pattern->offsets : NULL,
                            .columns = pattern ? pattern->columns : NULL,
                            .values = values,
                            .index_type = SHUNT_I32,
                            .value_type = a->value_type};
}
