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

static int call_original(const struct grb_call *x)
{
  const struct grb_library *l = x->library;
  const GrB_Vector w = (GrB_Vector)x->c, mask = (GrB_Vector)x->mask, u = (GrB_Vector)x->b;
  switch (x->kind) {
  case GRB_CALL_MXV:
    if (!l->original.GrB_mxv) return GRB_PANIC;
    return l->original.GrB_mxv(w, mask, x->accum, x->semiring, x->a, u, x->descriptor);
  case GRB_CALL_VXM:
    if (!l->original.GrB_vxm) return GRB_PANIC;
    return l->original.GrB_vxm(w, mask, x->accum, x->semiring, u, x->a, x->descriptor);
  default:
    if (!l->original.GrB_mxm) return GRB_PANIC;
    return l->original.GrB_mxm(x->c, x->mask, x->accum, x->semiring, x->a, x->b, x->descriptor);
  }
}

static int run(const struct grb_call *x)
{
  struct grb_passed_on left;
  if (!x->library) return GRB_PANIC;
  if (shunt_disabled()) return call_original(x);
  if (grb_product_run(x, &left)) return GRB_SUCCESS;
  const int info = call_original(x);
  grb_product_passed_on(&left);
  return info;
}

/* Inside an exported function, whose other arguments have the names of a product's. */
#define RUN(name_, kind_, c_, b_)                                                                  \
  run(&(const struct grb_call){.name = name_,                                                      \
                               .kind = kind_,                                                      \
                               .library = grb_library_for(__builtin_return_address(0)),            \
                               .c = (GrB_Matrix)(c_),                                              \
                               .mask = (GrB_Matrix)mask,                                           \
                               .accum = accum,                                                     \
                               .semiring = semiring,                                               \
                               .a = a,                                                             \
                               .b = (GrB_Matrix)(b_),                                              \
                               .descriptor = descriptor,                                           \
                               .caller = __builtin_return_address(0)})

GRB_EXPORT int GrB_mxm(GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Matrix a, GrB_Matrix b, GrB_Descriptor descriptor)
{
  return RUN("GrB_mxm", GRB_CALL_MXM, c, b);
}

GRB_EXPORT int GrB_mxv(GrB_Vector w, GrB_Vector mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Matrix a, GrB_Vector u, GrB_Descriptor descriptor)
{
  return RUN("GrB_mxv", GRB_CALL_MXV, w, u);
}

/* w' = u' A is w = A' u. */
GRB_EXPORT int GrB_vxm(GrB_Vector w, GrB_Vector mask, GrB_BinaryOp accum, GrB_Semiring semiring,
                       GrB_Vector u, GrB_Matrix a, GrB_Descriptor descriptor)
{
  return RUN("GrB_vxm", GRB_CALL_VXM, w, u);
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
