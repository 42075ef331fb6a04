/* test_way_calls.c: the whole way of the other calls (SDDMM, CSC, COO, blocks, transposed operands,
   types that cuSPARSE refuses) and of what options add to a call: tuning, measuring, the report,
   trust.  */
#include "backend/plan/problem.h"
#include "tests/unit/way/program.h"

static const struct product small = {.m = 16, .k = 32, .n = 16, .each = 8, .alike = 8};

static void some_calls(struct product *x, int calls)
{
  for (int i = 0; i < calls; i++) EXPECT(runs_right(x), "call %d is right", i);
}

/* How often a problem was hashed (tests/unit/way/local.mk): once a call is enough. */
static int hashes;
uint64_t __real_shunt_problem_hash(const struct shunt_problem *p);
uint64_t __wrap_shunt_problem_hash(const struct shunt_problem *p);
uint64_t __wrap_shunt_problem_hash(const struct shunt_problem *p)
{
  hashes++;
  return __real_shunt_problem_hash(p);
}

/* ---- SDDMM ---------------------------------------------------------------------------------- */

/* The product's pattern is C's; A is m x n, B n x k, as rows of x->c and x->b stand. */
static void sampled(void)
{
  struct product x = small;
  x.kind = SINGLES;
  cusparseDnMatDescr_t a, b;
  size_t bytes = 0;
  float alpha = 2, beta = 1;
  make(&x);
  cusparseCreateDnMat(&a, x.m, x.n, x.n, x.c, x.type, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&b, x.n, x.k, x.n, x.b, x.type, CUSPARSE_ORDER_COL);
#define SAMPLED                                                                                    \
  x.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, b,      \
      &beta, x.sparse, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT
  EXPECT(cusparseSDDMM_bufferSize(SAMPLED, &bytes) == CUSPARSE_STATUS_SUCCESS && bytes > 0,
         "bufferSize asks for room");
  void *buffer = room_for((int64_t)bytes, 1);
  EXPECT(cusparseSDDMM_preprocess(SAMPLED, buffer) == CUSPARSE_STATUS_SUCCESS, "preprocess");
  for (int i = 0; i < 12; i++) {
    float want[16 * 8];
    const struct shunt_sddmm p = {.a = {x.m, x.n, x.n, 1, x.c, x.t},
                                  .b = {x.n, x.k, 1, x.n, x.b, x.t},
                                  .c = x.a,
                                  .alpha = {.host = alpha},
                                  .beta = {.host = beta},
                                  .compute = SHUNT_F32};
    struct shunt_sddmm to = p;
    change_values(&x);
    if (i == 6) change_columns(&x);
    memcpy(want, x.a.values, sizeof want);
    to.c.values = want;
    EXPECT(shunt_csr_sddmm_host(&to) == SHUNT_OK, "the twin computes");
    hashes = 0;
    EXPECT(cusparseSDDMM(SAMPLED, buffer) == CUSPARSE_STATUS_SUCCESS, "the call succeeds");
    EXPECT(memcmp(want, x.a.values, sizeof want) == 0, "call %d is right", i);
    EXPECT(hashes == 1, "call %d hashes its problem %d times", i, hashes);
  }
  EXPECT(library.products == 0 && traced('s'), "all are taken, not \"%s\"", device.trace);
  EXPECT(cusparseSDDMM(SAMPLED, NULL) == CUSPARSE_STATUS_SUCCESS && library.products == 1,
         "without a buffer the original has the call");
  free(buffer);
  cusparseDestroyDnMat(a);
  cusparseDestroyDnMat(b);
  drop(&x);
}

/* As PyTorch calls it: bufferSize and preprocess before each product; B by rows.  `k` columns of A:
   of few, all is one launch without a workspace, and nothing else is planned.  */
