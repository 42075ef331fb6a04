#include "case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rng.h"

static const char *const listed[][2] = {
    {"PLUS", "TIMES"}, {"PLUS", "SECOND"}, {"PLUS", "FIRST"}, {"PLUS", "PAIR"},
    {"MIN", "PLUS"},   {"MAX", "TIMES"},   {"MAX", "PLUS"},   {"MAX", "SECOND"},
};
static const enum type listed_types[] = {T_FP32,  T_FP64,  T_FP32,  T_FP64,
                                         T_INT32, T_INT64, T_UINT64};
static const char *const adds[] = {"PLUS", "MIN", "MAX", "TIMES"};
static const char *const multiplies[] = {"FIRST", "SECOND", "PAIR", "PLUS", "MINUS", "RMINUS",
                                         "TIMES", "DIV",    "RDIV", "MIN",  "MAX",   "ISEQ",
                                         "ISGT",  "ISLE",   "LOR",  "LAND", "LXOR"};
static const char *const bool_semirings[][2] = {
    {"LOR", "LAND"}, {"LAND", "LOR"}, {"LXOR", "LAND"},
    {"EQ", "LOR"},   {"LOR", "PAIR"}, {"ANY", "PAIR"},
};
/* Taken of two sparse operands alone. */
static const char *const sparse_semirings[][2] = {
    {"ANY", "PAIR"}, {"ANY", "FIRST"},  {"ANY", "SECOND"}, {"ANY", "TIMES"},
    {"MIN", "PLUS"}, {"MIN", "SECOND"}, {"MAX", "FIRST"},  {"MAX", "TIMES"},
};
static const char *const sparse_bool_semirings[][2] = {
    {"LOR", "LAND"}, {"LAND", "LAND"}, {"LOR", "FIRST"}, {"LAND", "SECOND"},
    {"LOR", "PAIR"}, {"ANY", "PAIR"},  {"ANY", "LAND"},  {"ANY", "FIRST"},
};
static const char *const accums[] = {"PLUS",  "PLUS",  "PLUS",  "SECOND", "MIN", "MAX",
                                     "FIRST", "MINUS", "TIMES", "DIV",    "ISGT"};

#define COUNT(a) ((int64_t)(sizeof(a) / sizeof(a)[0]))
#define PICK(state, a) ((a)[rng_below(state, COUNT(a))])

static bool text_in(const char *text, const char *const *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(text, list[i]) == 0) return true;
  return false;
}

static bool is_listed(const struct semiring_choice *s)
{
  for (int64_t i = 0; i < COUNT(listed); i++)
    if (!strcmp(s->add, listed[i][0]) && !strcmp(s->multiply, listed[i][1])) return true;
  return false;
}

static enum type any_type(uint64_t *r)
{
  return (enum type)rng_below(r, T_FC64);
}

static void set_semiring(struct semiring_choice *s, const char *add, const char *multiply,
                         enum type t)
{
  snprintf(s->add, sizeof s->add, "%s", add);
  snprintf(s->multiply, sizeof s->multiply, "%s", multiply);
  s->type = t;
}

static void draw_sparse_semiring(uint64_t *r, struct semiring_choice *s)
{
  const char *const *pair = PICK(r, sparse_semirings);
  set_semiring(s, pair[0], pair[1], rng_chance(r, 50) ? T_UINT32 : PICK(r, listed_types));
  if (rng_chance(r, 60)) return;
  pair = PICK(r, sparse_bool_semirings);
  set_semiring(s, pair[0], pair[1], T_BOOL);
}

