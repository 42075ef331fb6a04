// srbcrs_attention_real.cu: launch of attention with V of f16, bf16 or e4m3 (srbcrs_attention_real.cuh).
#include "kernels/srbcrs/attention/srbcrs_attention_real.cuh"

namespace shunt
{
namespace srbcrs
{
namespace attention
{

template <class T, int Pieces>
static shunt_status launch(const real_arguments &k, bool kept, const struct shunt_device *d,
                           cudaStream_t stream)
{
  const auto kernel =
      kept ? attention_strides_real<T, Pieces, true> : attention_strides_real<T, Pieces, false>;
  return launch_groups(kernel, k, k.a.m.groups, k.a.longest, k.a.store, d, stream);
}

template <class T>
static shunt_status launch_type(const real_arguments &k, bool kept, const struct shunt_device *d,
                                cudaStream_t stream)
{
  return k.a.d <= 64 ? launch<T, 1>(k, kept, d, stream) : launch<T, 2>(k, kept, d, stream);
}

shunt_status launch_real(const real_arguments &k, bool kept, const struct shunt_device *d,
                         cudaStream_t stream)
{
  if (!k.v.values) return launch_type<e4m3>(k, kept, d, stream);
  return k.v.type == SHUNT_F16 ? launch_type<__half>(k, kept, d, stream)
                               : launch_type<__nv_bfloat16>(k, kept, d, stream);
}

} // namespace attention
} // namespace srbcrs
} // namespace shunt
