/* semiring_operands.h: reading the index arrays of a shunt_sparse, whatever their widths,
   and the conditions that both the engine and its twin put on a product.  */
#ifndef SHUNT_SEMIRING_OPERANDS_H
#define SHUNT_SEMIRING_OPERANDS_H

#include "kernels/semiring/semiring_kernels.h"

#ifdef _OPENMP
#include <omp.h>
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

static inline int64_t shunt_index_at(const void *array, int bytes, int64_t at)
{
  return bytes == 8 ? ((const int64_t *)array)[at] : ((const int32_t *)array)[at];
}

/* First entry of vector v; with v = vectors, the end of the last. */
static inline int64_t shunt_vector_begin(const struct shunt_sparse *s, int64_t v)
{
  return s->vectors == 0 ? 0 : shunt_index_at(s->offsets, s->offset_bytes, v);
}

/* Row or column of the whole matrix that vector v is. */
static inline int64_t shunt_vector_id(const struct shunt_sparse *s, int64_t v)
{
  return s->ids ? shunt_index_at(s->ids, s->id_bytes, v) : v;
}

static inline int64_t shunt_entry_index(const struct shunt_sparse *s, int64_t p)
{
  return shunt_index_at(s->indices, s->index_bytes, p);
}

/* The vector that entry q < nnz belongs to. */
static inline int64_t shunt_vector_of(const struct shunt_sparse *s, int64_t q)
{
  int64_t low = 0, high = s->vectors - 1;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (shunt_vector_begin(s, middle) <= q)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* The entries of a vector. */
struct shunt_line {
  int64_t begin, end;
};

/* The vector of this row or column; empty if it is not there. */
static inline struct shunt_line shunt_find_line(const struct shunt_sparse *s, int64_t id)
{
  int64_t low = s->ids ? 0 : id, high = s->ids ? s->vectors : id;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (shunt_vector_id(s, middle) < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == s->vectors || shunt_vector_id(s, low) != id) return (struct shunt_line){0, 0};
  return (struct shunt_line){shunt_vector_begin(s, low), shunt_vector_begin(s, low + 1)};
}

static inline bool shunt_semiring_type(shunt_type t)
{
  return t == SHUNT_F32 || t == SHUNT_F64 || t == SHUNT_I32 || t == SHUNT_I64 || t == SHUNT_U64;
}

static inline bool shunt_index_width(int bytes)
{
  return bytes == 4 || bytes == 8;
}

static inline bool shunt_sparse_valid(const struct shunt_sparse *s)
{
  const int64_t lines = s->by_column ? s->cols : s->rows;
  return s->rows >= 0 && s->cols >= 0 && s->nnz >= 0 && s->vectors >= 0 && s->vectors <= lines &&
         (s->ids ? shunt_index_width(s->id_bytes) : s->vectors == lines) &&
         (s->vectors == 0 || shunt_index_width(s->offset_bytes)) &&
         (s->nnz == 0 || shunt_index_width(s->index_bytes));
}

static inline bool shunt_full_valid(const struct shunt_full *f)
{
  return f->rows >= 0 && f->cols >= 0 &&
         (f->row_stride == 1 || f->col_stride == 1 || f->rows == 0 || f->cols == 0 || f->iso);
}

static inline shunt_status shunt_host_spmm_check(const struct shunt_host_spmm *p)
{
  if (!shunt_sparse_valid(&p->s) || !shunt_full_valid(&p->b) || !shunt_full_valid(&p->c) ||
      p->s.rows != p->c.rows || p->s.cols != p->b.rows || p->b.cols != p->c.cols || p->c.iso ||
      (p->accumulate && p->c.present))
    return SHUNT_E_ARGUMENT;
  return shunt_semiring_type(p->semiring.type) ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static inline shunt_status shunt_host_sddmm_check(const struct shunt_host_sddmm *p)
{
  if (!shunt_sparse_valid(&p->pattern) || !shunt_full_valid(&p->u) || !shunt_full_valid(&p->v) ||
      p->u.rows != p->pattern.rows || p->v.cols != p->pattern.cols || p->u.cols != p->v.rows ||
      p->u.cols <= 0 || p->u.present || p->v.present)
    return SHUNT_E_ARGUMENT;
  return shunt_semiring_type(p->semiring.type) ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

#endif
