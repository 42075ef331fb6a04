/* trampolines.c: the functions that a program gets from dlsym on a handle.

   A program that binds cuSPARSE by handle (JAX) names one copy of the library, and the
   call may come from anywhere later: from another library (libffi), or from
   generated code, which tells nothing about the copy meant.  So each copy of cuSPARSE has
   its own functions here, which know it:

     dlsym(handle, "cusparseSpMM")
       -> libshunt-dlsym.so asks the real dlsym: p, in copy k of cuSPARSE
       -> shunt_cusparse_note_original("cusparseSpMM", p) answers SpMM_k
     SpMM_k(...)
       -> binds copy k to this thread's next question for the original
       -> cusparseSpMM(...), as if the program had called it

   shunt_cusparse_note_original is exported beside the names of cuSPARSE, because
   the two objects are linked to nothing, each other included: libshunt-dlsym.so refers
   to it weakly, and works without it.  No program knows the name.  */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "backend/cusparse/original.h"
#include "backend/options/disable.h"

enum { MOST_COPIES = 8 };

static _Atomic(const struct shunt_original *) copies[MOST_COPIES];

/* f of copy k.  Binding is taken back after the call, for the case that another
   preload's function of this name ran and never came to ours.  */
#define TRAMPOLINE(k, f, MatA, MatB, MatC, Alg, Last)                                              \
  static cusparseStatus_t f##_##k(cusparseHandle_t handle, cusparseOperation_t op_a,               \
                                  cusparseOperation_t op_b, const void *alpha, MatA a, MatB b,     \
                                  const void *beta, MatC c, cudaDataType compute, Alg alg,         \
                                  Last last)                                                       \
  {                                                                                                \
    shunt_original_bind(atomic_load_explicit(&copies[k], memory_order_acquire));                   \
    cusparseStatus_t status =                                                                      \
        cusparse##f(handle, op_a, op_b, alpha, a, b, beta, c, compute, alg, last);                 \
    shunt_original_bind(NULL);                                                                     \
    return status;                                                                                 \
  }
#define TRAMPOLINE_SPMM(k, f, Last)                                                                \
  TRAMPOLINE(k, f, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,     \
             cusparseSpMMAlg_t, Last)
#define TRAMPOLINE_SDDMM(k, f, Last)                                                               \
  TRAMPOLINE(k, f, cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,     \
             cusparseSDDMMAlg_t, Last)
#define TRAMPOLINE_COPY(k)                                                                         \
  TRAMPOLINE_SPMM(k, SpMM, void *)                                                                 \
  TRAMPOLINE_SPMM(k, SpMM_bufferSize, size_t *)                                                    \
  TRAMPOLINE_SPMM(k, SpMM_preprocess, void *)                                                      \
  TRAMPOLINE_SDDMM(k, SDDMM, void *)                                                               \
  TRAMPOLINE_SDDMM(k, SDDMM_bufferSize, size_t *)                                                  \
  TRAMPOLINE_SDDMM(k, SDDMM_preprocess, void *)
TRAMPOLINE_COPY(0)
TRAMPOLINE_COPY(1)
TRAMPOLINE_COPY(2)
TRAMPOLINE_COPY(3)
TRAMPOLINE_COPY(4)
TRAMPOLINE_COPY(5)
TRAMPOLINE_COPY(6)
TRAMPOLINE_COPY(7)

static const struct name {
  const char *name;
  size_t place; /* of the original in struct shunt_original */
  void *handed[MOST_COPIES];
} names[] = {
#define NAME(f)                                                                                    \
  {"cusparse" #f,                                                                                  \
   offsetof(struct shunt_original, f),                                                             \
   {(void *)f##_0, (void *)f##_1, (void *)f##_2, (void *)f##_3, (void *)f##_4, (void *)f##_5,      \
    (void *)f##_6, (void *)f##_7}},
    SHUNT_TAKEN(NAME)};

/* The number of a copy, new or known; -1 when there are too many. */
static int number_of(const struct shunt_original *o)
{
  for (int k = 0; k < MOST_COPIES; k++) {
    const struct shunt_original *there = NULL;
    if (atomic_compare_exchange_strong(&copies[k], &there, o) || there == o) return k;
  }
  return -1;
}

void *shunt_cusparse_note_original(const char *name, void *found)
    __attribute__((visibility("default")));

/* What dlsym shall answer for `name` instead of `found`, the real answer.  NULL: the real
   one, since found is not cuSPARSE's own, the copies are more than we count, or Shunt is switched
   off.  */
void *shunt_cusparse_note_original(const char *name, void *found)
{
  if (shunt_disabled()) return NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i].name) != 0) continue;
    const struct shunt_original *o = shunt_original_around(found);
    void *theirs;
    if (!o) return NULL;
    memcpy(&theirs, (const char *)o + names[i].place, sizeof theirs);
    int k = theirs == found ? number_of(o) : -1;
    return k < 0 ? NULL : names[i].handed[k];
  }
  return NULL;
}
