/* test_entry.c: cuSPARSE's functions as programs call them, between a library and a planner of the
   test's own (entry_world.h): what is handed on and what is taken, whose buffer is whose, and which
   calls are told that a pattern stands.  */
#include "tests/unit/check.h"
#include "tests/unit/cusparse/entry_world.h"

static char arrays[8][64], buffer[2][1 << 16] __attribute__((aligned(256)));
static struct sparse a;
static struct dense b, c;
static cusparseHandle_t handle = (cusparseHandle_t)(void *)arrays;
static const float one = 1, zero = 0;

static cusparseSpMatDescr_t matrix(void)
{
  return (cusparseSpMatDescr_t)(void *)&a;
}
static cusparseDnMatDescr_t of_dense(struct dense *d)
{
  return (cusparseDnMatDescr_t)(void *)d;
}

/* A matrix that nobody has seen, and a planner that takes what it is asked. */
static void begin(void)
{
  memset(&planner, 0, sizeof planner);
  memset(&library, 0, sizeof library);
  planner.takes = planner.whole = true;
  planner.wants = 1000;
  library.wants = 100;
  no_original = false;
  a = (struct sparse){CUSPARSE_FORMAT_CSR, 7, 5, 11, arrays[0], arrays[1], arrays[2], 1};
  b = (struct dense){5, 3, arrays[3], 1, 0};
  c = (struct dense){7, 3, arrays[4], 1, 0};
  cusparseDestroySpMat(matrix());
  library.destroyed = 0;
}

#define SPMM_CALL                                                                                  \
  handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix(),      \
      of_dense(&b), &zero, of_dense(&c), CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT
#define SDDMM_CALL                                                                                 \
  handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, of_dense(&c),  \
      of_dense(&b), &zero, matrix(), CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT

static cusparseStatus_t product(int i)
{
  return cusparseSpMM(SPMM_CALL, buffer[i]);
}
static cusparseStatus_t prepare(int i)
{
  return cusparseSpMM_preprocess(SPMM_CALL, buffer[i]);
}
/* Is the next product told that its pattern is that of a preprocess?  Of which. */
static uint64_t epoch_of(int i)
{
  planner.problem.pattern_epoch = UINT64_MAX;
  product(i);
  return planner.problem.pattern_epoch;
}

/* ---- handed on, or taken ------------------------------------------------------------------ */

static void test_handed_on(void)
{
  size_t bytes = 0;
  begin();
  check(product(0) == OK && planner.runs == 1 && library.multiplied == 0, "a product is taken");
  check(planner.workspace == NULL, "without workspace where bufferSize was not asked");
  planner.takes = false;
  library.status = CUSPARSE_STATUS_EXECUTION_FAILED;
  check(product(0) == CUSPARSE_STATUS_EXECUTION_FAILED && library.multiplied == 1 &&
            library.buffer == buffer[0],
        "one that is declined is the original's, with its status");
  planner.writes = true;
  library.status = OK;
  check(product(0) == CUSPARSE_STATUS_EXECUTION_FAILED && library.multiplied == 1,
        "one that failed after writing is an error, and not run again");
  planner.writes = false;
  check(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                     NULL, matrix(), of_dense(&b), &zero, of_dense(&c), CUDA_R_32F,
                     CUSPARSE_SPMM_ALG_DEFAULT, NULL) == OK &&
            planner.runs == 3 && library.multiplied == 2,
        "what cannot be described is the original's");
  library.status = CUSPARSE_STATUS_INVALID_VALUE;
  check(cusparseSpMM_bufferSize(SPMM_CALL, &bytes) == CUSPARSE_STATUS_INVALID_VALUE &&
            planner.asked == 0,
        "a bufferSize that failed is not added to");
  check(prepare(0) == CUSPARSE_STATUS_INVALID_VALUE && planner.prepared == 0,
        "nor is a preprocess followed");
  no_original = true;
  check(product(0) == CUSPARSE_STATUS_NOT_INITIALIZED, "no library: not initialized");
  no_original = false;
  *shunt_entry_depth() = 1;
  library.status = OK;
  const int runs = planner.runs;
  check(product(0) == OK && planner.runs == runs && *shunt_entry_depth() == 1,
        "a call from inside the original is handed straight on");
  *shunt_entry_depth() = 0;
}

