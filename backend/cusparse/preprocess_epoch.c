#include "backend/cusparse/preprocess_epoch.h"

#include <stdatomic.h>

#include "backend/cusparse/descriptor_table.h"

struct note {
  cusparseConstSpMatDescr_t descriptor;
  const void *library, *buffer, *row_offsets, *columns, *row_indices;
  uint64_t problem, epoch;
};
SHUNT_DESCRIPTOR_TABLE(notes, struct note)

/* A preprocess of this matrix is part of a graph.  Such a mark never makes room for another. */
struct mark {
  cusparseConstSpMatDescr_t descriptor;
};
SHUNT_DESCRIPTOR_TABLE(captured, struct mark)
static atomic_bool mark_lost; /* for want of room: it may be any matrix's */

static bool may_run_again(cusparseConstSpMatDescr_t descriptor)
{
  struct mark m;
  return atomic_load(&mark_lost) || shunt_descriptor_table_get(&captured, descriptor, &m);
}

static struct note note_of(const struct shunt_preprocessed *p)
{
  const struct shunt_csr *a = shunt_problem_sparse(p->problem);
  return (struct note){.descriptor = p->descriptor,
                       .library = p->library,
                       .buffer = p->buffer,
                       .row_offsets = a->row_offsets,
                       .columns = a->columns,
                       .row_indices = p->problem->row_indices,
                       .problem = p->hash};
}

uint64_t shunt_epoch_begin(const struct shunt_preprocessed *p)
{
  static atomic_uint_fast64_t last;
  if (!p->buffer || may_run_again(p->descriptor)) return 0;
  struct note n = note_of(p);
  n.epoch = atomic_fetch_add(&last, 1) + 1;
  shunt_descriptor_table_put(&notes, &n);
  return n.epoch;
}

void shunt_epoch_end(cusparseConstSpMatDescr_t descriptor)
{
  shunt_descriptor_table_drop(&notes, descriptor);
}

void shunt_epoch_captured(cusparseConstSpMatDescr_t descriptor)
{
  if (!descriptor) return;
  if (!shunt_descriptor_table_add(&captured, &(struct mark){descriptor}))
    atomic_store(&mark_lost, true);
  shunt_epoch_end(descriptor);
}

void shunt_epoch_forget(cusparseConstSpMatDescr_t descriptor)
{
  shunt_epoch_end(descriptor);
  shunt_descriptor_table_drop(&captured, descriptor);
}

uint64_t shunt_epoch_of(const struct shunt_preprocessed *p)
{
  struct note n;
  if (!p->buffer || !shunt_descriptor_table_get(&notes, p->descriptor, &n)) return 0;
  const struct note now = note_of(p);
  const bool same = n.library == now.library && n.buffer == now.buffer &&
                    n.row_offsets == now.row_offsets && n.columns == now.columns &&
                    n.row_indices == now.row_indices && n.problem == now.problem;
  return same && !may_run_again(p->descriptor) ? n.epoch : 0;
}
