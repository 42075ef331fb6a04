/* entry.c: every function of GraphBLAS that is exported, but for those that only count changes
   (epoch/interposed.c).

   GrB_mxm, GrB_mxv and GrB_vxm have a second name, __wrap_GrB_mxm, for programs that are linked
   with -Wl,--wrap=GrB_mxm (library_static.c); in the static archive it is the only one, for that
   cannot define GraphBLAS' own names next to GraphBLAS.  */
#include "backend/graphblas/memory.h"
#include "backend/graphblas/product.h"
#include "backend/graphblas/settings.h"
#include "backend/options/disable.h"

/* What the program may see of us; all else is hidden (exports.map says it again). */
#define GRB_EXPORT __attribute__((visibility("default")))

#ifdef GRB_STATIC
#define DECLARE(f, arguments) GRB_EXPORT int f arguments __asm__("__wrap_" #f);
#else
#define DECLARE(f, arguments) GRB_EXPORT int f arguments;
#endif
GRB_TAKEN(DECLARE)
#undef DECLARE

/* ---- products ---------------------------------------------------------------------------- */

/* Each function calls the original itself: switched off, it leaves by a jump, so that GraphBLAS
   returns to the program.  CALL takes variables that have the names of a product's.  */
#define CALL(name_, kind_, c_, b_)                                                                 \
  {                                                                                                \
    .name = name_, .kind = kind_, .library = l, .c = (GrB_Matrix)(c_), .mask = (GrB_Matrix)mask,   \
    .accum = accum, .semiring = semiring, .a = a, .b = (GrB_Matrix)(b_), .descriptor = descriptor, \
    .caller = caller                                                                               \
  }

GRB_EXPORT int GrB_mxm(GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Matrix a, GrB_Matrix b, GrB_Descriptor descriptor)
{
  void *caller = __builtin_return_address(0);
  struct grb_library *l = grb_library_for(caller);
  if (!l || !l->original.GrB_mxm) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GrB_mxm(c, mask, accum, semiring, a, b, descriptor);
  const struct grb_call call = CALL("GrB_mxm", GRB_CALL_MXM, c, b);
  struct grb_passed_on left;
  if (grb_product_run(&call, &left)) return GRB_SUCCESS;
  const int info = l->original.GrB_mxm(c, mask, accum, semiring, a, b, descriptor);
  grb_product_passed_on(&left);
  return info;
}

GRB_EXPORT int GrB_mxv(GrB_Vector w, GrB_Vector mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Matrix a, GrB_Vector u, GrB_Descriptor descriptor)
{
  void *caller = __builtin_return_address(0);
  struct grb_library *l = grb_library_for(caller);
  if (!l || !l->original.GrB_mxv) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GrB_mxv(w, mask, accum, semiring, a, u, descriptor);
  const struct grb_call call = CALL("GrB_mxv", GRB_CALL_MXV, w, u);
  struct grb_passed_on left;
  if (grb_product_run(&call, &left)) return GRB_SUCCESS;
  const int info = l->original.GrB_mxv(w, mask, accum, semiring, a, u, descriptor);
  grb_product_passed_on(&left);
  return info;
}

/* w' = u' A is w = A' u. */
GRB_EXPORT int GrB_vxm(GrB_Vector w, GrB_Vector mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Vector u, GrB_Matrix a, GrB_Descriptor descriptor)
{
  void *caller = __builtin_return_address(0);
  struct grb_library *l = grb_library_for(caller);
  if (!l || !l->original.GrB_vxm) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GrB_vxm(w, mask, accum, semiring, u, a, descriptor);
  const struct grb_call call = CALL("GrB_vxm", GRB_CALL_VXM, w, u);
  struct grb_passed_on left;
  if (grb_product_run(&call, &left)) return GRB_SUCCESS;
  const int info = l->original.GrB_vxm(w, mask, accum, semiring, u, a, descriptor);
  grb_product_passed_on(&left);
  return info;
}

#ifndef GRB_STATIC
#define WRAP(f, arguments) GRB_EXPORT int __wrap_##f arguments __attribute__((alias(#f)));
WRAP(GrB_mxm,
     (GrB_Matrix, GrB_Matrix, GrB_BinaryOp, GrB_Semiring, GrB_Matrix, GrB_Matrix, GrB_Descriptor))
WRAP(GrB_mxv,
     (GrB_Vector, GrB_Vector, GrB_BinaryOp, GrB_Semiring, GrB_Matrix, GrB_Vector, GrB_Descriptor))
WRAP(GrB_vxm,
     (GrB_Vector, GrB_Vector, GrB_BinaryOp, GrB_Semiring, GrB_Vector, GrB_Matrix, GrB_Descriptor))
#endif

/* ---- what the program starts GraphBLAS with ------------------------------------------------ */

GRB_EXPORT int GrB_init(int mode)
{
  struct grb_library *l = grb_library_for(__builtin_return_address(0));
  if (!l || !l->original.GrB_init) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GrB_init(mode);
  int info = l->original.GrB_init(mode);
  if (info == GRB_SUCCESS) grb_set_allocator(l, NULL, NULL);
  return info;
}

GRB_EXPORT int GxB_init(int mode, void *(*allocate)(size_t), void *(*clear)(size_t, size_t),
                        void *(*resize)(void *, size_t), void (*release)(void *))
{
  struct grb_library *l = grb_library_for(__builtin_return_address(0));
  if (!l || !l->original.GxB_init) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GxB_init(mode, allocate, clear, resize, release);
  int info = l->original.GxB_init(mode, allocate, clear, resize, release);
  if (info == GRB_SUCCESS) grb_set_allocator(l, allocate, release);
  return info;
}

/* ---- the threads that a user thread may use -------------------------------------------------- */

GRB_EXPORT int GxB_Context_engage(GxB_Context context)
{
  struct grb_library *l = grb_library_for(__builtin_return_address(0));
  if (!l || !l->original.GxB_Context_engage) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GxB_Context_engage(context);
  int info = l->original.GxB_Context_engage(context);
  if (info == GRB_SUCCESS) grb_set_context(l, context);
  return info;
}

GRB_EXPORT int GxB_Context_disengage(GxB_Context context)
{
  struct grb_library *l = grb_library_for(__builtin_return_address(0));
  if (!l || !l->original.GxB_Context_disengage) return GRB_PANIC;
  if (shunt_disabled()) return l->original.GxB_Context_disengage(context);
  int info = l->original.GxB_Context_disengage(context);
  if (info == GRB_SUCCESS) grb_set_context(l, NULL);
  return info;
}
