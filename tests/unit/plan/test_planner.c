/* test_planner.c: which routes the planner asks, in which order it runs batches, and what it does
   after failures (planner_world.h).  */
#include "tests/unit/check.h"
#include "tests/unit/plan/planner_world.h"

/* What arrives from the device in its own time has no part in it. */
static void test_deterministic(void)
{
  struct shunt_problem p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg12");
  p.deterministic = true;
  world.wise = world.has_memory = world.profiled = world.library_packed = true;
  world.pack_bytes = 100;
  struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.seen == 0 && world.seen_settled == 1,
        "a deterministic product asks for what is settled alone,");
  check(!world.saw_profile && !world.has_copy && world.made == 0 && world.profiles == 0,
        "and neither profile nor copy comes to it, nor is asked for");
  shunt_plan_prepare(&p, NULL);
  check(world.settled && world.profiles == 0, "preprocess settles the matrix");
  a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.saw_profile && !world.has_copy && world.made == 0,
        "whose profile products then have");
  world.settled = false, world.capturing = true;
  shunt_plan_prepare(&p, NULL);
  check(!world.settled, "not by a preprocess that is captured");
}

static void test_order(void)
{
  struct shunt_problem p =
      bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.11.15.22");
  struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.runs == 3 && !a.written, "three batches, three runs");
  for (int i = 0; i < 3; i++)
    check(world.c[i] == arrays[4] + i * 22 * 4 && world.columns[i] == arrays[1] + i * 11 * 4,
          "run %d is of batch %d", i, i);
  check(world.seen == 3 && world.profiles == 3, "each matrix is looked up and profiled");
  check(a.saved_us > 3 * (1000.0 / 3 - 10) - 1 && a.saved_us < 3 * (1000.0 / 3 - 10) + 1,
        "the original starts all batches at once: %.1f us saved", a.saved_us);
}

static void test_shared(void)
{
  struct shunt_problem p =
      bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.0.15.22");
  struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.runs == 3 && world.seen == 1,
        "one matrix is looked up once");
  check(shunt_plan_workspace(&p, NULL, NULL) == 3, "workspace for one batch");
  world.wise = world.has_memory = world.profiled = true, world.pack_bytes = 100, world.runs = 0;
  a = run(&p);
  check(world.runs == 3 && world.made == 1 && world.held == 0 && world.has_copy,
        "and converted once, for all of its batches");
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.0.15.21");
  a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.runs == 1, "batches that adjoin are one product");
  check(shunt_plan_workspace(&p, NULL, NULL) == 9, "workspace for all columns");
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x99s0.0.15.21");
  check(run(&p).why.reason == SHUNT_FITS && world.runs == 1, "however many they are");
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x17s0.11.15.21");
  check(run(&p).why.reason == SHUNT_R_BATCHED && world.runs == 0, "17 others are too many");
  check(shunt_plan_workspace(&p, NULL, NULL) == 0, "and get no workspace");
}

static size_t two(const struct shunt_problem *p, const struct shunt_context *e)
{
  return (void)p, (void)e, 2;
}
/* Columns of C tell what a route wants. */
static void test_short_of_memory(void)
{
  struct shunt_problem p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6");
  bool whole = false;
  world.room = 3;
  check(shunt_plan_workspace(&p, NULL, NULL) == 3, "a workspace that has room");
  world.room = 2;
  check(shunt_plan_workspace(&p, NULL, NULL) == 0, "none where there is no room");
  check(shunt_plan_ask(&p, NULL, NULL, &whole) == 0 && !whole, "which is less than the whole");
  direct.least_workspace = two;
  check(shunt_plan_ask(&p, NULL, NULL, &whole) == 2 && !whole, "but what some calls do with");
  world.room = 1;
  check(shunt_plan_ask(&p, NULL, NULL, &whole) == 0 && !whole, "where that has room");
  direct.least_workspace = NULL;
  p.deterministic = true;
  check(shunt_plan_ask(&p, NULL, NULL, &whole) == 3 && whole, "all of it");
  check(shunt_plan_workspace(&p, NULL, NULL) == 3, "but for deterministic problems");
  p.deterministic = false, world.capturing = true;
  check(shunt_plan_workspace(&p, NULL, NULL) == 3, "captured calls do not look");
}

