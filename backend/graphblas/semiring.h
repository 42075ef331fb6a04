/* semiring.h: which semiring a handle means, told from the handles of its operators.

   GraphBLAS replaces the identity and terminal value of a user's monoid over a built-in
   operator by the built-in ones, so the two operators decide all.  */
#ifndef SHUNT_GRAPHBLAS_SEMIRING_H
#define SHUNT_GRAPHBLAS_SEMIRING_H

#include "backend/graphblas/library.h"

struct grb_semiring {
  enum grb_number number;
  enum shunt_monoid monoid;
  enum shunt_multiplier multiplier;
  bool inner;       /* SECONDI, which is FIRSTJ: a term is its k, and nothing else is right */
  GrB_BinaryOp add; /* the monoid's operator */
};

/* False: one that Shunt does not know, or not a semiring. */
bool grb_semiring_read(const struct grb_library *l, GrB_Semiring handle, struct grb_semiring *out);

/* Is it SECONDI or FIRSTJ?  *number: of which type. */
bool grb_operator_is_inner(const struct grb_library *l, GrB_BinaryOp multiply,
                           enum grb_number *number);

/* Is it taken of two sparse operands alone?  BOOL, ANY, and the least and greatest of UINT32, which
   other kernels compute as INT32: sums wrap alike.  */
bool grb_semiring_of_sparse(const struct grb_semiring *s);

/* Is the type one of GraphBLAS' own real ones, which all convert to each other? */
bool grb_type_is_built_in(const struct grb_library *l, GrB_Type type);

/* s (x) b with the operands exchanged. */
enum shunt_multiplier grb_exchanged(enum shunt_multiplier m);
static inline bool grb_uses_first(enum shunt_multiplier m)
{
  return m != SHUNT_SECOND && m != SHUNT_PAIR;
}
static inline bool grb_uses_second(enum shunt_multiplier m)
{
  return m != SHUNT_FIRST && m != SHUNT_PAIR;
}

/* The same semiring as kernels name it, and the bytes of a number. */
struct shunt_semiring grb_semiring_of_kernels(const struct grb_semiring *s);
size_t grb_number_size(enum grb_number n);

/* Lower case, as in GraphBLAS' names: "plus", "times", "fp32". */
const char *grb_monoid_text(enum shunt_monoid m);
const char *grb_multiplier_text(enum shunt_multiplier m);
const char *grb_number_text(enum grb_number n);

#endif
