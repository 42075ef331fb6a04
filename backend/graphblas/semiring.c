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

/* Of BOOL: LOR is the greatest, LAND the least of two and their product. */
static bool read_logical(const struct grb_library *l, GrB_BinaryOp multiply,
                         struct grb_semiring *out)
{
  const GrB_BinaryOp add = out->add;
  if (add != l->any[GRB_BOOL] && add != l->logical[GRB_LOR] && add != l->logical[GRB_LAND])
    return false;
  out->number = GRB_BOOL;
  out->monoid = add == l->any[GRB_BOOL]      ? SHUNT_ANY
                : add == l->logical[GRB_LOR] ? SHUNT_MAX
                                             : SHUNT_MIN;
  out->multiplier = SHUNT_TIMES;
  return multiply == l->logical[GRB_LAND] ||
         (find_multiplier(l->op[GRB_BOOL], multiply, &out->multiplier) &&
          out->multiplier != SHUNT_ADD);
}

bool grb_operator_is_inner(const struct grb_library *l, GrB_BinaryOp multiply,
                           enum grb_number *number)
{
  for (int wide = 0; wide < 2; wide++) {
    *number = wide ? GRB_INT64 : GRB_INT32;
    if (multiply && (multiply == l->inner[wide][0] || multiply == l->inner[wide][1])) return true;
  }
  return false;
}

/* Of the least k, or any. */
static bool read_inner(const struct grb_library *l, GrB_BinaryOp multiply, struct grb_semiring *out)
{
  enum grb_number number;
  out->inner = (out->monoid == SHUNT_MIN || out->monoid == SHUNT_ANY) &&
               grb_operator_is_inner(l, multiply, &number) && number == out->number;
  out->multiplier = SHUNT_PAIR;
  return out->inner;
}

bool grb_semiring_read(const struct grb_library *l, GrB_Semiring handle, struct grb_semiring *out)
{
  GrB_Monoid monoid;
  GrB_BinaryOp multiply;
  if (l->GxB_Semiring_multiply(&multiply, handle) != GRB_SUCCESS ||
      l->GxB_Semiring_add(&monoid, handle) != GRB_SUCCESS ||
      l->GxB_Monoid_operator(&out->add, monoid) != GRB_SUCCESS)
    return false;
  out->inner = false;
  for (int n = 0; n < GRB_BOOL; n++) {
    out->number = (enum grb_number)n;
    out->monoid = SHUNT_ANY;
    if (out->add == l->any[n] || find_monoid(l->op[n], out->add, &out->monoid))
      return find_multiplier(l->op[n], multiply, &out->multiplier) || read_inner(l, multiply, out);
  }
  return read_logical(l, multiply, out);
}

bool grb_semiring_of_sparse(const struct grb_semiring *s)
{
  return s->monoid == SHUNT_ANY || s->number == GRB_BOOL ||
         (s->number == GRB_UINT32 && s->monoid != SHUNT_PLUS);
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
                                                    SHUNT_U64, SHUNT_I32, SHUNT_U8};
  return (struct shunt_semiring){s->monoid, s->multiplier, type[s->number],
                                 s->number == GRB_UINT32};
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
