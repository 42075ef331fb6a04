// test_repair.cu: shunt_guard_repair_cuda leaves C alone when nothing speaks against
// the dense copy of A, and computes all of C again for each reason that may.
//
//   test_repair            the checks
//   test_repair --time     and what a proof costs that finds nothing (time_repair.cuh)
#include "tests/gpu/guard/repair_output.cuh"
#include "tests/gpu/guard/time_repair.cuh"

using namespace harness;

namespace
{

// ---- every reason alone ------------------------------------------------------------------

// Nothing speaks against the copy, with and without each of the words.
bool rests(Lab &lab, How how)
{
  bool good = true;
  for (int k = 0; k < 8; k++) {
    how.asks_flag = k & 1;
    how.asks_print = k & 2;
    how.tells = k & 4;
    how.of_values = k == 2 || k == 7;
    how.wait_cycles = k == 6 ? 0 : SHUNT_GUARD_WAIT_CYCLES;
    good &= runs(lab, how);
  }
  return good;
}

bool repairs_flag_and_change(Lab &lab, How how)
{
  bool good = true;
  how.reasons = FLAG;
  good &= runs(lab, how);
  how.asks_print = how.tells = false;
  good &= runs(lab, how);
  how.asks_print = how.tells = true;
  for (int k = 0; k < 6; k++) {
    how.reasons = CHANGED;
    how.expected = k;
    how.of_values = k > 3;
    how.asks_flag = k < 3;
    how.wait_cycles = k % 2 ? 0 : SHUNT_GUARD_WAIT_CYCLES; // 0: the last block repairs alone
    good &= runs(lab, how);
  }
  return good;
}

bool repairs_nonfinite(Lab &lab, How how)
{
  bool good = true;
  for (double special : {(double)NAN, (double)INFINITY, -(double)INFINITY})
    for (int64_t at : {(int64_t)0, lab.n / 2, lab.n - 1}) {
      how.special = special;
      how.at = at;
      how.reasons = NONFINITE;
      how.asks_print = at != lab.n / 2;
      good &= runs(lab, how);
    }
  how.asks_print = true;
  for (int also : {(int)FLAG, (int)CHANGED, FLAG | CHANGED}) {
    how.reasons = NONFINITE | also;
    good &= runs(lab, how);
  }
  return good;
}

void test_shape(shunt_type type, int64_t rows, int64_t cols, double density, int64_t n, int turn)
{
  Lab lab(random_pattern(rows, cols, density, 1, (uint64_t)(rows + n)), n, type,
          turn % 2 ? SHUNT_I64 : SHUNT_I32, turn / 2 % 2);
  static Sample sample(7);
  bool rest = true, told = true, alarm = true;
  for (int k = 0; k < 8; k++) {
    How how;
    how.column_order = k & 1;
    how.separate = k & 2;
    how.out = k & 4 ? SHUNT_F32 : type;
    if ((type == SHUNT_F32 || type == SHUNT_F64) && k & 4) break;
    int ways = how.separate ? 3 : 2;
    bool large = rows * n > 100000; // the host would take long
    if (large && how.column_order != how.separate) continue;
    for (int scaled = 0; scaled < ways; scaled++) {
      if ((large && scaled != (k + 2) % ways) || sample.leaves_out()) continue;
      how.overlaps = (turn + k + scaled) & 1;
      how.alpha = scaled ? -1.5 : 1;
      how.beta = scaled == 2 ? 0.5 : 0; // only where the product is not C
      rest &= rests(lab, how);
      told &= repairs_flag_and_change(lab, how);
      alarm &= repairs_nonfinite(lab, how);
    }
  }
  char shape[64];
  snprintf(shape, sizeof shape, "%s, %lld x %lld, N = %lld", name_of(type), (long long)rows,
           (long long)cols, (long long)n);
  check(rest, "%s: nothing to repair, nothing changes", shape);
  check(told, "%s: a word, or a change of A, is enough", shape);
  check(alarm, "%s: NaN or Inf in the product's first row is enough", shape);
}

// ---- a pattern that is promised ------------------------------------------------------------

// What is not read cannot speak against the copy; values still do.
void test_promised(shunt_type index)
{
  Lab lab(random_pattern(100, 60, 0.2, 1, 5), 40, SHUNT_F16, index, 0);
  How how;
  how.out = SHUNT_F16;
  how.of_values = true;
  bool good = runs(lab, how);
  lab.columns.host[0] ^= 1;
  lab.columns.upload();
  good &= runs(lab, how);
  lab.columns.host[0] ^= 1;
  lab.columns.upload();
  how.reasons = CHANGED;
  for (how.expected = 0; how.expected < 3; how.expected++) good &= runs(lab, how);
  check(good, "of values alone, %s columns: a pattern is not read, a changed value is seen",
        index == SHUNT_I64 ? "64-bit" : "32-bit");
}

// ---- the same again and again ------------------------------------------------------------

void test_repeats(shunt_type type, bool separate)
{
  const int repairs = sized(50, 4) / every();
  Lab lab(random_pattern(sized(1000, 100), sized(400, 90), sized(0.1, 0.3), 1, 3), 300, type,
          SHUNT_I32, 0);
  How how;
  how.out = type;
  how.separate = separate;
  how.beta = separate ? -0.75 : 0;
  bool good = true, same = true;
  for (int reasons : {(int)FLAG, (int)CHANGED, (int)NONFINITE}) {
    how.reasons = reasons;
    how.at = 299;
    Output o(lab, how);
    std::vector<char> first;
    for (int k = 0; k < repairs; k++) {
      o.how.overlaps = k & 1;
      o.how.wait_cycles = k % 3 ? SHUNT_GUARD_WAIT_CYCLES : k / 3 * 100;
      o.reset();
      good &= o.launch() == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      good &= o.words_right() && (k ? true : o.content_right());
      o.c.download();
      if (k == 0) first = o.c.host;
      same &= o.c.host == first;
    }
  }
  check(good && same,
        "%s, %s: %d repairs for each reason, however long blocks wait: the same bits each time",
        name_of(type), separate ? "W" : "C", repairs);
}

// ---- what kernels/guard/probe.cuh claims --------------------------------------------------------

// The dense product of A, written out with its zeros, and B: every zero multiplies.
void multiply_dense(const Lab &lab, Output &o)
{
  std::vector<double> d((size_t)(lab.p.rows * lab.p.cols));
  for (int64_t i = 0; i < lab.p.rows; i++)
    for (int64_t q = lab.p.offsets[i]; q < lab.p.offsets[i + 1]; q++)
      d[(size_t)(i * lab.p.cols + lab.p.columns[(size_t)q])] = lab.a_values[(size_t)q];
  for (int64_t i = 0; i < lab.p.rows; i++)
    for (int64_t j = 0; j < lab.n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < lab.p.cols; k++)
        sum += d[(size_t)(i * lab.p.cols + k)] * lab.b_values[(size_t)(k * lab.n + j)];
      store(o.c.host.data(), o.place(i, j), o.how.out, sum);
    }
}

