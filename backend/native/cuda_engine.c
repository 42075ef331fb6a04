/* cuda_engine.c: the engine of matrices in device memory: conv's device functions and the
   launchers of kernels/. */
#include "backend/native/integers.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"

static shunt_status read_device(struct shunt_native_place *at)
{
  int major = 0, minor = 0, l2 = 0;
  struct {
    enum cudaDeviceAttr what;
    int *to;
  } asked[] = {{cudaDevAttrMultiProcessorCount, &at->device.multiprocessors},
               {cudaDevAttrComputeCapabilityMajor, &major},
               {cudaDevAttrComputeCapabilityMinor, &minor},
               {cudaDevAttrMaxSharedMemoryPerBlockOptin, &at->device.shared_per_block},
               {cudaDevAttrL2CacheSize, &l2}};
  shunt_status s = SHUNT_CUDA(cudaGetDevice(&at->ordinal));

  for (size_t i = 0; s == SHUNT_OK && i < sizeof asked / sizeof asked[0]; i++)
    s = SHUNT_CUDA(cudaDeviceGetAttribute(asked[i].to, asked[i].what, at->ordinal));
  at->device.compute_capability = major * 10 + minor;
  at->device.l2_bytes = l2;
  if (s != SHUNT_OK) return s;
  return at->device.compute_capability >= 80 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static shunt_status cuda_open(struct shunt_native_place *at, shunt_stream stream)
{
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  shunt_status s = read_device(at);

  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamIsCapturing(stream, &capture));
  if (s == SHUNT_OK && capture != cudaStreamCaptureStatusNone) s = SHUNT_E_ARGUMENT;
  return s;
}

static shunt_status cuda_enter(const struct shunt_native_place *at)
{
  int current = -1;
  shunt_status s = SHUNT_CUDA(cudaGetDevice(&current));

  if (s != SHUNT_OK) return s;
  return current == at->ordinal ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

/* Memory that is had or given back must neither disturb nor be refused by a capture that another
   thread has under way.  */
static shunt_status cuda_allocate(void **memory, size_t bytes)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

  cudaThreadExchangeStreamCaptureMode(&mode);
  shunt_status s = SHUNT_CUDA(cudaMalloc(memory, bytes));
  cudaThreadExchangeStreamCaptureMode(&mode);
  return s;
}

static shunt_status cuda_clear(void *memory, size_t bytes, shunt_stream stream)
{
  return SHUNT_CUDA(cudaMemsetAsync(memory, 0, bytes, stream));
}

/* Waits for the device, so no work is left that uses the memory. */
static void cuda_release(void *memory)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaFree(memory);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

static shunt_status cuda_pack(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                              struct shunt_packed *p, shunt_stream stream)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

  cudaThreadExchangeStreamCaptureMode(&mode);
  shunt_status s = SHUNT_LAUNCH(shunt_csr_to_vector_cuda(a, layout, &p->v, &p->at.device, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(&p->counts, p->v.counts, sizeof p->counts, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(stream));
  cudaThreadExchangeStreamCaptureMode(&mode);
  return s;
}

static shunt_status cuda_spmm(const struct shunt_packed *p, const struct shunt_spmm *q,
                              const struct shunt_vector *v, void *workspace, size_t workspace_bytes,
                              shunt_stream stream)
{
  /* Which shape is the faster one hangs on the multiprocessors, hardly on their rates. */
  const struct shunt_machine machine = {p->at.device, &shunt_costs_h200};
  const struct shunt_vector_shape shape = shunt_choose_vector_shape_of(q, v, &machine);
  return SHUNT_LAUNCH(shunt_vector_packed_spmm_shaped_cuda(q, v, &shape, &p->at.device, workspace,
                                                           workspace_bytes, stream));
}

static shunt_status cuda_sddmm(const struct shunt_packed *p, const struct shunt_vector_sddmm *q,
                               shunt_stream stream)
{
  return SHUNT_LAUNCH(shunt_vector_sddmm_cuda(q, &p->v, &p->at.device, stream));
}

static shunt_status cuda_softmax(const struct shunt_packed *p, const struct shunt_vector_softmax *q,
                                 shunt_stream stream)
{
  return SHUNT_LAUNCH(shunt_vector_softmax_cuda(q, &p->v, &p->at.device, stream));
}

static int cuda_fuses(const struct shunt_vector_attention *q)
{
  if (q->d != 16 && q->d != 32 && q->d != 64 && q->d != 128) return 0;
  return shunt_heads_aligned(&q->q) && shunt_heads_aligned(&q->k) && shunt_heads_aligned(&q->v) &&
         shunt_heads_aligned(&q->o);
}

static shunt_status cuda_attention(const struct shunt_packed *p,
                                   const struct shunt_vector_attention *q, shunt_stream stream)
{
  return SHUNT_LAUNCH(shunt_vector_attention_cuda(q, &p->v, &p->at.device, stream));
}

const struct shunt_native_engine *shunt_native_cuda(void)
{
  static const struct shunt_native_engine engine = {.open = cuda_open,
                                                    .look = read_device,
                                                    .enter = cuda_enter,
                                                    .allocate = cuda_allocate,
                                                    .clear = cuda_clear,
                                                    .release = cuda_release,
                                                    .pack = cuda_pack,
                                                    .spmm_workspace =
                                                        shunt_vector_packed_spmm_workspace,
                                                    .spmm = cuda_spmm,
                                                    .sddmm = cuda_sddmm,
                                                    .softmax = cuda_softmax,
                                                    .fuses = cuda_fuses,
                                                    .attention = cuda_attention,
                                                    .integers = &shunt_native_cuda_integers};
  return &engine;
}
