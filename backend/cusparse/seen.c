/* seen.c: functions that are exported only to be seen: each is handed on, and what it has
   set or made is noted where no getter tells it.  */
#include "backend/cusparse/bsr.h"
#include "backend/cusparse/describe.h"
#include "backend/cusparse/face.h"
#include "backend/cusparse/strides.h"

static void note(const struct cusparse_original *o, cusparseConstSpMatDescr_t m, int64_t offsets,
                 int64_t entries)
{
  struct cusparse_strided matrix;
  if (cusparse_describe_strided(o, m, &matrix))
    cusparse_strides_note(&matrix, offsets, entries);
  else
    cusparse_strides_forget(m);
}

FACE_EXPORT cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
                                                        int batchCount, int64_t offsetsBatchStride,
                                                        int64_t columnsValuesBatchStride)
{
  FACE_ENTER(CsrSetStridedBatch, spMatDescr, batchCount, offsetsBatchStride,
             columnsValuesBatchStride);
  cusparseStatus_t status = original->CsrSetStridedBatch(spMatDescr, batchCount, offsetsBatchStride,
                                                         columnsValuesBatchStride);
  if (status == CUSPARSE_STATUS_SUCCESS)
    note(original, spMatDescr, offsetsBatchStride, columnsValuesBatchStride);
  FACE_LEAVE();
  return status;
}

FACE_EXPORT cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
                                                        int batchCount, int64_t batchStride)
{
  FACE_ENTER(CooSetStridedBatch, spMatDescr, batchCount, batchStride);
  cusparseStatus_t status = original->CooSetStridedBatch(spMatDescr, batchCount, batchStride);
  if (status == CUSPARSE_STATUS_SUCCESS) note(original, spMatDescr, 0, batchStride);
  FACE_LEAVE();
  return status;
}

/* The two creators differ in their qualifiers alone. */
#define CREATE_BSR(f, Matrix, Array)                                                             \
  FACE_EXPORT cusparseStatus_t cusparse##f(                                                      \
      Matrix *spMatDescr, int64_t brows, int64_t bcols, int64_t bnnz, int64_t rowBlockSize,      \
      int64_t colBlockSize, Array bsrRowOffsets, Array bsrColInd, Array bsrValues,               \
      cusparseIndexType_t bsrRowOffsetsType, cusparseIndexType_t bsrColIndType,                  \
      cusparseIndexBase_t idxBase, cudaDataType valueType, cusparseOrder_t order)                \
  {                                                                                              \
    FACE_ENTER(f, spMatDescr, brows, bcols, bnnz, rowBlockSize, colBlockSize, bsrRowOffsets,     \
               bsrColInd, bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType, order); \
    cusparseStatus_t status =                                                                    \
        original->f(spMatDescr, brows, bcols, bnnz, rowBlockSize, colBlockSize, bsrRowOffsets,   \
                    bsrColInd, bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType,  \
                    order);                                                                      \
    if (status == CUSPARSE_STATUS_SUCCESS && rowBlockSize == colBlockSize)                       \
      cusparse_bsr_note(&(struct cusparse_bsr){                                                  \
          *spMatDescr, original->base, brows, bcols, bnnz, rowBlockSize, bsrRowOffsets,          \
          bsrColInd, bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType, order });  \
    FACE_LEAVE();                                                                                \
    return status;                                                                               \
  }
CREATE_BSR(CreateBsr, cusparseSpMatDescr_t, void *)
CREATE_BSR(CreateConstBsr, cusparseConstSpMatDescr_t, const void *)

/* Forgotten first: another thread may be given the address as soon as it is free. */
FACE_EXPORT cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr)
{
  FACE_ENTER(DestroySpMat, spMatDescr);
  cusparse_bsr_forget(spMatDescr);
  cusparseStatus_t status = original->DestroySpMat(spMatDescr);
  FACE_LEAVE();
  return status;
}
