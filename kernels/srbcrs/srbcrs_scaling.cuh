// srbcrs_scaling.cuh: int32 sums to results, struct shunt_scaling on the device.
#pragma once
#include "kernels/common/number.cuh"
#include "kernels/srbcrs/srbcrs_integers.h"

namespace shunt
{
namespace srbcrs
{

// By plain loads: the kernel in front, which may still run when this one begins, can have written
// the scales.
// row, column: of all problems', of which this is number `problem`.
__device__ __forceinline__ float factor_of(const shunt_scaling &s, int64_t problem, int64_t row)
{
  const float scale = s.tensor_scale ? s.scale * s.tensor_scale[problem] : s.scale;
  return s.row_scales ? scale * s.row_scales[row] : scale;
}
__device__ __forceinline__ float scale_of_column(const shunt_scaling &s, int64_t column)
{
  return s.col_scales ? s.col_scales[column] : 1.0f;
}

template <class Out> __device__ __forceinline__ Out scaled(int sum, float factor)
{
  return narrow<Out>(static_cast<float>(sum) * factor);
}
template <class Out> __device__ __forceinline__ Out scaled(float sum, float factor)
{
  return narrow<Out>(sum * factor);
}
template <> __device__ __forceinline__ int32_t scaled<int32_t>(int sum, float)
{
  return sum;
}
template <> __device__ __forceinline__ int8_t scaled<int8_t>(int sum, float factor)
{
  const float x = static_cast<float>(sum) * factor;
  return static_cast<int8_t>(x != x ? 0.0f : rintf(fminf(fmaxf(x, -128.0f), 127.0f)));
}

// work(Out()) for the type of the result.
template <class F> __device__ __forceinline__ void with_result_type(shunt_type t, F work)
{
  switch (t) {
  case SHUNT_F16: work(__half()); break;
  case SHUNT_BF16: work(__nv_bfloat16()); break;
  case SHUNT_F32: work(float()); break;
  case SHUNT_I8: work(int8_t()); break;
  default: work(int32_t()); break;
  }
}

// The same of real numbers.
template <class F> __device__ __forceinline__ void with_float_type(shunt_type t, F work)
{
  switch (t) {
  case SHUNT_F16: work(__half()); break;
  case SHUNT_BF16: work(__nv_bfloat16()); break;
  default: work(float()); break;
  }
}

} // namespace srbcrs
} // namespace shunt
