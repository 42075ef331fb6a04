/* test_math.c: SHUNT_MATH: in what arithmetic the dense route has products computed.

   The route, the options and cublaslt.c are the real ones.  cuBLASLt is a stand-in: dlopen and
   dlsym below find it instead of the library, and it notes the compute type of each product.
   What the route launches beside the product does nothing here.  Options are read once a process,
   so each value of SHUNT_MATH has a child of its own.  */
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cublas/cublaslt.h"
#include "backend/cublas/workspace.h"
#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/graph_overlap.h"
#include "backend/routes/routes.h"
#include "conv/dense/dense_conv.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/unit/check.h"

/* ---- the stand-in for cuBLASLt --------------------------------------------------------- */

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
  struct how how;      /* in this arithmetic, */
  cudaDataType_t type; /* of operands of this type */
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
  (void)handle, (void)alpha, (void)a, (void)b, (void)layout_b, (void)beta, (void)c, (void)layout_c;
  (void)d, (void)layout_d, (void)workspace, (void)workspace_bytes, (void)stream;
  lt.products++;
  lt.algorithm = (int)algorithm->data[0];
  lt.how = *(const struct how *)how;
  lt.type = *(const cudaDataType *)layout_a;
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

/* ---- what else the route calls ----------------------------------------------------------- */

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  (void)to, (void)from, (void)bytes, (void)kind, (void)stream;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
  (void)at, (void)value, (void)bytes, (void)stream;
  return cudaSuccess;
}
shunt_status shunt_csr_to_dense_cuda(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular, const struct shunt_device *d,
                                     shunt_stream stream)
{
  (void)a, (void)dense, (void)irregular, (void)d, (void)stream;
  return SHUNT_OK;
}
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch,
                                        shunt_stream stream)
{
  (void)a, (void)out, (void)d, (void)scratch, (void)stream;
  return SHUNT_OK;
}
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream stream)
{
  (void)p, (void)r, (void)d, (void)stream;
  return SHUNT_OK;
}
shunt_status shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p,
                                          const struct shunt_dense *copy,
                                          const struct shunt_dense_shape *shape,
                                          const struct shunt_guard *r, const struct shunt_device *d,
                                          shunt_stream stream)
{
  (void)p, (void)copy, (void)shape, (void)r, (void)d, (void)stream;
  return SHUNT_E_UNSUPPORTED;
}
bool shunt_graph_overlap_begin(cudaStream_t stream)
{
  (void)stream;
  return false;
}
void shunt_graph_overlap_undo(cudaStream_t stream)
{
  (void)stream;
}
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  (void)p, (void)d;
  return false;
}
bool shunt_dense_spmm_fma_takes(const struct shunt_dense *b, const struct shunt_dense *c,
                                const struct shunt_device *on)
{
  (void)b, (void)c, (void)on;
  return false;
}
shunt_status shunt_dense_spmm_fma_cuda(const struct shunt_dense *d, const struct shunt_dense *b,
                                       const struct shunt_dense *c,
                                       const struct shunt_scalar *alpha,
                                       const struct shunt_dense_shape *shape, void *workspace,
                                       const struct shunt_device *on, shunt_stream stream)
{
  (void)d, (void)b, (void)c, (void)alpha, (void)shape, (void)workspace, (void)on, (void)stream;
  return SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream stream)
{
  (void)p, (void)r, (void)actual, (void)d, (void)stream;
  return SHUNT_OK;
}
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream stream)
{
  (void)w, (void)p, (void)only_unless, (void)d, (void)stream;
  return SHUNT_OK;
}
bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  (void)p, (void)d;
  return false;
}
shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                    shunt_stream stream)
{
  (void)p, (void)d, (void)stream;
  return SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                           const struct shunt_dense *product, int prescaled,
                                           const struct shunt_device *d, shunt_stream stream)
{
  (void)p, (void)product, (void)prescaled, (void)d, (void)stream;
  return SHUNT_OK;
}

/* ---- cublaslt.c: each arithmetic has an answer of its own --------------------------------- */

static char memory[4][4096] __attribute__((aligned(256)));

/* Nothing closes what is open: it lasts as long as the process, as in a context.  */
static struct shunt_cublaslt *open_one(void)
{
  static struct shunt_cublaslt *opened[16];
  static unsigned count;
  struct shunt_cublaslt **place = &opened[count++ % 16];
  return *place = shunt_cublaslt_open(NULL);
}

