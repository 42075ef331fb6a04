/* semiring_avx512.c: the inner loops for AVX-512; empty for other machines than x86-64. */
#include "kernels/semiring/semiring_loops.h"

#ifdef SHUNT_SEMIRING_X86
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))),    \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512")
#endif
#define VECTOR_BYTES 64
#define KERNELS shunt_semiring_avx512
#include "kernels/semiring/semiring_simd.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
