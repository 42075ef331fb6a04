/* opening_costs.c: what is paid once in a process, before the first call that uses it.

     opening_costs [LIBCUBLASLT] [--capture]

   Milliseconds of each step, in this order: CUDA itself; pinned memory, a stream, memory; the first
   allocation of a pool; cuBLASLt's opening, and its first answers and products of each type.  With
   --capture the library is opened while a stream is captured, as another thread's capture or one of
   the caller's own may be under way, and the captured product is replayed and checked.

   With tests/gpu/blackbox/quiet_preload.so preloaded it is told for each step which calls of the
   driver wait, allocate or use the default stream.  The table of backend/cublas/lazy_init.c is from
   here (tests/bench/results/first-call.txt).  */
#include <cublasLt.h>
#include <dlfcn.h>
#include <time.h>

#include "tests/clients/common.h"

struct quiet_counts {
  long loud, on_default, on_caller, on_other;
  char first[96];
};
static void (*quiet_begin)(void *);
static void (*quiet_end)(struct quiet_counts *);

static double now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void find_quiet(void)
{
  int (*open)(void);
  *(void **)&open = dlsym(RTLD_DEFAULT, "quiet_open");
  if (!open || open() != 0) return;
  *(void **)&quiet_begin = dlsym(RTLD_DEFAULT, "quiet_begin");
  *(void **)&quiet_end = dlsym(RTLD_DEFAULT, "quiet_end");
}

static double begun;
static cudaStream_t stream;

static void begin(void)
{
  if (quiet_begin) quiet_begin(stream);
  begun = now_ms();
}

static void end(const char *what)
{
  struct quiet_counts q = {0};
  const double ms = now_ms() - begun;
  printf("%9.3f ms  %s", ms, what);
  if (quiet_end) {
    quiet_end(&q);
    printf("   (loud %ld, default %ld, first %s)", q.loud, q.on_default, q.first);
  }
  putchar('\n');
  fflush(stdout);
}

/* One step: its time and its name. */
#define STEP(what, call)                                                                           \
  do {                                                                                             \
    begin();                                                                                       \
    CUDA_OK(call);                                                                                 \
    end(what);                                                                                     \
  } while (0)

/* ---- memory ------------------------------------------------------------------------------ */

static cudaMemPool_t make_pool(void)
{
  cudaMemPool_t pool;
  struct cudaMemPoolProps props;
  memset(&props, 0, sizeof props);
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  STEP("pool, made", cudaMemPoolCreate(&pool, &props));
  return pool;
}