static void draw_semiring(uint64_t *r, struct semiring_choice *s, bool large)
{
  int64_t kind = large ? 0 : rng_below(r, 100);
  const char *const *pair = PICK(r, listed);
  s->origin = FROM_LIBRARY;
  set_semiring(s, pair[0], pair[1], PICK(r, listed_types));
  if (kind < 65) return;
  s->for_sparse = kind < 70;
  if (s->for_sparse) draw_sparse_semiring(r, s);
  if (kind < 70) return;
  if (kind < 76) {
    s->type = any_type(r);
    if (s->type == T_BOOL) set_semiring(s, "LOR", "LAND", T_BOOL);
  } else if (kind < 84) {
    set_semiring(s, PICK(r, adds), PICK(r, multiplies), (enum type)(1 + rng_below(r, T_FP64)));
  } else if (kind < 87) {
    pair = PICK(r, bool_semirings);
    set_semiring(s, pair[0], pair[1], T_BOOL);
  } else if (kind < 88) {
    set_semiring(s, "PLUS", "TIMES", T_FC64);
  } else if (kind < 93) {
    s->origin = FROM_LIBRARY_OPS;
  } else if (kind < 95) {
    s->origin = FROM_PLUS_7;
    set_semiring(s, "PLUS", pair[1], T_FP64);
  } else if (kind < 99) {
    s->origin = kind < 97 ? FROM_USER_OP : FROM_USER_MONOID;
    set_semiring(s, "PLUS", "TIMES", T_FP64);
  } else {
    s->origin = FROM_USER_TYPE;
    set_semiring(s, "USER", "USER", T_USER);
  }
}

/* The semirings of searches. */
static void draw_step(uint64_t *r, struct semiring_choice *s)
{
  static const char *const parents[] = {"SECONDI", "FIRSTJ"};
  const int64_t kind = rng_below(r, 3);
  const enum type t = rng_chance(r, 50) ? T_INT32 : T_INT64;
  s->origin = FROM_LIBRARY;
  if (kind == 0)
    set_semiring(s, "ANY", "PAIR", T_BOOL);
  else if (kind == 1)
    set_semiring(s, "PLUS", "FIRST", T_FP64);
  else
    set_semiring(s, rng_chance(r, 50) ? "MIN" : "ANY", PICK(r, parents), t);
}

static bool gives_parents(const struct semiring_choice *s)
{
  return !strcmp(s->multiply, "SECONDI") || !strcmp(s->multiply, "FIRSTJ");
}

/* ---- operands --------------------------------------------------------------------------- */

static int64_t draw_size(uint64_t *r, bool large)
{
  if (large) return 1 + rng_below(r, rng_chance(r, 30) ? 3000 : 600);
  if (rng_chance(r, 1)) return 0;
  return 1 + rng_below(r, rng_chance(r, 20) ? 48 : 14);
}

static void draw_dense(uint64_t *r, struct operand *o)
{
  o->form = rng_chance(r, 75) ? FORM_FULL : FORM_BITMAP;
  o->density = o->form == FORM_FULL ? 1 : 0.3 + 0.7 * rng_unit(r);
  o->iso = rng_chance(r, 10);
}

static void draw_sparse(uint64_t *r, struct operand *o, bool large)
{
  o->form = rng_chance(r, 70) ? FORM_SPARSE : FORM_HYPER;
  o->density = large ? 0.02 * rng_unit(r) * rng_unit(r) : rng_unit(r) * rng_unit(r);
  if (rng_chance(r, 4)) o->density = 0;
  if (rng_chance(r, 40)) o->skip_rows = 2 + (int)rng_below(r, 5);
  if (rng_chance(r, 20)) o->skip_cols = 2 + (int)rng_below(r, 5);
  o->iso = rng_chance(r, 20);
}

static void draw_any_form(uint64_t *r, struct operand *o, bool large)
{
  if (rng_chance(r, 50))
    draw_dense(r, o);
  else
    draw_sparse(r, o, large);
  if (rng_chance(r, 30)) o->form = FORM_AUTO;
}

/* Big integers only where the semiring wraps: as floating-point numbers their sums would
   round.  */
static enum values draw_values(uint64_t *r, enum type t, bool wraps)
{
  int64_t kind = rng_below(r, 100);
  if (kind < 12) return VALUES_ZEROS;
  if (type_rows[t].is_float) return kind < 30 ? VALUES_SPECIAL : VALUES_SMALL;
  return wraps && kind < 50 ? VALUES_BIG : VALUES_SMALL;
}

