#include "backend/plan/promise.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 1 << 16, PROBES = 32 };

/* hash is written last and never changes; offset and bytes are atomic because a
   void promise may be declared while others read.  A program with more kinds of
   problems than fit keeps the first ones: the rest get no workspace.  */
static struct {
  _Atomic uint64_t hash;
  _Atomic size_t offset, bytes;
} slot[SLOTS];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static size_t round_up(size_t n)
{
  return (n + 255) & ~(size_t)255;
}

/* Called with `writing` held. */
static size_t record(unsigned i, uint64_t hash, size_t original, size_t own)
{
  size_t offset = round_up(original);
  if (atomic_load(&slot[i].hash) == 0) {
    atomic_store(&slot[i].offset, offset);
    atomic_store(&slot[i].bytes, own);
    atomic_store_explicit(&slot[i].hash, hash, memory_order_release);
  } else if (atomic_load(&slot[i].offset) < offset || atomic_load(&slot[i].bytes) != own) {
    atomic_store(&slot[i].bytes, 0); /* void, for good */
  }
  /* An original that asks for less than before gets what it asked for before. */
  return atomic_load(&slot[i].bytes) ? atomic_load(&slot[i].offset) + own : original;
}

size_t shunt_promise_make(uint64_t hash, size_t original, size_t own)
{
  if (own) own = round_up(own) + 256; /* whatever the alignment of the buffer */
  pthread_mutex_lock(&writing);
  size_t total = original;
  for (unsigned p = 0; p < PROBES; p++) {
    unsigned i = (unsigned)(hash + p) % SLOTS;
    uint64_t there = atomic_load(&slot[i].hash);
    if (there != 0 && there != hash) continue;
    total = record(i, hash, original, own);
    break;
  }
  pthread_mutex_unlock(&writing);
  return total;
}

struct shunt_promise shunt_promise_find(uint64_t hash)
{
  for (unsigned p = 0; p < PROBES; p++) {
    unsigned i = (unsigned)(hash + p) % SLOTS;
    uint64_t there = atomic_load_explicit(&slot[i].hash, memory_order_acquire);
    if (there == hash)
      return (struct shunt_promise){atomic_load(&slot[i].offset), atomic_load(&slot[i].bytes)};
    if (there == 0) break;
  }
  return (struct shunt_promise){0, 0};
}
