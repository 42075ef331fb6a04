#include "backend/graphblas/gpu/masked/masked_host.h"

#include <string.h>

#include "kernels/semiring/semiring_operands.h"

void grb_gpu_host_offsets(const struct grb_gpu_host_counts *h, uint64_t *offsets)
{
  const int64_t vectors = h->m.vectors;
  uint64_t sum = 0;
#pragma omp parallel for num_threads(h->threads) schedule(dynamic, 1024)
  for (int64_t v = 0; v < vectors; v++) {
    const int64_t end = shunt_vector_begin(&h->m, v + 1);
    uint64_t there = 0;
    for (int64_t e = shunt_vector_begin(&h->m, v); e < end; e++) there += h->counts[e] > 0;
    offsets[v] = there;
  }
  for (int64_t v = 0; v < vectors; v++) {
    const uint64_t there = offsets[v];
    offsets[v] = sum;
    sum += there;
  }
  offsets[vectors] = sum;
}

static void fill_vector(const struct grb_gpu_host_counts *h, int64_t v, uint64_t at,
                        uint64_t *indices, char *values)
{
  const size_t size = h->values ? shunt_type_size(h->type) : 0;
  const int64_t end = shunt_vector_begin(&h->m, v + 1);
  for (int64_t e = shunt_vector_begin(&h->m, v); e < end; e++) {
    if (h->counts[e] == 0) continue;
    indices[at] = (uint64_t)shunt_entry_index(&h->m, e);
    if (h->values) memcpy(values + at * size, h->values + (size_t)e * size, size);
    at++;
  }
}

void grb_gpu_host_entries(const struct grb_gpu_host_counts *h, const uint64_t *offsets,
                          uint64_t *indices, void *values)
{
#pragma omp parallel for num_threads(h->threads) schedule(dynamic, 1024)
  for (int64_t v = 0; v < h->m.vectors; v++) {
    fill_vector(h, v, offsets[v], indices, values);
    if (!h->values && !h->uniform && offsets[v] < offsets[v + 1])
      shunt_store_counts(h->type, h->counts + shunt_vector_begin(&h->m, v), h->term, values,
                         offsets[v], offsets[v + 1]);
  }
}
