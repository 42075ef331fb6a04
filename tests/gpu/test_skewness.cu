// test_skewness.cu: shunt_skewness_csr_cuda counts what its host twin counts.
#include "conv/skewness.h"
#include "tests/gpu/dcsr_operands.cuh"

struct Counter {
  Buffer scratch;
  shunt_skewness *out;

  Counter() : scratch(SHUNT_SKEWNESS_SCRATCH)
  {
    CUDA_OK(cudaMallocHost((void **)&out, sizeof *out));
  }
  ~Counter() { cudaFreeHost(out); }
  bool count(const shunt_csr &a, int64_t width, uint64_t serial)
  {
    const shunt_device d = this_device();
    memset(out, 0xff, sizeof *out);
    return shunt_skewness_csr_cuda(&a, width, serial, out, scratch.device, &d, 0) == SHUNT_OK &&
           cudaDeviceSynchronize() == cudaSuccess && out->serial == serial;
  }
};

static bool near(double x, double y)
{
  return fabs(x - y) <= 1e-6 * (1e-6 + fabs(y));
}

static bool agrees(Counter &c, const Pattern &p, int64_t width, Random &r)
{
  Arrays a(p, r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2));
  const shunt_csr host = a.csr(p, false, nullptr, SHUNT_F32);
  const shunt_csr device = a.csr(p, true, nullptr, SHUNT_F32);
  shunt_skewness want;
  if (shunt_skewness_csr_host(&host, width, &want) != SHUNT_OK) exit(3);
  if (!c.count(device, width, r.next() | 1)) return false;
  const shunt_skewness &got = *c.out;
  const bool good = got.nnz == want.nnz && got.filled_rows == want.filled_rows &&
                    got.segments == want.segments && got.strips == want.strips &&
                    got.guessed_rows == 0 && near(got.weight, want.weight) &&
                    near(got.ssf, want.ssf) && fabs(got.entropy - want.entropy) < 1e-7;
  if (!good)
    printf("# %lld x %lld, width %lld: %lld segments, not %lld; weight %.9g, not %.9g\n",
           (long long)p.rows, (long long)p.cols, (long long)width, (long long)got.segments,
           (long long)want.segments, got.weight, want.weight);
  return good;
}

// Columns of each row in no order.
static Pattern shuffled(Pattern p, uint64_t seed)
{
  Random r(seed);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t e = p.offsets[(size_t)i + 1] - 1; e > p.offsets[(size_t)i]; e--)
      std::swap(p.columns[(size_t)e],
                p.columns[(size_t)(p.offsets[(size_t)i] + r.below(e - p.offsets[(size_t)i] + 1))]);
  return p;
}

static void test_kinds()
{
  Random r(21);
  Counter c;
  for (int kind = 0; kind < KINDS_OF_DCSR; kind++) {
    bool good = true, unsorted = true;
    for (int64_t rows : {1, 9, 400})
      for (int64_t cols : {1, 64, 700})
        for (int64_t width : {1, 64, 300}) {
          const Pattern p = dcsr_pattern((DcsrKind)kind, rows, cols, 0.1, r.next());
          good = agrees(c, p, width, r) && good;
          if (kind != REPEATED) unsorted = agrees(c, shuffled(p, r.next()), width, r) && unsorted;
        }
    check(good, "%s: as the twin", dcsr_kind_name[kind]);
    if (kind != REPEATED) check(unsorted, "%s: in no order, as the twin", dcsr_kind_name[kind]);
  }
}

// Rows too long to be looked at pair by pair are told.
static void test_guess()
{
  Random r(22);
  Counter c;
  const Pattern p = shuffled(random_pattern(3, 3000, 0.9, 1, 5), 6);
  Arrays a(p, SHUNT_I32, 0);
  check(c.count(a.csr(p, true, nullptr, SHUNT_F32), 64, 7) && c.out->guessed_rows == 3,
        "long rows in no order are guessed, and said to be");
}

static void test_bad_offsets()
{
  Counter c;
  const Pattern p = random_pattern(50, 90, 0.2, 1, 5);
  Arrays a(p, SHUNT_I64, 1);
  store(a.offsets.host.data(), 7, SHUNT_I64, 4e15);
  store(a.offsets.host.data(), 20, SHUNT_I64, -9e15);
  a.offsets.upload();
  check(c.count(a.csr(p, true, nullptr, SHUNT_F32), 64, 7) && c.out->filled_rows < 50,
        "offsets that cannot be are not followed");
}

static void test_declined()
{
  Counter c;
  const Pattern p = random_pattern(5, 9, 0.2, 1, 5);
  Arrays a(p, SHUNT_I32, 0);
  shunt_csr m = a.csr(p, true, nullptr, SHUNT_F32);
  const shunt_device d = this_device();
  check(shunt_skewness_csr_cuda(&m, 0, 1, c.out, c.scratch.device, &d, 0) == SHUNT_E_ARGUMENT &&
            shunt_skewness_csr_cuda(&m, 64, 1, nullptr, c.scratch.device, &d, 0) ==
                SHUNT_E_ARGUMENT,
        "no width and nowhere to write are refused");
  m.index_type = SHUNT_F32;
  check(shunt_skewness_csr_cuda(&m, 64, 1, c.out, c.scratch.device, &d, 0) == SHUNT_E_UNSUPPORTED,
        "an index type that is none is declined");
}

int main()
{
  test_kinds();
  test_guess();
  test_bad_offsets();
  test_declined();
  return finish();
}
