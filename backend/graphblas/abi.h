/* abi.h: as much of GraphBLAS' binary interface as Shunt uses, for every version from
   7.4 on.  GraphBLAS.h is not included: it belongs to one version, and a direct
   reference to any of its symbols would stop programs without GraphBLAS from starting.

   Numbers that all versions share are constants here; the others are in struct
   grb_numbers, one per major version.  */
#ifndef SHUNT_GRAPHBLAS_ABI_H
#define SHUNT_GRAPHBLAS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct GB_Matrix_opaque *GrB_Matrix;
typedef struct GB_Vector_opaque *GrB_Vector;
typedef struct GB_Type_opaque *GrB_Type;
typedef struct GB_UnaryOp_opaque *GrB_UnaryOp;
typedef struct GB_BinaryOp_opaque *GrB_BinaryOp;
typedef struct GB_Monoid_opaque *GrB_Monoid;
typedef struct GB_Semiring_opaque *GrB_Semiring;
typedef struct GB_Descriptor_opaque *GrB_Descriptor;
typedef struct GB_Context_opaque *GxB_Context;

enum { GRB_SUCCESS = 0, GRB_INVALID_VALUE = -3, GRB_PANIC = -101 }; /* of GrB_Info */
enum { GRB_OUTP = 0, GRB_MASK = 1, GRB_INP0 = 2, GRB_INP1 = 3 };    /* fields of a descriptor */
enum { GRB_REPLACE = 1, GRB_COMP = 2, GRB_TRAN = 3, GRB_STRUCTURE = 4 }; /* their values */
enum { GRB_HYPERSPARSE = 1, GRB_SPARSE = 2, GRB_BITMAP = 4, GRB_FULL = 8 };
enum { GRB_BY_ROW = 0, GRB_BY_COL = 1 };
enum { GRB_MATERIALIZE = 1 };

/* Option numbers, different before and from version 8. */
struct grb_numbers {
  int hyper_switch, bitmap_switch, format, sparsity_status, sparsity_control, nthreads, burble;
};

/* The functions that are called, all of the library that the matrices belong to.  The
   arguments are GraphBLAS' own; sizes are in bytes.  */
#define GRB_FUNCTIONS(X)                                                                           \
  X(GrB_Matrix_new, (GrB_Matrix *, GrB_Type, uint64_t, uint64_t))                                  \
  X(GrB_Matrix_free, (GrB_Matrix *))                                                               \
  X(GrB_Matrix_nrows, (uint64_t *, GrB_Matrix))                                                    \
  X(GrB_Matrix_ncols, (uint64_t *, GrB_Matrix))                                                    \
  X(GrB_Matrix_nvals, (uint64_t *, GrB_Matrix))                                                    \
  X(GrB_Matrix_wait, (GrB_Matrix, int))                                                            \
  X(GrB_Matrix_setElement_FP32, (GrB_Matrix, float, uint64_t, uint64_t))                           \
  X(GrB_Matrix_apply,                                                                              \
    (GrB_Matrix, GrB_Matrix, GrB_BinaryOp, GrB_UnaryOp, GrB_Matrix, GrB_Descriptor))               \
  X(GxB_Matrix_type, (GrB_Type *, GrB_Matrix))                                                     \
  X(GxB_Matrix_iso, (bool *, GrB_Matrix))                                                          \
  X(GxB_Matrix_Option_get_INT32, (GrB_Matrix, int, int32_t *))                                     \
  X(GxB_Matrix_Option_set_INT32, (GrB_Matrix, int, int32_t))                                       \
  X(GxB_Matrix_Option_get_FP64, (GrB_Matrix, int, double *))                                       \
  X(GxB_Matrix_Option_set_FP64, (GrB_Matrix, int, double))                                         \
  X(GxB_Matrix_Iterator_attach, (void *, GrB_Matrix, GrB_Descriptor))                              \
  X(GxB_Matrix_pack_FullR, (GrB_Matrix, void **, uint64_t, bool, GrB_Descriptor))                  \
  X(GxB_Matrix_pack_FullC, (GrB_Matrix, void **, uint64_t, bool, GrB_Descriptor))                  \
  X(GxB_Matrix_pack_BitmapR,                                                                       \
    (GrB_Matrix, int8_t **, void **, uint64_t, uint64_t, bool, uint64_t, GrB_Descriptor))          \
  X(GxB_Matrix_pack_BitmapC,                                                                       \
    (GrB_Matrix, int8_t **, void **, uint64_t, uint64_t, bool, uint64_t, GrB_Descriptor))          \
  X(GxB_Matrix_pack_CSR, (GrB_Matrix, uint64_t **, uint64_t **, void **, uint64_t, uint64_t,       \
                          uint64_t, bool, bool, GrB_Descriptor))                                   \
  X(GxB_Matrix_pack_CSC, (GrB_Matrix, uint64_t **, uint64_t **, void **, uint64_t, uint64_t,       \
                          uint64_t, bool, bool, GrB_Descriptor))                                   \
  X(GxB_Matrix_pack_HyperCSR,                                                                      \
    (GrB_Matrix, uint64_t **, uint64_t **, uint64_t **, void **, uint64_t, uint64_t, uint64_t,     \
     uint64_t, bool, uint64_t, bool, GrB_Descriptor))                                              \
  X(GxB_Matrix_pack_HyperCSC,                                                                      \
    (GrB_Matrix, uint64_t **, uint64_t **, uint64_t **, void **, uint64_t, uint64_t, uint64_t,     \
     uint64_t, bool, uint64_t, bool, GrB_Descriptor))                                              \
  X(GxB_Semiring_add, (GrB_Monoid *, GrB_Semiring))                                                \
  X(GxB_Semiring_multiply, (GrB_BinaryOp *, GrB_Semiring))                                         \
  X(GxB_Monoid_operator, (GrB_BinaryOp *, GrB_Monoid))                                             \
  X(GxB_Desc_get_INT32, (GrB_Descriptor, int, int32_t *))                                          \
  X(GxB_Global_Option_get_INT32, (int, int32_t *))

