/* gpu_cublaslt.c: what cuBLASLt makes of the dense matrix in 8 bits, in the layout that it is
   fastest in.

     cublaslt-i8    C = alpha A B + beta C in int32, into the case's own C
     cublaslt-fp8   D = A B of the same numbers in e4m3, summed in f32 as fast as it can be
                    (FAST_ACCUM), into an f16 D of its own; not checked, as it is rounded

   Its fast kernels want both operands with the inner dimension side by side ("TN"):

       A   m lines of k elements: stored by rows
       B   n lines of k elements: stored by columns, copied so where the case has B by rows
       D   by columns D = A B, by rows D^T = B^T A^T: either is a TN product of the same two

   Lines are padded to 16 bytes.  Of the first algorithms that cuBLASLt proposes the fastest is
   timed.  The library is opened with the first case that it is needed for.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "backend/cublas/cublaslt_functions.h"
#include "backend/tool/bench/gpu_peers.h"

enum { MOST_ALGORITHMS = 4, WORKSPACE = 64 << 20, LINE = 16, APART = 256 };
enum { MOST_BYTES = 1 << 30 }; /* of an operand that is laid out anew, on the host */

struct gpu_cublaslt {
  struct {
    SHUNT_CUBLASLT_FUNCTIONS(MEMBER)
  } call;
  cublasLtHandle_t handle; /* NULL: not found */
  void *workspace;
  /* the product being measured: D = P^T Q in the library's words */
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t layout_p, layout_q, layout_d;
  cublasLtMatmulAlgo_t algorithm;
  const void *p, *q;
  void *d;
  union gpu_scalar alpha, beta;
};

/* ---- opening ---------------------------------------------------------------- */

#define FIND_LT(f) good = (lt->call.f = (__typeof__(&f))dlsym(library, #f)) && good;

static struct gpu_cublaslt *open_cublaslt(void)
{
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                      NULL};
  struct gpu_cublaslt *lt = calloc(1, sizeof *lt);
  void *library = lt ? gpu_open_library(names) : NULL;
  bool good = library != NULL;
  if (good) {
    SHUNT_CUBLASLT_FUNCTIONS(FIND_LT)
  }
  if (good && lt->call.cublasLtCreate(&lt->handle) != CUBLAS_STATUS_SUCCESS) lt->handle = NULL;
  return lt;
}

void gpu_cublaslt_close(struct gpu_cublaslt *lt)
{
  if (!lt) return;
  if (lt->handle) lt->call.cublasLtDestroy(lt->handle);
  cudaFree(lt->workspace);
  free(lt);
}

/* ---- operands ---------------------------------------------------------------- */

/* e4m3: a sign, 4 bits of exponent plus 7, 3 bits of mantissa.  It has all integers from -16 to 16;
   larger ones lose their low bits.  */
static uint8_t to_e4m3(int8_t x)
{
  const int magnitude = x < 0 ? -x : x;
  int exponent = 0;
  if (magnitude == 0) return 0;
  while (magnitude >> (exponent + 1)) exponent++;
  return (uint8_t)((x < 0 ? 0x80 : 0) | (exponent + 7) << 3 | (magnitude << 3 >> exponent & 7));
}

/* `lines` of k elements, `apart` bytes from one to the next. */
struct lines {
  void *values;
  int64_t lines, k, apart;
};

/* What lies on the device at `from`: A's rows, or B's columns, whatever the order. */
static bool copy_lines(const struct shunt_dense *from, bool columns, bool e4m3,
                       const struct lines *to, struct bench_way *w)
{
  const size_t bytes = (size_t)(from->col_stride == 1 ? from->rows * from->row_stride
                                                      : from->cols * from->col_stride);
  const int64_t line = columns ? from->col_stride : from->row_stride;
  const int64_t step = columns ? from->row_stride : from->col_stride;
  const bool fits = (double)to->lines * (double)to->apart <= MOST_BYTES;
  int8_t *whole = fits ? malloc(bytes) : NULL;
  uint8_t *out = fits ? calloc((size_t)to->lines, (size_t)to->apart) : NULL;
  bool good = whole && out;
  if (!good) snprintf(w->note, sizeof w->note, "too large to be laid out on the host");
  good = good && cudaMemcpy(whole, from->values, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int64_t i = 0; good && i < to->lines; i++)
    for (int64_t j = 0; j < to->k; j++) {
      const int8_t x = whole[i * line + j * step];
      out[i * to->apart + j] = e4m3 ? to_e4m3(x) : (uint8_t)x;
    }
  good = good && cudaMemcpy(to->values, out, (size_t)(to->lines * to->apart),
                            cudaMemcpyHostToDevice) == cudaSuccess;
  if (!good && !w->note[0]) snprintf(w->note, sizeof w->note, "the operands could not be copied");
  free(whole);
  free(out);
  return good;
}

