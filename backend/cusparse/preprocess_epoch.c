#include "backend/cusparse/preprocess_epoch.h"

#include <stdatomic.h>

#include "backend/cusparse/descriptor_table.h"

struct note {
  cusparseConstSpMatDescr_t descriptor;
  const void *library, *buffer, *row_offsets, *columns, *row_indices;
  uint64_t problem, epoch;
};
SHUNT_DESCRIPTOR_TABLE(notes, struct note)

static struct note note_of(const struct shunt_preprocessed *p)
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

void shunt_epoch_begin(const struct shunt_preprocessed *p)
{
  static atomic_uint_fast64_t last;
  if (!p->buffer) return;
  struct note n = note_of(p);
  n.epoch = atomic_fetch_add(&last, 1) + 1;
  shunt_descriptor_table_put(&notes, &n);
}

void shunt_epoch_end(cusparseConstSpMatDescr_t descriptor)
{
  shunt_descriptor_table_drop(&notes, descriptor);
}

uint64_t shunt_epoch_of(const struct shunt_preprocessed *p)
{
  struct note n;
  if (!p->buffer || !shunt_descriptor_table_get(&notes, p->descriptor, &n)) return 0;
  const struct note now = note_of(p);
  const bool same = n.library == now.library && n.buffer == now.buffer &&
                    n.row_offsets == now.row_offsets && n.columns == now.columns &&
                    n.row_indices == now.row_indices && n.problem == now.problem;
  return same ? n.epoch : 0;
}
