/* gpu_cublas.c: the dense product, C = alpha A B + beta C. */
#include "backend/tool/bench/gpu_peers.h"

/* cuBLAS knows columns only: a row-major C is computed as C^T = B^T A^T, and an
   operand stored the other way round from C is handed over as transposed.  */
static shunt_status multiply(struct gpu_peers *p, const struct shunt_dense *a,
                             const struct shunt_dense *b, const struct shunt_dense *c,
                             const void *alpha, const void *beta, shunt_type compute)
{
  bool rows = gpu_is_row_major(c);
  const struct shunt_dense *x = rows ? b : a, *y = rows ? a : b;
  cublasOperation_t op_x = gpu_is_row_major(x) == rows ? CUBLAS_OP_N : CUBLAS_OP_T;
  cublasOperation_t op_y = gpu_is_row_major(y) == rows ? CUBLAS_OP_N : CUBLAS_OP_T;
  cublasComputeType_t type = compute == SHUNT_F64 || compute == SHUNT_C64 ? CUBLAS_COMPUTE_64F
                             : compute == SHUNT_I32                       ? CUBLAS_COMPUTE_32I
                                                                          : CUBLAS_COMPUTE_32F;
  cublasStatus_t status = p->blas.cublasGemmEx(
      p->blas_handle, op_x, op_y, (int)(rows ? c->cols : c->rows), (int)(rows ? c->rows : c->cols),
      (int)a->cols, alpha, x->values, gpu_cuda_type(x->type), gpu_leading(x), y->values,
      gpu_cuda_type(y->type), gpu_leading(y), beta, c->values, gpu_cuda_type(c->type),
      gpu_leading(c), type, CUBLAS_GEMM_DEFAULT);
  if (status == CUBLAS_STATUS_SUCCESS) return SHUNT_OK;
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? SHUNT_E_UNSUPPORTED : SHUNT_E_CUDA;
}

shunt_status gpu_gemm(struct gpu_case *g, cudaStream_t stream)
{
  (void)stream; /* the handle's own */
  if (g->p.op == SHUNT_SPMM) {
    struct gpu_scalars s;
    gpu_find_scalars(g, &s);
    return multiply(g->gpu->peers, &g->dense, &g->p.spmm.b, &g->p.spmm.c, s.at[0], s.at[1],
                    g->p.spmm.compute);
  }
  const struct shunt_scalar by = {.host = 1}, add = {.host = 0};
  union gpu_scalar one = gpu_scalar_of(&by, g->p.sddmm.compute);
  union gpu_scalar zero = gpu_scalar_of(&add, g->p.sddmm.compute);
  return multiply(g->gpu->peers, &g->p.sddmm.a, &g->p.sddmm.b, &g->dense, &one, &zero,
                  g->p.sddmm.compute);
}