// One NaN or Inf anywhere in B: the dense product's first row tells, and the repair gives
// what the sparse product is, finite wherever no entry of A meets it.
void test_claim(shunt_type type)
{
  Lab lab(random_pattern(40, 60, 0.15, 1, 9), 33, type, SHUNT_I32, 0);
  const double odd[] = {NAN, INFINITY, -INFINITY};
  std::vector<char> finite_b = lab.b.host;
  std::vector<char> in_row((size_t)lab.p.cols);
  for (int64_t q = 0; q < lab.p.offsets[1]; q++) in_row[(size_t)lab.p.columns[(size_t)q]] = 1;
  Random r(41);
  How how;
  how.out = type;
  bool seen = true, right = true;
  int met = 0, missed = 0;
  for (int64_t k = 0; k < 2 * lab.p.cols; k += sized(1, 7)) {
    int64_t at = k % lab.p.cols, j = r.below(lab.n);
    lab.b.host = finite_b;
    store(lab.b.host.data(), at * lab.n + j, type, odd[k % 3]);
    lab.refresh();
    how.reasons = 0; // fill() adds nothing of its own
    how.column_order = k & 1;
    Output o(lab, how);
    multiply_dense(lab, o);
    o.c.upload();
    o.before = o.c.host;
    double first = load(o.c.host.data(), o.place(0, j), type);
    seen &= isnan(first) || isinf(first);
    o.how.reasons = NONFINITE; // what the launch must find
    right &= o.run();
    in_row[(size_t)at] ? met++ : missed++;
  }
  check(seen && met > 0 && missed > 0,
        "%s: one bad element of B shows in the dense product's first row (%d x an entry, %d x a "
        "zero)",
        name_of(type), met, missed);
  check(right, "%s: and the repair gives the sparse product", name_of(type));
}

