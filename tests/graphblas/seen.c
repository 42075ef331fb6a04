#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"

GrB_Info matrix_settings(GrB_Matrix a, struct seen *s)
{
  GrB_Info info = GxB_Matrix_Option_get(a, GxB_FORMAT, &s->by_col);
  if (!info) info = GxB_Matrix_Option_get(a, GxB_SPARSITY_STATUS, &s->status);
  if (!info) info = GxB_Matrix_Option_get(a, GxB_SPARSITY_CONTROL, &s->control);
  if (!info) info = GxB_Matrix_Option_get(a, GxB_BITMAP_SWITCH, &s->bitmap_switch);
  if (!info) info = GxB_Matrix_Option_get(a, GxB_HYPER_SWITCH, &s->hyper_switch);
  return info;
}

GrB_Info vector_settings(GrB_Vector v, struct seen *s)
{
  GrB_Info info = GxB_Vector_Option_get(v, GxB_FORMAT, &s->by_col);
  if (!info) info = GxB_Vector_Option_get(v, GxB_SPARSITY_STATUS, &s->status);
  if (!info) info = GxB_Vector_Option_get(v, GxB_SPARSITY_CONTROL, &s->control);
  if (!info) info = GxB_Vector_Option_get(v, GxB_BITMAP_SWITCH, &s->bitmap_switch);
  return info;
}

static GrB_Info see_matrix(GrB_Matrix a, struct seen *s)
{
  GrB_Info info = GrB_Matrix_wait(a, GrB_MATERIALIZE);
  if (!info) info = GrB_Matrix_nrows(&s->rows, a);
  if (!info) info = GrB_Matrix_ncols(&s->cols, a);
  if (!info) info = GrB_Matrix_nvals(&s->count, a);
  if (!info) info = GxB_Matrix_type_name(s->type_name, a);
  if (!info) info = GxB_Matrix_iso(&s->iso, a);
  return info ? info : matrix_settings(a, s);
}

static GrB_Info see_vector(GrB_Vector v, struct seen *s)
{
  GrB_Info info = GrB_Vector_wait(v, GrB_MATERIALIZE);
  s->cols = 1;
  if (!info) info = GrB_Vector_size(&s->rows, v);
  if (!info) info = GrB_Vector_nvals(&s->count, v);
  if (!info) info = GxB_Vector_type_name(s->type_name, v);
  if (!info) info = GxB_Vector_iso(&s->iso, v);
  return info ? info : vector_settings(v, s);
}

struct place {
  GrB_Index i, j, at;
};

static int by_place(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  if (p->i != q->i) return p->i < q->i ? -1 : 1;
  return p->j < q->j ? -1 : p->j > q->j;
}

static bool sort_entries(struct seen *s)
{
  size_t size = type_rows[s->type].size;
  struct place *order = malloc((s->count + 1) * sizeof *order);
  char *x = malloc((s->count + 1) * size);
  if (!order || !x) return free(order), free(x), false;
  for (GrB_Index e = 0; e < s->count; e++) order[e] = (struct place){s->i[e], s->j[e], e};
  qsort(order, s->count, sizeof *order, by_place);
  for (GrB_Index e = 0; e < s->count; e++) {
    s->i[e] = order[e].i;
    s->j[e] = order[e].j;
    memcpy(x + e * size, s->x + order[e].at * size, size);
  }
  free(order);
  free(s->x);
  s->x = x;
  return true;
}

bool object_see(bool vector, union object x, enum type type, struct seen *s, char why[200])
{
  memset(s, 0, sizeof *s);
  s->type = type;
  GrB_Info info = vector ? see_vector(x.vector, s) : see_matrix(x.matrix, s);
  if (!info) {
    s->i = malloc((s->count + 1) * sizeof *s->i);
    s->j = calloc(s->count + 1, sizeof *s->j);
    s->x = malloc((s->count + 1) * type_rows[type].size);
    if (!s->i || !s->j || !s->x) info = GrB_OUT_OF_MEMORY;
  }
  if (!info)
    info = vector ? type_rows[type].extract_vector(s->i, s->x, &s->count, x.vector)
                  : type_rows[type].extract(s->i, s->j, s->x, &s->count, x.matrix);
  if (!info && !sort_entries(s)) info = GrB_OUT_OF_MEMORY;
  if (!info) return true;
  snprintf(why, 200, "cannot be read back: %d", (int)info);
  seen_free(s);
  return false;
}

void seen_free(struct seen *s)
{
  free(s->i);
  free(s->j);
  free(s->x);
  s->i = s->j = NULL;
  s->x = NULL;
}

#define SAME(field, format)                                                                        \
  if (a->field != b->field) {                                                                      \
    snprintf(why, 200, #field " " format ", original's " format, a->field, b->field);              \
    return false;                                                                                  \
  }

bool settings_equal(const struct seen *a, const struct seen *b, char why[200])
{
  SAME(by_col, "%d")
  SAME(control, "%d")
  SAME(bitmap_switch, "%g")
  SAME(hyper_switch, "%g")
  return true;
}

bool seen_equal(const struct seen *a, const struct seen *b, near_function near, void *context,
                char why[200])
{
  size_t size = type_rows[a->type].size;
  SAME(rows, "%lu")
  SAME(cols, "%lu")
  SAME(count, "%lu")
  if (strcmp(a->type_name, b->type_name) != 0)
    return snprintf(why, 200, "type %.64s, original's %.64s", a->type_name, b->type_name), false;
  for (GrB_Index e = 0; e < a->count; e++) {
    if (a->i[e] != b->i[e] || a->j[e] != b->j[e]) {
      snprintf(why, 200, "entry at (%lu,%lu), original's at (%lu,%lu)", a->i[e], a->j[e], b->i[e],
               b->j[e]);
      return false;
    }
    if (element_equal(a->type, a->x + e * size, b->x + e * size)) continue;
    if (near && near(context, a, b, e)) continue;
    snprintf(why, 200, "(%lu,%lu) is %.17g, original's %.17g", a->i[e], a->j[e],
             element_load(a->type, a->x + e * size), element_load(a->type, b->x + e * size));
    return false;
  }
  return true;
}
