/* problem.h: one operation asked for, as plain data.

   A problem is what an entry (backend/cusparse) read from the caller's arguments.
   It can be printed as one word and parsed back, so that a log line reruns in
   `shunt bench`:

     spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k4096z1677721:NN:rr:ld1024.1024:a1b0:alg0
     |    |   |               |     |                       |  |  |           |    algorithm
     |    |   |               |     sizes and nonzeros      |  |  |           alpha, beta
     |    |   |               |                             |  |  |           ('*': on the device)
     |    |   |               index type and base           |  |  leading dimensions of B and C
     |    |   types: first, second, third operand, compute  |  their orders, r(ow) or c(olumn)
     |    format of the sparse operand                      op(A) op(B): N, T or H
     operation

   SpMM:  C[m,n] = alpha op(A)[m,k] op(B)[k,n] + beta C;  A sparse; orders and leading
          dimensions are B's and C's, as stored (before op).
   SDDMM: C[m,n] = alpha (op(A)[m,k] op(B)[k,n]) at C's pattern + beta C;  C sparse;
          orders and leading dimensions are A's and B's.

   Of complex types a scalar that is not real has two parts: a1,-0.5b0.

   Strided batches, x products that differ in their addresses, add one part:

     ...:alg0:x16s0.5000.65536.65536
             |   |  strides from batch to batch, in elements: row offsets; columns
             |   and values; the two dense operands
             products

   Blocks (bsr, ell) add, before that, their size, and ell the stored blocks of a row:

     ...:alg0:v8       ...:alg0:v8w40

   The sparse operand is kept as struct shunt_csr, so by rows.  CSC is the same by columns: the
   arrays of a CSC matrix are those of its transpose in CSR.  What is transposed twice is
   not transposed:

     stored   op   spmm.a, by rows          op(A)
     csr coo  N    A, m x k                 spmm.a
     csr coo  T    A, k x m                 spmm.a transposed
     csc      N    A transposed, k x m      spmm.a transposed
     csc      T    A transposed, m x k      spmm.a  */
#ifndef SHUNT_PROBLEM_H
#define SHUNT_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/plan/reason.h"
#include "kernels/bsr/bsr_format.h"
#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_op { SHUNT_SPMM, SHUNT_SDDMM };
enum shunt_format {
  SHUNT_CSR,
  SHUNT_COO,
  SHUNT_CSC,
  SHUNT_BSR,
  SHUNT_BLOCKED_ELL,
  SHUNT_FORMAT_COUNT
};

/* From one batch to the next, in elements. */
struct shunt_batch_strides {
  int64_t offsets;  /* row offsets; unused with COO */
  int64_t entries;  /* columns and values, and COO's row indices */
  int64_t dense[2]; /* B and C of SpMM, A and B of SDDMM */
};

struct shunt_problem {
  enum shunt_op op;
  enum shunt_format format;
  char op_a, op_b; /* 'N', 'T', 'H'; op_b (SpMM) and both (SDDMM) are already in the strides */
  int algorithm;   /* the caller's number; 0 where only printed */
  int batches;     /* 1: none */
  struct shunt_batch_strides strides; /* 0 where there is one batch */
  const void *row_indices;            /* COO only; csr.row_offsets is then NULL */
  struct shunt_block_shape blocks;    /* BSR and Blocked-ELL only */
  /* Neither printed nor hashed: */
  uint64_t pattern_epoch; /* calls with the same one, not 0, have the same pattern: the caller's
                             promise */
  bool deterministic;     /* the same bits on every run: nothing may depend on time (planner.h) */
  int cusparse;           /* the original's version, 126 for 12.6; 0: not known */
  bool extended;          /* hashed: the original refuses such types, and SHUNT_EXTEND asks for an
                             answer.  A half compute type stands here as f32 */
  union {
    struct shunt_spmm spmm;
    struct shunt_sddmm sddmm;
  };
};

/* May what comes next in the stream be let in while a product of p still runs, as it waits?  From
   12.8 on cuSPARSE has kernels that do not: they might write what the product still reads.  Before,
   what may be read early is kept from others' (kernels/common/early_launch.cuh).  */
static inline bool shunt_problem_lets_next_in(const struct shunt_problem *p)
{
  enum { FIRST_THAT_DOES_NOT_WAIT = 128 };
  return p->cusparse < FIRST_THAT_DOES_NOT_WAIT && !shunt_type_is_read_early(p->spmm.c.type);
}

enum { SHUNT_PROBLEM_TEXT = 360, SHUNT_MOST_BATCHES = 65535 };

static inline const struct shunt_csr *shunt_problem_sparse(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM ? &p->spmm.a : &p->sddmm.c;
}

/* Is the sparse matrix one of blocks? */
static inline bool shunt_problem_in_blocks(const struct shunt_problem *p)
{
  return p->format == SHUNT_BSR || p->format == SHUNT_BLOCKED_ELL;
}

/* SpMM: is op(A) the transpose of spmm.a (see above)? */
static inline bool shunt_problem_transposed(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM && (p->format == SHUNT_CSC) != (p->op_a != 'N');
}

/* Rows and columns that kernels count, and entries where they count by 32 bits. */
enum { SHUNT_MOST_COUNTED = INT32_MAX - 1024 };

/* More entries than 32-bit positions tell apart: for routes that say so (route.h). */
static inline bool shunt_problem_is_long(const struct shunt_problem *p)
{
  return shunt_problem_sparse(p)->nnz > SHUNT_MOST_COUNTED;
}

/* Writes the word above into text (always terminated); returns its length. */
int shunt_problem_print(const struct shunt_problem *p, char text[SHUNT_PROBLEM_TEXT]);
/* The inverse; array pointers come back NULL.  SHUNT_E_INPUT when not understood. */
shunt_status shunt_problem_parse(const char *text, struct shunt_problem *p);
/* Hash of everything printed, and `extended`, but not of the scalars' values: equal for calls that
   may share a workspace promise.  Never 0. */
uint64_t shunt_problem_hash(const struct shunt_problem *p);

/* May an extended problem have these types?  SpMM of a CSR, CSC or COO matrix that is not
   transposed: f32 with f16 or bf16, into B's type or f32; the reverse, into f32.  SDDMM: bf16, into
   bf16 or f32; int8, into int32 or f32.  Besides, what cuSPARSE takes, for compute types that it
   refuses.  */
bool shunt_problem_extends(const struct shunt_problem *p);

const char *shunt_type_text(shunt_type t);
const char *shunt_format_text(enum shunt_format f);

/* The checks that hold for every route: a problem that passes is well formed
   and no route needs to look again at formats, shapes, strides or nulls. */
struct shunt_outcome shunt_problem_check(const struct shunt_problem *p);

#ifdef __cplusplus
}
#endif
#endif
