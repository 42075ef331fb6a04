#include "backend/cusparse/descriptor_table.h"

#include <stdint.h>
#include <string.h>

enum { PROBES = 8 };

static char *place(const struct shunt_descriptor_table *t, cusparseConstSpMatDescr_t descriptor,
                   unsigned probe)
{
  uint64_t hash = (uint64_t)(uintptr_t)descriptor * UINT64_C(0x9E3779B97F4A7C15);
  return t->note + ((hash >> 40) + probe) % SHUNT_DESCRIPTORS * t->size;
}

static cusparseConstSpMatDescr_t descriptor_at(const char *note)
{
  cusparseConstSpMatDescr_t d;
  memcpy(&d, note, sizeof d);
  return d;
}

/* The note of this descriptor, or of none where that is NULL; or NULL.  With the lock held. */
static char *find(const struct shunt_descriptor_table *t, cusparseConstSpMatDescr_t near,
                  cusparseConstSpMatDescr_t descriptor)
{
  for (unsigned i = 0; i < PROBES; i++)
    if (descriptor_at(place(t, near, i)) == descriptor) return place(t, near, i);
  return NULL;
}

static bool put(struct shunt_descriptor_table *t, const void *note, bool evicts)
{
  const cusparseConstSpMatDescr_t d = descriptor_at(note);
  pthread_mutex_lock(&t->lock);
  char *to = find(t, d, d);
  if (!to) to = find(t, d, NULL);
  if (!to && evicts) to = place(t, d, 0);
  if (to) {
    memcpy(to, note, t->size);
    atomic_store(&t->any, true);
  }
  pthread_mutex_unlock(&t->lock);
  return to != NULL;
}

void shunt_descriptor_table_put(struct shunt_descriptor_table *t, const void *note)
{
  put(t, note, true);
}

bool shunt_descriptor_table_add(struct shunt_descriptor_table *t, const void *note)
{
  return put(t, note, false);
}

void shunt_descriptor_table_drop(struct shunt_descriptor_table *t,
                                 cusparseConstSpMatDescr_t descriptor)
{
  if (!descriptor || !atomic_load(&t->any)) return;
  pthread_mutex_lock(&t->lock);
  char *there = find(t, descriptor, descriptor);
  if (there) memset(there, 0, t->size);
  pthread_mutex_unlock(&t->lock);
}

bool shunt_descriptor_table_get(struct shunt_descriptor_table *t,
                                cusparseConstSpMatDescr_t descriptor, void *note)
{
  if (!descriptor || !atomic_load(&t->any)) return false;
  pthread_mutex_lock(&t->lock);
  const char *there = find(t, descriptor, descriptor);
  if (there) memcpy(note, there, t->size);
  pthread_mutex_unlock(&t->lock);
  return there != NULL;
}
