/* threads.c: products from several threads at once, on shared inputs that were waited for and
   on each thread's own matrices; every result must be what the original gave beforehand.

     threads [--threads N] [--seconds T] [--seed S] [--pool 0]

   --pool 0 switches GraphBLAS 7's pool of freed blocks off: it hands blocks from thread to thread
   under a lock of libgomp's, which ThreadSanitizer cannot see.

   Values are small whole numbers, so results are exact.  To be run plain, under a preload, and
   linked to a build with ThreadSanitizer (sanitize.sh).  */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "operand.h"
#include "original.h"
#include "rng.h"

enum { SHARED = 24, MAX_THREADS = 64 };

/* C<M> = A * B, C from nothing or added to a full one; of a graph, C<S> = S S'; a step of searches,
   C<!M> = A * B.  */
struct job {
  struct operand a, b, m;
  union object shared_a, shared_b, shared_m; /* inputs of all threads */
  bool masked, added, graph, frontier;
  GrB_Semiring semiring;
  GrB_BinaryOp plus;
  struct seen expected;
};

static struct products subject, original;
static struct job jobs[SHARED];
static atomic_bool stop;
static atomic_long done, wrong;

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one product -------------------------------------------------------------------------- */

static GrB_Info make_c(const struct job *j, GrB_Matrix *c)
{
  GrB_Info info =
      GrB_Matrix_new(c, type_handle(j->a.type), (GrB_Index)j->a.rows, (GrB_Index)j->b.cols);
  if (!info && j->added)
    info = GrB_Matrix_assign_FP64(*c, NULL, NULL, 1, GrB_ALL, 0, GrB_ALL, 0, NULL);
  return info;
}

static bool multiply(const struct job *j, const struct products *p, GrB_Matrix a, GrB_Matrix b,
                     struct seen *out, char why[200])
{
  union object c = {NULL};
  GrB_Info info = make_c(j, &c.matrix);
  GrB_Matrix m = j->graph ? a : j->masked ? j->shared_m.matrix : NULL;
  if (!info)
    info = p->mxm(c.matrix, m, j->added ? j->plus : NULL, j->semiring, a, j->graph ? a : b,
                  j->frontier ? GrB_DESC_RSC
                  : j->graph  ? GrB_DESC_ST1
                  : j->masked ? GrB_DESC_S
                              : NULL);
  bool good = !info && object_see(false, c, j->a.type, out, why);
  if (info) snprintf(why, 200, "returns %d", (int)info);
  object_free(false, &c);
  return good;
}

static bool as_expected(const struct job *j, GrB_Matrix a, GrB_Matrix b)
{
  struct seen s = {0};
  char why[200];
  bool good = multiply(j, &subject, a, b, &s, why) && seen_equal(&s, &j->expected, NULL, NULL, why);
  if (!good && atomic_fetch_add(&wrong, 1) < 10)
    printf("not ok - job %ld: %s\n", (long)(j - jobs), why);
  seen_free(&s);
  return good;
}

/* The same, with operands of this thread's own, work pending. */
static bool own_as_expected(const struct job *j)
{
  union object a = {NULL}, b = {NULL};
  bool good =
      !operand_make(&j->a, &a) && !operand_make(&j->b, &b) && as_expected(j, a.matrix, b.matrix);
  object_free(false, &a);
  object_free(false, &b);
  return good;
}

static void *work(void *argument)
{
  uint64_t state = (uint64_t)(size_t)argument;
  while (!atomic_load(&stop)) {
    const struct job *j = &jobs[rng_below(&state, SHARED)];
    if (rng_chance(&state, 25))
      own_as_expected(j);
    else
      as_expected(j, j->shared_a.matrix, j->shared_b.matrix);
    atomic_fetch_add(&done, 1);
  }
  return NULL;
}

/* ---- the jobs ------------------------------------------------------------------------------ */

/* Sparse by sparse under a sparse mask, half of them of one symmetric matrix. */
static void draw_masked_job(struct job *j, uint64_t *r)
{
  const bool is_double = j->a.type == T_FP64;
  j->masked = true;
  j->graph = rng_chance(r, 50);
  j->b.form = j->m.form = FORM_SPARSE;
  if (rng_chance(r, 30)) j->b.form = j->m.form = FORM_HYPER;
  j->b.density = 0.2;
  if (!j->graph) return;
  j->a.form = FORM_SPARSE;
  j->a.cols = j->b.rows = j->b.cols = j->m.rows = j->m.cols = j->a.rows;
  j->a.density = 0.2 * rng_unit(r);
  j->a.symmetric = rng_chance(r, 70);
  if (j->a.symmetric) j->a.set_after = j->a.remove_after = 0;
  if (rng_chance(r, 50)) j->semiring = is_double ? GxB_PLUS_PAIR_FP64 : GxB_PLUS_PAIR_FP32;
}