static void sampled_each_time(int64_t k, bool brief)
{
  struct product x = {.m = 16, .k = 32, .n = k, .each = 8, .alike = 1};
  cusparseDnMatDescr_t a, b;
  float alpha = 1, beta = 0;
  void *buffer = NULL;
  size_t first = 0;
  x.kind = SINGLES;
  make(&x);
  cusparseCreateDnMat(&a, x.m, x.n, x.n, x.c, x.type, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&b, x.n, x.k, x.k, x.b, x.type, CUSPARSE_ORDER_ROW);
  fill(x.c, x.t, x.m * x.n);
  for (int i = 0; i < 12; i++) {
    float want[16 * 8];
    struct shunt_sddmm to = {.a = {x.m, x.n, x.n, 1, x.c, x.t},
                             .b = {x.n, x.k, x.k, 1, x.b, x.t},
                             .c = x.a,
                             .alpha = {.host = alpha},
                             .compute = SHUNT_F32};
    size_t bytes = 77;
    if (i == 6) change_columns(&x);
    EXPECT(cusparseSDDMM_bufferSize(SAMPLED, &bytes) == CUSPARSE_STATUS_SUCCESS, "bufferSize");
    if (i == 0) first = bytes, buffer = bytes ? room_for((int64_t)bytes, 1) : NULL;
    EXPECT(bytes == first && (bytes <= 1024) == brief, "call %d: %zu bytes", i, bytes);
    EXPECT(cusparseSDDMM_preprocess(SAMPLED, buffer) == CUSPARSE_STATUS_SUCCESS, "preprocess");
    to.c.values = want;
    EXPECT(shunt_csr_sddmm_host(&to) == SHUNT_OK, "the twin computes");
    EXPECT(cusparseSDDMM(SAMPLED, buffer) == CUSPARSE_STATUS_SUCCESS, "the call succeeds");
    EXPECT(memcmp(want, x.a.values, sizeof want) == 0, "call %d is right", i);
  }
  free(buffer);
  cusparseDestroyDnMat(a);
  cusparseDestroyDnMat(b);
  drop(&x);
}
static void sampled_briefly(void)
{
  sampled_each_time(16, true);
  EXPECT(library.products == 0 && traced('s'), "all are taken, not \"%s\"", device.trace);
}
/* The original's launch is as short, and the host's time is what counts. */
static void sampled_by_the_original(void)
{
  sampled_each_time(16, true);
  EXPECT(library.products == 12 && !traced('s'), "none is taken, not \"%s\"", device.trace);
}
static void sampled_at_length(void)
{
  sampled_each_time(20000, false);
}

/* ---- other formats of A --------------------------------------------------------------------- */

/* COO whose rows are those of x->a. */
static void by_coordinates(void)
{
  struct product x = small;
  make(&x);
  int32_t *rows = room_for(x.a.nnz, sizeof *rows);
  for (int64_t i = 0; i < x.a.nnz; i++) rows[i] = (int32_t)(i / x.each);
  cusparseDestroySpMat(x.sparse);
  cusparseCreateCoo(&x.sparse, x.m, x.k, x.a.nnz, rows, (void *)(uintptr_t)x.a.columns, x.a.values,
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, x.type);
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  some_calls(&x, 8);
  change_columns(&x);
  some_calls(&x, 8);
  EXPECT(cusparseCooSetPointers(x.sparse, rows, (void *)(uintptr_t)x.a.columns, x.a.values) ==
             CUSPARSE_STATUS_SUCCESS,
         "SetPointers succeeds");
  some_calls(&x, 2);
  EXPECT(library.products == 0 && traced('o'), "all are taken, not \"%s\"", device.trace);
  drop(&x);
  free(rows);
}

