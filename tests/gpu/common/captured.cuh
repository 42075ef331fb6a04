// captured.cuh: launches captured into a graph, for tests that replay them.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

// What `enqueue(stream)` puts into a stream of its own; `good` is what it returned.
struct Captured {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  bool good;

  template <class F> explicit Captured(F enqueue)
  {
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    good = enqueue(stream);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  }
  Captured(const Captured &) = delete;
  ~Captured()
  {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
  void replay(int times = 1)
  {
    for (int i = 0; i < times; i++) CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
  }
};

} // namespace harness
