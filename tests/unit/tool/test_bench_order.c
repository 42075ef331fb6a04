/* test_bench_order.c: the products of a captured graph are put in order, each behind all kernels of
   the one before; the edges between a product's own kernels, and those that are full, stay.

   The graph is a stand-in's: nodes are numbers from 1, in the order of their making.  */
#include <string.h>

#include "backend/tool/bench/gpu_order.h"
#include "tests/unit/check.h"

#if CUDART_VERSION >= 13000

enum { MOST = 64 };

static struct {
  size_t nodes, edges;
  struct edge {
    size_t from, to;
    bool programmatic;
  } edge[MOST];
  bool capturing;
  int calls, failing; /* the call of this number fails; 0: none */
} graph;

static bool fails(void)
{
  return ++graph.calls == graph.failing;
}

static cudaGraphNode_t node_of(size_t number)
{
  return (cudaGraphNode_t)number;
}

static cudaGraphEdgeData data_of(const struct edge *e)
{
  return (cudaGraphEdgeData){.type = e->programmatic ? cudaGraphDependencyTypeProgrammatic
                                                     : cudaGraphDependencyTypeDefault};
}

/* ---- the stand-in ------------------------------------------------------------------------ */

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *of,
                                     const cudaGraphNode_t **last, const cudaGraphEdgeData **data,
                                     size_t *count)
{
  (void)stream, (void)id, (void)last, (void)data, (void)count;
  *status = graph.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  *of = (cudaGraph_t)&graph;
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t of, cudaGraphNode_t *nodes, size_t *count)
{
  (void)of;
  for (size_t i = 0; nodes && i < graph.nodes; i++) nodes[i] = node_of(i + 1);
  *count = graph.nodes;
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t of, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *data, size_t *count)
{
  (void)of;
  for (size_t i = 0; from && i < graph.edges; i++) {
    from[i] = node_of(graph.edge[i].from);
    to[i] = node_of(graph.edge[i].to);
    data[i] = data_of(&graph.edge[i]);
  }
  *count = graph.edges;
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

static struct edge *find(size_t from, size_t to)
{
  for (size_t i = 0; i < graph.edges; i++)
    if (graph.edge[i].from == from && graph.edge[i].to == to) return &graph.edge[i];
  return NULL;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t of, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                        size_t count)
{
  struct edge *e = find((size_t)*from, (size_t)*to);
  (void)of;
  if (fails() || count != 1 || !e || data_of(e).type != data->type) return cudaErrorUnknown;
  *e = graph.edge[--graph.edges];
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t of, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                     size_t count)
{
  (void)of;
  if (fails() || count != 1 || graph.edges == MOST || find((size_t)*from, (size_t)*to))
    return cudaErrorUnknown; /* as CUDA refuses an edge that is there */
  graph.edge[graph.edges++] =
      (struct edge){(size_t)*from, (size_t)*to, data->type == cudaGraphDependencyTypeProgrammatic};
  return cudaSuccess;
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* A kernel behind the last one. */
static void capture(bool programmatic)
{
  graph.nodes++;
  if (graph.nodes > 1)
    graph.edge[graph.edges++] = (struct edge){graph.nodes - 1, graph.nodes, programmatic};
}

/* Products of so many kernels each; false: one was not noted. */
static bool capture_products(struct gpu_order *o, int products, int kernels, bool programmatic)
{
  *o = (struct gpu_order){.count = 0};
  graph.nodes = graph.edges = 0;
  graph.capturing = true;
  bool good = true;
  for (int i = 0; i < products; i++) {
    for (int k = 0; k < kernels; k++) capture(programmatic);
    good = gpu_order_note(o, NULL) && good;
  }
  return good;
}

static bool put_in_order(const struct gpu_order *o)
{
  return gpu_order_products(o, (cudaGraph_t)&graph);
}

/* Is each product behind all kernels of the one before, by full edges, and else as captured? */
static bool in_order(int products, int kernels)
{
  for (int i = 0; i < products; i++) {
    const size_t first = (size_t)(i * kernels) + 1;
    for (size_t k = first + 1; k < first + (size_t)kernels; k++)
      if (!find(k - 1, k) || !find(k - 1, k)->programmatic) return false;
    for (size_t k = first - (size_t)kernels; i > 0 && k < first; k++)
      if (!find(k, first) || find(k, first)->programmatic) return false;
  }
  return graph.edges == (size_t)(products * (kernels - 1) + (products - 1) * kernels);
}

static void test_order(void)
{
  struct gpu_order o;
  for (int kernels = 1; kernels <= 4; kernels++) {
    check(capture_products(&o, 5, kernels, true) && put_in_order(&o) && in_order(5, kernels),
          "five products of %d kernels", kernels);
  }
  check(capture_products(&o, 1, 3, true) && put_in_order(&o) && in_order(1, 3), "one product");
  check(capture_products(&o, 3, 2, false) && put_in_order(&o) && graph.edges == 5 && !find(1, 3),
        "full edges stay as they are");
  o.count = 0;
  check(put_in_order(&o) && graph.edges == 5, "a way that is not in order");
}

static void test_limits(void)
{
  struct gpu_order o;
  check(!capture_products(&o, GPU_ORDER_MOST + 1, 1, true) && o.count == GPU_ORDER_MOST,
        "there is room for %d products", GPU_ORDER_MOST);
  capture_products(&o, 1, 1, true);
  graph.capturing = false;
  check(!gpu_order_note(&o, NULL) && o.count == 1, "a stream that is not captured");
  graph.capturing = true;
}

/* Each call in turn. */
static void test_failures(void)
{
  struct gpu_order o;
  int failed = 0;
  for (graph.failing = 1;; graph.failing++) {
    graph.calls = 0;
    const bool good = capture_products(&o, 2, 2, true) && put_in_order(&o);
    if (graph.calls < graph.failing) break;
    failed += !good;
  }
  check(failed == graph.failing - 1 && failed >= 11, "each of %d calls may fail", failed);
  graph.failing = 0;
}

int main(void)
{
  test_order();
  test_limits();
  test_failures();
  return check_finish();
}

#else

int main(void)
{
  check_skip("before CUDA 13 products are not put in order");
  return check_finish();
}

#endif