/* CSC: the columns of A stand where rows did, so x->a is its transpose. */
static void by_columns(void)
{
  struct product x = {.m = 32, .k = 32, .n = 16, .each = 8};
  make(&x);
  const cusparseIndexType_t index = CUSPARSE_INDEX_32I;
  cusparseDestroySpMat(x.sparse);
  cusparseCreateCsc(&x.sparse, x.m, x.k, x.a.nnz, (void *)(uintptr_t)x.a.row_offsets,
                    (void *)(uintptr_t)x.a.columns, x.a.values, index, index,
                    CUSPARSE_INDEX_BASE_ZERO, x.type);
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  for (int i = 0; i < 12; i++) {
    const struct shunt_spmm p = {.a = x.a,
                                 .b = {x.k, x.n, x.n, 1, x.b, x.t},
                                 .c = {x.m, x.n, x.n, 1, x.want, x.t_out},
                                 .alpha = {.host = 1},
                                 .compute = SHUNT_F32};
    if (i == 6) change_values(&x);
    EXPECT(shunt_csr_spmm_transposed_host(&p) == SHUNT_OK, "the twin computes");
    EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS && is_right(&x), "call %d is right", i);
  }
  EXPECT(cusparseCscSetPointers(x.sparse, (void *)(uintptr_t)x.a.row_offsets,
                                (void *)(uintptr_t)x.a.columns,
                                x.a.values) == CUSPARSE_STATUS_SUCCESS,
         "SetPointers succeeds");
  EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS && is_right(&x), "the last call is right");
  drop(&x);
}

static float value_of(const void *array, shunt_type t, int64_t i)
{
  return t == SHUNT_I8 ? ((const int8_t *)array)[i] : ((const float *)array)[i];
}

/* Blocks of 2 x 2 along x->a's diagonal, all ones: C is sums of two rows of B. */
static void in_blocks_of(int kind)
{
  enum { BLOCKS = 8, SIZE = 2 };
  struct product x = {.m = 16, .k = 16, .n = 16, .each = 2};
  int32_t offsets[BLOCKS + 1], columns[BLOCKS];
  x.kind = kind;
  make(&x);
  for (int i = 0; i <= BLOCKS; i++) offsets[i] = i;
  for (int i = 0; i < BLOCKS; i++) columns[i] = i;
  for (int64_t i = 0; i < x.a.nnz; i++) store(x.a.values, x.t, i, 1);
  cusparseDestroySpMat(x.sparse);
  EXPECT(cusparseCreateBsr(&x.sparse, BLOCKS, BLOCKS, BLOCKS, SIZE, SIZE, offsets, columns,
                           x.a.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, x.type,
                           CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_SUCCESS,
         "CreateBsr succeeds");
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  for (int call = 0; call < 4; call++) {
    for (int64_t i = 0; i < x.m * x.n; i++) {
      const int64_t row = i / x.n / SIZE * SIZE, col = i % x.n;
      store(x.want, x.t_out, i,
            value_of(x.b, x.t, row * x.n + col) + value_of(x.b, x.t, (row + 1) * x.n + col));
    }
    EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS && is_right(&x), "call %d is right", call);
  }
  EXPECT(traced('k') && library.products == 0, "blocks are taken, not \"%s\"", device.trace);
  drop(&x);
}

static void in_blocks(void)
{
  in_blocks_of(SINGLES);
}
static void in_blocks_of_integers(void)
{
  in_blocks_of(BYTES);
}

/* ---- what is set, and what options add ------------------------------------------------------ */

static void other_values(void)
{
  struct product x = small;
  make(&x);
  some_calls(&x, 20);
  void *old = x.a.values;
  x.a.values = room_for(x.a.nnz, sizeof(uint16_t));
  change_values(&x);
  EXPECT(cusparseSpMatSetValues(x.sparse, x.a.values) == CUSPARSE_STATUS_SUCCESS, "SetValues");
  some_calls(&x, 20);
  EXPECT(traced('w'), "it is packed");
  free(old);
  drop(&x);
}