static shunt_status multiply_beside(struct shunt_cublaslt *l, shunt_type type, enum shunt_math math,
                                    bool leaves_room)
{
  const struct shunt_scalar one = {.host = 1}, zero = {.host = 0};
  struct shunt_dense a = {8, 8, 8, 1, memory[0], type}, b = {8, 8, 8, 1, memory[1], type};
  struct shunt_dense c = {8, 8, 8, 1, memory[2], type};
  memset(&lt.how, -1, sizeof lt.how);
  return shunt_cublaslt_multiply(l, &a, &b, &c, one, zero, math, leaves_room, memory[3],
                                 sizeof memory[3], NULL);
}
static shunt_status multiply(struct shunt_cublaslt *l, shunt_type type, enum shunt_math math)
{
  return multiply_beside(l, type, math, false);
}

static void test_compute_types(void)
{
  static const struct {
    shunt_type type;
    enum shunt_math math;
    cublasComputeType_t compute;
    cudaDataType_t scalars;
    int asked; /* for algorithms until then: one for each type and arithmetic */
  } cases[] = {
      {SHUNT_F32, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1},
      {SHUNT_F32, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_TF32X3, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
      {SHUNT_F16, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F, CUDA_R_32F, 3},
      {SHUNT_F16, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 3},
      {SHUNT_BF16, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F, CUDA_R_32F, 4},
      {SHUNT_F64, SHUNT_MATH_TF32, CUBLAS_COMPUTE_64F, CUDA_R_64F, 5},
      {SHUNT_F64, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_64F, CUDA_R_64F, 5},
  };
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  lt.asked = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    shunt_status s = multiply(l, cases[i].type, cases[i].math);
    check(s == SHUNT_OK && lt.how.compute == cases[i].compute && lt.how.scalars == cases[i].scalars,
          "type %d, %s: compute type %d", (int)cases[i].type,
          cases[i].math == SHUNT_MATH_EXACT ? "exact" : "tf32, or in three", (int)lt.how.compute);
    check(lt.asked == cases[i].asked, "with an algorithm that was asked for so: %d by now",
          lt.asked);
  }
}

static void test_no_tf32(void)
{
  struct shunt_cublaslt *l = open_one();
  int before = lt.products;
  lt.no_tf32 = true;
  check(multiply(l, SHUNT_F32, SHUNT_MATH_TF32) == SHUNT_E_UNSUPPORTED && lt.products == before,
        "no algorithm in TF32: unsupported, and no product");
  check(multiply(l, SHUNT_F32, SHUNT_MATH_EXACT) == SHUNT_OK, "exact has one all the same");
  lt.no_tf32 = false;
}

/* More shapes than are remembered, as programs have whose batches vary: each has its product, the
   first of them are not asked for again, and what is not kept is freed.  */
static void test_many_shapes(void)
{
  enum { SHAPES = 20000 };
  static char room[256] __attribute__((aligned(256)));
  const struct shunt_scalar one = {.host = 1}, zero = {.host = 0};
  struct shunt_cublaslt *l = open_one();
  int done = 0, products = lt.products, held = lt.held, asked[2];
  for (int round = 0; round < 2; round++) {
    lt.asked = 0;
    for (int64_t n = 1; n <= SHAPES; n++) {
      struct shunt_dense a = {8, 8, 8, 1, room, SHUNT_F16}, b = {8, n, n, 1, room, SHUNT_F16};
      struct shunt_dense c = {8, n, n, 1, room, SHUNT_F16};
      done += shunt_cublaslt_multiply(l, &a, &b, &c, one, zero, SHUNT_MATH_EXACT, false, room,
                                      sizeof room, NULL) == SHUNT_OK;
    }
    asked[round] = lt.asked;
  }
  check(done == 2 * SHAPES && lt.products == products + done, "%d products of as many shapes",
        done);
  check(asked[0] == SHAPES && asked[1] < SHAPES - 3000, "%d of them were remembered",
        asked[0] - asked[1]);
  check((lt.held - held) / 4 == asked[0] - asked[1], "and the others' descriptions freed");
}

/* ---- the route, by SHUNT_MATH --------------------------------------------------------------- */

static char workspace[1 << 20] __attribute__((aligned(256)));

