/* test_math.c: SHUNT_MATH: in what arithmetic the dense route has products computed.

   The route, the options and cublaslt.c are the real ones; cuBLASLt is a stand-in.  What the route
   launches beside the product does nothing here.  Options are read once a process, so each value of
   SHUNT_MATH has a child of its own.  */
#include <sys/wait.h>
#include <unistd.h>

#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/graph_overlap.h"
#include "backend/routes/routes.h"
#include "conv/dense/dense_conv.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/unit/check.h"
#include "tests/unit/plan/cublaslt_stand_in.h"

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

int main(void)
{
  test_option();
  return check_finish();
}
