/* original.h: the cuSPARSE that a caller would have reached without us.

   A process may hold no cuSPARSE, one, or several (PyTorch's wheel and the
   toolkit's), in scopes that our own look-ups do not see.  So the answer depends on
   the caller: the code that the exported function returns to.  Searched in this
   order, the first answer wins:

     1. what the dlsym object noted   the pointer that this very call was made through
     2. RTLD_NEXT                     the global scope after ourselves, wrappers included; not
                                      a copy that the caller's other calls do not go to
     3. the caller's own object       what it is linked to, though loaded RTLD_LOCAL
                                      (PyTorch) or under a hashed SONAME (wheels)
     4. all loaded objects            in load order, those after ourselves first

   The answer is never one of our own functions, and is kept per caller.  */
#ifndef SHUNT_CUSPARSE_ORIGINAL_H
#define SHUNT_CUSPARSE_ORIGINAL_H

#ifndef DISABLE_CUSPARSE_DEPRECATED
#define DISABLE_CUSPARSE_DEPRECATED /* no warnings about functions that we do not use */
#endif
#include <cusparse.h>
#include <stdbool.h>
#include <stddef.h>

/* The functions that we export. */
#define SHUNT_TAKEN(X)                                                                             \
  X(SpMM) X(SpMM_bufferSize) X(SpMM_preprocess) X(SDDMM) X(SDDMM_bufferSize) X(SDDMM_preprocess)

/* They set what no getter returns, or destroy it.  We export them to take note (setters.c). */
/* clang-format off */
#define SHUNT_SEEN(X)                                                                              \
  X(CsrSetStridedBatch) X(CooSetStridedBatch)                                                      \
  X(CsrSetPointers) X(CscSetPointers) X(CooSetPointers) X(SpMatSetValues)                          \
  X(CreateBsr) X(CreateConstBsr) X(DestroySpMat)

/* The functions that we only call, to read handles and descriptors back, and to make some to
   measure with.  */
#define SHUNT_READ(X)                                                                              \
  X(GetStream) X(GetPointerMode) X(GetVersion) X(GetProperty)                                      \
  X(SpMatGetFormat) X(SpMatGetSize) X(SpMatGetStridedBatch) X(SpMatGetIndexBase)                   \
  X(DnMatGetStridedBatch)                                                                          \
  X(ConstSpMatGetValues) X(ConstCsrGet) X(ConstCscGet) X(ConstCooGet) X(ConstBlockedEllGet)        \
  X(ConstDnMatGet) X(CreateDnMat) X(DestroyDnMat) X(CreateCsr)
/* clang-format on */

/* Any pointer may be NULL: an old library lacks some functions.  (Where only the
   ConstXGet form is missing, XGet stands in its place: the two differ in the
   qualifiers of their arguments.)

   The functions of SHUNT_READ all live in the library at `base`.  Those of
   SHUNT_TAKEN and SHUNT_SEEN live there too, unless another preload wraps them: then they
   are the wrapper's, which the call must pass through as it did without us.  */
struct shunt_original {
#define POINTER(f) __typeof__(cusparse##f) *f;
  SHUNT_TAKEN(POINTER)
  SHUNT_SEEN(POINTER)
  SHUNT_READ(POINTER)
#undef POINTER
  const char *path; /* file name of the library, as loaded */
  void *base;       /* the lowest address that it is mapped at */
  intptr_t version; /* 126: 12.6; 0: it does not say.  So wide that no byte is padding */
};

/* The original for the code at `return_address`, which is
   __builtin_return_address(0) of an exported function; NULL when the process holds no
   cuSPARSE.  An answer lives until the process ends: the library is kept loaded from
   then on.  A repeated question costs a few nanoseconds and takes no lock; "none"
   is not remembered, so a library that is loaded later is found.

   Call it once per entry, before *shunt_entry_depth() is raised.  */
const struct shunt_original *shunt_original_for(void *return_address);

/* Was the call that asked last made through a pointer that dlsym gave (trampolines.c)? */
bool shunt_original_was_bound(void);

/* How many exported functions of ours this thread is inside of.  The exported
   function raises it around every call of an original, and lowers it after.

   When it is not 0 on entry, the original called us back: it is a wrapper that looked
   its own original up by name and found us first.  The exported function must then plan
   nothing and hand the call straight on; shunt_original_for gives what lies
   behind the caller, which ends the loop.  */
int *shunt_entry_depth(void);

/* ---- for trampolines.c -------------------------------------------------------------- */

/* The cuSPARSE library around `symbol`, no wrapper before it; NULL if it is not one. */
const struct shunt_original *shunt_original_around(const void *symbol);

/* The next shunt_original_for of this thread answers `o`; NULL takes that back. */
void shunt_original_bind(const struct shunt_original *o);

#endif
