/* entry_world.h: a cuSPARSE and a planner of the test's own around the exported functions, for
   test_entry.c.  Both note what they are asked for; descriptors are plain structs.  */
#ifndef ENTRY_WORLD_H
#define ENTRY_WORLD_H

#include <string.h>

#include "backend/cusparse/entry.h"
#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/log.h"
#include "backend/plan/planner.h"

/* ---- the planner, and what stands beside it ------------------------------------------- */

static struct {
  bool takes, writes;        /* a run: takes the product, or fails after writing */
  bool whole;                /* what is wanted is all that ever will be */
  size_t wants;              /* workspace */
  bool captures;             /* the stream is being captured */
  bool bound;                /* calls come through pointers from dlsym */
  int runs, asked, prepared; /* calls */
  struct shunt_problem problem;
  void *workspace;
  size_t workspace_bytes;
  uint64_t prepared_epoch;
} planner;

static struct shunt_options options = {.routes = ~(uint32_t)0};
_Atomic signed char shunt_disabled_state = -1;

const struct shunt_options *shunt_options(void)
{
  return &options;
}
bool shunt_disabled_read(void)
{
  return false;
}
struct shunt_context *shunt_context_find(void)
{
  return NULL;
}
cudaError_t cudaGetDevice(int *device)
{
  return *device = 0, cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
bool shunt_workspace_limit_allows(struct shunt_workspace_limit *r, size_t bytes)
{
  return (void)r, (void)bytes, true;
}
struct shunt_capture shunt_capture_of(cudaStream_t stream)
{
  return (void)stream, (struct shunt_capture){planner.captures, false};
}
struct shunt_answer shunt_plan_run_by(const struct shunt_problem *p, int route, void *workspace,
                                      size_t bytes, cudaStream_t stream)
{
  (void)stream, (void)route;
  planner.runs++;
  planner.problem = *p;
  planner.workspace = workspace;
  planner.workspace_bytes = bytes;
  const enum shunt_reason why = planner.takes ? SHUNT_FITS : SHUNT_R_SLOWER;
  return (struct shunt_answer){
      .why = SHUNT_OUTCOME(why), .route = "csr", .written = planner.writes};
}
size_t shunt_plan_ask(const struct shunt_problem *p, cudaStream_t stream, const char *path,
                      bool *whole)
{
  (void)p, (void)stream, (void)path;
  planner.asked++;
  *whole = planner.whole;
  return planner.wants;
}
void shunt_plan_prepare(const struct shunt_problem *p, cudaStream_t stream)
{
  (void)stream;
  planner.prepared++;
  planner.prepared_epoch = p->pattern_epoch;
}
struct shunt_decision *shunt_log_decision(const char *call, const char *route,
                                          struct shunt_outcome why,
                                          const struct shunt_problem *problem,
                                          struct shunt_log_call times)
{
  return (void)call, (void)route, (void)why, (void)problem, (void)times, NULL;
}
struct shunt_sample *shunt_sample_begin(const struct shunt_problem *p, cudaStream_t stream)
{
  return (void)p, (void)stream, NULL;
}
void shunt_sample_drop(struct shunt_sample *s)
{
  (void)s;
}
void shunt_sample_end(struct shunt_sample *s, const struct shunt_problem *p,
                      struct shunt_decision *decision, double original_us,
                      const struct shunt_original_into *original)
{
  (void)s, (void)p, (void)decision, (void)original_us, (void)original;
}
void shunt_tuner_measure(const struct shunt_problem *p, void *workspace, size_t workspace_bytes,
                         cudaStream_t stream, const struct shunt_original_run *original)
{
  (void)p, (void)workspace, (void)workspace_bytes, (void)stream, (void)original;
}

/* ---- cuSPARSE --------------------------------------------------------------------------- */

/* Behind the library's own types, which nobody else sees into. */
struct sparse {
  cusparseFormat_t format;
  int64_t rows, cols, nnz;
  void *offsets, *columns, *values;
  int batches;
};
struct dense {
  int64_t rows, cols;
  void *values;
  int batches;
  int64_t stride;
};
#define SPARSE(d) ((const struct sparse *)(const void *)(d))
#define CHANGED(d) ((struct sparse *)(void *)(d))
#define DENSE(d) ((const struct dense *)(const void *)(d))
#define OK CUSPARSE_STATUS_SUCCESS

static struct {
  int multiplied, sized, preprocessed, set, destroyed;
  size_t wants;            /* what bufferSize answers */
  cusparseStatus_t status; /* of everything */
  void *buffer;
} library;
static struct shunt_original original = {
    .path = "libcusparse.so", .base = &library, .version = 127};
static bool no_original;

const struct shunt_original *shunt_original_for(void *return_address)
{
  return (void)return_address, no_original ? NULL : &original;
}
bool shunt_original_was_bound(void)
{
  return planner.bound;
}
int *shunt_entry_depth(void)
{
  static int depth;
  return &depth;
}

static cusparseStatus_t multiply(void *buffer)
{
  library.multiplied++;
  library.buffer = buffer;
  return library.status;
}
static cusparseStatus_t size(size_t *bytes)
{
  library.sized++;
  *bytes = library.wants;
  return library.status;
}
static cusparseStatus_t preprocess(void)
{
  library.preprocessed++;
  return library.status;
}

#define SPMM_ARGUMENTS                                                                             \
  cusparseHandle_t h, cusparseOperation_t oa, cusparseOperation_t ob, const void *al,              \
      cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *be,                    \
      cusparseDnMatDescr_t c, cudaDataType t, cusparseSpMMAlg_t g
#define SDDMM_ARGUMENTS                                                                            \
  cusparseHandle_t h, cusparseOperation_t oa, cusparseOperation_t ob, const void *al,              \
      cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *be,                    \
      cusparseSpMatDescr_t c, cudaDataType t, cusparseSDDMMAlg_t g
#define UNREAD                                                                                     \
  (void)h, (void)oa, (void)ob, (void)al, (void)a, (void)b, (void)be, (void)c, (void)t, (void)g

static cusparseStatus_t spmm(SPMM_ARGUMENTS, void *buffer)
{
  return UNREAD, multiply(buffer);
}
static cusparseStatus_t spmm_size(SPMM_ARGUMENTS, size_t *bytes)
{
  return UNREAD, size(bytes);
}
static cusparseStatus_t spmm_preprocess(SPMM_ARGUMENTS, void *buffer)
{
  return UNREAD, (void)buffer, preprocess();
}
static cusparseStatus_t sddmm(SDDMM_ARGUMENTS, void *buffer)
{
  return UNREAD, multiply(buffer);
}
static cusparseStatus_t sddmm_size(SDDMM_ARGUMENTS, size_t *bytes)
{
  return UNREAD, size(bytes);
}
static cusparseStatus_t sddmm_preprocess(SDDMM_ARGUMENTS, void *buffer)
{
  return UNREAD, (void)buffer, preprocess();
}

static cusparseStatus_t get_stream(cusparseHandle_t h, cudaStream_t *s)
{
  return (void)h, *s = NULL, OK;
}
static cusparseStatus_t get_mode(cusparseHandle_t h, cusparsePointerMode_t *m)
{
  return (void)h, *m = CUSPARSE_POINTER_MODE_HOST, OK;
}
static cusparseStatus_t get_format(cusparseConstSpMatDescr_t d, cusparseFormat_t *f)
{
  return *f = SPARSE(d)->format, OK;
}
static cusparseStatus_t get_batches(cusparseConstSpMatDescr_t d, int *n)
{
  return *n = SPARSE(d)->batches, OK;
}
static cusparseStatus_t get_csr(cusparseConstSpMatDescr_t d, int64_t *rows, int64_t *cols,
                                int64_t *nnz, const void **offsets, const void **columns,
                                const void **values, cusparseIndexType_t *ot,
                                cusparseIndexType_t *ct, cusparseIndexBase_t *base, cudaDataType *t)
{
  const struct sparse *s = SPARSE(d);
  *rows = s->rows, *cols = s->cols, *nnz = s->nnz;
  *offsets = s->offsets, *columns = s->columns, *values = s->values;
  *ot = *ct = CUSPARSE_INDEX_32I, *base = CUSPARSE_INDEX_BASE_ZERO, *t = CUDA_R_32F;
  return OK;
}
static cusparseStatus_t get_coo(cusparseConstSpMatDescr_t d, int64_t *rows, int64_t *cols,
                                int64_t *nnz, const void **row_indices, const void **columns,
                                const void **values, cusparseIndexType_t *it,
                                cusparseIndexBase_t *base, cudaDataType *t)
{
  cusparseIndexType_t unused;
  return get_csr(d, rows, cols, nnz, row_indices, columns, values, it, &unused, base, t);
}
static cusparseStatus_t get_dense(cusparseConstDnMatDescr_t d, int64_t *rows, int64_t *cols,
                                  int64_t *ld, const void **values, cudaDataType *t,
                                  cusparseOrder_t *order)
{
  const struct dense *m = DENSE(d);
  *rows = m->rows, *cols = *ld = m->cols, *values = m->values;
  return *t = CUDA_R_32F, *order = CUSPARSE_ORDER_ROW, OK;
}
static cusparseStatus_t get_dense_batches(cusparseConstDnMatDescr_t d, int *n, int64_t *stride)
{
  return *n = DENSE(d)->batches, *stride = DENSE(d)->stride, OK;
}

static cusparseStatus_t set_arrays(cusparseSpMatDescr_t d, void *offsets, void *columns,
                                   void *values)
{
  struct sparse *s = CHANGED(d);
  library.set++;
  s->offsets = offsets, s->columns = columns, s->values = values;
  return library.status;
}
static cusparseStatus_t set_values(cusparseSpMatDescr_t d, void *values)
{
  library.set++;
  CHANGED(d)->values = values;
  return library.status;
}
static cusparseStatus_t set_csr_batches(cusparseSpMatDescr_t d, int n, int64_t offsets,
                                        int64_t entries)
{
  (void)offsets, (void)entries;
  library.set++;
  CHANGED(d)->batches = n;
  return library.status;
}
static cusparseStatus_t set_coo_batches(cusparseSpMatDescr_t d, int n, int64_t entries)
{
  return set_csr_batches(d, n, 0, entries);
}
static cusparseStatus_t destroy(cusparseConstSpMatDescr_t d)
{
  (void)d;
  library.destroyed++;
  return library.status;
}

static void open_library(void)
{
  original.SpMM = spmm;
  original.SpMM_bufferSize = spmm_size;
  original.SpMM_preprocess = spmm_preprocess;
  original.SDDMM = sddmm;
  original.SDDMM_bufferSize = sddmm_size;
  original.SDDMM_preprocess = sddmm_preprocess;
  original.GetStream = get_stream;
  original.GetPointerMode = get_mode;
  original.SpMatGetFormat = get_format;
  original.SpMatGetStridedBatch = get_batches;
  original.ConstCsrGet = get_csr;
  original.ConstCscGet = get_csr;
  original.ConstCooGet = get_coo;
  original.ConstDnMatGet = get_dense;
  original.DnMatGetStridedBatch = get_dense_batches;
  original.CsrSetPointers = original.CscSetPointers = original.CooSetPointers = set_arrays;
  original.SpMatSetValues = set_values;
  original.CsrSetStridedBatch = set_csr_batches;
  original.CooSetStridedBatch = set_coo_batches;
  original.DestroySpMat = destroy;
}

#endif
