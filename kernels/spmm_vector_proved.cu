// spmm_vector_proved.cu: launch of spmm_vector_proved.cuh, the direct way with its proof inside.
//
// Apart from spmm_vector.cu, whose products libshunt.so has as well, without repairs.
#include <algorithm>

#include "kernels/spmm_csr_rows_launch.cuh"
#include "kernels/spmm_vector_launch.cuh"
#include "kernels/spmm_vector_proved.cuh"

namespace shunt
{
namespace vector
{

// How the proof repairs p: as launch_repair of spmm_csr_rows_launch.cuh shares it.
static shunt_status make_proof(const struct shunt_spmm *p, const struct shunt_repair *r, proof *f)
{
  const shunt_status s = shunt::spmm_rows::make_repair_args(p, r, &f->r);
  const int64_t strips = p->c.rows * ((p->c.cols + 31) / 32), most_pieces = 1 << 16;
  shunt::spmm_rows::plan how = {};
  how.direct = true;
  f->a = shunt::spmm_rows::make_args<float>(p, how, nullptr);
  f->r.piece = strips > 4 * most_pieces ? (strips + most_pieces - 1) / most_pieces : 4;
  return s;
}

// The direct way with its proof; f.pieces, f.down and f.r.helpers are set here.
template <class T, class Out, class Shape>
inline cudaError_t launch_proved(const arguments &p, proof f, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  const auto kernel = &spmm_vector_proved<T, Out, Shape>;
  const int groups_a_block = kDirectWarps >> p.log2_slices;
  f.down = (p.groups + groups_a_block - 1) / groups_a_block;
  f.pieces = f.down * ((p.n + Shape::kTile - 1) / Shape::kTile);
  const int at_once = std::min(2 * d->multiprocessors, arrival_most_blocks);
  const int blocks = std::min(f.pieces, at_once);
  f.r.helpers = blocks;
  // Kept by the context, which the program may destroy: so asked for each time.
  const cudaError_t e =
      cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  if (e != cudaSuccess) return e;
  return launch_early_with(Shape::kBytes, kernel, dim3(static_cast<unsigned>(blocks)),
                           dim3(proved_threads<Shape>), d, stream, p, f) == SHUNT_OK
             ? cudaSuccess
             : cudaErrorUnknown;
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

extern "C" shunt_status
shunt_spmm_vector_proved_shaped_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                     const struct shunt_vector_shape *shape,
                                     const struct shunt_repair *r, const struct shunt_device *d,
                                     shunt_stream stream)
{
  arguments k;
  proof f = {};
  shunt_status s = prepare_proved(p, v, shape, d, &k);
  if (s == SHUNT_OK) s = make_proof(p, r, &f);
  if (s != SHUNT_OK) return s;
  const cudaError_t e =
      p->a.value_type == SHUNT_F16
          ? launch_proved_type<__half>(k, f, shape->tile, p->c.type, d, stream)
          : launch_proved_type<__nv_bfloat16>(k, f, shape->tile, p->c.type, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_spmm_vector_proved_cuda(const struct shunt_spmm *p,
                                                      const struct shunt_vector *v,
                                                      const struct shunt_repair *r,
                                                      const struct shunt_device *d,
                                                      shunt_stream stream)
{
  const struct shunt_vector_shape shape = shunt_spmm_vector_shape(p, v, d);
  return shunt_spmm_vector_proved_shaped_cuda(p, v, &shape, r, d, stream);
}