/* A few rows, sparse or a bitmap, that a bitmap keeps from where they were. */
static void draw_frontier_job(struct job *j, uint64_t *r)
{
  const bool bitmap = rng_chance(r, 50);
  j->masked = j->frontier = true;
  j->added = false;
  j->b.form = FORM_SPARSE;
  j->b.density = 0.1;
  j->a.form = bitmap ? FORM_BITMAP : FORM_SPARSE;
  j->a.density = bitmap ? 0.5 : 0.05;
  j->a.set_after = j->a.remove_after = 0;
  j->a.rows = j->m.rows = 1 + rng_below(r, 100);
  j->b.cols = j->m.cols = 1 + rng_below(r, 300);
  j->m.form = FORM_BITMAP;
  j->m.density = 0.5;
  j->a.by_col = j->m.by_col = false;
  j->a.type = j->b.type = j->m.type = T_FP64;
  j->semiring = GxB_PLUS_FIRST_FP64;
  if (rng_chance(r, 50)) return;
  j->a.type = j->b.type = j->m.type = T_BOOL;
  j->semiring = GxB_ANY_PAIR_BOOL;
}

static void draw_job(struct job *j, uint64_t *r)
{
  bool is_double = rng_chance(r, 50), sampled = rng_chance(r, 30);
  int64_t m = 1 + rng_below(r, 300), k = 1 + rng_below(r, 300), n = 1 + rng_below(r, 40);
  struct operand usual = {.type = is_double ? T_FP64 : T_FP32,
                          .form = FORM_FULL,
                          .density = 1,
                          .bitmap_switch = -1,
                          .hyper_switch = -1};
  j->a = j->b = j->m = usual;
  j->a.rows = j->m.rows = m;
  j->a.cols = j->b.rows = k;
  j->b.cols = j->m.cols = n;
  if (!sampled) {
    j->a.form = rng_chance(r, 70) ? FORM_SPARSE : FORM_HYPER;
    j->a.density = 0.1 * rng_unit(r);
    j->a.set_after = j->a.remove_after = 3;
  }
  j->m.form = FORM_SPARSE;
  j->m.density = 0.1;
  j->masked = sampled || rng_chance(r, 20);
  j->added = rng_chance(r, 40);
  j->semiring = is_double ? GrB_PLUS_TIMES_SEMIRING_FP64 : GrB_PLUS_TIMES_SEMIRING_FP32;
  if (rng_chance(r, 30))
    j->semiring = is_double ? GrB_MIN_PLUS_SEMIRING_FP64 : GrB_MIN_PLUS_SEMIRING_FP32;
  j->plus = is_double ? GrB_PLUS_FP64 : GrB_PLUS_FP32;
  struct operand *all[] = {&j->a, &j->b, &j->m};
  for (int i = 0; i < 3; i++) {
    all[i]->by_col = rng_chance(r, 50);
    all[i]->seed = rng_next(r);
  }
  if (!sampled && rng_chance(r, 45))
    draw_masked_job(j, r);
  else if (!sampled && rng_chance(r, 40))
    draw_frontier_job(j, r);
}

static bool ready_job(struct job *j)
{
  char why[200] = "cannot be made";
  bool good = !operand_make(&j->a, &j->shared_a) && !operand_make(&j->b, &j->shared_b) &&
              !operand_make(&j->m, &j->shared_m) &&
              !GrB_Matrix_wait(j->shared_a.matrix, GrB_MATERIALIZE) &&
              !GrB_Matrix_wait(j->shared_b.matrix, GrB_MATERIALIZE) &&
              !GrB_Matrix_wait(j->shared_m.matrix, GrB_MATERIALIZE) &&
              multiply(j, &original, j->shared_a.matrix, j->shared_b.matrix, &j->expected, why);
  if (!good) printf("not ok - job %ld: %s\n", (long)(j - jobs), why);
  return good;
}

static void free_job(struct job *j)
{
  object_free(false, &j->shared_a);
  object_free(false, &j->shared_b);
  object_free(false, &j->shared_m);
  seen_free(&j->expected);
}

int main(int argc, char **argv)
{
  pthread_t thread[MAX_THREADS];
  int threads = 8, started = 0;
  double duration = 5;
  uint64_t seed = 1;
  bool pool = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--threads")) threads = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--seconds")) duration = atof(argv[i + 1]);
    if (!strcmp(argv[i], "--pool")) pool = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
  }
  if (threads < 1 || threads > MAX_THREADS) return 2;
  if (GrB_init(GrB_NONBLOCKING) || !products_find(&subject, &original)) return 2;
  if (!pool) {
    int64_t no_blocks[64] = {0};
    if (GxB_Global_Option_set(GxB_MEMORY_POOL, no_blocks)) return 2;
  }
  if (!products_preloaded(&subject, &original)) printf("# nothing is preloaded\n");
  types_start();
  bool good = true;
  for (int i = 0; i < SHARED; i++) {
    draw_job(&jobs[i], &seed);
    good = good && ready_job(&jobs[i]);
  }
  for (; good && started < threads; started++)
    if (pthread_create(&thread[started], NULL, work, (void *)(size_t)(started + 1))) break;
  for (double end = seconds() + duration; good && seconds() < end && !atomic_load(&wrong);)
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
  atomic_store(&stop, true);
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < SHARED; i++) free_job(&jobs[i]);
  types_finish();
  GrB_finalize();
  good = good && started == threads && !atomic_load(&wrong);
  printf("%s - %ld products from %d threads equal the original's\n", good ? "ok" : "not ok",
         atomic_load(&done), started);
  printf("%d passed, %d failed, 0 skipped\n", good, !good);
  return !good;
}
