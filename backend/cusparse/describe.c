#include "backend/cusparse/describe.h"

#include "backend/options/options.h"
#include "kernels/common/host_half.h"

#include <string.h>

static bool value_type(cudaDataType t, shunt_type *out)
{
  switch (t) {
  case CUDA_R_16F: *out = SHUNT_F16; return true;
  case CUDA_R_16BF: *out = SHUNT_BF16; return true;
  case CUDA_R_32F: *out = SHUNT_F32; return true;
  case CUDA_R_64F: *out = SHUNT_F64; return true;
  case CUDA_R_8I: *out = SHUNT_I8; return true;
  case CUDA_R_32I: *out = SHUNT_I32; return true;
  case CUDA_C_32F: *out = SHUNT_C32; return true;
  case CUDA_C_64F: *out = SHUNT_C64; return true;
  default: return false;
  }
}

static bool index_type(cusparseIndexType_t t, shunt_type *out)
{
  *out = t == CUSPARSE_INDEX_64I ? SHUNT_I64 : SHUNT_I32;
  return t == CUSPARSE_INDEX_32I || t == CUSPARSE_INDEX_64I;
}

static bool operation(cusparseOperation_t op, char *out)
{
  switch (op) {
  case CUSPARSE_OPERATION_NON_TRANSPOSE: *out = 'N'; return true;
  case CUSPARSE_OPERATION_TRANSPOSE: *out = 'T'; return true;
  case CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE: *out = 'H'; return true;
  default: return false;
  }
}

#define GOT(call) ((call) == CUSPARSE_STATUS_SUCCESS)

