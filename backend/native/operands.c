/* operands.c: the checks of shunt.h's tensors and value arrays, and what the kernels call them. */
#include "backend/native/native.h"

enum { MOST_PROBLEMS = 65535 };

int64_t shunt_tensor_problems(const struct shunt_tensor *t)
{
  if (!t || t->batches < 1 || t->heads < 1 || t->batches > MOST_PROBLEMS / t->heads) return 0;
  return t->batches * t->heads;
}

static int type_fits(const struct shunt_tensor *t)
{
  if (t->type != SHUNT_F16 && t->type != SHUNT_BF16 && t->type != SHUNT_F32) return 0;
  return (uintptr_t)t->values % shunt_type_size(t->type) == 0;
}

int shunt_tensor_fits(const struct shunt_tensor *t, const struct shunt_tensor *like, int64_t rows,
                      int64_t cols, int written)
{
  if (!t || !like || !t->values || !type_fits(t)) return 0;
  if (t->batches != like->batches || t->heads != like->heads) return 0;
  if (t->rows != rows || t->cols != cols || cols < 1 || t->row_stride < cols) return 0;
  if (t->heads > 1 && (t->head_stride < 0 || (written && t->head_stride == 0))) return 0;
  if (t->batches > 1 && (t->batch_stride < 0 || (written && t->batch_stride == 0))) return 0;
  return 1;
}

struct shunt_heads shunt_tensor_heads(const struct shunt_tensor *t)
{
  return (struct shunt_heads){t->values, t->row_stride, t->heads > 1 ? t->head_stride : 0,
                              t->batches > 1 ? t->batch_stride : 0};
}

struct shunt_dense shunt_tensor_matrix(const struct shunt_tensor *t, int64_t z)
{
  struct shunt_heads h = shunt_tensor_heads(t);
  int64_t at = z / t->heads * h.batch_stride + z % t->heads * h.head_stride;

  return (struct shunt_dense){.rows = t->rows,
                              .cols = t->cols,
                              .row_stride = t->row_stride,
                              .col_stride = 1,
                              .values = (char *)t->values + at * (int64_t)shunt_type_size(t->type),
                              .type = t->type};
}

int shunt_heads_aligned(const struct shunt_heads *m)
{
  return (uintptr_t)m->values % 16 == 0 && m->row_stride % 8 == 0 && m->head_stride % 8 == 0 &&
         m->batch_stride % 8 == 0;
}

int shunt_value_array(const struct shunt_packed *p, const struct shunt_values *values,
                      int64_t problems, struct shunt_value_array *out)
{
  if (!values) {
    *out = (struct shunt_value_array){p->v.values, 0};
    return problems == 1;
  }
  if (!values->values || (uintptr_t)values->values % 8) return 0;
  if (problems > 1 && (values->stride % 8 || values->stride < p->value_bytes)) return 0;
  *out =
      (struct shunt_value_array){values->values, problems > 1 ? (int64_t)(values->stride / 2) : 0};
  return 1;
}
