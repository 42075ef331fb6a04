/* cublaslt_stand_in.h: a stand-in for cuBLASLt: dlopen and dlsym below find it instead of the
   library.  It notes what it is asked for, and by which answer and in what arithmetic products are
   done.  Once a program.  */
#ifndef SHUNT_CUBLASLT_STAND_IN_H
#define SHUNT_CUBLASLT_STAND_IN_H

#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cublas/cublaslt.h"
#include "backend/cublas/workspace.h"

struct how {
  cublasComputeType_t compute;
  cudaDataType_t scalars;
};

static struct {
  int asked;           /* for an algorithm, so often */
  int held;            /* descriptions and layouts that are not freed yet */
  bool no_tf32;        /* there is none in TF32 */
  int products;        /* so many, the last of them */
  int algorithm;       /* by this answer, */
  struct how how;      /* in this arithmetic; */
  uint32_t reductions; /* that the last wish allows, */
  size_t room;         /* and how much workspace */
  size_t needs;        /* what algorithms need that are chosen for the workspace that is advised */
} lt;

static cublasStatus_t lt_create(cublasLtHandle_t *handle)
{
  *handle = (cublasLtHandle_t)&lt;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_describe(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                  cudaDataType_t scalars)
{
  struct how *how = malloc(sizeof *how);
  if (!how) return CUBLAS_STATUS_ALLOC_FAILED;
  *how = (struct how){compute, scalars};
  lt.held++;
  *out = (cublasLtMatmulDesc_t)how;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_layout(cublasLtMatrixLayout_t *out, cudaDataType type, uint64_t rows,
                                uint64_t cols, int64_t ld)
{
  (void)rows, (void)cols, (void)ld;
  cudaDataType *layout = malloc(sizeof *layout);
  if (!layout) return CUBLAS_STATUS_ALLOC_FAILED;
  *layout = type;
  lt.held++;
  *out = (cublasLtMatrixLayout_t)layout;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_wish(cublasLtMatmulPreference_t *out)
{
  *out = malloc(1);
  lt.held += *out != NULL;
  return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t lt_free(void *thing)
{
  free(thing);
  lt.held--;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_close(cublasLtHandle_t handle)
{
  (void)handle;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_set(void *thing, int attribute, const void *value, size_t bytes)
{
  (void)thing, (void)attribute, (void)value, (void)bytes;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_prefer(void *wish, int attribute, const void *value, size_t bytes)
{
  (void)wish;
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    memcpy(&lt.reductions, value, bytes == sizeof lt.reductions ? bytes : 0);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    memcpy(&lt.room, value, bytes == sizeof lt.room ? bytes : 0);
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t lt_choose(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                cublasLtMatmulPreference_t wish, int most,
                                cublasLtMatmulHeuristicResult_t answers[], int *count)
{
  (void)handle, (void)a, (void)b, (void)c, (void)d, (void)wish;
  bool tf32 = ((struct how *)how)->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  lt.asked++;
  *count = tf32 && lt.no_tf32 ? 0 : most < 3 ? most : 3;
  for (int i = 0; i < *count; i++) {
    memset(&answers[i], 0, sizeof answers[i]); /* state: CUBLAS_STATUS_SUCCESS */
    answers[i].algo.data[0] = (uint64_t)i;
    answers[i].workspaceSize = lt.room >= SHUNT_CUBLAS_WORKSPACE ? lt.needs : 0;
    answers[i].wavesCount = i == 2 ? 0.79f : 0.97f;
  }
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static cublasStatus_t lt_multiply(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                  const void *alpha, const void *a, cublasLtMatrixLayout_t layout_a,
                                  const void *b, cublasLtMatrixLayout_t layout_b, const void *beta,
                                  const void *c, cublasLtMatrixLayout_t layout_c, void *d,
                                  cublasLtMatrixLayout_t layout_d,
                                  const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                  size_t workspace_bytes, cudaStream_t stream)
{
  (void)handle, (void)alpha, (void)a, (void)layout_a, (void)b, (void)layout_b, (void)beta, (void)c;
  (void)layout_c, (void)d, (void)layout_d, (void)workspace, (void)workspace_bytes, (void)stream;
  lt.products++;
  lt.algorithm = (int)algorithm->data[0];
  lt.how = *(const struct how *)how;
  return CUBLAS_STATUS_SUCCESS;
}

static const struct {
  const char *name;
  void (*function)(void);
} functions[] = {
#define ENTRY(name, function)                                                                      \
  {                                                                                                \
    name, (void (*)(void))function                                                                 \
  }
    ENTRY("cublasLtCreate", lt_create),
    ENTRY("cublasLtDestroy", lt_close),
    ENTRY("cublasLtMatmul", lt_multiply),
    ENTRY("cublasLtMatmulAlgoGetHeuristic", lt_choose),
    ENTRY("cublasLtMatmulDescCreate", lt_describe),
    ENTRY("cublasLtMatmulDescDestroy", lt_free),
    ENTRY("cublasLtMatmulDescSetAttribute", lt_set),
    ENTRY("cublasLtMatrixLayoutCreate", lt_layout),
    ENTRY("cublasLtMatrixLayoutDestroy", lt_free),
    ENTRY("cublasLtMatmulPreferenceCreate", lt_wish),
    ENTRY("cublasLtMatmulPreferenceDestroy", lt_free),
    ENTRY("cublasLtMatmulPreferenceSetAttribute", lt_prefer),
#undef ENTRY
};

void *dlopen(const char *name, int flags)
{
  (void)name, (void)flags;
  return &lt;
}
void *dlsym(void *restrict library, const char *restrict name)
{
  (void)library;
  for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strcmp(functions[i].name, name) == 0) return (void *)functions[i].function;
  return NULL;
}
int dlclose(void *library)
{
  (void)library;
  return 0;
}

/* Nothing closes what is open: it lasts as long as the process, as in a context.  */
static struct shunt_cublaslt *open_one(void)
{
  static struct shunt_cublaslt *opened[16];
  static unsigned count;
  struct shunt_cublaslt **place = &opened[count++ % 16];
  return *place = shunt_cublaslt_open(NULL);
}

#endif
