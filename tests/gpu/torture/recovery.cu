// recovery.cu: what stops Shunt from helping for a while, and what never may.
//
//   recovery [ROUNDS]
//
// ROUNDS (1) times for a dense, a 2:4 and a vectored matrix of f16:
//
//   NaN and Inf   in B or A for 40 calls, as when a step of a training diverges; 200 calls later a
//                 product takes no longer than before (1.15 x)
//   8 off 16      columns, values and both begin 8 bytes behind a multiple of 16, as PyTorch's do
//                 after an odd number of entries: as fast as aligned ones (1.15 x); 2:4 matrices
//                 within 2.5 x, whose columns are then hashed by 8 bytes, not compared by 16, and
//                 whose values cannot be read in place.  check_gpu.sh asks Shunt's report that the
//                 former stay on their route
//
// Results are compared with float64 throughout; times are the device's, the least of 15 blocks of
// 20 calls.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { SIDE = 4096, WIDTH = 256 };
static const double MOST = 1.15;

struct Kind {
  const char *name;
  MatrixShape shape;
  double most_shifted; // times as long as aligned
};
static const Kind kinds[] = {
    {"half full", {SIDE, SIDE, SIDE * 2 / 5, 1, CUDA_R_16F}, MOST},
    {"2:4", {SIDE, SIDE, SIDE / 2, 1, CUDA_R_16F}, 2.5},
    {"8 x 1", {SIDE, SIDE, SIDE / 10, 8, CUDA_R_16F}, MOST},
};

// The host hears of each before the next.
static void settle(Lane &l, const Problem &p, int calls)
{
  for (int i = 0; i < calls; i++) {
    call(l, p);
    CUDA_OK(cudaStreamSynchronize(l.stream));
  }
}

static double settled_us(Lane &l, const Problem &p)
{
  double least = 1e30;
  for (int block = 0; block < 15; block++)
    least = std::min(least, device_us(l, [&] {
                       for (int i = 0; i < 20; i++) call(l, p);
                     }));
  return least / 20;
}

static unsigned checked(Lane &l, const Problem &p)
{
  CUDA_OK(cudaMemsetAsync(p.c.values, 0xff, (size_t)p.c.stored() * type_size(p.c.type), l.stream));
  call(l, p);
  return count_wrong(l, p);
}

static void put(Lane &l, void *p, int64_t i, cudaDataType t, double v)
{
  put_kernel<<<1, 1, 0, l.stream>>>(p, i, t, v, 0);
  CUDA_OK(cudaGetLastError());
}

// `array` is B's or A's.
static void test_nonfinite(Lane &l, const Problem &p, const char *name, void *array, int64_t at,
                           double odd, const char *where)
{
  settle(l, p, 40);
  const double before = settled_us(l, p);
  unsigned wrong = checked(l, p);
  put(l, array, at, p.a.type, odd);
  settle(l, p, 40);
  wrong += checked(l, p);
  put(l, array, at, p.a.type, 0.5);
  wrong += checked(l, p);
  settle(l, p, 200);
  const double after = settled_us(l, p);
  wrong += checked(l, p);
  check(after <= MOST * before, "%s, %g in %s and gone again: %.2f us, %.2f before", name, odd,
        where, after, before);
  check(wrong == 0, "%s, %g in %s: %u wrong elements", name, odd, where, wrong);
}

static void test_shifted(Lane &l, const Kind &k, const Problem &aligned)
{
  static const int shifts[][2] = {{8, 0}, {0, 8}, {8, 8}};
  settle(l, aligned, 40);
  const double before = settled_us(l, aligned);
  for (auto &shift : shifts) {
    Matrix m = make_matrix(k.shape, 11, l.stream, shift[0], shift[1]);
    const Problem p = product_of(m.a, aligned.b, aligned.c);
    settle(l, p, 40);
    const double us = settled_us(l, p);
    const unsigned wrong = checked(l, p);
    check(us <= k.most_shifted * before,
          "%s, columns %d and values %d bytes off 16: %.2f us, %.2f aligned", k.name, shift[0],
          shift[1], us, before);
    check(wrong == 0, "%s, columns %d and values %d bytes off 16: %u wrong elements", k.name,
          shift[0], shift[1], wrong);
    CUDA_OK(cudaDeviceSynchronize());
    destroy_matrix(m);
  }
}

int main(int argc, char **argv)
{
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  Lane l = make_lane();
  const Dense b = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  const Dense c = make_dense(SIDE, WIDTH, false, CUDA_R_16F);
  for (int round = 0; round < rounds; round++)
    for (const Kind &k : kinds) {
      Matrix m = make_matrix(k.shape, 11, l.stream);
      fill(b.values, b.stored(), CUDA_R_16F, 13, FILL_RANDOM, l.stream);
      const Problem p = product_of(m.a, b, c);
      test_nonfinite(l, p, k.name, b.values, b.at(SIDE / 3, 5), NAN, "B");
      test_nonfinite(l, p, k.name, m.a.values, m.a.nnz / 2, INFINITY, "A");
      test_shifted(l, k, p);
      CUDA_OK(cudaDeviceSynchronize());
      destroy_matrix(m);
    }
  CUDA_OK(cudaFree(b.values));
  CUDA_OK(cudaFree(c.values));
  destroy_lane(l);
  return finish();
}
