/* skewness.c: the host's twin of skewness_device.cu, from the counts of dcsr_traffic.c. */
#include "conv/skewness.h"

#include <math.h>

#include "conv/dcsr_traffic.h"

shunt_status shunt_skewness_csr_host(const struct shunt_csr *a, int64_t width,
                                     struct shunt_skewness *out)
{
  struct shunt_traffic_tiles tiles = shunt_traffic_tiles_default();
  struct shunt_traffic_counts counts;
  double n = (double)a->nnz, entropy, ssf;

  tiles.width = width;
  shunt_status status = shunt_traffic_count_host(a, &tiles, &counts, &entropy, &ssf);
  if (status != SHUNT_OK) return status;
  *out = (struct shunt_skewness){.nnz = a->nnz,
                                 .filled_rows = (int64_t)counts.filled_rows,
                                 .segments = (int64_t)counts.segments,
                                 .strips = (int64_t)counts.strips,
                                 .weight = n > 1 ? n * log(n) * (1 - entropy) : 0,
                                 .entropy = entropy,
                                 .ssf = ssf};
  return SHUNT_OK;
}
