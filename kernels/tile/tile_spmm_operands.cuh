// tile_spmm_operands.cuh: host side of all kernels over the `tile` format: what they take, where B
// is read, and what they are told.
#pragma once
#include "kernels/common/spmm_operands.cuh"
#include "kernels/tile/tile_spmm_common.cuh"

namespace shunt
{
namespace tile
{

inline shunt_status check(const struct shunt_spmm *p, const struct shunt_tile *v)
{
  const shunt_type t = p->a.value_type;
  if (t != SHUNT_F16 && t != SHUNT_BF16) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols || v->value_type != t))
    return SHUNT_E_ARGUMENT;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - (1 << 20)) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

inline arguments make_arguments(const struct shunt_spmm *p, const struct shunt_tile *v,
                                const struct shunt_dense *b, int split)
{
  const size_t pair = 2 * shunt_type_size(p->c.type);
  arguments k = {};
  k.v = *v;
  k.rows = static_cast<int>(v->rows);
  k.blocks = static_cast<int>(v->blocks);
  k.k = static_cast<int>(v->cols);
  k.n = static_cast<int>(b->cols);
  k.b = static_cast<const char *>(b->values);
  k.b_row_bytes = b->row_stride * 2;
  k.c = p->c.values;
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = p->c.col_stride;
  k.split = split;
  k.next_waits = p->next_waits;
  k.c_wide = aligned(p->c);
  k.c_pairs = p->c.col_stride == 1 && p->c.row_stride % 2 == 0 &&
              reinterpret_cast<uintptr_t>(p->c.values) % pair == 0;
  k.alpha = make_scalar_arg<float>(p->alpha);
  k.beta = make_scalar_arg<float>(p->beta);
  return k;
}

// Checks; *b: where B will be read, in the workspace if it has to be copied.  fits: is there a
// kernel for such tiles, and such a shape?
inline shunt_status check_and_place_b(const struct shunt_spmm *p, const struct shunt_tile *v,
                                      bool fits, const struct shunt_device *d, void *workspace,
                                      size_t workspace_bytes, struct shunt_dense *b)
{
  const shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80 || !fits) return SHUNT_E_UNSUPPORTED;
  return place_b(p->b, workspace, workspace_bytes, b);
}

} // namespace tile
} // namespace shunt