/* Runs `word` on the dense route; false: it failed, or there was not one product in `compute`. */
static bool runs_in(const char *word, const struct shunt_packed_view *kept,
                    cublasComputeType_t compute)
{
  struct shunt_context e = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                            .memory_bytes = 1ll << 37};
  struct shunt_problem p;
  if (shunt_problem_parse(word, &p) != SHUNT_OK) return false;
  e.gemm = open_one();
  struct shunt_call c = {.problem = &p,
                         .context = &e,
                         .packed = kept,
                         .library = true,
                         .workspace = workspace,
                         .workspace_bytes = sizeof workspace};
  double us;
  int before = lt.products;
  memset(&lt.how, -1, sizeof lt.how);
  struct shunt_call closed = c;
  closed.library = false;
  return shunt_route_dense.fits(&p, &e).reason == SHUNT_FITS &&
         shunt_route_dense.expect(&closed, &us).reason == SHUNT_R_LIBRARY &&
         shunt_route_dense.run(&closed) == SHUNT_E_UNSUPPORTED && lt.products == before &&
         shunt_route_dense.expect(&c, &us).reason == SHUNT_FITS &&
         shunt_route_dense.run(&c) == SHUNT_OK && lt.products == before + 1 &&
         lt.how.compute == compute;
}

#define SIZES "i32b0:m64n32k48z500"

static bool f32_in(cublasComputeType_t compute)
{
  uint32_t words[3];
  struct shunt_fingerprint print;
  struct shunt_packed_view kept = {.irregular = &words[0],
                                   .fingerprint = &print,
                                   .payload = workspace,
                                   .payload_bytes = sizeof workspace,
                                   .changed = &words[1],
                                   .nonfinite = &words[2]};
  static const char *const words_of[] = {
      "spmm:csr:f32.f32.f32.f32:" SIZES ":NN:rr:ld32.32:a1b0:alg0",
      "spmm:csr:f32.f32.f32.f32:" SIZES ":NN:cc:ld48.64:a0.5b2:alg0",
      "spmm:csr:f32.f32.f32.f32:" SIZES ":TN:rr:ld32.32:a1b0:alg0",
  };
  for (unsigned i = 0; i < sizeof words_of / sizeof words_of[0]; i++)
    if (!runs_in(words_of[i], NULL, compute) || !runs_in(words_of[i], &kept, compute)) return false;
  return runs_in("sddmm:csr:f32.f32.f32.f32:" SIZES ":NN:rr:ld48.32:a1b0:alg0", NULL, compute) &&
         runs_in("sddmm:csr:f32.f32.f32.f32:" SIZES ":NN:rr:ld48.32:a1b2:alg0", NULL, compute);
}

/* f16 and bf16 know one arithmetic only. */
static bool halves_unchanged(void)
{
  return runs_in("spmm:csr:f16.f16.f16.f32:" SIZES ":NN:rr:ld32.32:a1b0:alg0", NULL,
                 CUBLAS_COMPUTE_32F) &&
         runs_in("spmm:csr:bf16.bf16.f32.f32:" SIZES ":NN:rr:ld32.32:a1b2:alg0", NULL,
                 CUBLAS_COMPUTE_32F) &&
         runs_in("sddmm:csr:f16.f16.f16.f32:" SIZES ":NN:rr:ld48.32:a1b0:alg0", NULL,
                 CUBLAS_COMPUTE_32F);
}

static bool is_exact(void)
{
  return f32_in(CUBLAS_COMPUTE_32F) && halves_unchanged();
}

static bool is_tf32(void)
{
  return f32_in(CUBLAS_COMPUTE_32F_FAST_TF32) && halves_unchanged();
}

/* What the route expects a large kept product to take, in microseconds. */
static double expected_us(const char *word)
{
  struct shunt_context e = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                            .memory_bytes = 1ll << 37};
  struct shunt_problem p;
  struct shunt_call c = {.problem = &p, .context = &e, .will_pack = true, .library = true};
  double us = 0;
  if (shunt_problem_parse(word, &p) == SHUNT_OK) shunt_route_dense.expect(&c, &us);
  return us;
}

/* Below half of what f32 would take at its peak on an H200, 67 TFLOP/s. */
static bool costs_less(void)
{
  double flop = 2.0 * 4096 * 4096 * 4096, least = flop / 67e6;
  double spmm = expected_us("spmm:csr:f32.f32.f32.f32:i32b0:m4096n4096k4096z838860:NN:rr:"
                            "ld4096.4096:a1b0:alg0");
  double sddmm = expected_us("sddmm:csr:f32.f32.f32.f32:i32b0:m4096n4096k4096z838860:NN:rr:"
                             "ld4096.4096:a1b0:alg0");
  return spmm > 0 && spmm < least / 2 && sddmm > 0 && sddmm < least / 2;
}