static void time_memory(void)
{
  void *p, *q;
  size_t unused, total;
  cudaStream_t other;
  STEP("cudaMemGetInfo", cudaMemGetInfo(&unused, &total));
  STEP("128 KiB pinned", cudaHostAlloc(&p, 128 << 10, cudaHostAllocPortable));
  STEP("64 KiB pinned", cudaHostAlloc(&p, 64 << 10, cudaHostAllocPortable));
  STEP("stream", cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  STEP("cudaMalloc 64 KiB", cudaMalloc(&p, 64 << 10));
  STEP("cudaMalloc 34 MB", cudaMalloc(&p, 34 << 20));
  STEP("cudaMalloc 70 MB", cudaMalloc(&p, 70 << 20));
  const cudaMemPool_t pool = make_pool();
  STEP("pool, first 64 KiB", cudaMallocFromPoolAsync(&p, 64 << 10, pool, stream));
  STEP("pool, first wait", cudaStreamSynchronize(stream));
  STEP("pool, second 64 KiB", cudaMallocFromPoolAsync(&p, 64 << 10, pool, stream));
  STEP("pool, first 34 MB", cudaMallocFromPoolAsync(&p, 34 << 20, pool, stream));
  STEP("pool, second 34 MB", cudaMallocFromPoolAsync(&q, 34 << 20, pool, stream));
  STEP("pool, free", cudaFreeAsync(q, stream));
  const cudaMemPool_t again = make_pool();
  STEP("second pool, first 34 MB", cudaMallocFromPoolAsync(&p, 34 << 20, again, stream));
  STEP("default pool, first 34 MB", cudaMallocAsync(&p, 34 << 20, stream));
  STEP("cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

/* ---- cuBLASLt ----------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                               \
  X(Create)                                                                                        \
  X(Matmul)                                                                                        \
  X(MatmulAlgoGetHeuristic)                                                                        \
  X(MatmulDescCreate)                                                                              \
  X(MatmulDescSetAttribute)                                                                        \
  X(MatrixLayoutCreate) X(MatmulPreferenceCreate) X(MatmulPreferenceSetAttribute)
static struct {
#define DECLARE(f) __typeof__(cublasLt##f) *f;
  FUNCTIONS(DECLARE)
#undef DECLARE
} lt;
static cublasLtHandle_t handle;
static void *operand[3]; /* D, B, C: 64 MiB each, zeros */
static void *workspace;
static const size_t workspace_bytes = 32 << 20;

static int open_library(const char *name)
{
  begin();
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  end("cuBLASLt, dlopen");
  if (!library) return check(0, "%s: %s", name, dlerror());
#define READ(f)                                                                                    \
  *(void **)&lt.f = dlsym(library, "cublasLt" #f);                                                 \
  if (!lt.f) return check(0, "no " #f);
  FUNCTIONS(READ)
#undef READ
  size_t before, after, total;
  CUDA_OK(cudaMemGetInfo(&before, &total));
  begin();
  const cublasStatus_t s = lt.Create(&handle);
  end("cuBLASLt, handle");
  CUDA_OK(cudaMemGetInfo(&after, &total));
  printf("              device memory %+lld KiB\n", ((long long)before - (long long)after) >> 10);
  return s == CUBLAS_STATUS_SUCCESS || check(0, "cublasLtCreate: %d", s);
}

struct product {
  const char *name;
  cudaDataType type, type_d;
  cublasComputeType_t compute;
  int64_t m, n, k;
  int transposed, answers;
};

/* In column-major words: D[n, m] = X[n, k] A[k, m]. */
static void time_product(const struct product *p)
{
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t x, a, d;
  cublasLtMatmulPreference_t wish;
  cublasLtMatmulHeuristicResult_t answer[8];
  int answers = 0;
  char what[128];
  const float one = 1, zero = 0;
  const cublasOperation_t t = CUBLAS_OP_T;
  lt.MatmulDescCreate(&how, p->compute, CUDA_R_32F);
  if (p->transposed) lt.MatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSB, &t, sizeof t);
  lt.MatrixLayoutCreate(&x, p->type, p->n, p->k, p->n);
  lt.MatrixLayoutCreate(&a, p->type, p->transposed ? p->m : p->k, p->transposed ? p->k : p->m,
                        p->transposed ? p->m : p->k);
  lt.MatrixLayoutCreate(&d, p->type_d, p->n, p->m, p->n);
  lt.MatmulPreferenceCreate(&wish);
  lt.MatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                  sizeof workspace_bytes);
  begin();
  lt.MatmulAlgoGetHeuristic(handle, how, x, a, d, d, wish, p->answers, answer, &answers);
  snprintf(what, sizeof what, "%s, %lld x %lld x %lld%s, %d of %d answers", p->name,
           (long long)p->m, (long long)p->n, (long long)p->k, p->transposed ? ", transposed" : "",
           answers, p->answers);
  end(what);
  if (answers < 1) return;
  begin();
  lt.Matmul(handle, how, &one, operand[1], x, operand[0], a, &zero, operand[2], d, operand[2], d,
            &answer[0].algo, workspace, workspace_bytes, stream);
  end("   its product, enqueued");
}

static void time_products(void)
{
  const cudaDataType H = CUDA_R_16F, B = CUDA_R_16BF, S = CUDA_R_32F;
  const cublasComputeType_t f32 = CUBLAS_COMPUTE_32F, tf32 = CUBLAS_COMPUTE_32F_FAST_TF32;
  const struct product all[] = {
      {"f16", H, H, f32, 4096, 256, 4096, 0, 1},        {"f16", H, H, f32, 4096, 256, 4096, 0, 3},
      {"f16", H, H, f32, 4096, 64, 4096, 0, 3},         {"f16", H, H, f32, 4096, 1024, 4096, 0, 3},
      {"f16", H, H, f32, 4096, 256, 4096, 1, 3},        {"f16", H, H, f32, 1024, 32, 512, 0, 3},
      {"f16 -> f32", H, S, f32, 4096, 256, 4096, 0, 3}, {"bf16", B, B, f32, 4096, 256, 4096, 0, 3},
      {"f32", S, S, f32, 4096, 256, 4096, 0, 3},        {"f32", S, S, f32, 4096, 64, 4096, 0, 3},
      {"f32", S, S, f32, 4096, 256, 4096, 1, 3},        {"tf32", S, S, tf32, 4096, 256, 4096, 0, 3},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) time_product(&all[i]);
  CUDA_OK(cudaStreamSynchronize(stream));
}

static void make_operands(void)
{
  for (int i = 0; i < 3; i++) {
    CUDA_OK(cudaMalloc(&operand[i], 80 << 20));
    CUDA_OK(cudaMemset(operand[i], 0, 80 << 20));
  }
  CUDA_OK(cudaMalloc(&workspace, workspace_bytes));
  CUDA_OK(cudaDeviceSynchronize());
}

/* Opens during a capture of this thread's, in the mode that leaves captures alone; what was
   captured is to be right. */
static void open_in_capture(const char *library)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  static uint16_t ones[4096], got[4096];
  for (int i = 0; i < 4096; i++) ones[i] = half_from_float(1);
  CUDA_OK(cudaMemcpy(operand[0], ones, sizeof ones, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(operand[1], ones, sizeof ones, cudaMemcpyHostToDevice));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  const int opened = open_library(library);
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  if (opened)
    time_product(
        &(struct product){"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 64, 64, 64, 0, 1});
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (!check(ended == cudaSuccess, "the capture stands: %s", cudaGetErrorString(ended))) return;
  CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  CUDA_OK(cudaMemsetAsync(operand[2], 0xff, sizeof got, stream));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaMemcpyAsync(got, operand[2], sizeof got, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < 4096; i++) wrong += half_to_float(got[i]) != 64;
  check(wrong == 0, "the replay is right: %d wrong", wrong);
}

int main(int argc, char **argv)
{
  const char *library = "libcublasLt.so.13";
  int capture = 0;
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "--capture"))
      capture = 1;
    else
      library = argv[i];
  find_quiet();
  STEP("CUDA", cudaFree(NULL));
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  if (!capture) time_memory();
  make_operands();
  if (capture)
    open_in_capture(library);
  else if (open_library(library))
    time_products();
  check(1, "every step ran");
  return finish();
}
