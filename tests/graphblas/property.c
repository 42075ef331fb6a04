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

#include "original.h"
#include "own_malloc.h"
#include "rng.h"
#include "semiring.h"
#include "tolerance.h"

enum spoil {
  SPOIL_NOTHING,
  SPOIL_VALUE,
  SPOIL_VALUE_SLIGHTLY,
  SPOIL_DROP,
  SPOIL_ENTRY,
  SPOIL_CODE,
  SPOIL_ERROR,
  SPOIL_ORIENTATION,
  SPOIL_CONTROL,
  SPOIL_SWITCH,
  SPOIL_INPUT,
  SPOILS
};
static const char *const spoil_names[] = {"nothing",       "a value",     "a value by a thousandth",
                                          "entry lost",    "entry added", "return code",
                                          "error string",  "orientation", "sparsity control",
                                          "bitmap switch", "an input"};

static struct {
  uint64_t seed;
  long from, cases;
  bool large, self_test, own_malloc, verbose, only;
  int taken_percent;
} option = {.seed = 1, .cases = 50000};

static struct products subject, original;
static struct {
  long run, failed, unsteady, crashed, eligible, eligible_taken, taken, errors;
  long iso_differs, status_differs, settings_kept;
  long eligible_by[3], taken_by[3];
} total;
static struct {
  long done, found;
} spoilt[SPOILS];

/* ---- one case ------------------------------------------------------------------------------ */

struct side {
  union object object[SLOTS];
  GrB_Info info;
  char error[1024];
  struct seen before; /* C's settings before the product */
};

static uint64_t no_object[512]; /* memory without an object in it */

static struct product_case current; /* for the signal handler */

static bool make_side(const struct product_case *c, struct side *s)
{
  memset(s, 0, sizeof *s);
  for (int i = 0; i < SLOTS; i++) {
    if (c->same_as[i] != i || (i == SLOT_M && !c->has_mask)) continue;
    GrB_Info info = operand_make(&c->operand[i], &s->object[i]);
    if (info) return printf("# operand %d cannot be made: %d\n", i, (int)info), false;
  }
  for (int i = 0; i < SLOTS; i++)
    if (c->same_as[i] != i) s->object[i] = s->object[c->same_as[i]];
  if (!c->has_mask) s->object[SLOT_M].matrix = NULL;
  return true;
}

static void free_side(const struct product_case *c, struct side *s)
{
  for (int i = 0; i < SLOTS; i++)
    if (c->same_as[i] == i) object_free(c->operand[i].vector, &s->object[i]);
}

static GrB_Descriptor make_descriptor(const struct product_case *c)
{
  GrB_Descriptor d = NULL;
  if (!c->has_desc || GrB_Descriptor_new(&d)) return NULL;
  if (c->replace) GrB_Descriptor_set(d, GrB_OUTP, GrB_REPLACE);
  if (c->structural) GrB_Descriptor_set(d, GrB_MASK, GrB_STRUCTURE);
  if (c->complement) GrB_Descriptor_set(d, GrB_MASK, GrB_COMP);
  if (c->transpose_a) GrB_Descriptor_set(d, GrB_INP0, GrB_TRAN);
  if (c->transpose_b) GrB_Descriptor_set(d, GrB_INP1, GrB_TRAN);
  if (c->method) GxB_Desc_set(d, GxB_AxB_METHOD, c->method);
  if (c->sort) GxB_Desc_set(d, GxB_SORT, c->sort);
#if GxB_IMPLEMENTATION_MAJOR < 9
  if (c->threads) GxB_Desc_set(d, GxB_DESCRIPTOR_NTHREADS, c->threads);
#endif
  return d;
}

static void read_error(const struct product_case *c, union object x, char error[1024])
{
  const char *text = "";
  GrB_Info info = c->operand[SLOT_C].vector ? GrB_Vector_error(&text, x.vector)
                                            : GrB_Matrix_error(&text, x.matrix);
  snprintf(error, 1024, "%s", info || !text ? "(none)" : text);
}