static bool costs_as_much(void)
{
  return !costs_less();
}

/* ---- children ---------------------------------------------------------------------------------
 */

/* Does body() say yes where SHUNT_MATH is `value` (NULL: unset)?  `said` gets what the child wrote
   to stderr.  */
static bool in_child(const char *value, bool (*body)(void), char said[512])
{
  int ends[2], status = 1;
  ssize_t n = 0, got;
  fflush(stdout);
  if (pipe(ends) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    if (value)
      setenv("SHUNT_MATH", value, 1);
    else
      unsetenv("SHUNT_MATH");
    _exit(body() ? 0 : 1);
  }
  close(ends[1]);
  while ((got = read(ends[0], said + n, (size_t)(511 - n))) > 0) n += got;
  said[n] = 0;
  close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void test_option(void)
{
  static const struct {
    const char *value;
    bool tf32, warns;
  } cases[] = {
      {NULL, false, false},     {"", false, false},       {"exact", false, false},
      {"tf32", true, false},    {"TF32", false, true},    {"tf32 ", false, true},
      {"tf32x3", false, false}, {"exactly", false, true}, {"1", false, true},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *value = cases[i].value, *word = cases[i].tf32 ? "tf32" : "exact";
    char said[512], wanted[512] = "";
    check(in_child(value, cases[i].tf32 ? is_tf32 : is_exact, said),
          "SHUNT_MATH=%s: products are %s", value ? value : "(unset)", word);
    if (cases[i].warns)
      snprintf(wanted, sizeof wanted,
               "shunt: SHUNT_MATH=%s is not understood; accepted: exact, tf32, tf32x3\n", value);
    check(strcmp(said, wanted) == 0, "and says '%.*s'", (int)strcspn(said, "\n"), said);
    check(in_child(value, cases[i].tf32 ? costs_less : costs_as_much, said), "and costs are %s's",
          word);
  }
}

/* What is chosen for the workspace that is advised is taken where what there is does for it. */
static void test_workspace(void)
{
  const size_t given = sizeof memory[3];
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  lt.needs = given, lt.asked = 0;
  check(multiply(l, SHUNT_F32, SHUNT_MATH_EXACT) == SHUNT_OK && lt.asked == 1 &&
            lt.room == SHUNT_CUBLAS_WORKSPACE,
        "asked for as much as is advised: %zu bytes", lt.room);
  lt.needs = given + 1, lt.asked = 0;
  check(multiply(l, SHUNT_F64, SHUNT_MATH_EXACT) == SHUNT_OK && lt.asked == 2 && lt.room == given,
        "where that needs more, asked again for what there is: %zu bytes", lt.room);
  lt.needs = 0;
}

/* Only where C is of the type that is summed in may it take what blocks have summed. */
static void test_reductions(void)
{
  static const struct {
    shunt_type type;
    enum shunt_math math;
    bool in_place;
  } cases[] = {{SHUNT_F16, SHUNT_MATH_EXACT, false},
               {SHUNT_F32, SHUNT_MATH_EXACT, true},
               {SHUNT_F32, SHUNT_MATH_TF32, false},
               {SHUNT_F64, SHUNT_MATH_EXACT, false}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_cublaslt *l = open_one();
    if (!check(l != NULL, "the stand-in opens")) return;
    lt.reductions = 0;
    check(multiply(l, cases[i].type, cases[i].math) == SHUNT_OK &&
              lt.reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE &&
              !(lt.reductions & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE) &&
              !(lt.reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE) == !cases[i].in_place,
          "parts of K come together in what is computed in: %u", lt.reductions);
  }
}

/* Beside a product that leaves room other work is to run: another algorithm, kept apart.  */
static void test_room(void)
{
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  check(multiply(l, SHUNT_F16, SHUNT_MATH_EXACT) == SHUNT_OK && lt.algorithm == 0,
        "cuBLASLt's first choice");
  check(multiply_beside(l, SHUNT_F16, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 2,
        "the first that leaves room");
  check(multiply_beside(l, SHUNT_F32, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 0,
        "not in f32,");
  check(multiply_beside(l, SHUNT_F64, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 0,
        "nor in f64");
  check(multiply(l, SHUNT_F16, SHUNT_MATH_EXACT) == SHUNT_OK && lt.algorithm == 0,
        "and the first again");
}

int main(void)
{
  test_compute_types();
  test_room();
  test_reductions();
  test_workspace();
  test_no_tf32();
  test_many_shapes();
  test_option();
  return check_finish();
}
