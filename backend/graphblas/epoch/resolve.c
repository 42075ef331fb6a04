/* resolve.c: where a trampoline's call goes.

   To the function that the caller would have reached without us: another preload's that
   stands behind us, or that of the copy of GraphBLAS which is the caller's (library.h).
   Answers are remembered per calling object and function, and found by the page of code
   that called (interposed.h).  Nothing is unloaded that was an answer.

   Not noticed: a plugin that is closed and another one, bound to another copy of GraphBLAS,
   that is then mapped to the same page.  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/epoch/interposed.h"
#include "backend/graphblas/epoch/pinned.h"
#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/library.h"
#include "backend/loader/loaded.h"
#include "backend/options/disable.h"
#include "backend/plan/fault.h"

#if GRB_HAVE_TRAMPOLINES

struct grb_site grb_sites[GRB_SITES];
atomic_bool grb_several_copies;

#define NAME(number, name, what) #name,
static const char *const names[GRB_MUTATOR_COUNT] = {GRB_MUTATORS(NAME)};
#undef NAME

/* One object that calls: its answers. */
struct caller {
  const void *base;
  const struct caller *next;
  void *_Atomic targets[GRB_MUTATOR_COUNT];
};
static _Atomic(struct caller *) callers;

/* Enough for most programs; then the heap. */
static struct caller first_callers[4];
static atomic_uint first_used;

/* The copy whose callers were served so far. */
static _Atomic(const void *) only_copy;

static bool one_copy(const struct grb_library *l)
{
  const void *none = NULL;
  if (!atomic_compare_exchange_strong(&only_copy, &none, l->base) && none != l->base)
    atomic_store(&grb_several_copies, true);
  return !atomic_load(&grb_several_copies);
}

static bool is_ours(const void *p)
{
  return loaded_base(p) == loaded_base(grb_sites);
}

/* Some objects define a few of the names only, to hand them on. */
static bool is_wrapper(void *p)
{
  struct loaded o;
  if (!loaded_open(p, &o)) return false;
  void *start = loaded_symbol(o.handle, "GrB_init");
  bool yes = !start || loaded_base(start) != o.base;
  loaded_close(&o);
  return yes;
}

static void *in_library(const struct grb_library *l, const char *name)
{
  struct loaded o;
  void *p;
  if (l->path[0]) {
    p = loaded_open(l->base, &o) ? loaded_symbol(o.handle, name) : NULL;
    loaded_close(&o);
  } else {
    void *program = dlopen(NULL, RTLD_LAZY);
    p = program ? loaded_symbol(program, name) : NULL;
    if (program) dlclose(program);
  }
  return p && !is_ours(p) ? p : NULL;
}

static void *search(const struct grb_library *l, const char *name, const void *caller)
{
  void *next = loaded_symbol(RTLD_NEXT, name);
  if (next && (is_ours(next) || loaded_base(next) == loaded_base(caller))) next = NULL;
  if (!l || (next && (loaded_base(next) == l->base || is_wrapper(next)))) return next;
  return in_library(l, name);
}

static struct caller *caller_at(const void *base)
{
  struct caller *c;
  for (c = atomic_load(&callers); c; c = (struct caller *)c->next)
    if (c->base == base) return c;
  unsigned i = atomic_load(&first_used);
  i = i < sizeof first_callers / sizeof *first_callers ? atomic_fetch_add(&first_used, 1) : i;
  c = i < sizeof first_callers / sizeof *first_callers ? &first_callers[i]
                                                       : SHUNT_TRY_OR(NULL, calloc(1, sizeof *c));
  if (!c) return NULL;
  c->base = base;
  struct caller *head = atomic_load(&callers);
  do c->next = head;
  while (!atomic_compare_exchange_weak(&callers, &head, c));
  return c;
}

/* Without memory, or where another page has the place, nothing is remembered: slower, equally
   right.  */
static void remember(unsigned number, const void *address, void *target)
{
  struct caller *c = caller_at(loaded_base(address));
  struct loaded held; /* stays open, so that the target stays mapped */
  if (!c) return;
  if (!atomic_load(&c->targets[number])) {
    loaded_open(target, &held);
    atomic_store(&c->targets[number], target);
  }
  uintptr_t page = (uintptr_t)address >> GRB_PAGE_BITS;
  struct grb_site *s = &grb_sites[page % GRB_SITES];
  void *_Atomic *free_place = NULL;
  if (atomic_compare_exchange_strong(&s->targets, &free_place, c->targets))
    atomic_store(&s->page, page);
}

/* What a first argument names; ALL: any matrix. */
enum what { HANDLE, POINTER, ALL };
#define WHAT(number, name, what) what,
static const unsigned char named_by[GRB_MUTATOR_COUNT] = {GRB_MUTATORS(WHAT)};
#undef WHAT

/* An element of a full matrix changes in its place. */
static bool keeps_array(unsigned number)
{
  static const char prefix[] = "GrB_Matrix_setElement_";
  return strncmp(names[number], prefix, sizeof prefix - 1) == 0;
}

static void let_go(unsigned number, void *first)
{
  if (named_by[number] == ALL)
    grb_gpu_unpin(NULL);
  else if (first && !keeps_array(number)) {
    const void *handle = named_by[number] == HANDLE ? first : *(void **)first;
    if (handle) grb_gpu_unpin(handle);
  }
}

/* What the trampoline itself would have found; NULL: nothing is known. */
static void *remembered(unsigned number, const void *return_address)
{
  const uintptr_t page = (uintptr_t)return_address >> GRB_PAGE_BITS;
  const struct grb_site *s = &grb_sites[page % GRB_SITES];
  if (atomic_load(&grb_several_copies) || atomic_load(&s->page) != page) return NULL;
  return atomic_load(&atomic_load(&s->targets)[number]);
}

void *grb_mutator_original(unsigned number, void *return_address, void *first)
{
  int saved_errno = errno;
  (void)shunt_disabled(); /* read for the trampolines, which look at its state alone */
  if (atomic_load(&grb_pinned)) {
    let_go(number, first);
    errno = saved_errno;
    void *known = remembered(number, return_address);
    if (known) return known;
  }
  const struct grb_library *l = grb_library_for(return_address);
  void *p = search(l, names[number], return_address);
  if (p && l && one_copy(l) && loaded_base(return_address)) remember(number, return_address, p);
  dlerror(); /* the message of our failed look-ups is not for the program to find */
  errno = saved_errno;
  return p;
}

#endif
