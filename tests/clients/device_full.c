/* device_full.c: a program that needs all of the device's memory, while its products go on.

     device_full [malloc | async | driver] [LAYERS]

   LAYERS (48) layers of fp16, 4096 x 4096, 80 % zero, are multiplied in turn, so that what makes
   them faster is in place.  Then, by cudaMalloc, by cudaMallocAsync, or by cuMemCreate:

     largest   what one allocation can have at most, by bisection; products between all tries
     full      1 GB after the other, a product after each, then smaller pieces down to 2 MB; a whole
               pass while nothing is left
     after     all of that is freed: a pass is right
     freed     the layers are, too: the device has what it had before them

   No product may fail or be wrong.  "value largest_mb=" and "value total_mb=" are for comparing a
   run with Shunt with one without (report.py --compare).  */
#include <cuda.h>
#include <dlfcn.h>

#include "common.h"

enum { SIDE = 4096, WIDTH = 64, MOST_LAYERS = 512, MOST_PIECES = 1 << 14 };
static const size_t PIECE = (size_t)2 << 20, LARGE_PIECE = (size_t)1 << 30;
static const int64_t FREED_SLACK = (int64_t)64 << 20;

struct layer {
  int32_t *offsets, *columns;
  void *values;
};

static struct {
  int layers;
  int64_t nnz;
  int32_t *offsets, *columns; /* host; all layers have one pattern */
  uint16_t *values, *b, *c;
  struct layer layer[MOST_LAYERS];
  void *d_b, *d_c, *workspace;
  size_t room;
  cudaStream_t stream;
  cusparseHandle_t handle;
  int64_t failed, wrong, calls;
} all;

/* ---- layers ------------------------------------------------------------------------------- */

static void *take(size_t bytes)
{
  void *p = malloc(bytes);
  if (!p) exit(2);
  return p;
}

static void make_numbers(void)
{
  uint64_t seed = 17;
  all.offsets = take((SIDE + 1) * 4);
  all.columns = take((size_t)SIDE * SIDE * 4);
  for (int i = 0; i < SIDE; i++) {
    all.offsets[i] = (int32_t)all.nnz;
    for (int j = 0; j < SIDE; j++)
      if (random_uniform(&seed) < 0.2) all.columns[all.nnz++] = j;
  }
  all.offsets[SIDE] = (int32_t)all.nnz;
  all.values = take((size_t)all.nnz * 2);
  all.b = take((size_t)SIDE * WIDTH * 2);
  all.c = take((size_t)SIDE * WIDTH * 2);
  for (int64_t i = 0; i < all.nnz; i++)
    type_store(all.values, i, CUDA_R_16F, 2 * random_uniform(&seed) - 1);
  for (int64_t i = 0; i < SIDE * WIDTH; i++)
    type_store(all.b, i, CUDA_R_16F, 2 * random_uniform(&seed) - 1);
}

static void make_layers(void)
{
  for (int i = 0; i < all.layers; i++) {
    all.layer[i].offsets = to_device(all.offsets, (SIDE + 1) * 4);
    all.layer[i].columns = to_device(all.columns, (size_t)all.nnz * 4);
    all.layer[i].values = to_device(all.values, (size_t)all.nnz * 2);
  }
  CUDA_OK(cudaDeviceSynchronize());
}

static void free_layers(void)
{
  for (int i = 0; i < all.layers; i++) {
    CUDA_OK(cudaFree(all.layer[i].offsets));
    CUDA_OK(cudaFree(all.layer[i].columns));
    CUDA_OK(cudaFree(all.layer[i].values));
  }
}

