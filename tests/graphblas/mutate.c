/* mutate.c: products between random changes of their operands; a product that saw an operand
   as it was before the last change is found, because the original, called through its handle on
   the same operands, sees it as it is.

     mutate [--seed S] [--steps N] [--stale 1] [--graph 1]

   Every step changes A or B in one of the ways below, and then multiplies, sometimes several
   times.  A and B stay alive over many steps, so that anything kept of them would be asked for
   again; they are freed and made anew at the same address now and then.  With --stale 1 the
   subject is given the operand as it was before the last change, and the run must fail.

   With --graph 1 both are sparse, square and of one size, and a product is C<M> = X Y or X Y' where
   M, X and Y are any of the two: the counting of triangles, of a graph that changes; or a step of
   searches, C<M> or C<!M> = X Y or X Y', also added to a C that has entries, or in its place.  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"
#include "original.h"
#include "rng.h"

enum { MAX_SIZE = 24 };

static struct products subject, original;
static uint64_t state;
static enum type type;
static GrB_Semiring semiring;
static GrB_BinaryOp plus, times;
static long taken, asked;
static GrB_UnaryOp minus;

/* A and B; a sparse and a full or bitmap matrix most of the time, or two sparse ones. */
static struct operand shape[2];
static GrB_Matrix matrix[2];
static bool give_stale, of_graph;
static GrB_Matrix stale[2]; /* NULL: as it is */

static bool is_dense(int which)
{
  return which == 1 && !of_graph;
}

static double small_value(void)
{
  return (double)(rng_below(&state, 9) - 4);
}

static GrB_Index any_row(int which)
{
  return (GrB_Index)rng_below(&state, shape[which].rows);
}
static GrB_Index any_column(int which)
{
  return (GrB_Index)rng_below(&state, shape[which].cols);
}

/* ---- making ---------------------------------------------------------------------------- */

static void choose_type(void)
{
  bool is_double = rng_chance(&state, 50);
  type = is_double ? T_FP64 : T_FP32;
  semiring = is_double ? GrB_PLUS_TIMES_SEMIRING_FP64 : GrB_PLUS_TIMES_SEMIRING_FP32;
  plus = is_double ? GrB_PLUS_FP64 : GrB_PLUS_FP32;
  if (of_graph && rng_chance(&state, 50))
    semiring = is_double ? GxB_PLUS_PAIR_FP64 : GxB_PLUS_PAIR_FP32;
  times = is_double ? GrB_TIMES_FP64 : GrB_TIMES_FP32;
  minus = is_double ? GrB_AINV_FP64 : GrB_AINV_FP32;
}

static GrB_Info make(int which)
{
  struct operand *o = &shape[which];
  union object x;
  o->type = type;
  o->form = is_dense(which) ? (rng_chance(&state, 70) ? FORM_FULL : FORM_BITMAP)
                            : (rng_chance(&state, 60) ? FORM_SPARSE : FORM_HYPER);
  o->density = !is_dense(which) ? 0.4 * rng_unit(&state) : o->form == FORM_FULL ? 1 : 0.8;
  o->symmetric = of_graph && rng_chance(&state, 60);
  o->by_col = rng_chance(&state, 50);
  o->iso = rng_chance(&state, 10);
  o->bitmap_switch = o->hyper_switch = -1;
  o->seed = rng_next(&state);
  GrB_Info info = operand_make(o, &x);
  matrix[which] = x.matrix;
  return info;
}

/* Frees both and makes others, likely at the same addresses. */
static GrB_Info make_anew(void)
{
  int64_t m = 1 + rng_below(&state, MAX_SIZE), k = 1 + rng_below(&state, MAX_SIZE);
  int64_t n = 1 + rng_below(&state, MAX_SIZE);
  if (of_graph) k = n = m;
  GrB_Matrix_free(&matrix[0]);
  GrB_Matrix_free(&matrix[1]);
  choose_type();
  shape[0].rows = m;
  shape[0].cols = shape[1].rows = k;
  shape[1].cols = n;
  GrB_Info info = make(0);
  return info ? info : make(1);
}

/* ---- changing ------------------------------------------------------------------------------ */

