/* gpu_dcsr.c: the products with densified CSR (kernels/dcsr/dcsr_kernels.h).

   dcsr-b        B-stationary, strips of 64 columns and S, stored
   dcsr-online   the same from CSC, nothing stored
   dcsr-c        C-stationary, whole

   Conversion, from the case's CSR on the device, is timed apart; dcsr-online has none: a program
   that calls it has its matrix in CSC.  */
#include <stdio.h>

#include "backend/tool/bench/gpu.h"
#include "conv/dcsr/dcsr_conv.h"
#include "conv/dcsr/dcsr_traversal.h"
#include "kernels/common/alignment.h"

static bool get(void **to, size_t bytes, const char *what, struct bench_way *w)
{
  if (bytes == 0 || cudaMalloc(to, bytes) == cudaSuccess) return true;
  cudaGetLastError();
  *to = NULL;
  snprintf(w->note, sizeof w->note, "no %.1f MB of device memory for the %s", (double)bytes / 1e6,
           what);
  return false;
}

static bool refuse(struct bench_way *w, const char *why)
{
  snprintf(w->note, sizeof w->note, "%s", why);
  return false;
}

static bool takes(const struct gpu_case *g)
{
  const struct shunt_spmm *p = &g->p.spmm;
  const shunt_type sum = shunt_dcsr_sum_type(p->a.value_type);
  return g->p.op == SHUNT_SPMM && (sum == SHUNT_F32 || sum == SHUNT_F64) && p->compute == sum &&
         p->a.nnz < 1 << 30;
}

/* One conversion after the other in g->converted: | dcsr | S | scratch of either |. */
struct conversion {
  struct shunt_dcsr_source from;
  struct shunt_dcsr_layout layout;
  bool with_sums;
  size_t sums_at, scratch_at, scratch_bytes, bytes;
};

static struct conversion conversion_of(const struct gpu_case *g, int64_t width, bool with_sums)
{
  const struct shunt_csr *a = &g->p.spmm.a;
  struct conversion v = {
      .from = shunt_dcsr_source_csr(a), .layout = {width, SHUNT_I32}, .with_sums = with_sums};
  int64_t room = shunt_dcsr_most_segments(&v.from, &v.layout);
  size_t sums = shunt_dcsr_sums_scratch_bytes(a->rows, room);
  v.scratch_bytes = shunt_dcsr_scratch_bytes_cuda(&v.from, &v.layout);
  if (v.scratch_bytes < sums) v.scratch_bytes = sums;
  v.sums_at = shunt_align_up(shunt_dcsr_bytes(&v.from, &v.layout, room), 256);
  v.scratch_at = v.sums_at;
  if (with_sums)
    v.scratch_at += shunt_dcsr_sums_bytes(a->rows, room, shunt_dcsr_sum_type(a->value_type));
  v.bytes = v.scratch_at + v.scratch_bytes;
  return v;
}

static shunt_status convert(struct gpu_case *g, const struct conversion *v)
{
  const struct shunt_device *d = &g->gpu->device;
  char *scratch = (char *)g->converted + v->scratch_at;
  shunt_status s = shunt_source_to_dcsr_cuda(&v->from, &v->layout, scratch, v->scratch_bytes,
                                             &g->dcsr, d, g->gpu->stream);
  if (s != SHUNT_OK || !v->with_sums) return s;
  return shunt_dcsr_sums_cuda(&g->dcsr, &g->sums, scratch, v->scratch_bytes, d, g->gpu->stream);
}

/* Twice, the second time timed; then d.room is what there is. */
static bool run_conversion(struct gpu_case *g, const struct conversion *v, struct bench_way *w)
{
  struct gpu *gpu = g->gpu;
  struct shunt_dcsr_counts counts;
  float ms = 0;
  if (convert(g, v) != SHUNT_OK || cudaEventRecord(gpu->start, gpu->stream) != cudaSuccess ||
      convert(g, v) != SHUNT_OK || cudaEventRecord(gpu->stop, gpu->stream) != cudaSuccess ||
      cudaMemcpyAsync(&counts, g->dcsr.counts, sizeof counts, cudaMemcpyDeviceToHost,
                      gpu->stream) != cudaSuccess ||
      cudaStreamSynchronize(gpu->stream) != cudaSuccess ||
      cudaEventElapsedTime(&ms, gpu->start, gpu->stop) != cudaSuccess) {
    cudaGetLastError();
    return refuse(w, "the matrix could not be converted");
  }
  if (counts.irregular) return refuse(w, "the matrix does not fit the format");
  w->conversion_us = 1e3 * ms;
  g->dcsr.room = g->sums.room = (int64_t)counts.segments;
  return true;
}

