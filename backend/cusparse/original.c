/* original.c: see original.h for the order of the search.

   Every answer is kept, by the caller (backend/loader/callers.h).  A library that was an answer is
   never unloaded, though the program close it: a kept answer stays callable.  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "backend/cusparse/original.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/loader/callers.h"
#include "backend/loader/loaded.h"
#include "backend/plan/fault.h"

/* A function that every cuSPARSE has and wrappers of SpMM have no reason to wrap: an
   object that defines it is taken for a cuSPARSE.  */
static const char mark[] = "cusparseGetVersion";

static struct caller_site sites[1024];
static struct callers callers = {.sites = sites, .count = sizeof sites / sizeof *sites};

struct thread {
  const struct shunt_original *bound; /* the answer to the next question */
  const struct shunt_original *outer; /* the answer at depth 0 */
  int depth;
  int returns;    /* of an original into us since depth 0 */
  bool was_bound; /* the last question had its answer from `bound` */
};
/* initial-exec: no call to find it; 32 bytes of the room that is set aside for this. */
static _Thread_local struct thread thread __attribute__((tls_model("initial-exec")));

/* ---- names ----------------------------------------------------------------------- */

struct function {
  size_t place; /* in struct shunt_original */
  const char *name;
};
#define FUNCTION(f) {offsetof(struct shunt_original, f), "cusparse" #f},
static const struct function taken[] = {SHUNT_TAKEN(FUNCTION) SHUNT_SEEN(FUNCTION)};
static const struct function read_back[] = {SHUNT_READ(FUNCTION)};
#undef FUNCTION

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_taken(const char *name)
{
  for (size_t i = 0; i < COUNT(taken); i++)
    if (strcmp(name, taken[i].name) == 0) return true;
  return false;
}

/* ---- the search ------------------------------------------------------------------ */

struct caller {
  const void *address;
  void *base;
  bool is_wrapper;               /* nothing in its object is the original */
  struct loaded_reference other; /* to a function of cuSPARSE that is not ours; name may be NULL */
};

/* Does the object around p define a whole cuSPARSE? */
static bool whole(const void *p)
{
  struct loaded o;
  bool yes = loaded_open(p, &o) && loaded_defines(&o, mark);
  loaded_close(&o);
  return yes;
}

/* Is p in another copy of this library?  It would take us for the caller, and so find an original
   that need not be the caller's.  */
static bool another_shunt(const void *p)
{
  struct loaded o;
  bool yes = loaded_open(p, &o) && loaded_defines(&o, "shunt_cusparse_note_original");
  loaded_close(&o);
  return yes;
}

/* May this caller's call go to p?  Not if p is ours or another copy's, and not if p is the caller's
   own and the caller wraps it: that would be a circle.  (A caller may well own the
   original, if cuSPARSE is linked into it statically; a whole cuSPARSE of the caller's that
   comes before us is a preload that wraps everything.)  */
static bool usable(const struct caller *c, const void *p)
{
  void *own = loaded_base(sites), *base = loaded_base(p);
  if (!base || base == own || another_shunt(p)) return false;
  if (base != c->base) return true;
  return !c->is_wrapper && !loaded_before(base, own) && whole(p);
}

/* A reference that shows which copy of cuSPARSE its owner uses.  What we export does not: it is
   bound to us, or to a wrapper before us.  */
static bool shows_copy(const struct loaded_reference *r)
{
  return strncmp(r->name, "cusparse", 8) == 0 && !is_taken(r->name) && whole(r->bound);
}

/* Is p in a copy that the caller does not use?  That happens when a copy was made global
   after the caller was bound to its own: descriptors of the one would go to the other.  */
static bool another_copy(const struct caller *c, const void *p)
{
  struct loaded o;
  if (!c->other.name || loaded_base(p) == loaded_base(c->other.bound)) return false;
  bool yes = loaded_open(p, &o) && loaded_defines(&o, c->other.name);
  loaded_close(&o);
  return yes;
}

static void *look_next(const struct caller *c, const char *name)
{
  void *p = loaded_symbol(RTLD_NEXT, name);
  return usable(c, p) && !another_copy(c, p) ? p : NULL;
}

static void *look_beside_other(const struct caller *c, const char *name)
{
  struct loaded o;
  void *p = NULL;
  if (c->other.name && loaded_open(c->other.bound, &o)) {
    p = loaded_symbol(o.handle, name);
    loaded_close(&o);
  }
  return usable(c, p) ? p : NULL;
}

static void *look_in_caller(const struct caller *c, const char *name)
{
  struct loaded o;
  void *p = loaded_open(c->address, &o) ? loaded_symbol(o.handle, name) : NULL;
  loaded_close(&o);
  return usable(c, p) ? p : NULL;
}

