/* seen.c: setters that are exported only to be seen: each is handed on, and what it has
   set is noted where no getter tells it.  */
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