static void test_long(void)
{
  struct shunt_problem p =
      bound("spmm:csr:f32.f32.f32.f32:i64b0:m7n3k5z4000000000:NN:cc:ld5.7:a1b1:alg6");
  check(run(&p).why.reason != SHUNT_FITS && world.runs == 0, "more entries than a route counts");
  direct.takes_long = true;
  world.only_library = false;
  const struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.runs == 1 && world.name[0] == 'd',
        "go to the route that counts them");
  direct.takes_long = false;
}

static void test_coo(void)
{
  struct shunt_problem p =
      bound("spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg2:x3s0.11.15.22");
  struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_FITS && world.runs == 3 && world.converted == 3,
        "COO: offsets are made for each batch");
  check(world.profiles == 0, "and not profiled when they are another's");
  p = bound("spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg2");
  check(run(&p).why.reason == SHUNT_FITS && world.converted == 1 && world.profiles == 1,
        "a single COO matrix is");
}

/* Failures, by beta and by when they come. */
static void test_failures(void)
{
  struct shunt_problem p =
      bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.11.15.22");
  world.fail_from = 0;
  struct shunt_answer a = run(&p);
  check(a.why.reason == SHUNT_R_FAILED && !a.written, "the first fails: the original runs");
  for (int beta = 0; beta < 2; beta++)
    for (int from = 1; from < 3; from++) {
      p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.11.15.22");
      p.spmm.beta.host = beta;
      world.fail_from = from;
      a = run(&p);
      check(a.why.reason == SHUNT_R_FAILED && a.written == (beta != 0),
            "batch %d fails, beta %d: %s", from, beta, beta ? "an error" : "the original runs");
    }
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b*:alg6:x3s0.11.15.22");
  world.fail_from = 1;
  check(run(&p).written, "beta on the device may be anything");
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6");
  world.fail_from = 0;
  world.how = SHUNT_E_WRITTEN;
  check(run(&p).written, "a route that says so has written");
}

/* The best route that needs no profile runs until there is one, unless the original is far
   ahead. */
static void test_before_the_profile(void)
{
  static const char *const word[] = {
      "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg12",
      "sddmm:csr:f32.f32.f32.f32:i32b0:m7n5k3z11:NN:cc:ld7.3:a1b0:alg0"};
  static const struct {
    double original_us;
    bool profiled, capturing, deterministic, taken;
    const char *what;
  } cases[] = {
      {8, false, false, false, true, "the original is somewhat faster"},
      {8, true, false, false, false, "and there is a profile that says so"},
      {8, false, true, false, false, "and a graph will repeat it"},
      {8, false, false, true, false, "and no profile will come, nor other bits"},
      {4, false, false, false, false, "the original is far ahead"},
  };
  for (unsigned k = 0; k < 2 * sizeof cases / sizeof cases[0]; k++) {
    const unsigned i = k / 2;
    struct shunt_problem p = bound(word[k % 2]);
    world.original_us = cases[i].original_us;
    world.profiled = cases[i].profiled;
    world.capturing = cases[i].capturing;
    p.deterministic = cases[i].deterministic;
    const struct shunt_answer a = run(&p);
    check(a.why.reason == (cases[i].taken ? SHUNT_FITS : SHUNT_R_SLOWER) &&
              world.runs == cases[i].taken && a.saved_us == 0,
          "before the profile, %.5s: %s", word[k % 2], cases[i].what);
  }
}

