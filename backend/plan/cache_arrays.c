/* cache_arrays.c: which matrices have an array in a range of memory, for what is being freed.

     page[hash of address / 64 KiB] -> array -> array -> NULL

   A program that frees memory of its own asks for each piece; so what is asked about is the pages
   of the range, or all entries where those are fewer.  */
#include <stdlib.h>

#include "backend/plan/cache_inside.h"
#include "backend/plan/fault.h"

enum { PAGE_BITS = 16 };

static uintptr_t page_of(uintptr_t address)
{
  return address >> PAGE_BITS;
}

static struct shunt_cache_array **pages_at(struct shunt_cache *c, uintptr_t page)
{
  const uint64_t hash = (uint64_t)page * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  return &c->arrays[hash % c->buckets];
}

void shunt_cache_arrays_add(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  const struct shunt_key *k = &e->key;
  const void *const array[] = {k->row_offsets, k->columns, k->values, k->row_indices};
  for (int i = 0; i < SHUNT_KEY_ARRAYS; i++) {
    struct shunt_cache_array *a = &e->array[i];
    *a = (struct shunt_cache_array){.owner = e, .address = (uintptr_t)array[i]};
    if (!array[i]) continue;
    a->at = pages_at(c, page_of(a->address));
    a->next = *a->at;
    if (a->next) a->next->at = &a->next;
    *a->at = a;
  }
}

void shunt_cache_arrays_drop(struct shunt_cache_entry *e)
{
  for (int i = 0; i < SHUNT_KEY_ARRAYS; i++) {
    struct shunt_cache_array *a = &e->array[i];
    if (!a->at) continue;
    *a->at = a->next;
    if (a->next) a->next->at = a->at;
    a->at = NULL;
  }
}

static bool stands_in(const struct shunt_cache_array *a, uintptr_t base, size_t bytes)
{
  return a->address && a->address - base < bytes;
}

static struct shunt_cache_entry *find_among_all(const struct shunt_cache *c, uintptr_t base,
                                                size_t bytes)
{
  for (struct shunt_cache_entry *e = c->newest; e; e = e->older)
    for (int i = 0; i < SHUNT_KEY_ARRAYS; i++)
      if (stands_in(&e->array[i], base, bytes)) return e;
  return NULL;
}

struct shunt_cache_entry *shunt_cache_arrays_find(struct shunt_cache *c, uintptr_t *base,
                                                  uintptr_t end)
{
  if (page_of(end - 1) - page_of(*base) >= c->entries) return find_among_all(c, *base, end - *base);
  while (*base < end) {
    for (struct shunt_cache_array *a = *pages_at(c, page_of(*base)); a; a = a->next)
      if (stands_in(a, *base, end - *base)) return a->owner;
    const uintptr_t next = (page_of(*base) + 1) << PAGE_BITS;
    *base = next > *base && next < end ? next : end;
  }
  return NULL;
}
