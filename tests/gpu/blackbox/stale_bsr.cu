// stale_bsr.cu: no product of a matrix in blocks is ever computed from what it used to be.
//
//   stale_bsr [STEPS [SEED]]
//
// What no getter tells of BSR is noted where it is made (backend/cusparse/bsr.h); so this program
// makes and destroys descriptors as badly as it may.  Each of six slots holds a BSR or Blocked-ELL
// matrix; every step picks one and changes its values or its pattern in place, its sizes, type or
// format, lets another slot's addresses be its own, hands it other values by
// cusparseSpMatSetValues, or nothing, and multiplies through the old descriptor or a fresh one (the
// allocator is quick to give the address of the last), plainly or by a captured graph that is
// replayed after another change of the values.  Every result is compared with float64.
#include <algorithm>
#include <vector>

#include "tests/clients/common.h"

static uint64_t rng;
static int64_t below(int64_t n)
{
  return random_below(&rng, n);
}
static bool chance(double p)
{
  return random_uniform(&rng) < p;
}

enum { SLOTS = 6, MOST_DOWN = 6, MOST_ACROSS = 7, MOST_SIZE = 32, MOST_N = 70 };
enum : size_t {
  MOST_BLOCKS = MOST_DOWN * MOST_ACROSS,
  MOST_VALUES = MOST_BLOCKS * MOST_SIZE * MOST_SIZE,
  MOST_DENSE = (size_t)MOST_ACROSS * MOST_SIZE * MOST_N
};

struct Memory {
  void *offsets, *columns, *values, *other_values, *b, *c;
};

struct Slot {
  Memory memory;
  bool ell, spare; // spare: the values stand in other_values
  cudaDataType type;
  int64_t down, across, size, n, wide;
  std::vector<int> offsets, columns;
  std::vector<double> values, b; // as stored
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t db, dc;
};

static Slot slots[SLOTS];
static cusparseHandle_t handle;
static cudaStream_t stream;
static void *buffer;
static size_t buffer_bytes;
static const float one = 1, none = 0;
static const double one_double = 1, none_double = 0;

// ---- a matrix ------------------------------------------------------------------------

static void *values_of(const Slot &s)
{
  return s.spare ? s.memory.other_values : s.memory.values;
}

