/* semiring_avx2.c: the inner loops for AVX2 with FMA; empty for other machines than x86-64. */
#include "kernels/semiring/semiring_loops.h"

#ifdef SHUNT_SEMIRING_X86
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define VECTOR_BYTES 32
#define KERNELS shunt_semiring_avx2
#include "kernels/semiring/semiring_simd.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
