// vector_packed_spmm_proved.cu: launch of vector_packed_spmm_proved.cuh, the direct way with its
// proof inside.
//
// Apart from vector_packed_spmm.cu, whose products libshunt.so has as well, without repairs.
#include "kernels/guard/proof_inside_launch.cuh"
#include "kernels/vector/vector_packed_spmm_launch.cuh"
#include "kernels/vector/vector_packed_spmm_proved.cuh"

namespace shunt
{
namespace vector
{

// The direct way with its proof; f.pieces and f.down are set here.
template <class T, class Out, class Shape>
inline cudaError_t launch_proved(const arguments &p, proof f, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  const int groups_a_block = kDirectWarps >> p.log2_slices;
  f.down = (p.groups + groups_a_block - 1) / groups_a_block;
  f.pieces = f.down * ((p.n + Shape::kTile - 1) / Shape::kTile);
  return guard::launch_proof<&spmm_direct_proved<T, Out, Shape>>(proved_team<Shape>::kThreads,
                                                                 Shape::kBytes, 2, p, f, d, stream);
}

template <class T, class Out>
inline cudaError_t launch_proved_shape(const arguments &p, const proof &f, int tile,
                                       const struct shunt_device *d, cudaStream_t stream)
{
  return tile == 128 ? launch_proved<T, Out, direct_128>(p, f, d, stream)
                     : launch_proved<T, Out, direct_64>(p, f, d, stream);
}

template <class T>
static cudaError_t launch_proved_type(const arguments &p, const proof &f, int tile, shunt_type out,
                                      const struct shunt_device *d, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_proved_shape<T, float>(p, f, tile, d, stream)
                          : launch_proved_shape<T, T>(p, f, tile, d, stream);
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_vector_packed_spmm_proved_shaped_cuda(
    const struct shunt_spmm *p, const struct shunt_vector *v,
    const struct shunt_vector_shape *shape, bool brief, const struct shunt_guard *r,
    const struct shunt_device *d, shunt_stream stream)
{
  arguments k;
  proof f = {};
  shunt_status s = prepare_proved(p, v, shape, d, &k);
  if (s == SHUNT_OK) s = shunt::guard::make_proof(p, r, &f);
  if (s != SHUNT_OK) return s;
  f.brief = brief && p->next_waits;
  const cudaError_t e =
      p->a.value_type == SHUNT_F16
          ? launch_proved_type<__half>(k, f, shape->tile, p->c.type, d, stream)
          : launch_proved_type<__nv_bfloat16>(k, f, shape->tile, p->c.type, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
