/* semiring_choice.c: which inner loops, and which constants stand for operands that FIRST,
   SECOND and PAIR do not read (semiring_loops.h has the identities).  */
#include <math.h>

#include "kernels/semiring/semiring_choice.h"

static int level = -1; /* not known yet */

int shunt_semiring_limit(int most)
{
  int found = 0;
#ifdef SHUNT_SEMIRING_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found = 1;
  if (found == 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    found = 2;
#endif
  if (found > most) found = most;
  __atomic_store_n(&level, found, __ATOMIC_RELAXED);
  return found;
}

int shunt_semiring_level(void)
{
  const int known = __atomic_load_n(&level, __ATOMIC_RELAXED);
  return known < 0 ? shunt_semiring_limit(2) : known;
}

static const struct shunt_semiring_kernels *kernels(shunt_type t, enum shunt_semiring_op op)
{
#ifdef SHUNT_SEMIRING_X86
  const int known = shunt_semiring_level();
  if (known == 2) return shunt_semiring_avx512(t, op);
  if (known == 1) return shunt_semiring_avx2(t, op);
#endif
  return shunt_semiring_baseline(t, op);
}

static union shunt_element number(shunt_type t, double x)
{
  union shunt_element e = {.u64 = 0};
  switch (t) {
  case SHUNT_F32: e.f32 = (float)x; break;
  case SHUNT_F64: e.f64 = x; break;
  case SHUNT_I32: e.i32 = (int32_t)x; break;
  default: e.i64 = (int64_t)x; break;
  }
  return e;
}

/* fmin and fmax ignore a NaN; integers have a largest and a least. */
static union shunt_element none(shunt_type t, enum shunt_monoid monoid)
{
  const bool min = monoid == SHUNT_MIN;
  if (monoid == SHUNT_PLUS) return number(t, 0);
  switch (t) {
  case SHUNT_I32: return (union shunt_element){.i32 = min ? INT32_MAX : INT32_MIN};
  case SHUNT_I64: return (union shunt_element){.i64 = min ? INT64_MAX : INT64_MIN};
  case SHUNT_U64: return (union shunt_element){.u64 = min ? UINT64_MAX : 0};
  default: return number(t, NAN);
  }
}

shunt_status shunt_semiring_choose(const struct shunt_semiring *by,
                                   struct shunt_semiring_choice *choice)
{
  const bool pair = by->multiplier == SHUNT_PAIR;
  const bool add =
      by->multiplier == SHUNT_ADD || (by->monoid == SHUNT_MIN && by->multiplier != SHUNT_TIMES);
  /* x + -0.0 is x whatever x is; x + 0.0 is not, for x = -0.0. */
  const double neutral = add ? -0.0 : 1;
  enum shunt_semiring_op op;

  if (add && by->monoid == SHUNT_MIN)
    op = SHUNT_OP_MIN_ADD;
  else if (add && by->monoid == SHUNT_MAX)
    op = SHUNT_OP_MAX_ADD;
  else if (!add && by->monoid == SHUNT_MAX)
    op = SHUNT_OP_MAX_TIMES;
  else if (!add && by->monoid == SHUNT_PLUS)
    op = SHUNT_OP_PLUS_TIMES;
  else
    return SHUNT_E_UNSUPPORTED;

  choice->kernels = kernels(by->type, op);
  choice->constant[0] = pair || by->multiplier == SHUNT_SECOND;
  choice->constant[1] = pair || by->multiplier == SHUNT_FIRST;
  choice->value[0] = number(by->type, pair ? 1 : neutral);
  choice->value[1] = choice->neutral = number(by->type, neutral);
  choice->none = none(by->type, by->monoid);
  return SHUNT_OK;
}

int shunt_semiring_threads(int wanted, int64_t work)
{
  enum { WORTH_A_THREAD = 1 << 15 };
  const int64_t most = 1 + work / WORTH_A_THREAD;
  return wanted < 1 ? 1 : most < wanted ? (int)most : wanted;
}
