/* attention.c: sparse attention through libshunt.so, a whole program.

     attention [SEQUENCE [HEAD [--host]]]        512 64

   Q, K, V are [batch 2][row][head 2][column] in f16.  A query group of 8 rows sees a band of 64
   keys on either side of it and one other key in twenty, all eight rows the same: 8 x 1 vectors.
   Runs on the first CUDA device, or in host memory when there is none, this is built without CUDA
   (SHUNT_HAVE_CUDA not defined), or --host says so; compares with a dense computation in double,
   and prints one row:

     | program | engine | sequence | heads | head size | density | ms a call | largest error |

   and whether no error exceeds 2^-9, which is also the exit status.
   ms a call: of 5 calls after one, by the wall clock, waiting after the last.  */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef SHUNT_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

#include "backend/shunt.h"
#include "kernels/common/host_half.h"
#include "tests/splitmix64.h"

enum { BATCHES = 2, HEADS = 2, PROBLEMS = BATCHES * HEADS, BAND = 64, CALLS = 5 };

static void leave(const char *what, const char *why)
{
  printf("not ok - %s: %s\n", what, why);
  exit(2);
}

static void must(shunt_status s, const char *what)
{
  if (s != SHUNT_OK) leave(what, shunt_status_text(s));
}

static void *allocate(size_t bytes)
{
  void *p = malloc(bytes);
  if (!p) leave("malloc", "out of memory");
  return p;
}

/* ---- where it runs ----------------------------------------------------------------------------
 */

#ifdef SHUNT_HAVE_CUDA
static void cuda_must(cudaError_t e)
{
  if (e != cudaSuccess) leave("CUDA", cudaGetErrorString(e));
}
#endif

static enum shunt_place find_place(int host_wanted)
{
#ifdef SHUNT_HAVE_CUDA
  int devices = 0;
  if (!host_wanted && cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0)
    return SHUNT_DEVICE;
#endif
  (void)host_wanted;
  return SHUNT_HOST;
}

/* A copy of host memory in the place; bytes 0 bytes become one. */
static void *send(enum shunt_place where, const void *from, size_t bytes)
{
  void *to;
#ifdef SHUNT_HAVE_CUDA
  if (where == SHUNT_DEVICE) {
    cuda_must(cudaMalloc(&to, bytes + 1));
    cuda_must(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
  }
#endif
  (void)where;
  to = allocate(bytes + 1);
  return memcpy(to, from, bytes);
}

/* Waits for what was enqueued, too. */
static void receive(enum shunt_place where, void *to, const void *from, size_t bytes)
{
#ifdef SHUNT_HAVE_CUDA
  if (where == SHUNT_DEVICE) {
    cuda_must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return;
  }
#endif
  (void)where;
  memcpy(to, from, bytes);
}

static void wait_for(enum shunt_place where)
{
#ifdef SHUNT_HAVE_CUDA
  if (where == SHUNT_DEVICE) cuda_must(cudaDeviceSynchronize());
#endif
  (void)where;
}

static void drop(enum shunt_place where, void *p)
{
#ifdef SHUNT_HAVE_CUDA
  if (where == SHUNT_DEVICE) {
    cudaFree(p);
    return;
  }
#endif
  (void)where;
  free(p);
}

/* ---- operands
 * ------------------------------------------------------------------------------------ */

static uint64_t random_state = 20261121;

static double random_unit(void)
{
  return (double)(splitmix64(&random_state) >> 11) * 0x1p-53;
}

/* The mask as CSR. */
struct mask {
  int32_t *offsets, *columns;
};

static struct mask make_mask(int64_t n)
{
  struct mask m = {allocate((size_t)(n + 1) * 4), allocate((size_t)(n * n) * 4)};
  int32_t p = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t group = i / 8 * 8;
    m.offsets[i] = p;
    if (i > group) { /* as the row before */
      int32_t begin = m.offsets[i - 1], end = m.offsets[i];
      for (int32_t e = begin; e < end; e++) m.columns[p++] = m.columns[e];
      continue;
    }
    for (int64_t j = 0; j < n; j++)
      if ((j >= group - BAND && j < group + 8 + BAND) || random_unit() < 0.05)
        m.columns[p++] = (int32_t)j;
  }
  m.offsets[n] = p;
  return m;
}

/* Host copies, and what the library sees. */
struct operand {
  uint16_t *host;
  struct shunt_tensor t;
};

static struct operand make_operand(enum shunt_place where, int64_t n, int64_t d)
{
  struct operand x = {.host = allocate((size_t)(PROBLEMS * n * d) * 2)};
  for (int64_t i = 0; i < PROBLEMS * n * d; i++)
    x.host[i] = shunt_float_to_half((float)(4 * random_unit() - 2));
  x.t = (struct shunt_tensor){.values = send(where, x.host, (size_t)(PROBLEMS * n * d) * 2),
                              .type = SHUNT_F16,
                              .batches = BATCHES,
                              .heads = HEADS,
                              .rows = n,
                              .cols = d,
                              .row_stride = HEADS * d,
                              .head_stride = d,
                              .batch_stride = n * HEADS * d};
  return x;
}

static double element(const struct operand *x, int64_t z, int64_t i, int64_t c)
{
  int64_t at = z / HEADS * x->t.batch_stride + z % HEADS * x->t.head_stride;
  return (double)shunt_half_to_float(x->host[at + i * x->t.row_stride + c]);
}