static GrB_Info set_element(int w)
{
  char value[MAX_ELEMENT];
  element_store(type, value, small_value());
  return type_rows[type].set(matrix[w], value, any_row(w), any_column(w));
}

static GrB_Info remove_element(int w)
{
  return GrB_Matrix_removeElement(matrix[w], any_row(w), any_column(w));
}

static GrB_Info assign_scalar(int w)
{
  GrB_Index row = any_row(w), column = any_column(w);
  return GrB_Matrix_assign_FP64(matrix[w], NULL, rng_chance(&state, 50) ? plus : NULL,
                                small_value(), &row, 1, &column, 1, NULL);
}

/* A new value over the old pattern. */
static GrB_Info assign_through_mask(int w)
{
  return GrB_Matrix_assign_FP64(matrix[w], matrix[w], NULL, small_value(), GrB_ALL, 0, GrB_ALL, 0,
                                GrB_DESC_S);
}

static GrB_Info subassign_matrix(int w)
{
  GrB_Index row = any_row(w), column = any_column(w);
  GrB_Matrix one = NULL;
  char value[MAX_ELEMENT];
  element_store(type, value, small_value());
  GrB_Info info = GrB_Matrix_new(&one, type_handle(type), 1, 1);
  if (!info) info = type_rows[type].set(one, value, 0, 0);
  if (!info) info = GxB_Matrix_subassign(matrix[w], NULL, plus, one, &row, 1, &column, 1, NULL);
  GrB_Matrix_free(&one);
  return info;
}

static GrB_Info assign_row(int w)
{
  GrB_Vector row = NULL;
  GrB_Index from = any_row(w);
  GrB_Info info = GrB_Vector_new(&row, type_handle(type), (GrB_Index)shape[w].cols);
  if (!info)
    info = GrB_Col_extract(row, NULL, NULL, matrix[w], GrB_ALL, 0, any_row(w), GrB_DESC_T0);
  if (!info) info = GrB_Row_assign(matrix[w], NULL, plus, row, from, GrB_ALL, 0, NULL);
  GrB_Vector_free(&row);
  return info;
}

static GrB_Info apply_minus(int w)
{
  return GrB_Matrix_apply(matrix[w], NULL, NULL, minus, matrix[w], NULL);
}

static GrB_Info apply_bound(int w)
{
  return GrB_Matrix_apply_BinaryOp2nd_FP64(matrix[w], NULL, NULL, plus, matrix[w], small_value(),
                                           NULL);
}

static GrB_Info select_values(int w)
{
  if (is_dense(w)) return apply_minus(w); /* it keeps its entries */
  return GrB_Matrix_select_FP64(matrix[w], NULL, NULL, GrB_VALUENE_FP64, matrix[w], small_value(),
                                NULL);
}

static GrB_Info add_itself(int w)
{
  return GrB_Matrix_eWiseAdd_BinaryOp(matrix[w], NULL, NULL, plus, matrix[w], matrix[w], NULL);
}

static GrB_Info multiply_itself(int w)
{
  return GrB_Matrix_eWiseMult_BinaryOp(matrix[w], NULL, NULL, times, matrix[w], matrix[w], NULL);
}

/* Values grow by some of the above: bring them back, so that sums stay exact. */
static GrB_Info make_small(int w)
{
  GrB_BinaryOp op = type == T_FP64 ? GrB_MIN_FP64 : GrB_MIN_FP32;
  GrB_BinaryOp opposite = type == T_FP64 ? GrB_MAX_FP64 : GrB_MAX_FP32;
  GrB_Info info = GrB_Matrix_apply_BinaryOp2nd_FP64(matrix[w], NULL, NULL, op, matrix[w], 4, NULL);
  if (info) return info;
  return GrB_Matrix_apply_BinaryOp2nd_FP64(matrix[w], NULL, NULL, opposite, matrix[w], -4, NULL);
}

