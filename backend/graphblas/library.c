#include "backend/graphblas/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- the table -------------------------------------------------------------------------- */

struct filling {
  void *(*symbol)(void *from, const char *name);
  void *from;
  bool complete;
};

static void *function(struct filling *f, const char *name, bool needed)
{
  void *p = f->symbol(f->from, name);
  if (!p && needed) f->complete = false;
  return p;
}

/* The handle of a built-in object, held by the variable of that name. */
static void *object(struct filling *f, const char *name, bool needed)
{
  void **variable = f->symbol(f->from, name);
  if (needed && (!variable || !*variable)) f->complete = false;
  return variable ? *variable : NULL;
}

static void fill_functions(struct grb_library *l, struct filling *f)
{
  void *p;
#define TAKEN(name, arguments)                                                                     \
  p = function(f, #name, false);                                                                   \
  memcpy(&l->original.name, &p, sizeof p);
#define NEEDED(name, arguments)                                                                    \
  p = function(f, #name, true);                                                                    \
  memcpy(&l->name, &p, sizeof p);
#define OPTIONAL(name, arguments)                                                                  \
  p = function(f, #name, false);                                                                   \
  memcpy(&l->name, &p, sizeof p);
  GRB_TAKEN(TAKEN)
  GRB_FUNCTIONS(NEEDED)
  GRB_OPTIONAL_FUNCTIONS(OPTIONAL)
#undef TAKEN
#undef NEEDED
#undef OPTIONAL
}

static void fill_objects(struct grb_library *l, struct filling *f)
{
  int i = 0;
#define TYPE(number) l->type[GRB_##number] = object(f, "GrB_" #number, true);
#define OTHER(number) l->other_type[i++] = object(f, "GrB_" #number, true);
#define IDENTITY(number) l->identity[GRB_##number] = object(f, "GrB_IDENTITY_" #number, true);
#define OPERATOR(name, number)                                                                     \
  l->op[GRB_##number][GRB_##name] = object(f, "GrB_" #name "_" #number, true);
#define ANY(number) l->any[GRB_##number] = object(f, "GxB_ANY_" #number, true);
#define LOGICAL(name) l->logical[GRB_##name] = object(f, "GrB_" #name, true);
#define OPERATORS(number) GRB_OPERATORS(OPERATOR, number)
  GRB_NUMBERS(TYPE)
  GRB_OTHER_TYPES(OTHER)
  GRB_NUMBERS(IDENTITY)
  GRB_NUMBERS(OPERATORS)
  GRB_NUMBERS(ANY)
  GRB_LOGICALS(LOGICAL)
#undef TYPE
#undef OTHER
#undef IDENTITY
#undef OPERATOR
#undef ANY
#undef LOGICAL
#undef OPERATORS
  l->sums = object(f, "GrB_PLUS_MONOID_FP64", false);
  l->bits = object(f, "GxB_ANY_BOOL_MONOID", false);
  l->inner[0][0] = object(f, "GxB_SECONDI_INT32", false);
  l->inner[0][1] = object(f, "GxB_FIRSTJ_INT32", false);
  l->inner[1][0] = object(f, "GxB_SECONDI_INT64", false);
  l->inner[1][1] = object(f, "GxB_FIRSTJ_INT64", false);
  for (int bits = 1; bits < 8; bits++) {
    char name[32];
    snprintf(name, sizeof name, "GrB_DESC_%s%s%s", bits & GRB_DESC_REPLACE ? "R" : "",
             bits & GRB_DESC_STRUCTURE ? "S" : "", bits & GRB_DESC_COMP ? "C" : "");
    l->descriptor[bits] = object(f, name, true);
  }
}

bool grb_library_fill(struct grb_library *l, void *(*symbol)(void *from, const char *name),
                      void *from)
{
  struct filling f = {symbol, from, true};
  fill_functions(l, &f);
  fill_objects(l, &f);
  if (!f.complete) l->state = GRB_UNUSABLE;
  return f.complete;
}

/* ---- made ready on first use ------------------------------------------------------------ */

/* GxB_Context, like the new numbers, came with version 8. */
static struct grb_numbers numbers_of(const struct grb_library *l)
{
  static const struct grb_numbers before_8 = {0, 34, 1, 33, 32, 5, 99},
                                  from_8 = {7000, 7001, 7002, 7034, 7036, 7086, 7019};
  return l->GxB_Context_get_INT32 ? from_8 : before_8;
}

static bool make_ready(struct grb_library *l)
{
  /* A thread that finds it taken hands its call on; in a forked child that may last for good. */
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  if (pthread_mutex_trylock(&mutex) != 0) return false;
  int state = l->state;
  if (state == GRB_UNTRIED) {
    l->numbers = numbers_of(l);
    enum grb_probe found = grb_layout_probe(l, &l->layout);
    if (found != GRB_PROBE_NOT_NOW) state = found == GRB_PROBE_FOUND ? GRB_READY : GRB_UNUSABLE;
    atomic_store_explicit(&l->state, state, memory_order_release);
  }
  pthread_mutex_unlock(&mutex);
  return state == GRB_READY;
}

bool grb_library_ready(struct grb_library *l)
{
  int state = atomic_load_explicit(&l->state, memory_order_acquire);
  return state == GRB_READY || (state == GRB_UNTRIED && make_ready(l));
}
