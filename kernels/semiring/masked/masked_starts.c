/* masked_starts.c: where each thread puts what it has counted (masked_work.h). */
#include "kernels/semiring/masked/masked_work.h"

enum { BLOCK = 512 }; /* keys that one thread adds up at a time */

/* Over keys first .. end: the sum, or, with `from`, the counts replaced by starts from there. */
static int64_t over_block(uint32_t *counts, int threads, int64_t keys, int64_t first, int64_t end,
                          int64_t *offsets, int64_t from)
{
  for (int64_t key = first; key < end; key++) {
    if (offsets) offsets[key] = from;
    for (int t = 0; t < threads; t++) {
      uint32_t *at = counts + t * keys + key;
      const uint32_t count = *at;
      if (offsets) *at = (uint32_t)from;
      from += count;
    }
  }
  return from;
}

struct keys {
  uint32_t *counts;
  int threads;
  int64_t keys, *offsets;
};

static void add_up(void *keys, int64_t begin, int64_t end, int worker)
{
  const struct keys *k = keys;
  (void)worker;
  for (int64_t first = begin; first < end; first += BLOCK) {
    const int64_t next = first + BLOCK < end ? first + BLOCK : end;
    k->offsets[first] = over_block(k->counts, k->threads, k->keys, first, next, NULL, 0);
  }
}

static void start(void *keys, int64_t begin, int64_t end, int worker)
{
  const struct keys *k = keys;
  (void)worker;
  for (int64_t first = begin; first < end; first += BLOCK) {
    const int64_t next = first + BLOCK < end ? first + BLOCK : end;
    over_block(k->counts, k->threads, k->keys, first, next, k->offsets, k->offsets[first]);
  }
}

void shunt_masked_starts(uint32_t *counts, int threads, int64_t keys, int64_t *offsets)
{
  const int64_t blocks = (keys + BLOCK - 1) / BLOCK;
  int64_t sum = 0;
  struct keys x = {counts, threads, keys, offsets};
  shunt_team_loop(threads, keys, BLOCK, add_up, &x);
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t count = offsets[b * BLOCK];
    offsets[b * BLOCK] = sum;
    sum += count;
  }
  shunt_team_loop(threads, keys, BLOCK, start, &x);
  offsets[keys] = sum;
}
