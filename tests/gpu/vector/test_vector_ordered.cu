// test_vector_ordered.cu: the planner puts the rows of a matrix in another order where that pays
// (backend/routes/vector_packed.h): not at once, in place of what another route had packed by then,
// once for a matrix as it is; and no result is of what the matrix used to hold.
#include <numeric>
#include <string>

#include "tests/gpu/common/harness.cuh"

extern "C" {
#include "backend/plan/planner.h"
}

using namespace harness;

enum { SIDE = 4096, WIDTH = 256, MOST_CALLS = 160 };

// Eights of rows with one list, in a random order; share 1: nothing in common.
static Pattern shuffled(double density, int share, uint64_t seed)
{
  const Pattern p = random_pattern(SIDE, SIDE, density, share, seed);
  Random r(seed + 1);
  std::vector<int64_t> order(SIDE);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = SIDE - 1; i > 0; i--) std::swap(order[(size_t)i], order[(size_t)r.below(i + 1)]);
  Pattern out;
  out.rows = out.cols = SIDE;
  for (int64_t row : order) {
    for (int64_t e = p.offsets[(size_t)row]; e < p.offsets[(size_t)row + 1]; e++)
      out.columns.push_back(p.columns[(size_t)e]);
    out.offsets.push_back(out.nnz());
  }
  return out;
}

struct Case {
  Pattern pattern;
  Buffer offsets, columns, values, b, c;
  std::vector<float> wide_b;
  void *workspace = nullptr;
  size_t workspace_bytes = 0;
  shunt_problem p = {};
  cudaStream_t stream;
  Random r;

  Case(const Pattern &a, uint64_t seed)
      : pattern(a), offsets((SIDE + 1) * 4), columns(a.nnz() * 4), values(a.nnz() * 2),
        b(SIDE * WIDTH * 2), c(SIDE * WIDTH * 2), wide_b(SIDE * WIDTH), r(seed)
  {
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    p.op = SHUNT_SPMM;
    p.format = SHUNT_CSR;
    p.op_a = p.op_b = 'N';
    p.batches = 1;
    p.spmm.a = {SIDE,      SIDE,      a.nnz(), offsets.device, columns.device, values.device,
                SHUNT_I32, SHUNT_F16, 0};
    p.spmm.b = {SIDE, WIDTH, WIDTH, 1, b.device, SHUNT_F16};
    p.spmm.c = {SIDE, WIDTH, WIDTH, 1, c.device, SHUNT_F16};
    p.spmm.alpha.host = 1;
    p.spmm.compute = SHUNT_F32;
    for (int64_t i = 0; i < SIDE * WIDTH; i++) {
      store(b.host.data(), i, SHUNT_F16, r.value());
      wide_b[(size_t)i] = (float)load(b.host.data(), i, SHUNT_F16);
      store(c.host.data(), i, SHUNT_F16, r.value());
    }
    b.upload();
    c.upload();
    write_pattern();
    write_values();
    workspace_bytes = shunt_plan_workspace(&p, stream, NULL);
    CUDA_OK(cudaMalloc(&workspace, workspace_bytes + 1));
  }
  ~Case()
  {
    cudaFree(workspace);
    cudaStreamDestroy(stream);
  }
  void write_pattern()
  {
    for (size_t i = 0; i <= SIDE; i++)
      store(offsets.host.data(), (int64_t)i, SHUNT_I32, (double)pattern.offsets[i]);
    for (int64_t e = 0; e < pattern.nnz(); e++)
      store(columns.host.data(), e, SHUNT_I32, (double)pattern.columns[(size_t)e]);
    offsets.upload();
    columns.upload();
  }
  void write_values()
  {
    for (int64_t e = 0; e < pattern.nnz(); e++) store(values.host.data(), e, SHUNT_F16, r.value());
    values.upload();
  }
  // Each column one further: other lists, of the same lengths.
  void turn_columns()
  {
    for (int64_t &k : pattern.columns) k = (k + 1) % SIDE;
    for (size_t i = 0; i < SIDE; i++)
      std::sort(pattern.columns.begin() + pattern.offsets[i],
                pattern.columns.begin() + pattern.offsets[i + 1]);
    write_pattern();
  }
  shunt_answer call() { return shunt_plan_run(&p, workspace, workspace_bytes, stream); }

