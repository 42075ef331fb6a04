/* product.h: C<M> = accum (C, A * B), from GraphBLAS' arguments to the result.

     entry.c  ->  grb_product_run (product.c)
                    grb_read      operands, semiring, descriptor, shapes         read.c
                    grb_choose    the method, and whether it is worth while      choose.c
                    compute       the method's: T = A * B, by an engine          spmm.c, sddmm.c,
                                                                         masked_dot.c, frontier.c
                    grb_commit    C<M> = accum (C, T)                            commit.c

   Every step does its part or gives the reason why the original has to run.  Nothing of C is
   touched before the result is complete, so the original can always run with the arguments as
   they came; it also makes all errors and their texts.  */
#ifndef SHUNT_GRAPHBLAS_PRODUCT_H
#define SHUNT_GRAPHBLAS_PRODUCT_H

#include "backend/graphblas/gain.h"
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
  const void *caller; /* the return address */
};

/* A call that is the original's, for the log. */
struct shunt_decision;
struct grb_passed_on {
  struct shunt_decision *decision; /* NULL: nobody reads it */
  double started;
};

/* T, in memory of grb_allocate, or in C's own array.  Which arrays there are follows from the
   form.  */
struct grb_result {
  int form; /* GRB_FULL, GRB_BITMAP, GRB_SPARSE, GRB_HYPERSPARSE */
  bool by_column;
  bool in_place;     /* it was computed in C's array: nothing else is set */
  bool replaces_all; /* C = T, whatever C held */
  bool iso;          /* values holds one for all */
  int64_t vectors, nvals;
  void *values;
  int8_t *present;
  uint64_t *offsets, *ids, *indices;
};

struct grb_method;

struct grb_product {
  const struct grb_call *call;
  const struct grb_library *library;
  /* Read: */
  struct grb_settings settings;
  struct grb_semiring semiring;
  struct grb_operand a, b, c, mask;
  bool masked;     /* by a mask that changes anything */
  bool small_mask; /* of two sparse operands: a step of searches, or not worth while */
  int64_t m, n, k;
  int threads;
  /* Chosen: */
  const struct grb_method *method;
  int64_t work;   /* multiplications */
  bool saxpy;     /* of two sparse operands: rows are added up (masked.h) */
  bool cuda;      /* of two sparse operands: by the GPU */
  double alone;   /* ns that one thread takes, of two sparse operands */
  bool if_uneven; /* a step that pays only if one of A's rows is far longer than others */
  bool single;    /* a step: F's rows are gone through one by one (frontier_kernels.h) */
  double step;    /* ns that GraphBLAS takes as a step of searches, on one thread; 0: not known */
  struct grb_gain gain;
  /* For measure.h: */
  uint64_t problem;             /* its hash; 0: nothing is measured */
  double original_us, aside_us; /* what the original took, and all of that; 0: it did not run */
  /* Computed: */
  const char *engine;
  struct grb_result t;
};

/* One way to compute products of some forms of operands. */
struct grb_method {
  /* May it take the product, and is that worth while?  Sets p->work and p->gain. */
  struct shunt_outcome (*choose)(struct grb_product *p);
  /* Sets p->t.  After a failure p->t holds nothing. */
  struct shunt_outcome (*compute)(struct grb_product *p);
};
extern const struct grb_method grb_spmm, grb_sddmm, grb_masked_dot, grb_frontier;

/* Is it a step of a few searches (frontier.c)?  The first two are cheap, and may be asked before
   operands are read, the third once they are.  */
bool grb_frontier_may_be(const struct grb_library *l, GrB_Semiring semiring);
bool grb_frontier_worth(const struct grb_library *l, GrB_Matrix f);
bool grb_frontier_fits(const struct grb_product *p);
/* A is glanced at, B is read, the mask's settings are known: is A, which would be sorted to be
   read, a frontier from which little is met, so that no way of ours can pay?  */
bool grb_frontier_is_hopeless(struct grb_product *p);
/* A is read, of which the answer depended: the next of its kind may be left unread. */
void grb_frontier_was_uneven(bool it_was);

/* True: done, the program's answer is GrB_SUCCESS.  False: the original must run. */
bool grb_product_run(const struct grb_call *call, struct grb_passed_on *left);
/* The original has run: tells the log how long. */
void grb_product_passed_on(const struct grb_passed_on *left);

/* Its steps. */
struct shunt_outcome grb_read(struct grb_product *p);
struct shunt_outcome grb_choose(struct grb_product *p);
struct shunt_outcome grb_commit(struct grb_product *p);

/* The product's type. */
static inline GrB_Type grb_product_type(const struct grb_product *p)
{
  return p->library->type[p->semiring.number];
}

/* Which matrix an operand is read from; none where that is C, which is about to change. */
static inline struct grb_identity grb_product_source(const struct grb_product *p,
                                                     const struct grb_operand *x)
{
  if (x->handle == p->call->c) return (struct grb_identity){.handle = NULL};
  return grb_operand_identity(p->library, x);
}

/* Inside a function that returns a struct shunt_outcome. */
#define GRB_CONTINUE(call)                                                                         \
  do {                                                                                             \
    struct shunt_outcome v_ = (call);                                                              \
    if (v_.reason != SHUNT_FITS) return v_;                                                        \
  } while (0)

#endif
