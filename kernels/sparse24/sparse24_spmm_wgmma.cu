// sparse24_spmm_wgmma.cu: checks, and sparse24_spmm_wgmma.cuh for 16 bits.
#include <algorithm>

#include "kernels/sparse24/sparse24_kernels.h"

#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/sparse24/sparse24_spmm_launch.cuh"

namespace shunt
{
namespace sparse24
{
namespace
{

// What is stored, computed with, and written.
bool types_fit(const struct shunt_spmm *p)
{
  const shunt_type t = p->b.type, c = p->c.type;
  if (p->a.value_type != t) return false;
  if (t == SHUNT_I8) return (c == SHUNT_I32 || c == SHUNT_F32) && p->compute == c;
  return (t == SHUNT_F16 || t == SHUNT_BF16) && (c == t || c == SHUNT_F32) &&
         p->compute == SHUNT_F32;
}

shunt_status check(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                   const struct shunt_guard *r, const struct shunt_device *d)
{
  const shunt_type t = p->b.type;
  const int64_t most = INT32_MAX - 1024; // of C in the kernel's coordinates
  const struct shunt_dense *to = r->product;
  if (!to || v->rows != p->c.rows || v->cols != p->b.rows || v->value_type != t ||
      p->c.cols != p->b.cols || p->a.rows != v->rows || p->a.cols != v->cols ||
      to->rows != p->c.rows || to->cols != p->c.cols)
    return SHUNT_E_ARGUMENT;
  if (!types_fit(p)) return SHUNT_E_UNSUPPORTED;
  if (to->type != (writes_c(p, r) ? p->c.type : SHUNT_F32)) return SHUNT_E_ARGUMENT;
  if (!writes_c(p, r) && p->compute != SHUNT_F32)
    return SHUNT_E_UNSUPPORTED; // W does not hold int32
  if (writes_c(p, r) && (p->beta.device || p->beta.host != 0)) return SHUNT_E_UNSUPPORTED;
  if (p->c.cols < 1 || p->c.cols > most) return SHUNT_E_UNSUPPORTED;
  if (!on_16_bytes(operand_of(p->b))) return SHUNT_E_UNSUPPORTED;
  const uint32_t shared =
      std::max({shape_256<1>::kBytes, in_place_256::kBytes, in_place_128::kBytes});
  return d->compute_capability == 90 && d->multiprocessors <= guard::most_blocks &&
                 shared <= (uint32_t)d->shared_per_block
             ? SHUNT_OK
             : SHUNT_E_UNSUPPORTED;
}

bool proof_fits(const struct shunt_spmm *p, bool in_place, const struct shunt_sparse24_proof &how)
{
  if (!how.compares) return how.spared == 0;
  return in_place && shunt_sparse24_compared(&p->a) && how.spared >= 0 &&
         how.spared <= shunt_sparse24_column_tiles(&p->a);
}

} // namespace
} // namespace sparse24
} // namespace shunt

extern "C" bool shunt_sparse24_spmm_built(void)
{
  return true;
}

extern "C" shunt_status shunt_sparse24_spmm_shaped_cuda(
    const struct shunt_spmm *p, const struct shunt_sparse24 *v, enum shunt_sparse24_shape shape,
    bool in_place, const struct shunt_sparse24_proof *proof, const struct shunt_guard *r,
    const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::sparse24;
  const shunt_status s = check(p, v, r, d);
  if (s != SHUNT_OK) return s;
  if (!proof_fits(p, in_place, *proof)) return SHUNT_E_ARGUMENT;
  const proving with = {*proof, r};
  if (in_place)
    return shunt_sparse24_in_place(&p->a) ? launch_16_in_place(p, v, shape, with, d, stream)
                                          : SHUNT_E_UNSUPPORTED;
  if (p->b.type == SHUNT_I8) return launch_i8(p, v, shape, with, d, stream);
  if (p->b.type == SHUNT_F16) return launch_as<types<__half, float>>(p, v, shape, with, d, stream);
  return launch_as<types<__nv_bfloat16, float>>(p, v, shape, with, d, stream);
}
#else
extern "C" bool shunt_sparse24_spmm_built(void)
{
  return false;
}

extern "C" shunt_status shunt_sparse24_spmm_shaped_cuda(const struct shunt_spmm *,
                                                        const struct shunt_sparse24 *,
                                                        enum shunt_sparse24_shape, bool,
                                                        const struct shunt_sparse24_proof *,
                                                        const struct shunt_guard *,
                                                        const struct shunt_device *, shunt_stream)
{
  return SHUNT_E_UNSUPPORTED;
}
#endif
