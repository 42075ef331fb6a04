/* types.h: the plain data that all folders of Shunt share.

   Nothing here allocates, decides or prints.  All structs are borrowed views:
   pointers belong to the caller (device memory for *_cuda functions, host
   memory for *_host functions) and must stay valid until the work that was
   enqueued with them has finished.  */
#ifndef SHUNT_TYPES_H
#define SHUNT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function of Shunt returns.  Every value but SHUNT_OK and
   SHUNT_E_WRITTEN means that nothing was enqueued which writes the caller's
   result, so that another way can still compute it.  */
typedef enum shunt_status {
  SHUNT_OK = 0,
  SHUNT_E_UNSUPPORTED, /* not built for these types, layout, size or device */
  SHUNT_E_WORKSPACE,   /* workspace missing, too small or misaligned */
  SHUNT_E_MEMORY,      /* host or device memory could not be had */
  SHUNT_E_CUDA,        /* a CUDA or cuBLAS call failed */
  SHUNT_E_ARGUMENT,    /* the caller broke the function's contract */
  SHUNT_E_INPUT,       /* a file or text could not be understood */
  SHUNT_E_WRITTEN      /* part of the work that writes the result was enqueued, the rest failed */
} shunt_status;

/* Bits of the words in which a conversion says that its result must not be used. */
enum { SHUNT_IRREGULAR = 4 /* a column repeats within a row, or is out of range */ };

typedef enum shunt_type {
  SHUNT_F16 = 0, /* IEEE binary16 */
  SHUNT_BF16,    /* bfloat16 */
  SHUNT_F32,
  SHUNT_F64,
  SHUNT_I8,
  SHUNT_I32,
  SHUNT_I64,
  SHUNT_U64,
  SHUNT_I16,
  SHUNT_C32, /* complex: two f32, the real part first */
  SHUNT_C64, /* two f64 */
  SHUNT_U8,
  SHUNT_TYPE_COUNT
} shunt_type;

/* Bytes of one element; 0: no such type. */
static inline size_t shunt_type_size(shunt_type t)
{
  static const unsigned char size[SHUNT_TYPE_COUNT] = {2, 2, 4, 8, 1, 4, 8, 8, 2, 8, 16, 1};
  return (unsigned)t < SHUNT_TYPE_COUNT ? size[t] : 0;
}

/* May a kernel that does not wait for the one before it read a matrix of this type?  cuSPARSE has
   such (kernels/common/early_launch.cuh).  */
static inline bool shunt_type_is_read_early(shunt_type t)
{
  return t == SHUNT_F32 || t == SHUNT_F64;
}

/* Is an element of t a pair of numbers? */
static inline int shunt_type_is_complex(shunt_type t)
{
  return t == SHUNT_C32 || t == SHUNT_C64;
}

/* A sparse matrix in CSR.

     row_offsets [rows + 1]   columns [nnz]   values [nnz]
     +--+--+--+--+--+         +-----------+   +-----------+
     |o0|o1|o2|..|on|         | c c c c c |   | v v v v v |
     +--+--+--+--+--+         +-----------+   +-----------+

   row i holds positions row_offsets[i] - base <= p < row_offsets[i+1] - base;
   its entry p stands in column columns[p] - base.  Columns inside a row may be
   unsorted and may repeat (repeated entries add up).  `index_type` (SHUNT_I32
   or SHUNT_I64) is the type of both index arrays.  */
struct shunt_csr {
  int64_t rows, cols, nnz;
  const void *row_offsets;
  const void *columns;
  void *values; /* read by SpMM, written by SDDMM */
  shunt_type index_type;
  shunt_type value_type;
  int base; /* 0 or 1 */
};

/* A dense matrix: element (i, j) is values[i * row_stride + j * col_stride].
   One of the strides is 1: col_stride == 1 is row-major, row_stride == 1 is
   column-major; transposing swaps sizes and strides.  Strides count elements
   and may exceed the packed size (leading dimension).  */
struct shunt_dense {
  int64_t rows, cols;
  int64_t row_stride, col_stride;
  void *values;
  shunt_type type;
};

/* alpha or beta: `device` != NULL means the value stands there, in the compute
   type, and is read when the kernel runs; else it is `host` (which holds every
   f32, f64 and i32 exactly), and of complex types host + i imaginary.  */
struct shunt_scalar {
  const void *device;
  double host;
  double imaginary;
};

/* Is it known on the host, and 0? */
static inline int shunt_scalar_is_zero(const struct shunt_scalar *s)
{
  return !s->device && s->host == 0 && s->imaginary == 0;
}

/* C = alpha A B + beta C;  A is m x k sparse, B k x n and C m x n dense.
   When beta is 0, C is not read (NaN in it does not survive).  Accumulation is
   in `compute` (SHUNT_F32, SHUNT_F64, SHUNT_I32, SHUNT_C32 or SHUNT_C64); the result is
   rounded to c.type once.  */
struct shunt_spmm {
  struct shunt_csr a;
  struct shunt_dense b, c;
  struct shunt_scalar alpha, beta;
  shunt_type compute;
  /* NULL: always compute.  Else a device word, read when the kernel runs: C is
     touched only if it is nonzero.  Guards repair C that way.  */
  const uint32_t *only_if;
  /* The next launch on the stream may begin before this one has ended: it waits before it reads or
     writes what this one does (kernels/common/early_launch.cuh).  */
  bool next_waits;
};

/* C.values = alpha (A B) sampled at C's pattern + beta C.values;  A is m x k
   and B k x n dense, C m x n sparse.  beta == 0: C.values is not read.  */
struct shunt_sddmm {
  struct shunt_dense a, b;
  struct shunt_csr c;
  struct shunt_scalar alpha, beta;
  shunt_type compute;
};

/* 128 bits that stand for the content of a CSR matrix. */
struct shunt_fingerprint {
  uint64_t lo, hi;
};

#ifdef __cplusplus
}
#endif
#endif
