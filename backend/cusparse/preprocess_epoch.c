#include "backend/cusparse/preprocess_epoch.h"

#include <stdatomic.h>

#include "backend/cusparse/descriptor_table.h"

struct note {
  cusparseConstSpMatDescr_t descriptor;
  const void *library, *buffer, *row_offsets, *columns, *row_indices;
  uint64_t problem, epoch;
};
CUSPARSE_NOTES_OF(notes, struct note);

static struct note note_of(const struct cusparse_prepared *p)
{
  const struct shunt_csr *a = shunt_problem_sparse(p->problem);
  return (struct note){.descriptor = p->descriptor,
                       .library = p->library,
                       .buffer = p->buffer,
                       .row_offsets = a->row_offsets,
                       .columns = a->columns,
                       .row_indices = p->problem->row_indices,
                       .problem = shunt_problem_hash(p->problem)};
}

void cusparse_active_begin(const struct cusparse_prepared *p)
{
  static atomic_uint_fast64_t last;
  if (!p->buffer) return;
  struct note n = note_of(p);
  n.epoch = atomic_fetch_add(&last, 1) + 1;
  cusparse_notes_put(&notes, &n);
}

void cusparse_active_end(cusparseConstSpMatDescr_t descriptor)
{
  cusparse_notes_drop(&notes, descriptor);
}

uint64_t cusparse_active_epoch(const struct cusparse_prepared *p)
{
  struct note n;
  if (!p->buffer || !cusparse_notes_get(&notes, p->descriptor, &n)) return 0;
  const struct note now = note_of(p);
  const bool same = n.library == now.library && n.buffer == now.buffer &&
                    n.row_offsets == now.row_offsets && n.columns == now.columns &&
                    n.row_indices == now.row_indices && n.problem == now.problem;
  return same ? n.epoch : 0;
}
