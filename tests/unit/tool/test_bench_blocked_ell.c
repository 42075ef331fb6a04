/* test_bench_blocked_ell.c: Blocked-ELL beside int8 in `shunt bench`: where cuSPARSE does not take
   B and C in the order of the case, they are handed over in one that it takes, and the way says
   which.

   cuSPARSE is a stand-in that takes one pair of orders; device memory is the host's.  */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/gpu_peers.h"
#include "tests/unit/check.h"

enum { ROWS = 16, COLS = 24, N = 8, V = 8 };

static struct {
  int takes; /* bit 0: B by rows, bit 1: C by rows; < 0: nothing */
  int held;  /* descriptors */
} sparse;

struct dense {
  int64_t rows, cols, ld;
  cusparseOrder_t order;
};

static cusparseStatus_t create_ell(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t v,
                                   int64_t ell_cols, void *blocks, void *values,
                                   cusparseIndexType_t index, cusparseIndexBase_t base,
                                   cudaDataType type)
{
  (void)blocks, (void)values, (void)index, (void)base;
  check(rows == ROWS && cols == COLS && v == V && ell_cols % V == 0 && type == CUDA_R_8I,
        "a matrix of the case's sizes, in int8");
  *out = malloc(1);
  sparse.held++;
  return CUSPARSE_STATUS_SUCCESS;
}
static cusparseStatus_t create_dense(cusparseDnMatDescr_t *out, int64_t rows, int64_t cols,
                                     int64_t ld, void *values, cudaDataType type,
                                     cusparseOrder_t order)
{
  const struct dense d = {rows, cols, ld, order};
  (void)values, (void)type;
  struct dense *copy = malloc(sizeof d);
  if (copy) *copy = d;
  *out = (cusparseDnMatDescr_t)copy;
  sparse.held++;
  return CUSPARSE_STATUS_SUCCESS;
}
static cusparseStatus_t destroy_sparse(cusparseConstSpMatDescr_t d)
{
  free((void *)d);
  sparse.held--;
  return CUSPARSE_STATUS_SUCCESS;
}
static cusparseStatus_t destroy_dense(cusparseConstDnMatDescr_t d)
{
  free((void *)d);
  sparse.held--;
  return CUSPARSE_STATUS_SUCCESS;
}

static bool is_whole(const struct dense *d, int64_t rows, int64_t cols)
{
  return d->rows == rows && d->cols == cols &&
         d->ld >= (d->order == CUSPARSE_ORDER_ROW ? cols : rows);
}

static cusparseStatus_t size(cusparseHandle_t handle, cusparseOperation_t op_a,
                             cusparseOperation_t op_b, const void *alpha,
                             cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                             const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                             cusparseSpMMAlg_t alg, size_t *bytes)
{
  const struct dense *db = (const void *)b, *dc = (const void *)c;
  (void)handle, (void)op_a, (void)op_b, (void)alpha, (void)a, (void)beta, (void)compute, (void)alg;
  check(is_whole(db, COLS, N) && is_whole(dc, ROWS, N), "B and C are whole");
  *bytes = 0;
  const int orders = (db->order == CUSPARSE_ORDER_ROW) | (dc->order == CUSPARSE_ORDER_ROW) << 1;
  return orders == sparse.takes ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

/* ---- the device ------------------------------------------------------------------------ */

cudaError_t cudaMalloc(void **to, size_t bytes)
{
  *to = malloc(bytes);
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p)
{
  free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
  (void)kind;
  memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
  memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
void gpu_cublaslt_close(struct gpu_cublaslt *lt)
{
  (void)lt;
}

/* ---- the cases -------------------------------------------------------------------------- */

static struct gpu_peers peers;
static struct gpu gpu = {.peers = &peers};

/* The case has B and C by rows; NULL: nothing is taken. */
static void test_orders(int takes, const char *note)
{
  static int8_t values[ROWS * COLS], b[COLS * N];
  static int32_t c[ROWS * N];
  const struct bench_case known = {
      .profile = {.groups_nonempty = {2, 4, 8}, .groups_equal = {2, 4, 8}}};
  struct gpu_case g = {.gpu = &gpu, .c = &known};
  struct bench_way w = {.name = "blocked-ell"};
  g.p.op = SHUNT_SPMM;
  g.p.spmm.a = (struct shunt_csr){
      .rows = ROWS, .cols = COLS, .nnz = ROWS * COLS / 2, .values = values, .value_type = SHUNT_I8};
  g.p.spmm.b = (struct shunt_dense){COLS, N, N, 1, b, SHUNT_I8};
  g.p.spmm.c = (struct shunt_dense){ROWS, N, N, 1, c, SHUNT_I32};
  g.p.spmm.compute = SHUNT_I32;
  sparse.takes = takes;
  const bool ready = gpu_prepare_blocked_ell(&g, &w);
  check(ready == (takes >= 0) && strcmp(w.note, note) == 0, "orders %d: %s", takes, w.note);
  if (ready) gpu_finish_cusparse(&g);
  check(sparse.held == 0, "no descriptor is left");
  cudaFree(g.converted);
}

int main(void)
{
  peers.sparse.cusparseCreateBlockedEll = create_ell;
  peers.sparse.cusparseCreateDnMat = create_dense;
  peers.sparse.cusparseDestroySpMat = destroy_sparse;
  peers.sparse.cusparseDestroyDnMat = destroy_dense;
  peers.sparse.cusparseSpMM_bufferSize = size;
  test_orders(3, "");
  test_orders(0, "B by columns, C by columns");
  test_orders(1, "B by rows, C by columns");
  test_orders(2, "B by columns, C by rows");
  test_orders(-1, "not supported by cuSPARSE");
  return check_finish();
}
