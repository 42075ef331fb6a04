// stale_epochs.cu: what a preprocess promises holds from when it ran until its buffer is given up,
// and nothing is believed of a matrix outside of that.
//
//   stale_epochs [ROUNDS [SEED]]
//
// All values of the matrix are one, as an adjacency's are, so that its columns can change in place
// without a value changing.  The row offsets stay.  Each scene is a story about one descriptor:
//
//   captured        {preprocess, product} in a graph that is never launched, or launched once;
//                   plain calls with the same buffer and with another; columns change; plain calls
//                   again
//   graph again     {preprocess, product} in a graph; a preprocess and calls outside of it; columns
//                   change; the graph is launched, which preprocesses the buffer anew; plain calls
//   replayed        {preprocess, product} in a graph, launched again after the columns changed
//   two streams     preprocess on one, products on another; a new preprocess after a change
//   capture beside  a preprocess is being captured on one stream while products run on another
//   ended           a product captured within an epoch, launched after it: after another
//                   preprocess, and after the descriptor is destroyed
//   pointers        cusparseCsrSetPointers or cusparseCscSetPointers to other arrays and back,
//                   while the columns change; cusparseSpMatSetValues within an epoch
//   two handles     one preprocesses, both multiply, the other one preprocesses after a change
//
// After each change the result of before is compared, too: it must be wrong by now, or the change
// would prove nothing.  Graphs that are not launched use CUSPARSE_SPMM_CSR_ALG2, which needs no
// preprocess: what other algorithms would find in their buffer, nobody has written.
//
// Run plainly and under Shunt, with SHUNT_ROUTES as they are and forced (check_gpu.sh).
#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

enum { SETTLE = 12 };

struct Lane {
  cudaStream_t stream;
  cusparseHandle_t handle;
};

struct Scene {
  Lane lane[2];
  Operands o;
  bool csc;
  int group, algorithm;
  void *buffer[3]; // the last for graphs alone, where they need what a preprocess wrote
  size_t bytes;
  uint64_t seed;
  Outcome *outcome;
  cudaEvent_t event;
  int64_t wrong, blunt, refused; // elements; changes that the result of before survived; calls
};

static const float one = 1, zero = 0;

__global__ void ones_kernel(void *p, int64_t n, cudaDataType t)
{
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x)
    put(p, i, t, 1);
}

static void set_ones(void *values, const Csr &a, cudaStream_t stream)
{
  ones_kernel<<<blocks_for(a.nnz), 256, 0, stream>>>(values, a.nnz, a.type);
  CUDA_OK(cudaGetLastError());
}

