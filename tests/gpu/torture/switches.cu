// switches.cu: while a matrix settles, its product changes its last bits once at most, and early.
//
//   switches [CALLS]
//
// Matrices of several kinds are multiplied CALLS (64) times each, and each result is compared with
// the one before, bit for bit: another route adds in another order.  First with the device waited for
// after each call, so that whatever a call starts has arrived before the next; then without.
//
// The bar: one change at most; where the device is waited for, no later than between calls 7 and 8.
// A program that runs ahead hears nothing of the device, and no product may wait for it, so that no
// number of calls can hold there.  It has to hear twice at most: what the first call asked for, and
// what the first call that knew this asked for.  The first call that begins when the device has
// done that one is the last that may change the bits.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { LAST = 8 }; // the call from which on nothing changes

struct Kind {
  const char *name;
  MatrixShape shape;
  int64_t width;
};
static const Kind kinds[] = {
    {"half full, f16", {1024, 1024, 512, 1, CUDA_R_16F}, 128},
    {"90 % zeros, f16", {2048, 2048, 205, 1, CUDA_R_16F}, 256},
    {"8 x 1 vectors, 95 % zeros, f16", {4096, 4096, 205, 8, CUDA_R_16F}, 256},
    {"8 x 1 vectors, 98 % zeros, bf16", {4096, 4096, 82, 8, CUDA_R_16BF}, 64},
    {"seven a row, f32", {200000, 200000, 7, 1, CUDA_R_32F}, 32},
    {"27 a row in threes, f32", {60000, 60000, 27, 3, CUDA_R_32F}, 64},
    {"95 % zeros, f32", {2048, 2048, 102, 1, CUDA_R_32F}, 128},
    {"40 a row, f16", {100000, 100000, 40, 1, CUDA_R_16F}, 64}};

__global__ void count_other_words(const uint32_t *a, const uint32_t *b, int64_t n, unsigned *other)
{
  unsigned mine = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x)
    mine += a[i] != b[i];
  if (mine) atomicAdd(other, mine);
}

// Which call begins when the device has answered twice.
struct Answers {
  int asked = 0, heard = 0, last;
  std::vector<cudaEvent_t> behind; // each call

  explicit Answers(int calls) : last(calls), behind((size_t)calls)
  {
    for (cudaEvent_t &e : behind) CUDA_OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  ~Answers()
  {
    for (cudaEvent_t e : behind) cudaEventDestroy(e);
  }
  void before(int call)
  {
    if (call == 0 || heard == 2 || cudaEventQuery(behind[(size_t)asked]) != cudaSuccess) return;
    asked = call;
    if (++heard == 2) last = call + 1;
  }
};

// C of call i differs from that of call i - 1 in counts[i] words.  *last: the last call, from 1,
// that may differ from the one before.
static std::vector<unsigned> changes(Lane &l, const Problem &p, int calls, bool waits, int *last)
{
  Answers answers(calls);
  const size_t bytes = (size_t)p.c.stored() * type_size(p.c.type);
  std::vector<unsigned> counts((size_t)calls);
  void *before = device_bytes(bytes);
  unsigned *other = (unsigned *)device_bytes((size_t)calls * 4);
  CUDA_OK(cudaMemsetAsync(other, 0, (size_t)calls * 4, l.stream));
  for (int i = 0; i < calls; i++) {
    answers.before(i);
    call(l, p);
    CUDA_OK(cudaEventRecord(answers.behind[(size_t)i], l.stream));
    if (i > 0)
      count_other_words<<<1024, 256, 0, l.stream>>>(
          (const uint32_t *)before, (const uint32_t *)p.c.values, (int64_t)(bytes / 4), other + i);
    CUDA_OK(cudaMemcpyAsync(before, p.c.values, bytes, cudaMemcpyDeviceToDevice, l.stream));
    if (waits) CUDA_OK(cudaStreamSynchronize(l.stream));
  }
  CUDA_OK(
      cudaMemcpyAsync(counts.data(), other, (size_t)calls * 4, cudaMemcpyDeviceToHost, l.stream));
  CUDA_OK(cudaStreamSynchronize(l.stream));
  CUDA_OK(cudaFree(before));
  CUDA_OK(cudaFree(other));
  *last = waits ? std::min((int)LAST, answers.last) : answers.last;
  return counts;
}

static void run_kind(const Kind &k, int calls, bool waits)
{
  Lane l = make_lane();
  Matrix m = make_matrix(k.shape, 7, l.stream);
  const Dense b = make_dense(k.shape.cols, k.width, false, k.shape.type);
  const Dense c = make_dense(k.shape.rows, k.width, false, k.shape.type);
  fill(b.values, b.stored(), k.shape.type, 5, FILL_RANDOM, l.stream);
  int times = 0, last = 0, most;
  const std::vector<unsigned> counts = changes(l, product_of(m.a, b, c), calls, waits, &most);
  for (int i = 1; i < calls; i++)
    if (counts[(size_t)i]) times++, last = i + 1;
  check(times <= 1 && last <= most,
        "%s, %s: the bits changed %d times, at last with call %d, which may be up to %d", k.name,
        waits ? "waited for" : "not waited for", times, last, most);
  destroy_matrix(m);
  CUDA_OK(cudaFree(b.values));
  CUDA_OK(cudaFree(c.values));
  destroy_lane(l);
}

int main(int argc, char **argv)
{
  const int calls = argc > 1 ? atoi(argv[1]) : 64;
  for (bool waits : {true, false})
    for (const Kind &k : kinds) run_kind(k, calls, waits);
  return finish();
}
