/* cost.c: what a product that is passed through costs more than the original.

     cost [MOST]     instructions (without: only counts)

   The subject's products and the original's, called on the same 4 x 4 operands, which are left to
   the original for one reason or another.  The wish is a time (200 ns); but a time depends on
   the machine and on what else runs there, so the limit is on what causes it: the instructions
   executed.  The difference of the least times over many rounds is printed beside them.  Small
   steps of searches, which samples decide, have a limit of their own.  To be run without
   SHUNT_ROUTES, which would force the small products to be taken.  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "instructions.h"
#include "original.h"

enum { ROUNDS = 4000, TIMED_CALLS = 20, STEP_ROUNDS = 100, MOST_OF_STEP = 35000 };
enum { MOST_CASES = 32 };

/* A step: F, rows x nodes, times the graph; of F and of the mask one in so many places is there. */
struct step {
  GrB_Index rows, nodes, degree, one_of_f, one_of_mask;
  long most; /* instructions more; 0: as of all */
};

/* One call again and again: `u` when it is a product with a vector. */
struct passed {
  const char *why;
  int form_a, form_b;
  GrB_Semiring semiring;
  GrB_Descriptor desc;
  bool by_vector, masked;
  struct step step; /* rows 0: none */
  GrB_Matrix a, b, c, mask;
  GrB_Vector u, w;
};

struct calls {
  const struct products *products;
  const struct passed *what;
  int count;
};

static void call(void *argument)
{
  const struct calls *x = argument;
  const struct passed *w = x->what;
  for (int i = 0; i < x->count; i++)
    if (w->by_vector)
      x->products->mxv(w->w, NULL, NULL, w->semiring, w->a, w->u, w->desc);
    else
      x->products->mxm(w->c, w->mask, NULL, w->semiring, w->a, w->b, w->desc);
}

static GrB_Matrix make(int form)
{
  GrB_Matrix a = NULL;
  GrB_Matrix_new(&a, GrB_FP64, 4, 4);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, form);
  for (GrB_Index i = 0; i < 16; i++)
    if (form == GxB_FULL || i % 5 == 0) GrB_Matrix_setElement_FP64(a, (double)i + 1, i / 4, i % 4);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static GrB_Matrix scattered(GrB_Index rows, GrB_Index nodes, GrB_Index one_of, int form)
{
  GrB_Matrix a = NULL;
  GrB_Matrix_new(&a, GrB_FP64, rows, nodes);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, form);
  for (GrB_Index i = 0; i < rows * nodes; i++)
    if (i * 7919 % 10007 % one_of == 0) GrB_Matrix_setElement_FP64(a, 1, i / nodes, i % nodes);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static void make_step(struct passed *x)
{
  const struct step *s = &x->step;
  x->a = scattered(s->rows, s->nodes, s->one_of_f, x->form_a);
  x->mask = scattered(s->rows, s->nodes, s->one_of_mask, x->form_a);
  GrB_Matrix_new(&x->b, GrB_FP64, s->nodes, s->nodes);
  GxB_Matrix_Option_set(x->b, GxB_SPARSITY_CONTROL, GxB_SPARSE);
  for (GrB_Index i = 0; i < s->nodes * s->degree; i++)
    GrB_Matrix_setElement_FP64(x->b, 1, i / s->degree, i * 7919 % s->nodes);
  GrB_Matrix_wait(x->b, GrB_MATERIALIZE);
  GrB_Matrix_new(&x->c, GrB_FP64, s->rows, s->nodes);
}

static void make_operands(struct passed *x)
{
  if (x->step.rows) {
    make_step(x);
    return;
  }
  x->a = make(x->form_a), x->b = make(x->form_b), x->c = make(GxB_SPARSE);
  if (x->masked) GrB_Matrix_dup(&x->mask, x->a);
  GrB_Vector_new(&x->u, GrB_FP64, 4);
  GrB_Vector_new(&x->w, GrB_FP64, 4);
  for (GrB_Index i = 0; i < 4; i++) GrB_Vector_setElement_FP64(x->u, (double)i, i);
  GrB_Vector_wait(x->u, GrB_MATERIALIZE);
}

static void free_operands(struct passed *x)
{
  GrB_Matrix_free(&x->a);
  GrB_Matrix_free(&x->b);
  GrB_Matrix_free(&x->c);
  GrB_Matrix_free(&x->mask);
  GrB_Vector_free(&x->u);
  GrB_Vector_free(&x->w);
}

static double nanoseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double time_of(struct calls *x)
{
  double start = nanoseconds();
  call(x);
  return (nanoseconds() - start) / x->count;
}

