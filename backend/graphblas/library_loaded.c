/* library_loaded.c: the search among shared libraries.  The first answer wins:

     1. the copy that the caller's other references to GraphBLAS are bound to
     2. RTLD_NEXT              the global scope after ourselves
     3. the caller's own scope what it is linked to, though loaded RTLD_LOCAL (Python) or under
                               a hashed SONAME (wheels)
     4. all loaded objects     in load order

   An object counts as a GraphBLAS if it defines GrB_mxm and GxB_Matrix_Iterator_attach.  Where
   another preload wraps one of the functions that we take, the original is
   the wrapper's, as it was without us; everything else comes from the library.

   The loader's functions cost 50 ns and more, so every answer is kept, by the page of
   code that asked.  An answer's library is never unloaded; a caller may be, and other code be
   mapped to its page, so a kept answer counts only for an object of the same file
   name (backend/cusparse/original.c has more on that).  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cusparse/loaded.h"
#include "backend/graphblas/library.h"
#include "backend/plan/fault.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the search ------------------------------------------------------------------------- */

static bool defines(const struct loaded *o, const char *name)
{
  void *p = loaded_symbol(o->handle, name);
  return p && loaded_base(p) == o->base;
}

/* Opens the object around `address` if it is a GraphBLAS. */
static bool open_whole(const void *address, struct loaded *out)
{
  static struct grb_library *(*const ours)(void *) = grb_library_for;
  if (!address || loaded_base(address) == loaded_base((void *)(uintptr_t)ours)) return false;
  if (!loaded_open(address, out)) return false;
  if (defines(out, "GrB_mxm") && defines(out, "GxB_Matrix_Iterator_attach")) return true;
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

enum { PAGE_BITS = 12, MOST_PROBES = 8 };

struct answer {
  struct grb_library *library;
  const struct answer *next;
  char caller[]; /* file name of the object that asked */
};
static struct site {
  atomic_uintptr_t page; /* 0: free; never changes again */
  _Atomic(const struct answer *) answer;
} sites[256];

static struct site *site(uintptr_t page, unsigned probe)
{
  uint64_t hash = (uint64_t)page * UINT64_C(0x9E3779B97F4A7C15);
  return &sites[((hash >> 40) + probe) % COUNT(sites)];
}

static struct grb_library *recall(const void *address)
{
  uintptr_t page = (uintptr_t)address >> PAGE_BITS;
  for (unsigned i = 0; i < MOST_PROBES; i++) {
    struct site *s = site(page, i);
    uintptr_t there = atomic_load_explicit(&s->page, memory_order_relaxed);
    if (!there) return NULL;
    if (there != page) continue;
    const struct answer *a = atomic_load_explicit(&s->answer, memory_order_acquire);
    return a && strcmp(a->caller, loaded_name(address)) == 0 ? a->library : NULL;
  }
  return NULL;
}

/* The one answer of this content; answers are few and are never freed. */
static const struct answer *make_answer(const char *caller, struct grb_library *l)
{
  static _Atomic(const struct answer *) all;
  for (const struct answer *a = atomic_load(&all); a; a = a->next)
    if (a->library == l && strcmp(a->caller, caller) == 0) return a;
  struct answer *a = SHUNT_TRY_OR(NULL, malloc(sizeof *a + strlen(caller) + 1));
  if (!a) return NULL;
  a->library = l;
  strcpy(a->caller, caller);
  a->next = atomic_load(&all);
  while (!atomic_compare_exchange_weak(&all, &a->next, a))
    ;
  return a;
}

/* Without memory, or where all probes are taken, nothing is remembered: slower, equally
   right.  */
static void remember(const void *address, struct grb_library *l)
{
  uintptr_t page = (uintptr_t)address >> PAGE_BITS;
  const struct answer *a = make_answer(loaded_name(address), l);
  for (unsigned i = 0; a && i < MOST_PROBES; i++) {
    struct site *s = site(page, i);
    uintptr_t there = 0;
    if (atomic_compare_exchange_strong(&s->page, &there, page) || there == page) {
      atomic_store_explicit(&s->answer, a, memory_order_release);
      return;
    }
  }
}

struct grb_library *grb_library_for(void *return_address)
{
  struct grb_library *l = recall(return_address);
  if (l) return l;
  l = resolve(return_address);
  if (l) remember(return_address, l);
  return l;
}
