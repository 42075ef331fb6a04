/* tolerance.h: how far a result may be from the float64 sum, for the host
   and the GPU check alike.

   A sum of `terms` products whose absolute values add up to `scale`, kept in
   the compute type and rounded to the result's type once, is off by at most

     u_result |result|  +  u_compute scale (4 + 2 sqrt(terms))  +  2 u_operands scale

   with u the unit roundoff; the second term is the usual random-walk growth with
   room for any order of addition, the third is there where operands are rounded before
   they are multiplied (TF32: 2^-11, else 0).  Integers must be exact.  */
#ifndef SHUNT_BENCH_TOLERANCE_H
#define SHUNT_BENCH_TOLERANCE_H

#include <math.h>

#include "kernels/common/types.h"

#ifdef __CUDACC__
#define BENCH_BOTH static inline __host__ __device__
#else
#define BENCH_BOTH static inline
#endif

BENCH_BOTH double bench_roundoff(shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return 0x1p-11;
  case SHUNT_BF16: return 0x1p-8;
  case SHUNT_F32:
  case SHUNT_C32: return 0x1p-24;
  case SHUNT_F64:
  case SHUNT_C64: return 0x1p-53;
  default: return 0;
  }
}

BENCH_BOTH double bench_tolerance(shunt_type type, shunt_type compute, double operands,
                                  double scale, double result, double terms)
{
  double subnormal = type == SHUNT_F16 ? 0x1p-25 : type == SHUNT_BF16 ? 0x1p-134 : 0;
  return bench_roundoff(type) * fabs(result) * 1.01 + subnormal +
         bench_roundoff(compute) * scale * (4 + 2 * sqrt(terms)) + 2 * operands * scale;
}

/* error / tolerance; 0 when both are 0, infinite when a wrong value is not a number. */
BENCH_BOTH double bench_error_ratio(double got, double want, double tolerance)
{
  double error = fabs(got - want);
  if (got == want || (got != got && want != want)) return 0;
  if (!(error <= 1e300)) return HUGE_VAL;
  if (tolerance > 0) return error / tolerance;
  return HUGE_VAL;
}

#endif
