#include "backend/graphblas/operand.h"

#ifdef SHUNT_HAVE_CUDA
#include "backend/graphblas/epoch/epochs.h"
#include "backend/graphblas/memory.h"
#endif

enum { GXB_IS_READONLY = 7078 }; /* from 10 on */

bool grb_operand_glance(const struct grb_library *l, GrB_Matrix a, struct grb_operand *out)
{
  int32_t form;
  out->handle = a;
  if (l->GxB_Matrix_Option_get_INT32(a, l->numbers.sparsity_status, &form) != GRB_SUCCESS)
    return false;
  out->form = form;
  return true;
}

bool grb_operand_shape(const struct grb_library *l, struct grb_operand *a)
{
  uint64_t rows, cols;
  int32_t format;
  if (l->GxB_Matrix_Option_get_INT32(a->handle, l->numbers.format, &format) != GRB_SUCCESS)
    return false;
  if (l->GrB_Matrix_nrows(&rows, a->handle) != GRB_SUCCESS) return false;
  if (l->GrB_Matrix_ncols(&cols, a->handle) != GRB_SUCCESS) return false;
  a->by_column = format == GRB_BY_COL;
  a->rows = (int64_t)rows;
  a->cols = (int64_t)cols;
  return true;
}

GrB_Type grb_operand_type(const struct grb_library *l, const struct grb_operand *a)
{
  GrB_Type type = NULL;
  return l->GxB_Matrix_type(&type, a->handle) == GRB_SUCCESS ? type : NULL;
}

bool grb_operand_is_read_only(const struct grb_library *l, const struct grb_operand *a)
{
  int32_t read_only = 0; /* 9 does not know it */
  return l->GrB_Matrix_get_INT32 &&
         l->GrB_Matrix_get_INT32(a->handle, &read_only, GXB_IS_READONLY) == GRB_SUCCESS &&
         read_only;
}

static void *word(const struct grb_iterator *it, int i)
{
  return i < 0 ? NULL : (void *)(uintptr_t)it->word[i];
}

/* The array at word `wide`, or its narrow form. */
static const void *integers(const struct grb_iterator *it, int wide, int narrow, int *bytes)
{
  const void *p = word(it, wide);
  *bytes = p ? 8 : 4;
  return p ? p : word(it, narrow);
}

static int64_t integer_at(const void *p, int bytes, int64_t i)
{
  return bytes == 8 ? ((const int64_t *)p)[i] : ((const uint32_t *)p)[i];
}

static bool read_sparse(const struct grb_layout *at, const struct grb_iterator *it,
                        struct grb_operand *a)
{
  a->vectors = a->by_column ? a->cols : a->rows;
  a->offsets = integers(it, at->offsets, at->offsets32, &a->offset_bytes);
  a->indices = integers(it, at->indices, at->indices32, &a->index_bytes);
  if (a->form == GRB_HYPERSPARSE) {
    a->vectors = (int64_t)it->word[at->vectors];
    a->ids = integers(it, at->ids, at->ids32, &a->id_bytes);
    if (!a->ids) return false;
  }
  if (!a->offsets || !a->indices) return false;
  a->nnz = integer_at(a->offsets, a->offset_bytes, a->vectors);
  return true;
}

/* A bitmap without a gap is read as what it is worth: full. */
static bool read_dense(const struct grb_library *l, void *present, int64_t elements,
                       struct grb_operand *a)
{
  uint64_t entries = (uint64_t)elements;
  a->present = NULL;
  if (a->form == GRB_BITMAP) {
    if (!present || l->GrB_Matrix_nvals(&entries, a->handle) != GRB_SUCCESS) return false;
    if ((int64_t)entries < elements) a->present = present;
  }
  a->nnz = (int64_t)entries;
  return true;
}