static void draw_settings(uint64_t *r, struct operand *o)
{
  static const int controls[] = {FORM_AUTO,  FORM_SPARSE, FORM_BITMAP, FORM_FULL,
                                 FORM_HYPER, 3,           6,           10};
  static const double switches[] = {0.0, 0.02, 0.3, 1.0};
  o->bitmap_switch = o->hyper_switch = -1;
  if (rng_chance(r, 15)) o->control = PICK(r, controls);
  if (rng_chance(r, 10)) o->bitmap_switch = PICK(r, switches);
  if (rng_chance(r, 10)) o->hyper_switch = PICK(r, switches);
}

static void draw_pending(uint64_t *r, struct operand *o)
{
  if (rng_chance(r, 12)) o->set_after = 1 + (int)rng_below(r, 4);
  if (rng_chance(r, 12)) o->remove_after = 1 + (int)rng_below(r, 4);
  bool can = o->type == T_FP32 || o->type == T_FP64 || o->type == T_INT64;
  o->jumbled = !o->vector && can && o->rows > 0 && o->cols > 0 && rng_chance(r, 10);
}

/* What one slot gets beyond its form. */
static void draw_rest(uint64_t *r, struct operand *o, enum type usual)
{
  o->type = usual;
  if (rng_chance(r, 4)) o->type = any_type(r);
  if (rng_chance(r, 1)) o->type = rng_chance(r, 50) ? T_USER : T_FC64;
  o->by_col = rng_chance(r, 50);
  o->values = draw_values(r, o->type, !type_rows[usual].is_float);
  o->seed = rng_next(r);
  draw_settings(r, o);
  draw_pending(r, o);
}

static void draw_forms(uint64_t *r, struct product_case *c, bool large)
{
  struct operand *a = &c->operand[SLOT_A], *b = &c->operand[SLOT_B], *m = &c->operand[SLOT_M];
  int64_t kind = rng_below(r, 100);
  draw_any_form(r, &c->operand[SLOT_C], large);
  draw_any_form(r, m, large);
  c->has_mask = rng_chance(r, 35);
  c->complement = rng_chance(r, 25);
  if (c->semiring.for_sparse && c->call == CALL_MXM && rng_chance(r, 80)) kind = 80;
  if (c->call != CALL_MXM || kind < 50) {
    draw_sparse(r, a, large);
    draw_dense(r, b);
  } else if (kind < 62) {
    draw_dense(r, a);
    draw_sparse(r, b, large);
  } else if (kind < 80) {
    draw_dense(r, a);
    draw_dense(r, b);
    draw_sparse(r, m, large);
    c->has_mask = true;
    c->complement = rng_chance(r, 10);
  } else if (kind < 92) {
    draw_sparse(r, a, large);
    draw_sparse(r, b, large);
    draw_sparse(r, m, large);
    m->density = sqrt(m->density);
    c->has_mask = true;
    c->complement = rng_chance(r, 10);
  } else {
    draw_any_form(r, a, large);
    draw_any_form(r, b, large);
  }
  if (c->call != CALL_MXM && rng_chance(r, 15)) draw_any_form(r, b, large);
}

/* Rows of searches times a graph: F sparse or a bitmap, mostly under the complement of a bitmap. */
static void draw_frontier(uint64_t *r, struct product_case *c)
{
  struct operand *o = c->operand;
  draw_any_form(r, &o[SLOT_C], false);
  draw_any_form(r, &o[SLOT_A], false);
  if (rng_chance(r, 60)) draw_sparse(r, &o[SLOT_A], false);
  draw_sparse(r, &o[SLOT_B], false);
  draw_any_form(r, &o[SLOT_M], false);
  if (o[SLOT_M].form == FORM_FULL) o[SLOT_M].form = FORM_BITMAP, o[SLOT_M].density = rng_unit(r);
  c->has_mask = true;
  c->complement = rng_chance(r, 70);
  if (rng_chance(r, 90)) c->transpose_a = false;
}

/* Held as searches hold them, which is by row; the result often takes F's place. */
static void shape_frontier(uint64_t *r, struct product_case *c)
{
  struct operand *o = c->operand;
  if (rng_chance(r, 90)) o[SLOT_A].by_col = o[SLOT_M].by_col = false;
  if (rng_chance(r, 80)) o[SLOT_C].by_col = false;
  if (rng_chance(r, 70)) o[SLOT_B].type = any_type(r);
  if (rng_chance(r, 60)) o[SLOT_M].type = any_type(r);
}

