/* spoil.c: the ways to make a result wrong (spoil.h). */
#include "spoil.h"

const char *const spoil_names[] = {"nothing",       "a value",     "a value by a thousandth",
                                   "entry lost",    "entry added", "return code",
                                   "error string",  "orientation", "sparsity control",
                                   "bitmap switch", "an input"};

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

bool spoil(enum spoil kind, const struct product_case *c, struct side *s)
{
  const struct operand *o = &c->operand[SLOT_C];
  union object x = s->object[SLOT_C];
  int value;
  switch (kind) {
  case SPOIL_VALUE: return spoil_value(o, x, false);
  case SPOIL_VALUE_SLIGHTLY: return spoil_value(o, x, true);
  case SPOIL_DROP: return spoil_pattern(o, x, true);
  case SPOIL_ENTRY: return spoil_pattern(o, x, false);
  case SPOIL_CODE: s->info = s->info ? GrB_SUCCESS : GrB_NO_VALUE; return true;
  case SPOIL_ERROR: s->error[0] ^= 1; return true;
  case SPOIL_ORIENTATION:
    if (o->vector || GxB_Matrix_Option_get(x.matrix, GxB_FORMAT, &value)) return false;
    return !GxB_Matrix_Option_set(x.matrix, GxB_FORMAT,
                                  value == GxB_BY_ROW ? GxB_BY_COL : GxB_BY_ROW);
  case SPOIL_CONTROL:
    if (o->vector || GxB_Matrix_Option_get(x.matrix, GxB_SPARSITY_CONTROL, &value)) return false;
    return !GxB_Matrix_Option_set(x.matrix, GxB_SPARSITY_CONTROL, value == 15 ? 7 : 15);
  case SPOIL_SWITCH:
    return !o->vector && !GxB_Matrix_Option_set(x.matrix, GxB_BITMAP_SWITCH, 0.123);
  case SPOIL_INPUT: return spoil_value(&c->operand[c->same_as[SLOT_A]], s->object[SLOT_A], false);
  default: return false;
  }
}
