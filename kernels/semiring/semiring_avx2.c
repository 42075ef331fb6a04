/* semiring_avx2.c: the inner loops for AVX2 with FMA; empty for other machines than x86-64. */
#include "kernels/semiring/semiring_loops.h"

#ifdef SHUNT_SEMIRING_X86
#pragma GCC target("avx2,fma")
#define VECTOR_BYTES 32
#define KERNELS shunt_semiring_avx2
#include "kernels/semiring/semiring_simd.h"
#endif
