/* library_loaded.c: the search among shared libraries.  The first answer wins:

     1. the copy that the caller's other references to GraphBLAS are bound to
     2. RTLD_NEXT              the global scope after ourselves
     3. the caller's own scope what it is linked to, though loaded RTLD_LOCAL (Python) or under
                               a hashed SONAME (wheels)
     4. all loaded objects     in load order

   An object counts as a GraphBLAS if it defines GrB_mxm and GxB_Matrix_Iterator_attach.  Where
   another preload wraps one of the functions that we take, the original is
   the wrapper's, as it was without us; everything else comes from the library.

   Every answer is kept, by the caller (backend/loader/callers.h); its library is
   never unloaded.  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/library.h"
#include "backend/loader/callers.h"
#include "backend/loader/loaded.h"
#include "backend/plan/fault.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the search ------------------------------------------------------------------------- */

/* Opens the object around `address` if it is a GraphBLAS. */
static bool open_whole(const void *address, struct loaded *out)
{
  static struct grb_library *(*const ours)(void *) = grb_library_for;
  if (!address || loaded_base(address) == loaded_base((void *)(uintptr_t)ours)) return false;
  if (!loaded_open(address, out)) return false;
  if (loaded_defines(out, "GrB_mxm") && loaded_defines(out, "GxB_Matrix_Iterator_attach"))
    return true;
  loaded_close(out);
  return false;
}

static bool shows_copy(const struct loaded_reference *r)
{
  struct loaded o;
  bool yes = (strncmp(r->name, "GrB_", 4) == 0 || strncmp(r->name, "GxB_", 4) == 0) &&
             open_whole(r->bound, &o);
  if (yes) loaded_close(&o);
  return yes;
}

static bool look_everywhere(struct loaded *out)
{
  void *bases[64];
  size_t n, skip = 0;
  while ((n = loaded_list(skip, bases, COUNT(bases))) > 0) {
    for (size_t i = 0; i < n; i++)
      if (open_whole(bases[i], out)) return true;
    skip += n;
  }
  return false;
}

static bool look(const void *caller, struct loaded *out)
{
  static const char mark[] = "GxB_Matrix_Iterator_attach";
  struct loaded_reference other;
  struct loaded own;
  if (loaded_find_reference(caller, shows_copy, &other) && open_whole(other.bound, out))
    return true;
  if (open_whole(loaded_symbol(RTLD_NEXT, mark), out)) return true;
  if (loaded_open(caller, &own)) {
    bool found = open_whole(loaded_symbol(own.handle, mark), out);
    loaded_close(&own);
    if (found) return true;
  }
  return look_everywhere(out);
}

/* ---- copies ----------------------------------------------------------------------------- */

enum { MOST_COPIES = 8 };
static _Atomic(struct grb_library *) copies[MOST_COPIES];

static void *symbol_of(void *library, const char *name)
{
  const struct loaded *o = library;
  return loaded_symbol(o->handle, name);
}

/* A wrapper of one of the functions that we take stands in the global scope after us. */
static void prefer_wrappers(struct grb_library *l)
{
  struct loaded whole;
  void *p;
#define PREFER(f, arguments)                                                                       \
  p = loaded_symbol(RTLD_NEXT, #f);                                                                \
  if (p && open_whole(p, &whole))                                                                  \
    loaded_close(&whole);                                                                          \
  else if (p)                                                                                      \
    memcpy(&l->original.f, &p, sizeof p);
  GRB_TAKEN(PREFER)
#undef PREFER
}

/* The one struct for a copy; its handle stays open, which keeps the library loaded. */
static struct grb_library *copy_of(struct loaded *o)
{
  for (int i = 0; i < MOST_COPIES; i++) {
    struct grb_library *l = atomic_load(&copies[i]);
    if (l && l->base == o->base) {
      loaded_close(o);
      return l;
    }
    if (l) continue;
    struct grb_library *fresh = SHUNT_TRY_OR(NULL, calloc(1, sizeof *fresh));
    if (!fresh) break;
    fresh->path = o->path;
    fresh->base = o->base;
    grb_library_fill(fresh, symbol_of, o);
    prefer_wrappers(fresh);
    if (atomic_compare_exchange_strong(&copies[i], &l, fresh)) return fresh;
    free(fresh);
    i--; /* another thread was faster: look at its copy */
  }
  loaded_close(o);
  return NULL;
}

static struct grb_library *resolve(const void *caller)
{
  int saved_errno = errno;
  struct loaded o;
  struct grb_library *l = look(caller, &o) ? copy_of(&o) : NULL;
  dlerror(); /* the message of our failed look-ups is not for the program to find */
  errno = saved_errno;
  return l;
}

/* ---- who asked before ------------------------------------------------------------------- */

static struct caller_site sites[256];
static struct callers callers = {.sites = sites, .count = COUNT(sites)};

struct grb_library *grb_library_for(void *return_address)
{
  struct grb_library *l = (struct grb_library *)(uintptr_t)callers_recall(&callers, return_address);
  if (l) return l;
  l = resolve(return_address);
  if (l) callers_remember(&callers, return_address, l);
  return l;
}
