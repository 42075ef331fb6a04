// little.cu: little memory, as of a slice of a GPU.
//
//   little [LEFT_MB [PASSES]]
//
// All of the device's memory is taken but LEFT_MB (1,024).  Then all that a program does is done in what is left: library handles, and
// matrices of fp16, 2,048 x 2,048, 70 to 90 % of them zero, in a quarter of it (128 at most),
// multiplied in turn PASSES (100) times; the rest is allocated, products going on; all is freed.
//
// Said: memory in use while products run (`used_mb`), what could be allocated beside them
// (`filled_mb`), what is in use once all is freed (`freed_mb`), and a hash of results of the first
// four matrices, of their first calls and while nothing is left (`bits`): in the deterministic mode
// it is the same for any LEFT_MB.  Checked here: results are right, no call fails.  The rest is
// checked against the same program without Shunt, by check_gpu.sh.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { SIDE = 2048, WIDTH = 64, MOST = 128, CHUNK = 8 << 20, GRAIN = 2 << 20 };

static size_t free_bytes()
{
  size_t available, total;
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemGetInfo(&available, &total));
  return available;
}

// One piece where that can be had, as the device's memory may be in parts.
static std::vector<void *> take_all_but(size_t left)
{
  std::vector<void *> taken;
  for (size_t want = free_bytes(); free_bytes() > left + GRAIN && want >= GRAIN;) {
    void *p;
    want = std::min(want, (free_bytes() - left) / GRAIN * GRAIN);
    if (cudaMalloc(&p, want) == cudaSuccess) {
      taken.push_back(p);
    } else {
      cudaGetLastError();
      want /= 2;
    }
  }
  return taken;
}

struct Job {
  Lane lane;
  std::vector<Matrix> matrices;
  Dense b, c;
  size_t next;
};

static Job make_job(size_t left)
{
  static const int percent[] = {30, 20, 15, 10};
  const size_t before = free_bytes();
  Job j;
  j.next = 0;
  j.lane = make_lane();
  j.b = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  j.c = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  fill(j.b.values, j.b.stored(), CUDA_R_16F, 5, FILL_RANDOM, j.lane.stream);
  for (int i = 0; i < MOST && (i < 1 || before - free_bytes() < left / 4); i++)
    j.matrices.push_back(make_matrix({SIDE, SIDE, SIDE * percent[i % 4] / 100, 1, CUDA_R_16F},
                                     100 + (uint64_t)i, j.lane.stream));
  CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  return j;
}

static void free_job(Job &j)
{
  for (Matrix &m : j.matrices) destroy_matrix(m);
  CUDA_OK(cudaFree(j.b.values));
  CUDA_OK(cudaFree(j.c.values));
  destroy_lane(j.lane);
}

static void step(Job &j)
{
  call(j.lane, product_of(j.matrices[j.next++ % j.matrices.size()].a, j.b, j.c));
}

static void passes(Job &j, int count)
{
  for (int i = 0; i < count; i++) {
    for (size_t k = 0; k < j.matrices.size(); k++) step(j);
    CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  }
}

// Of products of the first four, added to `hash`.
static uint32_t bits_of(Job &j, uint32_t hash)
{
  std::vector<unsigned char> bytes((size_t)j.c.stored() * 2);
  for (size_t i = 0; i < 4 && i < j.matrices.size(); i++) {
    call(j.lane, product_of(j.matrices[i].a, j.b, j.c));
    CUDA_OK(cudaMemcpyAsync(bytes.data(), j.c.values, bytes.size(), cudaMemcpyDeviceToHost,
                            j.lane.stream));
    CUDA_OK(cudaStreamSynchronize(j.lane.stream));
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 16777619u;
  }
  return hash;
}

static void expect_right(Job &j, const char *when)
{
  const int64_t wrong = wrong_elements(j.lane, j.matrices, j.b, j.c);
  check(wrong == 0, "%s: %lld wrong elements of %zu products", when, (long long)wrong,
        j.matrices.size());
}

// A product for each chunk, so that copies are asked for all the time.
static std::vector<void *> fill_up(Job &j)
{
  std::vector<void *> chunks;
  for (void *p; cudaMalloc(&p, CHUNK) == cudaSuccess; step(j)) {
    CUDA_OK(cudaMemsetAsync(p, 0xff, CHUNK, j.lane.stream));
    chunks.push_back(p);
  }
  cudaGetLastError();
  return chunks;
}

int main(int argc, char **argv)
{
  const size_t left = (size_t)(argc > 1 ? atoi(argv[1]) : 1024) << 20;
  CUDA_OK(cudaFree(nullptr));
  const std::vector<void *> taken = take_all_but(left);
  const int64_t before = device_bytes_used();
  printf("# %.0f MB are left, %.0f in use\n", megabytes((int64_t)free_bytes()), megabytes(before));
  Job j = make_job(left);
  uint32_t bits = bits_of(j, 2166136261u);
  passes(j, 4);
  const double begin = clock_us();
  const int count = argc > 2 ? atoi(argv[2]) : 100;
  passes(j, count);
  printf("time us_a_product=%.2f matrices=%zu\n",
         (clock_us() - begin) / count / (double)j.matrices.size(), j.matrices.size());
  printf("value used_mb=%.0f\n", megabytes(device_bytes_used() - before));
  expect_right(j, "in little memory");
  const std::vector<void *> chunks = fill_up(j);
  expect_right(j, "while nothing is left");
  bits = bits_of(j, bits);
  for (void *p : chunks) CUDA_OK(cudaFree(p));
  passes(j, 4);
  expect_right(j, "after it");
  free_job(j);
  printf("value filled_mb=%.0f\n", (double)chunks.size() * (CHUNK >> 20));
  printf("value freed_mb=%.0f\n", megabytes(device_bytes_used() - before));
  printf("value bits=%u\n", bits);
  for (void *p : taken) CUDA_OK(cudaFree(p));
  return finish();
}
