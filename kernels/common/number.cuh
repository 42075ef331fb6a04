// number.cuh: element types on the device, and the way between the type that is
// stored and the type that is computed with.
//
//   stored          shunt_type   computes in
//   __half          SHUNT_F16    float
//   __nv_bfloat16   SHUNT_BF16   float
//   float           SHUNT_F32    float
//   double          SHUNT_F64    double
//   int8_t          SHUNT_I8     int32_t, or float (every int8 is a float)
//   int32_t         SHUNT_I32    int32_t
//   complex<float>  SHUNT_C32    complex<float>
//   complex<double> SHUNT_C64    complex<double>
//
// widen<C>(x) is exact.  narrow<S>(x) rounds to nearest even, once; kernels keep
// sums in the compute type and call it when a result is stored, nowhere else.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "kernels/common/types.h"

namespace shunt
{

// re + i im, as two numbers beside each other.
template <class R> struct alignas(2 * sizeof(R)) complex {
  R re, im;

  complex() = default;
  __host__ __device__ constexpr complex(R re, R im = 0) : re(re), im(im) {}
  __device__ __forceinline__ bool operator==(complex x) const { return re == x.re && im == x.im; }
  __device__ __forceinline__ bool operator!=(complex x) const { return !(*this == x); }
};

// The shunt_type of a stored type.
template <class S> struct type_id;
template <> struct type_id<__half> {
  static constexpr shunt_type value = SHUNT_F16;
};
template <> struct type_id<__nv_bfloat16> {
  static constexpr shunt_type value = SHUNT_BF16;
};
template <> struct type_id<float> {
  static constexpr shunt_type value = SHUNT_F32;
};
template <> struct type_id<double> {
  static constexpr shunt_type value = SHUNT_F64;
};
template <> struct type_id<int8_t> {
  static constexpr shunt_type value = SHUNT_I8;
};
template <> struct type_id<int32_t> {
  static constexpr shunt_type value = SHUNT_I32;
};
template <> struct type_id<int64_t> {
  static constexpr shunt_type value = SHUNT_I64;
};
template <> struct type_id<complex<float>> {
  static constexpr shunt_type value = SHUNT_C32;
};
template <> struct type_id<complex<double>> {
  static constexpr shunt_type value = SHUNT_C64;
};

// One conversion; from a stored to a compute type or back.
template <class To, class From> struct convert {
  static __device__ __forceinline__ To run(From x) { return static_cast<To>(x); }
};
template <> struct convert<float, __half> {
  static __device__ __forceinline__ float run(__half x) { return __half2float(x); }
};
template <> struct convert<float, __nv_bfloat16> {
  static __device__ __forceinline__ float run(__nv_bfloat16 x) { return __bfloat162float(x); }
};
template <> struct convert<__half, float> {
  static __device__ __forceinline__ __half run(float x) { return __float2half_rn(x); }
};
template <> struct convert<__nv_bfloat16, float> {
  static __device__ __forceinline__ __nv_bfloat16 run(float x) { return __float2bfloat16_rn(x); }
};

template <class C, class S> __device__ __forceinline__ C widen(S x)
{
  return convert<C, S>::run(x);
}
template <class S, class C> __device__ __forceinline__ S narrow(C x)
{
  return convert<S, C>::run(x);
}

// a * b + c in the compute type; integers wrap as the original's do.
__device__ __forceinline__ float multiply_add(float a, float b, float c)
{
  return fmaf(a, b, c);
}
__device__ __forceinline__ double multiply_add(double a, double b, double c)
{
  return fma(a, b, c);
}
__device__ __forceinline__ int32_t multiply_add(int32_t a, int32_t b, int32_t c)
{
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) +
                              static_cast<uint32_t>(c));
}
// Four of them: an Inf in a factor may become a NaN in the product, as in the original.
template <class R>
__device__ __forceinline__ complex<R> multiply_add(complex<R> a, complex<R> b, complex<R> c)
{
  return complex<R>(fma(a.re, b.re, fma(-a.im, b.im, c.re)),
                    fma(a.re, b.im, fma(a.im, b.re, c.im)));
}

// a * b, a + b in the compute type, wrapping for integers.
template <class C> __device__ __forceinline__ C multiply(C a, C b)
{
  return a * b;
}
template <> __device__ __forceinline__ int32_t multiply<int32_t>(int32_t a, int32_t b)
{
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
template <class R> __device__ __forceinline__ complex<R> multiply(complex<R> a, complex<R> b)
{
  return complex<R>(fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re));
}
template <class C> __device__ __forceinline__ C add(C a, C b)
{
  return a + b;
}
template <> __device__ __forceinline__ int32_t add<int32_t>(int32_t a, int32_t b)
{
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
template <class R> __device__ __forceinline__ complex<R> add(complex<R> a, complex<R> b)
{
  return complex<R>(a.re + b.re, a.im + b.im);
}

// The value of lane (lane ^ bits) of a whole warp.
template <class C> __device__ __forceinline__ C shuffle_xor(C x, int bits)
{
  return __shfl_xor_sync(~0u, x, bits);
}
template <class R> __device__ __forceinline__ complex<R> shuffle_xor(complex<R> x, int bits)
{
  return complex<R>(__shfl_xor_sync(~0u, x.re, bits), __shfl_xor_sync(~0u, x.im, bits));
}

// *p, which nobody writes while the kernel runs.
template <class S> __device__ __forceinline__ S load_constant(const S *p)
{
  return __ldg(p);
}
__device__ __forceinline__ complex<float> load_constant(const complex<float> *p)
{
  const float2 x = __ldg(reinterpret_cast<const float2 *>(p));
  return complex<float>(x.x, x.y);
}
__device__ __forceinline__ complex<double> load_constant(const complex<double> *p)
{
  const double2 x = __ldg(reinterpret_cast<const double2 *>(p));
  return complex<double>(x.x, x.y);
}

// alpha * sum as cuSPARSE has it: alpha = 0 leaves no trace of a NaN or Inf in the sum.
template <class C> __device__ __forceinline__ C scale(C alpha, C sum)
{
  return alpha == C(0) ? C(0) : multiply(alpha, sum);
}

// N neighbouring elements, loaded and stored at once (1 to 16 bytes).
template <class S, int N> struct alignas(sizeof(S) * N) vec {
  S at[N];
};

} // namespace shunt