  // Is C = A B + beta `before` in every eighth row?
  bool right(const std::vector<char> &before)
  {
    static int64_t first;
    const int64_t from = first++ % 8;
    int64_t wrong = 0;
    CUDA_OK(cudaStreamSynchronize(stream));
    c.download();
    for (int64_t i = from; i < SIDE; i += 8) {
      double sum[WIDTH] = {}, scale[WIDTH] = {};
      for (int64_t e = pattern.offsets[(size_t)i]; e < pattern.offsets[(size_t)i + 1]; e++) {
        const float *row = &wide_b[(size_t)(pattern.columns[(size_t)e] * WIDTH)];
        const double x = load(values.host.data(), e, SHUNT_F16);
        for (int j = 0; j < WIDTH; j++) sum[j] += x * row[j], scale[j] += fabs(x * row[j]);
      }
      const int64_t terms = pattern.offsets[(size_t)i + 1] - pattern.offsets[(size_t)i] + 2;
      for (int j = 0; j < WIDTH; j++) {
        const double old = p.spmm.beta.host * load(before.data(), i * WIDTH + j, SHUNT_F16);
        const double want = sum[j] + old, got = load(c.host.data(), i * WIDTH + j, SHUNT_F16);
        wrong += !same_value(got, want,
                             tolerance(SHUNT_F16, SHUNT_F32, scale[j] + fabs(old), want, terms));
      }
    }
    return wrong == 0;
  }
  // A call over poison, or over numbers where they count.
  bool call_is_right()
  {
    const std::vector<char> before = c.host;
    if (p.spmm.beta.host == 0)
      CUDA_OK(cudaMemsetAsync(c.device, 0xff, c.host.size(), stream));
    else
      c.upload();
    return call().why.reason == SHUNT_FITS && right(before);
  }
};

struct History {
  int calls;          // until one was ordered, MOST_CALLS: none was
  std::string routes; // the first letters of those before
};

static History until_ordered(Case &k)
{
  History h = {0, ""};
  for (; h.calls < MOST_CALLS; h.calls++) {
    const shunt_answer a = k.call();
    CUDA_OK(cudaStreamSynchronize(k.stream));
    if (a.how.reason == SHUNT_R_ORDERED) break;
    if (h.routes.empty() || h.routes.back() != a.route[0]) h.routes += a.route[0];
  }
  return h;
}

static void test_changes(Case &k)
{
  const shunt_answer a = k.call();
  check(a.how.reason == SHUNT_R_ORDERED && !strcmp(a.route, "vector"), "and goes on so");
  check(k.call_is_right(), "the ordered product is right");
  k.p.spmm.beta.host = 1;
  check(k.call_is_right(), "with beta = 1, too");
  k.p.spmm.beta.host = 0;
  k.write_values();
  check(k.call_is_right(), "the call after other values is right");
  History h = until_ordered(k);
  check(h.calls > 0 && h.calls < MOST_CALLS, "it is ordered again, %d calls later", h.calls);
  check(k.call_is_right(), "and right");
  k.turn_columns();
  check(k.call_is_right(), "the call after another pattern is right");
  h = until_ordered(k);
  check(h.calls > 0 && h.calls < MOST_CALLS, "it is ordered again, %d calls later", h.calls);
  check(k.call_is_right(), "and right");
}

static void test_graph(Case &k)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(k.stream, cudaStreamCaptureModeThreadLocal));
  const shunt_answer a = k.call();
  CUDA_OK(cudaStreamEndCapture(k.stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  check(a.how.reason == SHUNT_R_ORDERED, "a captured call is ordered");
  for (int i = 0; i < 3; i++) {
    if (i == 1) k.write_values();
    if (i == 2) k.turn_columns();
    CUDA_OK(cudaMemsetAsync(k.c.device, 0xff, k.c.host.size(), k.stream));
    CUDA_OK(cudaGraphLaunch(exec, k.stream));
    check(k.right(k.c.host), "its replay is right, %s",
          i == 0   ? "nothing changed"
          : i == 1 ? "other values"
                   : "another pattern");
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

int main()
{
  {
    Case k(shuffled(0.05, 8, 3), 4);
    check(k.call_is_right(), "the first call is right");
    const History h = until_ordered(k);
    check(h.calls >= 2 && h.calls < MOST_CALLS, "shuffled 8 x 1: ordered after %d calls by %s",
          h.calls, h.routes.c_str());
    check(!h.routes.empty() && h.routes.back() == 'd', "in place of the dense copy");
    test_changes(k);
    test_graph(k);
  }
  {
    Case k(shuffled(0.05, 1, 5), 6);
    const History h = until_ordered(k);
    check(h.calls == MOST_CALLS, "nothing in common: never ordered, %s", h.routes.c_str());
    check(k.call_is_right(), "and right");
  }
  return finish();
}
