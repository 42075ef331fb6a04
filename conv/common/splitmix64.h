/* splitmix64.h: random numbers, the same on every machine and on the device.

   Source: the generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
   OOPSLA 2014.  */
#ifndef SHUNT_CONV_SPLITMIX64_H
#define SHUNT_CONV_SPLITMIX64_H

#include <stdint.h>

#ifdef __CUDACC__
#define SHUNT_SPLITMIX64_INLINE static inline __host__ __device__
#else
#define SHUNT_SPLITMIX64_INLINE static inline
#endif

/* The number that follows *state, which moves on by one. */
SHUNT_SPLITMIX64_INLINE uint64_t shunt_splitmix64(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

#endif
