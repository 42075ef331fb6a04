// ranks.cu: processes that share a GPU are served as one with the same work.
//
//   ranks [PROCESSES [MATRICES [PASSES [AHEAD [FILLS]]]]]
//
// MATRICES (64) matrices of fp16, 2,048 x 2,048, 70 to 90 % of them zero, are multiplied in turn by
// a dense matrix of 64 columns: by one process, then by PROCESSES (8), each of which has its part of
// the matrices; each waits for the device after AHEAD (1) times MATRICES products.  Then, unless
// FILLS is 0, each of those allocates until the device is full, products going on.
//
// Said: what a product of the one takes (`us_a_product`), the rate of the processes together over
// that of the one (`rate`), memory in use while they run (`used_mb`), and what they could allocate in
// all (`filled_mb`).  Checked here: results are
// right, no call fails.  What may be kept, and how much of the rate is left, is checked against the
// same program without Shunt, by check_gpu.sh.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>

#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { SIDE = 2048, WIDTH = 64, MOST = 64, CHUNK = 64 << 20 };

// What the processes of a job see of each other; they are forked before CUDA is touched.
struct Meeting {
  std::atomic<int> arrived[5], failed;
  std::atomic<int64_t> wrong, chunks;
  int64_t used;
  double begin, end[MOST];
};
static_assert(std::atomic<int64_t>::is_always_lock_free, "shared between processes");

static void meet(Meeting &m, int which, int processes)
{
  m.arrived[which]++;
  while (m.arrived[which] < processes && m.failed == 0) sched_yield();
}

struct Job {
  Lane lane;
  std::vector<Matrix> matrices;
  Dense b, c;
};

static Job make_job(int first, int count)
{
  static const int percent[] = {30, 20, 15, 10};
  Job j;
  j.lane = make_lane();
  j.b = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  j.c = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  fill(j.b.values, j.b.stored(), CUDA_R_16F, 5, FILL_RANDOM, j.lane.stream);
  for (int i = first; i < first + count; i++)
    j.matrices.push_back(make_matrix({SIDE, SIDE, SIDE * percent[i % 4] / 100, 1, CUDA_R_16F},
                                     100 + (uint64_t)i, j.lane.stream));
  CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  return j;
}

static void pass(Job &j)
{
  for (Matrix &m : j.matrices) call(j.lane, product_of(m.a, j.b, j.c));
}

// A product of each matrix for each chunk, so that copies are asked for all the time.
static int64_t fill_device(Job &j)
{
  int64_t chunks = 0;
  for (void *p; cudaMalloc(&p, CHUNK) == cudaSuccess; chunks++) {
    CUDA_OK(cudaMemsetAsync(p, 0xff, CHUNK, j.lane.stream));
    pass(j);
  }
  cudaGetLastError();
  pass(j);
  CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  return chunks;
}

struct Load {
  int matrices, passes, ahead;
  bool fills;
};

static void work(Meeting &m, int rank, int processes, const Load &load)
{
  const int mine = load.matrices / processes, passes = load.passes;
  Job j = make_job(rank * mine, mine);
  for (int i = 0; i < passes; i++) pass(j);
  CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  meet(m, 0, processes);
  if (rank == 0) m.begin = clock_us();
  for (int i = 0; i < passes; i++) {
    pass(j);
    if ((i + 1) % (processes * load.ahead) == 0) CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  }
  CUDA_OK(cudaStreamSynchronize(j.lane.stream));
  m.end[rank] = clock_us();
  meet(m, 1, processes);
  if (rank == 0) m.used = device_bytes_used();
  meet(m, 2, processes);
  m.wrong += wrong_elements(j.lane, j.matrices, j.b, j.c);
  meet(m, 3, processes);
  if (!load.fills) return;
  m.chunks += fill_device(j);
  m.wrong += wrong_elements(j.lane, j.matrices, j.b, j.c);
  meet(m, 4, processes); // what one has is not another's to take
}

// The job by so many processes: products a second, all together.
static double rate_of(Meeting &m, int processes, const Load &load)
{
  int status;
  double end = 0;
  memset((void *)&m, 0, sizeof m);
  fflush(stdout);
  for (int rank = 0; rank < processes; rank++)
    if (fork() == 0) {
      work(m, rank, processes, load);
      exit(check_failed ? 1 : 0);
    }
  for (int i = 0; i < processes; i++)
    if (wait(&status) < 0 || status != 0) m.failed++;
  for (int i = 0; i < processes; i++) end = std::max(end, m.end[i]);
  check(m.failed == 0, "%d processes: %d failed", processes, m.failed.load());
  check(m.wrong == 0, "%d processes: %lld wrong elements", processes, (long long)m.wrong);
  return (double)(load.matrices / processes * processes) * load.passes / (end - m.begin) * 1e6;
}

int main(int argc, char **argv)
{
  const int processes = argc > 1 ? std::min(atoi(argv[1]), (int)MOST) : 8;
  Load load = {argc > 2 ? atoi(argv[2]) : 64, argc > 3 ? atoi(argv[3]) : 400,
               argc > 4 ? atoi(argv[4]) : 1, false};
  Meeting *m = (Meeting *)mmap(nullptr, sizeof *m, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED || processes < 2 || load.ahead < 1) return 2;
  const double one = rate_of(*m, 1, load);
  printf("time products_a_second=%.0f processes=1 used_mb=%.0f\n", one, megabytes(m->used));
  printf("value us_a_product=%.2f\n", 1e6 / one);
  load.fills = argc > 5 ? atoi(argv[5]) != 0 : true;
  const double all = rate_of(*m, processes, load);
  printf("time products_a_second=%.0f processes=%d\n", all, processes);
  printf("value rate=%.3f\n", all / one);
  printf("value used_mb=%.0f\n", megabytes(m->used));
  printf("value filled_mb=%.0f\n", (double)m->chunks * (CHUNK >> 20));
  return finish();
}
