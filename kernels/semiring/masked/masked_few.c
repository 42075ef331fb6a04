/* masked_few.c: entries that a row of few shares with others, by comparing all with all: eight of
   the other row at a time with each of the few.  Nothing is marked, and no branch depends on what
   is found.  */
#include "kernels/semiring/masked/masked_pairs.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_loops.h"

#ifdef SHUNT_SEMIRING_X86
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt")))

bool shunt_masked_has_few(void)
{
  return shunt_semiring_level() > 0 && __builtin_cpu_supports("popcnt");
}

/* Which of eight are among the few: a bit for each. */
AVX2 static inline unsigned hits(__m256i eight, const __m256i *few, int64_t n)
{
  __m256i hit = _mm256_cmpeq_epi32(eight, few[0]);
  for (int64_t i = 1; i < n; i++) hit = _mm256_or_si256(hit, _mm256_cmpeq_epi32(eight, few[i]));
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(hit));
}

AVX2 static inline uint32_t count(const uint32_t *k, int64_t n, uint32_t first, uint32_t last,
                                  const __m256i *few, int64_t n_few)
{
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  uint32_t found = 0;
  for (; n > 8 && k[7] < first; n -= 8) k += 8;
  for (; n >= 8; n -= 8, k += 8) {
    if (k[0] > last) return found;
    const __m256i eight = _mm256_loadu_si256((const __m256i *)(const void *)k);
    found += (uint32_t)__builtin_popcount(hits(eight, few, n_few));
  }
  if (n == 0) return found;
  const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lanes);
  const __m256i rest = _mm256_maskload_epi32((const int *)(const void *)k, there);
  return found + (uint32_t)__builtin_popcount(hits(rest, few, n_few) & ((1u << n) - 1));
}

AVX2 void shunt_masked_few(const uint32_t *few, int64_t n_few, const uint32_t *indices,
                           const struct shunt_masked_pair *pairs, int64_t n, uint32_t *counts)
{
  __m256i each[SHUNT_FEW];
  for (int64_t i = 0; i < n_few; i++) each[i] = _mm256_set1_epi32((int)few[i]);
  for (int64_t h = 0; h < n; h++) {
    const uint32_t *k = indices + pairs[h].begin;
    counts[pairs[h].at] = shunt_worth_seeking(n_few, pairs[h].length)
                              ? (uint32_t)shunt_masked_seek(few, n_few, k, pairs[h].length, NULL)
                              : count(k, pairs[h].length, few[0], few[n_few - 1], each, n_few);
  }
}
#else
bool shunt_masked_has_few(void)
{
  return false;
}

void shunt_masked_few(const uint32_t *few, int64_t n_few, const uint32_t *indices,
                      const struct shunt_masked_pair *pairs, int64_t n, uint32_t *counts)
{
  (void)few, (void)n_few, (void)indices, (void)pairs, (void)n, (void)counts;
}
#endif
