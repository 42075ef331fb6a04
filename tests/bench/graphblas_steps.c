/* graphblas_steps.c: steps of many searches, F<!P> = F A and W<S> = W A', over rows, nodes, entries
   a row of A and shares of F and of the mask, by GrB_mxm under Shunt's preload and by the original,
   in turns in one process, by the process' CPU time on one thread: the least of each, as medians of
   what both leave to the original differ by up to 1.5 where the machine does other work.  On more
   threads by the clock.

     LD_PRELOAD=.../libshunt-graphblas.so graphblas_steps [-r REPEATS] [-t THREADS] [-a] [STEP ...]

   STEP: a part of its name, as the row has it; "parents" is ANY_SECONDI of INT32.

   A row for each case whose quotient is below 1.1, with -a for all; then the geometric mean, the
   least and how many are below 0.9, of cases that the original takes 0.05 ms for at least.  Results
   must be equal.  */
#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>

#include "tests/bench/graphblas_paired.h"

static mxm_function original;
static int repeats = 5, threads = 1, wrong, cases, slower;
static bool all;
static char **steps; /* NULL behind the last; none: all */
static double logarithms, least = 1e9;

static uint64_t random_state = 88172645463325252u;
static double random_share(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state * 2685821657736338717u >> 11) / 0x1p53;
}

/* rows x columns, each place with this share; form: GxB_SPARSE or GxB_BITMAP. */
static GrB_Matrix random_matrix(GrB_Index rows, GrB_Index columns, double share, int form)
{
  const size_t room = (size_t)((double)rows * (double)columns * share * 1.1) + 64;
  GrB_Index *i = must(malloc(room * sizeof *i)), *j = must(malloc(room * sizeof *j)), n = 0;
  double *x = must(malloc(room * sizeof *x));
  GrB_Matrix a;
  for (double at = 0; n < room; n++) {
    at += 1 + floor(log(1 - random_share()) / log(1 - share));
    if (at > (double)rows * (double)columns) break;
    i[n] = (GrB_Index)(at - 1) / columns;
    j[n] = (GrB_Index)(at - 1) % columns;
    x[n] = random_share();
  }
  GRB_OK(GrB_Matrix_new(&a, GrB_FP64, rows, columns));
  GRB_OK(GrB_Matrix_build_FP64(a, i, j, x, n, GrB_PLUS_FP64));
  GRB_OK(GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, form));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  free(i);
  free(j);
  free(x);
  return a;
}

/* Any parent is right: then only where they are is compared. */
static bool equal(GrB_Matrix x, GrB_Matrix y, bool any)
{
  GrB_Matrix off = NULL;
  GrB_Index m, n, nx, ny, both;
  double most = 0;
  GRB_OK(GrB_Matrix_nrows(&m, x));
  GRB_OK(GrB_Matrix_ncols(&n, x));
  GRB_OK(GrB_Matrix_nvals(&nx, x));
  GRB_OK(GrB_Matrix_nvals(&ny, y));
  GRB_OK(GrB_Matrix_new(&off, GrB_FP64, m, n));
  GRB_OK(GrB_Matrix_eWiseMult_BinaryOp(off, NULL, NULL, GrB_MINUS_FP64, x, y, NULL));
  GRB_OK(GrB_Matrix_apply(off, NULL, NULL, GrB_ABS_FP64, off, NULL));
  GRB_OK(GrB_Matrix_nvals(&both, off));
  GRB_OK(GrB_Matrix_reduce_FP64(&most, NULL, GrB_MAX_MONOID_FP64, off, NULL));
  GrB_Matrix_free(&off);
  return nx == ny && both == nx && (any || most < 1e-9);
}

struct shape {
  GrB_Index rows, nodes;
  double degree, share, mask;
  int form, mask_form; /* GxB_SPARSE or GxB_BITMAP */
  enum { BITS, SUMS, PARENTS } kind;
  bool pull, complement;
};

static void name_of(const struct shape *s, char *text, size_t room)
{
  snprintf(text, room,
           "%4lu x %5lu, %2.0f a row, F %s %.3f, %s %s %.2f, %s, %s:", (unsigned long)s->rows,
           (unsigned long)s->nodes, s->degree, s->form == GxB_SPARSE ? "sparse" : "bitmap",
           s->share, s->complement ? "!P" : "S", s->mask_form == GxB_SPARSE ? "sparse" : "bitmap",
           s->mask, s->pull ? "pull" : "push",
           s->kind == SUMS      ? "sums"
           : s->kind == PARENTS ? "parents"
                                : "bits");
}

static bool is_wanted(const char *name)
{
  for (char **step = steps; *step; step++)
    if (strstr(name, *step)) return true;
  return !*steps;
}

