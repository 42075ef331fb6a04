/* masked_dot_bench.c: the kernels of C<M> = A B' alone, on R-MAT graphs (rmat.h), by events; no
   GraphBLAS and no copies.

     masked_dot_bench [-r REPEATS] [-c] SCALE ...

     S     C<S> = S S'   a symmetric graph: each pair is read once
     S T   C<S> = S T'   the same, T = S unknown: twice, as parts of a product do
     D     C<D> = D D'   its arcs to the node of more neighbours, as triangles are counted

   A row for each: entries; elements e that rows are read of at least, that of each pair's shorter
   one; ms of the dot products and of what makes T's pattern, medians; the bound 4 e / bandwidth;
   the bound over the dot products' time.  The bandwidth is what a copy within the device moves,
   bytes read and written, on the first line.  -c: counts are compared too: sampled entries with a
   merge on the host, and the sum of S' with six times that of D's.  */
#include <cuda_runtime_api.h>
#include <getopt.h>
#include <stdio.h>

#include "kernels/semiring/device/masked_dot_cuda.h"
#include "tests/bench/rmat/rmat.h"

static int repeats = 5, wrong;
static bool compared;
static double bandwidth; /* bytes a second */
static struct shunt_device device;
static cudaEvent_t before, between, behind;

#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    const cudaError_t e_ = (call);                                                                 \
    if (e_ != cudaSuccess) {                                                                       \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));                 \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

static void *on_device(int64_t bytes)
{
  void *p;
  CUDA_OK(cudaMalloc(&p, (size_t)(bytes > 0 ? bytes : 1)));
  return p;
}

static int ascending(const void *x, const void *y)
{
  const float a = *(const float *)x, b = *(const float *)y;
  return (a > b) - (a < b);
}

static float ms_of(cudaEvent_t from, cudaEvent_t to)
{
  float ms;
  CUDA_OK(cudaEventElapsedTime(&ms, from, to));
  return ms;
}

static void find_bandwidth(void)
{
  enum { TIMES = 5 };
  const size_t bytes = (size_t)1 << 30;
  char *x = on_device(2 * (int64_t)bytes);
  float ms[TIMES];
  for (int i = 0; i < TIMES; i++) {
    CUDA_OK(cudaEventRecord(before, NULL));
    CUDA_OK(cudaMemcpyAsync(x + bytes, x, bytes, cudaMemcpyDeviceToDevice, NULL));
    CUDA_OK(cudaEventRecord(behind, NULL));
    CUDA_OK(cudaEventSynchronize(behind));
    ms[i] = ms_of(before, behind);
  }
  qsort(ms, TIMES, sizeof *ms, ascending);
  bandwidth = 2.0 * (double)bytes / (1e-3 * ms[0]);
  CUDA_OK(cudaFree(x));
}

static void begin(void)
{
  struct cudaDeviceProp about;
  CUDA_OK(cudaGetDeviceProperties(&about, 0));
  device = (struct shunt_device){about.multiProcessorCount, 10 * about.major + about.minor,
                                 (int)about.sharedMemPerBlockOptin, about.l2CacheSize};
  CUDA_OK(cudaEventCreate(&before));
  CUDA_OK(cudaEventCreate(&between));
  CUDA_OK(cudaEventCreate(&behind));
  find_bandwidth();
  printf("# %s, %.0f GB/s; entries, elements, ms of dot products, of T's pattern, bound, share\n",
         about.name, 1e-9 * bandwidth);
}

