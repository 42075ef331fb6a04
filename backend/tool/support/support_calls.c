/* support_calls.c: calls of cuSPARSE without cuSPARSE: descriptors, and the getters that read them
   back, for backend/cusparse/describe.c.  No array is ever read: all stand at one address.  */
#include <string.h>

#include "backend/tool/support/support_ask.h"

static _Alignas(256) char somewhere[256];

/* What descriptors stand for. */
struct sparse_matrix {
  const struct support_question *q;
  int64_t rows, cols; /* as stored */
};
struct dense_matrix {
  int64_t rows, cols, stride;
  cudaDataType type;
  cusparseOrder_t order;
  int batches;
};

static const struct sparse_matrix *sparse(cusparseConstSpMatDescr_t m)
{
  return (const struct sparse_matrix *)(const void *)m;
}

/* ---- getters ------------------------------------------------------------------------------- */

#define OK CUSPARSE_STATUS_SUCCESS

static cusparseStatus_t get_stream(cusparseHandle_t handle, cudaStream_t *stream)
{
  (void)handle;
  *stream = NULL;
  return OK;
}

static cusparseStatus_t get_pointer_mode(cusparseHandle_t handle, cusparsePointerMode_t *mode)
{
  (void)handle;
  *mode = CUSPARSE_POINTER_MODE_HOST;
  return OK;
}

static cusparseStatus_t get_format(cusparseConstSpMatDescr_t m, cusparseFormat_t *format)
{
  *format = sparse(m)->q->format;
  return OK;
}

static cusparseStatus_t get_size(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                 int64_t *nnz)
{
  *rows = sparse(m)->rows, *cols = sparse(m)->cols, *nnz = sparse(m)->q->nnz;
  return OK;
}

static cusparseStatus_t get_batches(cusparseConstSpMatDescr_t m, int *batches)
{
  *batches = sparse(m)->q->batches;
  return OK;
}

static cusparseStatus_t get_base(cusparseConstSpMatDescr_t m, cusparseIndexBase_t *base)
{
  *base = sparse(m)->q->base;
  return OK;
}

static cusparseStatus_t get_values(cusparseConstSpMatDescr_t m, const void **values)
{
  *values = sparse(m)->q->null ? NULL : somewhere;
  return OK;
}

static cusparseStatus_t get_compressed(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                       int64_t *nnz, const void **offsets, const void **indices,
                                       const void **values, cusparseIndexType_t *offset_type,
                                       cusparseIndexType_t *index_type, cusparseIndexBase_t *base,
                                       cudaDataType *type)
{
  const struct support_question *q = sparse(m)->q;
  *offsets = *indices = somewhere;
  *offset_type = q->index[0], *index_type = q->index[1];
  *base = q->base;
  *type = q->op == SHUNT_SPMM ? q->in : q->out;
  get_values(m, values);
  return get_size(m, rows, cols, nnz);
}

static cusparseStatus_t get_coo(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                int64_t *nnz, const void **row_indices, const void **columns,
                                const void **values, cusparseIndexType_t *index_type,
                                cusparseIndexBase_t *base, cudaDataType *type)
{
  cusparseIndexType_t unused;
  return get_compressed(m, rows, cols, nnz, row_indices, columns, values, &unused, index_type, base,
                        type);
}

static cusparseStatus_t get_ell(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                int64_t *block, int64_t *width, const void **columns,
                                const void **values, cusparseIndexType_t *index_type,
                                cusparseIndexBase_t *base, cudaDataType *type)
{
  const struct support_question *q = sparse(m)->q;
  const int64_t each = sparse(m)->rows > 0 ? q->nnz / sparse(m)->rows : 0;
  int64_t nnz;
  *block = q->block;
  *width = each < q->block ? q->block : each / q->block * q->block;
  return get_coo(m, rows, cols, &nnz, columns, columns, values, index_type, base, type);
}

static cusparseStatus_t get_dense(cusparseConstDnMatDescr_t d, int64_t *rows, int64_t *cols,
                                  int64_t *ld, const void **values, cudaDataType *type,
                                  cusparseOrder_t *order)
{
  const struct dense_matrix *m = (const struct dense_matrix *)(const void *)d;
  const bool by_row = m->order == CUSPARSE_ORDER_ROW;
  *rows = m->rows, *cols = m->cols;
  *ld = by_row ? m->cols : m->rows;
  *values = somewhere;
  *type = m->type;
  *order = m->order;
  return OK;
}

static cusparseStatus_t get_dense_batches(cusparseConstDnMatDescr_t d, int *batches,
                                          int64_t *stride)
{
  const struct dense_matrix *m = (const struct dense_matrix *)(const void *)d;
  *batches = m->batches, *stride = m->stride;
  return OK;
}

static const struct shunt_original original = {.GetStream = get_stream,
                                               .GetPointerMode = get_pointer_mode,
                                               .SpMatGetFormat = get_format,
                                               .SpMatGetSize = get_size,
                                               .SpMatGetStridedBatch = get_batches,
                                               .SpMatGetIndexBase = get_base,
                                               .DnMatGetStridedBatch = get_dense_batches,
                                               .ConstSpMatGetValues = get_values,
                                               .ConstCsrGet = get_compressed,
                                               .ConstCscGet = get_compressed,
                                               .ConstCooGet = get_coo,
                                               .ConstBlockedEllGet = get_ell,
                                               .ConstDnMatGet = get_dense,
                                               .path = "",
                                               .base = somewhere};

