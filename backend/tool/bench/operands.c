/* operands.c: a case's operands in host memory.

   Values are uniform in [-1, 1), the same for the same seed on every machine;
   8-bit integers are uniform in [-8, 8).  The file's own values are not used:
   a matrix of 1e10s would overflow in fp16, and time does not depend on them.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"
#include "kernels/common/host_half.h"

double bench_load(const void *from, int64_t i, shunt_type type)
{
  switch (type) {
  case SHUNT_F16: return shunt_half_to_float(((const uint16_t *)from)[i]);
  case SHUNT_BF16: return shunt_bfloat_to_float(((const uint16_t *)from)[i]);
  case SHUNT_F32: return ((const float *)from)[i];
  case SHUNT_F64: return ((const double *)from)[i];
  case SHUNT_I8: return ((const int8_t *)from)[i];
  case SHUNT_I32: return ((const int32_t *)from)[i];
  default: return (double)((const int64_t *)from)[i];
  }
}

void bench_store(void *to, int64_t i, shunt_type type, double x)
{
  switch (type) {
  case SHUNT_F16: ((uint16_t *)to)[i] = shunt_float_to_half((float)x); break;
  case SHUNT_BF16: ((uint16_t *)to)[i] = shunt_float_to_bfloat((float)x); break;
  case SHUNT_F32: ((float *)to)[i] = (float)x; break;
  case SHUNT_F64: ((double *)to)[i] = x; break;
  case SHUNT_I8: ((int8_t *)to)[i] = (int8_t)floor(x * 8); break;
  case SHUNT_I32: ((int32_t *)to)[i] = (int32_t)floor(x * 8); break;
  default: ((int64_t *)to)[i] = (int64_t)floor(x * 8); break;
  }
}

int bench_result_array(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM ? BENCH_SECOND : BENCH_VALUES;
}

const struct shunt_scalar *bench_beta(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM ? &p->spmm.beta : &p->sddmm.beta;
}

/* Elements from the first to the end of the last line, padding included. */
static int64_t stored_elements(const struct shunt_dense *d)
{
  return d->col_stride == 1 ? d->rows * d->row_stride : d->cols * d->col_stride;
}

static const struct shunt_dense *dense_of(const struct shunt_problem *p, int which)
{
  if (p->op == SHUNT_SPMM) return which == BENCH_FIRST ? &p->spmm.b : &p->spmm.c;
  return which == BENCH_FIRST ? &p->sddmm.a : &p->sddmm.b;
}

static void fill_random(void *to, int64_t count, shunt_type type, uint64_t seed)
{
  if (shunt_type_is_complex(type)) {
    fill_random(to, 2 * count, type == SHUNT_C32 ? SHUNT_F32 : SHUNT_F64, seed);
    return;
  }
  /* In chunks that do not depend on each other: 10 GB of B else take longer than all products. */
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; i += 1024) {
    double chunk[1024];
    int64_t n = count - i < 1024 ? count - i : 1024;
    shunt_fill_values(chunk, n, seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
    for (int64_t j = 0; j < n; j++) bench_store(to, i + j, type, chunk[j]);
  }
}

/* NaN in all types of numbers but integers. */
static void fill_poison(void *to, size_t bytes)
{
  const size_t piece = (size_t)1 << 20;
#pragma omp parallel for schedule(static)
  for (size_t at = 0; at < bytes; at += piece)
    memset((char *)to + at, 0xff, bytes - at < piece ? bytes - at : piece);
}

static void copy_indices(void *to, const int64_t *from, int64_t count, shunt_type type, int base)
{
  for (int64_t i = 0; i < count; i++)
    if (type == SHUNT_I32)
      ((int32_t *)to)[i] = (int32_t)(from[i] + base);
    else
      ((int64_t *)to)[i] = from[i] + base;
}

bool bench_operands_make(const struct bench_case *c, uint64_t seed, struct bench_operands *o)
{
  const struct shunt_problem *p = &c->problem;
  const struct shunt_csr *a = shunt_problem_sparse(p);
  int64_t count[BENCH_ARRAYS] = {a->rows + 1, a->nnz, a->nnz,
                                 stored_elements(dense_of(p, BENCH_FIRST)),
                                 stored_elements(dense_of(p, BENCH_SECOND))};
  shunt_type type[BENCH_ARRAYS] = {a->index_type, a->index_type, a->value_type,
                                   dense_of(p, BENCH_FIRST)->type, dense_of(p, BENCH_SECOND)->type};
  double total = 0;
  *o = (struct bench_operands){{0}, {0}};
  for (int i = 0; i < BENCH_ARRAYS; i++)
    total += (double)count[i] * (double)shunt_type_size(type[i]);
  if (!tool_fits_memory(2 * total, c->matrix)) return false;
  for (int i = 0; i < BENCH_ARRAYS; i++) {
    o->bytes[i] = (size_t)count[i] * shunt_type_size(type[i]);
    o->array[i] = aligned_alloc(64, (o->bytes[i] + 127) / 64 * 64);
    if (!o->array[i]) {
      tool_say("%s: out of memory", c->matrix);
      bench_operands_free(o);
      return false;
    }
  }
  copy_indices(o->array[BENCH_OFFSETS], c->pattern->row_offsets, a->rows + 1, a->index_type,
               a->base);
  copy_indices(o->array[BENCH_COLUMNS], c->pattern->columns, a->nnz, a->index_type, a->base);
  for (int i = BENCH_VALUES; i < BENCH_ARRAYS; i++) {
    const struct shunt_scalar *beta = bench_beta(p);
    if (i == bench_result_array(p) && beta->host == 0)
      fill_poison(o->array[i], o->bytes[i]);
    else
      fill_random(o->array[i], count[i], type[i], seed + (uint64_t)i);
  }
  return true;
}

void bench_operands_free(struct bench_operands *o)
{
  for (int i = 0; i < BENCH_ARRAYS; i++) free(o->array[i]);
  *o = (struct bench_operands){{0}, {0}};
}

struct shunt_problem bench_bind(const struct bench_case *c, void *const array[BENCH_ARRAYS])
{
  struct shunt_problem p = c->problem;
  struct shunt_csr *a = p.op == SHUNT_SPMM ? &p.spmm.a : &p.sddmm.c;
  struct shunt_dense *first = p.op == SHUNT_SPMM ? &p.spmm.b : &p.sddmm.a;
  struct shunt_dense *second = p.op == SHUNT_SPMM ? &p.spmm.c : &p.sddmm.b;
  a->row_offsets = array[BENCH_OFFSETS];
  a->columns = array[BENCH_COLUMNS];
  a->values = array[BENCH_VALUES];
  first->values = array[BENCH_FIRST];
  second->values = array[BENCH_SECOND];
  return p;
}
