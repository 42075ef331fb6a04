/* gpu_cusparse.c: cuSPARSE's ways of a case: fresh descriptors and buffer
   for each, so that what one algorithm prepared never helps another.

   blocked-ell: not the case's matrix, whose V x 1 vectors fill few blocks, but what that format is
   made for: a matrix of the same sizes with as many entries in random whole blocks of V x V, as
   in SC'21.  Its result is not the case's, so it is not checked, and B and C may be in any order:
   where cuSPARSE does not take that of the case (int8), the first of the others that it takes.  */
#include <stdio.h>
#include <stdlib.h>

#include "backend/tool/bench/gpu_peers.h"

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
  return p->sparse.cusparseCreateCsr(&p->matrix, a->rows, a->cols, a->nnz, (void *)a->row_offsets,
                                     (void *)a->columns, a->values, index, index,
                                     a->base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO,
                                     gpu_cuda_type(a->value_type)) == CUSPARSE_STATUS_SUCCESS &&
         describe_dense(p, spmm ? &g->p.spmm.b : &g->p.sddmm.a, &p->first) &&
         describe_dense(p, spmm ? &g->p.spmm.c : &g->p.sddmm.b, &p->second);
}

/* ---- Blocked-ELL ------------------------------------------------------------------- */

/* A matrix in blocks of v x v, `blocks` in each row of blocks. */
struct ell {
  int64_t v, blocks, columns; /* columns: blocks side by side in the whole matrix */
  size_t index_bytes, value_bytes;
};

static bool lay_out_ell(const struct gpu_case *g, struct ell *e)
{
  static const int height[3] = {8, 4, 2};
  const struct shunt_profile *f = &g->c->profile;
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  *e = (struct ell){0};
  for (int i = 2; i >= 0; i--)
    if (f->groups_nonempty[i] && f->groups_equal[i] >= 0.99 * (double)f->groups_nonempty[i])
      e->v = height[i];
  if (g->p.op != SHUNT_SPMM || e->v == 0 || a->rows % e->v || a->cols % e->v) return false;
  e->columns = a->cols / e->v;
  e->blocks = (a->nnz + a->rows * e->v / 2) / (a->rows * e->v);
  if (e->blocks < 1) e->blocks = 1;
  if (e->blocks > e->columns) e->blocks = e->columns;
  e->index_bytes = (size_t)(a->rows / e->v * e->blocks) * sizeof(int32_t);
  e->index_bytes = (e->index_bytes + 255) & ~(size_t)255;
  e->value_bytes = (size_t)(a->rows * e->v * e->blocks) * shunt_type_size(a->value_type);
  return true;
}

/* Distinct ascending blocks of each row of blocks, by selection sampling. */
static void draw_blocks(const struct ell *e, int64_t rows, int32_t *to)
{
  uint64_t random = 1;
  for (int64_t r = 0; r < rows / e->v; r++)
    for (int64_t c = 0, left = e->blocks; left > 0; c++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if ((int64_t)((random >> 33) % (uint64_t)(e->columns - c)) < left) {
        *to++ = (int32_t)c;
        left--;
      }
    }
}

/* Blocks at g->converted, then the case's own values as far as they go. */
static bool upload_ell(struct gpu_case *g, const struct ell *e, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  const size_t given = (size_t)a->nnz * shunt_type_size(a->value_type);
  int32_t *blocks = malloc(e->index_bytes);
  bool good = blocks && gpu_get(&g->converted, e->index_bytes + e->value_bytes, "blocks", w);
  if (good) {
    char *values = (char *)g->converted + e->index_bytes;
    draw_blocks(e, a->rows, blocks);
    good = cudaMemcpy(g->converted, blocks, (size_t)(a->rows / e->v * e->blocks) * 4,
                      cudaMemcpyHostToDevice) == cudaSuccess &&
           cudaMemset(values, 0, e->value_bytes) == cudaSuccess &&
           cudaMemcpy(values, a->values, given < e->value_bytes ? given : e->value_bytes,
                      cudaMemcpyDeviceToDevice) == cudaSuccess;
  }
  free(blocks);
  return good;
}

/* The same array by rows or by columns, without padding. */
static struct shunt_dense in_order(const struct shunt_dense *d, bool rows)
{
  struct shunt_dense out = *d;
  out.row_stride = rows ? d->cols : 1;
  out.col_stride = rows ? 1 : d->rows;
  return out;
}