static GrB_Info clear_and_build(int w)
{
  union object x;
  struct operand o = shape[w];
  struct seen s;
  char why[200];
  o.seed = rng_next(&state);
  GrB_Info info = operand_make(&o, &x);
  if (info) return info;
  bool good = object_see(false, x, type, &s, why);
  info = good ? GrB_Matrix_clear(matrix[w]) : GrB_PANIC;
  if (!info && s.count) info = type_rows[type].build(matrix[w], s.i, s.j, s.x, s.count);
  if (good) seen_free(&s);
  object_free(false, &x);
  return info;
}

/* There and back: what was cut off is gone. */
static GrB_Info resize(int w)
{
  GrB_Index rows = (GrB_Index)shape[w].rows, cols = (GrB_Index)shape[w].cols;
  GrB_Info info = GrB_Matrix_resize(matrix[w], 1 + any_row(w), 1 + any_column(w));
  return info ? info : GrB_Matrix_resize(matrix[w], rows, cols);
}

static GrB_Info transpose_in_place(int w)
{
  if (shape[w].rows != shape[w].cols) return apply_minus(w);
  return GrB_transpose(matrix[w], NULL, NULL, matrix[w], NULL);
}

/* The product overwrites its own operand. */
static GrB_Info multiply_in_place(int w)
{
  if (shape[0].rows != shape[0].cols) return set_element(w);
  GrB_Info info = GrB_mxm(matrix[1], NULL, NULL, semiring, matrix[0], matrix[1], NULL);
  return info ? info : make_small(1);
}

/* Moves the arrays out, edits them, and moves them back: no function of GraphBLAS sees the
   change.  */
static GrB_Info edit_unpacked(int w)
{
  GrB_Index *offsets = NULL, *indices = NULL, offset_bytes, index_bytes, value_bytes, count;
  void *values = NULL;
  bool iso, jumbled;
  GrB_Matrix a = matrix[w];
  char value[MAX_ELEMENT];
  GrB_Info info = GrB_Matrix_nvals(&count, a);
  if (!info)
    info = GxB_Matrix_unpack_CSR(a, &offsets, &indices, &values, &offset_bytes, &index_bytes,
                                 &value_bytes, &iso, &jumbled, NULL);
  if (info) return info;
  element_store(type, value, small_value());
  if (count) {
    size_t at = iso ? 0 : (size_t)rng_below(&state, (int64_t)count);
    memcpy((char *)values + at * type_rows[type].size, value, type_rows[type].size);
  }
  info = GxB_Matrix_pack_CSR(a, &offsets, &indices, &values, offset_bytes, index_bytes, value_bytes,
                             iso, jumbled, NULL);
  if (!info && is_dense(w)) info = GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, FORM_FULL);
  if (!info && of_graph) info = GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, FORM_SPARSE);
  return info;
}

static GrB_Info duplicate(int w)
{
  GrB_Matrix copy = NULL;
  GrB_Info info = GrB_Matrix_dup(&copy, matrix[w]);
  if (info) return info;
  GrB_Matrix_free(&matrix[w]);
  info = GrB_Matrix_dup(&matrix[w], copy); /* where the first was */
  GrB_Matrix_free(&copy);
  return info;
}

/* 7.4.0 cannot read back some of what it wrote: another matrix then. */
static GrB_Info through_serial(int w)
{
  void *blob = NULL;
  GrB_Index size;
  GrB_Info info = GxB_Matrix_serialize(&blob, &size, matrix[w], NULL);
  if (info) return info;
  GrB_Matrix_free(&matrix[w]);
  info = GxB_Matrix_deserialize(&matrix[w], NULL, blob, size, NULL);
  free(blob);
  return info ? make(w) : set_element(w);
}

static GrB_Info wait_for_it(int w)
{
  return GrB_Matrix_wait(matrix[w], GrB_MATERIALIZE);
}

static GrB_Info other_form(int w)
{
  static const int sparse[] = {FORM_SPARSE, FORM_HYPER, 3, FORM_AUTO};
  static const int dense[] = {FORM_FULL, FORM_BITMAP, 12};
  int control =
      is_dense(w) ? dense[rng_below(&state, 3)] : sparse[rng_below(&state, of_graph ? 3 : 4)];
  return GxB_Matrix_Option_set(matrix[w], GxB_SPARSITY_CONTROL, control);
}

