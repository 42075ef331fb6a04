#include "backend/cusparse/strides.h"

#include "backend/cusparse/descriptor_table.h"

struct note {
  cusparseConstSpMatDescr_t descriptor;
  struct cusparse_strided matrix;
  int64_t offsets, entries;
};
CUSPARSE_NOTES_OF(notes, struct note);

void cusparse_strides_note(const struct cusparse_strided *m, int64_t offsets, int64_t entries)
{
  cusparse_notes_put(&notes, &(struct note){m->descriptor, *m, offsets, entries});
}

void cusparse_strides_forget(cusparseConstSpMatDescr_t descriptor)
{
  cusparse_notes_drop(&notes, descriptor);
}

static bool same_matrix(const struct cusparse_strided *a, const struct cusparse_strided *b)
{
  const struct shunt_csr *x = &a->csr, *y = &b->csr;
  return a->descriptor == b->descriptor && a->library == b->library && a->batches == b->batches &&
         a->row_indices == b->row_indices && x->rows == y->rows && x->cols == y->cols &&
         x->nnz == y->nnz && x->row_offsets == y->row_offsets && x->columns == y->columns &&
         x->values == y->values && x->index_type == y->index_type &&
         x->value_type == y->value_type && x->base == y->base;
}

bool cusparse_strides_find(const struct cusparse_strided *m, int64_t *offsets, int64_t *entries)
{
  struct note n;
  if (!cusparse_notes_get(&notes, m->descriptor, &n) || !same_matrix(&n.matrix, m)) return false;
  *offsets = n.offsets;
  *entries = n.entries;
  return true;
}
