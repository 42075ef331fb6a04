#include "operand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

struct entries {
  GrB_Index *i, *j, count, room;
  char *x;
};

static bool add_entry(struct entries *e, size_t size, GrB_Index i, GrB_Index j)
{
  if (e->count == e->room) {
    e->room = e->room ? 2 * e->room : 64;
    e->i = realloc(e->i, e->room * sizeof *e->i);
    e->j = realloc(e->j, e->room * sizeof *e->j);
    e->x = realloc(e->x, e->room * size);
    if (!e->i || !e->j || !e->x) return false;
  }
  e->i[e->count] = i;
  e->j[e->count++] = j;
  return true;
}

static void free_entries(struct entries *e)
{
  free(e->i);
  free(e->j);
  free(e->x);
}

static double draw_value(const struct operand *o, uint64_t *state)
{
  double whole = (double)(rng_below(state, 9) - 4);
  switch (o->values) {
  case VALUES_REAL: return 2 * rng_unit(state) - 1;
  case VALUES_BIG: return ldexp(whole, (int)(8 * type_rows[o->type].size - 4)) + whole;
  case VALUES_ZEROS: return rng_chance(state, 50) ? 0 : whole;
  case VALUES_SPECIAL:
    switch (rng_below(state, 12)) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return -0.0;
    default: return whole;
    }
  default: return whole;
  }
}

/* Places by geometric gaps, so the work is that of the entries alone. */
static bool draw_entries(const struct operand *o, uint64_t *state, struct entries *e)
{
  size_t size = type_rows[o->type].size;
  int64_t rows = o->sparse_rows ? o->sparse_rows : o->rows, total = rows * o->cols;
  double log_gap = o->density < 1 ? log1p(-o->density) : 0;
  for (int64_t at = -1;;) {
    double gap = o->density < 1 ? floor(log(1 - rng_unit(state)) / log_gap) : 0;
    if (o->density <= 0 || gap > (double)total) return true;
    at += 1 + (int64_t)gap;
    if (at >= total) return true;
    int64_t i = at / o->cols, j = at % o->cols;
    if (o->skip_rows && i % o->skip_rows == 1) continue;
    if (o->skip_cols && j % o->skip_cols == 1) continue;
    if (!add_entry(e, size, (GrB_Index)i, (GrB_Index)j)) return false;
    element_store(o->type, e->x + (e->count - 1) * size, draw_value(o, state));
  }
}

static GrB_Info fill_iso(const struct operand *o, union object *out, const struct entries *e,
                         const void *value)
{
  GrB_Scalar s = NULL;
  GrB_Info info = GrB_Scalar_new(&s, type_handle(o->type));
  if (!info) info = type_rows[o->type].set_scalar(s, value);
  if (!info && o->vector) info = GxB_Vector_build_Scalar(out->vector, e->i, s, e->count);
  if (!info && !o->vector) info = GxB_Matrix_build_Scalar(out->matrix, e->i, e->j, s, e->count);
  GrB_Scalar_free(&s);
  return info;
}

static GrB_Info fill(const struct operand *o, uint64_t *state, union object *out)
{
  const struct type_row *t = &type_rows[o->type];
  struct entries e = {0};
  GrB_Info info = GrB_OUT_OF_MEMORY;
  if (draw_entries(o, state, &e)) {
    char value[MAX_ELEMENT];
    element_store(o->type, value, draw_value(o, state));
    if (e.count == 0)
      info = GrB_SUCCESS;
    else if (o->iso)
      info = fill_iso(o, out, &e, value);
    else if (o->vector)
      info = t->build_vector(out->vector, e.i, e.x, e.count);
    else
      info = t->build(out->matrix, e.i, e.j, e.x, e.count);
  }
  free_entries(&e);
  return info;
}

/* X = X * I by a saxpy method, which is free to leave X's rows unsorted. */
static GrB_Info jumble(const struct operand *o, GrB_Matrix x)
{
  struct operand identity = {
      .type = o->type, .rows = o->cols, .cols = o->cols, .form = FORM_SPARSE};
  union object unit;
  char one[MAX_ELEMENT];
  element_store(o->type, one, 1);
  GrB_Descriptor desc = NULL;
  GrB_Info info = operand_make(&identity, &unit);
  for (int64_t i = 0; !info && i < o->cols; i++)
    info = type_rows[o->type].set(unit.matrix, one, (GrB_Index)i, (GrB_Index)i);
  GrB_Semiring first = o->type == T_FP64   ? GxB_ANY_FIRST_FP64
                       : o->type == T_FP32 ? GxB_ANY_FIRST_FP32
                                           : GxB_ANY_FIRST_INT64;
  if (!info) info = GrB_Descriptor_new(&desc);
  if (!info) info = GxB_Desc_set(desc, GxB_AxB_METHOD, GxB_AxB_HASH);
  if (!info) info = GrB_mxm(x, NULL, NULL, first, x, unit.matrix, desc);
  GrB_Descriptor_free(&desc);
  object_free(false, &unit);
  return info;
}