/* A is B and M, as in the counting of triangles, mostly with a symmetric pattern. */
static void draw_graph(uint64_t *r, struct product_case *c)
{
  struct operand *a = &c->operand[SLOT_A];
  c->same_as[SLOT_B] = c->same_as[SLOT_M] = SLOT_A;
  c->has_mask = true;
  c->complement = false;
  draw_sparse(r, a, false);
  a->symmetric = rng_chance(r, 80);
  if (rng_chance(r, 70)) a->skip_rows = a->skip_cols = a->remove_after = a->set_after = 0;
}

static void draw_operands(uint64_t *r, struct product_case *c, bool large)
{
  enum type t = c->semiring.type;
  int64_t m = draw_size(r, large), k = draw_size(r, large), n = draw_size(r, large);
  if (large && c->call == CALL_MXM) n = 1 + rng_below(r, 160);
  for (int s = 0; s < SLOTS; s++) c->same_as[s] = s;
  bool square = !large && rng_chance(r, c->frontier ? 40 : 18);
  if (c->frontier && rng_chance(r, 20)) m = 60 + rng_below(r, 80); /* more than a word of rows */
  if (square) m = k = n = 1 + rng_below(r, 14);
  struct operand *o = c->operand;
  memset(o, 0, sizeof c->operand);
  c->transpose_a = rng_chance(r, 30);
  c->transpose_b = rng_chance(r, 30);
  if (c->frontier)
    draw_frontier(r, c);
  else
    draw_forms(r, c, large);
  if (large && o[SLOT_A].form > FORM_SPARSE) { /* not millions of entries */
    m = 1 + m % 600;
    k = 1 + k % 600;
  }
  /* A of a vxm stands on the right. */
  bool on_left = c->call != CALL_VXM;
  bool flip = on_left ? c->transpose_a : c->transpose_b;
  o[SLOT_A].rows = on_left != flip ? m : k;
  o[SLOT_A].cols = on_left != flip ? k : m;
  o[SLOT_B].vector = o[SLOT_C].vector = o[SLOT_M].vector = c->call != CALL_MXM;
  o[SLOT_B].rows = c->call == CALL_MXM && c->transpose_b ? n : k;
  o[SLOT_B].cols = c->call != CALL_MXM ? 1 : c->transpose_b ? k : n;
  o[SLOT_C].rows = o[SLOT_M].rows = m;
  o[SLOT_C].cols = o[SLOT_M].cols = c->call == CALL_MXM ? n : 1;
  for (int s = 0; s < SLOTS; s++) draw_rest(r, &o[s], t);
  if (rng_chance(r, 60)) o[SLOT_M].type = rng_chance(r, 60) ? T_BOOL : any_type(r);
  if (c->frontier) shape_frontier(r, c);
  if (square && c->call == CALL_MXM) {
    static const int slots[][2] = {{SLOT_A, SLOT_C}, {SLOT_B, SLOT_C}, {SLOT_M, SLOT_C},
                                   {SLOT_B, SLOT_A}, {SLOT_A, SLOT_M}, {SLOT_B, SLOT_M}};
    if (!c->frontier && rng_chance(r, 25)) draw_graph(r, c);
    for (int times = 1 + (int)rng_below(r, 2); times > 0; times--) {
      const int *pair = PICK(r, slots);
      c->same_as[pair[0]] = c->same_as[pair[1]];
    }
  } else if (square) {
    c->same_as[SLOT_B] = rng_chance(r, 70) ? SLOT_C : SLOT_B;
    c->same_as[SLOT_M] = rng_chance(r, 40) ? SLOT_C : SLOT_M;
  }
  for (int s = 0; s < SLOTS; s++) /* an alias of an alias */
    c->same_as[s] = c->same_as[c->same_as[s]];
}

