#include "backend/graphblas/semiring.h"

static bool find_monoid(const GrB_BinaryOp op[GRB_OPERATOR_COUNT], GrB_BinaryOp add,
                        enum shunt_monoid *out)
{
  if (add == op[GRB_PLUS])
    *out = SHUNT_PLUS;
  else if (add == op[GRB_MIN])
    *out = SHUNT_MIN;
  else if (add == op[GRB_MAX])
    *out = SHUNT_MAX;
  else
    return false;
  return true;
}

static bool find_multiplier(const GrB_BinaryOp op[GRB_OPERATOR_COUNT], GrB_BinaryOp multiply,
                            enum shunt_multiplier *out)
{
  if (multiply == op[GRB_TIMES])
    *out = SHUNT_TIMES;
  else if (multiply == op[GRB_SECOND])
    *out = SHUNT_SECOND;
  else if (multiply == op[GRB_FIRST])
    *out = SHUNT_FIRST;
  else if (multiply == op[GRB_ONEB])
    *out = SHUNT_PAIR;
  else if (multiply == op[GRB_PLUS])
    *out = SHUNT_ADD;
  else
    return false;
  return true;
}

bool grb_semiring_read(const struct grb_library *l, GrB_Semiring handle, struct grb_semiring *out)
{
  GrB_Monoid monoid;
  GrB_BinaryOp multiply;
  if (l->GxB_Semiring_multiply(&multiply, handle) != GRB_SUCCESS ||
      l->GxB_Semiring_add(&monoid, handle) != GRB_SUCCESS ||
      l->GxB_Monoid_operator(&out->add, monoid) != GRB_SUCCESS)
    return false;
  if (out->add == l->any) {
    out->number = GRB_BOOL;
    out->monoid = SHUNT_ANY;
    return find_multiplier(l->op[GRB_BOOL], multiply, &out->multiplier);
  }
  for (int n = 0; n < GRB_BOOL; n++) {
    if (!find_monoid(l->op[n], out->add, &out->monoid)) continue;
    out->number = (enum grb_number)n;
    /* Computed as INT32: sums wrap alike, the least and the greatest are others. */
    if (n == GRB_UINT32 && out->monoid != SHUNT_PLUS) return false;
    return find_multiplier(l->op[n], multiply, &out->multiplier);
  }
  return false;
}

bool grb_type_is_built_in(const struct grb_library *l, GrB_Type type)
{
  for (int i = 0; i < GRB_NUMBER_COUNT; i++)
    if (type == l->type[i]) return true;
  for (int i = 0; i < GRB_OTHER_TYPE_COUNT; i++)
    if (type == l->other_type[i]) return true;
  return false;
}

enum shunt_multiplier grb_exchanged(enum shunt_multiplier m)
{
  return m == SHUNT_FIRST ? SHUNT_SECOND : m == SHUNT_SECOND ? SHUNT_FIRST : m;
}

struct shunt_semiring grb_semiring_of_kernels(const struct grb_semiring *s)
{
  static const shunt_type type[GRB_NUMBER_COUNT] = {SHUNT_F32, SHUNT_F64, SHUNT_I32, SHUNT_I64,
                                                    SHUNT_U64, SHUNT_I32, SHUNT_I8};
  return (struct shunt_semiring){s->monoid, s->multiplier, type[s->number]};
}

size_t grb_number_size(enum grb_number n)
{
  if (n == GRB_BOOL) return 1;
  return n == GRB_FP32 || n == GRB_INT32 || n == GRB_UINT32 ? 4 : 8;
}

const char *grb_monoid_text(enum shunt_monoid m)
{
  static const char *const text[] = {"plus", "min", "max", "any"};
  return text[m];
}

const char *grb_multiplier_text(enum shunt_multiplier m)
{
  static const char *const text[] = {"times", "first", "second", "pair", "plus"};
  return text[m];
}

const char *grb_number_text(enum grb_number n)
{
  static const char *const text[GRB_NUMBER_COUNT] = {"fp32",   "fp64",   "int32", "int64",
                                                     "uint64", "uint32", "bool"};
  return text[n];
}