static void test_sddmm(void)
{
  size_t bytes = 0;
  begin();
  a.cols = 3, b = (struct dense){5, 3, arrays[3], 1, 0}, c = (struct dense){7, 5, arrays[4], 1, 0};
  check(cusparseSDDMM_bufferSize(SDDMM_CALL, &bytes) == OK && bytes > 1000 && library.sized == 1,
        "SDDMM: bufferSize has room for both");
  check(cusparseSDDMM(SDDMM_CALL, buffer[0]) == OK && planner.runs == 1 &&
            library.multiplied == 0 && planner.problem.op == SHUNT_SDDMM &&
            planner.workspace_bytes >= 1000,
        "a product is taken, with its workspace");
  check(planner.problem.pattern_epoch == 0, "outside of any epoch");
  check(cusparseSDDMM_preprocess(SDDMM_CALL, buffer[0]) == OK && planner.prepared == 1 &&
            planner.prepared_epoch != 0,
        "preprocess begins one");
  cusparseSDDMM(SDDMM_CALL, buffer[0]);
  check(planner.problem.pattern_epoch == 0, "of which plain products are not told");
  planner.takes = false;
  check(cusparseSDDMM(SDDMM_CALL, buffer[0]) == OK && library.multiplied == 1,
        "one that is declined is the original's");
}

/* ---- the buffer --------------------------------------------------------------------------- */

static void test_buffer(void)
{
  size_t bytes = 0;
  begin();
  b.cols = c.cols = 17; /* a problem of its own */
  cusparseSpMM_bufferSize(SPMM_CALL, &bytes);
  check(bytes >= 1100, "room for both (%zu)", bytes);
  product(0);
  const char *ours = planner.workspace;
  check(ours >= buffer[0] + 100 && ours + planner.workspace_bytes <= buffer[0] + bytes &&
            planner.workspace_bytes >= 1000,
        "Shunt's part lies behind the original's, inside");
  const struct shunt_original second = original;
  original.base = arrays; /* another copy of cuSPARSE */
  product(0);
  check(planner.workspace == NULL, "another library's bufferSize was not asked");
  library.wants = 5000;
  cusparseSpMM_bufferSize(SPMM_CALL, &bytes);
  original = second;
  product(0);
  check(planner.workspace == ours, "and what it wants is no matter to the first");

  b.cols = c.cols = 18;
  library.wants = 100, planner.wants = 300, planner.whole = false;
  cusparseSpMM_bufferSize(SPMM_CALL, &bytes);
  const size_t little = bytes;
  planner.wants = 100000, planner.whole = true;
  cusparseSpMM_bufferSize(SPMM_CALL, &bytes);
  product(0);
  check((const char *)planner.workspace + planner.workspace_bytes <= buffer[0] + little,
        "a buffer from when memory was short is not written behind");
}

/* ---- epochs --------------------------------------------------------------------------------- */

static void test_epochs(void)
{
  begin();
  check(epoch_of(0) == 0, "nothing is promised of a pattern");
  prepare(0);
  const uint64_t first = epoch_of(0);
  check(first != 0 && planner.prepared_epoch == first, "preprocess begins an epoch");
  check(epoch_of(1) == 0, "not for another buffer");
  a.values = arrays[5];
  check(epoch_of(0) == first, "values may change");
  prepare(0);
  check(epoch_of(0) > first, "another preprocess begins another");
  library.status = CUSPARSE_STATUS_EXECUTION_FAILED;
  prepare(0);
  check(epoch_of(0) == 0, "one that fails ends the one before");
  library.status = OK;
  prepare(0);
  cusparseSpMatSetValues(matrix(), arrays[2]);
  check(epoch_of(0) != 0, "setting values does not end it");
  cusparseCsrSetPointers(matrix(), arrays[0], arrays[1], arrays[2]);
  check(epoch_of(0) == 0, "setting arrays does, though they are the same");
  prepare(0);
  cusparseCooSetPointers(matrix(), arrays[0], arrays[1], arrays[2]);
  check(epoch_of(0) == 0, "of COO, too");
  prepare(0);
  cusparseCscSetPointers(matrix(), arrays[0], arrays[1], arrays[2]);
  check(epoch_of(0) == 0, "and of CSC");
  prepare(0);
  cusparseDestroySpMat(matrix());
  check(epoch_of(0) == 0, "a matrix at the address of one that was destroyed has none");
  planner.bound = true;
  prepare(0);
  check(planner.prepared_epoch == 0 && epoch_of(0) == 0, "nor have those bound by handle");
  planner.bound = false;
  prepare(0);
  planner.bound = true;
  check(epoch_of(0) == 0, "whose destruction would not be seen");
  planner.bound = false;
}