/* A matrix with more rows than memory has bytes: only hypersparse ones can be. */
static void make_huge(struct product_case *c)
{
  struct operand *o = c->operand;
  if (c->call != CALL_MXM || c->same_as[SLOT_A] != SLOT_A || c->transpose_a) return;
  int64_t huge = (int64_t)1 << 40;
  for (int s = SLOT_C; s <= SLOT_A; s++) {
    if (c->same_as[s] != s || o[s].rows < 2 || o[s].cols < 1) return;
  }
  for (int s = SLOT_C; s <= SLOT_A; s++) {
    o[s].sparse_rows = o[s].rows;
    o[s].rows = huge;
    o[s].by_col = false;
    o[s].form = FORM_HYPER;
    o[s].control = 0;
    o[s].iso = o[s].jumbled = false;
  }
}

static void draw_descriptor(uint64_t *r, struct product_case *c)
{
  static const int methods[] = {GxB_AxB_DOT, GxB_AxB_SAXPY, GxB_AxB_GUSTAVSON, GxB_AxB_HASH};
  c->replace = rng_chance(r, 25);
  c->structural = rng_chance(r, c->frontier ? 85 : 40);
  /* 7.4.0 loops for ever in its hash method when A has no columns. */
  const struct operand *b = &c->operand[SLOT_B];
  if (rng_chance(r, 25) && b->rows && b->cols) c->method = PICK(r, methods);
  if (rng_chance(r, 10)) c->sort = 1;
  c->has_desc = c->replace || c->structural || c->complement || c->transpose_a || c->transpose_b ||
                c->method || c->sort || rng_chance(r, 10);
}

static void draw_accum(uint64_t *r, struct product_case *c, enum type t)
{
  c->has_accum = rng_chance(r, 40);
  c->accum_origin = FROM_LIBRARY;
  c->accum_type = rng_chance(r, 90) ? t : any_type(r);
  snprintf(c->accum, sizeof c->accum, "%s", PICK(r, accums));
  /* x / 0 and x / -0, and the sign of a zero sum depends on its order. */
  if (type_rows[c->accum_type].is_float && !strcmp(c->accum, "DIV")) c->has_accum = false;
  if (c->accum_type == T_FC64) snprintf(c->accum, sizeof c->accum, "PLUS");
  if (c->accum_type == T_FP64 && rng_chance(r, 8)) c->accum_origin = FROM_USER_OP;
  if (c->accum_type == T_USER) c->accum_origin = FROM_USER_TYPE;
}

/* Fractions: sums depend on their order, so only steps through which a small error stays
   small may follow.  */
static void make_inexact(struct product_case *c)
{
  static const char *const tame[] = {"PLUS", "SECOND", "MIN", "MAX", "FIRST", "MINUS", "TIMES"};
  enum type t = c->semiring.type;
  c->exact = false;
  for (int s = 0; s < SLOTS; s++) {
    struct operand *o = &c->operand[s];
    if (o->type < T_USER && s != SLOT_M) o->type = t;
    if (o->values == VALUES_SMALL || o->values == VALUES_SPECIAL) o->values = VALUES_REAL;
  }
  if (c->accum_type != t || !text_in(c->accum, tame, COUNT(tame)) ||
      c->accum_origin != FROM_LIBRARY)
    c->has_accum = false;
}

/* Any value is right of several: operands of one value leave no choice. */
static void make_one_valued(struct product_case *c)
{
  for (int s = SLOT_A; s <= SLOT_B; s++) {
    struct operand *o = &c->operand[c->same_as[s]];
    o->iso = true;
    o->set_after = 0;
  }
}

/* C's old entries and what is added must not change which index it is. */
static void make_any_parent(struct product_case *c)
{
  c->any_parent = true;
  c->has_accum = false;
  c->operand[c->same_as[SLOT_C]].type = c->semiring.type;
}

/* NaN and the identity of MIN or MAX must stay apart from everything else. */
static void make_nan_or_identity(struct product_case *c)
{
  static const char *const tame[] = {"PLUS", "SECOND", "FIRST"};
  enum type t = c->semiring.type;
  c->nan_or_identity = true;
  for (int s = 0; s < SLOTS; s++)
    if (s != SLOT_M && c->operand[s].type < T_USER) c->operand[s].type = t;
  if (c->accum_type != t || !text_in(c->accum, tame, COUNT(tame)) ||
      c->accum_origin != FROM_LIBRARY)
    c->has_accum = false;
}

