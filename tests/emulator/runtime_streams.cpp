// runtime_streams.cpp: the runtime's calls for streams, captures, graphs and events; streams.h does
// the work.
#include <utility>

#include "runtime.h"

namespace emulator
{

// Captures under way that forbid unsafe calls, and whether this thread heeds them.
static int global_captures;
static thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
bool capture_forbids()
{
  const locked hold(lock);
  return global_captures > 0 && capture_mode == cudaStreamCaptureModeGlobal;
}

int enqueue(void *stream, std::function<void()> work)
{
  CUstream_st *s = static_cast<CUstream_st *>(stream);
  const locked hold(lock);
  if (s && s->capture)
    s->capture->work.push_back(work);
  else
    stream_add(s, work);
  return cudaSuccess;
}

} // namespace emulator

using namespace emulator;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
  const locked hold(lock);
  static unsigned long long ids; // 0: the default stream
  *s = new CUstream_st{nullptr, current_device(), !(flags & cudaStreamNonBlocking), ++ids, {}};
  stream_opened(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s)
{
  return cudaStreamCreateWithFlags(s, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  const locked hold(lock);
  if (!s) return note(cudaErrorInvalidResourceHandle);
  stream_closed(s);
  delete s->capture;
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
  const locked hold(lock);
  if (s && s->capture) return note(cudaErrorStreamCaptureUnsupported);
  stream_finish(s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
  const locked hold(lock);
  if (s && s->capture) return note(cudaErrorStreamCaptureUnsupported);
  return stream_done(s) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
  *id = s ? s->id : 0;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
  const locked hold(lock);
  if (!(s && s->capture)) stream_wait(s, e);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *status)
{
  *status = s && s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
  std::swap(capture_mode, *mode);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode)
{
  if (!s || s->capture) return note(cudaErrorInvalidValue);
  s->capture = new CUgraph_st();
  s->capture->global = mode == cudaStreamCaptureModeGlobal;
  const locked hold(lock);
  global_captures += s->capture->global;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
  if (!s || !s->capture) return note(cudaErrorInvalidValue);
  {
    const locked hold(lock);
    global_captures -= s->capture->global;
  }
  *g = s->capture;
  s->capture = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long)
{
  *x = new CUgraphExec_st();
  (*x)->work = g->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
  for (const auto &work : x->work) enqueue(s, work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
  return delete g, cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
  return delete x, cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
  *e = new CUevent_st{current_device(), std::make_shared<event_marks>()};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e)
{
  return cudaEventCreateWithFlags(e, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  return delete e, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
  const locked hold(lock);
  const int device = s ? s->device : current_device();
  if (e->device != device) return note(cudaErrorInvalidResourceHandle);
  if (!(s && s->capture)) stream_mark(s, e);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
  const locked hold(lock);
  event_finish(e);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
  const locked hold(lock);
  return event_come(e) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
  const locked hold(lock);
  if (!event_come(a) || !event_come(b)) return cudaErrorNotReady;
  *ms = (float)(b->marks->at - a->marks->at);
  return cudaSuccess;
}
