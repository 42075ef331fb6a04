#include "backend/cusparse/bsr.h"

#include <pthread.h>
#include <stdatomic.h>

enum { NOTES = 1024, PROBES = 8 };

static struct cusparse_bsr notes[NOTES]; /* descriptor NULL: free */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool any; /* a program without BSR takes no lock where it destroys a matrix */

static struct cusparse_bsr *place(cusparseConstSpMatDescr_t descriptor, unsigned probe)
{
  uint64_t hash = (uint64_t)(uintptr_t)descriptor * UINT64_C(0x9E3779B97F4A7C15);
  return &notes[((hash >> 40) + probe) % NOTES];
}

/* The note of this descriptor, or NULL.  With the lock held. */
static struct cusparse_bsr *note_of(cusparseConstSpMatDescr_t descriptor)
{
  for (unsigned i = 0; i < PROBES; i++)
    if (place(descriptor, i)->descriptor == descriptor) return place(descriptor, i);
  return NULL;
}

void cusparse_bsr_note(const struct cusparse_bsr *m)
{
  pthread_mutex_lock(&lock);
  struct cusparse_bsr *n = note_of(m->descriptor);
  for (unsigned i = 0; !n && i < PROBES; i++)
    if (!place(m->descriptor, i)->descriptor) n = place(m->descriptor, i);
  if (!n) n = place(m->descriptor, 0); /* all taken: the first is forgotten */
  *n = *m;
  atomic_store(&any, true);
  pthread_mutex_unlock(&lock);
}

void cusparse_bsr_forget(cusparseConstSpMatDescr_t descriptor)
{
  if (!descriptor || !atomic_load(&any)) return;
  pthread_mutex_lock(&lock);
  struct cusparse_bsr *n = note_of(descriptor);
  if (n) n->descriptor = NULL;
  pthread_mutex_unlock(&lock);
}

bool cusparse_bsr_find(cusparseConstSpMatDescr_t descriptor, const void *library,
                       struct cusparse_bsr *m)
{
  pthread_mutex_lock(&lock);
  const struct cusparse_bsr *n = note_of(descriptor);
  bool found = n && n->library == library;
  if (found) *m = *n;
  pthread_mutex_unlock(&lock);
  return found;
}
