/* row_clusters.c: orders of rows.  In the trace: x the search, m what an order is worth.  */
#include <stdlib.h>

#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "tests/unit/way/launchers/launchers.h"

struct clusters {
  struct shunt_csr a;
  uint32_t *row_of;
  struct shunt_vector_measure *measure;
};
static void clusters(const void *arguments)
{
  const struct clusters *x = arguments;
  if (x->measure) {
    shunt_csr_vector_measure_host(&x->a, x->row_of, x->measure);
    return;
  }
  const size_t bytes = (size_t)1 << 24;
  void *scratch = malloc(bytes);
  if (!scratch) abort();
  shunt_csr_cluster_rows_host(&x->a, x->row_of, scratch, bytes);
  free(scratch);
}
size_t shunt_row_clusters_cuda_bytes(const struct shunt_csr *a)
{
  return a->rows > 0 ? ROOM : 0;
}
shunt_status shunt_csr_cluster_rows_cuda(const struct shunt_csr *a, uint32_t *row_of, void *scratch,
                                         size_t bytes, const struct shunt_device *d, shunt_stream s)
{
  (void)scratch, (void)bytes, (void)d;
  return KERNEL('x', s, clusters, *a, row_of, NULL);
}
shunt_status shunt_csr_vector_measure_cuda(const struct shunt_csr *a, const uint32_t *row_of,
                                           struct shunt_vector_measure *out,
                                           const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('m', s, clusters, *a, (uint32_t *)row_of, out);
}
