/* gpu_clusters.c: column vectors of rows in another order (conv/vector/row_clusters.h):
   `clustered`.

   Left out where the order does not raise the fill by a half.  The conversion that is timed is
   ordering, measuring with and without the order, and packing.  */
#include <stdio.h>

#include "backend/routes/cost/costs.h"
#include "backend/tool/bench/gpu.h"
#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/vector/vector_kernels.h"

#define LEAST_GAIN 1.5

/* In g->converted: | packed | row_of | scratch | two measures |.  The packed matrix has room for
   the worst order, so that it is laid out before one is known.  */
struct clustering {
  const struct shunt_csr *a;
  struct shunt_vector_layout layout;
  size_t list_at, scratch_at, scratch_bytes, measures_at, bytes;
  struct shunt_vector_measure before, after;
};

static struct clustering clustering_of(const struct shunt_csr *a)
{
  struct clustering k = {.a = a,
                         .layout = {.order = SHUNT_VECTOR_WINDOWED, .height = 1, .listed = 1}};
  size_t packed = shunt_vector_bytes(a, &k.layout);
  k.scratch_bytes = shunt_row_clusters_cuda_bytes(a);
  if (packed == 0 || k.scratch_bytes == 0) return k;
  k.list_at = shunt_align_up(packed, 256);
  k.scratch_at = k.list_at + shunt_align_up((size_t)a->rows * sizeof(uint32_t), 256);
  k.measures_at = k.scratch_at + shunt_align_up(k.scratch_bytes, 256);
  k.bytes = k.measures_at + 2 * sizeof k.before;
  return k;
}

/* The order, and both measures, to the host. */
static bool find_order(struct gpu_case *g, struct clustering *k)
{
  const struct shunt_device *d = &g->gpu->device;
  cudaStream_t stream = g->gpu->stream;
  char *memory = g->converted;
  uint32_t *list = (uint32_t *)(void *)(memory + k->list_at);
  struct shunt_vector_measure *m = (void *)(memory + k->measures_at), both[2];
  if (shunt_csr_cluster_rows_cuda(k->a, list, memory + k->scratch_at, k->scratch_bytes, d,
                                  stream) != SHUNT_OK ||
      shunt_csr_vector_measure_cuda(k->a, NULL, m, d, stream) != SHUNT_OK ||
      shunt_csr_vector_measure_cuda(k->a, list, m + 1, d, stream) != SHUNT_OK ||
      cudaMemcpyAsync(both, m, sizeof both, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
      cudaStreamSynchronize(stream) != cudaSuccess)
    return false;
  k->before = both[0], k->after = both[1];
  return true;
}

static bool pack(struct gpu_case *g, struct clustering *k)
{
  const struct shunt_device *d = &g->gpu->device;
  char *memory = g->converted;
  int height = shunt_vector_measured_entries(k->a, &k->after);
  k->layout.height = shunt_vector_measured_height(&k->after);
  k->layout.order = shunt_choose_vector_order(&g->p.spmm, height, &g->gpu->machine);
  if (k->layout.order == SHUNT_VECTOR_WINDOWED && k->layout.height > 1) k->layout.height /= 2;
  if (!shunt_vector_lay_out(k->a, &k->layout, memory, &g->packed)) return false;
  if (cudaMemcpyAsync(g->packed.row_of, memory + k->list_at, (size_t)k->a->rows * sizeof(uint32_t),
                      cudaMemcpyDeviceToDevice, g->gpu->stream) != cudaSuccess)
    return false;
  shunt_status s = shunt_csr_to_vector_cuda(k->a, &k->layout, &g->packed, d, g->gpu->stream);
  g->packed.height = height; /* of the choice of a shape */
  return s == SHUNT_OK;
}

static bool refuse(struct bench_way *w, const char *why)
{
  cudaGetLastError();
  snprintf(w->note, sizeof w->note, "%s", why);
  return false;
}

/* Twice, the second time timed. */
static bool convert(struct gpu_case *g, struct clustering *k, struct bench_way *w)
{
  struct gpu *gpu = g->gpu;
  float ms = 0;
  if (!find_order(g, k) || !pack(g, k) || cudaStreamSynchronize(gpu->stream) != cudaSuccess ||
      cudaEventRecord(gpu->start, gpu->stream) != cudaSuccess || !find_order(g, k) || !pack(g, k) ||
      cudaEventRecord(gpu->stop, gpu->stream) != cudaSuccess ||
      cudaEventSynchronize(gpu->stop) != cudaSuccess ||
      cudaEventElapsedTime(&ms, gpu->start, gpu->stop) != cudaSuccess)
    return refuse(w, "the matrix could not be converted");
  w->conversion_us = 1e3 * ms;
  return true;
}

bool gpu_prepare_clustered(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  struct shunt_vector_counts counts;
  struct clustering k = clustering_of(a);
  if (g->p.op != SHUNT_SPMM || shunt_type_size(a->value_type) != 2 || k.bytes == 0) return false;
  if (!gpu_get(&g->converted, k.bytes, "vectors", w)) return false;
  if (!find_order(g, &k)) return refuse(w, "the rows could not be ordered");
  double before = shunt_vector_measured_fill(a, &k.before);
  double after = shunt_vector_measured_fill(a, &k.after);
  snprintf(w->note, sizeof w->note, "fill %.3f to %.3f", before, after);
  if (k.before.irregular || k.after.irregular || after < LEAST_GAIN * before) return false;
  if (!convert(g, &k, w)) return false;
  if (cudaMemcpy(&counts, g->packed.counts, sizeof counts, cudaMemcpyDeviceToHost) != cudaSuccess ||
      counts.irregular)
    return refuse(w, "the matrix does not fit the format");
  return gpu_get_workspace(g, shunt_vector_packed_spmm_workspace(&g->p.spmm), w);
}
