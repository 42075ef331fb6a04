/* masked_starts.c: where each thread puts what it has counted (masked_work.h). */
#include "kernels/semiring/masked/masked_work.h"

enum { BLOCK = 4096 }; /* keys that one thread adds up at a time */

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

void shunt_masked_starts(uint32_t *counts, int threads, int64_t keys, int64_t *offsets)
{
  const int64_t blocks = (keys + BLOCK - 1) / BLOCK;
  int64_t sum = 0;
  SHUNT_OMP(omp parallel for schedule(static) num_threads(threads))
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * BLOCK, end = first + BLOCK < keys ? first + BLOCK : keys;
    offsets[first] = over_block(counts, threads, keys, first, end, NULL, 0);
  }
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t count = offsets[b * BLOCK];
    offsets[b * BLOCK] = sum;
    sum += count;
  }
  SHUNT_OMP(omp parallel for schedule(static) num_threads(threads))
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * BLOCK, end = first + BLOCK < keys ? first + BLOCK : keys;
    over_block(counts, threads, keys, first, end, offsets, offsets[first]);
  }
  offsets[keys] = sum;
}