static GrB_Info other_orientation(int w)
{
  return GxB_Matrix_Option_set(matrix[w], GxB_FORMAT,
                               rng_chance(&state, 50) ? GxB_BY_ROW : GxB_BY_COL);
}

#if GxB_IMPLEMENTATION_MAJOR >= 10
/* As edit_unpacked, by a container. */
static GrB_Info through_container(int w)
{
  GxB_Container box = NULL;
  GrB_Info info = GxB_Container_new(&box);
  if (!info) info = GxB_unload_Matrix_into_Container(matrix[w], box, NULL);
  GrB_Index count = 0;
  if (!info) info = GrB_Vector_nvals(&count, box->x);
  char value[MAX_ELEMENT];
  element_store(type, value, small_value());
  if (!info && count)
    info = type_rows[type].set_vector(box->x, value, (GrB_Index)rng_below(&state, (int64_t)count));
  if (!info) info = GrB_Vector_wait(box->x, GrB_MATERIALIZE);
  if (!info) info = GxB_load_Matrix_from_Container(matrix[w], box, NULL);
  GxB_Container_free(&box);
  return info;
}
#endif

static const struct {
  const char *name;
  GrB_Info (*change)(int which);
} changes[] = {
    {"setElement", set_element},
    {"setElement", set_element},
    {"removeElement", remove_element},
    {"assign", assign_scalar},
    {"assign by mask", assign_through_mask},
    {"subassign", subassign_matrix},
    {"Row_assign", assign_row},
    {"apply", apply_minus},
    {"apply", apply_bound},
    {"select", select_values},
    {"eWiseAdd", add_itself},
    {"eWiseMult", multiply_itself},
    {"clear and build", clear_and_build},
    {"resize", resize},
    {"transpose", transpose_in_place},
    {"mxm into an operand", multiply_in_place},
    {"unpack, edit, pack", edit_unpacked},
    {"dup and free", duplicate},
    {"deserialize", through_serial},
    {"wait", wait_for_it},
    {"sparsity control", other_form},
    {"orientation", other_orientation},
#if GxB_IMPLEMENTATION_MAJOR >= 10
    {"container", through_container},
#endif
};
#define CHANGES ((int64_t)(sizeof changes / sizeof changes[0]))

/* ---- comparing ---------------------------------------------------------------------------- */

/* Which two are multiplied, under which mask. */
struct roles {
  int a, b, mask; /* mask < 0: none */
  GrB_Semiring semiring;
  GrB_BinaryOp accum;
  GrB_Descriptor descriptor;
  bool filled; /* C has entries before */
};

/* A step of searches, F<!P> = F A or W<S> = W A', added or in place of all of C. */
static void draw_step(struct roles *r)
{
  const GrB_Descriptor by[] = {GrB_DESC_RSC, GrB_DESC_SC,   GrB_DESC_RSCT1, GrB_DESC_SCT1,
                               GrB_DESC_RS,  GrB_DESC_RST1, GrB_DESC_S,     GrB_DESC_ST1};
  r->semiring = type == T_FP64 ? GxB_PLUS_FIRST_FP64 : GxB_ANY_PAIR_BOOL;
  r->descriptor = by[rng_below(&state, 8)];
  r->accum = rng_chance(&state, 30) ? plus : NULL;
  r->filled = rng_chance(&state, 50);
}

static struct roles draw_roles(void)
{
  struct roles r = {0, 1, -1, semiring, NULL, NULL, false};
  if (!of_graph) return r;
  const bool structural = rng_chance(&state, 60);
  r.a = (int)rng_below(&state, 2);
  r.b = rng_chance(&state, 60) ? r.a : !r.a;
  r.mask = rng_chance(&state, 60) ? r.a : !r.a;
  r.descriptor = rng_chance(&state, 70) ? (structural ? GrB_DESC_ST1 : GrB_DESC_T1)
                                        : (structural ? GrB_DESC_S : NULL);
  if (rng_chance(&state, 30)) draw_step(&r);
  return r;
}

static GrB_Matrix as_given(int which, const struct products *to)
{
  return to == &subject && stale[which] ? stale[which] : matrix[which];
}