/* Leaves an error string on C. */
static void cause_error(const struct product_case *c, union object x)
{
  if (c->operand[SLOT_C].vector)
    GrB_Vector_removeElement(x.vector, (GrB_Index)1 << 50);
  else
    GrB_Matrix_removeElement(x.matrix, (GrB_Index)1 << 50, 0);
}

static void multiply(const struct product_case *c, const struct products *p, const struct made *m,
                     GrB_Descriptor desc, struct side *s)
{
  union object x[SLOTS];
  memcpy(x, s->object, sizeof x);
  GrB_Matrix none = (void *)no_object;
  GrB_Semiring semiring = m->semiring;
  GrB_BinaryOp accum = m->accum;
  switch (c->wrong) {
  case NO_C:
    x[SLOT_C].matrix = NULL;
    break;
  case NO_A:
    x[SLOT_A].matrix = NULL;
    break;
  case NO_B:
    x[SLOT_B].matrix = NULL;
    break;
  case NO_SEMIRING:
    semiring = NULL;
    break;
  case EMPTY_C:
    x[SLOT_C].matrix = none;
    break;
  case EMPTY_M:
    x[SLOT_M].matrix = none;
    break;
  case EMPTY_A:
    x[SLOT_A].matrix = none;
    break;
  case EMPTY_B:
    x[SLOT_B].matrix = none;
    break;
  case EMPTY_SEMIRING:
    semiring = (void *)no_object;
    break;
  case EMPTY_ACCUM:
    accum = (void *)no_object;
    break;
  case EMPTY_DESC:
    desc = (void *)no_object;
    break;
  default:
    break;
  }
  if (c->call == CALL_MXM)
    s->info = p->mxm(x[SLOT_C].matrix, x[SLOT_M].matrix, accum, semiring, x[SLOT_A].matrix,
                     x[SLOT_B].matrix, desc);
  else if (c->call == CALL_MXV)
    s->info = p->mxv(x[SLOT_C].vector, x[SLOT_M].vector, accum, semiring, x[SLOT_A].matrix,
                     x[SLOT_B].vector, desc);
  else
    s->info = p->vxm(x[SLOT_C].vector, x[SLOT_M].vector, accum, semiring, x[SLOT_B].vector,
                     x[SLOT_A].matrix, desc);
}

/* ---- spoiling ------------------------------------------------------------------------------ */

static bool set_entry(const struct operand *o, union object x, const void *value, GrB_Index i,
                      GrB_Index j)
{
  return !(o->vector ? type_rows[o->type].set_vector(x.vector, value, i)
                     : type_rows[o->type].set(x.matrix, value, i, j));
}

/* Changes the first entry; false where there is none or it would stay equal. */
static bool spoil_value(const struct operand *o, union object x, bool slightly)
{
  struct seen s;
  char why[200], value[MAX_ELEMENT];
  if (!object_see(o->vector, x, o->type, &s, why)) return false;
  bool done = s.count > 0 && (!slightly || o->type == T_FP32 || o->type == T_FP64);
  if (done) {
    double old = element_load(o->type, s.x);
    element_store(o->type, value, slightly ? old * 1.001 : o->type == T_BOOL ? !old : old + 1);
    done = !element_equal(o->type, value, s.x) && set_entry(o, x, value, s.i[0], s.j[0]);
  }
  seen_free(&s);
  return done;
}

static bool spoil_pattern(const struct operand *o, union object x, bool drop)
{
  struct seen s;
  char why[200], value[MAX_ELEMENT];
  if (!object_see(o->vector, x, o->type, &s, why)) return false;
  element_store(o->type, value, 1);
  bool done = false;
  if (drop && s.count)
    done = !(o->vector ? GrB_Vector_removeElement(x.vector, s.i[0])
                       : GrB_Matrix_removeElement(x.matrix, s.i[0], s.j[0]));
  else if (!drop && s.rows && s.cols && (!s.count || s.i[0] || s.j[0]))
    done = set_entry(o, x, value, 0, 0);
  seen_free(&s);
  return done;
}

