/* gpu_time.c: how long a way takes on the GPU.

     warm up | capture: way way way ... (R times) | replay, once unseen
             | 7 x { event, replay, event }  -> median / R

   R is chosen so that a replay lasts about 2 ms: events resolve 0.5 us, and
   launch gaps between the nodes of a graph count as they do in a program.

   A way in order (gpu_order.h) is one whose kernels do not wait for those of the product before:
   here that product is waited for.  */
#include "backend/tool/bench/gpu_order.h"

static bool elapsed(struct gpu *gpu, double *us)
{
  float ms = 0;
  if (cudaEventRecord(gpu->stop, gpu->stream) != cudaSuccess ||
      cudaEventSynchronize(gpu->stop) != cudaSuccess ||
      cudaEventElapsedTime(&ms, gpu->start, gpu->stop) != cudaSuccess)
    return false;
  *us = (double)ms * 1e3;
  return true;
}

/* order: NULL, or where the ends of products are noted as they are captured. */
static bool enqueue_many(struct gpu_case *g, gpu_enqueue enqueue, int count,
                         struct gpu_order *order)
{
  for (int i = 0; i < count; i++) {
    if (enqueue(g, g->gpu->stream) != SHUNT_OK) return false;
    if (order && !gpu_order_note(order, g->gpu->stream)) return false;
  }
  return true;
}

/* Microseconds of `count` plain launches. */
static bool time_stream(struct gpu_case *g, gpu_enqueue enqueue, int count, double *us)
{
  return cudaEventRecord(g->gpu->start, g->gpu->stream) == cudaSuccess &&
         enqueue_many(g, enqueue, count, NULL) && elapsed(g->gpu, us);
}

static cudaGraphExec_t capture(struct gpu_case *g, gpu_enqueue enqueue, bool in_order, int count)
{
  cudaStream_t s = g->gpu->stream;
  struct gpu_order order = {0};
  cudaGraph_t graph = NULL;
  cudaGraphExec_t replay = NULL;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return NULL;
  bool good = enqueue_many(g, enqueue, count, in_order ? &order : NULL);
  if (cudaStreamEndCapture(s, &graph) != cudaSuccess) good = false;
  good = good && graph && gpu_order_products(&order, graph);
  if (good && cudaGraphInstantiateWithFlags(&replay, graph, 0) != cudaSuccess) replay = NULL;
  if (graph) cudaGraphDestroy(graph);
  if (!replay) cudaGetLastError(); /* a way that cannot be captured is timed plainly */
  return replay;
}

static bool time_replay(struct gpu *gpu, cudaGraphExec_t replay, double *us)
{
  return cudaEventRecord(gpu->start, gpu->stream) == cudaSuccess &&
         cudaGraphLaunch(replay, gpu->stream) == cudaSuccess && elapsed(gpu, us);
}

bool gpu_time(struct gpu_case *g, const struct gpu_timed *of, bool quick, double *us,
              const char **timing)
{
  double sample[7], once;
  int samples = quick ? 3 : 7;
  const gpu_enqueue enqueue = of->enqueue;
  if (!enqueue_many(g, enqueue, 2, NULL) || !time_stream(g, enqueue, 3, &once)) return false;
  double wanted = (quick ? 500 : 2000) / (once / 3 + 0.5);
  int repeats = wanted < 1 ? 1 : wanted > 60 ? 60 : (int)wanted;

  cudaGraphExec_t replay = capture(g, enqueue, of->in_order, repeats);
  *timing = replay ? "graph" : "stream";
  bool good = true;
  for (int i = -1; i < samples && good; i++) {
    double total = 0;
    good = replay ? time_replay(g->gpu, replay, &total) : time_stream(g, enqueue, repeats, &total);
    if (i >= 0) sample[i] = total / repeats;
  }
  if (replay) cudaGraphExecDestroy(replay);
  if (good) *us = bench_median(sample, samples);
  return good;
}