static bool make_dcsr(struct gpu_case *g, int64_t width, bool with_sums, struct bench_way *w)
{
  const struct shunt_csr *a = &g->p.spmm.a;
  struct conversion v = conversion_of(g, width, with_sums);
  int64_t room = shunt_dcsr_most_segments(&v.from, &v.layout);
  if (v.sums_at == 0 || !get(&g->converted, v.bytes, "strips", w)) return false;
  if (!shunt_dcsr_lay_out(&v.from, &v.layout, room, g->converted, &g->dcsr)) return false;
  if (with_sums && !shunt_dcsr_sums_lay_out(a->rows, room, shunt_dcsr_sum_type(a->value_type),
                                            (char *)g->converted + v.sums_at, &g->sums))
    return false;
  return run_conversion(g, &v, w);
}

static bool get_workspace(struct gpu_case *g, size_t bytes, struct bench_way *w)
{
  g->workspace_bytes = bytes;
  return get(&g->workspace, bytes, "workspace", w);
}

/* ---- the ways ------------------------------------------------------------------------ */

/* The way's note: SSF and which traversal it is for. */
static void note_traversal(const struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_profile *f = &g->c->profile;
  snprintf(w->note, sizeof w->note, "SSF %.4g: %s", f->ssf,
           shunt_traversal_name(shunt_traversal_of(f)));
}

bool gpu_prepare_dcsr_b(struct gpu_case *g, struct bench_way *w)
{
  if (!takes(g) || !make_dcsr(g, SHUNT_DCSR_STRIP, true, w)) return false;
  note_traversal(g, w);
  return get_workspace(g, shunt_dcsr_spmm_strips_workspace(&g->p.spmm, &g->dcsr), w);
}

shunt_status gpu_dcsr_b(struct gpu_case *g, cudaStream_t stream)
{
  return shunt_dcsr_spmm_strips_cuda(&g->p.spmm, &g->dcsr, &g->sums, &g->gpu->device, g->workspace,
                                     g->workspace_bytes, stream);
}

/* Strips one column wide are CSC, if no entry repeats: their segments are entries. */
bool gpu_prepare_dcsr_online(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = &g->p.spmm.a;
  if (!takes(g) || a->value_type != g->p.spmm.compute || !make_dcsr(g, 1, false, w)) return false;
  w->conversion_us = 0;
  if (g->dcsr.room != a->nnz) return refuse(w, "entries repeat");
  g->columns = (struct shunt_csr){
      a->cols,   a->rows,       a->nnz, g->dcsr.strip_begin, g->dcsr.row_ids, g->dcsr.values,
      SHUNT_I32, a->value_type, 0};
  return get_workspace(g, shunt_dcsr_csc_online_workspace(&g->p.spmm), w);
}

shunt_status gpu_dcsr_online(struct gpu_case *g, cudaStream_t stream)
{
  return shunt_dcsr_csc_online_cuda(&g->p.spmm, &g->columns, &g->gpu->device, g->workspace,
                                    g->workspace_bytes, stream);
}

bool gpu_prepare_dcsr_c(struct gpu_case *g, struct bench_way *w)
{
  if (!takes(g) || !make_dcsr(g, 0, false, w)) return false;
  return get_workspace(g, shunt_dcsr_spmm_rows_workspace(&g->p.spmm, &g->dcsr, &g->gpu->device), w);
}

shunt_status gpu_dcsr_c(struct gpu_case *g, cudaStream_t stream)
{
  return shunt_dcsr_spmm_rows_cuda(&g->p.spmm, &g->dcsr, g->c->profile.longest_row, &g->gpu->device,
                                   g->workspace, g->workspace_bytes, stream);
}