static bool describe_ell(struct gpu_case *g, const struct ell *e, const struct shunt_dense *b,
                         const struct shunt_dense *c)
{
  struct gpu_peers *p = g->gpu->peers;
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  p->matrix = NULL;
  p->first = p->second = NULL;
  p->buffer = NULL;
  return p->sparse.cusparseCreateBlockedEll(
             &p->matrix, a->rows, a->cols, e->v, e->blocks * e->v, g->converted,
             (char *)g->converted + e->index_bytes, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
             gpu_cuda_type(a->value_type)) == CUSPARSE_STATUS_SUCCESS &&
         describe_dense(p, b, &p->first) && describe_dense(p, c, &p->second);
}

/* ---- the calls ---------------------------------------------------------------------- */

static const cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
static cusparseOperation_t operation_of(const struct shunt_problem *p)
{
  switch (p->op_a) {
  case 'T': return CUSPARSE_OPERATION_TRANSPOSE;
  case 'H': return CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  default: return N;
  }
}

static const cusparseSpMMAlg_t algorithms[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                               CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};

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
    const cusparseOperation_t op = operation_of(&g->p);
    if (step == SIZE)
      return p->sparse.cusparseSpMM_bufferSize(p->sparse_handle, op, N, s.at[0], p->matrix,
                                               p->first, s.at[1], p->second, compute, alg, bytes);
    __typeof__(&cusparseSpMM) run =
        step == PREPROCESS ? p->sparse.cusparseSpMM_preprocess : p->sparse.cusparseSpMM;
    return run(p->sparse_handle, op, N, s.at[0], p->matrix, p->first, s.at[1], p->second, compute,
               alg, p->buffer);
  }
  cusparseSDDMMAlg_t alg = CUSPARSE_SDDMM_ALG_DEFAULT;
  if (step == SIZE)
    return p->sparse.cusparseSDDMM_bufferSize(p->sparse_handle, N, N, s.at[0], p->first, p->second,
                                              s.at[1], p->matrix, compute, alg, bytes);
  __typeof__(&cusparseSDDMM) run =
      step == PREPROCESS ? p->sparse.cusparseSDDMM_preprocess : p->sparse.cusparseSDDMM;
  return run(p->sparse_handle, N, N, s.at[0], p->first, p->second, s.at[1], p->matrix, compute, alg,
             p->buffer);
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

/* `described`: p->matrix, first and second are there. */
static bool get_ready(struct gpu_case *g, int algorithm, bool described, bool preprocess,
                      struct bench_way *w)
{
  struct gpu_peers *p = g->gpu->peers;
  size_t bytes = 0;
  p->algorithm = algorithm;
  const char *what = NULL;
  if (!described)
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

bool gpu_prepare_cusparse(struct gpu_case *g, int algorithm, bool preprocess, struct bench_way *w)
{
  return get_ready(g, algorithm, describe(g), preprocess, w);
}

bool gpu_prepare_blocked_ell(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_dense *b = &g->p.spmm.b, *c = &g->p.spmm.c;
  struct ell e;
  if (!lay_out_ell(g, &e) || !upload_ell(g, &e, w)) return false;
  if (get_ready(g, 0, describe_ell(g, &e, b, c), false, w)) return true;
  for (int i = 0; i < 4; i++) {
    const struct shunt_dense other_b = in_order(b, i & 1), other_c = in_order(c, i >> 1);
    if (!get_ready(g, 0, describe_ell(g, &e, &other_b, &other_c), false, w)) continue;
    snprintf(w->note, sizeof w->note, "B by %s, C by %s", i & 1 ? "rows" : "columns",
             i >> 1 ? "rows" : "columns");
    return true;
  }
  return false;
}

shunt_status gpu_cusparse(struct gpu_case *g, cudaStream_t stream)
{
  (void)stream; /* the handle's own */
  cusparseStatus_t status = call(g, EXECUTE, NULL);
  if (status == CUSPARSE_STATUS_SUCCESS) return SHUNT_OK;
  return status == CUSPARSE_STATUS_NOT_SUPPORTED ? SHUNT_E_UNSUPPORTED : SHUNT_E_CUDA;
}
