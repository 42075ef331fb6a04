/* types.h: the element types of the tests, one row each, with GraphBLAS' functions for them.

   USER is a struct of two integers that GraphBLAS knows nothing about.  */
#ifndef TEST_TYPES_H
#define TEST_TYPES_H

#include <GraphBLAS.h>
#include <stdbool.h>
#include <stdint.h>

enum type {
  T_BOOL,
  T_INT8,
  T_INT16,
  T_INT32,
  T_INT64,
  T_UINT8,
  T_UINT16,
  T_UINT32,
  T_UINT64,
  T_FP32,
  T_FP64,
  T_FC64,
  T_USER,
  TYPES
};

#define MAX_ELEMENT 16

struct user_element {
  int32_t a, b;
};

struct type_row {
  const char *name;
  size_t size;
  bool is_float;
  GrB_Info (*build)(GrB_Matrix, const GrB_Index *, const GrB_Index *, const void *, GrB_Index);
  GrB_Info (*build_vector)(GrB_Vector, const GrB_Index *, const void *, GrB_Index);
  GrB_Info (*set)(GrB_Matrix, const void *, GrB_Index, GrB_Index);
  GrB_Info (*set_vector)(GrB_Vector, const void *, GrB_Index);
  GrB_Info (*set_scalar)(GrB_Scalar, const void *);
  GrB_Info (*extract)(GrB_Index *, GrB_Index *, void *, GrB_Index *, GrB_Matrix);
  GrB_Info (*extract_vector)(GrB_Index *, void *, GrB_Index *, GrB_Vector);
};

extern const struct type_row type_rows[TYPES];

/* After GrB_init; types_finish before GrB_finalize. */
void types_start(void);
void types_finish(void);
GrB_Type type_handle(enum type t);

/* Elements at any address: stored from a double (saturating), read back, compared (NaN equals
   NaN, -0 equals 0). */
void element_store(enum type t, void *to, double value);
double element_load(enum type t, const void *from);
bool element_equal(enum type t, const void *a, const void *b);

#endif
