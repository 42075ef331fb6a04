/* test_vector_route.c: the `vector` route: when it packs a matrix, and what it expects of product
   and proof, held against times measured on an H200 (tests/bench/results/vector/routed.json).  */
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "conv/vector/vector_conv.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shunt_context context = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                                       .memory_bytes = (int64_t)140 << 30};

/* A random matrix of v x 1 vectors and one call on it. */
struct world {
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call call;
};

static void make(struct world *w, int64_t side, int64_t n, double density, int v, shunt_type type)
{
  const int64_t nnz = (int64_t)((double)side * (double)side * density);
  *w = (struct world){.p = {.op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1}};
  w->p.spmm.a = (struct shunt_csr){
      .rows = side, .cols = side, .nnz = nnz, .index_type = SHUNT_I32, .value_type = type};
  w->p.spmm.b = (struct shunt_dense){side, n, n, 1, NULL, type};
  w->p.spmm.c = (struct shunt_dense){side, n, n, 1, NULL, type};
  w->p.spmm.alpha.host = 1;
  w->p.spmm.compute = type == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
  w->f = (struct shunt_profile){.rows = side, .cols = side, .nnz = nnz};
  for (int i = 0; i < 3; i++) {
    w->f.groups_nonempty[i] = side / (8 >> i);
    w->f.groups_equal[i] = 8 >> i <= v ? side / (8 >> i) : 0;
  }
  w->call = (struct shunt_call){.problem = &w->p,
                                .context = &context,
                                .profile = &w->f,
                                .workspace = w,
                                .workspace_bytes = (size_t)1 << 40};
}

static double expected(const struct world *w)
{
  double us = 0;
  const struct shunt_outcome v = shunt_route_vector.expect(&w->call, &us);
  return v.reason == SHUNT_FITS ? us : 0;
}

static double within(double a, double b)
{
  return a > b ? a / b : b / a;
}

static void test_times(void)
{
  static const struct {
    int64_t side, n;
    double density;
    int v;
    double direct, packed, proof; /* us */
    bool keeps;
  } m[] = {
      {4096, 1024, 0.1, 8, 49.8, 33.9, 3.1, true},
      {8192, 1024, 0.1, 8, 178.1, 119.9, 12.6, true},
      {8192, 256, 0.1, 8, 51.7, 36.8, 9.9, true},
      {8192, 1024, 0.05, 8, 101.0, 88.4, 5.1, true},
      {8192, 1024, 0.05, 4, 192.9, 119.6, 7.2, true},
      {4096, 1024, 0.05, 4, 59.6, 33.0, 2.9, true},
      {4096, 256, 0.05, 4, 16.6, 13.6, 2.6, true},
      {8192, 256, 0.05, 4, 59.2, 36.2, 5.5, true},
      {4096, 1024, 0.02, 2, 47.6, 29.9, 2.8, true},
      {4096, 1024, 0.02, 8, 19.2, 16.8, 0.3, true},
  };
  for (unsigned i = 0; i < sizeof m / sizeof m[0]; i++) {
    struct world w;
    make(&w, m[i].side, m[i].n, m[i].density, m[i].v, SHUNT_F16);
    const double direct = expected(&w);
    const bool keeps = shunt_route_vector.pack_bytes(&w.call) > 0;
    w.call.will_pack = true;
    const double kept = expected(&w), best = m[i].packed + m[i].proof;
    printf("# %d, N = %d, %.2f, V = %d: ", (int)m[i].side, (int)m[i].n, m[i].density, m[i].v);
    printf("direct %.1f (%.1f), kept %.1f (%.1f)\n", direct, m[i].direct, kept, best);
    check(within(direct, m[i].direct) < 1.3, "direct as measured");
    check(keeps == m[i].keeps, "a copy is %skept", m[i].keeps ? "" : "not ");
    check(within(kept, keeps || best < m[i].direct ? best : m[i].direct) < 1.3,
          "with a copy as measured");
    check(kept <= direct, "and never the worse of both");
  }
}

