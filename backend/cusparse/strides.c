#include "backend/cusparse/strides.h"

#include <pthread.h>
#include <stdint.h>

enum { NOTES = 1024, PROBES = 8 };

static struct note {
  struct cusparse_strided matrix; /* descriptor NULL: free */
  int64_t offsets, entries;
} notes[NOTES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct note *place(cusparseConstSpMatDescr_t descriptor, unsigned probe)
{
  uint64_t hash = (uint64_t)(uintptr_t)descriptor * UINT64_C(0x9E3779B97F4A7C15);
  return &notes[((hash >> 40) + probe) % NOTES];
}

/* The note of this descriptor, or NULL.  With the lock held. */
static struct note *note_of(cusparseConstSpMatDescr_t descriptor)
{
  for (unsigned i = 0; i < PROBES; i++)
    if (place(descriptor, i)->matrix.descriptor == descriptor) return place(descriptor, i);
  return NULL;
}

void cusparse_strides_note(const struct cusparse_strided *m, int64_t offsets, int64_t entries)
{
  pthread_mutex_lock(&lock);
  struct note *n = note_of(m->descriptor);
  for (unsigned i = 0; !n && i < PROBES; i++)
    if (!place(m->descriptor, i)->matrix.descriptor) n = place(m->descriptor, i);
  if (!n) n = place(m->descriptor, 0); /* all taken: the first is forgotten */
  *n = (struct note){*m, offsets, entries};
  pthread_mutex_unlock(&lock);
}

void cusparse_strides_forget(cusparseConstSpMatDescr_t descriptor)
{
  pthread_mutex_lock(&lock);
  struct note *n = note_of(descriptor);
  if (n) n->matrix.descriptor = NULL;
  pthread_mutex_unlock(&lock);
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
  pthread_mutex_lock(&lock);
  const struct note *n = note_of(m->descriptor);
  bool found = n && same_matrix(&n->matrix, m);
  if (found) {
    *offsets = n->offsets;
    *entries = n->entries;
  }
  pthread_mutex_unlock(&lock);
  return found;
}