// ---- edges -------------------------------------------------------------------------------

void test_edges()
{
  How how;
  how.out = SHUNT_F16;
  bool good = true;
  for (int reasons : {0, (int)FLAG, (int)CHANGED, (int)NONFINITE}) {
    how.reasons = reasons;
    Lab one(random_pattern(1, 50, 0.5, 1, 2), 40, SHUNT_F16, SHUNT_I32, 1);
    Lab empty(random_pattern(20, 30, 0, 1, 2), 40, SHUNT_F16, SHUNT_I64, 0);
    good &= runs(one, how) && runs(empty, how);
  }
  check(good, "one row; no entries");

  Lab lab(random_pattern(10, 10, 0.5, 1, 2), 8, SHUNT_F16, SHUNT_I32, 0);
  Output o(lab, how);
  shunt_spmm p = {};
  p.a = lab.a;
  p.b = shunt_dense{10, 8, 8, 1, lab.b.device, SHUNT_F16};
  p.c = shunt_dense{10, 8, 8, 1, o.c.device, SHUNT_F16};
  p.alpha.host = 1;
  p.compute = SHUNT_F32;
  shunt_guard right = {}, r;
  right.product = &p.c;
  right.sets = common->sets;
  right.set_count = common->count;
  right.key = common;
  bool refused = true;
  auto refuses = [&] { return shunt_guard_repair_cuda(&p, &r, &device, 0) == SHUNT_E_ARGUMENT; };
  (r = right).product = nullptr, refused &= refuses();
  (r = right).sets = nullptr, refused &= refuses();
  (r = right).sets = common->sets + 32, refused &= refuses();
  (r = right).set_count = 0, refused &= refuses();
  (r = right).set_count = 24, refused &= refuses();
  (r = right).key = nullptr, refused &= refuses();
  check(refused, "a repair wants a product to look at, and a table of sets and a key");
}

} // namespace

int main(int argc, char **argv)
{
  device = this_device();
  common = new Table(2);
  int turn = 0;
  for (shunt_type type : {SHUNT_F16, SHUNT_BF16, SHUNT_F32, SHUNT_F64})
    for (int64_t n : {1, 33, sized(300, 70)}) {
      if (left_out()) continue;
      test_shape(type, 7, 20, 0.4, n, turn++);
      test_shape(type, sized(1000, 90), sized(400, 120), sized(0.05, 0.3), n, turn++);
    }
  for (shunt_type type : {SHUNT_F16, SHUNT_BF16, SHUNT_F32}) {
    test_repeats(type, false);
    test_repeats(type, true);
    test_claim(type);
  }
  test_promised(SHUNT_I32);
  test_promised(SHUNT_I64);
  test_edges();
  check(common->canary_lives(), "nothing was written behind the table");
  if (argc > 1 && strcmp(argv[1], "--time") == 0) time_repair();
  delete common;
  return finish();
}
