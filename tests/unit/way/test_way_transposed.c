/* test_way_transposed.c: the whole way of products with the transpose, and the conjugate transpose,
   of a scattered matrix: A^T B of CSR and COO, A B of CSC.  */
#include "tests/unit/way/program.h"

/* A has m rows and k columns as it is stored by rows; B m x n, C k x n, by rows. */
struct turned {
  int64_t m, k, n, each;
  cudaDataType type;
  cusparseFormat_t format; /* 0: CSR */
  cusparseOperation_t op;
  double beta;

  shunt_type t;
  int parts; /* numbers of an element: 2 of complex types */
  int64_t nnz;
  int32_t *offsets, *columns, *rows;
  void *values, *b, *c, *want, *buffer;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t left, right;
};

static double number(const struct turned *x, const void *array, int64_t i)
{
  return x->t == SHUNT_F64 || x->t == SHUNT_C64 ? ((const double *)array)[i]
                                                : (double)((const float *)array)[i];
}
static void put_number(const struct turned *x, void *array, int64_t i, double v)
{
  if (x->t == SHUNT_F64 || x->t == SHUNT_C64)
    ((double *)array)[i] = v;
  else
    ((float *)array)[i] = (float)v;
}
static void fill_with(const struct turned *x, void *array, int64_t elements)
{
  for (int64_t i = 0; i < elements * x->parts; i++)
    put_number(x, array, i, (double)random_below(5) - 2);
}
/* One in each of as many stretches as a row has entries. */
static void other_columns(struct turned *x)
{
  const int64_t stretch = x->k / x->each;
  for (int64_t p = 0; p < x->nnz; p++)
    x->columns[p] = (int32_t)(p % x->each * stretch + random_below(stretch));
}

static void scalars_of(const struct turned *x, double alpha[2], double beta[2])
{
  memset(alpha, 0, 16), memset(beta, 0, 16);
  put_number(x, alpha, 0, 1), put_number(x, beta, 0, x->beta);
}
#define TURNED(x)                                                                                  \
  (x)->handle, (x)->op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, (x)->a, (x)->left, beta,          \
      (x)->right, (x)->type, CUSPARSE_SPMM_ALG_DEFAULT

static void describe_turned(struct turned *x)
{
  const cusparseIndexType_t i32 = CUSPARSE_INDEX_32I;
  const cusparseIndexBase_t zero = CUSPARSE_INDEX_BASE_ZERO;
  if (x->format == CUSPARSE_FORMAT_COO)
    cusparseCreateCoo(&x->a, x->m, x->k, x->nnz, x->rows, x->columns, x->values, i32, zero,
                      x->type);
  else if (x->format == CUSPARSE_FORMAT_CSC)
    cusparseCreateCsc(&x->a, x->k, x->m, x->nnz, x->offsets, x->columns, x->values, i32, i32, zero,
                      x->type);
  else
    cusparseCreateCsr(&x->a, x->m, x->k, x->nnz, x->offsets, x->columns, x->values, i32, i32, zero,
                      x->type);
  cusparseCreateDnMat(&x->left, x->m, x->n, x->n, x->b, x->type, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&x->right, x->k, x->n, x->n, x->c, x->type, CUSPARSE_ORDER_ROW);
}
static void forget_turned(struct turned *x)
{
  cusparseDestroySpMat(x->a);
  cusparseDestroyDnMat(x->left);
  cusparseDestroyDnMat(x->right);
}

