/* fake_cusparse.c: a cuSPARSE that computes nothing and says who it is.

   Compiled with -DCOPY=n; -DOLD leaves out what CUDA 12 added.  Linked like the real one:
   -Bsymbolic, every symbol in a version node named libcusparse.so.12.  Matrices are
   complex, a type that Shunt hands on before it looks at any pointer; with -DFLOATS they are
   of f32, at addresses that nobody may read.  */
#include <stdlib.h>

#include "standin.h"

#ifdef FLOATS
#define TYPE CUDA_R_32F
#define ARRAY ((void *)4096)
#else
#define TYPE CUDA_C_16F
#define ARRAY NULL
#endif

#define DONE return CUSPARSE_STATUS_SUCCESS

/* Where the last function that Shunt exports was called from. */
static _Thread_local const void *returned_to;
#define CALLED() returned_to = __builtin_return_address(0)
const void *cusparseFakeReturnedTo(void)
{
  return returned_to;
}

static cusparseStatus_t ran(cusparseHandle_t handle, cusparseConstSpMatDescr_t m)
{
  if (m && m->copy != COPY) handle->mixed = 1;
  if (handle->copy != 0 && handle->copy != COPY) handle->mixed = 1;
  handle->copy = COPY;
  handle->calls++;
  DONE;
}

cusparseStatus_t cusparseSpMM(SPMM_PARAMETERS(void *buffer))
{
  (void)op_a, (void)op_b, (void)alpha, (void)b, (void)beta, (void)c;
  (void)compute, (void)alg, (void)buffer;
  CALLED();
  return ran(handle, a);
}

cusparseStatus_t cusparseSpMM_preprocess(SPMM_PARAMETERS(void *buffer))
{
  const cusparseStatus_t status = cusparseSpMM(ARGUMENTS(buffer));
  CALLED();
  return status;
}

cusparseStatus_t cusparseSpMM_bufferSize(SPMM_PARAMETERS(size_t *bytes))
{
  *bytes = 1000 + COPY;
  const cusparseStatus_t status = cusparseSpMM(ARGUMENTS(NULL));
  CALLED();
  return status;
}

cusparseStatus_t cusparseSDDMM(SDDMM_PARAMETERS(void *buffer))
{
  (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta;
  (void)compute, (void)alg, (void)buffer;
  CALLED();
  return ran(handle, c);
}

cusparseStatus_t cusparseSDDMM_preprocess(SDDMM_PARAMETERS(void *buffer))
{
  const cusparseStatus_t status = cusparseSDDMM(ARGUMENTS(buffer));
  CALLED();
  return status;
}

cusparseStatus_t cusparseSDDMM_bufferSize(SDDMM_PARAMETERS(size_t *bytes))
{
  *bytes = 1000 + COPY;
  const cusparseStatus_t status = cusparseSDDMM(ARGUMENTS(NULL));
  CALLED();
  return status;
}

/* ---- handles ---------------------------------------------------------------------- */

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
  *handle = calloc(1, sizeof **handle);
  return *handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
  free(handle);
  DONE;
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
  *value = type == MAJOR_VERSION ? 12 : type == MINOR_VERSION ? 6 : 3;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
  (void)handle;
  *version = 12000 + COPY;
  DONE;
}

cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream)
{
  (void)handle;
  *stream = NULL;
  DONE;
}

cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode)
{
  (void)handle;
  *mode = CUSPARSE_POINTER_MODE_HOST;
  DONE;
}

/* ---- descriptors ------------------------------------------------------------------ */

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *m, int64_t rows, int64_t cols, int64_t nnz,
                                   void *offsets, void *columns, void *values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type)
{
  (void)offsets, (void)columns, (void)values, (void)offset_type, (void)column_type;
  (void)base, (void)type;
  *m = malloc(sizeof **m);
  if (!*m) return CUSPARSE_STATUS_ALLOC_FAILED;
  **m = (struct cusparseSpMatDescr){rows, cols, nnz, COPY, 1, 0, 0, 0};
  DONE;
}

/* No program of these tests reads it; who made it counts. */
cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t *m, int64_t rows, int64_t cols,
                                   int64_t blocks, int64_t row_size, int64_t col_size,
                                   void *offsets, void *columns, void *values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type,
                                   cusparseOrder_t order)
{
  (void)order;
  const cusparseStatus_t status =
      cusparseCreateCsr(m, rows * row_size, cols * col_size, blocks, offsets, columns, values,
                        offset_type, column_type, base, type);
  CALLED();
  return status;
}

cusparseStatus_t cusparseCreateConstBsr(cusparseConstSpMatDescr_t *m, int64_t rows, int64_t cols,
                                        int64_t blocks, int64_t row_size, int64_t col_size,
                                        const void *offsets, const void *columns,
                                        const void *values, cusparseIndexType_t offset_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                        cudaDataType type, cusparseOrder_t order)
{
  const cusparseStatus_t status = cusparseCreateBsr(
      (cusparseSpMatDescr_t *)m, rows, cols, blocks, row_size, col_size, (void *)offsets,
      (void *)columns, (void *)values, offset_type, column_type, base, type, order);
  CALLED();
  return status;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m)
{
  CALLED();
  if (m->copy != COPY) return CUSPARSE_STATUS_INVALID_VALUE;
  free((void *)m);
  DONE;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *m, int64_t rows, int64_t cols,
                                     int64_t ld, void *values, cudaDataType type,
                                     cusparseOrder_t order)
{
  (void)values, (void)type, (void)order;
  *m = malloc(sizeof **m);
  if (!*m) return CUSPARSE_STATUS_ALLOC_FAILED;
  **m = (struct cusparseDnMatDescr){rows, cols, ld};
  DONE;
}

cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m)
{
  free((void *)m);
  DONE;
}

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t m, cusparseFormat_t *format)
{
  (void)m;
  *format = CUSPARSE_FORMAT_CSR;
  DONE;
}

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                      int64_t *nnz)
{
  *rows = m->rows;
  *cols = m->cols;
  *nnz = m->nnz;
  DONE;
}

cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t m, cusparseIndexBase_t *base)
{
  (void)m, (void)base;
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t m, const void **values)
{
  (void)m, (void)values;
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t cusparseConstBlockedEllGet(cusparseConstSpMatDescr_t m, int64_t *rows,
                                            int64_t *cols, int64_t *size, int64_t *width,
                                            const void **columns, const void **values,
                                            cusparseIndexType_t *index, cusparseIndexBase_t *base,
                                            cudaDataType *type)
{
  (void)m, (void)rows, (void)cols, (void)size, (void)width;
  (void)columns, (void)values, (void)index, (void)base, (void)type;
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t m, int *batches)
{
  *batches = m->batches;
  DONE;
}

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int batches, int64_t offsets,
                                            int64_t entries)
{
  CALLED();
  if (batches < 1) return CUSPARSE_STATUS_INVALID_VALUE;
  m->batches = batches;
  m->offsets_stride = offsets;
  m->entries_stride = entries;
  m->strides_by = COPY;
  DONE;
}

cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t m, int batches, int64_t stride)
{
  const cusparseStatus_t status = cusparseCsrSetStridedBatch(m, batches, 0, stride);
  CALLED();
  return status;
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void *offsets, void *columns,
                                        void *values)
{
  CALLED();
  (void)offsets, (void)columns, (void)values;
  return m->copy == COPY ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t m, void *offsets, void *rows,
                                        void *values)
{
  const cusparseStatus_t status = cusparseCsrSetPointers(m, offsets, rows, values);
  CALLED();
  return status;
}

cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t m, void *rows, void *columns,
                                        void *values)
{
  const cusparseStatus_t status = cusparseCsrSetPointers(m, rows, columns, values);
  CALLED();
  return status;
}

cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t m, void *values)
{
  const cusparseStatus_t status = cusparseCsrSetPointers(m, NULL, NULL, values);
  CALLED();
  return status;
}

cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t m, int *batches,
                                              int64_t *stride)
{
  (void)m;
  *batches = 1;
  *stride = 0;
  DONE;
}

/* One body for the two forms of each getter; CSR and CSC have the same parameters. */
#define CSR_GET(name, Matrix, Pointer)                                                             \
  cusparseStatus_t name(Matrix m, int64_t *rows, int64_t *cols, int64_t *nnz, Pointer *offsets,    \
                        Pointer *columns, Pointer *values, cusparseIndexType_t *offset_type,       \
                        cusparseIndexType_t *column_type, cusparseIndexBase_t *base,               \
                        cudaDataType *type)                                                        \
  {                                                                                                \
    *offsets = *columns = *values = ARRAY;                                                         \
    *offset_type = *column_type = CUSPARSE_INDEX_32I;                                              \
    *base = CUSPARSE_INDEX_BASE_ZERO;                                                              \
    *type = TYPE;                                                                                  \
    return cusparseSpMatGetSize(m, rows, cols, nnz);                                               \
  }
#define COO_GET(name, Matrix, Pointer)                                                             \
  cusparseStatus_t name(Matrix m, int64_t *rows, int64_t *cols, int64_t *nnz,                      \
                        Pointer *row_indices, Pointer *columns, Pointer *values,                   \
                        cusparseIndexType_t *index_type, cusparseIndexBase_t *base,                \
                        cudaDataType *type)                                                        \
  {                                                                                                \
    *row_indices = *columns = *values = ARRAY;                                                     \
    *index_type = CUSPARSE_INDEX_32I;                                                              \
    *base = CUSPARSE_INDEX_BASE_ZERO;                                                              \
    *type = TYPE;                                                                                  \
    return cusparseSpMatGetSize(m, rows, cols, nnz);                                               \
  }
#define DENSE_GET(name, Matrix, Pointer)                                                           \
  cusparseStatus_t name(Matrix m, int64_t *rows, int64_t *cols, int64_t *ld, Pointer *values,      \
                        cudaDataType *type, cusparseOrder_t *order)                                \
  {                                                                                                \
    *rows = m->rows;                                                                               \
    *cols = m->cols;                                                                               \
    *ld = m->ld;                                                                                   \
    *values = ARRAY;                                                                               \
    *type = TYPE;                                                                                  \
    *order = CUSPARSE_ORDER_ROW;                                                                   \
    DONE;                                                                                          \
  }

CSR_GET(cusparseCsrGet, cusparseSpMatDescr_t, void *)
CSR_GET(cusparseCscGet, cusparseSpMatDescr_t, void *)
COO_GET(cusparseCooGet, cusparseSpMatDescr_t, void *)
DENSE_GET(cusparseDnMatGet, cusparseDnMatDescr_t, void *)
#ifndef OLD
CSR_GET(cusparseConstCsrGet, cusparseConstSpMatDescr_t, const void *)
CSR_GET(cusparseConstCscGet, cusparseConstSpMatDescr_t, const void *)
COO_GET(cusparseConstCooGet, cusparseConstSpMatDescr_t, const void *)
DENSE_GET(cusparseConstDnMatGet, cusparseConstDnMatDescr_t, const void *)
#endif
