// srbcrs_spmm_strips_proved.cu: launch of strips, and of whole tiles, with the proof inside.
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
  if (!shunt_srbcrs_spmm_strips_fit(shape, d) && !shunt_srbcrs_spmm_whole_fits(p, shape, d))
    return 0;
  if (d->shared_per_block < kStripsProvedBytes) return 0;
  const int64_t blocks = blocks_down(p, height) * shunt_div_up(p->b.cols, shape->columns);
  return blocks <= d->multiprocessors ? static_cast<double>(blocks) / d->multiprocessors : 0;
}

// bytes: of B, and of its barriers.
template <class Shape, class T>
static cudaError_t launch_shape(int bytes, strips_arguments<T> k, const guard::proof_in<T> &f,
                                const struct shunt_device *d, cudaStream_t stream)
{
  k.state = strips_proof_at(bytes);
  return guard::launch_proof(&spmm_strips_proved<T, Shape>, strips_team::kThreads,
                             k.state + static_cast<int>(sizeof(strips_state)), 1, k, f, d, stream);
}

template <class T>
static cudaError_t launch_columns(int columns, const strips_arguments<T> &k,
                                  const guard::proof_in<T> &f, const struct shunt_device *d,
                                  cudaStream_t stream)
{
  switch (columns) {
  case 128: return launch_shape<strips_128>(strips_128::kBytes, k, f, d, stream);
  case 64: return launch_shape<strips_64>(strips_64::kBytes, k, f, d, stream);
  default: return launch_shape<whole_of_two>(whole_bytes(k.p.v.cols), k, f, d, stream);
  }
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
  return launch_columns(shape->columns, k, f, d, stream) == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
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
