/* srbcrs_integer_cost.c: shapes of the products of integers over strides, which no route takes.
   The numbers are those with which the shapes chosen for 4096 x 4096, 80 to 98 % zeros, take least
   time on an H200 (tests/bench/integers.md): within 3 % of the fastest in the mean.  */
#include "backend/routes/cost/costs.h"
#include "kernels/common/divide.h"

/* Strides of a mean group. */
static int64_t mean_strides(const struct shunt_srbcrs *v, int64_t vectors)
{
  return vectors / (v->groups * SHUNT_SRBCRS_STRIDE) + 1;
}

/* Two accumulators for a sum are most that 64 columns leave registers for. */
static int widest_of(const struct shunt_srbcrs *v, int64_t vectors, int bits_b)
{
  if (bits_b == 16 || (v->bits > 8 && bits_b == 8)) return 64;
  return mean_strides(v, vectors) <= 3 ? 64 : 128;
}

/* The widest of which some warps are left for each multiprocessor: they hide what loads take. */
struct shunt_srbcrs_shape shunt_choose_srbcrs_shape(const struct shunt_srbcrs *v, int64_t vectors,
                                                    int bits_b, int64_t n,
                                                    const struct shunt_device *d)
{
  const int64_t some = (bits_b == 16 ? 16 : 2) * (int64_t)d->multiprocessors;
  const int least = bits_b == 4 ? 64 : 32;
  struct shunt_srbcrs_shape s = {.columns = widest_of(v, vectors, bits_b), .split = 4};
  while (s.columns > least && (s.columns / 2 >= n || v->groups * shunt_div_up(n, s.columns) < some))
    s.columns /= 2;
  if (v->groups * shunt_div_up(n, s.columns) >= INT64_C(6) * d->multiprocessors) s.split = 1;
  return s;
}

/* Rounds of resident blocks, times the strides of a warp and half a one for its start.  Blocks that
   have a multiprocessor for themselves take 0.7 of the time of two.  */
static double phases_cost(const struct shunt_srbcrs *v, int64_t vectors, int bits, int64_t phases,
                          const struct shunt_device *d)
{
  const int warps = bits == 16 ? SHUNT_SRBCRS_SDDMM_WARPS_16 : SHUNT_SRBCRS_SDDMM_WARPS;
  const int resident = bits == 16 ? SHUNT_SRBCRS_SDDMM_RESIDENT_16 : SHUNT_SRBCRS_SDDMM_RESIDENT;
  const int64_t blocks = shunt_div_up(v->groups, warps) * phases;
  double rounds = (double)shunt_div_up(blocks, (int64_t)d->multiprocessors * resident);
  if (resident > 1 && blocks <= d->multiprocessors) rounds = 0.7;
  return rounds * ((double)shunt_div_up(mean_strides(v, vectors), phases) + 0.5);
}

int64_t shunt_choose_srbcrs_phases(const struct shunt_srbcrs *v, int64_t vectors, int bits,
                                   const struct shunt_device *d)
{
  const int64_t mean = mean_strides(v, vectors), most = mean < 64 ? mean : 64;
  int64_t best = 1;
  for (int64_t phases = 2; phases <= most; phases++)
    if (phases_cost(v, vectors, bits, phases, d) <= phases_cost(v, vectors, bits, best, d))
      best = phases;
  return best;
}
