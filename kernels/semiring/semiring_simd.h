/* semiring_simd.h: the inner loops of all types for one instruction set.  Included by
   semiring_baseline.c, semiring_avx2.c and semiring_avx512.c, which define

     VECTOR_BYTES   bytes of a vector register
     KERNELS        the name of the function that hands them out
*/
#include <math.h>

#include "kernels/semiring/semiring_loops.h"
#include "kernels/semiring/semiring_operands.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define TILE_VECTORS 8 /* the most of a tile: sums stay in registers */
#define UNROLL _Pragma("GCC unroll 16")

enum {
  AHEAD = 16, /* entries between the prefetch of a row of B and its use */
  DOTS = 4,   /* entries of a pattern summed at a time */
  SUMS = 4    /* sums of one column at a time */
};
/* Sums of a group of rows (semiring_bundles.h) take more registers than there are without AVX-512:
   with 16, spilling them costs more than sharing rows of B saves. */
#define GROUPS (VECTOR_BYTES == 64)
#define GROUP_ROWS 4
#define GROUP_SUMS 24 /* vectors */
/* One prefetch per line of 64 bytes. */
#define LINE_STEP (VECTOR_BYTES < 64 ? 64 / VECTOR_BYTES : 1)

#define P f32
#define T float
#define W float
#define M int32_t
#define IEEE 1
#define PLUS 1
#define NONE_MIN NAN
#define NONE_MAX NAN
#define LANES_MOST (VECTOR_BYTES / 4)
#include "kernels/semiring/semiring_element.h"

#define P f64
#define T double
#define W double
#define M int64_t
#define IEEE 1
#define PLUS 1
#define NONE_MIN NAN
#define NONE_MAX NAN
#define LANES_MOST (VECTOR_BYTES / 8)
#include "kernels/semiring/semiring_element.h"

#define P i32
#define T int32_t
#define W uint32_t
#define M int32_t
#define IEEE 0
#define PLUS 1
#define NONE_MIN INT32_MAX
#define NONE_MAX INT32_MIN
#define LANES_MOST (VECTOR_BYTES / 4)
#include "kernels/semiring/semiring_element.h"

#define P i64
#define T int64_t
#define W uint64_t
#define M int64_t
#define IEEE 0
#define PLUS 1
#define NONE_MIN INT64_MAX
#define NONE_MAX INT64_MIN
#define LANES_MOST (VECTOR_BYTES / 8)
#include "kernels/semiring/semiring_element.h"

/* Sums of products have the same bits as those of int64_t. */
#define P u64
#define T uint64_t
#define W uint64_t
#define M int64_t
#define IEEE 0
#define PLUS 0
#define NONE_MIN UINT64_MAX
#define NONE_MAX 0
#define LANES_MOST (VECTOR_BYTES / 8)
#include "kernels/semiring/semiring_element.h"

const struct shunt_semiring_kernels *KERNELS(shunt_type t, enum shunt_semiring_op op)
{
  switch (t) {
  case SHUNT_F32: return &f32_kernels[op];
  case SHUNT_F64: return &f64_kernels[op];
  case SHUNT_I32: return &i32_kernels[op];
  case SHUNT_I64: return &i64_kernels[op];
  default: return op == SHUNT_OP_PLUS_TIMES ? &i64_kernels[op] : &u64_kernels[op];
  }
}
