// many_problems.cu: a program whose sizes vary, as those that draw mini-batches do.
//
//   many_problems [PROBLEMS]
//
// PROBLEMS (100,000) products, no two of the same sizes, in the same arrays: 480 to 543 rows, 512
// to 543 columns, 1 to 64 columns of B.  The columns of the matrix all lie below 480; its rows are
// of one length, so that its first rows are a matrix, too.
//
//   time     of a product in the last tenth as in the second: what is remembered of problems is
//            bounded, and the recent ones are among it
//   memory   of the process the same at the end as after the first tenth
//   results  of one product in a hundred compared with float64
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { ROWS = 480, COLS = 512, MORE_ROWS = 64, MORE_COLS = 32, WIDTH = 64, LENGTH = 24 };
static const int64_t HOST_SLACK = 16 << 20;

struct Scene {
  Lane lane;
  Matrix matrix;
  Dense b, c; // of the largest sizes
  int64_t wrong;
};

// The k-th of MORE_ROWS x MORE_COLS x WIDTH problems; neighbours differ in all sizes.
static Problem problem(const Scene &s, int64_t k)
{
  const int64_t u = k * 5003 % (MORE_ROWS * MORE_COLS * WIDTH);
  Problem p = product_of(s.matrix.a, s.b, s.c);
  p.a.rows = p.c.rows = ROWS + u % MORE_ROWS;
  p.a.cols = p.b.rows = COLS + u / MORE_ROWS % MORE_COLS;
  p.a.nnz = p.a.rows * LENGTH;
  p.b.cols = p.b.ld = p.c.cols = p.c.ld = 1 + u / (MORE_ROWS * MORE_COLS);
  return p;
}

// us for each
static double run(Scene &s, int64_t begin, int64_t end)
{
  double us = 0;
  for (int64_t k = begin; k < end; k += 100) {
    const double start = clock_us();
    for (int64_t i = k; i < std::min(k + 100, end); i++) call(s.lane, problem(s, i));
    CUDA_OK(cudaStreamSynchronize(s.lane.stream));
    us += clock_us() - start;
    s.wrong += count_wrong(s.lane, problem(s, std::min(k + 100, end) - 1));
  }
  return us / (double)(end - begin);
}

int main(int argc, char **argv)
{
  const int64_t most = MORE_ROWS * MORE_COLS * WIDTH; // 131,072
  const int64_t problems = std::min(most, argc > 1 ? (int64_t)atoll(argv[1]) : (int64_t)100000);
  const int64_t tenth = std::max<int64_t>(problems / 10, 100);
  Scene s = Scene();
  s.lane = make_lane();
  s.matrix = make_matrix({ROWS + MORE_ROWS, ROWS, LENGTH, 1, CUDA_R_32F}, 3, s.lane.stream);
  s.b = make_dense(COLS + MORE_COLS, WIDTH, false, CUDA_R_32F);
  s.c = make_dense(ROWS + MORE_ROWS, WIDTH, false, CUDA_R_32F);
  fill(s.b.values, s.b.stored(), CUDA_R_32F, 7, FILL_RANDOM, s.lane.stream);
  grow_workspace(s.lane, 32 << 20);
  run(s, 0, tenth);
  const int64_t host = host_bytes();
  const double early = run(s, tenth, 2 * tenth);
  run(s, 2 * tenth, problems - tenth);
  const double late = run(s, problems - tenth, problems);
  const int64_t host_more = host_bytes() - host;
  check(late <= 1.25 * early, "%lld problems: %.2f us a product, %.2f in the second tenth",
        (long long)problems, late, early);
  // What is kept of the last 65,536 problems and matrices is still filling up.
  check(host_more <= HOST_SLACK + 65536 * 256,
        "%lld problems: %.1f MB more of the host's memory than after %lld", (long long)problems,
        megabytes(host_more), (long long)tenth);
  check(s.wrong == 0, "%lld wrong elements", (long long)s.wrong);
  destroy_matrix(s.matrix);
  CUDA_OK(cudaFree(s.b.values));
  CUDA_OK(cudaFree(s.c.values));
  destroy_lane(s.lane);
  return finish();
}