/* preprocess times each way, and leaves C as it was. */
static void tuned(void)
{
  struct product x = small;
  make(&x);
  fill(x.c, x.t_out, x.m * x.n);
  memcpy(x.want, x.c, bytes_of_c(&x));
  scale(&x, 1, 1); /* C's content counts */
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  EXPECT(is_right(&x), "preprocess leaves C as it was");
  EXPECT(device.waited > 0, "something was timed");
  some_calls(&x, 12);
  drop(&x);
}

/* With a report.  Whether calls are measured against the original is the clock's to say. */
static struct product of_report;
static void reported(void)
{
  struct product x = of_report;
  make(&x);
  some_calls(&x, 100);
  drop(&x);
}
/* What the report of `route` says. */
static const char *report_of(const char *route, const struct product *x, const char *path)
{
  static char text[4096];
  const struct setting with[] = {
      {"SHUNT_ROUTES", route}, {"SHUNT_MEASURE", "1"}, {"SHUNT_REPORT", path}, {NULL, NULL}};
  unlink(path);
  of_report = *x;
  check_case("with a report", with, reported);
  FILE *f = fopen(path, "r");
  size_t n = 0;
  if (f) {
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
  }
  text[n] = 0;
  unlink(path);
  return text;
}
static void reports(const char *path)
{
  const char *text = report_of("vector", &small, path);
  check(strstr(text, "cusparseSpMM\tvector") && strstr(text, "# upkeep\tconversions=1\t") &&
            strstr(text, "# matrix\trows=16\tcols=32\tnnz=128"),
        "the report has the calls, the copy and the matrix");
  check(strstr(text, "\tdensest=1\tdensity=") != NULL, "and its picture");
  check(strstr(text, "\tproofs=") && !strstr(text, "\tproofs=0\t"), "and the proofs");
  const struct product hinted = {.m = 61, .k = 50, .n = 8, .each = 7, .kind = SINGLES};
  text = report_of("sorted", &hinted, path);
  check(strstr(text, "cusparseSpMM\tsorted") && strstr(text, "\tproofs=0\t"),
        "a hint has no proofs");
}

/* Once it was met unchanged often enough, and proved, no proof runs any more. */
static void trusted(void)
{
  struct product x = small;
  make(&x);
  some_calls(&x, 400);
  forget_trace();
  some_calls(&x, 40);
  const char *last = strrchr(device.trace, 'w');
  int proofs = 0;
  for (const char *t = device.trace; *t; t++) proofs += *t == 'g';
  EXPECT(last && proofs < 10, "copies are trusted, not \"%s\"", device.trace);
  drop(&x);
}

/* cuSPARSE refuses to compute in halves: with SHUNT_EXTEND=1 Shunt answers. */
static void extended(void)
{
  struct product x = small;
  make(&x);
  library.refuses = true;
  x.compute = CUDA_R_16F;
  x.scale.h = shunt_float_to_half(1), x.add.h = 0;
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize answers");
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess answers");
  some_calls(&x, 12);
  EXPECT(library.products == 0, "no product reaches the original");
  EXPECT(cusparseSpMM(OF(&x), NULL) == CUSPARSE_STATUS_NOT_SUPPORTED,
         "without a buffer the original's answer stands");
  drop(&x);
}

