#include "types.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* One set of functions with one signature per type. */
#define FUNCTIONS(prefix, NAME, ctype)                                                             \
  static GrB_Info build_##NAME(GrB_Matrix a, const GrB_Index *i, const GrB_Index *j,               \
                               const void *x, GrB_Index n)                                         \
  {                                                                                                \
    return prefix##_Matrix_build_##NAME(a, i, j, x, n, prefix##_SECOND_##NAME);                    \
  }                                                                                                \
  static GrB_Info build_vector_##NAME(GrB_Vector v, const GrB_Index *i, const void *x,             \
                                      GrB_Index n)                                                 \
  {                                                                                                \
    return prefix##_Vector_build_##NAME(v, i, x, n, prefix##_SECOND_##NAME);                       \
  }                                                                                                \
  static GrB_Info set_##NAME(GrB_Matrix a, const void *x, GrB_Index i, GrB_Index j)                \
  {                                                                                                \
    ctype value;                                                                                   \
    memcpy(&value, x, sizeof value);                                                               \
    return prefix##_Matrix_setElement_##NAME(a, value, i, j);                                      \
  }                                                                                                \
  static GrB_Info set_vector_##NAME(GrB_Vector v, const void *x, GrB_Index i)                      \
  {                                                                                                \
    ctype value;                                                                                   \
    memcpy(&value, x, sizeof value);                                                               \
    return prefix##_Vector_setElement_##NAME(v, value, i);                                         \
  }                                                                                                \
  static GrB_Info set_scalar_##NAME(GrB_Scalar s, const void *x)                                   \
  {                                                                                                \
    ctype value;                                                                                   \
    memcpy(&value, x, sizeof value);                                                               \
    return prefix##_Scalar_setElement_##NAME(s, value);                                            \
  }                                                                                                \
  static GrB_Info extract_##NAME(GrB_Index *i, GrB_Index *j, void *x, GrB_Index *n, GrB_Matrix a)  \
  {                                                                                                \
    return prefix##_Matrix_extractTuples_##NAME(i, j, x, n, a);                                    \
  }                                                                                                \
  static GrB_Info extract_vector_##NAME(GrB_Index *i, void *x, GrB_Index *n, GrB_Vector v)         \
  {                                                                                                \
    return prefix##_Vector_extractTuples_##NAME(i, x, n, v);                                       \
  }

FUNCTIONS(GrB, BOOL, bool)
FUNCTIONS(GrB, INT8, int8_t)
FUNCTIONS(GrB, INT16, int16_t)
FUNCTIONS(GrB, INT32, int32_t)
FUNCTIONS(GrB, INT64, int64_t)
FUNCTIONS(GrB, UINT8, uint8_t)
FUNCTIONS(GrB, UINT16, uint16_t)
FUNCTIONS(GrB, UINT32, uint32_t)
FUNCTIONS(GrB, UINT64, uint64_t)
FUNCTIONS(GrB, FP32, float)
FUNCTIONS(GrB, FP64, double)
FUNCTIONS(GxB, FC64, GxB_FC64_t)

static GrB_Type user_type;
static GrB_BinaryOp user_second;

static void second_of(void *z, const void *x, const void *y)
{
  (void)x;
  memcpy(z, y, sizeof(struct user_element));
}

static GrB_Info build_USER(GrB_Matrix a, const GrB_Index *i, const GrB_Index *j, const void *x,
                           GrB_Index n)
{
  return GrB_Matrix_build_UDT(a, i, j, x, n, user_second);
}
static GrB_Info build_vector_USER(GrB_Vector v, const GrB_Index *i, const void *x, GrB_Index n)
{
  return GrB_Vector_build_UDT(v, i, x, n, user_second);
}
static GrB_Info set_USER(GrB_Matrix a, const void *x, GrB_Index i, GrB_Index j)
{
  return GrB_Matrix_setElement_UDT(a, (void *)x, i, j);
}
static GrB_Info set_vector_USER(GrB_Vector v, const void *x, GrB_Index i)
{
  return GrB_Vector_setElement_UDT(v, (void *)x, i);
}
static GrB_Info set_scalar_USER(GrB_Scalar s, const void *x)
{
  return GrB_Scalar_setElement_UDT(s, (void *)x);
}
static GrB_Info extract_USER(GrB_Index *i, GrB_Index *j, void *x, GrB_Index *n, GrB_Matrix a)
{
  return GrB_Matrix_extractTuples_UDT(i, j, x, n, a);
}
static GrB_Info extract_vector_USER(GrB_Index *i, void *x, GrB_Index *n, GrB_Vector v)
{
  return GrB_Vector_extractTuples_UDT(i, x, n, v);
}

