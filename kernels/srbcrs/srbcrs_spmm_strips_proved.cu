// srbcrs_spmm_strips_proved.cu: launch of strips with the proof inside.
#include "kernels/common/divide.h"
#include "kernels/common/tensor_map.h"
#include "kernels/guard/proof_inside_launch.cuh"
#include "kernels/srbcrs/srbcrs_spmm_strips_proved.cuh"

namespace shunt
{
namespace srbcrs
{

static int64_t blocks_down(const struct shunt_spmm *p, int height)
{
  return shunt_div_up(shunt_div_up(p->a.rows, height), SHUNT_SRBCRS_STRIP_GROUPS);
}

double strips_proved_rounds(const struct shunt_spmm *p, int height,
                            const struct shunt_srbcrs_shape *shape, const struct shunt_device *d)
{
  if (!shunt_srbcrs_spmm_strips_fit(shape, d)) return 0;
  if (d->shared_per_block < kStripsProvedBytes) return 0;
  const int64_t blocks = blocks_down(p, height) * shunt_div_up(p->b.cols, shape->columns);
  return blocks <= d->multiprocessors ? static_cast<double>(blocks) / d->multiprocessors : 0;
}

template <class Shape, class T>
static cudaError_t launch_shape(const strips_arguments<T> &k, const guard::proof_in<T> &f,
                                const struct shunt_device *d, cudaStream_t stream)
{
  return guard::launch_proof<&spmm_strips_proved<T, Shape>>(
      strips_team<Shape>::kThreads, strips_proved_bytes<Shape>, 1, k, f, d, stream);
}

template <class T>
static shunt_status run_as(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                           const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                           const struct shunt_guard *r, const struct shunt_device *d,
                           cudaStream_t stream)
{
  guard::proof_in<T> f = {};
  strips_arguments<T> k = {};
  shunt_status s = guard::make_proof(p, r, &f);
  if (s != SHUNT_OK) return s;
  if (!make_tensor_map(&k.map, *b, SHUNT_SRBCRS_STRIP, shape->columns)) return SHUNT_E_UNSUPPORTED;
  k.p = combined_arguments<T>(p, v, b);
  k.down = static_cast<int>(blocks_down(p, v->height));
  f.pieces = k.down * static_cast<int>(shunt_div_up(p->b.cols, shape->columns));
  s = copy_b(p->b, *b, d, stream);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = shape->columns == 128 ? launch_shape<strips_128>(k, f, d, stream)
                                              : launch_shape<strips_64>(k, f, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

shunt_status run_strips_proved(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                               const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                               const struct shunt_guard *r, const struct shunt_device *d,
                               cudaStream_t stream)
{
  return p->compute == SHUNT_I32 ? run_as<int32_t>(p, v, shape, b, r, d, stream)
                                 : run_as<float>(p, v, shape, b, r, d, stream);
}

} // namespace srbcrs
} // namespace shunt
