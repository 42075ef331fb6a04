/* inspect_order.c: what another order of the rows would change. */
#include <stdlib.h>

#include "backend/tool/inspect/inspect.h"
#include "conv/vector/row_clusters.h"

/* Rows compared with others: some five seconds at most. */
#define MOST_COMPARED 2e8

void inspect_order_try(const struct shunt_csr *a, struct inspect_order *out)
{
  const size_t bytes = shunt_row_clusters_host_bytes(a);
  const double rows = (double)a->rows, compared = rows * (rows < 8192 ? rows : 8192);
  struct shunt_vector_measure now;
  *out = (struct inspect_order){0};
  if (bytes == 0 || a->nnz == 0 || compared > MOST_COMPARED) return;
  const size_t room = (bytes + 255) / 256 * 256;
  uint32_t *row_of = malloc((size_t)a->rows * sizeof *row_of);
  void *scratch = aligned_alloc(256, room);
  if (row_of && scratch && shunt_csr_cluster_rows_host(a, row_of, scratch, room) == SHUNT_OK &&
      shunt_csr_vector_measure_host(a, NULL, &now) == SHUNT_OK &&
      shunt_csr_vector_measure_host(a, row_of, &out->measure) == SHUNT_OK) {
    out->tried = !now.irregular && !out->measure.irregular;
    out->fill_now = shunt_vector_measured_fill(a, &now);
    out->fill_ordered = shunt_vector_measured_fill(a, &out->measure);
  }
  free(row_of);
  free(scratch);
}