#define ROW(NAME, ctype, is_float)                                                                 \
  [T_##NAME] = {                                                                                   \
      #NAME,      sizeof(ctype),     is_float,          build_##NAME,   build_vector_##NAME,       \
      set_##NAME, set_vector_##NAME, set_scalar_##NAME, extract_##NAME, extract_vector_##NAME}

const struct type_row type_rows[TYPES] = {
    ROW(BOOL, bool, false),
    ROW(INT8, int8_t, false),
    ROW(INT16, int16_t, false),
    ROW(INT32, int32_t, false),
    ROW(INT64, int64_t, false),
    ROW(UINT8, uint8_t, false),
    ROW(UINT16, uint16_t, false),
    ROW(UINT32, uint32_t, false),
    ROW(UINT64, uint64_t, false),
    ROW(FP32, float, true),
    ROW(FP64, double, true),
    ROW(FC64, GxB_FC64_t, true),
    ROW(USER, struct user_element, false),
};

void types_start(void)
{
  GrB_Type_new(&user_type, sizeof(struct user_element));
  GrB_BinaryOp_new(&user_second, second_of, user_type, user_type, user_type);
}

void types_finish(void)
{
  GrB_BinaryOp_free(&user_second);
  GrB_Type_free(&user_type);
}

GrB_Type type_handle(enum type t)
{
  switch (t) {
  case T_BOOL: return GrB_BOOL;
  case T_INT8: return GrB_INT8;
  case T_INT16: return GrB_INT16;
  case T_INT32: return GrB_INT32;
  case T_INT64: return GrB_INT64;
  case T_UINT8: return GrB_UINT8;
  case T_UINT16: return GrB_UINT16;
  case T_UINT32: return GrB_UINT32;
  case T_UINT64: return GrB_UINT64;
  case T_FP32: return GrB_FP32;
  case T_FP64: return GrB_FP64;
  case T_FC64: return GxB_FC64;
  default: return user_type;
  }
}

#define STORE_WHOLE(ctype, low, high)                                                              \
  {                                                                                                \
    ctype x = isnan(v) ? 0 : v <= (double)(low) ? (low) : v >= (double)(high) ? (high) : (ctype)v; \
    memcpy(to, &x, sizeof x);                                                                      \
    return;                                                                                        \
  }

void element_store(enum type t, void *to, double v)
{
  switch (t) {
  case T_BOOL: STORE_WHOLE(bool, 0, 1)
  case T_INT8: STORE_WHOLE(int8_t, INT8_MIN, INT8_MAX)
  case T_INT16: STORE_WHOLE(int16_t, INT16_MIN, INT16_MAX)
  case T_INT32: STORE_WHOLE(int32_t, INT32_MIN, INT32_MAX)
  case T_INT64: STORE_WHOLE(int64_t, INT64_MIN, INT64_MAX)
  case T_UINT8: STORE_WHOLE(uint8_t, 0, UINT8_MAX)
  case T_UINT16: STORE_WHOLE(uint16_t, 0, UINT16_MAX)
  case T_UINT32: STORE_WHOLE(uint32_t, 0, UINT32_MAX)
  case T_UINT64: STORE_WHOLE(uint64_t, 0, UINT64_MAX)
  case T_FP32: {
    float x = (float)v;
    memcpy(to, &x, sizeof x);
    return;
  }
  case T_FP64: memcpy(to, &v, sizeof v); return;
  case T_FC64: {
    double x[2] = {v, v / 2};
    memcpy(to, x, sizeof x);
    return;
  }
  default: {
    int32_t whole = isfinite(v) && fabs(v) < 1e9 ? (int32_t)v : 7;
    struct user_element x = {whole, 3};
    memcpy(to, &x, sizeof x);
  }
  }
}

#define LOAD(ctype)                                                                                \
  {                                                                                                \
    ctype x;                                                                                       \
    memcpy(&x, from, sizeof x);                                                                    \
    return (double)x;                                                                              \
  }

double element_load(enum type t, const void *from)
{
  switch (t) {
  case T_BOOL: LOAD(bool)
  case T_INT8: LOAD(int8_t)
  case T_INT16: LOAD(int16_t)
  case T_INT32: LOAD(int32_t)
  case T_INT64: LOAD(int64_t)
  case T_UINT8: LOAD(uint8_t)
  case T_UINT16: LOAD(uint16_t)
  case T_UINT32: LOAD(uint32_t)
  case T_UINT64: LOAD(uint64_t)
  case T_FP32: LOAD(float)
  case T_FP64:
  case T_FC64: LOAD(double)
  default: LOAD(int32_t)
  }
}

static bool same(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

bool element_equal(enum type t, const void *a, const void *b)
{
  if (memcmp(a, b, type_rows[t].size) == 0) return true;
  if (t == T_BOOL)
    return !*(const char *)a == !*(const char *)b; /* some bytes are neither 0 nor 1 */
  if (t == T_FP32 || t == T_FP64) return same(element_load(t, a), element_load(t, b));
  if (t == T_FC64)
    return same(element_load(T_FP64, a), element_load(T_FP64, b)) &&
           same(element_load(T_FP64, (const char *)a + 8),
                element_load(T_FP64, (const char *)b + 8));
  return false;
}
