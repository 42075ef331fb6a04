/* descriptor_table.h: what is noted of sparse matrices that no getter of cuSPARSE tells, by descriptor.

   A table has a fixed number of places; a note of the same descriptor is replaced, and where all
   places that a descriptor may take are taken, one of them is forgotten.  So a note may be missing:
   that must cost no more than a rerouting.

   Thread-safe; a table that nothing was ever put into takes no lock.  */
#ifndef SHUNT_CUSPARSE_NOTES_H
#define SHUNT_CUSPARSE_NOTES_H

#include <cusparse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { CUSPARSE_NOTES = 1024 };

struct cusparse_notes {
  pthread_mutex_t lock;
  atomic_bool any;
  char *note;  /* CUSPARSE_NOTES of them */
  size_t size; /* of one; it begins with its descriptor, NULL: free */
};

/* A table `name` of notes of a type whose first member is cusparseConstSpMatDescr_t descriptor. */
#define CUSPARSE_NOTES_OF(name, Type)                                                      \
  _Static_assert(offsetof(Type, descriptor) == 0, "a note begins with its descriptor");    \
  static Type name##_places[CUSPARSE_NOTES];                                               \
  static struct cusparse_notes name = {PTHREAD_MUTEX_INITIALIZER, false, (char *)name##_places, \
                                       sizeof(Type)}

/* Copies *note into the table. */
void cusparse_notes_put(struct cusparse_notes *t, const void *note);
void cusparse_notes_drop(struct cusparse_notes *t, cusparseConstSpMatDescr_t descriptor);
/* Copies the descriptor's note out of it; false: there is none. */
bool cusparse_notes_get(struct cusparse_notes *t, cusparseConstSpMatDescr_t descriptor, void *note);

#endif