static void test_conditions(void)
{
  struct world w;
  make(&w, 8192, 1024, 0.1, 8, SHUNT_BF16);
  const size_t bytes = shunt_route_vector.pack_bytes(&w.call);
  const struct shunt_vector_layout layout = {
      shunt_choose_vector_order(&w.p.spmm, 8, &context.machine), 8, 0};
  check(bytes > shunt_vector_bytes(&w.p.spmm.a, &layout), "room for the copy and more");
  w.call.no_copies = true;
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "not where copies do not stand");
  w.call.no_copies = false;
  w.f.unsorted_rows = 1;
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "nor of unsorted rows");
  w.call.forced = true;
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "nor if forced");
  w.f.unsorted_rows = 0;
  w.call.profile = NULL;
  check(shunt_route_vector.pack_bytes(&w.call) > 0 && shunt_route_vector.packs_by_profile,
        "unprofiled: it might be kept, and waits");
  w.call.profile = &w.f;
  w.f.groups_equal[0]--;
  check(shunt_route_vector.pack_bytes(&w.call) > bytes, "one odd group of 8: room for fours");
  w.call.forced = false;
  make(&w, 8192, 1024, 0.1, 1, SHUNT_F16);
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "no vectors, no copy");
  w.call.forced = true;
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "forced, it waits for an order of the rows");
  check(shunt_route_vector.study_bytes(&w.call) > 0, "which is looked for at once");
  w.f.groups_nonempty[2] = 0;
  w.p.spmm.a.rows = w.p.spmm.c.rows = INT32_MAX - 8;
  w.p.spmm.a.cols = w.p.spmm.b.rows = 16;
  w.p.spmm.a.nnz = INT32_MAX;
  check(shunt_route_vector.study_bytes(&w.call) == 0, "but not of so many rows");
  make(&w, 8192, 1024, 0.1, 8, SHUNT_F32);
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "f32 is read in place");
  make(&w, 8192, 1024, 0.01, 8, SHUNT_F16);
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "so is what is scattered");
}

/* 16 x 1 vectors: products and proofs as measured, results/vector/sixteens.txt. */
static void test_sixteens(void)
{
  static const struct {
    int64_t side, n;
    double density, product, proof;
  } t[] = {{4096, 256, 0.1, 10.3, 3.1},   {4096, 1024, 0.1, 24.9, 3.1},
           {4096, 1024, 0.2, 41.3, 6},    {8192, 256, 0.1, 24.2, 9.9},
           {8192, 1024, 0.1, 92.2, 12.6}, {8192, 1024, 0.05, 57.1, 5.1},
           {4096, 1024, 0.05, 17.7, 2.9}};
  for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
    struct world w;
    make(&w, t[i].side, t[i].n, t[i].density, 8, SHUNT_F16);
    w.call.will_pack = true;
    const double eights = expected(&w), row = t[i].density * (double)t[i].side;
    w.f.merged_blocks = t[i].side / 16;
    w.f.merged_tiles = (int64_t)((double)w.f.merged_blocks * (row + 16) / 32);
    const double sixteens = expected(&w), measured = t[i].product + t[i].proof;
    printf("# 16 x 1, %d, N = %d, %.2f: %.1f (%.1f)\n", (int)t[i].side, (int)t[i].n, t[i].density,
           sixteens, measured);
    check(sixteens < eights && within(sixteens, measured) < 1.3, "16 x 1 vectors as measured");
    check(shunt_route_vector.pack_bytes(&w.call) > 0, "and kept");
  }
}

static void test_workspace(void)
{
  struct world w;
  make(&w, 4096, 1024, 0.1, 8, SHUNT_F16);
  check(shunt_route_vector.workspace(&w.p, &context) > (size_t)4096 * 1024 * 4,
        "the workspace has room for W");
  w.call.will_pack = true;
  const double kept = expected(&w);
  w.call.workspace_bytes = 1 << 20;
  check(expected(&w) > kept, "with less there is no copy to use");
  check(shunt_route_vector.pack_bytes(&w.call) == 0, "nor is one made");
  make(&w, 4096, 1024, 0.001, 8, SHUNT_F16);
  check(shunt_route_vector.workspace(&w.p, &context) < (size_t)4096 * 1024 * 4,
        "scattered matrices ask for no more than before");
  make(&w, 4096, 1024, 0.1, 8, SHUNT_F16);
  w.p.spmm.beta.host = 1;
  w.call.will_pack = true;
  check(expected(&w) > kept, "beta costs a pass");
}