/* Nanoseconds more: a busy machine lengthens single times, hardly ever the least ones. */
static double more_time(struct calls ours, struct calls theirs)
{
  double least = 1e9, original = 1e9;
  const bool step = ours.what->step.rows;
  ours.count = theirs.count = step ? 1 : TIMED_CALLS;
  for (int i = 0; i < (step ? STEP_ROUNDS : ROUNDS); i++) {
    double t = time_of(&theirs), u = time_of(&ours);
    original = t < original ? t : original;
    least = u < least ? u : least;
  }
  return least - original;
}

/* Instructions more; -1 where they cannot be counted. */
static long more_instructions(struct calls ours, struct calls theirs)
{
  ours.count = theirs.count = 1;
  const struct products *p = theirs.products;
  /* The product itself has millions of them, the same with and without the library. */
  const void *itself = ours.what->by_vector ? *(void *const *)&p->mxv : *(void *const *)&p->mxm;
  long more = instructions_without(call, &ours, itself);
  long original = instructions_without(call, &theirs, itself);
  return more < 0 || original < 0 ? -1 : more - original;
}

/* How many there are; room for MOST_CASES. */
static int list_cases(struct passed *to)
{
  GrB_Semiring plus_times = GrB_PLUS_TIMES_SEMIRING_FP64;
  const struct passed cases[] = {
      {.why = "sparse x sparse", GxB_SPARSE, GxB_SPARSE, plus_times},
      {.why = "sparse x sparse, a small mask",
       GxB_SPARSE,
       GxB_SPARSE,
       plus_times,
       NULL,
       false,
       true},
      {.why = "a step of a search, too small",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_PLUS_FIRST_FP64,
       GrB_DESC_RSC,
       false,
       true},
      {.why = "full x full", GxB_FULL, GxB_FULL, plus_times},
      {.why = "another semiring", GxB_SPARSE, GxB_FULL, GxB_TIMES_PLUS_FP64},
      {.why = "another type", GxB_SPARSE, GxB_FULL, GrB_PLUS_TIMES_SEMIRING_FP32},
      {.why = "too small", GxB_SPARSE, GxB_FULL, plus_times},
      {.why = "too small, transposed", GxB_SPARSE, GxB_FULL, plus_times, GrB_DESC_T0},
      {.why = "the sum of a vector", GxB_SPARSE, GxB_FULL, plus_times, NULL, true},
      {.why = "too small, a vector", GxB_SPARSE, GxB_FULL, GrB_MIN_PLUS_SEMIRING_FP64, NULL, true},
      {.why = "a step, F and the mask sparse",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_PLUS_FIRST_FP64,
       GrB_DESC_RS,
       .step = {32, 3000, 4, 500, 3, MOST_OF_STEP}},
      {.why = "a step that reads more",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_ANY_PAIR_BOOL,
       GrB_DESC_RS,
       .step = {32, 20000, 8, 450, 50, MOST_OF_STEP}},
      {.why = "a step, F and the mask bitmaps",
       GxB_BITMAP,
       GxB_SPARSE,
       GxB_ANY_PAIR_BOOL,
       GrB_DESC_RSCT1,
       .step = {4, 3000, 4, 2, 3, MOST_OF_STEP}},
      {.why = "a mask of a thousand, no step",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_MIN_FIRST_FP64,
       GrB_DESC_RS,
       .step = {64, 300, 4, 100, 20}},
      {.why = "a mask of a thousand, no step but by its rows",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_PLUS_FIRST_FP64,
       GrB_DESC_RS,
       .step = {1100, 100, 4, 1000, 100}},
      {.why = "a mask of a thousand, a step that hardly begins",
       GxB_SPARSE,
       GxB_SPARSE,
       GxB_ANY_PAIR_BOOL,
       GrB_DESC_RS,
       .step = {16, 8000, 1, 1500, 120}},
  };
  memcpy(to, cases, sizeof cases);
  return (int)(sizeof cases / sizeof *cases);
}

int main(int argc, char **argv)
{
  const long limit = argc > 1 ? atol(argv[1]) : 0x7fffffff;
  int failed = 0, skipped = 0;
  struct products subject, original;
  if (GrB_init(GrB_NONBLOCKING) || !products_find(&subject, &original)) return 2;
  struct passed cases[MOST_CASES];
  const int count = list_cases(cases);
  for (int i = 0; i < count; i++) {
    struct passed *x = &cases[i];
    make_operands(x);
    struct calls ours = {&subject, x, 0}, theirs = {&original, x, 0};
    double ns = more_time(ours, theirs);
    const long most = argc > 1 && x->step.most ? x->step.most : limit;
    long more = more_instructions(ours, theirs);
    skipped += more < 0;
    failed += more > most;
    printf("%s - passed through (%s): %ld instructions more, limit %ld (here %.0f ns)\n",
           more < 0      ? "skip"
           : more > most ? "not ok"
                         : "ok",
           x->why, more, most, ns);
    free_operands(x);
  }
  GrB_finalize();
  printf("%d passed, %d failed, %d skipped\n", count - failed - skipped, failed, skipped);
  return failed != 0;
}