static void *look_in_object(const struct caller *c, void *base, const char *name)
{
  struct loaded o;
  void *p = NULL;
  if (loaded_open(base, &o) && loaded_defines(&o, name) && loaded_defines(&o, mark))
    p = loaded_symbol(o.handle, name);
  loaded_close(&o);
  return usable(c, p) ? p : NULL;
}

/* All objects, those after ourselves first.  Only a whole cuSPARSE counts here: a wrapper
   that neither scope above shows would not have been reached by this caller.  */
static void *look_everywhere(const struct caller *c, const char *name)
{
  void *bases[64], *own = loaded_base(sites);
  for (int before = 0; before < 2; before++) {
    bool passed = false;
    size_t n, skip = 0;
    while ((n = loaded_list(skip, bases, sizeof bases / sizeof *bases)) > 0) {
      for (size_t i = 0; i < n; i++) {
        if (bases[i] == own) passed = true;
        void *p = passed != before ? look_in_object(c, bases[i], name) : NULL;
        if (p) return p;
      }
      skip += n;
    }
  }
  return NULL;
}

static void *look(const struct caller *c, const char *name)
{
  void *p = NULL;
  if (!c->is_wrapper) {
    p = look_next(c, name);
    if (!p) p = look_beside_other(c, name);
    if (!p) p = look_in_caller(c, name);
  }
  return p ? p : look_everywhere(c, name);
}

/* ---- one answer ------------------------------------------------------------------ */

static void set(struct shunt_original *o, const struct function *f, void *p)
{
  memcpy((char *)o + f->place, &p, sizeof p);
}

static void *foreign(void *p)
{
  return loaded_base(p) != loaded_base(sites) ? p : NULL;
}

/* What we export: as the global scope orders it for `next` (wrappers of single functions), else
   from the object that the search ended in, else from the library itself.  */
static void fill_taken(struct shunt_original *o, const struct caller *next,
                       const struct loaded *entry, const struct loaded *library)
{
  for (size_t i = 0; i < COUNT(taken); i++) {
    void *p = next ? look_next(next, taken[i].name) : NULL;
    if (!p) p = foreign(loaded_symbol(entry->handle, taken[i].name));
    if (!p) p = foreign(loaded_symbol(library->handle, taken[i].name));
    set(o, &taken[i], p);
  }
}

static int version_of(const struct shunt_original *o)
{
  int major, minor;
  if (!o->GetProperty || o->GetProperty(MAJOR_VERSION, &major) != CUSPARSE_STATUS_SUCCESS ||
      o->GetProperty(MINOR_VERSION, &minor) != CUSPARSE_STATUS_SUCCESS)
    return 0;
  return 10 * major + minor;
}

/* What we call ourselves: from the library.  cusparseConstXGet came with CUDA 12. */
static void fill_read_back(struct shunt_original *o, const struct loaded *library)
{
  static const char recent[] = "cusparseConst";
  for (size_t i = 0; i < COUNT(read_back); i++) {
    const char *name = read_back[i].name;
    void *p = loaded_symbol(library->handle, name);
    if (!p && strncmp(name, recent, sizeof recent - 1) == 0) {
      char older[64] = "cusparse";
      strncat(older, name + sizeof recent - 1, sizeof older - sizeof "cusparse");
      p = loaded_symbol(library->handle, older);
    }
    set(o, &read_back[i], p);
  }
  o->path = library->path;
  o->base = library->base;
  o->version = version_of(o);
}

/* ---- answers are kept ------------------------------------------------------------ */

struct kept {
  struct shunt_original original;
  bool direct; /* all of it from one library */
  struct kept *next;
};
static _Atomic(struct kept *) all_kept;

/* Enough for every process that is not made to test us; then the heap. */
static struct kept first_kept[16];
static atomic_uint first_used;

static struct kept *new_kept(void)
{
  if (atomic_load(&first_used) < COUNT(first_kept)) {
    unsigned i = atomic_fetch_add(&first_used, 1);
    if (i < COUNT(first_kept)) return &first_kept[i];
  }
  return shunt_fault() ? NULL : calloc(1, sizeof(struct kept));
}

