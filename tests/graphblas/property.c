/* property.c: random products, each done twice on equal operands, once by the program's own
   GrB_mxm, GrB_mxv or GrB_vxm (the preloaded one) and once by GraphBLAS' own, reached through
   its handle; all that a program could see afterwards must be equal.

     property [--seed S] [--cases N] [--from I] [--only I] [--large] [--taken PERCENT]
              [--self-test] [--own-malloc] [--verbose]

   Compared: return code, error string, the result's entries, values, type, sizes, orientation,
   sparsity control, bitmap and hyper switch and sparsity status, and that the inputs are what
   they were.  A failure prints the arguments that rerun it alone.  Where the original itself
   gives different results over differently filled memory (10.0.1 does; --own-malloc), or crashes
   (7.4.0 does, in GB_subassign_08n), the case proves nothing; such cases are counted apart and may
   be 1 in 1000.  --taken fails the run if of the cases that Shunt promises to take fewer than
   PERCENT were.  --self-test spoils results on purpose and fails if a spoilt one passes.
   --own-malloc gives GraphBLAS memory functions of the program's own and fails if not all they
   handed out came back in the end.  */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "own_malloc.h"
#include "spoil.h"

static struct {
  uint64_t seed;
  long from, cases;
  bool large, self_test, own_malloc, verbose, only;
  int taken_percent;
} option = {.seed = 1, .cases = 50000};

static struct products subject, original;
static struct {
  long run, failed, unsteady, crashed, eligible, eligible_taken, taken, errors;
  struct differences differences;
  long eligible_by[3], taken_by[3];
} total;
static struct {
  long done, found;
} spoilt[SPOILS];

/* ---- one case ------------------------------------------------------------------------------ */

static struct product_case current; /* for the signal handler */

static void say_case(const struct product_case *c, const char *verdict, const char *why)
{
  char line[2000];
  case_print(c, line, sizeof line);
  printf("%s - property --seed %lu --only %ld%s: %s: %s\n", verdict, (unsigned long)c->seed,
         c->index, option.large ? " --large" : "", why, line);
  fflush(stdout);
}

static void count_taken(const struct product_case *c, const int status[SLOTS], GrB_Info info)
{
  bool taken = calls_seen() == 0 && info == GrB_SUCCESS, eligible = case_eligible(c, status);
  total.taken += taken;
  total.eligible += eligible;
  total.eligible_taken += eligible && taken;
  int kind = c->call != CALL_MXM                                              ? 2
             : status[SLOT_A] <= FORM_SPARSE || status[SLOT_B] <= FORM_SPARSE ? 0
                                                                              : 1;
  total.eligible_by[kind] += eligible;
  total.taken_by[kind] += eligible && taken;
  if (option.verbose) say_case(c, "#", !taken ? eligible ? "passed, eligible" : "passed" : "taken");
}

static sigjmp_buf before_original;
static volatile sig_atomic_t in_original;

enum outcome { READY, IMPOSSIBLE, CRASHED };

/* Two equal sets of operands, the original's product of the second done.  CRASHED: GraphBLAS
   did, on its own, and what it held is lost.  */
static enum outcome prepare(const struct product_case *c, const struct made *m, GrB_Descriptor desc,
                            struct side *two, int status[SLOTS])
{
  in_original = sigsetjmp(before_original, 1) == 0;
  if (!in_original) return CRASHED;
  bool good = side_make(c, &two[0]) && side_make(c, &two[1]);
  if (good) side_read_before(c, &two[0], status);
  if (good && c->stale_error)
    for (int i = 0; i < 2; i++) side_cause_error(c, &two[i]);
  if (good) side_multiply(c, &original, m, desc, &two[1]);
  in_original = 0;
  return good ? READY : IMPOSSIBLE;
}

/* Both sides of one case, the subject's spoilt on request; *was_spoilt says whether it could
   be.  */
