#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool see_fresh(const struct product_case *c, int slot, struct seen *out)
{
  char why[200];
  union object x;
  const struct operand *o = &c->operand[c->same_as[slot]];
  if (operand_make(o, &x)) return false;
  bool good = object_see(o->vector, x, o->type, out, why);
  object_free(o->vector, &x);
  return good;
}

/* The left operand by rows; flip: its transpose. */
static bool keep_left(struct tolerance *t, const struct seen *s, bool flip)
{
  t->rows = (int64_t)(flip ? s->cols : s->rows);
  t->inner = (int64_t)(flip ? s->rows : s->cols);
  t->offsets = calloc((size_t)t->rows + 2, sizeof *t->offsets);
  t->columns = malloc((s->count + 1) * sizeof *t->columns);
  t->values = malloc((s->count + 1) * sizeof *t->values);
  if (!t->offsets || !t->columns || !t->values) return false;
  const GrB_Index *row = flip ? s->j : s->i, *column = flip ? s->i : s->j;
  int64_t *next = t->offsets + 1;
  for (GrB_Index e = 0; e < s->count; e++) next[row[e] + 1]++;
  for (int64_t i = 0; i < t->rows; i++) next[i + 1] += next[i];
  for (GrB_Index e = 0; e < s->count; e++) {
    int64_t at = next[row[e]]++;
    t->columns[at] = (int64_t)column[e];
    t->values[at] = element_load(s->type, s->x + e * type_rows[s->type].size);
  }
  return true;
}

static bool keep_right(struct tolerance *t, const struct seen *s, bool flip)
{
  size_t places = s->rows * s->cols + 1;
  t->cols = (int64_t)(flip ? s->rows : s->cols);
  t->right = calloc(places, sizeof *t->right);
  t->there = calloc(places, sizeof *t->there);
  if (!t->right || !t->there) return false;
  for (GrB_Index e = 0; e < s->count; e++) {
    GrB_Index at = (flip ? s->j[e] : s->i[e]) * (GrB_Index)t->cols + (flip ? s->i[e] : s->j[e]);
    t->right[at] = element_load(s->type, s->x + e * type_rows[s->type].size);
    t->there[at] = true;
  }
  return true;
}

bool tolerance_start(struct tolerance *t, const struct product_case *c)
{
  struct seen a = {0}, b = {0};
  memset(t, 0, sizeof *t);
  t->c = c;
  if (c->operand[c->same_as[SLOT_C]].sparse_rows) return false; /* 2^40 rows */
  bool good = see_fresh(c, SLOT_A, &a) && see_fresh(c, SLOT_B, &b) && see_fresh(c, SLOT_C, &t->old);
  if (good && c->call == CALL_VXM) /* the vector is the left side's one row */
    good = keep_left(t, &b, true) && keep_right(t, &a, c->transpose_b);
  else if (good)
    good = keep_left(t, &a, c->transpose_a) &&
           keep_right(t, &b, c->call == CALL_MXM && c->transpose_b);
  seen_free(&a);
  seen_free(&b);
  return good;
}

void tolerance_finish(struct tolerance *t)
{
  free(t->offsets);
  free(t->columns);
  free(t->values);
  free(t->right);
  free(t->there);
  seen_free(&t->old);
}

/* The size of multiply(a, b), generously. */
static double term(const char *multiply, double a, double b)
{
  a = fabs(a);
  b = fabs(b);
  if (strcmp(multiply, "TIMES") == 0) return a * b;
  if (strcmp(multiply, "FIRST") == 0) return a;
  if (strcmp(multiply, "SECOND") == 0) return b;
  if (strcmp(multiply, "DIV") == 0) return a / b;
  if (strcmp(multiply, "RDIV") == 0) return b / a;
  return fmax(a + b, 1);
}

/* false: C had no entry there. */
static bool old_value(const struct tolerance *t, GrB_Index i, GrB_Index j, double *value)
{
  const struct seen *s = &t->old;
  for (GrB_Index low = 0, high = s->count; low < high;) {
    GrB_Index middle = low + (high - low) / 2;
    if (s->i[middle] == i && s->j[middle] == j) {
      *value = fabs(element_load(s->type, s->x + middle * type_rows[s->type].size));
      return true;
    }
    if (s->i[middle] < i || (s->i[middle] == i && s->j[middle] < j))
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

struct terms {
  double count, sum; /* of their sizes */
  bool all_nan;
};

static struct terms add_up(const struct tolerance *t, int64_t i, int64_t j)
{
  const char *multiply = t->c->semiring.multiply;
  struct terms terms = {0, 0, true};
  for (int64_t p = t->offsets[i]; p < t->offsets[i + 1]; p++) {
    int64_t place = t->columns[p] * t->cols + j;
    if (!t->there[place]) continue;
    double a = t->values[p], b = t->right[place];
    terms.sum += term(multiply, a, b);
    terms.count++;
    if (strcmp(multiply, "PLUS") == 0) /* Inf - Inf */
      terms.all_nan &= isnan(a + b);
    else
      terms.all_nan &= isnan(term(multiply, a, b));
  }
  return terms;
}

/* Is there a term of this inner index? */
static bool is_parent(const struct tolerance *t, int64_t i, int64_t j, double inner)
{
  for (int64_t p = t->offsets[i]; p < t->offsets[i + 1]; p++)
    if ((double)t->columns[p] == inner) return t->there[t->columns[p] * t->cols + j];
  return false;
}

bool tolerance_near(void *context, const struct seen *a, const struct seen *b, GrB_Index at)
{
  const struct tolerance *t = context;
  size_t size = type_rows[a->type].size;
  double x = element_load(a->type, a->x + at * size), y = element_load(b->type, b->x + at * size);
  int64_t i = (int64_t)a->i[at], j = (int64_t)a->j[at];
  bool across = t->c->call == CALL_VXM;
  if (t->c->any_parent) return is_parent(t, i, j, x) && is_parent(t, i, j, y);
  struct terms terms = add_up(t, across ? 0 : i, across ? i : j);
  if (t->c->exact) return terms.all_nan && (isnan(x) || isnan(y));
  double eps = t->c->semiring.type == T_FP32 ? 0x1p-24 : 0x1p-53, old = 0;
  bool was_there = old_value(t, a->i[at], a->j[at], &old);
  double size_of_all = fabs(x) + fabs(y) + old;
  if (strcmp(t->c->semiring.add, "TIMES") == 0) terms.sum = size_of_all;
  double bound = 2 * eps * (terms.count + 2) * terms.sum;
  if (was_there && t->c->has_accum && strcmp(t->c->accum, "TIMES") == 0) bound *= old;
  return fabs(x - y) <= bound + 4 * eps * size_of_all;
}
