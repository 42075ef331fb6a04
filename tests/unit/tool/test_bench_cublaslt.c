/* test_bench_cublaslt.c: the dense product of 8 bits beside which `shunt bench` sets int8: cuBLASLt
   is handed operands of the right numbers, in the layout that its fast kernels want; the fastest of
   its algorithms is kept; what it refuses has a reason.

   The library is a stand-in, which dlopen and dlsym below find: it multiplies what its descriptors
   say, and like the real one takes TN products alone.  Device memory is the host's.  */
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/gpu_peers.h"
#include "kernels/common/host_half.h"
#include "tests/unit/check.h"

/* ---- the stand-in for cuBLASLt --------------------------------------------------------- */

struct how {
  cudaDataType_t scalars;
  bool transposed_a, fast;
};
struct layout {
  cudaDataType type;
  int64_t rows, cols, ld;
};

static struct {
  bool absent, refuses;
  int held;        /* descriptions and layouts that are not freed yet */
  int algorithm;   /* of the last product, */
  struct layout d; /* its result */
  bool fast;
  const void *result;
} lt;

static void *keep(const void *from, size_t bytes)
{
  void *out = malloc(bytes);
  if (out) memcpy(out, from, bytes);
  lt.held += out != NULL;
  return out;
}

static cublasStatus_t lt_create(cublasLtHandle_t *handle)
{
  *handle = (cublasLtHandle_t)&lt;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_close(cublasLtHandle_t handle)
{
  (void)handle;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_describe(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                  cudaDataType_t scalars)
{
  const struct how how = {.scalars = scalars};
  (void)compute;
  *out = keep(&how, sizeof how);
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_layout(cublasLtMatrixLayout_t *out, cudaDataType type, uint64_t rows,
                                uint64_t cols, int64_t ld)
{
  const struct layout layout = {type, (int64_t)rows, (int64_t)cols, ld};
  *out = keep(&layout, sizeof layout);
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_wish(cublasLtMatmulPreference_t *out)
{
  *out = keep("", 1);
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_free(void *thing)
{
  free(thing);
  lt.held--;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_set(void *thing, int attribute, const void *value, size_t bytes)
{
  struct how *how = thing;
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA && bytes == sizeof(int32_t))
    how->transposed_a = *(const int32_t *)value == CUBLAS_OP_T;
  if (attribute == CUBLASLT_MATMUL_DESC_FAST_ACCUM && bytes == 1)
    how->fast = *(const int8_t *)value;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t lt_wish_set(void *thing, int attribute, const void *value, size_t bytes)
{
  (void)thing, (void)attribute, (void)value, (void)bytes;
  return CUBLAS_STATUS_SUCCESS;
}

/* P and Q hold k of each line side by side, and whole lines are aligned. */
static bool is_fast_layout(const struct how *how, const struct layout *p, const struct layout *q,
                           const struct layout *d)
{
  const bool e4m3 = p->type == CUDA_R_8F_E4M3;
  return how->transposed_a && p->type == q->type && (e4m3 || p->type == CUDA_R_8I) &&
         p->rows == q->rows && p->cols == d->rows && q->cols == d->cols && p->ld % 16 == 0 &&
         q->ld % 16 == 0 && p->ld >= p->rows && q->ld >= q->rows && d->ld >= d->rows &&
         d->type == (e4m3 ? CUDA_R_16F : CUDA_R_32I) &&
         how->scalars == (e4m3 ? CUDA_R_32F : CUDA_R_32I);
}

static cublasStatus_t lt_choose(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                cublasLtMatmulPreference_t wish, int most,
                                cublasLtMatmulHeuristicResult_t answers[], int *count)
{
  (void)handle, (void)c, (void)wish;
  *count = 0;
  if (lt.refuses || !is_fast_layout((void *)how, (void *)a, (void *)b, (void *)d))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (*count = 0; *count < most; ++*count) {
    memset(&answers[*count], 0, sizeof *answers);
    answers[*count].algo.data[0] = (uint64_t)*count;
  }
  return CUBLAS_STATUS_SUCCESS;
}

static float from_e4m3(uint8_t x)
{
  const int exponent = x >> 3 & 15;
  const float size = exponent ? (float)(8 + (x & 7)) / 8 * (float)(1 << exponent) / 128 : 0;
  return x & 0x80 ? -size : size;
}

static cublasStatus_t lt_multiply(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                  const void *alpha, const void *a, cublasLtMatrixLayout_t layout_a,
                                  const void *b, cublasLtMatrixLayout_t layout_b, const void *beta,
                                  const void *c, cublasLtMatrixLayout_t layout_c, void *d,
                                  cublasLtMatrixLayout_t layout_d,
                                  const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                  size_t workspace_bytes, cudaStream_t stream)
{
  const struct layout *p = (void *)layout_a, *q = (void *)layout_b, *to = (void *)layout_d;
  (void)handle, (void)c, (void)layout_c, (void)workspace, (void)workspace_bytes, (void)stream;
  lt.algorithm = (int)algorithm->data[0];
  if (lt.algorithm == 1) return CUBLAS_STATUS_NOT_SUPPORTED; /* proposed, but it doesn't run */
  lt.d = *to;
  lt.fast = ((struct how *)(void *)how)->fast;
  lt.result = d;
  for (int64_t i = 0; i < to->rows; i++)
    for (int64_t j = 0; j < to->cols; j++) {
      const bool e4m3 = p->type == CUDA_R_8F_E4M3;
      int32_t sum = 0;
      float rounded = 0;
      for (int64_t l = 0; l < p->rows; l++) {
        const uint8_t x = ((const uint8_t *)a)[i * p->ld + l],
                      y = ((const uint8_t *)b)[j * q->ld + l];
        if (e4m3)
          rounded += from_e4m3(x) * from_e4m3(y);
        else
          sum += (int8_t)x * (int8_t)y;
      }
      const int64_t at = i + j * to->ld;
      if (e4m3)
        ((uint16_t *)d)[at] = shunt_float_to_half(*(const float *)alpha * rounded);
      else
        ((int32_t *)d)[at] =
            *(const int32_t *)alpha * sum + *(const int32_t *)beta * ((int32_t *)d)[at];
    }
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
    ENTRY("cublasLtMatmulPreferenceSetAttribute", lt_wish_set),
#undef ENTRY
};

void *dlopen(const char *name, int flags)
{
  (void)flags;
  return strstr(name, "cublasLt") && !lt.absent ? &lt : NULL;
}
void *dlsym(void *restrict library, const char *restrict name)
{
  (void)library;
  for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strcmp(functions[i].name, name) == 0) return (void *)functions[i].function;
  return NULL;
}

/* ---- the device, and what else is called -------------------------------------------------- */

static struct {
  int held, most; /* allocations */
} memory = {0, 100};

cudaError_t cudaMalloc(void **to, size_t bytes)
{
  *to = memory.held < memory.most ? malloc(bytes) : NULL;
  memory.held += *to != NULL;
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p)
{
  memory.held -= p != NULL;
  free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
  (void)kind;
  memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}

/* The case brings A dense. */
bool gpu_prepare_dense(struct gpu_case *g, struct bench_way *w)
{
  (void)w;
  return g->dense.values != NULL;
}

/* The last algorithm but one is the fastest. */
bool gpu_time(struct gpu_case *g, const struct gpu_timed *of, bool quick, double *us,
              const char **timing)
{
  static const double takes[] = {9, 1, 5, 7};
  if (!quick || of->enqueue(g, NULL) != SHUNT_OK) return false;
  *us = takes[lt.algorithm];
  *timing = "stream";
  return true;
}

/* ---- a case -------------------------------------------------------------------------------- */

enum { M = 21, N = 12, K = 18, WIDE = 37 }; /* WIDE: the leading dimension of B and C */

struct fixture {
  struct gpu gpu;
  struct bench_machine machine;
  struct bench_case c;
  struct gpu_case g;
  struct bench_way w;
  int8_t a[M * WIDE], b[WIDE * WIDE];
  int32_t result[WIDE * WIDE], before[WIDE * WIDE];
};

static struct shunt_dense lay(int64_t rows, int64_t cols, bool by_rows, void *at, shunt_type type)
{
  return (struct shunt_dense){rows, cols, by_rows ? WIDE : 1, by_rows ? 1 : WIDE, at, type};
}

static void set_up(struct fixture *f, bool b_rows, bool c_rows)
{
  memset(f, 0, sizeof *f);
  lt.absent = lt.refuses = false;
  for (int i = 0; i < M * WIDE; i++) f->a[i] = (int8_t)(i % 3 ? i * 7 % 16 - 8 : 0);
  for (int i = 0; i < WIDE * WIDE; i++) {
    f->b[i] = (int8_t)(i * 11 % 16 - 8);
    f->result[i] = f->before[i] = i - 500;
  }
  struct shunt_spmm *p = &f->g.checked.spmm;
  p->b = lay(K, N, b_rows, f->b, SHUNT_I8);
  p->c = lay(M, N, c_rows, f->result, SHUNT_I32);
  p->compute = SHUNT_I32;
  p->alpha = (struct shunt_scalar){.host = 2};
  p->beta = (struct shunt_scalar){.host = -3};
  f->g.dense = (struct shunt_dense){M, K, WIDE, 1, f->a, SHUNT_I8};
  f->g.dense.row_stride = 32;
  f->g.p = f->g.checked;
  f->g.p.spmm.alpha.device = f->g.p.spmm.beta.device = f; /* nothing that the host may read */
  f->g.gpu = &f->gpu;
  f->gpu.peers = gpu_peers_open(&f->gpu, &f->machine);
}

static void tear_down(struct fixture *f)
{
  cudaFree(f->g.converted);
  gpu_peers_close(f->gpu.peers);
  check(lt.held == 0 && memory.held == 0, "nothing is held: %d, %d", lt.held, memory.held);
}

static int32_t sum_of(const struct fixture *f, int i, int j)
{
  const struct shunt_dense *b = &f->g.p.spmm.b;
  int32_t sum = 0;
  for (int k = 0; k < K; k++) sum += f->a[i * 32 + k] * f->b[k * b->row_stride + j * b->col_stride];
  return sum;
}

static bool agrees_int8(const struct fixture *f)
{
  const struct shunt_dense *c = &f->g.p.spmm.c;
  bool good = true;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const int64_t at = i * c->row_stride + j * c->col_stride;
      good = good && f->result[at] == 2 * sum_of(f, i, j) - 3 * f->before[at];
    }
  return good;
}

/* D is f16, of the library's own memory, in the order of C. */
static bool agrees_e4m3(const struct fixture *f, bool c_rows)
{
  const uint16_t *d = lt.result;
  bool good = d != NULL && memcmp(f->result, f->before, sizeof f->result) == 0;
  for (int i = 0; good && i < M; i++)
    for (int j = 0; good && j < N; j++)
      good = shunt_half_to_float(d[c_rows ? i * lt.d.ld + j : i + j * lt.d.ld]) ==
             (float)sum_of(f, i, j);
  return good;
}

static void test_product(bool b_rows, bool c_rows)
{
  static struct fixture f;
  for (int e4m3 = 0; e4m3 < 2; e4m3++) {
    set_up(&f, b_rows, c_rows);
    const bool ready = gpu_prepare_cublaslt(&f.g, e4m3, &f.w);
    memcpy(f.result, f.before, sizeof f.result); /* what trying the algorithms left */
    check(ready && gpu_cublaslt(&f.g, NULL) == SHUNT_OK && f.w.note[0] == '\0',
          "%s, B by %s, C by %s: it runs %s", e4m3 ? "e4m3" : "int8", b_rows ? "rows" : "columns",
          c_rows ? "rows" : "columns", f.w.note);
    check(lt.algorithm == 2, "... by the fastest algorithm that runs: %d", lt.algorithm);
    check(e4m3 ? agrees_e4m3(&f, c_rows) : agrees_int8(&f), "... the right product");
    check(lt.fast == (e4m3 == 1), "... e4m3 alone by fast accumulation");
    if (ready) gpu_finish_cublaslt(&f.g);
    tear_down(&f);
  }
}

static void test_refused(const char *reason)
{
  static struct fixture f;
  const bool absent = lt.absent, refuses = lt.refuses;
  set_up(&f, true, true);
  lt.absent = absent, lt.refuses = refuses;
  check(!gpu_prepare_cublaslt(&f.g, true, &f.w) && strstr(f.w.note, reason),
        "refused with its reason: %s", f.w.note);
  tear_down(&f);
}

int main(void)
{
  for (int i = 0; i < 4; i++) test_product(i & 1, i >> 1);
  lt.absent = true;
  test_refused("cuBLASLt was not found");
  lt.absent = false, lt.refuses = true;
  test_refused("cuBLASLt has no kernel for these sizes");
  lt.refuses = false;
  memory.most = 0;
  test_refused("of device memory for the workspace");
  memory.most = 1;
  test_refused("of device memory for the operands");
  return check_finish();
}
