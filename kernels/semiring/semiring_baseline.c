/* semiring_baseline.c: the inner loops for whatever every machine of this kind can do: vectors
   of 16 bytes, which SSE2 and NEON have.  */
#define VECTOR_BYTES 16
#define KERNELS shunt_semiring_baseline
#include "kernels/semiring/semiring_simd.h"
