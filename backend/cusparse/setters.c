/* setters.c: functions that are exported only to be seen: each is handed on, and what it has
   set or made is noted where no getter tells it.  */
#include "backend/cusparse/describe.h"
#include "backend/cusparse/entry.h"
#include "backend/cusparse/preprocess_epoch.h"
#include "backend/cusparse/strides.h"

static void note(const struct shunt_original *o, cusparseConstSpMatDescr_t m, int64_t offsets,
                 int64_t entries)
{
  struct shunt_strided matrix;
  if (shunt_describe_strided(o, m, &matrix))
    shunt_strides_note(&matrix, offsets, entries);
  else
    shunt_strides_forget(m);
}

SHUNT_EXPORT cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
                                                         int batchCount, int64_t offsetsBatchStride,
                                                         int64_t columnsValuesBatchStride)
{
  SHUNT_ENTER(CsrSetStridedBatch, spMatDescr, batchCount, offsetsBatchStride,
              columnsValuesBatchStride);
  cusparseStatus_t status = original->CsrSetStridedBatch(spMatDescr, batchCount, offsetsBatchStride,
                                                         columnsValuesBatchStride);
  if (status == CUSPARSE_STATUS_SUCCESS)
    note(original, spMatDescr, offsetsBatchStride, columnsValuesBatchStride);
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
                                                         int batchCount, int64_t batchStride)
{
  SHUNT_ENTER(CooSetStridedBatch, spMatDescr, batchCount, batchStride);
  cusparseStatus_t status = original->CooSetStridedBatch(spMatDescr, batchCount, batchStride);
  if (status == CUSPARSE_STATUS_SUCCESS) note(original, spMatDescr, 0, batchStride);
  SHUNT_LEAVE();
  return status;
}

/* ---- arrays that change: what was noted of the matrix stays ----------------------------- */

/* What is known of a matrix before a setter of its arrays runs. */
struct known {
  bool strides, bsr;
  int64_t offsets, entries;
  struct shunt_bsr made_of;
};

static struct known known_of(const struct shunt_original *o, cusparseConstSpMatDescr_t m)
{
  struct known k = {false, false, 0, 0, {.descriptor = NULL}};
  struct shunt_strided matrix;
  if (!m) return k;
  k.bsr = shunt_describe_bsr(o, m, &k.made_of);
  k.strides = !k.bsr && shunt_describe_strided(o, m, &matrix) &&
              shunt_strides_find(&matrix, &k.offsets, &k.entries);
  return k;
}

static void note_again(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                       const struct known *k, const void *values)
{
  if (k->strides) note(o, m, k->offsets, k->entries);
  if (!k->bsr) return;
  struct shunt_bsr now = k->made_of;
  now.values = values;
  shunt_bsr_note(&now);
}

SHUNT_EXPORT cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t spMatDescr,
                                                     void *csrRowOffsets, void *csrColInd,
                                                     void *csrValues)
{
  SHUNT_ENTER(CsrSetPointers, spMatDescr, csrRowOffsets, csrColInd, csrValues);
  struct known k = known_of(original, spMatDescr);
  shunt_epoch_end(spMatDescr);
  cusparseStatus_t status =
      original->CsrSetPointers(spMatDescr, csrRowOffsets, csrColInd, csrValues);
  if (status == CUSPARSE_STATUS_SUCCESS) note_again(original, spMatDescr, &k, csrValues);
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t spMatDescr,
                                                     void *cscColOffsets, void *cscRowInd,
                                                     void *cscValues)
{
  SHUNT_ENTER(CscSetPointers, spMatDescr, cscColOffsets, cscRowInd, cscValues);
  shunt_epoch_end(spMatDescr); /* CSC has no batches, so there is nothing to note again */
  cusparseStatus_t status =
      original->CscSetPointers(spMatDescr, cscColOffsets, cscRowInd, cscValues);
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr, void *cooRows,
                                                     void *cooColumns, void *cooValues)
{
  SHUNT_ENTER(CooSetPointers, spMatDescr, cooRows, cooColumns, cooValues);
  struct known k = known_of(original, spMatDescr);
  shunt_epoch_end(spMatDescr);
  cusparseStatus_t status = original->CooSetPointers(spMatDescr, cooRows, cooColumns, cooValues);
  if (status == CUSPARSE_STATUS_SUCCESS) note_again(original, spMatDescr, &k, cooValues);
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr, void *values)
{
  SHUNT_ENTER(SpMatSetValues, spMatDescr, values);
  struct known k = known_of(original, spMatDescr);
  cusparseStatus_t status = original->SpMatSetValues(spMatDescr, values);
  if (status == CUSPARSE_STATUS_SUCCESS) note_again(original, spMatDescr, &k, values);
  SHUNT_LEAVE();
  return status;
}

/* ---- BSR --------------------------------------------------------------------------------- */

/* The two creators differ in their qualifiers alone. */
#define CREATE_BSR(f, Matrix, Array)                                                               \
  SHUNT_EXPORT cusparseStatus_t cusparse##f(                                                       \
      Matrix *spMatDescr, int64_t brows, int64_t bcols, int64_t bnnz, int64_t rowBlockSize,        \
      int64_t colBlockSize, Array bsrRowOffsets, Array bsrColInd, Array bsrValues,                 \
      cusparseIndexType_t bsrRowOffsetsType, cusparseIndexType_t bsrColIndType,                    \
      cusparseIndexBase_t idxBase, cudaDataType valueType, cusparseOrder_t order)                  \
  {                                                                                                \
    SHUNT_ENTER(f, spMatDescr, brows, bcols, bnnz, rowBlockSize, colBlockSize, bsrRowOffsets,      \
                bsrColInd, bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType,        \
                order);                                                                            \
    cusparseStatus_t status = original->f(                                                         \
        spMatDescr, brows, bcols, bnnz, rowBlockSize, colBlockSize, bsrRowOffsets, bsrColInd,      \
        bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType, order);                   \
    if (status == CUSPARSE_STATUS_SUCCESS && rowBlockSize == colBlockSize)                         \
      shunt_bsr_note(&(struct shunt_bsr){                                                          \
          *spMatDescr, original->base, brows, bcols, bnnz, rowBlockSize, bsrRowOffsets, bsrColInd, \
          bsrValues, bsrRowOffsetsType, bsrColIndType, idxBase, valueType, order});                \
    SHUNT_LEAVE();                                                                                 \
    return status;                                                                                 \
  }
CREATE_BSR(CreateBsr, cusparseSpMatDescr_t, void *)
CREATE_BSR(CreateConstBsr, cusparseConstSpMatDescr_t, const void *)

/* Forgotten first: another thread may be given the address as soon as it is free. */
SHUNT_EXPORT cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr)
{
  SHUNT_ENTER(DestroySpMat, spMatDescr);
  shunt_bsr_forget(spMatDescr);
  shunt_strides_forget(spMatDescr);
  shunt_epoch_forget(spMatDescr);
  cusparseStatus_t status = original->DestroySpMat(spMatDescr);
  SHUNT_LEAVE();
  return status;
}
