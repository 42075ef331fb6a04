#include "backend/loader/callers.h"

#include <stdlib.h>
#include <string.h>

#include "backend/loader/loaded.h"
#include "backend/plan/fault.h"

enum { PAGE_BITS = 12, MOST_PROBES = 8 };

struct caller_answer {
  const void *what;
  const struct caller_answer *next;
  char caller[];
};

static struct caller_site *site(const struct callers *c, uintptr_t page, unsigned probe)
{
  uint64_t hash = (uint64_t)page * UINT64_C(0x9E3779B97F4A7C15);
  return &c->sites[((hash >> 40) + probe) % c->count];
}

const void *callers_recall(const struct callers *c, const void *address)
{
  uintptr_t page = (uintptr_t)address >> PAGE_BITS;
  for (unsigned i = 0; i < MOST_PROBES; i++) {
    struct caller_site *s = site(c, page, i);
    uintptr_t there = atomic_load_explicit(&s->page, memory_order_relaxed);
    if (!there) return NULL;
    if (there != page) continue;
    const struct caller_answer *a = atomic_load_explicit(&s->answer, memory_order_acquire);
    return a && strcmp(a->caller, loaded_name(address)) == 0 ? a->what : NULL;
  }
  return NULL;
}

/* The one answer of this content. */
static const struct caller_answer *make_answer(struct callers *c, const char *caller,
                                               const void *what)
{
  const struct caller_answer *known;
  for (known = atomic_load(&c->all); known; known = known->next)
    if (known->what == what && strcmp(known->caller, caller) == 0) return known;
  struct caller_answer *a = SHUNT_TRY_OR(NULL, malloc(sizeof *a + strlen(caller) + 1));
  if (!a) return NULL;
  a->what = what;
  strcpy(a->caller, caller);
  a->next = atomic_load(&c->all);
  while (!atomic_compare_exchange_weak(&c->all, &a->next, a))
    ;
  return a;
}

void callers_remember(struct callers *c, const void *address, const void *what)
{
  uintptr_t page = (uintptr_t)address >> PAGE_BITS;
  const struct caller_answer *a = make_answer(c, loaded_name(address), what);
  for (unsigned i = 0; a && i < MOST_PROBES; i++) {
    struct caller_site *s = site(c, page, i);
    uintptr_t there = 0;
    if (atomic_compare_exchange_strong(&s->page, &there, page) || there == page) {
      atomic_store_explicit(&s->answer, a, memory_order_release);
      return;
    }
  }
}