/* A matrix of 8 x 1 vectors whose rows were shuffled, `filled` of them found again. */
static void make_studied(struct world *w, struct shunt_vector_measure *m, int64_t side, int64_t n,
                         double density, double filled)
{
  make(w, side, n, density, 1, SHUNT_F16);
  *m = (struct shunt_vector_measure){.vectors = (uint64_t)((double)w->p.spmm.a.nnz / 8 / filled)};
  m->crowded[0] = filled < 1;
}

static bool studies(const struct world *w)
{
  return shunt_route_vector.study_bytes(&w->call) > 0;
}

/* When ordering is tried: after as much time as it takes, where it might pay. */
static void test_study(void)
{
  struct shunt_vector_measure m;
  struct world w;
  make_studied(&w, &m, 8192, 1024, 0.1, 1);
  w.call.best_us = 174; /* by `dense` */
  w.call.spent_us = 2 * 174;
  check(!studies(&w), "not after two calls");
  w.call.spent_us = 6 * 174;
  check(studies(&w), "after six");
  check(shunt_route_vector.study_bytes(&w.call) < (size_t)8192 * 256, "in little memory");
  w.call.best_us = 100;
  check(!studies(&w), "but not where even whole vectors would not pay");
  w.call.best_us = 174;
  w.call.no_copies = true;
  check(!studies(&w), "nor where copies do not stand");
  w.call.no_copies = false;
  w.f.unsorted_rows = 1;
  check(!studies(&w), "nor with unsorted rows");
  w.f.unsorted_rows = 0;
  w.call.profile = NULL;
  check(!studies(&w), "nor before there is a profile");
  w.call.profile = &w.f;
  w.call.studied = &m;
  check(studies(&w), "found worth it, its payload gone: again");
  m.vectors *= 6;
  check(!studies(&w), "found not to be: never again");
  m.vectors /= 6;
  m.irregular = SHUNT_IRREGULAR;
  check(!studies(&w), "irregular: never again");
  make(&w, 8192, 1024, 0.1, 8, SHUNT_F16);
  w.call.best_us = 174, w.call.spent_us = 1e6;
  check(!studies(&w), "rows that stand well are left alone");
  make(&w, 8192, 1024, 0.1, 1, SHUNT_F32);
  w.call.best_us = 600, w.call.spent_us = 1e6;
  check(!studies(&w), "f32 is not packed");
}

/* Times with an order found, held against results/vector/row_clusters.txt (product) and 3 to 12 us
   of proof; a copy yet to be made has to be better by a tenth.  */
static void test_ordered(void)
{
  static const struct {
    int64_t side, n;
    double density, product, proof;
  } t[] = {
      {4096, 256, 0.1, 13.7, 3.1},   {4096, 1024, 0.1, 34.0, 3.1},   {4096, 1024, 0.05, 26.8, 2.9},
      {8192, 256, 0.1, 37.0, 9.9},   {8192, 1024, 0.1, 122.0, 12.6}, {8192, 256, 0.05, 22.2, 5.1},
      {8192, 1024, 0.05, 89.9, 5.1},
  };
  for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
    struct shunt_vector_measure m;
    struct world w;
    double us;
    make_studied(&w, &m, t[i].side, t[i].n, t[i].density, 1);
    check(shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_PATTERN,
          "nothing studied: no pattern for `vector`");
    w.call.studied = &m;
    check(shunt_route_vector.pack_bytes(&w.call) == 0, "the list of rows gone: nothing to keep");
    w.call.study = &m;
    check(shunt_route_vector.pack_bytes(&w.call) > 0, "with it there is");
    w.call.will_pack = true;
    check(shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_ORDERED, "taken, ordered");
    const double measured = t[i].product + t[i].proof;
    printf("# %d, N = %d, %.2f: %.1f (%.1f)\n", (int)t[i].side, (int)t[i].n, t[i].density, us,
           measured);
    check(within(us, 1.1 * measured) < 1.3, "as measured and a tenth");
    w.call.workspace_bytes = 1 << 20;
    check(shunt_route_vector.expect(&w.call, &us).reason != SHUNT_R_ORDERED,
          "without workspace it is not");
  }
}