/* Missing in some versions: NULL then. */
#define GRB_OPTIONAL_FUNCTIONS(X)                                                                  \
  X(GrB_Matrix_dup, (GrB_Matrix *, GrB_Matrix))           /* only to measure */                    \
  X(GrB_Matrix_get_INT32, (GrB_Matrix, int32_t *, int))   /* from 9 */                             \
  X(GxB_Global_Option_get_FUNCTION, (int, void **))       /* from 8 */                             \
  X(GxB_Context_get_INT32, (GxB_Context, int, int32_t *)) /* from 8 */                             \
  X(GxB_arena_initialized, (int *, int))                  /* from 10.4 */

/* What is exported and handed on. */
#define GRB_TAKEN(X)                                                                               \
  X(GrB_mxm,                                                                                       \
    (GrB_Matrix, GrB_Matrix, GrB_BinaryOp, GrB_Semiring, GrB_Matrix, GrB_Matrix, GrB_Descriptor))  \
  X(GrB_mxv,                                                                                       \
    (GrB_Vector, GrB_Vector, GrB_BinaryOp, GrB_Semiring, GrB_Matrix, GrB_Vector, GrB_Descriptor))  \
  X(GrB_vxm,                                                                                       \
    (GrB_Vector, GrB_Vector, GrB_BinaryOp, GrB_Semiring, GrB_Vector, GrB_Matrix, GrB_Descriptor))  \
  X(GrB_init, (int))                                                                               \
  X(GxB_init, (int, void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t),       \
               void (*)(void *)))                                                                  \
  X(GxB_Context_engage, (GxB_Context))                                                             \
  X(GxB_Context_disengage, (GxB_Context))

/* Handles of built-in objects: variables of the library that hold a pointer.  The types that
   products are taken for, in the order of enum grb_number.  */
#define GRB_NUMBERS(X) X(FP32) X(FP64) X(INT32) X(INT64) X(UINT64) X(UINT32) X(BOOL)
#define GRB_OTHER_TYPES(X) X(INT8) X(INT16) X(UINT8) X(UINT16)
#define GRB_OPERATORS(X, number)                                                                   \
  X(PLUS, number)                                                                                  \
  X(MIN, number) X(MAX, number) X(TIMES, number) X(FIRST, number) X(SECOND, number) X(ONEB, number)
/* The monoid that takes any of its values: named GxB_ANY_<number>. */
#define GRB_ANY_OPERATOR "GxB_ANY_BOOL"
/* Descriptors: GrB_REPLACE, structural mask, complemented mask. */
#define GRB_DESCRIPTORS(X) X(R) X(S) X(C) X(SC) X(RS) X(RC) X(RSC)

#endif
