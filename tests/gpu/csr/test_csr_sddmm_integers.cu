// test_csr_sddmm_integers.cu: the csr route's SDDMM of int8 against its twin: into int32 bit for
// bit, over random and extreme values; into f32 to the roundings of alpha sum + beta C.
//
// What must not be read is -1: padding, and C.values where beta is 0.
//
//   test_csr_sddmm_integers          the checks
//   test_csr_sddmm_integers --time   and then the microseconds of 4096 x 4096, beside those of f16
#include "tests/gpu/csr/sddmm_twin.cuh"

using namespace harness;

namespace
{

// How operands are filled.
enum Fill { DRAWN, LEAST, GREATEST, ALTERNATING, FILLS };

double drawn(Fill how, int64_t at, Random &r)
{
  switch (how) {
  case LEAST: return -128;
  case GREATEST: return 127;
  case ALTERNATING: return at % 2 ? 127 : -128;
  default: return (double)r.below(256) - 128;
  }
}

void fill(Matrix &m, Fill how, Random &r)
{
  for (int64_t i = 0; i < m.host.rows; i++)
    for (int64_t j = 0; j < m.host.cols; j++) m.set(i, j, drawn(how, i + j, r));
  m.bytes.upload();
}

// C's old values, which count where beta does.
void fill_old(Sparse &c, shunt_type t, Fill how, Random &r)
{
  for (size_t i = 0; i < c.old.size(); i++) {
    const double x = t == SHUNT_F32 ? r.value() : drawn(how, (int64_t)i, r) * 16777213;
    store(c.values.host.data(), (int64_t)i, t, x);
    c.old[i] = load(c.values.host.data(), (int64_t)i, t);
  }
  c.values.upload();
}

// Entry i is as the twin has it: the roundings of the sum, of alpha's product and of the result.
bool is_right(const Setup &s, const std::vector<char> &want, const Sparse &c, int64_t i)
{
  const double x = load(want.data(), i, s.out), y = load(c.values.host.data(), i, s.out);
  if (s.out == SHUNT_I32) return x == y;
  const double old = s.beta == 0 ? 0 : s.beta * c.old[(size_t)i];
  return fabs(x - y) <= 0x1p-24 * (3 * fabs(x - old) + 2 * fabs(x) + fabs(old));
}

bool right(const Pattern &p, const Setup &s, Fill how, uint64_t seed, const shunt_device &d)
{
  Random r(seed);
  Matrix a(p.rows, s.k, s.a_rows, s.pad, s.shift, SHUNT_I8),
      b(s.k, p.cols, s.b_rows, s.pad, s.shift, SHUNT_I8);
  Sparse c(p, s.index, s.base, s.out, 0, r);
  if (s.beta != 0) fill_old(c, s.out, how, r);
  fill(a, how, r);
  fill(b, how, r);
  const Scalar alpha(s.alpha, s.device_scalars, s.out), beta(s.beta, s.device_scalars, s.out);
  const shunt_sddmm q = {a.device, b.device, c.device, alpha.value, beta.value, s.out};
  shunt_sddmm on_host = q;
  on_host.alpha = {nullptr, s.alpha, 0};
  on_host.beta = {nullptr, s.beta, 0};
  std::vector<char> want;
  if (!run_with_twin(a, b, c, q, on_host, seed % 2, d, &want)) return false;
  for (int64_t i = 0; i < p.nnz(); i++)
    if (!is_right(s, want, c, i)) return false;
  return true;
}

Setup setup(shunt_type out, int64_t k, int turn)
{
  static const double whole[] = {1, -3, 70000};
  Setup s = setup_for(0, k, turn);
  s.out = out;
  if (out == SHUNT_I32) s.alpha = whole[turn % 3];
  if (out == SHUNT_I32 && s.beta != 0) s.beta = -2;
  return s;
}

const char *name_of(shunt_type out)
{
  return out == SHUNT_I32 ? "i8 -> i32" : "i8 -> f32";
}

void test_into(shunt_type out, const shunt_device &d)
{
  test_patterns(name_of(out), {0, 1, 15, 16, 17, 31, 64, 65, 100, 128, 271},
                [&](const Pattern &p, int64_t k, int turn) {
                  return right(p, setup(out, k, turn), Fill(turn / 4 % FILLS), (uint64_t)turn, d);
                });
}

// Sums that wrap, into int32, and that could, into f32.
void test_long(const shunt_device &d)
{
  const Pattern p = random_pattern(3, 4, 0.6, 1, 3);
  const int64_t most = SHUNT_CSR_SDDMM_EXACT;
  check(right(p, setup(SHUNT_I32, most + 9, 0), LEAST, 1, d), "i8 -> i32: sums wrap");
  check(right(p, setup(SHUNT_F32, most, 0), LEAST, 1, d), "i8 -> f32: the longest sums");
  check(!right(p, setup(SHUNT_F32, most + 1, 0), LEAST, 1, d),
        "i8 -> f32: longer ones are refused");
}

double time_of(const Pattern &p, shunt_type in, shunt_type out, shunt_type compute, int64_t k,
               const shunt_device &d)
{
  Random r(1);
  Matrix a(p.rows, k, true, 0, 0, in), b(k, p.cols, false, 0, 0, in);
  Sparse c(p, SHUNT_I32, 0, out, 0, r);
  for (Matrix *m : {&a, &b}) {
    for (int64_t i = 0; i < m->host.rows * m->host.cols; i++)
      store(m->host.values, i, in, in == SHUNT_I8 ? drawn(DRAWN, i, r) : r.value());
    m->bytes.upload();
  }
  const shunt_sddmm q = {a.device, b.device, c.device, {nullptr, 1, 0}, {}, compute};
  Buffer room(shunt_csr_sddmm_workspace(&q, &d));
  return time_graph([&](cudaStream_t s) {
    shunt_csr_sddmm_cuda(&q, {}, &d, room.device, room.host.size(), (shunt_stream)s);
  });
}

void time_sddmm(const shunt_device &d)
{
  for (double density : {0.02, 0.1})
    for (int64_t k : {64, 256, 1024}) {
      const Pattern p = random_pattern(4096, 4096, density, 1, 1);
      printf("time %.2f K %d: i8 %.1f us, f16 %.1f\n", density, (int)k,
             time_of(p, SHUNT_I8, SHUNT_I32, SHUNT_I32, k, d),
             time_of(p, SHUNT_F16, SHUNT_F16, SHUNT_F32, k, d));
    }
}

} // namespace

int main(int argc, char **argv)
{
  const shunt_device d = this_device();
  for (shunt_type out : {SHUNT_I32, SHUNT_F32}) test_into(out, d);
  test_long(d);
  if (argc > 1 && !strcmp(argv[1], "--time")) time_sddmm(d);
  return finish();
}
