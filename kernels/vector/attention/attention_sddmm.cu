// attention_sddmm.cu: checks and launch of SDDMM over the `vector` format.
//
// The kernel: attention_sddmm.cuh.
#include "kernels/vector/attention/attention_sddmm.cuh"

namespace shunt
{
namespace vector
{

// Slices of a group's steps, so that small problems fill the device; how many steps a group
// has is not known here, so there are at most 8.
static int sddmm_slices(int64_t groups, int64_t problems, const struct shunt_device *d)
{
  const int64_t warps = static_cast<int64_t>(d->multiprocessors) * 16;
  int log2_slices = 0;
  while (log2_slices < 3 && groups * problems << (log2_slices + 1) <= warps) ++log2_slices;
  return log2_slices;
}

template <class T, bool Aligned>
static cudaError_t launch_sddmm(const sddmm_arguments &a, int64_t problems, cudaStream_t stream)
{
  const int64_t warps = static_cast<int64_t>(a.p.groups) << a.log2_slices;
  return launch_warps<kSddmmWarps>(reinterpret_cast<const void *>(&sddmm_vector<T, Aligned>), a,
                                   warps, problems, stream);
}

template <class T>
static cudaError_t launch_sddmm_type(const sddmm_arguments &a, int64_t problems,
                                     cudaStream_t stream)
{
  return aligned(a.q) && aligned(a.k) ? launch_sddmm<T, true>(a, problems, stream)
                                      : launch_sddmm<T, false>(a, problems, stream);
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_vector_sddmm_cuda(const struct shunt_vector_sddmm *p,
                                                const struct shunt_vector *v,
                                                const struct shunt_device *d, shunt_stream stream)
{
  const shunt_status s = shunt_check_sddmm(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  const int64_t problems = p->batches * p->heads;
  sddmm_arguments a;
  a.p = pattern_of(v);
  a.q = matrices_of(p->q, p->batches, p->heads);
  a.k = matrices_of(p->k, p->batches, p->heads);
  a.values = p->values;
  a.values_stride = p->values_stride;
  a.heads = static_cast<int>(p->heads);
  a.d = static_cast<int>(p->d);
  a.alpha = p->alpha;
  a.log2_slices = sddmm_slices(v->groups, problems, d);
  const cudaError_t e = v->value_type == SHUNT_F16
                            ? launch_sddmm_type<__half>(a, problems, stream)
                            : launch_sddmm_type<__nv_bfloat16>(a, problems, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