static int64_t padded(int64_t x, int64_t to)
{
  return (x + to - 1) / to * to;
}

/* The operands in the layout above; what of them is not the case's own is at g->converted. */
static bool place_operands(struct gpu_case *g, bool e4m3, struct lines *a, struct lines *b,
                           struct shunt_dense *d, struct bench_way *w)
{
  const struct shunt_dense *given = &g->p.spmm.b, *c = &g->p.spmm.c;
  const int64_t k = given->rows, apart = padded(k, LINE);
  const bool rows = gpu_is_row_major(c);
  *a = (struct lines){g->dense.values, c->rows, k, g->dense.row_stride};
  *b = (struct lines){NULL, c->cols, k, apart};
  *d = *c;
  if (e4m3) {
    const int64_t ld = padded(rows ? c->cols : c->rows, 8);
    *d = (struct shunt_dense){c->rows, c->cols, rows ? ld : 1, rows ? 1 : ld, NULL, SHUNT_F16};
    a->apart = apart;
  }
  const int64_t bytes_b = padded(b->lines * apart, APART);
  const int64_t bytes_a = e4m3 ? padded(a->lines * apart, APART) : 0;
  const int64_t bytes_d = e4m3 ? 2 * gpu_leading(d) * (rows ? c->rows : c->cols) : 0;
  if (!gpu_get(&g->converted, (size_t)(bytes_b + bytes_a + bytes_d), "operands", w)) return false;
  b->values = g->converted;
  if (e4m3) {
    a->values = (char *)g->converted + bytes_b;
    d->values = (char *)g->converted + bytes_b + bytes_a;
  }
  return copy_lines(given, true, e4m3, b, w) && (!e4m3 || copy_lines(&g->dense, false, true, a, w));
}

/* ---- the product -------------------------------------------------------------- */

#define LT(call) ((call) == CUBLAS_STATUS_SUCCESS)

static bool describe(struct gpu_cublaslt *lt, const struct lines *p, const struct lines *q,
                     const struct shunt_dense *d, bool e4m3)
{
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const cudaDataType type = e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8I;
  const int8_t fast = 1;
  lt->p = p->values;
  lt->q = q->values;
  lt->d = d->values;
  return LT(lt->call.cublasLtMatmulDescCreate(&lt->how,
                                              e4m3 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32I,
                                              e4m3 ? CUDA_R_32F : CUDA_R_32I)) &&
         LT(lt->call.cublasLtMatmulDescSetAttribute(lt->how, CUBLASLT_MATMUL_DESC_TRANSA,
                                                    &transposed, sizeof transposed)) &&
         (!e4m3 || LT(lt->call.cublasLtMatmulDescSetAttribute(
                       lt->how, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast))) &&
         LT(lt->call.cublasLtMatrixLayoutCreate(&lt->layout_p, type, (uint64_t)p->k,
                                                (uint64_t)p->lines, p->apart)) &&
         LT(lt->call.cublasLtMatrixLayoutCreate(&lt->layout_q, type, (uint64_t)q->k,
                                                (uint64_t)q->lines, q->apart)) &&
         LT(lt->call.cublasLtMatrixLayoutCreate(&lt->layout_d, gpu_cuda_type(d->type),
                                                (uint64_t)p->lines, (uint64_t)q->lines,
                                                gpu_leading(d)));
}