// ---- the calls -----------------------------------------------------------------------------
static cusparseOperation_t op_a(const Scene &s)
{
  return s.csc ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

static void create_sparse(Scene &s)
{
  const Csr &a = s.o.p.a;
  if (s.csc)
    SPARSE_OK(cusparseCreateCsc(&s.o.sparse, a.cols, a.rows, a.nnz, a.offsets, a.columns, a.values,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                a.type));
  else
    SPARSE_OK(cusparseCreateCsr(&s.o.sparse, a.rows, a.cols, a.nnz, a.offsets, a.columns, a.values,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                a.type));
}

static bool ask_bytes(Scene &s, int algorithm)
{
  size_t bytes = 0;
  if (cusparseSpMM_bufferSize(s.lane[0].handle, op_a(s), CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                              s.o.sparse, s.o.b, &zero, s.o.c, CUDA_R_32F,
                              (cusparseSpMMAlg_t)algorithm, &bytes) != CUSPARSE_STATUS_SUCCESS)
    return false;
  s.bytes = std::max(s.bytes, bytes);
  return true;
}

static void preprocess(Scene &s, int lane, int buffer)
{
  s.refused += cusparseSpMM_preprocess(s.lane[lane].handle, op_a(s),
                                       CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s.o.sparse, s.o.b,
                                       &zero, s.o.c, CUDA_R_32F, (cusparseSpMMAlg_t)s.algorithm,
                                       s.buffer[buffer]) != CUSPARSE_STATUS_SUCCESS;
}

static void multiply(Scene &s, int lane, int buffer)
{
  s.refused +=
      cusparseSpMM(s.lane[lane].handle, op_a(s), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s.o.sparse,
                   s.o.b, &zero, s.o.c, CUDA_R_32F, (cusparseSpMMAlg_t)s.algorithm,
                   s.buffer[buffer]) != CUSPARSE_STATUS_SUCCESS;
}

// What was enqueued on one stream comes before what will be on the other.
static void hand_over(Scene &s, int from, int to)
{
  CUDA_OK(cudaEventRecord(s.event, s.lane[from].stream));
  CUDA_OK(cudaStreamWaitEvent(s.lane[to].stream, s.event, 0));
}

static void poison(Scene &s, int lane)
{
  CUDA_OK(cudaMemsetAsync(s.o.p.c.values, 0xff, output_bytes(s.o.p), s.lane[lane].stream));
}

// Wrong elements of what C holds.
static unsigned look(Scene &s, int lane)
{
  Outcome found;
  cudaStream_t stream = s.lane[lane].stream;
  CUDA_OK(cudaMemsetAsync(s.outcome, 0, sizeof found, stream));
  check_result(s.o.p, s.outcome, stream);
  CUDA_OK(cudaMemcpyAsync(&found, s.outcome, sizeof found, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  return found.loose;
}

// One right product.
static void expect_right(Scene &s, int lane, int buffer)
{
  poison(s, lane);
  multiply(s, lane, buffer);
  s.wrong += look(s, lane);
}

// Calls enough for copies to be made and used; each is checked.
static void settle(Scene &s, int lane, int buffer)
{
  for (int i = 0; i < SETTLE; i++) expect_right(s, lane, buffer);
}

// Other columns, the same offsets and values; C must be of the old matrix.
static void change_columns(Scene &s, int lane)
{
  fill_columns(s.o.p.a, s.group, ++s.seed, PATTERN_PLAIN, s.lane[lane].stream);
  s.blunt += look(s, lane) == 0;
}

// ---- graphs --------------------------------------------------------------------------------
static void begin_capture(Scene &s, int lane)
{
  CUDA_OK(cudaStreamBeginCapture(s.lane[lane].stream, cudaStreamCaptureModeRelaxed));
}

// NULL where the capture was broken.
static cudaGraphExec_t end_capture(Scene &s, int lane)
{
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  if (cudaStreamEndCapture(s.lane[lane].stream, &graph) != cudaSuccess || !graph) {
    cudaGetLastError();
    s.refused++;
    return nullptr;
  }
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  return exec;
}

static void destroy(cudaGraphExec_t exec)
{
  if (exec) CUDA_OK(cudaGraphExecDestroy(exec));
}

static void launch(Scene &s, int lane, cudaGraphExec_t exec)
{
  if (!exec) return;
  poison(s, lane);
  CUDA_OK(cudaGraphLaunch(exec, s.lane[lane].stream));
  s.wrong += look(s, lane);
}

static cudaGraphExec_t capture_both(Scene &s, int lane)
{
  begin_capture(s, lane);
  preprocess(s, lane, 0);
  multiply(s, lane, 0);
  return end_capture(s, lane);
}

// ---- the scenes ----------------------------------------------------------------------------
static void captured(Scene &s, bool launched)
{
  if (!launched) s.algorithm = CUSPARSE_SPMM_CSR_ALG2;
  cudaGraphExec_t exec = capture_both(s, 0);
  if (launched) launch(s, 0, exec);
  for (int buffer : {0, 1}) {
    settle(s, 0, buffer);
    for (int i = 0; i < 3; i++) {
      change_columns(s, 0);
      expect_right(s, 0, buffer);
    }
    settle(s, 0, buffer);
  }
  destroy(exec);
}

static void captured_only(Scene &s)
{
  captured(s, false);
}

static void captured_and_launched(Scene &s)
{
  captured(s, true);
}

static void graph_again(Scene &s)
{
  cudaGraphExec_t exec = capture_both(s, 0);
  launch(s, 0, exec);
  for (int i = 0; i < 3; i++) {
    preprocess(s, 0, 0);
    settle(s, 0, 0);
    change_columns(s, 0);
    launch(s, 0, exec);
    expect_right(s, 0, 0);
  }
  destroy(exec);
}

static void replayed(Scene &s)
{
  settle(s, 0, 1);
  cudaGraphExec_t exec = capture_both(s, 0);
  for (int i = 0; i < 4; i++) {
    launch(s, 0, exec);
    launch(s, 0, exec);
    change_columns(s, 0);
  }
  launch(s, 0, exec);
  destroy(exec);
}

static void two_streams(Scene &s)
{
  for (int i = 0; i < 3; i++) {
    preprocess(s, 0, 0);
    hand_over(s, 0, 1);
    settle(s, 1, 0);
    change_columns(s, 1);
    hand_over(s, 1, 0);
  }
  preprocess(s, 0, 0);
  hand_over(s, 0, 1);
  expect_right(s, 1, 0);
}

static void capture_beside(Scene &s)
{
  s.algorithm = CUSPARSE_SPMM_CSR_ALG2;
  settle(s, 1, 0);
  begin_capture(s, 0);
  preprocess(s, 0, 0);
  settle(s, 1, 0);
  change_columns(s, 1);
  expect_right(s, 1, 0);
  multiply(s, 0, 0);
  cudaGraphExec_t exec = end_capture(s, 0);
  settle(s, 1, 0);
  change_columns(s, 1);
  expect_right(s, 1, 0);
  hand_over(s, 1, 0);
  launch(s, 0, exec);
  destroy(exec);
}

static void ended(Scene &s)
{
  preprocess(s, 0, 2);
  settle(s, 0, 2);
  begin_capture(s, 0);
  multiply(s, 0, 2);
  cudaGraphExec_t exec = end_capture(s, 0);
  launch(s, 0, exec);
  change_columns(s, 0);
  preprocess(s, 0, 1);
  launch(s, 0, exec);
  settle(s, 0, 1);
  launch(s, 0, exec);
  SPARSE_OK(cusparseDestroySpMat(s.o.sparse));
  change_columns(s, 0);
  launch(s, 0, exec);
  create_sparse(s);
  settle(s, 0, 0);
  change_columns(s, 0);
  expect_right(s, 0, 0);
  launch(s, 0, exec);
  destroy(exec);
}

static void point_to(Scene &s, const Csr &a)
{
  SPARSE_OK((s.csc ? cusparseCscSetPointers : cusparseCsrSetPointers)(s.o.sparse, a.offsets,
                                                                      a.columns, a.values));
  s.o.p.a = a;
}

static void pointers(Scene &s)
{
  const Csr first = s.o.p.a;
  Csr second = first;
  void *values = device_bytes((size_t)first.nnz * type_size(first.type));
  second.columns = device_bytes((size_t)first.nnz * 4);
  second.values = values;
  set_ones(values, first, s.lane[0].stream);
  fill_columns(second, s.group, s.seed + 1000, PATTERN_PLAIN, s.lane[0].stream);
  for (int i = 0; i < 2; i++) {
    preprocess(s, 0, 0);
    settle(s, 0, 0);
    point_to(s, second);
    settle(s, 0, 0);
    point_to(s, first);
    expect_right(s, 0, 0);
    point_to(s, second);
    s.o.p.a = first; // change_columns is about the arrays that nobody points to
    change_columns(s, 0);
    point_to(s, first);
    settle(s, 0, 0);
    // Values alone, within an epoch.
    preprocess(s, 0, 0);
    settle(s, 0, 0);
    fill(values, first.nnz, first.type, s.seed, FILL_RANDOM, s.lane[0].stream);
    SPARSE_OK(cusparseSpMatSetValues(s.o.sparse, values));
    s.o.p.a.values = values;
    settle(s, 0, 0);
    set_ones(values, first, s.lane[0].stream);
    settle(s, 0, 0);
    point_to(s, first);
  }
  CUDA_OK(cudaStreamSynchronize(s.lane[0].stream));
  CUDA_OK(cudaFree(second.columns));
  CUDA_OK(cudaFree(values));
}

static void two_handles(Scene &s)
{
  for (int i = 0; i < 3; i++) {
    const int first = i % 2, other = 1 - first;
    preprocess(s, first, 0);
    settle(s, first, 0);
    hand_over(s, first, other);
    settle(s, other, 0);
    hand_over(s, other, first);
    change_columns(s, first);
    hand_over(s, first, other);
    preprocess(s, other, 1);
    expect_right(s, other, 1);
    hand_over(s, other, first);
    expect_right(s, first, 1);
    expect_right(s, first, 0);
  }
}

// ---- all of them ---------------------------------------------------------------------------
struct Kind {
  const char *name;
  Shape shape;
};

static bool set_up(Scene &s, const Kind &k, bool csc, int algorithm, uint64_t seed)
{
  cudaStream_t stream = s.lane[0].stream;
  make_operands(s.o, k.shape, seed, stream);
  s.seed = seed;
  s.group = k.shape.group;
  s.csc = csc;
  s.algorithm = algorithm;
  s.wrong = s.blunt = s.refused = 0;
  SPARSE_OK(cusparseDestroySpMat(s.o.sparse));
  create_sparse(s);
  set_ones(s.o.p.a.values, s.o.p.a, stream);
  CUDA_OK(cudaStreamSynchronize(stream));
  // The algorithms ask for different sizes, and a scene may change it.
  s.bytes = 0;
  if (!ask_bytes(s, algorithm) || !ask_bytes(s, CUSPARSE_SPMM_CSR_ALG2)) {
    destroy_operands(s.o);
    return false;
  }
  for (void *&b : s.buffer) b = device_bytes(s.bytes);
  return true;
}

static void tear_down(Scene &s)
{
  CUDA_OK(cudaDeviceSynchronize());
  for (void *b : s.buffer) CUDA_OK(cudaFree(b));
  destroy_operands(s.o);
}

struct Story {
  const char *name;
  void (*play)(Scene &);
};
static const Story stories[] = {
    {"captured, never launched", captured_only},
    {"captured and launched", captured_and_launched},
    {"a graph that preprocesses again", graph_again},
    {"replayed after a change", replayed},
    {"two streams", two_streams},
    {"a capture beside products", capture_beside},
    {"launched after the epoch", ended},
    {"other pointers", pointers},
    {"two handles", two_handles},
};

static void play_all(Scene &s, const Kind &k, bool csc, int algorithm, uint64_t seed)
{
  for (const Story &story : stories) {
    if (!set_up(s, k, csc, algorithm, seed)) {
      skip("%s, %s%s: not supported", story.name, k.name, csc ? ", csc" : "");
      continue;
    }
    story.play(s);
    check(s.wrong == 0 && s.blunt == 0 && s.refused == 0,
          "%s, %s%s, algorithm %d, seed %llu: %lld wrong elements, %lld changes without effect, "
          "%lld calls refused",
          story.name, k.name, csc ? ", csc" : "", algorithm, (unsigned long long)seed,
          (long long)s.wrong, (long long)s.blunt, (long long)s.refused);
    tear_down(s);
  }
}

int main(int argc, char **argv)
{
  static const Kind kinds[] = {
      {"f16, half full", {false, CUDA_R_16F, 1024, 1024, 128, 0.4, 1, false}},
      {"f16, 8 x 1", {false, CUDA_R_16F, 2048, 2048, 128, 0.1, 8, false}},
      {"bf16, random", {false, CUDA_R_16BF, 1024, 1024, 256, 0.2, 1, false}},
      {"f32, random", {false, CUDA_R_32F, 2000, 2000, 64, 0.05, 1, false}},
      {"f32, 8 x 1, by columns", {false, CUDA_R_32F, 1024, 1024, 64, 0.1, 8, true}},
  };
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  static Scene s;
  for (Lane &l : s.lane) {
    CUDA_OK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
    SPARSE_OK(cusparseCreate(&l.handle));
    SPARSE_OK(cusparseSetStream(l.handle, l.stream));
  }
  CUDA_OK(cudaEventCreateWithFlags(&s.event, cudaEventDisableTiming));
  s.outcome = (Outcome *)device_bytes(sizeof(Outcome));
  for (int round = 0; round < rounds; round++)
    for (const Kind &k : kinds) {
      const uint64_t salt = (seed + (uint64_t)round) * 10000;
      play_all(s, k, false, CUSPARSE_SPMM_ALG_DEFAULT, salt);
      play_all(s, k, false, CUSPARSE_SPMM_CSR_ALG2, salt + 5000);
      play_all(s, k, true, CUSPARSE_SPMM_ALG_DEFAULT, salt + 7000);
    }
  for (Lane &l : s.lane) SPARSE_OK(cusparseDestroy(l.handle));
  CUDA_OK(cudaFree(s.outcome));
  return finish();
}