static bool run_case(const struct product_case *c, enum spoil kind, bool *was_spoilt,
                     char why[1400])
{
  struct side two[2] = {0};
  struct made made = {0};
  int status[SLOTS];
  snprintf(why, 1400, "no such operator, or operands cannot be made");
  if (!made_semiring(&c->semiring, &made) || !made_accum(c, &made)) return false;
  GrB_Descriptor desc = side_descriptor(c);
  enum outcome outcome = prepare(c, &made, desc, two, status);
  if (outcome == CRASHED) {
    total.unsteady++;
    total.crashed++;
    return true; /* anything may be half-changed: nothing is freed */
  }
  if (outcome == READY) {
    calls_reset();
    side_multiply(c, &subject, &made, desc, &two[0]);
    if (kind == SPOIL_NOTHING) count_taken(c, status, two[0].info);
    total.errors += two[1].info != GrB_SUCCESS;
    for (int i = 0; i < 2; i++) side_read_error(c, &two[i]);
    *was_spoilt = kind != SPOIL_NOTHING && spoil(kind, c, &two[0]);
  }
  bool good = outcome == READY && sides_equal(c, two, &total.differences, why);
  GrB_Descriptor_free(&desc);
  side_free(c, &two[0]);
  side_free(c, &two[1]);
  made_free(&made);
  return good;
}

/* Does the original give the same twice, with what it allocates filled with different bytes? */
static bool original_is_steady(const struct product_case *c)
{
  struct side two[2] = {0};
  struct made made = {0};
  char why[1400];
  if (!made_semiring(&c->semiring, &made) || !made_accum(c, &made)) return true;
  GrB_Descriptor desc = side_descriptor(c);
  bool steady = true;
  for (int i = 0; i < 2; i++) {
    if (!side_make(c, &two[i])) continue;
    own_malloc_fill(i ? 0xd5 : 0);
    side_multiply(c, &original, &made, desc, &two[i]);
    own_malloc_fill(0);
  }
  if (two[0].object[SLOT_C].matrix && two[1].object[SLOT_C].matrix)
    steady = sides_equal(c, two, &total.differences, why);
  GrB_Descriptor_free(&desc);
  side_free(c, &two[0]);
  side_free(c, &two[1]);
  made_free(&made);
  return steady;
}

/* ---- the run ------------------------------------------------------------------------------- */

static void on_signal(int number)
{
  char line[64];
  if (in_original && number != SIGABRT && gettid() == getpid()) {
    in_original = 0;
    siglongjmp(before_original, 1);
  }
  int n = snprintf(line, sizeof line, "signal %d in", number);
  line[n] = 0;
  say_case(&current, "not ok", line);
  _exit(3);
}

static void run_one(long index)
{
  char why[1400] = "";
  bool was_spoilt = false;
  case_make(&current, option.seed, index, option.large);
  total.run++;
  alarm(600); /* it hangs */
  if (!run_case(&current, SPOIL_NOTHING, &was_spoilt, why)) {
    if (!original_is_steady(&current)) {
      total.unsteady++;
      return;
    }
    if (total.failed++ < 40 || option.only) say_case(&current, "not ok", why);
    return;
  }
  if (!option.self_test) return;
  enum spoil kind = (enum spoil)(1 + index % (SPOILS - 1));
  bool equal = run_case(&current, kind, &was_spoilt, why);
  if (!was_spoilt) return;
  spoilt[kind].done++;
  spoilt[kind].found += !equal;
  if (equal) say_case(&current, "not ok", "spoilt but passed");
}

static bool parse(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(a, "--large"))
      option.large = true;
    else if (!strcmp(a, "--self-test"))
      option.self_test = true;
    else if (!strcmp(a, "--own-malloc"))
      option.own_malloc = true;
    else if (!strcmp(a, "--verbose"))
      option.verbose = true;
    else if (!value)
      return false;
    else if (!strcmp(a, "--seed"))
      option.seed = strtoull(value, NULL, 10), i++;
    else if (!strcmp(a, "--cases"))
      option.cases = atol(value), i++;
    else if (!strcmp(a, "--from"))
      option.from = atol(value), i++;
    else if (!strcmp(a, "--taken"))
      option.taken_percent = atoi(value), i++;
    else if (!strcmp(a, "--only"))
      option.from = atol(value), option.cases = 1, option.only = true, i++;
    else
      return false;
  }
  return true;
}