/* How many algorithms it proposes. */
static int ask(struct gpu_cublaslt *lt, cublasLtMatmulHeuristicResult_t *answer)
{
  const size_t workspace = WORKSPACE;
  cublasLtMatmulPreference_t wish = NULL;
  int count = 0;
  if (LT(lt->call.cublasLtMatmulPreferenceCreate(&wish)) &&
      LT(lt->call.cublasLtMatmulPreferenceSetAttribute(
          wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace)))
    lt->call.cublasLtMatmulAlgoGetHeuristic(lt->handle, lt->how, lt->layout_p, lt->layout_q,
                                            lt->layout_d, lt->layout_d, wish, MOST_ALGORITHMS,
                                            answer, &count);
  if (wish) lt->call.cublasLtMatmulPreferenceDestroy(wish);
  return count;
}

shunt_status gpu_cublaslt(struct gpu_case *g, cudaStream_t stream)
{
  struct gpu_cublaslt *lt = g->gpu->peers->lt;
  cublasStatus_t status = lt->call.cublasLtMatmul(
      lt->handle, lt->how, &lt->alpha, lt->p, lt->layout_p, lt->q, lt->layout_q, &lt->beta, lt->d,
      lt->layout_d, lt->d, lt->layout_d, &lt->algorithm, lt->workspace, WORKSPACE, stream);
  if (status == CUBLAS_STATUS_SUCCESS) return SHUNT_OK;
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? SHUNT_E_UNSUPPORTED : SHUNT_E_CUDA;
}

/* The fastest of those proposed; false: none runs. */
static bool choose(struct gpu_case *g, struct gpu_cublaslt *lt)
{
  cublasLtMatmulHeuristicResult_t answer[MOST_ALGORITHMS];
  const int count = ask(lt, answer);
  double least = -1, us;
  cublasLtMatmulAlgo_t best = {{0}};
  const struct gpu_timed way = {gpu_cublaslt, false};
  const char *timing;
  for (int i = 0; i < count; i++) {
    lt->algorithm = answer[i].algo;
    if (answer[i].state != CUBLAS_STATUS_SUCCESS || !gpu_time(g, &way, true, &us, &timing))
      continue;
    if (least < 0 || us < least) {
      least = us;
      best = answer[i].algo;
    }
  }
  lt->algorithm = best;
  return least >= 0;
}

void gpu_finish_cublaslt(struct gpu_case *g)
{
  struct gpu_cublaslt *lt = g->gpu->peers->lt;
  if (lt->how) lt->call.cublasLtMatmulDescDestroy(lt->how);
  if (lt->layout_p) lt->call.cublasLtMatrixLayoutDestroy(lt->layout_p);
  if (lt->layout_q) lt->call.cublasLtMatrixLayoutDestroy(lt->layout_q);
  if (lt->layout_d) lt->call.cublasLtMatrixLayoutDestroy(lt->layout_d);
  lt->how = NULL;
  lt->layout_p = lt->layout_q = lt->layout_d = NULL;
}

bool gpu_prepare_cublaslt(struct gpu_case *g, bool e4m3, struct bench_way *w)
{
  struct gpu_peers *peers = g->gpu->peers;
  const struct shunt_spmm *spmm = &g->checked.spmm; /* with host scalars */
  struct lines a, b;
  struct shunt_dense d;
  if (!peers->lt) peers->lt = open_cublaslt();
  struct gpu_cublaslt *lt = peers->lt;
  if (!lt || !lt->handle) {
    snprintf(w->note, sizeof w->note, "cuBLASLt was not found");
    return false;
  }
  if (!lt->workspace && !gpu_get(&lt->workspace, WORKSPACE, "workspace", w)) return false;
  if (!gpu_prepare_dense(g, w) || !place_operands(g, e4m3, &a, &b, &d, w)) return false;
  const struct shunt_scalar one = {.host = 1}, zero = {.host = 0};
  lt->alpha = gpu_scalar_of(e4m3 ? &one : &spmm->alpha, e4m3 ? SHUNT_F32 : SHUNT_I32);
  lt->beta = gpu_scalar_of(e4m3 ? &zero : &spmm->beta, e4m3 ? SHUNT_F32 : SHUNT_I32);
  const bool rows = gpu_is_row_major(&d);
  if (describe(lt, rows ? &b : &a, rows ? &a : &b, &d, e4m3) && choose(g, lt)) return true;
  cudaGetLastError();
  snprintf(w->note, sizeof w->note, "cuBLASLt has no kernel for these sizes on this GPU");
  gpu_finish_cublaslt(g);
  return false;
}
