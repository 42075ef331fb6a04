/* graphblas_sweep.c: the least gain of GrB_mxm under Shunt's preload over shapes, forms and
   entries a row: full or bitmap times sparse, both orders, diagonal ones, complemented masks.

     LD_PRELOAD=libshunt-graphblas.so graphblas_sweep [-t THREADS] [-u] [-r REPEATS] [-o OUT.json]

   A row for each product: medians of the original and of Shunt, in turns, ms, and the quotient; -u:
   of one thread, by the process' CPU time.  */
#define _GNU_SOURCE

#include "tests/bench/graphblas_paired.h"

static struct paired_options o = {.threads = 2, .repeats = 9};
static double least = 1e30, logs;
static int count;
static char least_of[128];

static uint64_t random_state = 1;
static uint64_t random_bits(void)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state >> 33;
}

static GrB_Matrix new_matrix(int64_t m, int64_t n, bool by_column)
{
  GrB_Matrix a;
  GRB_OK(GrB_Matrix_new(&a, GrB_FP32, (GrB_Index)m, (GrB_Index)n));
  GRB_OK(GxB_Matrix_Option_set(a, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW));
  return a;
}

/* `entries` places a row; 0: the diagonal. */
static GrB_Matrix sparse(int64_t m, int64_t n, int entries, bool by_column)
{
  GrB_Matrix a = new_matrix(m, n, by_column);
  GRB_OK(GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, GxB_SPARSE + GxB_HYPERSPARSE));
  for (int64_t i = 0; i < m; i++)
    for (int e = 0; e < (entries ? entries : 1); e++)
      GRB_OK(GrB_Matrix_setElement_FP32(a, 0.1f + (float)(random_bits() % 1000), (GrB_Index)i,
                                        entries ? random_bits() % (GrB_Index)n : (GrB_Index)i));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  return a;
}

/* One of `of` elements exists; 1: all. */
static GrB_Matrix dense(int64_t m, int64_t n, int of, bool by_column)
{
  GrB_Matrix b = new_matrix(m, n, by_column);
  const GrB_Index rows = (GrB_Index)m, cols = (GrB_Index)n;
  GRB_OK(GxB_Matrix_Option_set(b, GxB_SPARSITY_CONTROL, of > 1 ? GxB_BITMAP : GxB_FULL));
  if (of == 1) GRB_OK(GrB_Matrix_assign_FP32(b, NULL, NULL, 1, GrB_ALL, rows, GrB_ALL, cols, NULL));
  for (GrB_Index i = 0; i < rows; i++)
    for (GrB_Index j = 0; j < cols; j++)
      if (of == 1 || random_bits() % (uint64_t)of == 0)
        GRB_OK(GrB_Matrix_setElement_FP32(b, (float)(random_bits() % 100), i, j));
  GRB_OK(GrB_Matrix_wait(b, GrB_MATERIALIZE));
  return b;
}

static void row(const char *what, GrB_Semiring s, GrB_Matrix a, GrB_Matrix b, bool c_by_column,
                GrB_Matrix mask, GrB_Descriptor d)
{
  GrB_Index m, n;
  GRB_OK(GrB_Matrix_nrows(&m, a));
  GRB_OK(GrB_Matrix_ncols(&n, b));
  GrB_Matrix c = new_matrix((int64_t)m, (int64_t)n, c_by_column);
  const struct paired_product p = {c, mask, NULL, s, a, b, d};
  const struct paired_time t = paired_run(o.original, &p, o.repeats);
  const double gain = t.original / t.shunt;
  printf("%-52s %9.3f %9.3f %7.2f\n", what, t.original, t.shunt, gain);
  fflush(stdout);
  if (o.json)
    fprintf(o.json, "%s\n  {\"product\": \"%s\", \"graphblas_ms\": %.4f, \"shunt_ms\": %.4f}",
            count ? "," : "", what, t.original, t.shunt);
  if (gain < least) {
    least = gain;
    snprintf(least_of, sizeof least_of, "%s", what);
  }
  logs += log(gain);
  count++;
  GrB_Matrix_free(&c);
}

