/* descriptor_table.h: notes on sparse matrices, by descriptor: what no getter of cuSPARSE returns.

   A table has a fixed number of places.  A new note replaces the old one of its descriptor; where
   all places that a descriptor may take are taken, one of them is forgotten.  So a note may be
   missing; the call must then go to the original.

   Thread-safe; a table that nothing was ever put into takes no lock.  */
#ifndef SHUNT_CUSPARSE_DESCRIPTOR_TABLE_H
#define SHUNT_CUSPARSE_DESCRIPTOR_TABLE_H

#include <cusparse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "backend/plan/fork.h"

enum { SHUNT_DESCRIPTORS = 8192 };

struct shunt_descriptor_table {
  pthread_mutex_t lock;
  atomic_bool any;
  char *note;  /* SHUNT_DESCRIPTORS of them */
  size_t size; /* of one; it begins with its descriptor, NULL: free */
};

/* A table `name` of notes of a type whose first member is cusparseConstSpMatDescr_t descriptor. */
#define SHUNT_DESCRIPTOR_TABLE(name, Type)                                                         \
  _Static_assert(offsetof(Type, descriptor) == 0, "a note begins with its descriptor");            \
  static Type name##_places[SHUNT_DESCRIPTORS];                                                    \
  static struct shunt_descriptor_table name = {PTHREAD_MUTEX_INITIALIZER, false,                   \
                                               (char *)name##_places, sizeof(Type)};               \
  SHUNT_LOCK_SURVIVES_FORK(name, name.lock)

/* Copies *note into the table. */
void shunt_descriptor_table_put(struct shunt_descriptor_table *t, const void *note);
/* The same, but no other note is forgotten for it; false: all its places are taken. */
bool shunt_descriptor_table_add(struct shunt_descriptor_table *t, const void *note);
void shunt_descriptor_table_drop(struct shunt_descriptor_table *t,
                                 cusparseConstSpMatDescr_t descriptor);
/* Copies the descriptor's note out of it; false: there is none. */
bool shunt_descriptor_table_get(struct shunt_descriptor_table *t,
                                cusparseConstSpMatDescr_t descriptor, void *note);

#endif