bool grb_operand_read(const struct grb_library *l, struct grb_operand *a)
{
  struct grb_iterator it;
  const struct grb_layout *at = &l->layout;
  if (l->GxB_Matrix_Iterator_attach(&it, a->handle, NULL) != GRB_SUCCESS) return false;
  int64_t length = (int64_t)it.word[at->length], dimension = (int64_t)it.word[at->dimension];
  a->form = it.half[at->form];
  a->iso = it.byte[at->iso];
  a->by_column = it.byte[at->by_column];
  a->rows = a->by_column ? length : dimension;
  a->cols = a->by_column ? dimension : length;
  a->values = word(&it, at->values);
  if (!a->values) return false; /* an empty matrix has no arrays */
  if (grb_operand_is_sparse(a)) return read_sparse(at, &it, a);
  return read_dense(l, word(&it, at->present), length * dimension, a);
}

/* ---- one value of another type ------------------------------------------------------------ */

/* Two's complement of an integer or truth value; false: another type. */
static bool integer_value(const struct grb_library *l, GrB_Type type, const void *value,
                          int64_t *out)
{
  const GrB_Type *other = l->other_type; /* in the order of GRB_OTHER_TYPES */
  enum { INT8, INT16, UINT8, UINT16 };
  if (type == l->type[GRB_BOOL] || type == other[UINT8])
    *out = *(const uint8_t *)value;
  else if (type == other[INT8])
    *out = *(const int8_t *)value;
  else if (type == other[INT16])
    *out = *(const int16_t *)value;
  else if (type == other[UINT16])
    *out = *(const uint16_t *)value;
  else if (type == l->type[GRB_INT32])
    *out = *(const int32_t *)value;
  else if (type == l->type[GRB_UINT32])
    *out = *(const uint32_t *)value;
  else if (type == l->type[GRB_INT64])
    *out = *(const int64_t *)value;
  else
    return false;
  return true;
}

bool grb_operand_cast_iso(const struct grb_library *l, struct grb_operand *a, enum grb_number to)
{
  int64_t value;
  if (!a->iso || !integer_value(l, grb_operand_type(l, a), a->values, &value)) return false;
  void *out = &a->one_value;
  switch (to) {
  case GRB_FP32: *(float *)out = (float)value; break;
  case GRB_FP64: *(double *)out = (double)value; break;
  case GRB_BOOL: *(uint8_t *)out = value != 0; break;
  case GRB_INT32:
  case GRB_UINT32: *(uint32_t *)out = (uint32_t)value; break;
  default: *(int64_t *)out = value; break;
  }
  a->values = out;
  return true;
}

/* ---- as the kernels take them ------------------------------------------------------------- */

static const uint64_t one_zero;

struct shunt_sparse grb_operand_sparse(const struct grb_operand *a, bool transpose, bool use_values)
{
  return (struct shunt_sparse){
      .rows = transpose ? a->cols : a->rows,
      .cols = transpose ? a->rows : a->cols,
      .vectors = a->vectors,
      .nnz = a->nnz,
      .by_column = a->by_column != transpose,
      .ids = a->ids,
      .offsets = a->offsets,
      .indices = a->indices,
      .values = use_values ? a->values : &one_zero,
      .id_bytes = a->id_bytes,
      .offset_bytes = a->offset_bytes,
      .index_bytes = a->index_bytes,
      .iso = a->iso || !use_values,
  };
}

struct shunt_full grb_operand_full(const struct grb_operand *a, bool transpose, bool use_values)
{
  int64_t row_stride = a->by_column ? 1 : a->cols, col_stride = a->by_column ? a->rows : 1;
  return (struct shunt_full){
      .rows = transpose ? a->cols : a->rows,
      .cols = transpose ? a->rows : a->cols,
      .row_stride = transpose ? col_stride : row_stride,
      .col_stride = transpose ? row_stride : col_stride,
      .values = use_values ? a->values : (void *)(uintptr_t)&one_zero,
      .present = a->present,
      .iso = a->iso || !use_values,
  };
}

struct grb_identity grb_operand_identity(const struct grb_library *l, const struct grb_operand *a)
{
  struct grb_identity id = {.handle = a->handle};
#ifdef SHUNT_HAVE_CUDA
  id.epoch = grb_epoch(a->handle);
  id.read_only = grb_operand_is_read_only(l, a);
  id.own_array = !grb_has_arenas(l);
#else
  (void)l;
#endif
  return id;
}
