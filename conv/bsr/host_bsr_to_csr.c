/* host_bsr_to_csr.c: BSR and Blocked-ELL to CSR, on the host: the slow twin of
   bsr_to_csr.cu; and the sizes.  Values are moved, never computed with.  */
#include <string.h>

#include "conv/bsr/bsr_conv.h"
#include "conv/index.h"

static void move(const struct shunt_csr *to, int64_t i, const void *from, int64_t j)
{
  size_t size = shunt_type_size(to->value_type);

  memcpy((char *)to->values + (size_t)i * size, (const char *)from + (size_t)j * size, size);
}

/* ---- sizes ------------------------------------------------------------------------ */

static struct shunt_csr sizes(int64_t rows, int64_t cols, int64_t block, int64_t nnz,
                              shunt_type index, shunt_type value, int base)
{
  struct shunt_csr s = {.rows = rows,
                        .cols = cols,
                        .nnz = nnz,
                        .index_type = index,
                        .value_type = value,
                        .base = base};

  if (index != SHUNT_I32 && index != SHUNT_I64) s.rows = -1;
  if (block < 1 || rows < 0 || cols < 0 || rows % block || cols % block || nnz < 0) s.rows = -1;
  if (rows > INT32_MAX - 1024 || cols > INT32_MAX - 1024) s.rows = -1;
  if (index == SHUNT_I32 && nnz > INT32_MAX - 1) s.rows = -1;
  return s;
}

struct shunt_csr shunt_bsr_sizes(const struct shunt_bsr *a)
{
  int64_t room = INT64_MAX / 16, nnz = -1;

  if (a->block >= 1 && a->block <= INT32_MAX && a->blocks <= room / a->block / a->block)
    nnz = a->blocks * a->block * a->block;
  return sizes(a->rows, a->cols, a->block, nnz, a->index_type, a->value_type, a->base);
}

struct shunt_csr shunt_blocked_ell_sizes(const struct shunt_blocked_ell *a)
{
  int64_t nnz = -1;

  if (a->block >= 1 && a->width >= 0 && a->width <= INT32_MAX && a->rows <= INT32_MAX &&
      a->width % a->block == 0)
    nnz = a->rows * a->width;
  return sizes(a->rows, a->cols, a->block, nnz, a->index_type, a->value_type, a->base);
}

static shunt_status check(const struct shunt_csr *is, const struct shunt_csr *to)
{
  if (is->rows < 0) return SHUNT_E_UNSUPPORTED;
  if (to->rows != is->rows || to->cols != is->cols || to->nnz != is->nnz) return SHUNT_E_ARGUMENT;
  if (to->index_type != is->index_type || to->value_type != is->value_type) return SHUNT_E_ARGUMENT;
  return to->base == is->base ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

/* ---- BSR ---------------------------------------------------------------------------- */

static int64_t first_block(const struct shunt_bsr *a, int64_t row)
{
  int64_t first = index_at(a->row_offsets, a->index_type, row) - a->base;

  return first < 0 ? 0 : first > a->blocks ? a->blocks : first;
}

shunt_status shunt_bsr_to_csr_host(const struct shunt_bsr *a, const struct shunt_csr *to)
{
  struct shunt_csr is = shunt_bsr_sizes(a);
  shunt_status s = check(&is, to);
  int64_t b = a->block;

  if (s != SHUNT_OK) return s;
  for (int64_t row = 0; row < a->rows; row++) {
    int64_t i = row % b, first = first_block(a, row / b), end = first_block(a, row / b + 1);
    int64_t count = end > first ? end - first : 0, at = first * b * b + i * count * b;
    set_index((void *)to->row_offsets, to->index_type, row, at + a->base);
    for (int64_t q = 0; q < count * b; q++) {
      int64_t block = first + q / b, j = q % b;
      int64_t column = (index_at(a->columns, a->index_type, block) - a->base) * b + j;
      set_index((void *)to->columns, to->index_type, at + q, column + a->base);
      move(to, at + q, a->values, block * b * b + (a->column_major ? j * b + i : i * b + j));
    }
  }
  set_index((void *)to->row_offsets, to->index_type, a->rows, is.nnz + a->base);
  return SHUNT_OK;
}

/* ---- Blocked-ELL ---------------------------------------------------------------------- */

shunt_status shunt_blocked_ell_to_csr_host(const struct shunt_blocked_ell *a,
                                           const struct shunt_csr *to)
{
  struct shunt_csr is = shunt_blocked_ell_sizes(a);
  shunt_status s = check(&is, to);
  int64_t b = a->block, wide = s == SHUNT_OK ? a->width / b : 0, at = 0;

  if (s != SHUNT_OK) return s;
  for (int64_t row = 0; row < a->rows; row++) {
    set_index((void *)to->row_offsets, to->index_type, row, at + a->base);
    for (int64_t q = 0; q < wide; q++) {
      int64_t block = index_at(a->columns, a->index_type, row / b * wide + q);
      for (int64_t j = 0; block >= 0 && j < b; j++, at++) {
        set_index((void *)to->columns, to->index_type, at, (block - a->base) * b + j + a->base);
        move(to, at, a->values, row * a->width + q * b + j);
      }
    }
  }
  set_index((void *)to->row_offsets, to->index_type, a->rows, at + a->base);
  return SHUNT_OK;
}
