/* cuda_integers.c: the device's engine of integers: conv's device functions and the launchers of
   kernels/srbcrs, in the shapes that backend/routes/cost/srbcrs_integer_cost.c chooses. */
#include "backend/native/integers.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"

static shunt_status cuda_pack(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                              const struct shunt_native_place *at, const struct shunt_srbcrs *v,
                              struct shunt_srbcrs_counts *counts, shunt_stream stream)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

  cudaThreadExchangeStreamCaptureMode(&mode);
  shunt_status s = SHUNT_LAUNCH(shunt_csr_to_srbcrs_cuda(a, layout, v, &at->device, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(counts, v->counts, sizeof *counts, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(stream));
  cudaThreadExchangeStreamCaptureMode(&mode);
  return s;
}

static shunt_status cuda_quantise(const struct shunt_native_place *at,
                                  const struct shunt_quantise *q, int count, shunt_stream stream)
{
  return SHUNT_LAUNCH(shunt_quantise_several_cuda(q, count, &at->device, stream));
}

/* All problems as one matrix, their groups one behind the other: by that the work is cut. */
static struct shunt_srbcrs side_by_side(const struct shunt_srbcrs *v,
                                        const struct shunt_srbcrs_problems *problems)
{
  struct shunt_srbcrs all = *v;
  all.groups *= shunt_srbcrs_count(problems);
  return all;
}

static shunt_status cuda_spmm(const struct shunt_packed_integers *p,
                              const struct shunt_srbcrs_integer_spmm *q,
                              const struct shunt_srbcrs *v, shunt_stream stream)
{
  const struct shunt_device *d = &p->at.device;
  const struct shunt_srbcrs all = side_by_side(v, &q->problems);
  const int64_t vectors = (int64_t)p->counts.vectors * shunt_srbcrs_count(&q->problems);
  const struct shunt_srbcrs_shape shape =
      shunt_choose_srbcrs_shape(&all, vectors, q->b.bits, q->b.cols, d);
  return SHUNT_LAUNCH(shunt_srbcrs_integer_spmm_cuda(q, v, &shape, d, stream));
}

static shunt_status cuda_sddmm(const struct shunt_packed_integers *p,
                               const struct shunt_srbcrs_sddmm *q, shunt_stream stream)
{
  const struct shunt_device *d = &p->at.device;
  const struct shunt_srbcrs all = side_by_side(&p->v, &q->problems);
  const int64_t vectors = (int64_t)p->counts.vectors * shunt_srbcrs_count(&q->problems);
  const int64_t phases = shunt_choose_srbcrs_phases(&all, vectors, q->a.bits, d);
  return SHUNT_LAUNCH(shunt_srbcrs_sddmm_cuda(q, &p->v, phases, d, stream));
}

static shunt_status cuda_softmax(const struct shunt_packed_integers *p,
                                 const struct shunt_srbcrs_softmax *q, const struct shunt_srbcrs *v,
                                 shunt_stream stream)
{
  return SHUNT_LAUNCH(shunt_srbcrs_softmax_cuda(q, v, &p->at.device, stream));
}

/* Where shared memory holds a block's scores: even one block a multiprocessor takes half of what
   three launches take. */
static int cuda_fuses(const struct shunt_packed_integers *p, int bits_qk, int bits_v, int64_t cols)
{
  (void)bits_qk, (void)bits_v; /* 8 or 4, each */
  if (cols > SHUNT_SRBCRS_ATTENTION_WIDEST) return 0;
  return shunt_srbcrs_attention_shared(p->counts.longest) <= p->at.device.shared_per_block;
}

static shunt_status cuda_attention(const struct shunt_packed_integers *p,
                                   const struct shunt_srbcrs_attention *q, shunt_stream stream)
{
  return SHUNT_LAUNCH(
      shunt_srbcrs_attention_cuda(q, &p->v, p->counts.longest, &p->at.device, stream));
}

const struct shunt_native_integers shunt_native_cuda_integers = {.pack = cuda_pack,
                                                                 .quantise = cuda_quantise,
                                                                 .spmm = cuda_spmm,
                                                                 .sddmm = cuda_sddmm,
                                                                 .softmax = cuda_softmax,
                                                                 .fuses = cuda_fuses,
                                                                 .attention = cuda_attention};
