/* test_lazy_init.c: when the planner initializes what takes long (backend/cublas/lazy_init.h). */
#include <math.h>
#include <pthread.h>

#include "tests/unit/check.h"
#include "tests/unit/plan/planner_world.h"

static const char *const f32_word =
    "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg12";
enum { COPIES = 1 << SHUNT_LAZY_COPIES, F32 = 1 << SHUNT_LAZY_F32 };

/* `library` gains `us` over `direct`, and nothing is initialized. */
static struct shunt_problem nothing_ready(double us)
{
  const struct shunt_problem p = bound(f32_word);
  shunt_lazy_start(&context.lazy, false);
  context.gemm = NULL;
  world.profiled = true;
  world.library_us = 10;
  world.direct_us = 10 + us;
  world.original_us = world.direct_us + 1e-3; /* next to nothing is saved */
  return p;
}

static int calls_until_ready(const struct shunt_problem *p, uint32_t what, int most)
{
  for (int i = 1; i <= most; i++) {
    run(p);
    if (world.initialized & what) return i;
  }
  return 0;
}

static void test_initialized_by_account(void)
{
  struct shunt_problem p = nothing_ready(1000);
  const double cost = shunt_lazy_us(&context.lazy, SHUNT_LAZY_F32);
  const int first = calls_until_ready(&p, F32, 1000);
  check(first == (int)ceil(cost / 1000), "opened by the call with which it would have paid: %d",
        first);
  check(world.name[first - 1] == 'l' && world.name[first - 2] == 'd', "by which it runs at once");
  check(world.initialized == (COPIES | F32), "and copies with it");
  p = nothing_ready(1000);
  world.no_library = true;
  for (int i = 0; i < first + 2; i++) run(&p);
  check(world.initialized == (COPIES | F32) && world.name[first + 1] == 'd',
        "where it is not to be had, it is tried once, and the next best way runs");
  p = nothing_ready(2 * cost);
  check(calls_until_ready(&p, F32, 1) == 1 && world.name[0] == 'l',
        "the first call opens what it alone pays for");
  p = nothing_ready(1000);
  world.direct_us = 5;
  check(calls_until_ready(&p, F32, 1000) == 0, "what would gain nothing is never opened");
  p = nothing_ready(1000);
  world.only_library = true;
  struct shunt_answer a = run(&p);
  check(a.why.reason != SHUNT_FITS && world.runs == 0,
        "the original runs as long as nothing else is open,");
  check(calls_until_ready(&p, F32, 1000) == first - 1, "and what it takes longer counts as well");
}

static void test_initialized_in_capture(void)
{
  struct shunt_problem p = nothing_ready(10);
  world.capturing = true;
  const double cost = shunt_lazy_us(&context.lazy, SHUNT_LAZY_F32);
  const int first = calls_until_ready(&p, F32, 1000);
  check(first == (int)ceil(cost / 10 / SHUNT_LAZY_REPLAYS),
        "a captured call counts as its replays: opened by call %d", first);
}

/* A copy of `direct`'s is faster than `direct` in place, as packed_us tells. */
static void test_initialized_copies(void)
{
  struct shunt_problem p = nothing_ready(0);
  world.wise = world.has_memory = true, world.pack_bytes = 100;
  world.packed_us = 5, world.direct_us = 100, world.original_us = 1000, world.library_us = 500;
  run(&p);
  check(world.made == 1 && world.initialized == COPIES,
        "a first copy is paid by the original's first product, which is not needed");
  p = nothing_ready(0);
  world.wise = world.has_memory = true, world.pack_bytes = 100;
  world.packed_us = 5, world.direct_us = 100, world.original_us = 200, world.library_us = 500;
  shunt_lazy_original_ran(&context.lazy);
  const int first = calls_until_ready(&p, COPIES, 1000);
  check(first > 50 && world.made == 1,
        "where the original has run, copies are made when they pay: call %d", first);
}