/* C(0) by the subject, C(1) by the original; which goes first is left to chance. */
static bool products_agree(char why[200])
{
  const struct roles r = draw_roles();
  union object c[2] = {{NULL}, {NULL}};
  struct seen seen[2] = {{0}, {0}};
  bool good = true, original_first = rng_chance(&state, 50);
  GrB_Info info = GrB_SUCCESS;
  for (int i = 0; !info && i < 2; i++)
    info = GrB_Matrix_new(&c[i].matrix, type_handle(type), (GrB_Index)shape[0].rows,
                          (GrB_Index)shape[1].cols);
  for (int i = 0; r.filled && !info && i < 2; i++)
    info = GrB_Matrix_assign(c[i].matrix, NULL, NULL, matrix[0], GrB_ALL, 0, GrB_ALL, 0, NULL);
  for (int i = 0; !info && i < 2; i++) {
    const struct products *p = (i == 0) == original_first ? &original : &subject;
    calls_reset();
    info = p->mxm(c[p == &original].matrix, r.mask < 0 ? NULL : as_given(r.mask, p), r.accum,
                  r.semiring, as_given(r.a, p), as_given(r.b, p), r.descriptor);
    asked += p == &subject;
    taken += p == &subject && calls_seen() == 0;
  }
  if (info) good = snprintf(why, 200, "a product ends with %d", (int)info) < 0;
  for (int i = 0; good && i < 2; i++) good = object_see(false, c[i], type, &seen[i], why);
  if (good) good = seen_equal(&seen[0], &seen[1], NULL, NULL, why);
  for (int i = 0; i < 2; i++) {
    seen_free(&seen[i]);
    object_free(false, &c[i]);
  }
  return good;
}

static bool step(long index, char why[200])
{
  if (index % 200 == 0 && make_anew()) return snprintf(why, 200, "cannot be made") < 0;
  int64_t kind = rng_below(&state, CHANGES);
  int which = (int)rng_below(&state, 2);
  GrB_Matrix_free(&stale[0]);
  GrB_Matrix_free(&stale[1]);
  if (give_stale && GrB_Matrix_dup(&stale[which], matrix[which])) return false;
  GrB_Info info = changes[kind].change(which);
  if (!info && kind % 4 == 0) info = make_small(which);
  if (info) {
    snprintf(why, 200, "%s of %c ends with %d", changes[kind].name, "AB"[which], (int)info);
    return false;
  }
  for (int64_t times_left = rng_below(&state, 3); times_left >= 0; times_left--) {
    char text[200];
    if (products_agree(text)) continue;
    snprintf(why, 200, "after %s of %c: %.150s", changes[kind].name, "AB"[which], text);
    return false;
  }
  return true;
}

int main(int argc, char **argv)
{
  uint64_t seed = 1;
  long steps = 100000, done = 0;
  char why[200] = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
    if (!strcmp(argv[i], "--stale")) give_stale = atoi(argv[i + 1]) != 0;
    if (!strcmp(argv[i], "--graph")) of_graph = atoi(argv[i + 1]) != 0;
    if (!strcmp(argv[i], "--steps")) steps = atol(argv[i + 1]);
  }
  if (GrB_init(GrB_NONBLOCKING) || !products_find(&subject, &original)) return 2;
  if (!products_preloaded(&subject, &original))
    printf("# nothing is preloaded: the original is compared with itself\n");
  calls_watch();
  calls_reset();
  types_start();
  state = seed;
  while (done < steps && step(done, why)) done++;
  GrB_Matrix_free(&matrix[0]);
  GrB_Matrix_free(&matrix[1]);
  GrB_Matrix_free(&stale[0]);
  GrB_Matrix_free(&stale[1]);
  types_finish();
  GrB_finalize();
  bool good = done == steps;
  printf("# %ld of %ld products were taken\n", taken, asked);
  printf("%s - %ld changes of the operands between products: never stale (seed %lu)%s%s\n",
         good ? "ok" : "not ok", done, (unsigned long)seed, good ? "" : ": ", why);
  printf("%d passed, %d failed, 0 skipped\n", good, !good);
  return !good;
}
