/* host_csr_spmm.c: C = alpha A B + beta C for A in CSR, on the host.

     C[i, j] = round(alpha * sum over p of row i: values[p] * B[columns[p], j]
                     + beta * C[i, j]),       C is not read when beta is 0

   Two functions of one meaning:
     shunt_csr_spmm_host           one thread, one element at a time, in the
                                   order of storage: what everything is compared to
     shunt_csr_spmm_parallel_host  OpenMP; threads take ranges of rows of about
                                   equal rows + nonzeros, and walk them by blocks
                                   of columns, so that a block of sums stays in
                                   registers and L1 and B's rows are read in order

        B, C   | block 0 | block 1 | ..       A   rows 0 ..  12   thread 0
               '- 64 columns                      rows 13 .. 40   thread 1
                                                  ..
   Sums are kept in the compute type (float for half and bfloat16) and rounded
   once.  Each element is summed by one thread in the order of storage: results
   do not depend on the number of threads.  Integers wrap.  */
#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

enum { BLOCK = 64 };

static int64_t index_at(const void *array, int64_t i, shunt_type t)
{
  return t == SHUNT_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static int64_t row_begin(const struct shunt_csr *a, int64_t i)
{
  return index_at(a->row_offsets, i, a->index_type) - a->base;
}

static int64_t column_at(const struct shunt_csr *a, int64_t p)
{
  return index_at(a->columns, p, a->index_type) - a->base;
}

/* ---- elements ---------------------------------------------------------------
   NAME_load and NAME_store: one element of a stored type in compute type T. */
#define ELEMENT(NAME, T, STORED, LOAD, STORE)                                                      \
  static inline T NAME##_load(const void *from, int64_t i)                                         \
  {                                                                                                \
    STORED x = ((const STORED *)from)[i];                                                          \
    return LOAD;                                                                                   \
  }                                                                                                \
  __attribute__((unused)) static inline void NAME##_store(void *to, int64_t i, T x)                \
  {                                                                                                \
    ((STORED *)to)[i] = STORE;                                                                     \
  }
ELEMENT(f16, float, uint16_t, shunt_half_to_float(x), shunt_float_to_half(x))
ELEMENT(bf16, float, uint16_t, shunt_bfloat_to_float(x), shunt_float_to_bfloat(x))
ELEMENT(f32, float, float, x, x)
ELEMENT(f64, double, double, x, x)
ELEMENT(i8, float, int8_t, (float)x, (int8_t)x)
/* Unsigned inside: wrapping is defined for it. */
ELEMENT(i8i, uint32_t, int8_t, (uint32_t)(int32_t)x, (int8_t)x)
ELEMENT(i32, uint32_t, uint32_t, x, x)

static float scalar_f32(const struct shunt_scalar *s)
{
  return s->device ? *(const float *)s->device : (float)s->host;
}
static double scalar_f64(const struct shunt_scalar *s)
{
  return s->device ? *(const double *)s->device : s->host;
}
static uint32_t scalar_i32(const struct shunt_scalar *s)
{
  return (uint32_t)(s->device ? *(const int32_t *)s->device : (int32_t)s->host);
}

/* ---- one combination of types -----------------------------------------------
   A, B, OUT: stored types of A, B and C.  T: compute type.  */
#define SPMM(A, B, OUT, T, SCALAR)                                                                 \
  static void element_##A##_##B##_##OUT(const struct shunt_spmm *p, int64_t i, int64_t j)          \
  {                                                                                                \
    const int64_t at = i * p->c.row_stride + j * p->c.col_stride;                                  \
    const T beta = SCALAR(&p->beta);                                                               \
    T sum = 0;                                                                                     \
    for (int64_t q = row_begin(&p->a, i); q < row_begin(&p->a, i + 1); q++)                        \
      sum += A##_load(p->a.values, q) *                                                            \
             B##_load(p->b.values, column_at(&p->a, q) * p->b.row_stride + j * p->b.col_stride);   \
    sum = SCALAR(&p->alpha) == 0 ? 0 : sum * SCALAR(&p->alpha);                                    \
    if (beta != 0) sum += beta * OUT##_load(p->c.values, at);                                      \
    OUT##_store(p->c.values, at, sum);                                                             \
  }                                                                                                \
                                                                                                   \
  static void rows_##A##_##B##_##OUT(const struct shunt_spmm *p, int64_t begin, int64_t end)       \
  {                                                                                                \
    const struct shunt_csr *a = &p->a;                                                             \
    const T alpha = SCALAR(&p->alpha), beta = SCALAR(&p->beta);                                    \
    const int64_t n = p->c.cols, stride = p->b.col_stride;                                         \
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK) {                                                    \
      const int width = n - j0 < BLOCK ? (int)(n - j0) : BLOCK;                                    \
      for (int64_t i = begin; i < end; i++) {                                                      \
        T sum[BLOCK] = {0};                                                                        \
        for (int64_t q = row_begin(a, i); q < row_begin(a, i + 1); q++) {                          \
          const T x = A##_load(a->values, q);                                                      \
          const int64_t at = column_at(a, q) * p->b.row_stride + j0 * stride;                      \
          if (stride == 1) {                                                                       \
            SHUNT_OMP(omp simd)                                                                    \
            for (int e = 0; e < width; e++) sum[e] += x * B##_load(p->b.values, at + e);           \
          } else {                                                                                 \
            for (int e = 0; e < width; e++) sum[e] += x * B##_load(p->b.values, at + e * stride);  \
          }                                                                                        \
        }                                                                                          \
        for (int e = 0; e < width; e++) {                                                          \
          const int64_t at = i * p->c.row_stride + (j0 + e) * p->c.col_stride;                     \
          T value = alpha == 0 ? 0 : alpha * sum[e];                                               \
          if (beta != 0) value += beta * OUT##_load(p->c.values, at);                              \
          OUT##_store(p->c.values, at, value);                                                     \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
SPMM(f16, f16, f16, float, scalar_f32)
SPMM(f16, f16, f32, float, scalar_f32)
SPMM(bf16, bf16, bf16, float, scalar_f32)
SPMM(bf16, bf16, f32, float, scalar_f32)
SPMM(f32, f32, f32, float, scalar_f32)
SPMM(f64, f64, f64, double, scalar_f64)
SPMM(i8, i8, f32, float, scalar_f32)
SPMM(i8i, i8i, i32, uint32_t, scalar_i32)
SPMM(f32, f16, f16, float, scalar_f32)
SPMM(f32, f16, f32, float, scalar_f32)
SPMM(f32, bf16, bf16, float, scalar_f32)
SPMM(f32, bf16, f32, float, scalar_f32)
SPMM(f16, f32, f32, float, scalar_f32)
SPMM(bf16, f32, f32, float, scalar_f32)

typedef struct {
  shunt_type a, b, out, compute;
  void (*element)(const struct shunt_spmm *, int64_t i, int64_t j);
  void (*rows)(const struct shunt_spmm *, int64_t begin, int64_t end);
} combination;

#define FUNCTIONS(A, B, OUT) element_##A##_##B##_##OUT, rows_##A##_##B##_##OUT
static const combination combinations[] = {
    {SHUNT_F16, SHUNT_F16, SHUNT_F16, SHUNT_F32, FUNCTIONS(f16, f16, f16)},
    {SHUNT_F16, SHUNT_F16, SHUNT_F32, SHUNT_F32, FUNCTIONS(f16, f16, f32)},
    {SHUNT_BF16, SHUNT_BF16, SHUNT_BF16, SHUNT_F32, FUNCTIONS(bf16, bf16, bf16)},
    {SHUNT_BF16, SHUNT_BF16, SHUNT_F32, SHUNT_F32, FUNCTIONS(bf16, bf16, f32)},
    {SHUNT_F32, SHUNT_F32, SHUNT_F32, SHUNT_F32, FUNCTIONS(f32, f32, f32)},
    {SHUNT_F64, SHUNT_F64, SHUNT_F64, SHUNT_F64, FUNCTIONS(f64, f64, f64)},
    {SHUNT_I8, SHUNT_I8, SHUNT_F32, SHUNT_F32, FUNCTIONS(i8, i8, f32)},
    {SHUNT_I8, SHUNT_I8, SHUNT_I32, SHUNT_I32, FUNCTIONS(i8i, i8i, i32)},
    {SHUNT_F32, SHUNT_F16, SHUNT_F16, SHUNT_F32, FUNCTIONS(f32, f16, f16)},
    {SHUNT_F32, SHUNT_F16, SHUNT_F32, SHUNT_F32, FUNCTIONS(f32, f16, f32)},
    {SHUNT_F32, SHUNT_BF16, SHUNT_BF16, SHUNT_F32, FUNCTIONS(f32, bf16, bf16)},
    {SHUNT_F32, SHUNT_BF16, SHUNT_F32, SHUNT_F32, FUNCTIONS(f32, bf16, f32)},
    {SHUNT_F16, SHUNT_F32, SHUNT_F32, SHUNT_F32, FUNCTIONS(f16, f32, f32)},
    {SHUNT_BF16, SHUNT_F32, SHUNT_F32, SHUNT_F32, FUNCTIONS(bf16, f32, f32)},
};

static shunt_status find_combination(const struct shunt_spmm *p, const combination **found)
{
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (p->a.index_type != SHUNT_I32 && p->a.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  for (size_t i = 0; i < sizeof combinations / sizeof combinations[0]; i++) {
    const combination *c = &combinations[i];
    if (c->a == p->a.value_type && c->b == p->b.type && c->out == p->c.type &&
        c->compute == p->compute) {
      *found = c;
      return SHUNT_OK;
    }
  }
  return SHUNT_E_UNSUPPORTED;
}

shunt_status shunt_csr_spmm_host(const struct shunt_spmm *p)
{
  const combination *with;
  shunt_status status = find_combination(p, &with);

  if (status != SHUNT_OK || (p->only_if && *p->only_if == 0)) return status;
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) with->element(p, i, j);
  return SHUNT_OK;
}

/* The row at which part k of `parts` begins: the first whose rows + nonzeros
   before it reach k / parts of all. */
static int64_t part_begin(const struct shunt_csr *a, int64_t k, int64_t parts)
{
  const int64_t items = a->rows + row_begin(a, a->rows);
  const int64_t before = items / parts * k + items % parts * k / parts;
  int64_t low = 0, high = a->rows;

  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (row_begin(a, middle) + middle < before)
      low = middle + 1;
    else
      high = middle;
  }
  return k == parts ? a->rows : low;
}

shunt_status shunt_csr_spmm_parallel_host(const struct shunt_spmm *p)
{
  const combination *with;
  shunt_status status = find_combination(p, &with);

  if (status != SHUNT_OK || (p->only_if && *p->only_if == 0)) return status;
  if (p->c.rows == 0 || p->c.cols == 0) return SHUNT_OK;
  /* Many parts, so that a slow core does not hold up the others; few enough
     that finding them costs nothing.  */
  const int64_t parts = p->a.rows < 512 ? p->a.rows : 512;
  SHUNT_OMP(omp parallel for schedule(dynamic, 1))
  for (int64_t k = 0; k < parts; k++)
    with->rows(p, part_begin(&p->a, k, parts), part_begin(&p->a, k + 1, parts));
  return SHUNT_OK;
}