/* Full or bitmap times sparse and, transposed, sparse times full or bitmap. */
static void shapes(int64_t m, int64_t k, int64_t n)
{
  static const int entries[] = {0, 1, 2, 4, 8, 16}, fills[] = {1, 4};
  char what[128];
  for (int e = 0; e < 6; e++)
    for (int f = 0; f < 2; f++)
      for (int bits = 0; bits < 8; bits++) {
        const bool first = bits & 1, c_column = bits >> 1 & 1, s_column = bits >> 2;
        if ((entries[e] == 0 && k != n) || (f && bits > 3)) continue;
        GrB_Matrix s = sparse(first ? n : k, first ? k : n, entries[e], s_column);
        GrB_Matrix x = dense(first ? k : m, first ? m : k, fills[f], c_column);
        snprintf(what, sizeof what, "%s %ldx%ldx%ld %d a row, s by %c, rest by %c",
                 first ? (f ? "s*b" : "s*f") : (f ? "b*s" : "f*s"), (long)(first ? n : m), (long)k,
                 (long)(first ? m : n), entries[e], s_column ? 'c' : 'r', c_column ? 'c' : 'r');
        row(what, GrB_PLUS_TIMES_SEMIRING_FP32, first ? s : x, first ? x : s, c_column, NULL, NULL);
        if (entries[e] == 0 && !f)
          row("  the same, min.plus", GrB_MIN_PLUS_SEMIRING_FP32, first ? s : x, first ? x : s,
              c_column, NULL, NULL);
        GrB_Matrix_free(&s);
        GrB_Matrix_free(&x);
      }
}

/* F<!P,struct,replace> = F A and W<P,struct,replace> = W A', as in betweenness centrality: one
   of `fill` entries of F, and one of `seen` of P, is there.  */
static void masks(int64_t sources, int64_t n, int entries)
{
  static const int of[] = {1, 2, 8, 64};
  char what[128];
  GrB_Matrix a = sparse(n, n, entries, false);
  for (int fill = 1; fill < 4; fill++)
    for (int seen = 0; seen < 4; seen++) {
      GrB_Matrix f = dense(sources, n, of[fill], false), p = dense(sources, n, of[seen], false);
      snprintf(what, sizeof what, "!mask 1/%d: b*s %ldx%ld, 1/%d there, %d a row", of[seen],
               (long)sources, (long)n, of[fill], entries);
      if (seen) row(what, GxB_PLUS_FIRST_FP32, f, a, false, p, GrB_DESC_RSC);
      snprintf(what, sizeof what, "mask 1/%d: b*s %ldx%ld, 1/%d there, %d a row", of[seen],
               (long)sources, (long)n, of[fill], entries);
      row(what, GxB_PLUS_FIRST_FP32, f, a, false, p, GrB_DESC_RST1);
      GrB_Matrix_free(&f);
      GrB_Matrix_free(&p);
    }
  GrB_Matrix_free(&a);
}

int main(int argc, char **argv)
{
  if (!paired_begin(argc, argv, &o)) return 2;
  if (o.json)
    fprintf(o.json, "{\"threads\": %d, \"repeats\": %d, \"products\": [", o.threads, o.repeats);
  shapes(1250, 1024, 1024);
  shapes(20000, 64, 64);
  shapes(64, 20000, 20000);
  shapes(100, 5000, 20000);
  masks(4, 20000, 16);
  masks(32, 20000, 16);
  if (o.json) fprintf(o.json, "]}\n");
  if (o.json) fclose(o.json);
  printf("# %d products, geometric mean %.2f, least %.2f (%s)\n", count, exp(logs / count), least,
         least_of);
  GRB_OK(GrB_finalize());
  return 0;
}