static bool has_special(const struct product_case *c)
{
  for (int s = 0; s < SLOTS; s++)
    if (s != SLOT_M && c->operand[s].values == VALUES_SPECIAL) return true;
  return false;
}

static void draw_wrong(uint64_t *r, struct product_case *c)
{
  c->wrong = rng_chance(r, 3) ? (enum wrong)(1 + rng_below(r, SIZE_B)) : RIGHT;
  if (c->wrong == EMPTY_M || c->wrong == SIZE_M) c->has_mask = true;
  if (c->wrong == EMPTY_ACCUM) c->has_accum = true;
  if (c->wrong == EMPTY_DESC) c->has_desc = true;
  if (c->wrong < SIZE_C) return;
  int s = c->wrong - SIZE_C;
  struct operand *o = &c->operand[s];
  c->same_as[s] = s;
  int64_t *size = o->vector || rng_chance(r, 50) ? &o->rows : &o->cols;
  *size += 1 + rng_below(r, 3);
}

void case_make(struct product_case *c, uint64_t seed, long index, bool large)
{
  static const enum call calls[] = {CALL_MXM, CALL_MXM, CALL_MXM, CALL_MXM, CALL_MXV, CALL_VXM};
  uint64_t state = seed, *r = &state;
  state = rng_next(r) + (uint64_t)index;
  rng_next(r);
  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->index = index;
  c->call = PICK(r, calls);
  draw_semiring(r, &c->semiring, large);
  c->frontier = !large && c->call == CALL_MXM && rng_chance(r, 10);
  if (c->frontier) draw_step(r, &c->semiring);
  draw_operands(r, c, large);
  draw_descriptor(r, c);
  draw_accum(r, c, c->semiring.type);
  enum type t = c->semiring.type;
  bool sum = !strcmp(c->semiring.add, "PLUS") || !strcmp(c->semiring.add, "TIMES");
  bool divides = strstr(c->semiring.multiply, "DIV") != NULL;
  c->exact = true;
  if ((t == T_FP32 || t == T_FP64) && sum &&
      (divides || !strcmp(c->semiring.add, "TIMES") || rng_chance(r, 35)))
    make_inexact(c);
  if ((t == T_FP32 || t == T_FP64) && !sum && has_special(c)) make_nan_or_identity(c);
  if (gives_parents(&c->semiring) && !strcmp(c->semiring.add, "ANY")) make_any_parent(c);
  if (!large && !c->any_parent && rng_chance(r, 1)) make_huge(c);
  if (!c->frontier && !strcmp(c->semiring.add, "ANY")) make_one_valued(c);
  draw_wrong(r, c);
  if (rng_chance(r, 5)) c->stale_error = true;
  if (rng_chance(r, 5)) c->threads = 1 + (int)rng_below(r, 3);
}

/* ---- description ----------------------------------------------------------------------- */

struct text {
  char *at;
  size_t left;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *t, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf(t->at, t->left, format, ap);
  va_end(ap);
  if (n < 0 || (size_t)n >= t->left) n = t->left ? (int)t->left - 1 : 0;
  t->at += n;
  t->left -= (size_t)n;
}

static const char *form_name(int form)
{
  return form == FORM_HYPER    ? "hyper"
         : form == FORM_SPARSE ? "sparse"
         : form == FORM_BITMAP ? "bitmap"
         : form == FORM_FULL   ? "full"
                               : "auto";
}

static void put_operand(struct text *t, const struct product_case *c, int s)
{
  static const char *const names[] = {"C", "M", "A", "B"};
  static const char *const values[] = {"small", "real", "special", "big", "zeros"};
  const struct operand *o = &c->operand[s];
  put(t, " %s", names[s]);
  if (c->same_as[s] != s) {
    put(t, "==%s", names[c->same_as[s]]);
    return;
  }
  put(t, "[%ldx%ld %s %s%s %.2f %s", (long)o->rows, (long)o->cols, type_rows[o->type].name,
      form_name(o->form),
      o->vector   ? ""
      : o->by_col ? "C"
                  : "R",
      o->density, values[o->values]);
  if (o->iso) put(t, " iso");
  if (o->jumbled) put(t, " jumbled");
  if (o->set_after) put(t, " +%d", o->set_after);
  if (o->remove_after) put(t, " -%d", o->remove_after);
  if (o->control) put(t, " control %d", o->control);
  if (o->bitmap_switch >= 0) put(t, " bitmap_switch %g", o->bitmap_switch);
  if (o->hyper_switch >= 0) put(t, " hyper_switch %g", o->hyper_switch);
  put(t, "]");
}