/* Layers whose rows differ, in the order found: us measured, longest row included. */
static void test_ordered_uneven(void)
{
  static const struct {
    int64_t rows, cols, nnz, n, longest;
    double fill, took;
  } t[] = {{36000, 900, 810015, 64, 754, 0.218, 22.3},  {18000, 700, 504045, 64, 655, 0.271, 14.7},
           {18000, 700, 504045, 128, 655, 0.271, 19.2}, {24000, 600, 720093, 64, 536, 0.265, 16.0},
           {768, 2048, 188757, 64, 1601, 0.33, 5.8},    {4096, 512, 314602, 64, 468, 0.389, 5.4}};
  const struct shunt_machine h200 = {.device = {132, 90, 232448, 60 << 20},
                                     .costs = &shunt_costs_h200};
  for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
    const struct shunt_spmm p = {.a = {.rows = t[i].rows, .cols = t[i].cols, .nnz = t[i].nnz},
                                 .b = {.rows = t[i].cols, .cols = t[i].n, .type = SHUNT_F16},
                                 .c = {.rows = t[i].rows, .cols = t[i].n, .type = SHUNT_F16}};
    const double vectors = (double)t[i].nnz / (8 * t[i].fill), longest = (double)t[i].longest;
    const double us = shunt_cost_vector_product(&p, vectors, 8, &h200) +
                      shunt_cost_vector_uneven(&p, vectors, longest, &h200);
    check(within(us, t[i].took) < 1.25, "%d rows, N = %d: %.1f us, measured %.1f", (int)t[i].rows,
          (int)t[i].n, us, t[i].took);
    const double mean = vectors * 8 / (double)t[i].rows;
    check(shunt_cost_vector_uneven(&p, vectors, mean, &h200) < 1e-6 &&
              shunt_cost_vector_uneven(&p, vectors, mean / 2, &h200) == 0,
          "lists alike take no longer");
  }
}

/* The copy has room for what was found, and goes on as it was packed. */
static void test_packing(void)
{
  struct shunt_vector_measure m;
  struct world w;
  double us;
  make_studied(&w, &m, 8192, 256, 0.05, 1);
  w.call.studied = w.call.study = &m;
  const size_t whole = shunt_route_vector.pack_bytes(&w.call);
  make_studied(&w, &m, 8192, 256, 0.05, 0.8);
  w.call.studied = w.call.study = &m;
  check(shunt_route_vector.pack_bytes(&w.call) > whole, "crowded groups have more room");
  uint32_t note = 8u << 24 | 1u << 16 | 4u << 8 | SHUNT_VECTOR_SEQUENTIAL;
  const struct shunt_packed_view kept = {.note = &note};
  w.call.packed = &kept;
  w.call.study = NULL;
  check(shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_ORDERED,
        "a copy that was packed in order is used so");
  w.call.studied = NULL;
  check(shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_ORDERED,
        "whatever has become of the study");
  note = 1u << 24 | 1u << 8;
  check(shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_PATTERN, "and one that was not");
}

/* ---- f32, where SHUNT_MATH allows TF32 ------------------------------------------------------ */

