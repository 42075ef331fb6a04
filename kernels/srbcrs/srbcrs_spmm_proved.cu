// srbcrs_spmm_proved.cu: launch of srbcrs_spmm_proved.cuh, int8 over strides with the proof inside.
#include "kernels/common/divide.h"
#include "kernels/guard/proof_inside_launch.cuh"
#include "kernels/srbcrs/srbcrs_spmm_proved.cuh"

namespace shunt
{
namespace srbcrs
{

static int64_t pieces_of(const struct shunt_spmm *p, int height,
                         const struct shunt_srbcrs_shape *shape)
{
  const int64_t units = shunt_div_up(p->a.rows, height) * shunt_div_up(p->b.cols, shape->columns);
  return shunt_div_up(units, kWarps / shape->split);
}

// Wider ones leave no registers to those who hash.
static bool is_proved_shape(const struct shunt_srbcrs_shape *s)
{
  return (s->columns == 32 || s->columns == 64) && (s->split == 1 || s->split == kWarps) &&
         s->groups == 0;
}

template <class T, int X, int Split>
static cudaError_t launch_proved(const arguments<combined_store<T>> &k, const guard::proof_in<T> &f,
                                 const struct shunt_device *d, cudaStream_t stream)
{
  return guard::launch_proof<&spmm_strides_proved<T, X, Split>>(proved_team::kThreads, 0,
                                                                kProvedBlocks, k, f, d, stream);
}

template <class T>
static shunt_status run_proved(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                               const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                               const struct shunt_guard *r, const struct shunt_device *d,
                               cudaStream_t stream)
{
  guard::proof_in<T> f = {};
  const shunt_status s = guard::make_proof(p, r, &f);
  if (s != SHUNT_OK) return s;
  f.pieces = static_cast<int>(pieces_of(p, v->height, shape));
  f.brief = p->next_waits;
  const arguments<combined_store<T>> k = combined_arguments<T>(p, v, b);
  const bool whole = shape->split == 1;
  const cudaError_t e = shape->columns == 32 ? whole ? launch_proved<T, 4, 1>(k, f, d, stream)
                                                     : launch_proved<T, 4, kWarps>(k, f, d, stream)
                        : whole ? launch_proved<T, 8, 1>(k, f, d, stream)
                                             : launch_proved<T, 8, kWarps>(k, f, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace srbcrs
} // namespace shunt

using namespace shunt;
using namespace shunt::srbcrs;

extern "C" double shunt_srbcrs_spmm_proved_rounds(const struct shunt_spmm *p, int height,
                                                  const struct shunt_srbcrs_shape *shape,
                                                  const struct shunt_device *d)
{
  if (p->beta.device || p->beta.host != 0) return 0;
  if (shape->groups) return strips_proved_rounds(p, height, shape, d);
  if (!is_proved_shape(shape)) return 0;
  const int64_t pieces = pieces_of(p, height, shape);
  if (pieces > INT32_MAX) return 0;
  return static_cast<double>(pieces) / (kSets * kProvedBlocks * d->multiprocessors);
}

extern "C" shunt_status
shunt_srbcrs_spmm_proved_shaped_cuda(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                     const struct shunt_srbcrs_shape *shape,
                                     const struct shunt_guard *r, const struct shunt_device *d,
                                     void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  struct shunt_spmm product = *p;
  struct shunt_dense b;
  product.only_if = NULL;
  shunt_status s = shunt::srbcrs::check(&product, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80 || shunt_srbcrs_spmm_proved_rounds(p, v->height, shape, d) == 0)
    return SHUNT_E_UNSUPPORTED;
  s = place_b(p->b, workspace, workspace_bytes, &b);
  if (s == SHUNT_OK && shape->groups) return run_strips_proved(p, v, shape, &b, r, d, stream);
  if (s == SHUNT_OK) s = copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  return p->compute == SHUNT_I32 ? run_proved<int32_t>(p, v, shape, &b, r, d, stream)
                                 : run_proved<float>(p, v, shape, &b, r, d, stream);
}