/* Spoils one side; false if this case offers nothing to spoil that way. */
static bool spoil(enum spoil kind, const struct product_case *c, struct side *s)
{
  const struct operand *o = &c->operand[SLOT_C];
  union object x = s->object[SLOT_C];
  int value;
  switch (kind) {
  case SPOIL_VALUE:
    return spoil_value(o, x, false);
  case SPOIL_VALUE_SLIGHTLY:
    return spoil_value(o, x, true);
  case SPOIL_DROP:
    return spoil_pattern(o, x, true);
  case SPOIL_ENTRY:
    return spoil_pattern(o, x, false);
  case SPOIL_CODE:
    s->info = s->info ? GrB_SUCCESS : GrB_NO_VALUE;
    return true;
  case SPOIL_ERROR:
    s->error[0] ^= 1;
    return true;
  case SPOIL_ORIENTATION:
    if (o->vector || GxB_Matrix_Option_get(x.matrix, GxB_FORMAT, &value)) return false;
    return !GxB_Matrix_Option_set(x.matrix, GxB_FORMAT,
                                  value == GxB_BY_ROW ? GxB_BY_COL : GxB_BY_ROW);
  case SPOIL_CONTROL:
    if (o->vector || GxB_Matrix_Option_get(x.matrix, GxB_SPARSITY_CONTROL, &value)) return false;
    return !GxB_Matrix_Option_set(x.matrix, GxB_SPARSITY_CONTROL, value == 15 ? 7 : 15);
  case SPOIL_SWITCH:
    return !o->vector && !GxB_Matrix_Option_set(x.matrix, GxB_BITMAP_SWITCH, 0.123);
  case SPOIL_INPUT:
    return spoil_value(&c->operand[c->same_as[SLOT_A]], s->object[SLOT_A], false);
  default:
    return false;
  }
}

/* ---- comparison ------------------------------------------------------------------------- */

/* Settings as the original leaves them, or, for C, as they were: with a mask and REPLACE the
   original hands the mask's own on to C.  */
static bool equal_settings(const struct seen *a, const struct seen *b, const struct seen *before,
                           char why[200])
{
  char not_needed[200];
  if (settings_equal(a, b, why)) return true;
  if (!before || !settings_equal(a, before, not_needed)) return false;
  total.settings_kept++;
  return true;
}

/* How GraphBLAS holds an object is its own choice among what the sparsity control allows; it
   depends on the way the result was made.  */
static bool equal_status(const struct seen *a, const struct seen *b, char why[200])
{
  int control = a->control | (a->control == FORM_FULL ? FORM_BITMAP : 0);
  if (a->status == b->status) return true;
  total.status_differs++;
  if ((control & a->status) || !(b->control & b->status)) return true;
  snprintf(why, 200, "status %d, original's %d, control %d", a->status, b->status, a->control);
  return false;
}

static bool equal_values(const struct product_case *c, int slot, const struct seen *a,
                         const struct seen *b, char why[200])
{
  if (slot != SLOT_C || (c->exact && !c->nan_or_identity)) return seen_equal(a, b, NULL, NULL, why);
  struct tolerance t;
  bool started = tolerance_start(&t, c);
  bool equal = seen_equal(a, b, started ? tolerance_near : NULL, &t, why);
  tolerance_finish(&t);
  return equal;
}

static bool equal_objects(const struct product_case *c, int slot, struct side *two, char why[200])
{
  const struct operand *o = &c->operand[slot];
  struct seen a = {0}, b = {0};
  bool equal = object_see(o->vector, two[0].object[slot], o->type, &a, why) &&
               object_see(o->vector, two[1].object[slot], o->type, &b, why) &&
               equal_values(c, slot, &a, &b, why) &&
               equal_settings(&a, &b, slot == SLOT_C ? &two[0].before : NULL, why) &&
               equal_status(&a, &b, why);
  if (slot == SLOT_C && a.iso != b.iso) total.iso_differs++;
  seen_free(&a);
  seen_free(&b);
  return equal;
}