static struct shunt_device_rows send(const struct rmat *g)
{
  int32_t *offsets = rmat_memory(g->nodes + 1, sizeof *offsets);
  for (int64_t i = 0; i <= g->nodes; i++) offsets[i] = (int32_t)g->offsets[i];
  int32_t *to = on_device((g->nodes + 1) * 4), *columns = on_device(g->entries * 4);
  CUDA_OK(cudaMemcpy(to, offsets, (size_t)(g->nodes + 1) * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(columns, g->columns, (size_t)g->entries * 4, cudaMemcpyHostToDevice));
  free(offsets);
  return (struct shunt_device_rows){g->nodes, g->nodes, g->entries, to, columns, NULL, true};
}

/* The sum of all counts; sampled ones are compared. */
static double sum_of(const struct rmat *g, const uint32_t *on_it)
{
  enum { LOOKED_AT = 4096 };
  double sum = 0;
  uint32_t *counts = rmat_memory(g->entries, sizeof *counts);
  CUDA_OK(cudaMemcpy(counts, on_it, (size_t)g->entries * 4, cudaMemcpyDeviceToHost));
#pragma omp parallel for reduction(+ : sum)
  for (int64_t e = 0; e < g->entries; e++) sum += counts[e];
  int64_t i = 0, bad = 0;
  for (int64_t n = 0; n < LOOKED_AT; n++) {
    const int64_t e = (int64_t)((double)g->entries / LOOKED_AT * (double)n);
    while (g->offsets[i + 1] <= e) i++;
    bad += rmat_shared(g, i, g->columns[e]) != counts[e];
  }
  if (bad) printf("# %ld of %d counts are WRONG\n", (long)bad, LOOKED_AT);
  wrong += bad > 0;
  free(counts);
  return sum;
}

struct timed {
  double dot, pattern; /* ms */
};

static struct timed run(const struct shunt_masked_device *x, const struct shunt_masked_compact *c,
                        void *workspace, size_t bytes)
{
  float dot[99], pattern[99];
  for (int i = -1; i < repeats; i++) {
    CUDA_OK(cudaEventRecord(before, NULL));
    const shunt_status s = shunt_masked_dot_cuda(x, &device, workspace, bytes, NULL);
    CUDA_OK(cudaEventRecord(between, NULL));
    const shunt_status t = shunt_masked_compact_cuda(c, workspace, bytes, NULL);
    CUDA_OK(cudaEventRecord(behind, NULL));
    CUDA_OK(cudaEventSynchronize(behind));
    if (s != SHUNT_OK || t != SHUNT_OK) printf("# status %d, %d\n", s, t), wrong++;
    if (i >= 0) dot[i] = ms_of(before, between), pattern[i] = ms_of(between, behind);
  }
  qsort(dot, (size_t)repeats, sizeof *dot, ascending);
  qsort(pattern, (size_t)repeats, sizeof *pattern, ascending);
  return (struct timed){dot[repeats / 2], pattern[repeats / 2]};
}

/* The sum of counts, 0 if they are not compared. */
static double product(const char *what, const struct rmat *g, bool symmetric)
{
  const struct shunt_device_rows a = send(g);
  const int64_t n = g->entries;
  const struct shunt_masked_device x = {.semiring = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I32, true},
                                        .m = a,
                                        .a = a,
                                        .b = a,
                                        .one_matrix = symmetric,
                                        .counts = on_device(4 * n)};
  const struct shunt_masked_compact c = {.m = a,
                                         .counts = x.counts,
                                         .values = x.counts,
                                         .size = 4,
                                         .to_offsets = on_device(4 * (g->nodes + 1)),
                                         .to_columns = on_device(4 * n),
                                         .to_values = on_device(4 * n)};
  const size_t one = shunt_masked_dot_workspace(&x), other = shunt_masked_compact_workspace(&c);
  const size_t bytes = one > other ? one : other;
  void *workspace = on_device((int64_t)bytes);
  const struct timed t = run(&x, &c, workspace, bytes);
  const double elements = rmat_reads(g, symmetric), bound = 1e3 * 4 * elements / bandwidth;
  printf("%-22s %12ld %16.0f %10.3f %8.3f %10.3f %6.3f\n", what, (long)n, elements, t.dot,
         t.pattern, bound, bound / t.dot);
  fflush(stdout);
  const double sum = compared ? sum_of(g, x.counts) : 0;
  void *all[] = {(void *)(uintptr_t)a.offsets,
                 (void *)(uintptr_t)a.columns,
                 x.counts,
                 c.to_offsets,
                 c.to_columns,
                 c.to_values,
                 workspace};
  for (int i = 0; i < 7; i++) CUDA_OK(cudaFree(all[i]));
  return sum;
}

static void graph(int scale)
{
  char what[64];
  struct rmat g = rmat_make(scale), d = rmat_arcs(&g);
  snprintf(what, sizeof what, "rmat%d C<S> = S S'", scale);
  const double all = product(what, &g, true);
  snprintf(what, sizeof what, "rmat%d C<S> = S T'", scale);
  const double once_more = product(what, &g, false);
  snprintf(what, sizeof what, "rmat%d C<D> = D D'", scale);
  const double triangles = product(what, &d, false);
  if (compared) printf("# %.0f triangles\n", triangles);
  if (all != 6 * triangles || all != once_more)
    printf("# sums are WRONG: %.0f, %.0f\n", all, once_more), wrong++;
  rmat_free(&g);
  rmat_free(&d);
}

int main(int argc, char **argv)
{
  int option;
  while ((option = getopt(argc, argv, "r:c")) != -1) {
    if (option == 'r') repeats = atoi(optarg);
    if (option == 'c') compared = true;
    if (option == '?') return 2;
  }
  if (repeats < 1 || repeats > 99) return 2;
  begin();
  for (int i = optind; i < argc; i++) graph(atoi(argv[i]));
  return wrong != 0;
}
