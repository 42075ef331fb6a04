// srbcrs_spmm.cu: SpMM of int8 over strides (srbcrs_spmm.cuh) with the scalars of cuSPARSE: checks,
// shape and launch.  With the proof inside: srbcrs_spmm_proved.cu.
#include "kernels/srbcrs/srbcrs_spmm_combined.cuh"
#include "kernels/srbcrs/srbcrs_spmm_launch.cuh"

namespace shunt
{
namespace srbcrs
{

shunt_status check(const struct shunt_spmm *p, const struct shunt_srbcrs *v)
{
  const shunt_type t = p->compute;
  const shunt_status s = check_spmm_sizes(p);
  if (s != SHUNT_OK) return s;
  if (p->a.value_type != SHUNT_I8 || p->b.type != SHUNT_I8 || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  if ((t != SHUNT_I32 && t != SHUNT_F32) || p->c.type != t) return SHUNT_E_UNSUPPORTED;
  if (t == SHUNT_F32 && p->a.cols > SHUNT_SRBCRS_EXACT) return SHUNT_E_UNSUPPORTED;
  if (p->b.row_stride != 1 && p->b.col_stride != 1) return SHUNT_E_ARGUMENT;
  if (p->b.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols || v->bits != 8)) return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

static int64_t units_of(const struct shunt_spmm *p, int height, int columns)
{
  return (p->a.rows + height - 1) / height * ((p->b.cols + columns - 1) / columns);
}

template <class T>
static shunt_status run(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                        const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                        const struct shunt_device *d, cudaStream_t stream)
{
  const arguments<combined_store<T>> k = combined_arguments<T>(p, v, b);
  return launch_shape<combined_store<T>, 8, 8>(k, shape, d, stream);
}

} // namespace srbcrs
} // namespace shunt

using namespace shunt;
using namespace shunt::srbcrs;

extern "C" struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                             const struct shunt_device *d)
{
  const int64_t some = INT64_C(2) * d->multiprocessors; // units that hide what loads take
  // Width gains where all multiprocessors keep warps enough.
  struct shunt_srbcrs_shape s = {units_of(p, height, 128) < 6 * some ? 64 : 128, kWarps, 0};
  while (s.columns > 32 && (s.columns / 2 >= p->b.cols || units_of(p, height, s.columns) < some))
    s.columns /= 2;
  if (units_of(p, height, s.columns) >= 3 * some) s.split = 1;
  return s;
}

extern "C" size_t shunt_srbcrs_spmm_workspace(const struct shunt_spmm *p)
{
  if (shunt::srbcrs::check(p, NULL) != SHUNT_OK || b_in_place(p->b)) return 0;
  return aligned_copy_bytes(p->b);
}

extern "C" shunt_status shunt_srbcrs_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                      const struct shunt_srbcrs *v,
                                                      const struct shunt_srbcrs_shape *shape,
                                                      const struct shunt_device *d, void *workspace,
                                                      size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = shunt::srbcrs::check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  const bool strips = shunt_srbcrs_spmm_strips_fit(shape, d);
  const bool whole = shunt_srbcrs_spmm_whole_fits(p, shape, d);
  if (!strips && !whole && !is_shape(shape, 8)) return SHUNT_E_UNSUPPORTED;
  struct shunt_dense b;
  s = place_b(p->b, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  if (strips) return run_strips(p, v, shape, &b, d, stream);
  if (whole) return run_whole(p, v, &b, d, stream);
  s = copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  return p->compute == SHUNT_I32 ? run<int32_t>(p, v, shape, &b, d, stream)
                                 : run<float>(p, v, shape, &b, d, stream);
}
