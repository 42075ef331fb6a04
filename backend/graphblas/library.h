/* library.h: one copy of GraphBLAS in this process, and everything asked of it by name.

   A process may hold no GraphBLAS, one, or several (a wheel's and the system's).  The
   question is always asked for the code that called the exported function, and the answer
   is the copy that the caller would have reached without us; objects of different copies never
   mix.  An answer lives until the process ends.  */
#ifndef SHUNT_GRAPHBLAS_LIBRARY_H
#define SHUNT_GRAPHBLAS_LIBRARY_H

#include <stdatomic.h>

#include "backend/graphblas/abi.h"
#include "backend/graphblas/layout.h"
#include "kernels/semiring/semiring_kernels.h"

enum grb_number {
#define NUMBER(n) GRB_##n,
  GRB_NUMBERS(NUMBER)
#undef NUMBER
      GRB_NUMBER_COUNT
};
enum grb_operator {
#define OPERATOR(o, unused) GRB_##o,
  GRB_OPERATORS(OPERATOR, )
#undef OPERATOR
      GRB_OPERATOR_COUNT
};
enum grb_logical {
#define LOGICAL(o) GRB_##o,
  GRB_LOGICALS(LOGICAL)
#undef LOGICAL
      GRB_LOGICAL_COUNT
};
enum { GRB_OTHER_TYPE_COUNT = 4 };
enum grb_library_state { GRB_UNTRIED, GRB_READY, GRB_UNUSABLE };

struct grb_library {
  const char *path; /* file name as loaded; "" for what is linked statically */
  const void *base; /* the lowest address it is mapped at */

#define POINTER(f, arguments) int(*f) arguments;
  struct {
    GRB_TAKEN(POINTER)
  } original; /* NULL where the library lacks it */
  GRB_FUNCTIONS(POINTER)
  GRB_OPTIONAL_FUNCTIONS(POINTER)
#undef POINTER

  GrB_Type type[GRB_NUMBER_COUNT];
  GrB_Type other_type[GRB_OTHER_TYPE_COUNT];
  GrB_BinaryOp op[GRB_NUMBER_COUNT][GRB_OPERATOR_COUNT];
  GrB_BinaryOp any[GRB_NUMBER_COUNT], logical[GRB_LOGICAL_COUNT];
  GrB_Monoid sums, bits;    /* PLUS of FP64, ANY of BOOL; NULL where they are not known */
  GrB_BinaryOp inner[2][2]; /* the index that is multiplied over: INT32, INT64; two names */
  GrB_UnaryOp identity[GRB_NUMBER_COUNT];
  /* By the bits GRB_DESC_* below; [0] is NULL, the default. */
  GrB_Descriptor descriptor[8];

  /* Set by grb_library_ready, valid when it says so. */
  struct grb_numbers numbers;
  struct grb_layout layout;
  atomic_int state; /* enum grb_library_state */

  /* What GxB_init was given; NULL: the C library's. */
  void *(*_Atomic allocate)(size_t);
  void (*_Atomic release)(void *);
};

enum { GRB_DESC_REPLACE = 1, GRB_DESC_STRUCTURE = 2, GRB_DESC_COMP = 4 };

/* The copy for the code at `return_address` (__builtin_return_address(0) of an exported
   function); NULL when the process holds none.  A repeated question costs a few
   nanoseconds and takes no lock.  */
struct grb_library *grb_library_for(void *return_address);

/* May products of this copy be read?  False: hand everything on.  The first true needs
   GrB_init to have been called: until then the answer is false and not remembered.  Thread-safe. */
bool grb_library_ready(struct grb_library *l);

/* Fills the table by `symbol(from, name)`; false when something is missing that every
   product needs.  The originals may be set even then.  */
bool grb_library_fill(struct grb_library *l, void *(*symbol)(void *from, const char *name),
                      void *from);

#endif