static void measure(const struct shape *s, GrB_Matrix f, GrB_Matrix a, GrB_Matrix mask)
{
  char name[128];
  name_of(s, name, sizeof name);
  if (!is_wanted(name)) return;
  const GrB_Descriptor d = s->complement ? (s->pull ? GrB_DESC_RSCT1 : GrB_DESC_RSC)
                                         : (s->pull ? GrB_DESC_RST1 : GrB_DESC_RS);
  const GrB_Type type = s->kind == SUMS ? GrB_FP64 : s->kind == PARENTS ? GrB_INT32 : GrB_BOOL;
  const GrB_Semiring semiring = s->kind == SUMS      ? GxB_PLUS_FIRST_FP64
                                : s->kind == PARENTS ? GxB_ANY_SECONDI_INT32
                                                     : GxB_ANY_PAIR_BOOL;
  GrB_Matrix c, results[2];
  GRB_OK(GrB_Matrix_new(&c, type, s->rows, s->nodes));
  GRB_OK(GxB_Matrix_Option_set(c, GxB_SPARSITY_CONTROL, s->form));
  const struct paired_product p = {c, mask, NULL, semiring, f, a, d};
  for (int i = 0; i < 2; i++) {
    GRB_OK(GrB_Matrix_dup(&results[i], c));
    GRB_OK((i ? original : GrB_mxm)(results[i], mask, NULL, p.semiring, f, a, d));
  }
  const bool good = equal(results[0], results[1], s->kind == PARENTS);
  const struct paired_time t = paired_run(original, &p, repeats);
  const double theirs = t.least_original, ours = t.least_shunt, quotient = theirs / ours;
  if (theirs >= 0.05) {
    cases++;
    slower += quotient < 0.9;
    logarithms += log(quotient);
    if (quotient < least) least = quotient;
  }
  if (all || !good || (quotient < 1.1 && theirs >= 0.05))
    printf("%s %8.3f %8.3f %5.2f%s\n", name, theirs, ours, quotient, good ? "" : "  WRONG");
  fflush(stdout);
  wrong += !good;
  GrB_Matrix_free(&c);
  for (int i = 0; i < 2; i++) GrB_Matrix_free(&results[i]);
}

/* All semirings, both directions. */
static void measure_all(struct shape s, GrB_Matrix a)
{
  GrB_Matrix f = random_matrix(s.rows, s.nodes, s.share, s.form);
  GrB_Matrix mask = random_matrix(s.rows, s.nodes, s.mask, s.mask_form);
  for (int way = 0; way < 6; way++) {
    s.kind = way % 3;
    s.pull = way >= 3;
    measure(&s, f, a, mask);
  }
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&mask);
}

static void sweep(GrB_Index nodes, double degree)
{
  static const GrB_Index rows[] = {4, 32, 128};
  static const double shares[] = {0.002, 0.05, 0.4}, masks[] = {0.02, 0.3, 0.9};
  GrB_Matrix a = random_matrix(nodes, nodes, degree / (double)nodes, GxB_SPARSE);
  for (int r = 0; r < 3; r++)
    for (int f = 0; f < 3; f++)
      for (int m = 0; m < 3; m++)
        for (int kind = 0; kind < 3; kind++) {
          struct shape s = {.rows = rows[r], .nodes = nodes, .degree = degree};
          s.share = shares[f];
          s.mask = masks[m];
          s.form = shares[f] > 0.1 ? GxB_BITMAP : GxB_SPARSE;
          s.complement = kind < 2;
          s.mask_form = kind == 0 ? GxB_BITMAP : GxB_SPARSE;
          measure_all(s, a);
        }
  GrB_Matrix_free(&a);
}

int main(int argc, char **argv)
{
  int option;
  while ((option = getopt(argc, argv, "r:t:a")) != -1) {
    if (option == 'r') repeats = atoi(optarg);
    if (option == 't') threads = atoi(optarg);
    if (option == 'a') all = true;
    if (option == '?') return 2;
  }
  steps = argv + optind;
  if (repeats < 1 || repeats > 99 || threads < 1) return 2;
  omp_set_num_threads(threads);
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  if (threads == 1) paired_clock = CLOCK_PROCESS_CPUTIME_ID;
  original = original_mxm();
  if (!original) return 1;
  if (original == GrB_mxm) printf("# without the preload: the original beside itself\n");
  sweep(3000, 4);
  sweep(3000, 32);
  sweep(20000, 8);
  printf("# %d steps: geometric mean %.2f, least %.2f, %d below 0.9, %d wrong\n", cases,
         cases ? exp(logarithms / cases) : 0, cases ? least : 0, slower, wrong);
  GRB_OK(GrB_finalize());
  return wrong != 0;
}