/* Does body() say yes where SHUNT_MATH is `value`?  It is read once for a process. */
static bool in_child(const char *value, bool (*body)(void))
{
  int status = 1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setenv("SHUNT_MATH", value, 1);
    const bool good = body();
    fflush(stdout);
    _exit(good ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Products by the direct way, by one product of TF32 and by three: measured, us
   (results/vector/tf32.txt). */
static const struct {
  int64_t side, n;
  double density;
  int v;
  double direct, once, thrice;
} in_f32[] = {
    {4096, 1024, 0.3, 8, 312.9, 146.7, 245.7}, {8192, 256, 0.3, 8, 341.8, 141.0, 239.1},
    {4096, 256, 0.3, 8, 94.9, 57.0, 81.4},     {4096, 1024, 0.1, 8, 120.3, 71.3, 112.2},
    {8192, 256, 0.1, 8, 127.0, 67.2, 107.1},   {4096, 1024, 0.3, 4, 590.6, 227.4, 385.8},
    {8192, 256, 0.3, 4, 633.7, 218.6, 373.0},  {4096, 1024, 0.1, 4, 204.1, 105.3, 173.2},
    {8192, 256, 0.1, 4, 228.2, 101.2, 166.1},
};

/* Kept where product and a proof of some microseconds are the less, and expected so. */
static bool times_hold(bool once)
{
  bool good = true;
  for (unsigned i = 0; i < sizeof in_f32 / sizeof in_f32[0]; i++) {
    struct world w;
    make(&w, in_f32[i].side, in_f32[i].n, in_f32[i].density, in_f32[i].v, SHUNT_F32);
    const double direct = expected(&w), proof = 8e-6 * (double)w.p.spmm.a.nnz / 4;
    const double product = once ? in_f32[i].once : in_f32[i].thrice;
    const bool keeps = shunt_route_vector.pack_bytes(&w.call) > 0;
    w.call.will_pack = true;
    const double kept = expected(&w), best = product + proof;
    printf("# f32, %d, N = %d, %.2f, V = %d: direct %.1f (%.1f), kept %.1f (%.1f)\n",
           (int)in_f32[i].side, (int)in_f32[i].n, in_f32[i].density, in_f32[i].v, direct,
           in_f32[i].direct, kept, best);
    good = good && within(direct, in_f32[i].direct) < 1.35;
    good = good && (keeps || best > 0.75 * in_f32[i].direct) && kept <= direct;
    good = good && within(kept, keeps ? best : in_f32[i].direct) < 1.35;
  }
  return good;
}
static bool once_holds(void)
{
  return times_hold(true);
}
static bool thrice_holds(void)
{
  return times_hold(false);
}

static bool packs(void)
{
  struct world w;
  make(&w, 8192, 1024, 0.3, 4, SHUNT_F32);
  return shunt_route_vector.pack_bytes(&w.call) > 0;
}
static bool packs_not(void)
{
  return !packs();
}

/* The copy is WINDOWED, and there is none where strips do not run, or C is of another type. */
static bool conditions_hold(void)
{
  const struct shunt_device h200 = context.device;
  const struct shunt_vector_layout layout = {SHUNT_VECTOR_WINDOWED, 8, 0};
  struct world w;
  make(&w, 8192, 1024, 0.3, 8, SHUNT_F32);
  bool good = shunt_route_vector.pack_bytes(&w.call) > shunt_vector_bytes(&w.p.spmm.a, &layout);
  context.device.compute_capability = 80;
  good = good && shunt_route_vector.pack_bytes(&w.call) == 0;
  context.device = h200;
  w.p.spmm.c.type = SHUNT_F64;
  good = good && shunt_route_vector.pack_bytes(&w.call) == 0;
  make(&w, 8192, 1024, 0.3, 8, SHUNT_F16);
  return good && shunt_route_vector.pack_bytes(&w.call) > 0;
}

/* Rows in an order that was found, for f32: large ones, since strips take long to start. */
static bool orders(void)
{
  struct shunt_vector_measure m;
  struct world w;
  double us = 0;
  make(&w, 8192, 1024, 0.3, 1, SHUNT_F32);
  m = (struct shunt_vector_measure){.vectors = (uint64_t)w.p.spmm.a.nnz / 8};
  w.call.best_us = 2000, w.call.spent_us = 1e6;
  bool good = studies(&w);
  w.call.studied = w.call.study = &m;
  w.call.will_pack = true;
  good = good && shunt_route_vector.pack_bytes(&w.call) > 0;
  good = good && shunt_route_vector.expect(&w.call, &us).reason == SHUNT_R_ORDERED;
  printf("# f32, 8192, N = 1024, 0.30, ordered: %.1f\n", us);
  return good && us > 500 && us < 1000;
}

static void test_tf32(void)
{
  check(in_child("exact", packs_not), "f32 is not packed where it is to be exact");
  check(in_child("tf32", packs), "with TF32 allowed it is");
  check(in_child("tf32x3", packs), "in three products too");
  check(in_child("tf32", once_holds), "times as measured, in one product");
  check(in_child("tf32x3", thrice_holds), "times as measured, in three");
  check(in_child("tf32", conditions_hold), "and only where its kernel runs");
  check(in_child("tf32", orders), "an order of the rows is looked for, and taken");
}

int main(void)
{
  test_tf32();
  test_study();
  test_ordered();
  test_ordered_uneven();
  test_packing();
  test_sixteens();
  test_times();
  test_conditions();
  test_workspace();
  return check_finish();
}