static int report_spoilt(void)
{
  int failed = 0;
  for (int kind = 1; kind < SPOILS; kind++) {
    bool good = spoilt[kind].done > 0 && spoilt[kind].found == spoilt[kind].done;
    printf("%s - a spoilt result is found (%s): %ld of %ld\n", good ? "ok" : "not ok",
           spoil_names[kind], spoilt[kind].found, spoilt[kind].done);
    failed += !good;
  }
  return failed;
}

static int report(double seconds)
{
  long percent = total.eligible ? 100 * total.eligible_taken / total.eligible : 0;
  printf("%s - %ld random products equal the original's (seed %lu%s, %.0f s, %ld end in errors)\n",
         total.failed ? "not ok" : "ok", total.run, (unsigned long)option.seed,
         option.large ? ", large" : "", seconds, total.errors);
  int failed = total.failed > 0, passed = !failed;
  if (total.unsteady) {
    bool rare = total.unsteady * 1000 <= total.run;
    printf("%s - the original contradicts itself or crashes in %ld cases, 1 in 1000 at most\n",
           rare ? "ok" : "not ok", total.unsteady);
    rare ? passed++ : failed++;
  }
  printf("# taken: %ld of %ld eligible (%ld%%); sparse %ld of %ld, masked dense %ld of %ld, "
         "vectors %ld of %ld; %ld taken in all\n",
         total.eligible_taken, total.eligible, percent, total.taken_by[0], total.eligible_by[0],
         total.taken_by[1], total.eligible_by[1], total.taken_by[2], total.eligible_by[2],
         total.taken);
  printf("# %ld results are held in another form than the original's, %ld differ in being iso, "
         "%ld keep settings that the original changes\n",
         total.differences.status, total.differences.iso, total.differences.settings_kept);
  if (total.differences.status > 4 + total.run / 200) {
    printf("not ok - the form of a result differs in more than 1 of 200 cases\n");
    failed++;
  }
  if (option.taken_percent) {
    bool good = percent >= option.taken_percent;
    printf("%s - at least %d%% of the eligible products are taken: %ld%%\n", good ? "ok" : "not ok",
           option.taken_percent, percent);
    good ? passed++ : failed++;
  }
  if (option.own_malloc && !total.crashed) {
    bool good = own_malloc_held() == 0 && own_malloc_foreign() == 0;
    printf("%s - all memory came back: %ld blocks are missing, %ld are not its own\n",
           good ? "ok" : "not ok", own_malloc_held(), own_malloc_foreign());
    good ? passed++ : failed++;
  }
  if (option.self_test) {
    int missed = report_spoilt();
    failed += missed;
    passed += SPOILS - 1 - missed;
  }
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}

int main(int argc, char **argv)
{
  struct timespec start, end;
  if (!parse(argc, argv)) {
    fprintf(stderr, "usage: property [--seed S] [--cases N] [--from I] [--only I] [--large] "
                    "[--taken PERCENT] [--self-test] [--own-malloc] [--verbose]\n");
    return 2;
  }
  GrB_Info info = option.own_malloc
                      ? GxB_init(GrB_NONBLOCKING, own_malloc, own_calloc, own_realloc, own_free)
                      : GrB_init(GrB_NONBLOCKING);
  if (info || !products_find(&subject, &original)) return 2;
  if (!products_preloaded(&subject, &original))
    printf("# nothing is preloaded: the original is compared with itself\n");
  for (int i = 0; i < 4; i++) signal((int[]){SIGSEGV, SIGABRT, SIGFPE, SIGALRM}[i], on_signal);
  types_start();
  own_ops_start();
  calls_watch();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < option.cases; i++) run_one(option.from + i);
  clock_gettime(CLOCK_MONOTONIC, &end);
  own_ops_finish();
  types_finish();
  GrB_finalize();
  return report((double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
}
