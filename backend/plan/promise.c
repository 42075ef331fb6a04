#include "backend/plan/promise.h"

#include <pthread.h>
#include <stdatomic.h>

#include "backend/plan/fork.h"
#include "kernels/common/alignment.h"

/* A promise stands in one of the eight ways of its key's set. */
enum { SETS = 1 << 13, WAYS = 8 };

/* A reader takes offset and bytes between two looks at the key, and a writer clears the key while
   it writes, so that nobody reads half of two promises.  */
struct slot {
  _Atomic uint64_t key; /* 0: free */
  _Atomic size_t offset, bytes;
  _Atomic uint32_t age; /* of the last use */
  _Atomic bool whole;   /* the last answer was */
  const void *library;  /* these two with `writing` held */
  bool stays;
};
static struct slot table[SETS][WAYS];
static _Atomic uint32_t now;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
/* Originals that have asked for more than before.  Where they are too many, each counts as one. */
enum { MOST_GROWN = 8 };
static const void *grown[MOST_GROWN];
static int grown_count;
SHUNT_LOCK_SURVIVES_FORK(promise, writing)

static struct slot *set_of(uint64_t key)
{
  return table[(key ^ key >> 32) % SETS];
}

static bool has_grown(const void *library)
{
  for (int i = 0; i < grown_count; i++)
    if (grown[i] == library) return true;
  return grown_count == MOST_GROWN;
}

static void note_grown(const void *library)
{
  if (!has_grown(library)) grown[grown_count++] = library;
}

/* The key's slot, or one for it; NULL: there is none.  With `writing` held. */
static struct slot *slot_for(uint64_t key)
{
  struct slot *set = set_of(key), *oldest = NULL;
  const uint32_t time = atomic_load(&now);
  for (int i = 0; i < WAYS; i++)
    if (atomic_load(&set[i].key) == key) return &set[i];
  for (int i = 0; i < WAYS; i++) {
    if (atomic_load(&set[i].key) == 0) return &set[i];
    if (set[i].stays || has_grown(set[i].library)) continue;
    if (!oldest || time - atomic_load(&set[i].age) > time - atomic_load(&oldest->age))
      oldest = &set[i];
  }
  return oldest;
}

static void begin(struct slot *s, uint64_t key, const void *library, size_t offset, size_t bytes)
{
  atomic_store(&s->key, 0);
  atomic_store(&s->whole, false);
  s->library = library;
  s->stays = false;
  atomic_store(&s->offset, offset);
  atomic_store(&s->bytes, bytes);
  atomic_store(&s->key, key);
}

/* Another answer for the same problem: buffers of both sizes may be about. */
static void renew(struct slot *s, size_t offset, size_t bytes)
{
  if (atomic_load(&s->offset) < offset) {
    note_grown(s->library);
    bytes = 0; /* void, for good */
    s->stays = true;
  }
  if (bytes < atomic_load(&s->bytes)) atomic_store(&s->bytes, bytes);
}

size_t shunt_promise_make(uint64_t key, const struct shunt_promise_answer *a)
{
  const size_t original = a->original_bytes;
  size_t total = original, own = a->own_bytes;
  if (own) own = shunt_align_up(own, 256) + 256; /* whatever the alignment of the buffer */
  pthread_mutex_lock(&writing);
  struct slot *s = slot_for(key);
  if (s) {
    if (atomic_load(&s->key) == key)
      renew(s, shunt_align_up(original, 256), own);
    else
      begin(s, key, a->library, shunt_align_up(original, 256), own);
    s->stays = s->stays || !a->whole;
    atomic_store(&s->whole, a->whole);
    atomic_store(&s->age, atomic_fetch_add(&now, 1));
    /* An original that asks for less than before gets what it asked for before. */
    if (atomic_load(&s->bytes)) total = atomic_load(&s->offset) + atomic_load(&s->bytes);
  }
  pthread_mutex_unlock(&writing);
  return total;
}

/* *whole: of the promise that is found, or false. */
static struct shunt_promise find(uint64_t key, bool *whole)
{
  struct slot *set = set_of(key);
  for (int i = 0; i < WAYS; i++) {
    if (atomic_load(&set[i].key) != key) continue;
    const struct shunt_promise p = {atomic_load(&set[i].offset), atomic_load(&set[i].bytes)};
    *whole = atomic_load(&set[i].whole);
    atomic_store_explicit(&set[i].age, atomic_load_explicit(&now, memory_order_relaxed),
                          memory_order_relaxed);
    if (atomic_load(&set[i].key) == key) return p;
  }
  *whole = false;
  return (struct shunt_promise){0, 0};
}

struct shunt_promise shunt_promise_find(uint64_t key)
{
  bool whole;
  return find(key, &whole);
}

bool shunt_promise_again(uint64_t key, size_t original, struct shunt_promise *p)
{
  bool whole;
  *p = find(key, &whole);
  return whole && p->own_offset == shunt_align_up(original, 256);
}
