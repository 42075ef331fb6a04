// ablation_launch.cuh: what the launchers of ablation.h check, and the arguments of the kernels
// that they measure themselves against (kernels/vector/vector_packed_spmm_common.cuh).  Host code.
#pragma once
#include "kernels/vector/vector_packed_spmm_common.cuh"
#include "tests/bench/ablation/ablation.h"

namespace shunt
{
namespace vector
{

// Row-major, f16, every row at a multiple of 16 bytes.
inline bool is_aligned_f16(const struct shunt_dense &m)
{
  return m.type == SHUNT_F16 && m.col_stride == 1 && m.row_stride % 8 == 0 &&
         reinterpret_cast<uintptr_t>(m.values) % 16 == 0;
}

inline shunt_status ablation_check(const struct shunt_spmm *p, const struct shunt_vector *v)
{
  if (p->a.value_type != SHUNT_F16 || v->value_type != SHUNT_F16) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (v->rows != p->a.rows || v->cols != p->a.cols) return SHUNT_E_ARGUMENT;
  if (v->height != 8 && v->height != 4 && v->height != 2) return SHUNT_E_UNSUPPORTED;
  if (!is_aligned_f16(p->b) || !is_aligned_f16(p->c) || p->b.cols % 8) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return p->b.row_stride * 2 > UINT32_MAX ? SHUNT_E_UNSUPPORTED : SHUNT_OK;
}

inline arguments ablation_arguments(const struct shunt_spmm *p, const struct shunt_vector *v)
{
  arguments k = {};
  k.begin = v->begin, k.count = v->count;
  k.columns = v->columns, k.masks = v->masks;
  k.values = reinterpret_cast<const uint2 *>(v->values);
  k.rows = static_cast<int>(v->rows);
  k.groups = static_cast<int>(v->groups);
  k.n = static_cast<int>(p->b.cols);
  k.b = static_cast<const char *>(p->b.values);
  k.b_row_bytes = static_cast<uint32_t>(p->b.row_stride * 2);
  k.c = p->c.values;
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = 1;
  k.c_wide = true;
  k.alpha = make_scalar_arg<float>(p->alpha);
  k.beta = make_scalar_arg<float>(p->beta);
  return k;
}

// By the height of the vectors: Launcher::launch<V>.
template <class Launcher>
shunt_status ablation_launch(const struct shunt_spmm *p, const struct shunt_vector *v,
                             cudaStream_t stream)
{
  const shunt_status s = ablation_check(p, v);
  if (s != SHUNT_OK) return s;
  const arguments k = ablation_arguments(p, v);
  const cudaError_t e = v->height == 8   ? Launcher::template launch<8>(k, stream)
                        : v->height == 4 ? Launcher::template launch<4>(k, stream)
                                         : Launcher::template launch<2>(k, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace vector
} // namespace shunt