/* It refuses SDDMM of int8, too. */
static void extended_integers(void)
{
  struct product x = small;
  cusparseDnMatDescr_t a, b;
  size_t bytes = 0;
  int32_t alpha = 2, beta = -1, values[16 * 8], want[16 * 8];
  x.kind = BYTES;
  make(&x);
  library.refuses = true;
  fill(x.c, SHUNT_I8, x.m * x.n);
  fill(values, SHUNT_I32, x.a.nnz);
  cusparseDestroySpMat(x.sparse);
  cusparseCreateCsr(&x.sparse, x.m, x.k, x.a.nnz, (void *)(uintptr_t)x.a.row_offsets,
                    (void *)(uintptr_t)x.a.columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32I);
  cusparseCreateDnMat(&a, x.m, x.n, x.n, x.c, CUDA_R_8I, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&b, x.n, x.k, x.n, x.b, CUDA_R_8I, CUSPARSE_ORDER_COL);
#define SAMPLED_BYTES                                                                              \
  x.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, b,      \
      &beta, x.sparse, CUDA_R_32I, CUSPARSE_SDDMM_ALG_DEFAULT
  EXPECT(cusparseSDDMM_bufferSize(SAMPLED_BYTES, &bytes) == CUSPARSE_STATUS_SUCCESS && bytes > 0,
         "bufferSize answers");
  void *buffer = room_for((int64_t)bytes, 1);
  EXPECT(cusparseSDDMM_preprocess(SAMPLED_BYTES, buffer) == CUSPARSE_STATUS_SUCCESS,
         "preprocess answers");
  for (int i = 0; i < 6; i++) {
    struct shunt_sddmm to = {.a = {x.m, x.n, x.n, 1, x.c, SHUNT_I8},
                             .b = {x.n, x.k, 1, x.n, x.b, SHUNT_I8},
                             .c = x.a,
                             .alpha = {.host = alpha},
                             .beta = {.host = beta},
                             .compute = SHUNT_I32};
    fill(x.c, SHUNT_I8, x.m * x.n);
    memcpy(want, values, sizeof want);
    to.c.values = want, to.c.value_type = SHUNT_I32;
    EXPECT(shunt_csr_sddmm_host(&to) == SHUNT_OK, "the twin computes");
    EXPECT(cusparseSDDMM(SAMPLED_BYTES, buffer) == CUSPARSE_STATUS_SUCCESS, "call %d succeeds", i);
    EXPECT(memcmp(want, values, sizeof want) == 0, "call %d is right", i);
  }
  EXPECT(library.products == 0, "no product reaches the original");
  EXPECT(cusparseSDDMM(SAMPLED_BYTES, NULL) == CUSPARSE_STATUS_NOT_SUPPORTED,
         "without a buffer the original's answer stands");
  free(buffer);
  cusparseDestroyDnMat(a);
  cusparseDestroyDnMat(b);
  drop(&x);
}

int main(void)
{
  static const struct setting csr[] = {{"SHUNT_ROUTES", "csr"}, {NULL, NULL}};
  static const struct setting blocks[] = {{"SHUNT_ROUTES", "bsr"}, {NULL, NULL}};
  static const struct setting vector[] = {{"SHUNT_ROUTES", "vector"}, {NULL, NULL}};
  static const struct setting tune[] = {
      {"SHUNT_ROUTES", "vector,csr"}, {"SHUNT_TUNE", "1"}, {NULL, NULL}};
  static const struct setting frozen[] = {
      {"SHUNT_ROUTES", "vector"}, {"SHUNT_ASSUME", "frozen"}, {NULL, NULL}};
  static const struct setting extend[] = {{"SHUNT_EXTEND", "1"}, {NULL, NULL}};
  char path[64];
  snprintf(path, sizeof path, "/tmp/test_way_calls.%ld", (long)getpid());
  check_case("SDDMM", csr, sampled);
  check_case("SDDMM as PyTorch calls it, short", csr, sampled_briefly);
  check_case("SDDMM so short that it is left", NULL, sampled_by_the_original);
  check_case("SDDMM as PyTorch calls it, long", NULL, sampled_at_length);
  check_case("COO", csr, by_coordinates);
  check_case("CSC", vector, by_columns);
  check_case("blocks", blocks, in_blocks);
  check_case("blocks of int8", blocks, in_blocks_of_integers);
  check_case("other values", vector, other_values);
  check_case("tuned", tune, tuned);
  reports(path);
  check_case("trusted", frozen, trusted);
  check_case("extended", extend, extended);
  check_case("extended, SDDMM of int8", extend, extended_integers);
  return check_finish();
}
