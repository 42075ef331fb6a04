/* test_vector_sddmm_share.c: how SDDMM's entries are dealt out, against every deal there is. */
#include "kernels/vector/vector_sddmm_share.h"

#include "tests/unit/check.h"

static int64_t up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Entries that the last warp has done when it ends, finding its place included. */
static int64_t ends(int64_t nonzeros, int64_t resident, int64_t run)
{
  return up(up(nonzeros, run), resident) * (512 + run);
}

static int64_t best_end(int64_t rows, int64_t nonzeros, int64_t resident)
{
  const int64_t mean = nonzeros / up(rows, 8) + 1;
  int64_t best = INT64_MAX;
  for (int64_t phases = 1; phases <= 64; phases++) {
    const int64_t run = up(mean, phases);
    if (mean / phases < 256 || run > 31 * 256) continue;
    if (ends(nonzeros, resident, run) < best) best = ends(nonzeros, resident, run);
  }
  for (int64_t tiles = 1; mean < 256 && tiles <= 8; tiles++)
    if (ends(nonzeros, resident, tiles * 256) < best) best = ends(nonzeros, resident, tiles * 256);
  return best == INT64_MAX ? ends(nonzeros, resident, 256) : best;
}

static void test_against_all(void)
{
  int wrong = 0, unlike = 0, long_runs = 0, cases = 0;
  for (int64_t rows = 8; rows <= 100000; rows = rows * 3 / 2 + 8)
    for (int64_t mean = 1; mean <= 20000; mean = mean * 4 / 3 + 1)
      for (int size = 2; size <= 4; size += 2) {
        const int64_t nonzeros = rows * mean, resident = 132 * (size == 2 ? 16 : 12);
        const struct shunt_vector_sddmm_share s =
            shunt_vector_sddmm_share_of(rows, nonzeros, size, 132);
        wrong += ends(nonzeros, resident, s.run) != best_end(rows, nonzeros, resident);
        unlike += s.rounds != up(up(nonzeros, s.run), resident);
        long_runs += s.run < 1 || s.run > 31 * 256 || s.phases < 1 || s.phases > 64;
        cases++;
      }
  check(cases > 1000 && wrong == 0, "no deal of %d problems ends sooner", cases);
  check(unlike == 0, "it takes as many rounds as it says");
  check(long_runs == 0, "and a warp has no more tiles than it can put off");
}

static void test_corners(void)
{
  struct shunt_vector_sddmm_share s = shunt_vector_sddmm_share_of(0, 0, 2, 132);
  check(s.run == 256 && s.phases == 1, "nothing to deal out");
  s = shunt_vector_sddmm_share_of(8, 100, 2, 0);
  check(s.run >= 256 && s.rounds == 1, "a device that is not known");
  s = shunt_vector_sddmm_share_of(1024, 104824, 2, 132);
  check(s.phases == 3 && s.run == 273, "a group of 819 entries is shared by three warps");
  check(shunt_vector_sddmm_tiles(&s) > 1 && shunt_vector_sddmm_tiles(&s) < 1.1,
        "who multiply a tile each");
}

int main(void)
{
  test_against_all();
  test_corners();
  return check_finish();
}