/* A workspace for all; it is there, and large enough, before the device gets full. */
static cusparseStatus_t multiply(const struct layer *l)
{
  const float one = 1, zero = 0;
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  size_t bytes = 0;
  SPARSE_OK(cusparseCreateCsr(&a, SIDE, SIDE, all.nnz, l->offsets, l->columns, l->values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              CUDA_R_16F));
  SPARSE_OK(cusparseCreateDnMat(&b, SIDE, WIDTH, WIDTH, all.d_b, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&c, SIDE, WIDTH, WIDTH, all.d_c, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  cusparseStatus_t s = cusparseSpMM_bufferSize(all.handle, plain, plain, &one, a, b, &zero, c,
                                               CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
  if (s == CUSPARSE_STATUS_SUCCESS && bytes > all.room) {
    CUDA_OK(cudaFree(all.workspace));
    all.workspace = NULL;
    all.room = 0;
    if (cudaMalloc(&all.workspace, bytes) == cudaSuccess)
      all.room = bytes;
    else
      s = CUSPARSE_STATUS_ALLOC_FAILED;
  }
  if (s == CUSPARSE_STATUS_SUCCESS)
    s = cusparseSpMM(all.handle, plain, plain, &one, a, b, &zero, c, CUDA_R_32F,
                     CUSPARSE_SPMM_ALG_DEFAULT, all.workspace);
  SPARSE_OK(cusparseDestroySpMat(a));
  SPARSE_OK(cusparseDestroyDnMat(b));
  SPARSE_OK(cusparseDestroyDnMat(c));
  return s;
}

static int64_t count_wrong(void)
{
  int64_t wrong = 0;
  CUDA_OK(cudaMemcpyAsync(all.c, all.d_c, (size_t)SIDE * WIDTH * 2, cudaMemcpyDeviceToHost,
                          all.stream));
  CUDA_OK(cudaStreamSynchronize(all.stream));
  for (int i = 0; i < SIDE; i += 331)
    for (int j = 0; j < WIDTH; j += 7) {
      double sum = 0, scale = 0;
      for (int32_t q = all.offsets[i]; q < all.offsets[i + 1]; q++) {
        double v = type_load(all.values, q, CUDA_R_16F) *
                   type_load(all.b, (int64_t)all.columns[q] * WIDTH + j, CUDA_R_16F);
        sum += v;
        scale += fabs(v);
      }
      double limit = type_tolerance(CUDA_R_16F, CUDA_R_32F, scale, sum, SIDE);
      double error = fabs(type_load(all.c, (int64_t)i * WIDTH + j, CUDA_R_16F) - sum);
      if (!(error <= 2 * limit + type_rough(CUDA_R_16F) * scale)) wrong++;
    }
  return wrong;
}

/* One layer; the next one in turn. */
static void step(void)
{
  CUDA_OK(cudaMemsetAsync(all.d_c, 0xff, (size_t)SIDE * WIDTH * 2, all.stream));
  if (multiply(&all.layer[all.calls++ % all.layers]) != CUSPARSE_STATUS_SUCCESS)
    all.failed++;
  else
    all.wrong += count_wrong();
}

static void passes(int count)
{
  for (int i = 0; i < count * all.layers; i++) step();
}

/* ---- memory of the program ---------------------------------------------------------------- */

static int64_t in_use(void)
{
  size_t available, total;
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemGetInfo(&available, &total));
  return (int64_t)(total - available);
}

struct piece {
  void *memory;
  CUmemGenericAllocationHandle handle;
};
struct allocator {
  const char *name;
  int (*allocate)(struct piece *, size_t bytes); /* whether it did */
  void (*release)(struct piece *);
};

static int by_malloc(struct piece *p, size_t bytes)
{
  const int good = cudaMalloc(&p->memory, bytes) == cudaSuccess;
  if (!good) cudaGetLastError();
  return good;
}

static void free_malloced(struct piece *p)
{
  CUDA_OK(cudaFree(p->memory));
}

static int by_async(struct piece *p, size_t bytes)
{
  const int good = cudaMallocAsync(&p->memory, bytes, all.stream) == cudaSuccess;
  if (!good) cudaGetLastError();
  return good;
}

static void free_async(struct piece *p)
{
  CUDA_OK(cudaFreeAsync(p->memory, all.stream));
  CUDA_OK(cudaStreamSynchronize(all.stream));
}

/* Looked up by name where a preloaded library comes first. */
static CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                          unsigned long long);
static CUresult (*release)(CUmemGenericAllocationHandle);

static int find_driver(void)
{
  if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) return 0;
  *(void **)&create = dlsym(RTLD_DEFAULT, "cuMemCreate");
  *(void **)&release = dlsym(RTLD_DEFAULT, "cuMemRelease");
  return create && release;
}

