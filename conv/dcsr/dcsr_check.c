/* dcsr_check.c: whether the index arrays of a matrix keep within its sizes, and where not. */
#include "conv/dcsr/dcsr_conv.h"
#include "conv/dcsr/dcsr_index.h"

struct shunt_dcsr_source shunt_dcsr_source_csr(const struct shunt_csr *a)
{
  return (struct shunt_dcsr_source){.from = SHUNT_DCSR_FROM_CSR,
                                    .rows = a->rows,
                                    .cols = a->cols,
                                    .nnz = a->nnz,
                                    .offsets = a->row_offsets,
                                    .columns = a->columns,
                                    .values = a->values,
                                    .index_type = a->index_type,
                                    .value_type = a->value_type,
                                    .base = a->base};
}

static shunt_status fail(struct shunt_dcsr_fault *fault, enum shunt_dcsr_rule rule, int64_t line,
                         int64_t at, int64_t value)
{
  if (fault) *fault = (struct shunt_dcsr_fault){rule, line, at, value};
  return SHUNT_E_ARGUMENT;
}

/* Rows of CSR, columns of CSC. */
static int64_t lines_of(const struct shunt_dcsr_source *a)
{
  return a->from == SHUNT_DCSR_FROM_CSR ? a->rows : a->cols;
}

static shunt_status check_offsets(const struct shunt_dcsr_source *a, struct shunt_dcsr_fault *fault)
{
  int64_t lines = lines_of(a), before = index_at(a->offsets, a->index_type, 0);

  if (before != a->base) return fail(fault, SHUNT_DCSR_FIRST, -1, 0, before);
  for (int64_t i = 1; i <= lines; i++) {
    int64_t now = index_at(a->offsets, a->index_type, i);
    if (now < before) return fail(fault, SHUNT_DCSR_DESCENDING, i - 1, i, now);
    before = now;
  }
  if (before - a->base != a->nnz) return fail(fault, SHUNT_DCSR_LAST, -1, lines, before);
  return SHUNT_OK;
}

/* The line that holds entry p; offsets are sound. */
static int64_t line_of(const struct shunt_dcsr_source *a, int64_t p)
{
  int64_t line = 0;

  if (a->from == SHUNT_DCSR_FROM_COO) return -1;
  while (index_at(a->offsets, a->index_type, line + 1) - a->base <= p) line++;
  return line;
}

static shunt_status check_indices(const struct shunt_dcsr_source *a, const void *indices,
                                  int64_t size, enum shunt_dcsr_rule rule,
                                  struct shunt_dcsr_fault *fault)
{
  for (int64_t p = 0; p < a->nnz; p++) {
    int64_t i = index_at(indices, a->index_type, p);
    if (i < a->base || i - a->base >= size) return fail(fault, rule, line_of(a, p), p, i);
  }
  return SHUNT_OK;
}

shunt_status shunt_dcsr_check_host(const struct shunt_dcsr_source *a,
                                   struct shunt_dcsr_fault *fault)
{
  shunt_status status = SHUNT_OK;

  if (fault) *fault = (struct shunt_dcsr_fault){.line = -1};
  if (!is_index(a->index_type)) return SHUNT_E_UNSUPPORTED;
  if (a->rows < 0) return fail(fault, SHUNT_DCSR_SIZES, -1, 0, a->rows);
  if (a->cols < 0) return fail(fault, SHUNT_DCSR_SIZES, -1, 1, a->cols);
  if (a->nnz < 0) return fail(fault, SHUNT_DCSR_SIZES, -1, 2, a->nnz);
  if (a->from != SHUNT_DCSR_FROM_COO) status = check_offsets(a, fault);
  if (status == SHUNT_OK && a->from != SHUNT_DCSR_FROM_CSR)
    status = check_indices(a, a->row_indices, a->rows, SHUNT_DCSR_ROW, fault);
  if (status == SHUNT_OK && a->from != SHUNT_DCSR_FROM_CSC)
    status = check_indices(a, a->columns, a->cols, SHUNT_DCSR_COLUMN, fault);
  return status;
}

enum shunt_dcsr_rule shunt_dcsr_fault_place(uint64_t word, int64_t *at)
{
  uint64_t place = word ? ~word : 0;

  *at = (int64_t)(place & ((UINT64_C(1) << 56) - 1));
  return (enum shunt_dcsr_rule)(place >> 56);
}
