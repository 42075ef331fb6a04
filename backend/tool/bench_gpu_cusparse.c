/* bench_gpu_cusparse.c: cuSPARSE's ways of a case: fresh descriptors and buffer
   for each, so that what one algorithm prepared never helps another.  */
#include <stdio.h>

#include "backend/tool/bench_gpu_peers.h"

static bool describe_dense(struct gpu_peers *p, const struct shunt_dense *d,
                           cusparseDnMatDescr_t *out)
{
  cusparseOrder_t order = gpu_is_row_major(d) ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  return p->sparse.cusparseCreateDnMat(out, d->rows, d->cols, gpu_leading(d), d->values,
                                       gpu_cuda_type(d->type), order) == CUSPARSE_STATUS_SUCCESS;
}

static bool describe(struct gpu_case *g)
{
  struct gpu_peers *p = g->gpu->peers;
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  bool spmm = g->p.op == SHUNT_SPMM;
  cusparseIndexType_t index = a->index_type == SHUNT_I64 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  p->matrix = NULL;
  p->first = p->second = NULL;
  p->buffer = NULL;
  return p->sparse.cusparseCreateCsr(&p->matrix, a->rows, a->cols, a->nnz,
                                     (void *)a->row_offsets, (void *)a->columns, a->values, index,
                                     index, a->base ? CUSPARSE_INDEX_BASE_ONE
                                                    : CUSPARSE_INDEX_BASE_ZERO,
                                     gpu_cuda_type(a->value_type)) == CUSPARSE_STATUS_SUCCESS &&
         describe_dense(p, spmm ? &g->p.spmm.b : &g->p.sddmm.a, &p->first) &&
         describe_dense(p, spmm ? &g->p.spmm.c : &g->p.sddmm.b, &p->second);
}

static const cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
static const cusparseSpMMAlg_t algorithms[] = { CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                                CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3 };

enum step { SIZE, PREPROCESS, EXECUTE };

/* The three calls of either operation take the same arguments. */
static cusparseStatus_t call(struct gpu_case *g, enum step step, size_t *bytes)
{
  struct gpu_peers *p = g->gpu->peers;
  cudaDataType compute = gpu_cuda_type(gpu_compute_of(&g->p));
  struct gpu_scalars s;
  gpu_find_scalars(g, &s);
  if (g->p.op == SHUNT_SPMM) {
    cusparseSpMMAlg_t alg = algorithms[p->algorithm];
    if (step == SIZE)
      return p->sparse.cusparseSpMM_bufferSize(p->sparse_handle, N, N, s.at[0], p->matrix,
                                               p->first, s.at[1], p->second, compute, alg, bytes);
    __typeof__(&cusparseSpMM) run = step == PREPROCESS ? p->sparse.cusparseSpMM_preprocess
                                                       : p->sparse.cusparseSpMM;
    return run(p->sparse_handle, N, N, s.at[0], p->matrix, p->first, s.at[1], p->second, compute,
               alg, p->buffer);
  }
  cusparseSDDMMAlg_t alg = CUSPARSE_SDDMM_ALG_DEFAULT;
  if (step == SIZE)
    return p->sparse.cusparseSDDMM_bufferSize(p->sparse_handle, N, N, s.at[0], p->first, p->second,
                                              s.at[1], p->matrix, compute, alg, bytes);
  __typeof__(&cusparseSDDMM) run = step == PREPROCESS ? p->sparse.cusparseSDDMM_preprocess
                                                      : p->sparse.cusparseSDDMM;
  return run(p->sparse_handle, N, N, s.at[0], p->first, p->second, s.at[1], p->matrix, compute,
             alg, p->buffer);
}

void gpu_finish_cusparse(struct gpu_case *g)
{
  struct gpu_peers *p = g->gpu->peers;
  if (p->matrix) p->sparse.cusparseDestroySpMat(p->matrix);
  if (p->first) p->sparse.cusparseDestroyDnMat(p->first);
  if (p->second) p->sparse.cusparseDestroyDnMat(p->second);
  cudaFree(p->buffer);
  p->matrix = NULL;
  p->first = p->second = NULL;
  p->buffer = NULL;
}

bool gpu_prepare_cusparse(struct gpu_case *g, int algorithm, bool preprocess, struct bench_way *w)
{
  struct gpu_peers *p = g->gpu->peers;
  size_t bytes = 0;
  p->algorithm = algorithm;
  const char *what = NULL;
  if (!describe(g))
    what = "cuSPARSE has no such matrix";
  else if (call(g, SIZE, &bytes) != CUSPARSE_STATUS_SUCCESS)
    what = "not supported by cuSPARSE";
  else if (cudaMalloc(&p->buffer, bytes ? bytes : 16) != cudaSuccess)
    what = "not enough device memory for its buffer";
  else if (preprocess && call(g, PREPROCESS, NULL) != CUSPARSE_STATUS_SUCCESS)
    what = "its preprocess failed";
  if (!what) return true;
  cudaGetLastError();
  snprintf(w->note, sizeof w->note, "%s", what);
  gpu_finish_cusparse(g);
  return false;
}

shunt_status gpu_cusparse(struct gpu_case *g, cudaStream_t stream)
{
  (void)stream; /* the handle's own */
  cusparseStatus_t status = call(g, EXECUTE, NULL);
  if (status == CUSPARSE_STATUS_SUCCESS) return SHUNT_OK;
  return status == CUSPARSE_STATUS_NOT_SUPPORTED ? SHUNT_E_UNSUPPORTED : SHUNT_E_CUDA;
}
