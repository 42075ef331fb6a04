/* support_ask.h: questions to the router (support.h). */
#ifndef SHUNT_TOOL_SUPPORT_ASK_H
#define SHUNT_TOOL_SUPPORT_ASK_H

#include "backend/cusparse/describe.h"

/* One call.  SpMM: A is rows x cols and sparse, B has n columns.  SDDMM: C is rows x cols and
   sparse, A has n columns.  */
struct support_question {
  enum shunt_op op;
  cusparseFormat_t format;
  cudaDataType in, out, compute; /* of A and B; of C (SDDMM: in, in, out) */
  cusparseOperation_t op_a, op_b;
  cusparseOrder_t order[2];     /* B's and C's; SDDMM: A's and B's */
  cusparseIndexType_t index[2]; /* of offsets, and of columns */
  cusparseIndexBase_t base;
  int64_t rows, cols, n, nnz;
  int64_t block;               /* edge of the blocks of BSR and Blocked-ELL */
  cusparseOrder_t block_order; /* BSR */
  int algorithm;
  int batches;
  bool share_a; /* batches with one A, B and C of each beside the one before */
  bool unseen;  /* BSR made, or strides set, where Shunt does not see it */
  bool null;    /* a null pointer for the entries of the sparse matrix */
};

/* An ordinary one: CSR, f32, everything by rows, nothing transposed. */
struct support_question support_ordinary(enum shunt_op op);

struct support_answer {
  uint32_t routes;          /* a bit for each row of the table of routes */
  struct shunt_outcome why; /* if there is none */
};
struct support_answer support_ask(const struct support_question *q, int gpu);

/* ---- support_calls.c ------------------------------------------------------------------------- */

/* The problem that the call of q is, as backend/cusparse reads it. */
struct shunt_outcome support_read(const struct support_question *q, struct shunt_problem *p);

#endif
