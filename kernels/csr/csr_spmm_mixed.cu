// csr_spmm_mixed.cu: the csr kernels for A in another type than B, sums in float: f32 with f16 or bf16
// into B's type or f32; f16 or bf16 with f32 into f32.  cuSPARSE refuses these.
//
// A's values are widened where a tile of A is staged, so that the loop over B is that of B's type.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

// Only the widest loads of B and the narrowest: what is rare shall not take room.
template <class A, class B, class Out>
static shunt_status launch_merge_of(const shunt_spmm *p, const shunt_device *d, const layout &how,
                                    void *workspace, shunt_stream stream)
{
  constexpr int kWidest = 16 / sizeof(B);
  args<float> a = make_args<float>(p, how, workspace);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(B));
  if (b_fits<B, kWidest>(a)) return launch_merge<A, B, Out, float, kWidest>(a, how, d, stream);
  return launch_merge<A, B, Out, float, 1>(a, how, d, stream);
}

template <class B>
static shunt_status launch_float_with(const shunt_spmm *p, const shunt_device *d, const layout &how,
                                      void *workspace, shunt_stream stream)
{
  if (p->c.type == SHUNT_F32) return launch_merge_of<float, B, float>(p, d, how, workspace, stream);
  return launch_merge_of<float, B, B>(p, d, how, workspace, stream);
}

shunt_status launch_mixed(const shunt_spmm *p, const shunt_device *d, const layout &how,
                          void *workspace, shunt_stream stream)
{
  const shunt_type a = p->a.value_type, b = p->b.type;
  if (how.direct || how.split) return SHUNT_E_UNSUPPORTED;
  if (a == SHUNT_F32 && b == SHUNT_F16)
    return launch_float_with<__half>(p, d, how, workspace, stream);
  if (a == SHUNT_F32 && b == SHUNT_BF16)
    return launch_float_with<__nv_bfloat16>(p, d, how, workspace, stream);
  if (a == SHUNT_F16) return launch_merge_of<__half, float, float>(p, d, how, workspace, stream);
  if (a == SHUNT_BF16)
    return launch_merge_of<__nv_bfloat16, float, float>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