/* ---- what is noted of descriptors while they are made ---------------------------------------- */

static void note_blocks(const struct support_question *q, const struct sparse_matrix *m,
                        cusparseConstSpMatDescr_t d)
{
  if (q->format != CUSPARSE_FORMAT_BSR || q->unseen) return;
  shunt_bsr_note(&(struct shunt_bsr){.descriptor = d,
                                     .library = original.base,
                                     .block_rows = m->rows / q->block,
                                     .block_cols = m->cols / q->block,
                                     .blocks = q->nnz / (q->block * q->block),
                                     .size = q->block,
                                     .row_offsets = somewhere,
                                     .columns = somewhere,
                                     .values = q->null ? NULL : somewhere,
                                     .offset_type = q->index[0],
                                     .column_type = q->index[1],
                                     .base = q->base,
                                     .type = q->op == SHUNT_SPMM ? q->in : q->out,
                                     .order = q->block_order});
}

static void note_strides(const struct support_question *q, const struct sparse_matrix *m,
                         cusparseConstSpMatDescr_t d)
{
  struct shunt_strided noted;
  if (q->batches < 2 || q->unseen || !shunt_describe_strided(&original, d, &noted)) return;
  shunt_strides_note(&noted, q->share_a ? 0 : m->rows + 1, q->share_a ? 0 : q->nnz);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A dense matrix that op makes rows x cols. */
static struct dense_matrix dense(const struct support_question *q, int64_t rows, int64_t cols,
                                 cusparseOperation_t op, int which, cudaDataType type)
{
  const bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
  return (struct dense_matrix){.rows = turned ? cols : rows,
                               .cols = turned ? rows : cols,
                               .stride = rows * cols,
                               .type = type,
                               .order = q->order[which],
                               .batches = q->batches};
}

/* A host scalar of the compute type. */
union scalar {
  float f;
  double d;
  int32_t i;
};

static union scalar scalar_of(double x, cudaDataType compute)
{
  union scalar s;
  memset(&s, 0, sizeof s);
  if (compute == CUDA_R_64F)
    s.d = x;
  else if (compute == CUDA_R_32I)
    s.i = (int32_t)x;
  else
    s.f = (float)x;
  return s;
}

#define DENSE(m) ((cusparseConstDnMatDescr_t)(const void *)(m))

static struct shunt_outcome read_spmm(const struct support_question *q, struct shunt_problem *p)
{
  const bool turned = q->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const struct sparse_matrix a = {q, turned ? q->cols : q->rows, turned ? q->rows : q->cols};
  const struct dense_matrix b = dense(q, q->cols, q->n, q->op_b, 0, q->in);
  const struct dense_matrix c =
      dense(q, q->rows, q->n, CUSPARSE_OPERATION_NON_TRANSPOSE, 1, q->out);
  const union scalar alpha = scalar_of(1, q->compute), beta = scalar_of(0, q->compute);
  const cusparseConstSpMatDescr_t d = (cusparseConstSpMatDescr_t)(const void *)&a;
  const struct shunt_spmm_arguments x = {.handle = (cusparseHandle_t)(void *)somewhere,
                                         .op_a = q->op_a,
                                         .op_b = q->op_b,
                                         .alpha = &alpha,
                                         .a = d,
                                         .b = DENSE(&b),
                                         .beta = &beta,
                                         .c = DENSE(&c),
                                         .compute = q->compute,
                                         .algorithm = (cusparseSpMMAlg_t)q->algorithm};
  cudaStream_t stream;
  note_blocks(q, &a, d);
  note_strides(q, &a, d);
  const struct shunt_outcome v = shunt_describe_spmm(&original, &x, p, &stream);
  shunt_bsr_forget(d);
  shunt_strides_forget(d);
  return v;
}

static struct shunt_outcome read_sddmm(const struct support_question *q, struct shunt_problem *p)
{
  const struct sparse_matrix c = {q, q->rows, q->cols};
  const struct dense_matrix a = dense(q, q->rows, q->n, q->op_a, 0, q->in);
  const struct dense_matrix b = dense(q, q->n, q->cols, q->op_b, 1, q->in);
  const union scalar alpha = scalar_of(1, q->compute), beta = scalar_of(0, q->compute);
  const cusparseConstSpMatDescr_t d = (cusparseConstSpMatDescr_t)(const void *)&c;
  const struct shunt_sddmm_arguments x = {.handle = (cusparseHandle_t)(void *)somewhere,
                                          .op_a = q->op_a,
                                          .op_b = q->op_b,
                                          .alpha = &alpha,
                                          .a = DENSE(&a),
                                          .b = DENSE(&b),
                                          .beta = &beta,
                                          .c = d,
                                          .compute = q->compute,
                                          .algorithm = (cusparseSDDMMAlg_t)q->algorithm};
  cudaStream_t stream;
  note_blocks(q, &c, d);
  note_strides(q, &c, d);
  const struct shunt_outcome v = shunt_describe_sddmm(&original, &x, p, &stream);
  shunt_bsr_forget(d);
  shunt_strides_forget(d);
  return v;
}

struct shunt_outcome support_read(const struct support_question *q, struct shunt_problem *p)
{
  return q->op == SHUNT_SPMM ? read_spmm(q, p) : read_sddmm(q, p);
}