static bool equal_sides(const struct product_case *c, struct side *two, char why[1400])
{
  static const char *const names[] = {"C: ", "M: ", "A: ", "B: "};
  if (two[0].info != two[1].info)
    return snprintf(why, 1400, "returns %d, original %d", (int)two[0].info, (int)two[1].info),
           false;
  if (strcmp(two[0].error, two[1].error) != 0)
    return snprintf(why, 1400, "error string \"%.600s\", original's \"%.600s\"", two[0].error,
                    two[1].error),
           false;
  for (int i = 0; i < SLOTS; i++) {
    char text[200] = "";
    if (c->same_as[i] != i || (i == SLOT_M && !c->has_mask)) continue;
    if (!equal_objects(c, i, two, text)) return snprintf(why, 1400, "%s%s", names[i], text), false;
  }
  return true;
}

static void say_case(const struct product_case *c, const char *verdict, const char *why)
{
  char line[2000];
  case_print(c, line, sizeof line);
  printf("%s - property --seed %lu --only %ld%s: %s: %s\n", verdict, (unsigned long)c->seed,
         c->index, option.large ? " --large" : "", why, line);
  fflush(stdout);
}

/* How the operands are held, and C's settings, before the product; finishes no work. */
static void read_before(const struct product_case *c, struct side *s, int status[SLOTS])
{
  struct seen *b = &s->before;
  for (int i = 0; i < SLOTS; i++) {
    union object x = s->object[i];
    status[i] = 0;
    if (!x.matrix) continue;
    if (c->operand[i].vector)
      GxB_Vector_Option_get(x.vector, GxB_SPARSITY_STATUS, &status[i]);
    else
      GxB_Matrix_Option_get(x.matrix, GxB_SPARSITY_STATUS, &status[i]);
  }
  union object x = s->object[SLOT_C];
  if (c->operand[SLOT_C].vector)
    vector_settings(x.vector, b);
  else
    matrix_settings(x.matrix, b);
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
  bool good = make_side(c, &two[0]) && make_side(c, &two[1]);
  if (good) read_before(c, &two[0], status);
  if (good && c->stale_error)
    for (int i = 0; i < 2; i++)
      cause_error(c, two[i].object[SLOT_C]);
  if (good) multiply(c, &original, m, desc, &two[1]);
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
  GrB_Descriptor desc = make_descriptor(c);
  enum outcome outcome = prepare(c, &made, desc, two, status);
  if (outcome == CRASHED) {
    total.unsteady++;
    total.crashed++;
    return true; /* anything may be half-changed: nothing is freed */
  }
  if (outcome == READY) {
    calls_reset();
    multiply(c, &subject, &made, desc, &two[0]);
    if (kind == SPOIL_NOTHING) count_taken(c, status, two[0].info);
    total.errors += two[1].info != GrB_SUCCESS;
    for (int i = 0; i < 2; i++)
      read_error(c, two[i].object[SLOT_C], two[i].error);
    *was_spoilt = kind != SPOIL_NOTHING && spoil(kind, c, &two[0]);
  }
  bool good = outcome == READY && equal_sides(c, two, why);
  GrB_Descriptor_free(&desc);
  free_side(c, &two[0]);
  free_side(c, &two[1]);
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
  GrB_Descriptor desc = make_descriptor(c);
  bool steady = true;
  for (int i = 0; i < 2; i++) {
    if (!make_side(c, &two[i])) continue;
    own_malloc_fill(i ? 0xd5 : 0);
    multiply(c, &original, &made, desc, &two[i]);
    own_malloc_fill(0);
  }
  if (two[0].object[SLOT_C].matrix && two[1].object[SLOT_C].matrix)
    steady = equal_sides(c, two, why);
  GrB_Descriptor_free(&desc);
  free_side(c, &two[0]);
  free_side(c, &two[1]);
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
  alarm(20);
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
         total.status_differs, total.iso_differs, total.settings_kept);
  if (total.status_differs > 4 + total.run / 200) {
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
  for (int i = 0; i < 4; i++)
    signal((int[]){SIGSEGV, SIGABRT, SIGFPE, SIGALRM}[i], on_signal);
  types_start();
  own_ops_start();
  calls_watch();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < option.cases; i++)
    run_one(option.from + i);
  clock_gettime(CLOCK_MONOTONIC, &end);
  own_ops_finish();
  types_finish();
  GrB_finalize();
  return report((double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
}
