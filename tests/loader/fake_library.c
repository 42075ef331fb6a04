/* fake_library.c: libshunt-cusparse.so without its planner: the functions find their
   original as the real ones do, note what they were given, and hand every call on.  */
#include <stdlib.h>

#include "backend/cusparse/original.h"
#include "backend/plan/fault.h"
#include "standin.h"

__attribute__((constructor)) static void arm(void)
{
  const char *n = getenv("SHUNT_FAULT");
  if (n) shunt_fault_arm(atol(n));
}

/* Reads back through the original's getters, as the real library does. */
static void look_at(const struct shunt_original *o, cusparseHandle_t handle,
                    cusparseConstSpMatDescr_t m)
{
  int64_t cols, nnz;
  const void *offsets, *columns, *values;
  cusparseIndexType_t offset_type, column_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  int version = 12000;
  handle->entry++;
  if (o->GetVersion) o->GetVersion(handle, &version);
  handle->read_copy = version - 12000;
  if (o->ConstCsrGet && m)
    o->ConstCsrGet(m, &handle->read_rows, &cols, &nnz, &offsets, &columns, &values, &offset_type,
                   &column_type, &base, &type);
}

#define ENTRY(f, sparse, ...)                                                                      \
  const struct shunt_original *o = shunt_original_for(__builtin_return_address(0));                \
  if (!o || !o->f) return CUSPARSE_STATUS_NOT_INITIALIZED;                                         \
  if (*shunt_entry_depth() == 0) look_at(o, handle, sparse);                                       \
  ++*shunt_entry_depth();                                                                          \
  cusparseStatus_t status = o->f(__VA_ARGS__);                                                     \
  --*shunt_entry_depth();                                                                          \
  return status

cusparseStatus_t cusparseSpMM(SPMM_PARAMETERS(void *buffer))
{
  ENTRY(SpMM, a, ARGUMENTS(buffer));
}

cusparseStatus_t cusparseSpMM_preprocess(SPMM_PARAMETERS(void *buffer))
{
  ENTRY(SpMM_preprocess, a, ARGUMENTS(buffer));
}

cusparseStatus_t cusparseSpMM_bufferSize(SPMM_PARAMETERS(size_t *bytes))
{
  ENTRY(SpMM_bufferSize, a, ARGUMENTS(bytes));
}

cusparseStatus_t cusparseSDDMM(SDDMM_PARAMETERS(void *buffer))
{
  ENTRY(SDDMM, c, ARGUMENTS(buffer));
}

cusparseStatus_t cusparseSDDMM_preprocess(SDDMM_PARAMETERS(void *buffer))
{
  ENTRY(SDDMM_preprocess, c, ARGUMENTS(buffer));
}

cusparseStatus_t cusparseSDDMM_bufferSize(SDDMM_PARAMETERS(size_t *bytes))
{
  ENTRY(SDDMM_bufferSize, c, ARGUMENTS(bytes));
}

/* No handle, so nothing to note. */
#define SEEN(f, ...)                                                                               \
  const struct shunt_original *o = shunt_original_for(__builtin_return_address(0));                \
  if (!o || !o->f) return CUSPARSE_STATUS_NOT_INITIALIZED;                                         \
  ++*shunt_entry_depth();                                                                          \
  cusparseStatus_t status = o->f(__VA_ARGS__);                                                     \
  --*shunt_entry_depth();                                                                          \
  return status

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int batches, int64_t offsets,
                                            int64_t entries)
{
  SEEN(CsrSetStridedBatch, m, batches, offsets, entries);
}

cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t m, int batches, int64_t stride)
{
  SEEN(CooSetStridedBatch, m, batches, stride);
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void *offsets, void *columns,
                                        void *values)
{
  SEEN(CsrSetPointers, m, offsets, columns, values);
}

cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t m, void *offsets, void *rows,
                                        void *values)
{
  SEEN(CscSetPointers, m, offsets, rows, values);
}

cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t m, void *rows, void *columns,
                                        void *values)
{
  SEEN(CooSetPointers, m, rows, columns, values);
}

cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t m, void *values)
{
  SEEN(SpMatSetValues, m, values);
}

#define BSR_PARAMETERS(Matrix, Array)                                                              \
  Matrix *m, int64_t rows, int64_t cols, int64_t blocks, int64_t row_size, int64_t col_size,       \
      Array offsets, Array columns, Array values, cusparseIndexType_t offset_type,                 \
      cusparseIndexType_t column_type, cusparseIndexBase_t base, cudaDataType type,                \
      cusparseOrder_t order
#define BSR_ARGUMENTS                                                                              \
  m, rows, cols, blocks, row_size, col_size, offsets, columns, values, offset_type, column_type,   \
      base, type, order

cusparseStatus_t cusparseCreateBsr(BSR_PARAMETERS(cusparseSpMatDescr_t, void *))
{
  SEEN(CreateBsr, BSR_ARGUMENTS);
}

cusparseStatus_t cusparseCreateConstBsr(BSR_PARAMETERS(cusparseConstSpMatDescr_t, const void *))
{
  SEEN(CreateConstBsr, BSR_ARGUMENTS);
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m)
{
  SEEN(DestroySpMat, m);
}
