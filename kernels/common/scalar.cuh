// scalar.cuh: struct shunt_scalar (alpha, beta) as kernels see it.
//
// A scalar stands either in the launch's arguments (`host`) or in device memory
// (`device`), where it is read when the kernel runs: so a replayed graph sees the
// value of that moment, and whether beta is zero is known on the device only.
#pragma once
#include "kernels/common/number.cuh"

namespace shunt
{

// T is the compute type: float, double, int32_t or a complex one.
template <class T> struct scalar_arg {
  const T *device;
  T host;

  __device__ __forceinline__ T get() const { return device ? *device : host; }
};

// The value of a scalar that is known on the host.
template <class T> struct host_scalar {
  static T of(const struct shunt_scalar &s) { return static_cast<T>(s.host); }
};
template <class R> struct host_scalar<complex<R>> {
  static complex<R> of(const struct shunt_scalar &s)
  {
    return complex<R>(static_cast<R>(s.host), static_cast<R>(s.imaginary));
  }
};

// Host side: what to pass to a kernel for `s`.
template <class T> inline scalar_arg<T> make_scalar_arg(const struct shunt_scalar &s)
{
  scalar_arg<T> out;
  out.device = static_cast<const T *>(s.device);
  out.host = s.device ? T(0) : host_scalar<T>::of(s);
  return out;
}

} // namespace shunt
