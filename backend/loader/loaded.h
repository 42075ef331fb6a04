/* loaded.h: the objects (program, libraries) that this process has loaded.

   Nothing here loads anything new, and no lock of ours is held across a call into the
   loader: the only locks are the loader's own.  An object is named by its base,
   the lowest address it is mapped at, which dladdr calls dli_fbase.  */
#ifndef SHUNT_LOADER_LOADED_H
#define SHUNT_LOADER_LOADED_H

#include <stdbool.h>
#include <stddef.h>

/* One loaded library, held open: it stays mapped at least until loaded_close. */
struct loaded {
  void *base;
  void *handle;     /* for shunt_dlsym */
  const char *path; /* the loader's own string: valid as long as the library is loaded */
};

/* dlsym, and the only place that calls it, so that a test can make it fail.
   RTLD_NEXT means: after the object that this file is linked into.  */
void *shunt_dlsym(void *handle, const char *name);

/* The same, but asks again before it answers NULL.  A look-up that failed for want of memory must
   not pass for a missing symbol: the search would go on and find another copy of the library.  */
void *loaded_symbol(void *handle, const char *name);

/* The base of the object around an address; NULL when there is none (generated code). */
void *loaded_base(const void *address);

/* The file name, as loaded, of the object around an address; "" for the main program and where
   there is no object.  Without a lock, and in a few nanoseconds, from glibc 2.35 on.  */
const char *loaded_name(const void *address);

/* One reference of an object to a symbol elsewhere, and what the loader made of it. */
struct loaded_reference {
  const char *name;
  void *bound; /* address it is bound to; in the object itself while it waits for its first call */
};

/* The first reference, of those that the object around `address` binds by name at run time, that
   `wanted` accepts; false when there is none.  */
bool loaded_find_reference(const void *address, bool (*wanted)(const struct loaded_reference *),
                           struct loaded_reference *out);

/* Opens the library around an address.  False, with *out cleared, when there is none, when it
   is the main program (whose handle means "the whole global scope", not this object), or
   when the loader fails.  */
bool loaded_open(const void *address, struct loaded *out);
void loaded_close(struct loaded *o);

/* Does the library itself, not one that it is linked to, define a symbol of that name? */
bool loaded_defines(const struct loaded *o, const char *name);

/* Bases of the loaded objects in load order, from number `skip` on: at most `room` of them
   are written to `bases`, and their number is returned.  */
size_t loaded_list(size_t skip, void **bases, size_t room);

/* Was the object at base `a` loaded before the one at base `b`? */
bool loaded_before(const void *a, const void *b);

#endif