/* An original whose estimate is less certain has to be better by its margin. */
static void test_margin(void)
{
  static const struct {
    double original_us, margin;
    bool taken;
  } cases[] = {{9.8, 1, false}, {9.8, 1.06, true}, {9, 1.06, false}, {10.2, 1, true}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_problem p =
        bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg12");
    world.original_us = cases[i].original_us, world.margin = cases[i].margin;
    world.profiled = true;
    check((run(&p).why.reason == SHUNT_FITS) == cases[i].taken, "10 us, %g by the original, %g: %s",
          cases[i].original_us, cases[i].margin, cases[i].taken ? "taken" : "slower");
  }
}

/* Where the same bits are asked for, an original that varies is no way out, however fast. */
static void test_must_not_vary(void)
{
  static const struct {
    const char *word;
    bool taken;
  } cases[] = {
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg0", true},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg4", true},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg6", true},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg12", false},
      {"spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0", true},
      {"spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg1", true},
      {"spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b0:alg2", false},
      {"sddmm:csr:f32.f32.f32.f32:i32b0:m7n5k3z11:NN:cc:ld7.3:a1b0:alg0", false},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_problem p = bound(cases[i].word);
    world.original_us = 1, world.settled = true;
    p.deterministic = true;
    const struct shunt_answer a = run(&p);
    check(a.why.reason == (cases[i].taken ? SHUNT_FITS : SHUNT_R_SLOWER) &&
              world.runs == cases[i].taken,
          "the same bits, %s: %s", cases[i].word, cases[i].taken ? "taken" : "the original's too");
  }
  struct shunt_problem p = bound(cases[2].word);
  world.slow = true, context.gemm = NULL; /* so `library` takes none */
  check(run(&p).why.reason == SHUNT_R_PATTERN, "a pattern that the original is faster with");
  p.deterministic = true;
  check(run(&p).why.reason == SHUNT_FITS, "is taken all the same");
}

/* Nothing runs before each batch has a route; and where C's old content counts, a direct one. */
static void test_all_or_none(void)
{
  const char *word = "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6:x3s0.11.15.22";
  struct shunt_problem p = bound(word);
  world.original_us = 15;
  check(run(&p).why.reason == SHUNT_R_SLOWER && world.runs == 0, "slower: no batch runs");
  p = bound(word);
  world.only_library = true;
  check(run(&p).why.reason == SHUNT_R_BATCHED && world.runs == 0, "no direct route, beta 1");
  p = bound(word);
  p.spmm.beta.host = 0;
  world.only_library = true;
  check(run(&p).why.reason == SHUNT_FITS && world.runs == 3, "no direct route, beta 0");
}

static void test_transposed(void)
{
  struct shunt_problem p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0");
  check(run(&p).why.reason == SHUNT_FITS && world.runs == 1 && world.name[0] == 'l',
        "op(A) = T: the route that takes it");
  p = bound("spmm:csc:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:rr:ld3.3:a1b0:alg0");
  check(run(&p).why.reason == SHUNT_FITS && world.name[0] == 'l', "CSC is the same");
  p = bound("spmm:csc:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0");
  check(run(&p).why.reason == SHUNT_FITS && world.name[0] == 'd', "CSC transposed is plain");
  p = bound("spmm:coo:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0");
  check(run(&p).why.reason == SHUNT_FITS && world.name[0] == 'l' && world.converted == 1,
        "COO transposed");
  options.routes = 1;
  check(run(&p).why.reason == SHUNT_R_TRANSPOSED, "with that route off: transposed");
  check(shunt_plan_workspace(&p, NULL, NULL) == 0, "and no workspace");
  options.routes = ~(uint32_t)0;
}