static int by_driver(struct piece *p, size_t bytes)
{
  const CUmemAllocationProp prop = {
      .type = CU_MEM_ALLOCATION_TYPE_PINNED,
      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
  };
  return create(&p->handle, bytes, &prop, 0) == CUDA_SUCCESS;
}

static void free_driven(struct piece *p)
{
  if (release(p->handle) != CUDA_SUCCESS) all.failed++;
}

static const struct allocator allocators[] = {
    {"malloc", by_malloc, free_malloced},
    {"async", by_async, free_async},
    {"driver", by_driver, free_driven},
};

/* Bytes, to PIECE. */
static size_t largest(const struct allocator *a)
{
  size_t free_bytes, total, low = 0, high;
  CUDA_OK(cudaMemGetInfo(&free_bytes, &total));
  high = total / PIECE + 1; /* of which the device has not so many */
  while (high - low > 1) {
    struct piece p;
    const size_t middle = low + (high - low) / 2;
    if (a->allocate(&p, middle * PIECE)) {
      low = middle;
      step();
      a->release(&p);
    } else {
      high = middle;
    }
    step();
  }
  return low * PIECE;
}

static size_t fill_up(const struct allocator *a, struct piece *pieces, int *count)
{
  size_t total = 0, bytes = LARGE_PIECE;
  *count = 0;
  while (bytes >= PIECE && *count < MOST_PIECES) {
    if (a->allocate(&pieces[*count], bytes)) {
      total += bytes;
      ++*count;
    } else {
      bytes /= 2;
    }
    if (bytes >= (size_t)64 << 20) step();
  }
  return total;
}

static void expect(const char *when)
{
  check(all.failed == 0 && all.wrong == 0, "%s: %lld products failed, %lld elements wrong", when,
        (long long)all.failed, (long long)all.wrong);
  all.failed = all.wrong = 0;
}

static void run(const struct allocator *a)
{
  static struct piece pieces[MOST_PIECES];
  int count;
  passes(6);
  expect("before");
  const size_t most = largest(a);
  expect("beside the largest allocation");
  passes(6);
  const size_t total = fill_up(a, pieces, &count);
  passes(1);
  expect("while the device is full");
  for (int i = 0; i < count; i++) a->release(&pieces[i]);
  passes(6);
  expect("after it");
  printf("value largest_mb=%zu\nvalue total_mb=%zu\n", most >> 20, total >> 20);
  check(most > 0 && total > 0, "by %s: %zu MB in one piece, %zu MB in %d", a->name, most >> 20,
        total >> 20, count);
}

/* ---- the program -------------------------------------------------------------------------- */

/* All kernels that the layers need are loaded, and the workspace has its size. */
static int64_t warm_up(void)
{
  const int layers = all.layers;
  all.layers = 1;
  make_layers();
  passes(24);
  free_layers();
  all.layers = layers;
  expect("warming up");
  return in_use();
}

int main(int argc, char **argv)
{
  const struct allocator *a = &allocators[0];
  all.layers = 48;
  for (int i = 1; i < argc; i++) {
    const struct allocator *named = NULL;
    for (size_t k = 0; k < sizeof allocators / sizeof *allocators; k++)
      if (strcmp(argv[i], allocators[k].name) == 0) named = &allocators[k];
    if (named)
      a = named;
    else
      all.layers = atoi(argv[i]);
  }
  if (all.layers < 1 || all.layers > MOST_LAYERS) return 2;
  make_numbers();
  CUDA_OK(cudaStreamCreateWithFlags(&all.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&all.handle));
  SPARSE_OK(cusparseSetStream(all.handle, all.stream));
  all.d_b = to_device(all.b, (size_t)SIDE * WIDTH * 2);
  CUDA_OK(cudaMalloc(&all.d_c, (size_t)SIDE * WIDTH * 2));
  if (a->allocate == by_driver && !find_driver()) {
    skip("no cuMemCreate");
    return finish();
  }
  const int64_t before = warm_up();
  make_layers();
  run(a);
  free_layers();
  const int64_t left = in_use() - before;
  check(left <= FREED_SLACK, "the layers are freed: %.1f MB of the device are still in use",
        (double)left / (1 << 20));
  SPARSE_OK(cusparseDestroy(all.handle));
  return finish();
}
