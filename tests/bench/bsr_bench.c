/* bsr_bench.c: times cusparseSpMM on random matrices in blocks, 4096 x 4096, as any program
   calls it: run it as it is, and preloaded.

     bsr_bench [TYPES]      of hbsdi: f16, bf16, f32, f64, int8 into int32; hbsd by default

   One line a case: format, type, size of blocks, share of them, columns, and the microseconds of
   a call, the median of 9 replays of a graph of 10 calls; nan: cuSPARSE refuses it.  What is
   computed is tests/gpu/blackbox/parity's to compare.  */
#include <math.h>

#include "tests/clients/common.h"

enum { SIDE = 4096, CALLS = 10, REPLAYS = 9 };

static uint64_t rng = 1;
static cusparseHandle_t handle;
static cudaStream_t stream;

struct matrix {
  int bsr, size;
  int64_t down, wide; /* rows of blocks, blocks in each */
  void *offsets, *columns, *values;
  cusparseSpMatDescr_t descriptor;
};

/* `count` numbers of a type, the same 4096 again and again. */
static void *numbers(int64_t count, cudaDataType type)
{
  const size_t bytes = (size_t)count * type_size(type), some = SIDE * type_size(type);
  const double most = type == CUDA_R_8I ? 100 : 1;
  char *host = malloc(some), *device;
  CUDA_OK(cudaMalloc((void **)&device, bytes + some));
  for (int i = 0; i < SIDE; i++) type_store(host, i, type, most * (2 * random_uniform(&rng) - 1));
  for (size_t at = 0; at < bytes; at += some)
    CUDA_OK(cudaMemcpy(device + at, host, some, cudaMemcpyHostToDevice));
  free(host);
  return device;
}

/* Distinct ascending columns, `wide` of `across`, by selection sampling. */
static void draw_columns(int32_t *to, int64_t wide, int64_t across)
{
  for (int64_t j = 0, left = wide; left > 0; j++)
    if (random_below(&rng, across - j) < left) {
      *to++ = (int32_t)j;
      left--;
    }
}

static void make_matrix(struct matrix *m, cudaDataType type, double share)
{
  const int64_t across = SIDE / m->size;
  m->down = SIDE / m->size;
  m->wide = (int64_t)(share * (double)across + 0.5);
  const int64_t blocks = m->down * m->wide;
  int32_t *columns = malloc((size_t)blocks * 4), *offsets = malloc((size_t)(m->down + 1) * 4);
  for (int64_t i = 0; i < m->down; i++) draw_columns(columns + i * m->wide, m->wide, across);
  for (int64_t i = 0; i <= m->down; i++) offsets[i] = (int32_t)(i * m->wide);
  m->columns = to_device(columns, (size_t)blocks * 4);
  m->offsets = to_device(offsets, (size_t)(m->down + 1) * 4);
  m->values = numbers(blocks * m->size * m->size, type);
  free(columns);
  free(offsets);
  if (m->bsr)
    SPARSE_OK(cusparseCreateBsr(&m->descriptor, m->down, across, blocks, m->size, m->size,
                                m->offsets, m->columns, m->values, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type,
                                CUSPARSE_ORDER_ROW));
  else
    SPARSE_OK(cusparseCreateBlockedEll(&m->descriptor, SIDE, SIDE, m->size, m->wide * m->size,
                                       m->columns, m->values, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, type));
}

static void free_matrix(struct matrix *m)
{
  SPARSE_OK(cusparseDestroySpMat(m->descriptor));
  CUDA_OK(cudaFree(m->offsets));
  CUDA_OK(cudaFree(m->columns));
  CUDA_OK(cudaFree(m->values));
}

static int by_size(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Microseconds a call of whatever was captured CALLS times. */
static double time_graph(cudaGraph_t graph)
{
  cudaGraphExec_t exec;
  cudaEvent_t begin, end;
  float ms[REPLAYS + 1];
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  for (int i = 0; i <= REPLAYS; i++) {
    CUDA_OK(cudaEventRecord(begin, stream));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaEventRecord(end, stream));
    CUDA_OK(cudaEventSynchronize(end));
    CUDA_OK(cudaEventElapsedTime(&ms[i], begin, end));
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaEventDestroy(begin));
  CUDA_OK(cudaEventDestroy(end));
  qsort(ms + 1, REPLAYS, sizeof ms[0], by_size);
  return 1000 * (double)ms[1 + REPLAYS / 2] / CALLS;
}