static void test_keeping(void)
{
  static const struct {
    bool wise, profiled, contested, by_profile;
    size_t bytes, asked;
    const char *what;
  } cases[] = {
      {true, false, false, false, 100, 0, "not before the profile, which may choose another way"},
      {true, true, false, false, 100, 107, "as the profile says"},
      {true, false, false, true, 100, 0, "a route that needs one waits for it"},
      {true, true, false, true, 100, 107, "and then keeps"},
      {true, false, true, false, 100, 0, "so does one of two"},
      {true, true, true, false, 100, 107, "which then keeps"},
      {true, true, false, true, 0, 0, "nothing worth keeping"},
      {false, true, false, false, 100, 0, "not wise"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_problem p =
        bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6");
    world.wise = cases[i].wise;
    world.profiled = cases[i].profiled;
    world.contested = cases[i].contested;
    world.pack_bytes = cases[i].bytes;
    direct.packs_by_profile = cases[i].by_profile;
    check(run(&p).why.reason == SHUNT_FITS && world.runs == 1 &&
              world.asked_to_pack == cases[i].asked,
          "keeping: %s", cases[i].what);
  }
  direct.packs_by_profile = false;
  struct shunt_problem p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6");
  world.wise = world.profiled = world.contested = world.has_memory = true;
  world.pack_bytes = 100, world.fail_from = 0;
  check(run(&p).why.reason == SHUNT_R_FAILED && world.held == 0 && world.asked_to_pack == 1,
        "two routes convert and fail to run: both conversions are let go of");
}

/* A pattern stands for calls of the epoch that its conversion was made in, outside of captures. */
static void test_epochs(void)
{
  static const char *word = "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6";
  static const struct {
    uint64_t call, packed;
    bool capturing, stands;
    const char *what;
  } cases[] = {
      {5, 5, false, true, "the same epoch"},
      {6, 5, false, false, "a later one"},
      {0, 5, false, false, "a call outside of any"},
      {5, 0, false, false, "made outside of any"},
      {0, 0, false, false, "neither in one"},
      {5, 5, true, false, "captured: it may be replayed later"},
  };
  struct shunt_problem p;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    p = bound(word);
    p.pattern_epoch = cases[i].call;
    world.library_packed = true, world.library_us = 1;
    world.copy_epoch = cases[i].packed;
    world.capturing = cases[i].capturing;
    check(run(&p).why.reason == SHUNT_FITS && world.name[0] == 'l' &&
              world.stood == cases[i].stands,
          "%s: %s", cases[i].what, cases[i].stands ? "stands" : "is proved");
  }
  p = bound(word);
  world.wise = world.profiled = world.has_memory = true;
  world.pack_bytes = 100, p.pattern_epoch = 8;
  check(run(&p).why.reason == SHUNT_FITS && world.copy_epoch == 8 && !world.stood,
        "a conversion tells the epoch that it was made in");
}

/* A copy that is trusted is used as it is, outside of captures; one that this call makes is not. */
static void test_trusted(void)
{
  static const char *word = "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6";
  static const struct {
    bool trusted, capturing, proved;
  } cases[] = {{true, false, false}, {true, true, true}, {false, false, true}};
  options.assume = SHUNT_ASSUME_FROZEN;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct shunt_problem p = bound(word);
    world.library_packed = true, world.library_us = 1;
    world.trusted = cases[i].trusted;
    world.capturing = cases[i].capturing;
    check(run(&p).why.reason == SHUNT_FITS && world.name[0] == 'l' &&
              world.was_trusted == !cases[i].proved && world.counted_unproved == !cases[i].proved &&
              world.told_frozen == !cases[i].capturing,
          "trusted %d, captured %d: %s", cases[i].trusted, cases[i].capturing,
          cases[i].proved ? "proved" : "as it is");
  }
  struct shunt_problem p = bound(word);
  world.wise = world.profiled = world.has_memory = world.trusted = true;
  world.pack_bytes = 100;
  check(run(&p).why.reason == SHUNT_FITS && world.made == 1 && !world.was_trusted,
        "the call that makes a copy proves it");
  p.deterministic = true;
  check(run(&p).why.reason == SHUNT_FITS && !world.told_frozen, "deterministic: nothing is kept");
  options.assume = SHUNT_ASSUME_NOTHING;
}

