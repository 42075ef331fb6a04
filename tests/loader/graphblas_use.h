/* graphblas_use.h: products that Shunt takes, checked, for every way a program can hold
   GraphBLAS.  Prints what is wrong and returns nonzero.  */
#ifndef SHUNT_TEST_GRAPHBLAS_USE_H
#define SHUNT_TEST_GRAPHBLAS_USE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USE_N = 200, USE_K = 64 };

typedef GrB_Info use_product(GrB_Matrix, GrB_Matrix, GrB_BinaryOp, GrB_Semiring, GrB_Matrix,
                             GrB_Matrix, GrB_Descriptor);

/* What GraphBLAS was started with. */
static void *(*use_malloc)(size_t) = malloc;

/* ---- an allocator of its own: the block begins 64 bytes before what is handed out --------- */

static inline void *own_malloc(size_t bytes)
{
  char *p = malloc(bytes + 64);
  if (!p) return NULL;
  memset(p, 0x5a, 64);
  memcpy(p, &bytes, sizeof bytes);
  return p + 64;
}

static inline void own_free(void *p)
{
  if (!p) return;
  if (((unsigned char *)p)[-1] != 0x5a) {
    printf("this block is from elsewhere: %p\n", p);
    abort();
  }
  free((char *)p - 64);
}

static inline void *own_realloc(void *p, size_t bytes)
{
  void *q = own_malloc(bytes);
  if (q && p) {
    size_t old;
    memcpy(&old, (char *)p - 64, sizeof old);
    memcpy(q, p, old < bytes ? old : bytes);
    own_free(p);
  }
  return q;
}

static inline void *own_calloc(size_t n, size_t size)
{
  void *p = own_malloc(n * size);
  return p ? memset(p, 0, n * size) : NULL;
}

static inline GrB_Info use_start(int with_own)
{
  if (!with_own) return GrB_init(GrB_NONBLOCKING);
  use_malloc = own_malloc;
  return GxB_init(GrB_NONBLOCKING, own_malloc, own_calloc, own_realloc, own_free);
}

/* ---- products ------------------------------------------------------------------------------ */

/* A(i, i) = i + 1 and A(i, 0) = 1; row 7 is empty.  B(i, j) = i + j. */
static inline int use_fill(GrB_Matrix a, GrB_Matrix b)
{
  float *x = use_malloc(sizeof(float) * USE_N * USE_K);
  if (!x) return 1;
  for (GrB_Index i = 0; i < USE_N; i++) {
    for (GrB_Index j = 0; j < USE_K; j++) x[i * USE_K + j] = (float)(i + j);
    if (i == 7) continue;
    if (i > 0) GrB_Matrix_setElement_FP32(a, 1, i, 0);
    GrB_Matrix_setElement_FP32(a, (float)(i + 1), i, i);
  }
  void *values = x;
  return GxB_Matrix_pack_FullR(b, &values, sizeof(float) * USE_N * USE_K, false, NULL) !=
         GrB_SUCCESS;
}

static inline int use_check(GrB_Matrix c)
{
  for (GrB_Index i = 0; i < USE_N; i++)
    for (GrB_Index j = 0; j < USE_K; j++) {
      float x = -1, expected = (float)((i + 1) * (i + j) + (i > 0 ? j : 0));
      GrB_Info info = GrB_Matrix_extractElement_FP32(&x, c, i, j);
      if (i == 7 ? info != GrB_NO_VALUE : info != GrB_SUCCESS || x != expected) {
        printf("C(%d,%d): info %d, %g instead of %g\n", (int)i, (int)j, (int)info, x, expected);
        return 1;
      }
    }
  return 0;
}

/* C = A * B. */
static inline int use_graphblas(use_product *mxm)
{
  GrB_Matrix a = NULL, b = NULL, c = NULL;
  int bad = GrB_Matrix_new(&a, GrB_FP32, USE_N, USE_N) ||
            GrB_Matrix_new(&b, GrB_FP32, USE_N, USE_K) ||
            GrB_Matrix_new(&c, GrB_FP32, USE_N, USE_K) || use_fill(a, b);
  for (int i = 0; !bad && i < 3; i++) {
    GrB_Info info = mxm(c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, b, NULL);
    if (info != GrB_SUCCESS) printf("GrB_mxm: %d\n", (int)info);
    bad = info != GrB_SUCCESS || use_check(c);
  }
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  GrB_Matrix_free(&c);
  return bad;
}

#endif