/* What a graph preprocesses, and when, nobody knows. */
static void test_captured(void)
{
  begin();
  prepare(0);
  planner.captures = true;
  planner.prepared_epoch = 0;
  prepare(0);
  check(planner.prepared_epoch == 0 && epoch_of(0) == 0,
        "a captured preprocess begins no epoch, and ends the one before");
  planner.captures = false;
  check(epoch_of(0) == 0, "whether or not the graph runs");
  prepare(0);
  check(epoch_of(0) == 0, "nor does a later one, as the graph may run again");
  cusparseCsrSetPointers(matrix(), arrays[0], arrays[1], arrays[2]);
  prepare(0);
  check(epoch_of(0) == 0, "whatever arrays are set");
  cusparseDestroySpMat(matrix());
  c.batches = 2; /* not to be described, and so nobody asks whether it is captured */
  prepare(1);
  c.batches = 1;
  prepare(0);
  check(epoch_of(0) == 0, "one that is not understood counts as captured");
  cusparseDestroySpMat(matrix());
  prepare(0);
  check(epoch_of(0) != 0, "the next matrix has epochs again");
  planner.captures = planner.bound = true;
  prepare(0);
  planner.captures = planner.bound = false;
  prepare(0);
  check(epoch_of(0) == 0, "one that was captured through a handle counts, too");
  cusparseDestroySpMat(matrix());
  prepare(0);
  planner.captures = true;
  check(epoch_of(0) != 0, "which captured products know (product.c proves them all the same)");
  planner.captures = false;
}

/* ---- strides -------------------------------------------------------------------------------- */

static void test_strides(void)
{
  begin();
  b.batches = c.batches = 2, b.stride = 15, c.stride = 21;
  cusparseCsrSetStridedBatch(matrix(), 2, 8, 11);
  check(product(0) == OK && planner.runs == 1 && planner.problem.strides.offsets == 8 &&
            planner.problem.strides.entries == 11,
        "batches: the strides that were set");
  check(planner.problem.cusparse == 127, "the planner knows which cuSPARSE it stands before");
  cusparseCsrSetPointers(matrix(), arrays[5], arrays[6], arrays[7]);
  product(0);
  check(planner.runs == 2 && planner.problem.strides.offsets == 8, "follow the matrix's arrays");
  cusparseSpMatSetValues(matrix(), arrays[2]);
  product(0);
  check(planner.runs == 3 && planner.problem.strides.entries == 11, "and values");
  library.status = CUSPARSE_STATUS_INVALID_VALUE;
  check(cusparseCsrSetStridedBatch(matrix(), 2, 9, 12) == CUSPARSE_STATUS_INVALID_VALUE,
        "a setter that fails");
  library.status = OK;
  product(0);
  check(planner.problem.strides.offsets == 8, "sets nothing");
  cusparseDestroySpMat(matrix());
  check(product(0) == OK && planner.runs == 4 && library.multiplied == 1,
        "another matrix at its address has none: the original's");
  a.format = CUSPARSE_FORMAT_COO;
  cusparseCooSetStridedBatch(matrix(), 2, 11);
  product(0);
  check(planner.runs == 5 && planner.problem.strides.entries == 11, "COO, too");
  check(library.set == 5, "each setter has reached the library once");
}

int main(void)
{
  open_library();
  test_handed_on();
  test_sddmm();
  test_buffer();
  test_epochs();
  test_captured();
  test_strides();
  return check_finish();
}