/* X gets the entries of X' that it lacks. */
static GrB_Info make_symmetric(const struct operand *o, GrB_Matrix x)
{
  GrB_BinaryOp first = o->type == T_FP64    ? GrB_FIRST_FP64
                       : o->type == T_FP32  ? GrB_FIRST_FP32
                       : o->type == T_INT64 ? GrB_FIRST_INT64
                       : o->type == T_INT32 ? GrB_FIRST_INT32
                                            : NULL;
  GrB_Matrix turned = NULL;
  if (!first) return GrB_SUCCESS;
  GrB_Info info = GrB_Matrix_dup(&turned, x);
  if (!info) info = GrB_transpose(x, NULL, first, turned, NULL);
  GrB_Matrix_free(&turned);
  return info;
}

static GrB_Info edit_after(const struct operand *o, uint64_t *state, union object *out)
{
  GrB_Info info = GrB_SUCCESS;
  int64_t rows = o->sparse_rows ? o->sparse_rows : o->rows;
  if (rows == 0 || o->cols == 0) return info;
  for (int n = 0; !info && n < o->set_after + o->remove_after; n++) {
    GrB_Index i = (GrB_Index)rng_below(state, rows), j = (GrB_Index)rng_below(state, o->cols);
    char value[MAX_ELEMENT];
    element_store(o->type, value, draw_value(o, state));
    if (n >= o->set_after)
      info = o->vector ? GrB_Vector_removeElement(out->vector, i)
                       : GrB_Matrix_removeElement(out->matrix, i, j);
    else
      info = o->vector ? type_rows[o->type].set_vector(out->vector, value, i)
                       : type_rows[o->type].set(out->matrix, value, i, j);
  }
  return info;
}

static GrB_Info make_vector(const struct operand *o, uint64_t *state, union object *out)
{
  GrB_Info info = GrB_Vector_new(&out->vector, type_handle(o->type), (GrB_Index)o->rows);
  if (!info) info = GxB_Vector_Option_set(out->vector, GxB_SPARSITY_CONTROL, o->form);
  if (!info) info = fill(o, state, out);
  if (!info && o->control)
    info = GxB_Vector_Option_set(out->vector, GxB_SPARSITY_CONTROL, o->control);
  if (!info && o->bitmap_switch >= 0)
    info = GxB_Vector_Option_set(out->vector, GxB_BITMAP_SWITCH, o->bitmap_switch);
  return info;
}

static GrB_Info make_matrix(const struct operand *o, uint64_t *state, union object *out)
{
  GrB_Info info =
      GrB_Matrix_new(&out->matrix, type_handle(o->type), (GrB_Index)o->rows, (GrB_Index)o->cols);
  int format = o->by_col ? GxB_BY_COL : GxB_BY_ROW;
  if (!info) info = GxB_Matrix_Option_set(out->matrix, GxB_FORMAT, format);
  if (!info) info = GxB_Matrix_Option_set(out->matrix, GxB_SPARSITY_CONTROL, o->form);
  if (!info) info = fill(o, state, out);
  if (!info && o->symmetric && o->rows == o->cols) info = make_symmetric(o, out->matrix);
  if (!info && o->jumbled) info = jumble(o, out->matrix);
  if (!info && o->control)
    info = GxB_Matrix_Option_set(out->matrix, GxB_SPARSITY_CONTROL, o->control);
  if (!info && o->bitmap_switch >= 0)
    info = GxB_Matrix_Option_set(out->matrix, GxB_BITMAP_SWITCH, o->bitmap_switch);
  if (!info && o->hyper_switch >= 0)
    info = GxB_Matrix_Option_set(out->matrix, GxB_HYPER_SWITCH, o->hyper_switch);
  return info;
}

GrB_Info operand_make(const struct operand *o, union object *out)
{
  uint64_t state = o->seed;
  out->matrix = NULL;
  GrB_Info info = o->vector ? make_vector(o, &state, out) : make_matrix(o, &state, out);
  if (!info) info = edit_after(o, &state, out);
  if (info) object_free(o->vector, out);
  return info;
}

void object_free(bool vector, union object *x)
{
  if (vector)
    GrB_Vector_free(&x->vector);
  else
    GrB_Matrix_free(&x->matrix);
}
