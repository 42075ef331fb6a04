/* program.h: the program whose calls go the whole way: matrices, descriptors, and what C has to be.

   All numbers are small integers, so that every way of adding them up gives the same bits.  */
#ifndef WAY_PROGRAM_H
#define WAY_PROGRAM_H

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/random.h"
#include "tests/unit/way/cusparse.h"
#include "tests/unit/way/device.h"

/* ---- one case a process: options and contexts are read once --------------------------------- */

static int wrong; /* of this case */

/* Says what is wrong, and goes on. */
#define EXPECT(good, ...)                                                                          \
  do {                                                                                             \
    if (!(good)) {                                                                                 \
      wrong++;                                                                                     \
      if (wrong < 10) printf("# %s:%d: ", __func__, __LINE__), printf(__VA_ARGS__), printf("\n");  \
    }                                                                                              \
  } while (0)

struct setting {
  const char *name, *value;
};

/* Runs it in a child with the settings, up to one without a name; the child's end. */
static inline int in_child(const struct setting *with, void (*run)(void))
{
  int status = -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (; with && with->name; with++) setenv(with->name, with->value, 1);
    run();
    fflush(stdout);
    exit(wrong ? 1 : 0);
  }
  if (child > 0) waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status)
                           : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
static inline void check_case(const char *what, const struct setting *with, void (*run)(void))
{
  const int end = in_child(with, run);
  check(end == 0, "%s%s", what, end == 0 ? "" : end == 1 ? "" : " (it ended otherwise)");
}

/* ---- a product ------------------------------------------------------------------------------ */

struct product {
  /* what it is; zeros: f16, 32-bit indices, base 0, B and C by rows, alpha 1, beta 0 */
  int64_t m, k, n, each; /* entries a row */
  int alike;             /* so many rows have the same columns */
  bool two_of_four;      /* no aligned four columns have more than two entries */
  enum { HALVES, BRAINS, SINGLES, BYTES } kind; /* f16, bf16, f32; int8 into int32 */
  bool wide_index, by_columns;
  int base, alpha, beta;
  cusparseSpMMAlg_t algorithm;
  cudaStream_t stream;

  /* what comes of it */
  struct shunt_csr a;
  cudaDataType type, out, compute;
  shunt_type t, t_out; /* of A and B, of C */
  union scalars {
    float f;
    int32_t i;
    uint16_t h;
  } scale, add; /* alpha, beta */
  void *b, *c, *want, *buffer;
  size_t buffer_bytes;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t left, right; /* B, C */
};

static inline void store(void *array, shunt_type t, int64_t i, float v)
{
  switch (t) {
  case SHUNT_F32: ((float *)array)[i] = v; break;
  case SHUNT_I32: ((int32_t *)array)[i] = (int32_t)v; break;
  case SHUNT_I8: ((int8_t *)array)[i] = (int8_t)v; break;
  case SHUNT_F16: ((uint16_t *)array)[i] = shunt_float_to_half(v); break;
  default: ((uint16_t *)array)[i] = shunt_float_to_bfloat(v);
  }
}
static inline void fill(void *array, shunt_type t, int64_t count)
{
  for (int64_t i = 0; i < count; i++) store(array, t, i, (float)(1 + random_below(3)));
}

/* The columns of the rows from i, so many of them alike, ascending. */
static inline void columns_of(struct product *x, int64_t i, int64_t rows)
{
  int64_t left = x->each;
  const int64_t first = random_below(3); /* of each four, beside the last */
  void *to = (void *)(uintptr_t)x->a.columns;
  for (int64_t c = 0, p = 0; c < x->k; c++) {
    const int64_t four = c % 4;
    const bool take = x->two_of_four ? four == first || four == 3 : random_below(x->k - c) < left;
    if (!take || left == 0) continue;
    left--;
    for (int64_t r = i; r < i + rows && r < x->m; r++)
      put(to, x->a.index_type, r * x->each + p, c + x->base);
    p++;
  }
}
/* All columns anew, in place. */
static inline void change_columns(struct product *x)
{
  const int64_t rows = x->alike ? x->alike : 1;
  for (int64_t i = 0; i < x->m; i += rows) columns_of(x, i, rows);
}
static inline void change_values(struct product *x)
{
  fill(x->a.values, x->t, x->a.nnz);
}

static inline void describe(struct product *x)
{
  const cusparseIndexType_t index = x->wide_index ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const cusparseOrder_t order = x->by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
  cusparseCreateCsr(&x->sparse, x->m, x->k, x->a.nnz, (void *)(uintptr_t)x->a.row_offsets,
                    (void *)(uintptr_t)x->a.columns, x->a.values, index, index,
                    (cusparseIndexBase_t)x->base, x->type);
  cusparseCreateDnMat(&x->left, x->k, x->n, x->by_columns ? x->k : x->n, x->b, x->type, order);
  cusparseCreateDnMat(&x->right, x->m, x->n, x->by_columns ? x->m : x->n, x->c, x->out, order);
}
static inline void forget(struct product *x)
{
  cusparseDestroySpMat(x->sparse);
  cusparseDestroyDnMat(x->left);
  cusparseDestroyDnMat(x->right);
}