/* The one copy of o that is kept.  Two threads may keep the same at the same time: harmless. */
static const struct shunt_original *keep(const struct shunt_original *o, bool direct,
                                         struct loaded *entry, struct loaded *library)
{
  struct kept *k;
  for (k = atomic_load(&all_kept); k; k = k->next)
    if (k->direct == direct && memcmp(&k->original, o, sizeof *o) == 0) break;
  if (k) {
    loaded_close(entry);
    loaded_close(library);
    return &k->original;
  }
  k = new_kept();
  if (!k) {
    loaded_close(entry);
    loaded_close(library);
    return NULL;
  }
  k->original = *o;
  k->direct = direct;
  k->next = atomic_load(&all_kept);
  while (!atomic_compare_exchange_weak(&all_kept, &k->next, k))
    ;
  /* The handles stay open: that is what keeps the two objects loaded. */
  return &k->original;
}

/* ---- answers are made ------------------------------------------------------------ */

/* Everything that a caller's cusparseSpMM leads to.  Where that is the function of a
   wrapper, the library behind it is whatever the caller would find the mark in.  */
static const struct shunt_original *gather(const struct caller *c)
{
  static const char first[] = "cusparseSpMM";
  struct shunt_original o = {.path = NULL};
  struct loaded entry, library;
  void *p = look(c, first);
  if (!loaded_open(p, &entry)) return NULL;
  void *known = loaded_symbol(entry.handle, mark);
  if (!loaded_open(known ? known : look(c, mark), &library) && !loaded_open(p, &library)) {
    loaded_close(&entry);
    return NULL;
  }
  fill_taken(&o, c->is_wrapper ? NULL : c, &entry, &library);
  fill_read_back(&o, &library);
  return keep(&o, false, &entry, &library);
}

/* The library around an address and nothing else. */
static const struct shunt_original *gather_direct(const void *address)
{
  struct shunt_original o = {.path = NULL};
  struct loaded library, none = {NULL, NULL, NULL};
  void *base = loaded_base(address);
  for (struct kept *k = atomic_load(&all_kept); k; k = k->next)
    if (k->direct && k->original.base == base) return &k->original;
  if (!loaded_open(address, &library)) return NULL;
  fill_taken(&o, NULL, &library, &library);
  fill_read_back(&o, &library);
  return keep(&o, true, &none, &library);
}

/* The original called us back.  Once: the library behind it.  If that calls us back too, it is
   a wrapper of everything, which looks like a library: what it wraps is another.  (A
   cuSPARSE inside an extension may call its own exported functions, once.)  Who called does not
   help: a wrapper's tail call has its caller's return address.  */
static const struct shunt_original *behind(const struct caller *c, const struct thread *t)
{
  enum { MOST_RETURNS = 256 };
  const struct caller wrapper = {c->address, t->outer->base, true, {NULL, NULL}};
  const struct shunt_original *o = NULL;
  if (t->returns > MOST_RETURNS) return NULL;
  if (t->depth > 1) o = gather(&wrapper);
  return o ? o : gather_direct(t->outer->base);
}

/* The loader's message for our failed look-ups is not for the program to find. */
static const struct shunt_original *leave_no_trace(const struct shunt_original *o, int saved_errno)
{
  dlerror();
  errno = saved_errno;
  return o;
}

static const struct shunt_original *resolve(const void *address, const struct thread *t)
{
  int saved_errno = errno;
  struct caller c = {address, loaded_base(address), false, {NULL, NULL}};
  bool inside = t->depth > 0 && t->outer;
  if (!inside && !loaded_find_reference(address, shows_copy, &c.other)) c.other.name = NULL;
  return leave_no_trace(inside ? behind(&c, t) : gather(&c), saved_errno);
}

/* ---- the entry -------------------------------------------------------------------- */

/* Out of line: the way that is taken once. */
static __attribute__((noinline)) const struct shunt_original *learn(void *return_address,
                                                                    struct thread *t)
{
  const struct shunt_original *o = resolve(return_address, t);
  if (o && t->depth == 0) callers_remember(&callers, return_address, o);
  return o;
}

const struct shunt_original *shunt_original_for(void *return_address)
{
  struct thread *t = &thread;
  const struct shunt_original *o = t->bound;
  t->bound = NULL;
  t->was_bound = o != NULL;
  if (t->depth > 0) {
    t->returns++;
    return o ? o : learn(return_address, t);
  }
  if (!o) o = callers_recall(&callers, return_address);
  if (!o) o = learn(return_address, t);
  t->outer = o;
  t->returns = 0;
  return o;
}

bool shunt_original_was_bound(void)
{
  return thread.was_bound;
}

int *shunt_entry_depth(void)
{
  return &thread.depth;
}

const struct shunt_original *shunt_original_around(const void *symbol)
{
  int saved_errno = errno;
  return leave_no_trace(whole(symbol) ? gather_direct(symbol) : NULL, saved_errno);
}

void shunt_original_bind(const struct shunt_original *o)
{
  thread.bound = o;
}
