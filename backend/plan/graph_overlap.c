#include "backend/plan/graph_overlap.h"

#include <stddef.h>

#include "backend/plan/cuda_call.h"

#if CUDART_VERSION >= 13000

/* What the next work captured on the stream stands behind, if it is one kernel. */
static bool find_last(cudaStream_t stream, cudaGraphNode_t *last)
{
  enum cudaStreamCaptureStatus status;
  const cudaGraphNode_t *nodes;
  enum cudaGraphNodeType type;
  size_t count = 0;
  if (SHUNT_CUDA(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count)) !=
          SHUNT_OK ||
      status != cudaStreamCaptureStatusActive || count != 1)
    return false;
  *last = nodes[0];
  return SHUNT_CUDA(cudaGraphNodeGetType(*last, &type)) == SHUNT_OK &&
         type == cudaGraphNodeTypeKernel;
}

/* Does it begin only when all before it has ended? */
static bool waits(cudaGraphNode_t node)
{
  enum { MOST = 16 };
  cudaGraphNode_t from[MOST];
  cudaGraphEdgeData edge[MOST];
  size_t count = 0;
  if (SHUNT_CUDA(cudaGraphNodeGetDependencies(node, NULL, NULL, &count)) != SHUNT_OK ||
      count > MOST)
    return false;
  if (count && SHUNT_CUDA(cudaGraphNodeGetDependencies(node, from, edge, &count)) != SHUNT_OK)
    return false;
  for (size_t i = 0; i < count; i++)
    if (edge[i].type != cudaGraphDependencyTypeDefault || edge[i].from_port) return false;
  return true;
}

static bool stand_behind(cudaStream_t stream, cudaGraphNode_t node, cudaGraphEdgeData edge)
{
  return SHUNT_CUDA(cudaStreamUpdateCaptureDependencies(
             stream, &node, &edge, 1, cudaStreamSetCaptureDependencies)) == SHUNT_OK;
}

bool shunt_graph_overlap_begin(cudaStream_t stream)
{
  const cudaGraphEdgeData begun = {.from_port = cudaGraphKernelNodePortLaunchCompletion,
                                   .type = cudaGraphDependencyTypeProgrammatic};
  cudaGraphNode_t last;
  return find_last(stream, &last) && waits(last) && stand_behind(stream, last, begun);
}

void shunt_graph_overlap_undo(cudaStream_t stream)
{
  const cudaGraphEdgeData ended = {.from_port = cudaGraphKernelNodePortDefault};
  cudaGraphNode_t last;
  if (find_last(stream, &last)) stand_behind(stream, last, ended);
}

#else /* the calls that tell and take edges have other names there */

bool shunt_graph_overlap_begin(cudaStream_t stream)
{
  (void)stream;
  return false;
}
void shunt_graph_overlap_undo(cudaStream_t stream)
{
  (void)stream;
}

#endif
