// srbcrs_attention.cu: checks and launch of attention of integers (srbcrs_attention.cuh).
#include "kernels/common/early_launch.cuh"
#include "kernels/srbcrs/attention/srbcrs_attention_launch.cuh"

namespace shunt
{
namespace srbcrs
{
namespace attention
{

template <int Pieces, int Parts>
static shunt_status launch(const arguments &k, const struct shunt_device *d, cudaStream_t stream)
{
  return launch_groups(attention_strides<Pieces, Parts>, k, k.m.groups, k.longest, k.store, d,
                       stream);
}

static arguments arguments_of(const struct shunt_srbcrs_attention *p, const struct shunt_srbcrs *m,
                              int64_t longest)
{
  const int64_t size = static_cast<int64_t>(shunt_type_size(p->type));
  const int64_t steps = p->problems > 1 ? p->head_stride | p->batch_stride : 0;
  const bool wide =
      ((p->row_stride | steps) * size) % 16 == 0 && reinterpret_cast<uintptr_t>(p->o) % 16 == 0;
  const struct shunt_scaling by_v = {p->type, 1, p->v_scale, nullptr, nullptr};
  return {*m,
          static_cast<const uint8_t *>(p->q.values),
          static_cast<const uint8_t *>(p->k.values),
          static_cast<const uint8_t *>(p->v.values),
          static_cast<uint32_t>(p->q.row_bytes),
          static_cast<uint32_t>(p->k.row_bytes),
          static_cast<uint32_t>(p->v.row_bytes),
          p->q_scales,
          p->k_scales,
          p->scale,
          shunt_srbcrs_largest(m),
          shunt_srbcrs_attention_room(p),
          static_cast<int>(p->q.cols),
          static_cast<int>(longest),
          {p->o, p->row_stride, wide, by_v, m->rows, p->q.cols, p->problems, p->first, p->heads,
           p->head_stride, p->batch_stride}};
}

} // namespace attention
} // namespace srbcrs
} // namespace shunt

extern "C" shunt_status shunt_srbcrs_attention_cuda(const struct shunt_srbcrs_attention *p,
                                                    const struct shunt_srbcrs *m, int64_t longest,
                                                    const struct shunt_device *d,
                                                    shunt_stream stream)
{
  using namespace shunt::srbcrs::attention;
  const shunt_status s = shunt_srbcrs_attention_check(p, m);
  if (s != SHUNT_OK) return s;
  if (longest < 0 || d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  for (const int64_t bytes : {p->q.row_bytes, p->k.row_bytes})
    if (bytes > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  const bool kept = shunt_srbcrs_attention_shared(longest) <= d->shared_per_block;
  const arguments k = arguments_of(p, m, kept ? longest : 0);
  if (p->real_v.values || p->v_e4m3) return launch_real({k, p->real_v}, kept, d, stream);
  if (!kept || p->v.row_bytes > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  if (p->q.cols <= 64)
    return m->bits == 8 ? launch<1, 1>(k, d, stream) : launch<1, 2>(k, d, stream);
  return m->bits == 8 ? launch<2, 1>(k, d, stream) : launch<2, 2>(k, d, stream);
}