/* A study is the first to want the pool. */
static void test_initialized_by_study(void)
{
  struct shunt_problem p = nothing_ready(0);
  direct.study_bytes = study_bytes, direct.study = study;
  world.may_study = true, world.study_bytes = 100;
  world.direct_us = 10, world.original_us = 20, world.library_us = 500;
  shunt_lazy_original_ran(&context.lazy);
  run(&p);
  check(world.studies == 0 && !world.initialized,
        "no study where its memory has not been paid for");
  world.direct_us = shunt_lazy_us(&context.lazy, SHUNT_LAZY_COPIES);
  world.original_us = 2 * world.direct_us;
  run(&p);
  check(world.studies == 1 && world.initialized == COPIES,
        "once the calls have taken as long, it is");
  direct.study_bytes = NULL, direct.study = NULL;
}

/* Whatever other problems did, or this one before. */
static void test_initialized_for_deterministic(void)
{
  struct shunt_problem p = nothing_ready(1);
  p.deterministic = true;
  run(&p);
  check(world.initialized == F32 && world.name[0] == 'l',
        "a deterministic problem's best way is opened at once");
  world.direct_us = 9, world.initialized = 0;
  run(&p);
  check(world.name[1] == 'd', "and is taken only where it is the best");
  p = nothing_ready(1);
  p.deterministic = true;
  world.direct_us = 9;
  run(&p);
  check(!world.initialized && world.name[0] == 'd', "nor opened elsewhere");
}

static void test_initialized_by_force(void)
{
  struct shunt_problem p = nothing_ready(1);
  options.routes = 2;
  shunt_plan_workspace(&p, NULL, NULL);
  check(world.initialized == F32, "bufferSize opens what the user has forced");
  p = nothing_ready(1);
  world.direct_us = 9;
  run(&p);
  check(world.initialized == F32 && world.name[0] == 'l', "or the first call, if none was asked");
  options.routes = ~(uint32_t)0;
}

/* ---- the accounts alone ------------------------------------------------------------------ */

static struct shunt_lazy_init shared;
static atomic_int told;

static void *miss_often(void *unused)
{
  for (int i = 0; i < 10000; i++)
    if (shunt_lazy_missed(&shared, SHUNT_LAZY_F16, 100, false)) {
      atomic_fetch_add(&told, 1);
      shunt_lazy_done(&shared, SHUNT_LAZY_F16);
    }
  return unused;
}

static void test_threads(void)
{
  pthread_t thread[4];
  shunt_lazy_start(&shared, false);
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, miss_often, NULL);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  check(atomic_load(&told) == 1, "of four threads one opens: %d", atomic_load(&told));
}

static void test_costs(void)
{
  struct shunt_lazy_init o;
  shunt_lazy_start(&o, false);
  const double f16 = shunt_lazy_us(&o, SHUNT_LAZY_F16);
  check(shunt_lazy_us(&o, SHUNT_LAZY_COPIES) < 0, "the original's first product pays the pool");
  shunt_lazy_original_ran(&o);
  const double pool = shunt_lazy_us(&o, SHUNT_LAZY_COPIES);
  check(pool > 0 && pool < f16 / 10, "unless that has run");
  shunt_lazy_done(&o, SHUNT_LAZY_F32);
  check(shunt_lazy_us(&o, SHUNT_LAZY_F16) < f16 - 1e4 &&
            shunt_lazy_pending(&o, 1 << SHUNT_LAZY_F16),
        "the library is opened once, its code is loaded for each type");
  shunt_lazy_start(&o, true);
  check(shunt_lazy_us(&o, SHUNT_LAZY_F16) < f16 - 1e4, "a program's own copy costs nothing");
  check(!shunt_lazy_missed(&o, SHUNT_LAZY_F32, 0, false) &&
            !shunt_lazy_missed(&o, SHUNT_LAZY_F32, -1e9, false),
        "what gains nothing is not missed");
  check(shunt_lazy_missed(&o, SHUNT_LAZY_F32, INFINITY, true), "whatever the estimates say");
  check(shunt_lazy_gemm(SHUNT_F16, true) == SHUNT_LAZY_F16_F32 &&
            shunt_lazy_gemm(SHUNT_BF16, true) == SHUNT_LAZY_BF16_F32 &&
            shunt_lazy_gemm(SHUNT_F32, true) == shunt_lazy_gemm(SHUNT_F32, false),
        "by what they compute");
}

int main(void)
{
  test_initialized_by_account();
  test_initialized_in_capture();
  test_initialized_copies();
  test_initialized_by_study();
  test_initialized_for_deterministic();
  test_initialized_by_force();
  test_threads();
  test_costs();
  return check_finish();
}
