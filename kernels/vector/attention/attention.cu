// attention.cu: checks, choice of slices and launch of attention over the `vector` format.
//
// The kernel: attention.cuh.
#include "kernels/vector/attention/attention.cuh"

namespace shunt
{
namespace vector
{

// Warps for each group, so that small problems fill the device: as long as there are not 16 warps a
// multiprocessor, and no slice has fewer than two full steps if positions are spread evenly.
static int attention_slices(const struct shunt_vector *v, int64_t problems,
                            const struct shunt_device *d)
{
  const int64_t warps = static_cast<int64_t>(d->multiprocessors) * 16;
  const int64_t vectors = v->nnz / v->height / v->groups;
  int log2_slices = 0;
  while (log2_slices < 3 && v->groups * problems << (log2_slices + 1) <= warps &&
         vectors >> (log2_slices + 1) >= 2 * kStep)
    ++log2_slices;
  return log2_slices;
}

static shunt_status launch(const struct shunt_vector_attention *p, const struct shunt_vector *v,
                           int log2_slices, cudaStream_t stream)
{
  attention_arguments a;
  a.p = pattern_of(v);
  a.q = matrices_of(p->q, p->batches, p->heads);
  a.k = matrices_of(p->k, p->batches, p->heads);
  a.v = matrices_of(p->v, p->batches, p->heads);
  a.o = matrices_of(p->o, p->batches, p->heads);
  a.heads = static_cast<int>(p->heads);
  a.log2_slices = log2_slices;
  a.scale = p->scale;
  if (p->d != 16 && p->d != 32 && p->d != 64 && p->d != 128) return SHUNT_E_UNSUPPORTED;
  if (!aligned(a.q) || !aligned(a.k) || !aligned(a.v) || !aligned(a.o)) return SHUNT_E_UNSUPPORTED;
  const int64_t problems = p->batches * p->heads;
  const cudaError_t e = v->value_type == SHUNT_F16
                            ? launch_attention_f16(a, p->d, problems, stream)
                            : launch_attention_bf16(a, p->d, problems, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_vector_attention_sliced_cuda(const struct shunt_vector_attention *p,
                                                           const struct shunt_vector *v,
                                                           int log2_slices,
                                                           const struct shunt_device *d,
                                                           shunt_stream stream)
{
  const shunt_status s = shunt_check_attention(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  if (log2_slices < 0 || log2_slices > 3) return SHUNT_E_ARGUMENT;
  return launch(p, v, log2_slices, stream);
}

extern "C" shunt_status shunt_vector_attention_cuda(const struct shunt_vector_attention *p,
                                                    const struct shunt_vector *v,
                                                    const struct shunt_device *d,
                                                    shunt_stream stream)
{
  const shunt_status s = shunt_check_attention(p, v);
  if (s != SHUNT_OK) return s;
  const int log2_slices = attention_slices(v, p->batches * p->heads, d);
  return shunt_vector_attention_sliced_cuda(p, v, log2_slices, d, stream);
}
