// srbcrs_integer_spmm.cu: checks and launch of SpMM over strides for operands of 16, 8 and 4 bits.
#include "kernels/srbcrs/srbcrs_integer_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

static shunt_status check(const struct shunt_srbcrs_integer_spmm *p, const struct shunt_srbcrs *v)
{
  const size_t size = shunt_type_size(p->scaling.type);
  if (!shunt_is_scaled_type(p->scaling.type) || p->b.bits > v->bits) return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->b, v->cols, p->b.cols)) return SHUNT_E_ARGUMENT;
  if (!p->c || (uintptr_t)p->c % size || p->c_row_stride < p->b.cols) return SHUNT_E_ARGUMENT;
  if (!shunt_srbcrs_problems_fit(&p->problems, v->height)) return SHUNT_E_ARGUMENT;
  if (p->problems.count > 1 && (p->heads < 1 || p->c_first < 0)) return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

} // namespace srbcrs
} // namespace shunt

using namespace shunt::srbcrs;

extern "C" int shunt_srbcrs_integer_spmm_has(const struct shunt_srbcrs_shape *shape, int bits_b)
{
  return is_shape(shape, bits_b);
}

extern "C" shunt_status shunt_srbcrs_integer_spmm_cuda(const struct shunt_srbcrs_integer_spmm *p,
                                                       const struct shunt_srbcrs *v,
                                                       const struct shunt_srbcrs_shape *shape,
                                                       const struct shunt_device *d,
                                                       shunt_stream stream)
{
  const shunt_status s = shunt::srbcrs::check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80 || !is_shape(shape, p->b.bits)) return SHUNT_E_UNSUPPORTED;
  const int64_t size = static_cast<int64_t>(shunt_type_size(p->scaling.type));
  const int64_t pitch = p->c_row_stride * size;
  const int64_t steps = shunt_srbcrs_count(&p->problems) > 1 ? p->head_stride | p->batch_stride : 0;
  const bool wide = (pitch | steps * size) % 16 == 0 && reinterpret_cast<uintptr_t>(p->c) % 16 == 0;
  const scaled_arguments k = {*v,
                              static_cast<const uint8_t *>(p->b.values),
                              p->b.row_bytes,
                              static_cast<int>(p->b.cols),
                              {p->c, p->c_row_stride, wide, p->scaling, v->rows, p->b.cols,
                               shunt_srbcrs_count(&p->problems), p->c_first, p->heads,
                               p->head_stride, p->batch_stride, p->b.is_unsigned != 0},
                              p->problems.places / 8 * v->bits,
                              !shunt_type_is_read_early(p->scaling.type)};
  if (v->bits == 16) return launch_integers_16(k, p->b.bits, shape, d, stream);
  if (v->bits == 12) return launch_integers_12(k, p->b.bits, shape, d, stream);
  if (v->bits == 8) return launch_integers_8(k, p->b.bits, shape, d, stream);
  return launch_integers_4(k, p->b.bits, shape, d, stream);
}