static void make_turned(struct turned *x)
{
  double alpha[2], beta[2];
  size_t bytes = 0;
  x->t = x->type == CUDA_R_64F   ? SHUNT_F64
         : x->type == CUDA_C_32F ? SHUNT_C32
         : x->type == CUDA_C_64F ? SHUNT_C64
                                 : SHUNT_F32;
  x->parts = shunt_type_is_complex(x->t) ? 2 : 1;
  x->nnz = x->m * x->each;
  const size_t size = shunt_type_size(x->t);
  x->offsets = room_for(x->m + 1, 4), x->columns = room_for(x->nnz, 4);
  x->rows = room_for(x->nnz, 4), x->values = room_for(x->nnz, size);
  for (int64_t i = 0; i <= x->m; i++) x->offsets[i] = (int32_t)(i * x->each);
  for (int64_t i = 0; i < x->nnz; i++) x->rows[i] = (int32_t)(i / x->each);
  x->b = room_for(x->m * x->n, size), x->c = room_for(x->k * x->n, size);
  x->want = room_for(x->k * x->n, size);
  other_columns(x);
  fill_with(x, x->values, x->nnz);
  fill_with(x, x->b, x->m * x->n);
  cusparseCreate(&x->handle);
  describe_turned(x);
  scalars_of(x, alpha, beta);
  EXPECT(cusparseSpMM_bufferSize(TURNED(x), &bytes) == CUSPARSE_STATUS_SUCCESS, "bufferSize");
  x->buffer = room_for((int64_t)bytes, 1);
}
static void drop_turned(struct turned *x)
{
  forget_turned(x);
  cusparseDestroy(x->handle);
  void *const arrays[] = {x->offsets, x->columns, x->rows, x->values,
                          x->b,       x->c,       x->want, x->buffer};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

/* x->want += conj?(values[p]) B(row, :) at row `column`. */
static void add_entry(struct turned *x, int64_t row, int64_t p)
{
  const bool conjugate = x->op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  const double re = number(x, x->values, p * x->parts),
               im = x->parts == 1 ? 0 : number(x, x->values, p * 2 + 1) * (conjugate ? -1 : 1);
  for (int64_t j = 0; j < x->n; j++) {
    const int64_t to = (x->columns[p] * x->n + j) * x->parts, from = (row * x->n + j) * x->parts;
    const double b = number(x, x->b, from), bi = x->parts == 1 ? 0 : number(x, x->b, from + 1);
    put_number(x, x->want, to, number(x, x->want, to) + re * b - (x->parts == 1 ? 0 : im * bi));
    if (x->parts == 2)
      put_number(x, x->want, to + 1, number(x, x->want, to + 1) + re * bi + im * b);
  }
}
/* NaN is as good as NaN. */
static bool as_wanted(const struct turned *x)
{
  for (int64_t i = 0; i < x->k * x->n * x->parts; i++) {
    const double got = number(x, x->c, i), want = number(x, x->want, i);
    if (got != want && !(got != got && want != want)) return false;
  }
  return true;
}
static bool turns_right(struct turned *x)
{
  double alpha[2], beta[2];
  scalars_of(x, alpha, beta);
  fill_with(x, x->c, x->k * x->n);
  for (int64_t i = 0; i < x->k * x->n * x->parts; i++)
    put_number(x, x->want, i, x->beta == 0 ? 0 : x->beta * number(x, x->c, i));
  for (int64_t i = 0; i < x->m; i++)
    for (int64_t p = i * x->each; p < (i + 1) * x->each; p++) add_entry(x, i, p);
  const cusparseStatus_t s = cusparseSpMM(TURNED(x), x->buffer);
  device_run();
  device_profiles();
  return s == CUSPARSE_STATUS_SUCCESS && as_wanted(x);
}
static void calls(struct turned *x, const char *when, int count)
{
  for (int i = 0; i < count; i++) EXPECT(turns_right(x), "%s: call %d is right", when, i);
}

static int letters(char which)
{
  int n = 0;
  for (const char *t = device.trace; *t; t++) n += *t == which;
  return n;
}

/* ---- one matrix through its changes --------------------------------------------------------- */

static void through_changes(struct turned x)
{
  make_turned(&x);
  calls(&x, "at first", 4);
  EXPECT(letters('A') > 0, "it is transposed, not \"%s\"", device.trace);
  forget_trace();
  calls(&x, "kept", 6);
  EXPECT(letters('a') == 6 && letters('A') == 0 && letters('c') == 6,
         "values are gathered, and csr multiplies, not \"%s\"", device.trace);
  fill_with(&x, x.values, x.nnz);
  forget_trace();
  calls(&x, "other values", 6);
  EXPECT(letters('a') == 6 && letters('A') == 0 && device.changes == 0,
         "the copy stays, not \"%s\"", device.trace);
  put_number(&x, x.values, 3 * x.parts, NAN);
  /* A complex Inf times a real alpha is NaN in part, as in the original. */
  if (x.parts == 1) put_number(&x, x.b, 5 * x.n, INFINITY);
  calls(&x, "NaN and Inf", 3);
  fill_with(&x, x.values, x.nnz);
  fill_with(&x, x.b, x.m * x.n);
  other_columns(&x);
  forget_trace();
  calls(&x, "another pattern", 1);
  EXPECT(device.changes == 1, "the change is seen");
  calls(&x, "another pattern", 40);
  EXPECT(device.changes == 1 && letters('a') > 2, "and the pattern kept anew, not \"%s\"",
         device.trace);
  forget_turned(&x);
  describe_turned(&x); /* as PyTorch does */
  calls(&x, "a fresh descriptor", 3);
  EXPECT(library.products == 0, "the original is not called");
  drop_turned(&x);
}

static const struct turned small = {
    .m = 24, .k = 40, .n = 6, .each = 7, .type = CUDA_R_32F, .op = CUSPARSE_OPERATION_TRANSPOSE};

#define CHANGES(name, ...)                                                                         \
  static void name(void)                                                                           \
  {                                                                                                \
    struct turned x = small;                                                                       \
    __VA_ARGS__;                                                                                   \
    through_changes(x);                                                                            \
  }
CHANGES(singles, (void)0)
CHANGES(doubles, x.type = CUDA_R_64F; x.beta = 2)
CHANGES(complexes, x.type = CUDA_C_32F)
CHANGES(conjugated, x.type = CUDA_C_32F; x.op = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
CHANGES(wide_conjugated, x.type = CUDA_C_64F; x.op = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
CHANGES(real_conjugated, x.type = CUDA_R_64F; x.op = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
CHANGES(coordinates, x.format = CUSPARSE_FORMAT_COO)
CHANGES(columns, x.format = CUSPARSE_FORMAT_CSC; x.op = CUSPARSE_OPERATION_NON_TRANSPOSE)

/* ---- as the planner chooses ----------------------------------------------------------------- */

/* Large enough for the gain to be expected: only who multiplies counts. */
static void chosen_for(struct turned x)
{
  double alpha[2], beta[2];
  device.no_sums = true;
  x.m = x.k = 40000, x.each = 24, x.n = 64;
  make_turned(&x);
  scalars_of(&x, alpha, beta);
  EXPECT(cusparseSpMM(TURNED(&x), x.buffer) == CUSPARSE_STATUS_SUCCESS && library.products == 1,
         "the first call is the original's");
  for (int i = 0; i < 3000 && letters('a') == 0; i++) {
    EXPECT(cusparseSpMM(TURNED(&x), x.buffer) == CUSPARSE_STATUS_SUCCESS, "call %d", i);
    device_run();
    device_profiles();
  }
  forget_trace();
  const int before = library.products;
  EXPECT(cusparseSpMM(TURNED(&x), x.buffer) == CUSPARSE_STATUS_SUCCESS, "a later call");
  EXPECT(library.products == before && letters('a') == 1 && letters('c') == 1 && device.longest > 0,
         "later ones are by the copy, whose longest row is known, not \"%s\"", device.trace);
  drop_turned(&x);
}
static void chosen(void)
{
  chosen_for(small);
}
static void chosen_by_coordinates(void)
{
  struct turned x = small;
  x.format = CUSPARSE_FORMAT_COO;
  chosen_for(x);
}

/* Nothing is kept: each call transposes. */
static void deterministic(void)
{
  struct turned x = small;
  make_turned(&x);
  calls(&x, "from the first on", 8);
  other_columns(&x);
  calls(&x, "another pattern", 8);
  EXPECT(letters('A') == 16 && letters('a') == 0 && library.products == 0,
         "each is transposed anew, not \"%s\"", device.trace);
  drop_turned(&x);
}

/* No fingerprint where the program has promised that the pattern stays. */
static void promised(void)
{
  struct turned x = small;
  double alpha[2], beta[2];
  make_turned(&x);
  scalars_of(&x, alpha, beta);
  EXPECT(cusparseSpMM_preprocess(TURNED(&x), x.buffer) == CUSPARSE_STATUS_SUCCESS, "preprocess");
  calls(&x, "prepared", 4);
  forget_trace();
  fill_with(&x, x.values, x.nnz);
  calls(&x, "prepared, other values", 4);
  EXPECT(letters('v') == 4 && letters('a') == 0, "only values are read, not \"%s\"", device.trace);
  drop_turned(&x);
}

/* What is conjugated and not transposed. */
static void left(void)
{
  struct turned x = small;
  x.type = CUDA_C_32F, x.format = CUSPARSE_FORMAT_CSC;
  x.op = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE; /* conj(A), not transposed */
  x.k = x.m;
  make_turned(&x);
  double alpha[2], beta[2];
  scalars_of(&x, alpha, beta);
  EXPECT(cusparseSpMM(TURNED(&x), x.buffer) == CUSPARSE_STATUS_SUCCESS && library.products == 1,
         "conj(A) by rows is the original's");
  drop_turned(&x);
}

int main(void)
{
  static const struct setting csr[] = {{"SHUNT_ROUTES", "csr"}, {NULL, NULL}};
  /* Not `dense`: cuBLASLt, which finds no device here, loses memory when it is opened. */
  static const struct setting same[] = {
      {"SHUNT_DETERMINISTIC", "1"}, {"SHUNT_ROUTES", "vector,csr"}, {NULL, NULL}};
  check_case("fp32, A^T", csr, singles);
  check_case("fp64, A^T, added to C", csr, doubles);
  check_case("complex64, A^T", csr, complexes);
  check_case("complex64, A^H", csr, conjugated);
  check_case("complex128, A^H", csr, wide_conjugated);
  check_case("fp64, A^H", csr, real_conjugated);
  check_case("COO, A^T", csr, coordinates);
  check_case("CSC", csr, columns);
  check_case("chosen by what it takes", NULL, chosen);
  check_case("of COO", NULL, chosen_by_coordinates);
  check_case("deterministic", same, deterministic);
  check_case("promised", csr, promised);
  check_case("left to the original", csr, left);
  return check_finish();
}
