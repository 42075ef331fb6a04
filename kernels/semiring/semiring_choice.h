/* semiring_choice.h: from a semiring to the loops that compute it on this machine. */
#ifndef SHUNT_SEMIRING_CHOICE_H
#define SHUNT_SEMIRING_CHOICE_H

#include "kernels/semiring/semiring_loops.h"

/* One element of any type. */
union shunt_element {
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  uint64_t u64;
};

/* `constant[0]`: the first operand's values are not read, each is value[0]; [1]: the second's. */
struct shunt_semiring_choice {
  const struct shunt_semiring_kernels *kernels;
  bool constant[2];
  union shunt_element value[2];
  union shunt_element neutral; /* of the multiplier */
  union shunt_element none;    /* of the monoid: what a sum begins with */
};

/* SHUNT_E_UNSUPPORTED: PLUS of ADD, and MIN of TIMES, have no loops. */
shunt_status shunt_semiring_choose(const struct shunt_semiring *by,
                                   struct shunt_semiring_choice *choice);

/* Instruction sets: 0 baseline, 1 AVX2, 2 AVX-512.  Uses the best that this machine has, but
   none above `most`, from now on; returns it.  Without a call there is no limit.  For tests
   and measurements.  */
int shunt_semiring_limit(int most);
/* What is used. */
int shunt_semiring_level(void);

/* Threads for `work` multiplications: few are not worth waking anybody for. */
int shunt_semiring_threads(int wanted, int64_t work);

#endif