#define OF(x)                                                                                      \
  (x)->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &(x)->scale,    \
      (x)->sparse, (x)->left, &(x)->add, (x)->right, (x)->compute, (x)->algorithm

static inline cusparseStatus_t ask(struct product *x)
{
  const cusparseStatus_t s = cusparseSpMM_bufferSize(OF(x), &x->buffer_bytes);
  free(x->buffer);
  x->buffer = aligned_alloc(256, (x->buffer_bytes + 511) / 256 * 256);
  return s;
}
static inline cusparseStatus_t prepare(struct product *x)
{
  return cusparseSpMM_preprocess(OF(x), x->buffer);
}
static inline cusparseStatus_t run(struct product *x)
{
  return cusparseSpMM(OF(x), x->buffer);
}

static inline void *room_for(int64_t count, size_t size)
{
  return aligned_alloc(256, ((size_t)count * size + 511) / 256 * 256);
}
static inline void know_types(struct product *x)
{
  static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_8I};
  static const shunt_type ours[] = {SHUNT_F16, SHUNT_BF16, SHUNT_F32, SHUNT_I8};
  const bool bytes = x->kind == BYTES;
  x->type = types[x->kind], x->t = ours[x->kind];
  x->out = bytes ? CUDA_R_32I : x->type, x->t_out = bytes ? SHUNT_I32 : x->t;
  x->compute = bytes ? CUDA_R_32I : CUDA_R_32F;
}
static inline void scale(struct product *x, int alpha, int beta)
{
  x->alpha = alpha, x->beta = beta;
  if (x->kind == BYTES)
    x->scale.i = alpha, x->add.i = beta;
  else
    x->scale.f = (float)alpha, x->add.f = (float)beta;
}
/* Everything up to bufferSize. */
static inline void make(struct product *x)
{
  know_types(x);
  scale(x, x->alpha ? x->alpha : 1, x->beta);
  const shunt_type index = x->wide_index ? SHUNT_I64 : SHUNT_I32;
  const size_t size = shunt_type_size(x->t), of_index = shunt_type_size(index);
  if (x->two_of_four) x->each = x->k / 2 - 1;
  x->a = (struct shunt_csr){x->m, x->k, x->m * x->each, NULL, NULL, NULL, index, x->t, x->base};
  void *offsets = room_for(x->m + 1, of_index);
  x->a.columns = room_for(x->a.nnz, of_index);
  x->a.values = room_for(x->a.nnz, size);
  for (int64_t i = 0; i <= x->m; i++) put(offsets, index, i, i * x->each + x->base);
  x->a.row_offsets = offsets;
  change_columns(x);
  change_values(x);
  x->b = room_for(x->k * x->n, size);
  x->c = room_for(x->m * x->n, shunt_type_size(x->t_out));
  x->want = room_for(x->m * x->n, shunt_type_size(x->t_out));
  fill(x->b, x->t, x->k * x->n);
  fill(x->c, x->t_out, x->m * x->n);
  cusparseCreate(&x->handle);
  cusparseSetStream(x->handle, x->stream);
  describe(x);
  EXPECT(ask(x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
}
static inline void drop(struct product *x)
{
  forget(x);
  cusparseDestroy(x->handle);
  free((void *)(uintptr_t)x->a.row_offsets);
  free((void *)(uintptr_t)x->a.columns);
  free(x->a.values);
  free(x->b);
  free(x->c);
  free(x->want);
  free(x->buffer);
}

static inline size_t bytes_of_c(const struct product *x)
{
  return (size_t)(x->m * x->n) * shunt_type_size(x->t_out);
}
/* What C is to be, from what A, B and C hold now. */
static inline void expect(struct product *x)
{
  const int64_t row = x->by_columns ? 1 : x->n;
  const struct shunt_spmm p = {.a = x->a,
                               .b = {x->k, x->n, row, x->by_columns ? x->k : 1, x->b, x->t},
                               .c = {x->m, x->n, row, x->by_columns ? x->m : 1, x->want, x->t_out},
                               .alpha = {.host = x->alpha},
                               .beta = {.host = x->beta},
                               .compute = x->kind == BYTES ? SHUNT_I32 : SHUNT_F32};
  memcpy(x->want, x->c, bytes_of_c(x));
  EXPECT(shunt_csr_spmm_host(&p) == SHUNT_OK, "the twin computes");
}
static inline bool is_right(const struct product *x)
{
  return memcmp(x->c, x->want, bytes_of_c(x)) == 0;
}
/* One call, from a C that it has to overwrite or to count in, and its end. */
static inline bool runs_right(struct product *x)
{
  fill(x->c, x->t_out, x->m * x->n);
  expect(x);
  const cusparseStatus_t s = run(x);
  device_run();
  device_profiles();
  return s == CUSPARSE_STATUS_SUCCESS && is_right(x);
}
static inline bool traced(char letter)
{
  return strchr(device.trace, letter) != NULL;
}
static inline void forget_trace(void)
{
  memset(device.trace, 0, sizeof device.trace);
}

#endif