static std::vector<double> put_numbers(void *to, size_t count, cudaDataType type)
{
  std::vector<char> bytes(count * type_size(type) + 8);
  std::vector<double> stored(count);
  for (size_t i = 0; i < count; i++) {
    type_store(bytes.data(), (int64_t)i, type, 2 * random_uniform(&rng) - 1);
    stored[i] = type_load(bytes.data(), (int64_t)i, type);
  }
  CUDA_OK(
      cudaMemcpyAsync(to, bytes.data(), count * type_size(type), cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  return stored;
}

static void put_indices(void *to, const std::vector<int> &from)
{
  CUDA_OK(
      cudaMemcpyAsync(to, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
}

static size_t stored_blocks(const Slot &s)
{
  return s.columns.size();
}

static void fill_values(Slot &s)
{
  s.values = put_numbers(values_of(s), stored_blocks(s) * (size_t)(s.size * s.size), s.type);
}

// Another pattern; `keep`: with as many blocks.
static void draw_pattern(Slot &s, bool keep)
{
  const size_t before = stored_blocks(s);
  s.offsets.assign(1, 0);
  if (!keep) s.columns.clear();
  for (int64_t i = 0; i < s.down; i++) {
    for (int64_t j = 0; !keep && j < (s.ell ? s.wide : s.across); j++)
      if (s.ell || chance(0.5)) s.columns.push_back(0);
    s.offsets.push_back(keep ? (int)((i + 1) * (int64_t)before / s.down) : (int)s.columns.size());
  }
  if (s.columns.empty()) s.columns.push_back(0), s.offsets.back() = 1;
  for (int &c : s.columns) c = (int)below(s.across);
  put_indices(s.memory.offsets, s.offsets);
  put_indices(s.memory.columns, s.columns);
}

static void destroy(Slot &s)
{
  if (s.a) SPARSE_OK(cusparseDestroySpMat(s.a));
  if (s.db) SPARSE_OK(cusparseDestroyDnMat(s.db));
  if (s.dc) SPARSE_OK(cusparseDestroyDnMat(s.dc));
  s.a = NULL, s.db = s.dc = NULL;
}

static void draw_matrix(Slot &s)
{
  static const int64_t sizes[] = {2, 4, 4, 8, 8, 8, 16, 16, 32, 3};
  static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
  destroy(s);
  s.ell = chance(0.4), s.spare = false;
  s.type = types[below(5)];
  s.size = sizes[below(10)];
  s.down = 1 + below(MOST_DOWN), s.across = 1 + below(MOST_ACROSS);
  s.wide = 1 + below(s.across);
  s.n = 1 + below(MOST_N);
  draw_pattern(s, false);
  fill_values(s);
  s.b = put_numbers(s.memory.b, (size_t)(s.across * s.size * s.n), s.type);
}

static void describe(Slot &s)
{
  const int64_t rows = s.down * s.size, cols = s.across * s.size;
  if (s.ell)
    SPARSE_OK(cusparseCreateBlockedEll(&s.a, rows, cols, s.size, s.wide * s.size, s.memory.columns,
                                       values_of(s), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                       s.type));
  else if (chance(0.5))
    SPARSE_OK(cusparseCreateBsr(&s.a, s.down, s.across, (int64_t)stored_blocks(s), s.size, s.size,
                                s.memory.offsets, s.memory.columns, values_of(s),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                s.type, CUSPARSE_ORDER_ROW));
  else
    SPARSE_OK(cusparseCreateConstBsr(
        (cusparseConstSpMatDescr_t *)&s.a, s.down, s.across, (int64_t)stored_blocks(s), s.size,
        s.size, s.memory.offsets, s.memory.columns, values_of(s), CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s.type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&s.db, cols, s.n, s.n, s.memory.b, s.type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&s.dc, rows, s.n, s.n, s.memory.c, s.type, CUSPARSE_ORDER_ROW));
}

// ---- changes -------------------------------------------------------------------------

static const char *change(Slot &s)
{
  const int64_t u = below(100);
  if (u < 25) {
    fill_values(s);
    return "values";
  }
  if (u < 45) {
    draw_pattern(s, !s.ell || chance(0.5));
    return "pattern";
  }
  if (u < 60) {
    draw_matrix(s);
    return "another matrix";
  }
  if (u < 75) { // its arrays for another's, which holds another matrix there from now on
    Slot &other = slots[below(SLOTS)];
    std::swap(s.memory, other.memory);
    if (&s == &other) return "nothing";
    draw_matrix(other);
    draw_matrix(s);
    return "addresses";
  }
  if (u < 85) {
    s.spare = !s.spare;
    fill_values(s);
    if (s.a) SPARSE_OK(cusparseSpMatSetValues(s.a, values_of(s)));
    return "values by the setter";
  }
  if (u < 92) {
    destroy(s);
    return "descriptor";
  }
  return "nothing";
}

// ---- a product -------------------------------------------------------------------------

static cusparseStatus_t multiply(const Slot &s)
{
  const bool f64 = s.type == CUDA_R_64F;
  const void *alpha = f64 ? (const void *)&one_double : &one;
  const void *beta = f64 ? (const void *)&none_double : &none;
  const cudaDataType compute = f64 ? CUDA_R_64F : CUDA_R_32F;
  const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t bytes = 0;
  cusparseStatus_t status = cusparseSpMM_bufferSize(handle, op, op, alpha, s.a, s.db, beta, s.dc,
                                                    compute, CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  if (bytes > buffer_bytes) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  return cusparseSpMM(handle, op, op, alpha, s.a, s.db, beta, s.dc, compute,
                      CUSPARSE_SPMM_ALG_DEFAULT, buffer);
}

static void poison(const Slot &s)
{
  CUDA_OK(cudaMemsetAsync(s.memory.c, 0xff, MOST_DENSE * 8, stream));
}

static bool is_right(const Slot &s)
{
  const int64_t rows = s.down * s.size, n = s.n, size = s.size;
  std::vector<char> got((size_t)(rows * n) * type_size(s.type));
  std::vector<double> sum((size_t)n), scale((size_t)n);
  // Enough to tell one matrix from another; the f32 of the original in Blocked-ELL is further off
  // than a sum in f32 may be (seen).
  const double eps = type_size(s.type) == 8 ? 1e-12 : 1e-2;
  CUDA_OK(cudaMemcpyAsync(got.data(), s.memory.c, got.size(), cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  for (int64_t i = 0; i < rows; i++) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(scale.begin(), scale.end(), 0.0);
    const int64_t r = i / size, in = i % size;
    const int64_t from = s.ell ? r * s.wide : s.offsets[(size_t)r];
    const int64_t to = s.ell ? from + s.wide : s.offsets[(size_t)r + 1];
    for (int64_t q = from; q < to; q++)
      for (int64_t e = 0; e < size; e++) {
        const int64_t at = s.ell ? (i * s.wide + q - from) * size + e : (q * size + in) * size + e;
        const double *row = &s.b[(size_t)((s.columns[(size_t)q] * size + e) * n)];
        const double v = s.values[(size_t)at];
        for (int64_t j = 0; j < n; j++)
          sum[(size_t)j] += v * row[j], scale[(size_t)j] += fabs(v * row[j]);
      }
    for (int64_t j = 0; j < n; j++) {
      const double x = type_load(got.data(), i * n + j, s.type);
      if (!(fabs(x - sum[(size_t)j]) <= eps * (1e-3 + scale[(size_t)j]))) return false;
    }
  }
  return true;
}

// By a graph, whose replays see what A has become.
static bool replays_right(Slot &s)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  bool good = true;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const cusparseStatus_t status = multiply(s);
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; status == CUSPARSE_STATUS_SUCCESS && good && i < 2; i++) {
    if (i) draw_pattern(s, true), fill_values(s);
    poison(s);
    CUDA_OK(cudaGraphLaunch(exec, stream));
    good = is_right(s);
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  return good && status == CUSPARSE_STATUS_SUCCESS;
}

static bool step(Slot &s, const char **changed)
{
  *changed = change(s);
  if (chance(0.3)) destroy(s);
  if (!s.a) describe(s);
  if (chance(0.1)) return replays_right(s);
  poison(s);
  return multiply(s) == CUSPARSE_STATUS_SUCCESS && is_right(s);
}

int main(int argc, char **argv)
{
  const long steps = argc > 1 ? atol(argv[1]) : 3000;
  long wrong = 0;
  rng = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  buffer_bytes = 16u << 20;
  CUDA_OK(cudaMalloc(&buffer, buffer_bytes));
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&handle));
  SPARSE_OK(cusparseSetStream(handle, stream));
  for (Slot &s : slots) {
    CUDA_OK(cudaMalloc(&s.memory.offsets, (MOST_DOWN + 1) * sizeof(int)));
    CUDA_OK(cudaMalloc(&s.memory.columns, MOST_BLOCKS * sizeof(int)));
    CUDA_OK(cudaMalloc(&s.memory.values, MOST_VALUES * 8));
    CUDA_OK(cudaMalloc(&s.memory.other_values, MOST_VALUES * 8));
    CUDA_OK(cudaMalloc(&s.memory.b, MOST_DENSE * 8));
    CUDA_OK(cudaMalloc(&s.memory.c, MOST_DENSE * 8));
    draw_matrix(s);
  }
  for (long i = 0; i < steps && wrong < 5; i++) {
    const char *changed;
    Slot &s = slots[below(SLOTS)];
    if (step(s, &changed)) continue;
    wrong++;
    printf("# step %ld, changed: %s, %s %s, blocks of %d, %d x %d, n %d\n", i, changed,
           s.ell ? "Blocked-ELL" : "BSR", type_text(s.type), (int)s.size, (int)s.down,
           (int)s.across, (int)s.n);
  }
  check(wrong == 0, "%ld steps of changed matrices in blocks", steps);
  return finish();
}