/* ---- the check
 * ----------------------------------------------------------------------------------- */

struct problem {
  int64_t n, d;
  struct mask mask;
  struct operand q, k, v, o;
  float scale;
};

/* The row's largest error; weights: room for a row of scores. */
static double row_error(const struct problem *p, int64_t z, int64_t i, double *weights)
{
  int32_t begin = p->mask.offsets[i], end = p->mask.offsets[i + 1];
  double most = -INFINITY, sum = 0, worst = 0;
  for (int32_t e = begin; e < end; e++) {
    weights[e - begin] = 0;
    for (int64_t c = 0; c < p->d; c++)
      weights[e - begin] +=
          (double)p->scale * element(&p->q, z, i, c) * element(&p->k, z, p->mask.columns[e], c);
    most = fmax(most, weights[e - begin]);
  }
  for (int32_t e = begin; e < end; e++) sum += weights[e - begin] = exp(weights[e - begin] - most);
  for (int64_t c = 0; c < p->d; c++) {
    double want = 0;
    for (int32_t e = begin; e < end; e++)
      want += weights[e - begin] / sum * element(&p->v, z, p->mask.columns[e], c);
    worst = fmax(worst, fabs(want - element(&p->o, z, i, c)));
  }
  return worst;
}

static double largest_error(const struct problem *p)
{
  double *weights = allocate((size_t)p->n * sizeof *weights), worst = 0;
  for (int64_t z = 0; z < PROBLEMS; z++)
    for (int64_t i = 0; i < p->n; i++) {
      double error = row_error(p, z, i, weights);
      if (!(error <= worst)) worst = error; /* a NaN, too */
    }
  free(weights);
  return worst;
}

/* ---- the calls
 * ------------------------------------------------------------------------------------ */

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct shunt_packed *pack_mask(enum shunt_place where, const struct problem *p)
{
  int32_t nnz = p->mask.offsets[p->n];
  int32_t *offsets = send(where, p->mask.offsets, (size_t)(p->n + 1) * 4);
  int32_t *columns = send(where, p->mask.columns, (size_t)nnz * 4);
  struct shunt_csr a = {.rows = p->n,
                        .cols = p->n,
                        .nnz = nnz,
                        .row_offsets = offsets,
                        .columns = columns,
                        .index_type = SHUNT_I32,
                        .value_type = SHUNT_F16};
  struct shunt_packed *packed;
  must(shunt_pack(&a, where, NULL, NULL, &packed), "shunt_pack");
  drop(where, offsets);
  drop(where, columns);
  return packed;
}

/* Milliseconds a call; the result comes to p->o.host. */
static double run(enum shunt_place where, struct problem *p)
{
  struct shunt_packed *mask = pack_mask(where, p);
  size_t bytes = shunt_attention_workspace(mask, &p->q.t, &p->k.t, &p->v.t, &p->o.t);
  char *nothing = allocate(bytes + 512), *room = send(where, nothing, bytes + 256);
  char *aligned = room + (256 - (uintptr_t)room % 256) % 256;
  size_t result = (size_t)(PROBLEMS * p->n * p->d) * 2;
  double start = 0;
  for (int i = 0; i <= CALLS; i++) {
    must(shunt_attention(mask, p->scale, &p->q.t, &p->k.t, &p->v.t, &p->o.t, aligned, bytes, NULL),
         "shunt_attention");
    if (i == 0) wait_for(where), start = seconds_now();
  }
  wait_for(where);
  double ms = (seconds_now() - start) * 1000 / CALLS;
  receive(where, p->o.host, p->o.t.values, result);
  shunt_packed_free(mask);
  drop(where, room);
  free(nothing);
  return ms;
}

int main(int argc, char **argv)
{
  int host_wanted = argc > 1 && !strcmp(argv[argc - 1], "--host");
  int numbers = argc - 1 - host_wanted;
  struct problem p = {.n = numbers > 0 ? atoll(argv[1]) : 512,
                      .d = numbers > 1 ? atoll(argv[2]) : 64};
  enum shunt_place where = find_place(host_wanted);
  if (p.n < 1 || p.n > 16384 || p.d < 1 || p.d > 1024)
    leave("arguments", "sequence 1 .. 16384, head 1 .. 1024");
  struct operand *all[] = {&p.q, &p.k, &p.v, &p.o};
  p.scale = 1 / sqrtf((float)p.d);
  p.mask = make_mask(p.n);
  for (int i = 0; i < 4; i++) *all[i] = make_operand(where, p.n, p.d);
  double ms = run(where, &p), error = largest_error(&p);
  printf("| attention | %s | %lld | %d x %d | %lld | %.3f | %.3f | %.2g |\n",
         where == SHUNT_HOST ? "host" : "cuda", (long long)p.n, BATCHES, HEADS, (long long)p.d,
         (double)p.mask.offsets[p.n] / ((double)p.n * (double)p.n), ms, error);
  for (int i = 0; i < 4; i++) {
    drop(where, all[i]->t.values);
    free(all[i]->host);
  }
  free(p.mask.offsets);
  free(p.mask.columns);
  const int good = error <= 0x1p-9;
  printf("%d passed, %d failed\n", good, !good);
  return !good;
}
