/* srbcrs_integer_cost.c: shapes of the products of integers over strides, which no route takes. */
#include "backend/routes/costs.h"

/* The widest of which some warps are left for each multiprocessor: they hide what loads take. */
struct shunt_srbcrs_shape shunt_choose_srbcrs_shape(const struct shunt_srbcrs *v, int bits_b,
                                                    int64_t n, const struct shunt_device *d)
{
  const int64_t some = INT64_C(8) * d->multiprocessors;
  const int widest = bits_b == 16 ? 64 : 128, least = bits_b == 4 ? 64 : 32;
  struct shunt_srbcrs_shape s = {widest, 4};
  while (s.columns > least &&
         (s.columns / 2 >= n || 4 * v->groups * ((n + s.columns - 1) / s.columns) < some))
    s.columns /= 2;
  if (v->groups * ((n + s.columns - 1) / s.columns) >= 2 * some) s.split = 1;
  return s;
}

/* A warp for each stride of a mean group, but no more than fill the device some times over. */
int64_t shunt_choose_srbcrs_phases(const struct shunt_srbcrs *v, const struct shunt_device *d)
{
  const int64_t mean = v->nnz / (v->groups * v->height * SHUNT_SRBCRS_STRIDE) + 1;
  const int64_t most = INT64_C(96) * d->multiprocessors / v->groups + 1;
  return mean < most ? mean : most;
}