/* alpha = 1 and beta = 0 of products of `type`. */
struct scalars {
  cudaDataType type;
  float f[2];
  double d[2];
  int32_t i[2];
};
static struct scalars scalars_of(cudaDataType type)
{
  const cudaDataType of = type == CUDA_R_64F  ? CUDA_R_64F
                          : type == CUDA_R_8I ? CUDA_R_32I
                                              : CUDA_R_32F;
  return (struct scalars){of, {1, 0}, {1, 0}, {1, 0}};
}
static const void *scalar(const struct scalars *s, int i)
{
  if (s->type == CUDA_R_64F) return &s->d[i];
  return s->type == CUDA_R_32I ? (const void *)&s->i[i] : &s->f[i];
}

static double time_calls(const struct matrix *m, cusparseDnMatDescr_t b, cusparseDnMatDescr_t c,
                         cudaDataType type)
{
  const struct scalars s = scalars_of(type);
  const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cudaGraph_t graph;
  size_t bytes;
  void *buffer;
  if (cusparseSpMM_bufferSize(handle, op, op, scalar(&s, 0), m->descriptor, b, scalar(&s, 1), c,
                              s.type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes) != CUSPARSE_STATUS_SUCCESS)
    return NAN;
  CUDA_OK(cudaMalloc(&buffer, bytes + 16));
  for (int i = 0; i < CALLS + 1; i++) {
    if (i == 1) CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    SPARSE_OK(cusparseSpMM(handle, op, op, scalar(&s, 0), m->descriptor, b, scalar(&s, 1), c,
                           s.type, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
  }
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  const double us = time_graph(graph);
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaFree(buffer));
  return us;
}

static double time_product(const struct matrix *m, cudaDataType type, int64_t n)
{
  const cudaDataType out = type == CUDA_R_8I ? CUDA_R_32I : type;
  void *b = numbers(SIDE * n, type), *c = numbers(SIDE * n, out);
  cusparseDnMatDescr_t db, dc;
  SPARSE_OK(cusparseCreateDnMat(&db, SIDE, n, n, b, type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&dc, SIDE, n, n, c, out, CUSPARSE_ORDER_ROW));
  const double us = time_calls(m, db, dc, type);
  SPARSE_OK(cusparseDestroyDnMat(db));
  SPARSE_OK(cusparseDestroyDnMat(dc));
  CUDA_OK(cudaFree(b));
  CUDA_OK(cudaFree(c));
  return us;
}

static void time_type(cudaDataType type)
{
  static const int sizes[] = {4, 8, 16, 32};
  static const int64_t widths[] = {64, 256, 1024};
  for (int bsr = 1; bsr >= 0; bsr--)
    for (int s = 0; s < 4; s++)
      for (int d = 0; d < 2; d++) {
        const double share = d ? 0.3 : 0.1;
        struct matrix m = {.bsr = bsr, .size = sizes[s]};
        if (d && m.size == 4) continue;
        make_matrix(&m, type, share);
        for (int w = d ? 2 : 0; w < 3; w++) {
          printf("%s\t%s\t%d\t%.1f\t%d\t%.1f\n", bsr ? "bsr" : "ell", type_text(type), m.size,
                 share, (int)widths[w], time_product(&m, type, widths[w]));
          fflush(stdout);
        }
        free_matrix(&m);
      }
}

int main(int argc, char **argv)
{
  const char *types = argc > 1 ? argv[1] : "hbsd";
  (void)check_passed, (void)check_skipped;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&handle));
  SPARSE_OK(cusparseSetStream(handle, stream));
  for (; *types; types++)
    time_type(*types == 'h'   ? CUDA_R_16F
              : *types == 'b' ? CUDA_R_16BF
              : *types == 's' ? CUDA_R_32F
              : *types == 'i' ? CUDA_R_8I
                              : CUDA_R_64F);
  SPARSE_OK(cusparseDestroy(handle));
  return 0;
}
