/* product.h: C<M> = accum (C, A * B) as GraphBLAS' arguments put it, read and judged.

   Every step either does its part or gives the reason why the original has to run.
   Nothing of C is touched before the result is complete, so the original can always run
   with the arguments as they came; it also makes all errors and their texts.

     sparse x full    spmm.c    S (x) D, S = op(A), D = op(B)
     full x sparse    spmm.c    the transpose of the same: S = op(B)', D = op(A)', and FIRST
                                and SECOND change places
     full x full, masked by a sparse M   sddmm.c  */
#ifndef SHUNT_GRAPHBLAS_PRODUCT_H
#define SHUNT_GRAPHBLAS_PRODUCT_H

#include "backend/graphblas/operand.h"
#include "backend/graphblas/semiring.h"
#include "backend/graphblas/settings.h"
#include "backend/plan/reason.h"

/* The arguments; vectors as n x 1 matrices (operand.h). */
struct grb_call {
  const char *name; /* of the exported function, for the log */
  enum { GRB_CALL_MXM, GRB_CALL_MXV, GRB_CALL_VXM } kind;
  struct grb_library *library;
  GrB_Matrix c, mask;
  GrB_BinaryOp accum;
  GrB_Semiring semiring;
  GrB_Matrix a, b;
  GrB_Descriptor descriptor;
};

struct grb_product {
  const struct grb_call *call;
  const struct grb_library *library;
  struct grb_settings settings;
  struct grb_semiring semiring;
  struct grb_operand a, b, c, mask;
  bool masked; /* by a mask that changes anything */
  int64_t m, n, k;
  int64_t work; /* multiplications; set once both operands are read */
  int threads;
  const char *engine; /* that computed it */
};

/* True: done, the program's answer is GrB_SUCCESS.  False: the original must run. */
bool grb_product_run(const struct grb_call *call);

/* Its steps: operands, shapes and settings, and whether it is worth while; then the work. */
struct shunt_verdict grb_product_read(struct grb_product *p);
struct shunt_verdict grb_spmm(struct grb_product *p);
struct shunt_verdict grb_sddmm(struct grb_product *p);

/* The product's type. */
static inline GrB_Type grb_product_type(const struct grb_product *p)
{
  return p->library->type[p->semiring.number];
}
/* Does this operand have the product's type, or one that does not matter? */
bool grb_product_type_fits(const struct grb_product *p, const struct grb_operand *x, bool used);
/* Is the result one value for all entries?  GraphBLAS then stores it as such. */
bool grb_product_is_uniform(const struct grb_product *p);

#endif
