/* summary.c: each of Shunt's ways against the others, over all cases of a run:
   geometric mean and least of rival's time / way's time.  */
#include <math.h>

#include "backend/tool/bench/bench.h"

static const char *const own[] = {"csr",     "vector",        "bundle",          "sorted",
                                  "bsr",     "vector-packed", "vector-ordered",  "tile",
                                  "tile-24", "tile-aligned",  "tile-aligned-24", "sparse24",
                                  "srbcrs",  "dcsr-b",        "dcsr-online",     "dcsr-c",
                                  "dense",   "dense-packed",  "routed",          "best"};
static const char *const rival_title[] = {"cuSPARSE's default", "its best",      "cuBLAS",
                                          "Blocked-ELL",        "cuBLASLt int8", "cuBLASLt fp8"};
enum { OWN = sizeof own / sizeof *own, RIVALS = sizeof rival_title / sizeof *rival_title };

struct mean {
  double logarithms, least; /* of the ratios rival / way */
  int count;
};
static struct mean means[OWN][RIVALS];

static void note_ratio(struct mean *m, const struct bench_way *rival, const struct bench_way *way)
{
  if (!rival || !way || !way->right || rival->us <= 0 || way->us <= 0) return;
  double ratio = rival->us / way->us;
  m->logarithms += log(ratio);
  if (m->count++ == 0 || ratio < m->least) m->least = ratio;
}

void bench_note_means(const struct bench_case *c)
{
  const struct bench_way *rival[RIVALS] = {
      bench_find_way(c, "cusparse-default"), bench_best(c, false),
      bench_find_way(c, "cublas"),           bench_find_way(c, "blocked-ell"),
      bench_find_way(c, "cublaslt-i8"),      bench_find_way(c, "cublaslt-fp8")};
  for (int i = 0; i < OWN; i++)
    for (int j = 0; j < RIVALS; j++)
      note_ratio(&means[i][j], rival[j],
                 i < OWN - 1 ? bench_find_way(c, own[i]) : bench_best(c, true));
}

/* Rivals that were timed nowhere have no column. */
static bool is_timed(int rival)
{
  return means[OWN - 1][rival].count > 0;
}

static int ways_of(int own)
{
  int count = 0;
  for (int j = 0; j < RIVALS; j++) count += means[own][j].count;
  return count;
}

void bench_print_summary(void)
{
  int most = 0;
  for (int j = 0; j < RIVALS; j++)
    if (means[OWN - 1][j].count > most) most = means[OWN - 1][j].count;
  if (most < 2) return;
  printf("\n%-16s", "times as fast as");
  for (int j = 0; j < RIVALS; j++)
    if (is_timed(j)) printf("  %22s", rival_title[j]);
  puts("   geometric mean (least) of n cases");
  for (int i = 0; i < OWN; i++) {
    if (!ways_of(i)) continue;
    printf("%-16s", own[i]);
    for (int j = 0; j < RIVALS; j++) {
      const struct mean *m = &means[i][j];
      if (!is_timed(j)) continue;
      if (m->count)
        printf("  %7.2f (%6.2f) of %3d", exp(m->logarithms / m->count), m->least, m->count);
      else
        printf("  %22s", "-");
    }
    puts("");
  }
}