static struct shunt_outcome read_csr(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                     struct shunt_csr *a)
{
  cusparseIndexType_t offsets, columns;
  cusparseIndexBase_t base;
  cudaDataType type;
  const void *values;
  SHUNT_DECLINE_IF(!o->ConstCsrGet ||
                       !GOT(o->ConstCsrGet(m, &a->rows, &a->cols, &a->nnz, &a->row_offsets,
                                           &a->columns, &values, &offsets, &columns, &base, &type)),
                   SHUNT_R_UNREADABLE);
  a->values = (void *)values;
  a->base = (int)base;
  SHUNT_DECLINE_IF(!value_type(type, &a->value_type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(offsets != columns || !index_type(offsets, &a->index_type), SHUNT_R_INDEX);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* The arrays of a CSC matrix are those of its transpose in CSR. */
static struct shunt_outcome read_csc(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                     struct shunt_csr *a)
{
  cusparseIndexType_t offsets, rows;
  cusparseIndexBase_t base;
  cudaDataType type;
  const void *values;
  SHUNT_DECLINE_IF(!o->ConstCscGet ||
                       !GOT(o->ConstCscGet(m, &a->cols, &a->rows, &a->nnz, &a->row_offsets,
                                           &a->columns, &values, &offsets, &rows, &base, &type)),
                   SHUNT_R_UNREADABLE);
  a->values = (void *)values;
  a->base = (int)base;
  SHUNT_DECLINE_IF(!value_type(type, &a->value_type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(offsets != rows || !index_type(offsets, &a->index_type), SHUNT_R_INDEX);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome read_coo(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                     struct shunt_csr *a, const void **row_indices)
{
  cusparseIndexType_t indices;
  cusparseIndexBase_t base;
  cudaDataType type;
  const void *values;
  SHUNT_DECLINE_IF(!o->ConstCooGet ||
                       !GOT(o->ConstCooGet(m, &a->rows, &a->cols, &a->nnz, row_indices, &a->columns,
                                           &values, &indices, &base, &type)),
                   SHUNT_R_UNREADABLE);
  a->values = (void *)values;
  a->base = (int)base;
  SHUNT_DECLINE_IF(!value_type(type, &a->value_type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(!index_type(indices, &a->index_type), SHUNT_R_INDEX);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Is m still what the note says? */
static bool is_as_noted(const struct shunt_original *o, const struct shunt_bsr *m)
{
  int64_t rows, cols, nnz;
  cusparseIndexBase_t base;
  const void *values;
  if (!o->SpMatGetSize || !o->SpMatGetIndexBase || !o->ConstSpMatGetValues) return false;
  return GOT(o->SpMatGetSize(m->descriptor, &rows, &cols, &nnz)) &&
         GOT(o->SpMatGetIndexBase(m->descriptor, &base)) &&
         GOT(o->ConstSpMatGetValues(m->descriptor, &values)) && base == m->base &&
         values == m->values && rows == m->block_rows * m->size &&
         cols == m->block_cols * m->size && nnz == m->blocks * m->size * m->size;
}

bool shunt_describe_bsr(const struct shunt_original *o, cusparseConstSpMatDescr_t d,
                        struct shunt_bsr *m)
{
  return shunt_bsr_find(d, o->base, m) && is_as_noted(o, m);
}

static struct shunt_outcome read_bsr(const struct shunt_original *o, cusparseConstSpMatDescr_t d,
                                     struct shunt_csr *a, struct shunt_block_shape *shape)
{
  struct shunt_bsr m;
  SHUNT_DECLINE_IF(!shunt_describe_bsr(o, d, &m), SHUNT_R_BSR);
  *a = (struct shunt_csr){.rows = m.block_rows * m.size,
                          .cols = m.block_cols * m.size,
                          .nnz = m.blocks * m.size * m.size,
                          .row_offsets = m.row_offsets,
                          .columns = m.columns,
                          .values = (void *)m.values,
                          .base = (int)m.base};
  shape->size = m.size;
  SHUNT_DECLINE_IF(!value_type(m.type, &a->value_type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(m.offset_type != m.column_type || !index_type(m.offset_type, &a->index_type),
                   SHUNT_R_INDEX);
  SHUNT_DECLINE_IF(m.order != CUSPARSE_ORDER_ROW, SHUNT_R_SHAPE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome read_ell(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                     struct shunt_csr *a, struct shunt_block_shape *shape)
{
  cusparseIndexType_t columns;
  cusparseIndexBase_t base;
  cudaDataType type;
  const void *values;
  int64_t width;
  SHUNT_DECLINE_IF(!o->ConstBlockedEllGet ||
                       !GOT(o->ConstBlockedEllGet(m, &a->rows, &a->cols, &shape->size, &width,
                                                  &a->columns, &values, &columns, &base, &type)),
                   SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(shape->size < 1 || width % shape->size, SHUNT_R_SHAPE);
  shape->wide = width / shape->size;
  a->nnz = a->rows * width;
  a->values = (void *)values;
  a->base = (int)base;
  SHUNT_DECLINE_IF(!value_type(type, &a->value_type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(!index_type(columns, &a->index_type), SHUNT_R_INDEX);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* All operands of a problem have the same number of batches; whether the original takes
   other combinations is its own to say.  */
static struct shunt_outcome count_batches(struct shunt_problem *p, int batches)
{
  if (batches < 1) batches = 1;
  if (p->batches == 0) p->batches = batches;
  SHUNT_DECLINE_IF(p->batches != batches, SHUNT_R_BATCHED);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

#define FORWARD(call)                                                                              \
  do {                                                                                             \
    struct shunt_outcome v_ = (call);                                                              \
    if (v_.reason != SHUNT_FITS) return v_;                                                        \
  } while (0)

static struct shunt_outcome read_format(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                        struct shunt_problem *p)
{
  cusparseFormat_t format;
  SHUNT_DECLINE_IF(!o->SpMatGetFormat || !GOT(o->SpMatGetFormat(m, &format)), SHUNT_R_UNREADABLE);
  switch (format) {
  case CUSPARSE_FORMAT_CSR: p->format = SHUNT_CSR; break;
  case CUSPARSE_FORMAT_CSC: p->format = SHUNT_CSC; break;
  case CUSPARSE_FORMAT_COO: p->format = SHUNT_COO; break;
  case CUSPARSE_FORMAT_BSR: p->format = SHUNT_BSR; break;
  case CUSPARSE_FORMAT_BLOCKED_ELL: p->format = SHUNT_BLOCKED_ELL; break;
  default: return SHUNT_OUTCOME(SHUNT_R_FORMAT);
  }
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Format, batches and arrays of batch 0. */
static struct shunt_outcome read_arrays(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                        struct shunt_problem *p, struct shunt_csr *a)
{
  int batches = 1;
  FORWARD(read_format(o, m, p));
  SHUNT_DECLINE_IF(!o->SpMatGetStridedBatch || !GOT(o->SpMatGetStridedBatch(m, &batches)),
                   SHUNT_R_UNREADABLE);
  FORWARD(count_batches(p, batches));
  switch (p->format) {
  case SHUNT_CSC: return read_csc(o, m, a);
  case SHUNT_COO: return read_coo(o, m, a, &p->row_indices);
  case SHUNT_BSR: return read_bsr(o, m, a, &p->blocks);
  case SHUNT_BLOCKED_ELL: return read_ell(o, m, a, &p->blocks);
  default: return read_csr(o, m, a);
  }
}

static struct shunt_outcome read_sparse(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                                        struct shunt_problem *p, struct shunt_csr *a)
{
  FORWARD(read_arrays(o, m, p, a));
  if (p->batches == 1) return SHUNT_OUTCOME(SHUNT_FITS);
  struct shunt_strided key = {m, o->base, p->batches, *a, p->row_indices};
  SHUNT_DECLINE_IF(!shunt_strides_find(&key, &p->strides.offsets, &p->strides.entries),
                   SHUNT_R_STRIDES);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

bool shunt_describe_strided(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                            struct shunt_strided *out)
{
  struct shunt_problem p;
  struct shunt_csr a = {0};
  memset(&p, 0, sizeof p);
  if (!m || read_arrays(o, m, &p, &a).reason != SHUNT_FITS) return false;
  if (p.format != SHUNT_CSR && p.format != SHUNT_COO) return false;
  *out = (struct shunt_strided){m, o->base, p.batches, a, p.row_indices};
  return true;
}

/* The dense operand as op() sees it; `which`: its place in the strides. */
static struct shunt_outcome read_dense(const struct shunt_original *o, cusparseConstDnMatDescr_t m,
                                       char op, int which, struct shunt_problem *p,
                                       struct shunt_dense *d)
{
  int64_t rows, cols, ld, batch_stride = 0;
  const void *values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  SHUNT_DECLINE_IF(!o->ConstDnMatGet ||
                       !GOT(o->ConstDnMatGet(m, &rows, &cols, &ld, &values, &type, &order)),
                   SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!o->DnMatGetStridedBatch ||
                       !GOT(o->DnMatGetStridedBatch(m, &batches, &batch_stride)),
                   SHUNT_R_UNREADABLE);
  FORWARD(count_batches(p, batches));
  if (p->batches > 1) p->strides.dense[which] = batch_stride;
  bool by_row = order == CUSPARSE_ORDER_ROW;
  *d = (struct shunt_dense){.rows = rows,
                            .cols = cols,
                            .row_stride = by_row ? ld : 1,
                            .col_stride = by_row ? 1 : ld,
                            .values = (void *)values};
  SHUNT_DECLINE_IF(!value_type(type, &d->type), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(ld < (by_row ? cols : rows), SHUNT_R_SHAPE);
  if (op != 'N')
    *d = (struct shunt_dense){cols, rows, d->col_stride, d->row_stride, d->values, d->type};
  /* One row, held as columns of one element: a row. */
  if (d->rows == 1 && d->col_stride == 1 && d->row_stride < d->cols) d->row_stride = d->cols;
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_scalar scalar(const void *pointer, bool on_device, shunt_type compute)
{
  const float *f = pointer;
  const double *d = pointer;
  if (on_device) return (struct shunt_scalar){.device = pointer};
  switch (compute) {
  case SHUNT_F64: return (struct shunt_scalar){.host = d[0]};
  case SHUNT_I32: return (struct shunt_scalar){.host = *(const int32_t *)pointer};
  case SHUNT_C32: return (struct shunt_scalar){.host = f[0], .imaginary = f[1]};
  case SHUNT_C64: return (struct shunt_scalar){.host = d[0], .imaginary = d[1]};
  default: return (struct shunt_scalar){.host = f[0]};
  }
}

/* What the two operations share: handle, scalars, operations, compute type. */
struct common {
  cusparseHandle_t handle;
  const void *alpha, *beta;
  cudaDataType compute;
};

/* A half compute type, which the original refuses: scalars on the host are read as f32, and sums
   are kept in f32.  */
static bool read_half_scalars(const struct common *x, bool on_device, struct shunt_problem *p,
                              shunt_type *compute, struct shunt_scalar *alpha,
                              struct shunt_scalar *beta)
{
  float (*const widen)(uint16_t) =
      *compute == SHUNT_F16 ? shunt_half_to_float : shunt_bfloat_to_float;
  if (!shunt_options()->extend || on_device) return false;
  *alpha = (struct shunt_scalar){.host = widen(*(const uint16_t *)x->alpha)};
  *beta = (struct shunt_scalar){.host = widen(*(const uint16_t *)x->beta)};
  *compute = SHUNT_F32;
  p->extended = true;
  return true;
}

static struct shunt_outcome read_common(const struct shunt_original *o, const struct common *x,
                                        cudaStream_t *stream, struct shunt_problem *p,
                                        shunt_type *compute, struct shunt_scalar *alpha,
                                        struct shunt_scalar *beta)
{
  cusparsePointerMode_t mode;
  SHUNT_DECLINE_IF(!x->handle || !x->alpha || !x->beta, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!o->GetStream || !GOT(o->GetStream(x->handle, stream)), SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!o->GetPointerMode || !GOT(o->GetPointerMode(x->handle, &mode)),
                   SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!value_type(x->compute, compute), SHUNT_R_TYPES);
  if ((*compute == SHUNT_F16 || *compute == SHUNT_BF16) &&
      read_half_scalars(x, mode == CUSPARSE_POINTER_MODE_DEVICE, p, compute, alpha, beta))
    return SHUNT_OUTCOME(SHUNT_FITS);
  /* The width of a host scalar must be known before it is read. */
  SHUNT_DECLINE_IF(*compute != SHUNT_F32 && *compute != SHUNT_F64 && *compute != SHUNT_I32 &&
                       !shunt_type_is_complex(*compute),
                   SHUNT_R_TYPES);
  *alpha = scalar(x->alpha, mode == CUSPARSE_POINTER_MODE_DEVICE, *compute);
  *beta = scalar(x->beta, mode == CUSPARSE_POINTER_MODE_DEVICE, *compute);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Types that the original refuses are asked about with SHUNT_EXTEND alone. */
static void mark_extended(struct shunt_problem *p)
{
  if (shunt_options()->extend && shunt_problem_check(p).reason == SHUNT_R_TYPES) p->extended = true;
}

/* CUSPARSE_SPMM_BSR_ALG1, which older headers do not have. */
enum { BSR_ALG1 = 14 };

/* May this algorithm number be asked for with such a problem?  CSR_ALG3 is documented for
   plain CSR only.  */
static bool algorithm_fits(cusparseSpMMAlg_t alg, const struct shunt_problem *p)
{
  switch ((int)alg) {
  case CUSPARSE_SPMM_ALG_DEFAULT: return true;
  case CUSPARSE_SPMM_CSR_ALG1:
  case CUSPARSE_SPMM_CSR_ALG2: return p->format == SHUNT_CSR || p->format == SHUNT_CSC;
  case CUSPARSE_SPMM_CSR_ALG3: return p->format == SHUNT_CSR && p->op_a == 'N' && p->batches == 1;
  case CUSPARSE_SPMM_COO_ALG1:
  case CUSPARSE_SPMM_COO_ALG2:
  case CUSPARSE_SPMM_COO_ALG3:
  case CUSPARSE_SPMM_COO_ALG4: return p->format == SHUNT_COO;
  case CUSPARSE_SPMM_BLOCKED_ELL_ALG1: return p->format == SHUNT_BLOCKED_ELL;
  case BSR_ALG1: return p->format == SHUNT_BSR;
  default: return false;
  }
}

/* Is 0 x NaN NaN in the original, for an alpha of 0?  cuSPARSE documents the formula, and no
   exception for alpha = 0; most of its products leave no trace of A and B then, and ours neither.
   Measured of 12.6.3, 12.7.10 and 12.9.4: CSR_ALG3 keeps NaN (12.9.4 not in f32 by columns), and
   since 12.7 so do the other algorithms of CSR where A and C have the same 16-bit type.  (Blocks
   keep it, too, there as in our kernels.)  */
static bool keeps_nan(const struct shunt_original *o, const struct shunt_spmm_arguments *x,
                      const struct shunt_problem *p)
{
  enum { SINCE = 12700 };
  const shunt_type type = p->spmm.a.value_type;
  int version = SINCE;
  if (p->format != SHUNT_CSR || p->op_a != 'N') return false;
  if (x->algorithm == CUSPARSE_SPMM_CSR_ALG3) return true;
  if ((type != SHUNT_F16 && type != SHUNT_BF16) || p->spmm.c.type != type) return false;
  return !o->GetVersion || !GOT(o->GetVersion(x->handle, &version)) || version >= SINCE;
}

struct shunt_outcome shunt_describe_spmm(const struct shunt_original *o,
                                         const struct shunt_spmm_arguments *x,
                                         struct shunt_problem *p, cudaStream_t *stream)
{
  struct common common = {x->handle, x->alpha, x->beta, x->compute};
  memset(p, 0, sizeof *p);
  p->cusparse = (int)o->version;
  p->op = SHUNT_SPMM;
  p->algorithm = (int)x->algorithm;
  SHUNT_DECLINE_IF(!x->a || !x->b || !x->c, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!operation(x->op_a, &p->op_a) || !operation(x->op_b, &p->op_b),
                   SHUNT_R_TRANSPOSED);
  FORWARD(read_common(o, &common, stream, p, &p->spmm.compute, &p->spmm.alpha, &p->spmm.beta));
  FORWARD(read_sparse(o, x->a, p, &p->spmm.a));
  FORWARD(read_dense(o, x->b, p->op_b, 0, p, &p->spmm.b));
  FORWARD(read_dense(o, x->c, 'N', 1, p, &p->spmm.c));
  SHUNT_DECLINE_IF(!algorithm_fits(x->algorithm, p), SHUNT_R_ALGORITHM);
  /* What stands on the device is not known here. */
  SHUNT_DECLINE_IF(p->spmm.alpha.device && keeps_nan(o, x, p), SHUNT_R_ALPHA);
  p->deterministic = shunt_options()->deterministic || x->algorithm == CUSPARSE_SPMM_CSR_ALG3 ||
                     (int)x->algorithm == BSR_ALG1;
  mark_extended(p);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

struct shunt_outcome shunt_describe_sddmm(const struct shunt_original *o,
                                          const struct shunt_sddmm_arguments *x,
                                          struct shunt_problem *p, cudaStream_t *stream)
{
  struct common common = {x->handle, x->alpha, x->beta, x->compute};
  memset(p, 0, sizeof *p);
  p->cusparse = (int)o->version;
  p->op = SHUNT_SDDMM;
  p->algorithm = (int)x->algorithm;
  SHUNT_DECLINE_IF(!x->a || !x->b || !x->c, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!operation(x->op_a, &p->op_a) || !operation(x->op_b, &p->op_b),
                   SHUNT_R_TRANSPOSED);
  FORWARD(read_common(o, &common, stream, p, &p->sddmm.compute, &p->sddmm.alpha, &p->sddmm.beta));
  FORWARD(read_dense(o, x->a, p->op_a, 0, p, &p->sddmm.a));
  FORWARD(read_dense(o, x->b, p->op_b, 1, p, &p->sddmm.b));
  FORWARD(read_sparse(o, x->c, p, &p->sddmm.c));
  p->deterministic = shunt_options()->deterministic;
  mark_extended(p);
  SHUNT_DECLINE_IF(x->algorithm != CUSPARSE_SDDMM_ALG_DEFAULT, SHUNT_R_ALGORITHM);
  return SHUNT_OUTCOME(SHUNT_FITS);
}
