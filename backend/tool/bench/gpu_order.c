#include "backend/tool/bench/gpu_order.h"

#if CUDART_VERSION >= 13000

#include <stdlib.h>

bool gpu_order_note(struct gpu_order *o, cudaStream_t stream)
{
  enum cudaStreamCaptureStatus status;
  cudaGraph_t graph = NULL;
  if (cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL) != cudaSuccess ||
      status != cudaStreamCaptureStatusActive || o->count == GPU_ORDER_MOST)
    return false;
  return cudaGraphGetNodes(graph, NULL, &o->end[o->count++]) == cudaSuccess;
}

/* A captured graph: its nodes in the order of their making, and its edges. */
struct drawn {
  cudaGraph_t graph;
  cudaGraphNode_t *node, *from, *to;
  cudaGraphEdgeData *data;
  size_t nodes, edges;
};

/* The memory behind it, which the caller frees; NULL: a call failed. */
static void *draw(cudaGraph_t graph, struct drawn *d)
{
  d->graph = graph;
  if (cudaGraphGetNodes(graph, NULL, &d->nodes) != cudaSuccess ||
      cudaGraphGetEdges(graph, NULL, NULL, NULL, &d->edges) != cudaSuccess)
    return NULL;
  char *memory =
      calloc(1, (d->nodes + 2 * d->edges) * sizeof *d->node + (d->edges + 1) * sizeof *d->data);
  if (!memory) return NULL;
  d->node = (cudaGraphNode_t *)memory;
  d->from = d->node + d->nodes;
  d->to = d->from + d->edges;
  d->data = (cudaGraphEdgeData *)(d->to + d->edges);
  if (cudaGraphGetNodes(graph, d->node, &d->nodes) == cudaSuccess &&
      (d->edges == 0 ||
       cudaGraphGetEdges(graph, d->from, d->to, d->data, &d->edges) == cudaSuccess))
    return memory;
  free(memory);
  return NULL;
}

/* Which product it is part of; -1: of none. */
static int product_of(const struct gpu_order *o, const struct drawn *d, cudaGraphNode_t node)
{
  size_t at = 0;
  while (at < d->nodes && d->node[at] != node) at++;
  for (int i = 0; i < o->count; i++)
    if (at < o->end[i]) return i;
  return -1;
}

/* Edge i, between two products: full, and from each node of the first. */
static bool order_behind(const struct gpu_order *o, const struct drawn *d, size_t i, int product)
{
  const cudaGraphEdgeData full = {.type = cudaGraphDependencyTypeDefault};
  if (cudaGraphRemoveDependencies(d->graph, &d->from[i], &d->to[i], &d->data[i], 1) != cudaSuccess)
    return false;
  for (size_t k = product ? o->end[product - 1] : 0; k < o->end[product]; k++)
    if (cudaGraphAddDependencies(d->graph, &d->node[k], &d->to[i], &full, 1) != cudaSuccess)
      return false;
  return true;
}

bool gpu_order_products(const struct gpu_order *o, cudaGraph_t graph)
{
  struct drawn d;
  if (o->count == 0) return true;
  void *memory = draw(graph, &d);
  bool good = memory != NULL;
  for (size_t i = 0; good && i < d.edges; i++) {
    const int product = product_of(o, &d, d.from[i]);
    if (d.data[i].type == cudaGraphDependencyTypeProgrammatic &&
        product != product_of(o, &d, d.to[i]))
      good = product >= 0 && order_behind(o, &d, i, product);
  }
  free(memory);
  return good;
}

#else /* the calls that tell and take edges have other names there; cuSPARSE 12.9 wants CUDA 13 */

bool gpu_order_note(struct gpu_order *o, cudaStream_t stream)
{
  (void)o, (void)stream;
  return true;
}
bool gpu_order_products(const struct gpu_order *o, cudaGraph_t graph)
{
  (void)o, (void)graph;
  return true;
}

#endif
