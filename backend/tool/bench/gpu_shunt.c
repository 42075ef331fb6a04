/* gpu_shunt.c: Shunt's ways of a case: csr, vector, dense, dense-packed.

   dense, SpMM:       zero and scatter A ----> GEMM into C
   dense-packed, SpMM:  GEMM into C ---> proof and repair (which does nothing)
   dense, SDDMM:      GEMM into a product ---> sample at C's pattern  */
#include <stdio.h>

#include "backend/routes/routes.h"
#include "backend/tool/bench/gpu.h"
#include "conv/dense/dense_conv.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/guard/guard.h"
#include "kernels/vector/vector_kernels.h"

bool gpu_prepare_csr(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_device *d = &g->gpu->device;
  size_t bytes = g->p.op == SHUNT_SPMM ? shunt_route_csr_spmm_workspace(&g->p.spmm, d)
                                       : shunt_csr_sddmm_workspace(&g->p.sddmm, d);
  return gpu_get_workspace(g, bytes, w);
}

bool gpu_prepare_vector(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_device *d = &g->gpu->device;
  size_t bytes = g->p.op == SHUNT_SPMM ? shunt_vector_csr_spmm_workspace(&g->p.spmm, d)
                                       : shunt_vector_csr_sddmm_workspace(&g->p.sddmm, d);
  return gpu_get_workspace(g, bytes, w);
}

shunt_status gpu_csr(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  if (g->p.op == SHUNT_SPMM)
    return shunt_route_csr_spmm(&g->p.spmm, &g->c->profile, &g->gpu->machine, g->workspace,
                                g->workspace_bytes, stream);
  return shunt_route_csr_sddmm(&g->p.sddmm, &g->c->profile, d, g->workspace, g->workspace_bytes,
                               stream);
}

shunt_status gpu_vector(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  if (g->p.op == SHUNT_SPMM)
    return shunt_vector_csr_spmm_cuda(&g->p.spmm, d, g->workspace, g->workspace_bytes, stream);
  return shunt_vector_csr_sddmm_cuda(&g->p.sddmm, d, g->workspace, g->workspace_bytes, stream);
}

static const char *refusal(shunt_status status)
{
  switch (status) {
  case SHUNT_E_UNSUPPORTED: return "not built for these types, layout or device";
  case SHUNT_E_MEMORY: return "not enough device memory";
  default: return "the dense matrix could not be made";
  }
}

/* Row-major with rows padded to 16 bytes, which cuBLAS's fast kernels want.  Of
   SpMM it holds A; of SDDMM the product, in f32 where C's own type is narrower.  */
bool gpu_prepare_dense(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  bool spmm = g->p.op == SHUNT_SPMM;
  shunt_type type = spmm || shunt_type_size(a->value_type) >= 8 ? a->value_type : SHUNT_F32;
  int64_t step = 16 / (int64_t)shunt_type_size(type);
  int64_t row_stride = (a->cols + step - 1) / step * step;
  double bytes = (double)a->rows * (double)row_stride * (double)shunt_type_size(type);
  size_t free_bytes = 0, all_bytes = 0;
  if (g->dense.values) return true;
  if (!spmm && g->p.sddmm.compute == SHUNT_I32) {
    snprintf(w->note, sizeof w->note, "not built for these types");
    return false;
  }
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess || bytes > 0.8 * (double)free_bytes ||
      cudaMalloc(&g->dense.values, (size_t)bytes) != cudaSuccess) {
    cudaGetLastError();
    g->dense.values = NULL;
    snprintf(w->note, sizeof w->note, "the dense matrix would take %.1f GB", bytes / 1e9);
    return false;
  }
  g->dense = (struct shunt_dense){a->rows, a->cols, row_stride, 1, g->dense.values, type};
  if (!spmm) return true;
  shunt_status status =
      shunt_csr_to_dense_cuda(a, &g->dense, NULL, &g->gpu->device, g->gpu->stream);
  if (status == SHUNT_OK)
    status =
        shunt_fingerprint_csr_cuda(a, g->expected, &g->gpu->device, g->scratch, g->gpu->stream);
  if (status == SHUNT_OK) return true;
  snprintf(w->note, sizeof w->note, "%s", refusal(status));
  cudaFree(g->dense.values);
  g->dense.values = NULL;
  return false;
}

shunt_status gpu_dense(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  shunt_status status;
  if (g->p.op == SHUNT_SPMM) {
    status = shunt_csr_to_dense_cuda(&g->p.spmm.a, &g->dense, NULL, d, stream);
    return status == SHUNT_OK ? gpu_gemm(g, stream) : status;
  }
  status = gpu_gemm(g, stream);
  return status == SHUNT_OK ? shunt_dense_sddmm_sample_cuda(&g->p.sddmm, &g->dense, 0, d, stream)
                            : status;
}

/* SpMM only: what SDDMM's dense way computes is not kept.  The product, and the proof
   with the repair that finds nothing to do, as backend/routes/dense.c has them.  */
shunt_status gpu_dense_packed(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  struct shunt_guard how = {.product = &g->p.spmm.c,
                            .expected = g->expected,
                            .sets = g->words,
                            .set_count = 1,
                            .key = g->words,
                            .wait_cycles = shunt_guard_wait_cycles(&g->p.spmm)};
  if (g->p.op != SHUNT_SPMM) return SHUNT_E_UNSUPPORTED;
  shunt_status status = gpu_gemm(g, stream);
  return status == SHUNT_OK ? shunt_guard_repair_cuda(&g->p.spmm, &how, d, stream) : status;
}