/* A route that had a copy and multiplied without has proved nothing of it. */
static void test_uses(void)
{
  static const char *word = "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6";
  static const struct {
    enum shunt_copy_use use;
    bool fails;
    int uses, touches;
    const char *what;
  } cases[] = {{SHUNT_COPY_USED, false, 1, 0, "a product from it counts"},
               {SHUNT_COPY_UNUSED, false, 0, 0, "one without does not"},
               {SHUNT_COPY_TOUCHED, false, 0, 1, "a try does not, but its memory stays"},
               {SHUNT_COPY_USED, true, 0, 1, "nor one that failed"},
               {SHUNT_COPY_UNUSED, true, 0, 0, "which may have enqueued nothing"}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct shunt_problem p = bound(word);
    world.library_packed = true, world.library_us = 1;
    world.copy_use = cases[i].use;
    world.fail_from = cases[i].fails ? 0 : -1;
    run(&p);
    check(world.uses == cases[i].uses && world.touches == cases[i].touches && world.held == 0,
          "a copy: %s", cases[i].what);
  }
  const struct shunt_problem p = bound(word);
  world.wise = world.profiled = world.has_memory = world.pack_fails = true;
  world.pack_bytes = 100;
  check(run(&p).why.reason == SHUNT_FITS && world.built == 0 && world.touches == 1 &&
            world.dropped_copies == 1 && !world.has_copy && world.held == 0,
        "a copy that was not filled is nobody's, and its memory stays as long as that takes");
}

/* A study by `direct`: when it is made, whose conversion it moves, and when it is dropped. */
static void test_studies(void)
{
  static const char *word = "spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:NN:cc:ld5.7:a1b1:alg6";
  struct shunt_problem p = bound(word);
  direct.study_bytes = study_bytes, direct.study = study;
  world.may_study = true;
  check(run(&p).why.reason == SHUNT_FITS && world.studies == 0 && world.best_us == 10 &&
            world.spent_us == 990,
        "the route is asked, told of what was saved so far, and need not");
  world.original_us = 15;
  check(run(&p).why.reason == SHUNT_FITS && world.studies == 0 && world.spent_us == 10,
        "or of what was spent, if that is more");
  world.study_bytes = 100;
  check(run(&p).why.reason == SHUNT_FITS && world.studies == 1 && world.held == 0, "it studies");
  world.may_study = false;
  check(run(&p).why.reason == SHUNT_FITS && world.studies == 1, "not where the cache says no");
  world.may_study = world.study_fails = true;
  check(run(&p).why.reason == SHUNT_FITS && world.dropped_studies == 1 && world.held == 0,
        "a study that fails costs its memory, not the call");

  p = bound(word);
  world.wise = world.profiled = world.library_packed = true;
  world.pack_bytes = 100;
  world.has_study = true;
  run(&p);
  check(world.asked_to_pack == 107 && world.dropped_copies == 0,
        "another's conversion stays beside it");
  check(world.dropped_studies == 0 && world.held == 0, "no memory now: the study stays");
  world.has_memory = true;
  run(&p);
  check(world.dropped_copies == 0 && world.dropped_studies == 1 && world.held == 0,
        "with memory it has served");
  world.direct_us = 30, world.asked_to_pack = 0;
  run(&p);
  check(world.asked_to_pack == 0 && world.dropped_studies == 2 && world.held == 0,
        "where it does not pay the study is dropped, the conversion not");
  p = bound("spmm:csr:f32.f32.f32.f32:i32b0:m7n3k5z11:TN:rr:ld3.3:a1b0:alg0");
  world.has_study = true;
  run(&p);
  check(world.held == 0 && world.dropped_studies == 0, "transposed: held and given back");
  direct.study_bytes = NULL, direct.study = NULL;
}

int main(void)
{
  test_studies();
  test_keeping();
  test_epochs();
  test_trusted();
  test_uses();
  test_order();
  test_deterministic();
  test_shared();
  test_short_of_memory();
  test_long();
  test_coo();
  test_failures();
  test_before_the_profile();
  test_margin();
  test_must_not_vary();
  test_all_or_none();
  test_transposed();
  return check_finish();
}