void case_print(const struct product_case *c, char *line, size_t size)
{
  static const char *const calls[] = {"mxm", "mxv", "vxm"};
  static const char *const origins[] = {"",         " of-ops",      " of-plus-7",
                                        " user-op", " user-monoid", " user-type"};
  static const char *const wrongs[] = {"",          "no-C",      "no-semiring", "no-A",
                                       "no-B",      "empty-C",   "empty-M",     "empty-semiring",
                                       "empty-A",   "empty-B",   "empty-accum", "empty-desc",
                                       "size-of-C", "size-of-M", "size-of-A",   "size-of-B"};
  struct text t = {line, size};
  put(&t, "%s %s_%s_%s%s", calls[c->call], c->semiring.add, c->semiring.multiply,
      type_rows[c->semiring.type].name, origins[c->semiring.origin]);
  for (int s = 0; s < SLOTS; s++)
    if (s != SLOT_M || c->has_mask) put_operand(&t, c, s);
  if (c->has_accum)
    put(&t, " accum %s_%s%s", c->accum, type_rows[c->accum_type].name, origins[c->accum_origin]);
  if (c->has_desc)
    put(&t, " desc%s%s%s%s%s", c->replace ? " replace" : "", c->structural ? " structure" : "",
        c->complement ? " comp" : "", c->transpose_a ? " T0" : "", c->transpose_b ? " T1" : "");
  if (c->method) put(&t, " method %d", c->method);
  if (c->sort) put(&t, " sort");
  if (c->threads) put(&t, " threads %d", c->threads);
  if (c->wrong) put(&t, " wrong: %s", wrongs[c->wrong]);
  if (c->stale_error) put(&t, " stale error");
  if (!c->exact) put(&t, " inexact");
  if (c->nan_or_identity) put(&t, " NaN-or-identity");
  if (c->any_parent) put(&t, " any-parent");
}

/* ---- what must be taken ------------------------------------------------------------------ */

bool case_eligible(const struct product_case *c, const int status[SLOTS])
{
  const struct operand *o = c->operand;
  enum type t = c->semiring.type;
  bool type_listed = false;
  for (int64_t i = 0; i < COUNT(listed_types); i++) type_listed |= listed_types[i] == t;
  if (c->wrong || !type_listed || !is_listed(&c->semiring)) return false;
  if (c->semiring.origin != FROM_LIBRARY && c->semiring.origin != FROM_LIBRARY_OPS) return false;
  for (int s = 0; s < SLOTS; s++) {
    const struct operand *x = &o[c->same_as[s]];
    if (s == SLOT_M ? c->has_mask && x->type >= T_FC64 : x->type != t) return false;
    if (x->rows == 0 || x->cols == 0 || x->sparse_rows) return false;
  }
  if (c->has_accum && (c->accum_origin != FROM_LIBRARY || c->accum_type != t)) return false;
  bool sparse_a = status[SLOT_A] <= FORM_SPARSE, sparse_b = status[SLOT_B] <= FORM_SPARSE;
  if (c->call != CALL_MXM) return sparse_a && status[SLOT_B] == FORM_FULL;
  if (sparse_a && !sparse_b) return true;
  if (status[SLOT_A] == FORM_FULL && sparse_b) return true;
  if (sparse_a && sparse_b) return c->has_mask && !c->complement && status[SLOT_M] <= FORM_SPARSE;
  return c->has_mask && !c->complement && status[SLOT_M] <= FORM_SPARSE &&
         status[SLOT_A] == FORM_FULL && status[SLOT_B] == FORM_FULL;
}
