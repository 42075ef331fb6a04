/* case.h: one random product, C<M> = accum(C, A * B) or its vector forms, as plain numbers.

   case_make draws it from a seed and an index alone, so the two reproduce it; case_print
   describes it in one line; case_eligible says whether it is one that Shunt promises to take.  */
#ifndef TEST_CASE_H
#define TEST_CASE_H

#include "operand.h"

enum call { CALL_MXM, CALL_MXV, CALL_VXM };
enum slot { SLOT_C, SLOT_M, SLOT_A, SLOT_B, SLOTS };

/* Where a semiring or accumulator comes from. */
enum origin {
  FROM_LIBRARY,     /* a built-in object */
  FROM_LIBRARY_OPS, /* made by the program of built-in operators */
  FROM_PLUS_7,      /* the same, with a monoid whose identity is nonsense */
  FROM_USER_OP,     /* the multiply is the program's own function */
  FROM_USER_MONOID, /* the addition is */
  FROM_USER_TYPE    /* type and both operators are */
};

struct semiring_choice {
  enum origin origin;
  char add[16], multiply[16];
  enum type type;
  bool for_sparse; /* taken of two sparse operands alone */
};

enum wrong {
  RIGHT,
  NO_C, /* NULL handles */
  NO_SEMIRING,
  NO_A,
  NO_B,
  EMPTY_C, /* memory that holds no object */
  EMPTY_M,
  EMPTY_SEMIRING,
  EMPTY_A,
  EMPTY_B,
  EMPTY_ACCUM,
  EMPTY_DESC,
  SIZE_C, /* one dimension does not fit */
  SIZE_M,
  SIZE_A,
  SIZE_B
};

struct product_case {
  uint64_t seed;
  long index;
  enum call call;
  struct semiring_choice semiring;
  struct operand operand[SLOTS]; /* of a vxm, A is the matrix and B the vector */
  bool frontier; /* a step of searches: few rows times a sparse matrix, under a mask */
  bool has_mask;
  int same_as[SLOTS]; /* the slot whose object this slot is; itself where no other */
  bool has_accum;
  enum origin accum_origin;
  char accum[16];
  enum type accum_type;
  bool has_desc;
  bool replace, structural, complement, transpose_a, transpose_b;
  int method, sort, threads; /* 0: not set */
  enum wrong wrong;
  bool stale_error;     /* an error string stands on C beforehand */
  bool exact;           /* every order of summation gives the same */
  bool nan_or_identity; /* but a MIN or MAX of NaNs alone may be either */
  bool any_parent;      /* each number may be any inner index by which a term exists */
};

void case_make(struct product_case *c, uint64_t seed, long index, bool large);
void case_print(const struct product_case *c, char *line, size_t size);
/* `status`: how GraphBLAS holds M, A and B (GxB_SPARSITY_STATUS); 0 for no mask. */
bool case_eligible(const struct product_case *c, const int status[SLOTS]);

#endif
