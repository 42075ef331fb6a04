// test_graphblas_gpu_masked.cu: GraphBLAS' GPU engine for products of two sparse matrices under a
// sparse mask, against the twin on the host: every form of the operands, what stays on the device,
// the limit on its memory, which products it takes, and CUDA failing at each of its calls in turn.
//
// The program runs itself again with SHUNT_CACHE_MB and SHUNT_VERIFY set.
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/fault.h"
#include "tests/gpu/graphblas/masked_product.cuh"
#include "tests/gpu/graphblas/small_budget.cuh"

using namespace harness;

static const char *mode = "plain";

// ---- every form -----------------------------------------------------------------------------

static shunt_semiring random_semiring(Random &r)
{
  const shunt_type types[] = {SHUNT_F32, SHUNT_F64, SHUNT_I32, SHUNT_I64, SHUNT_U64};
  const enum shunt_multiplier by[] = {SHUNT_TIMES, SHUNT_FIRST, SHUNT_SECOND, SHUNT_PAIR};
  const enum shunt_monoid alike[] = {SHUNT_MIN, SHUNT_MAX, SHUNT_ANY};
  shunt_semiring s = {SHUNT_PLUS, by[r.below(4)], types[r.below(5)], false};
  if (s.multiplier == SHUNT_PAIR && r.below(3) == 0) s.monoid = alike[r.below(3)];
  if (s.monoid == SHUNT_ANY && r.below(2)) s.type = SHUNT_U8;
  if (s.type == SHUNT_I32) s.is_unsigned = r.below(2);
  return s;
}

static void test_forms(int cases)
{
  Random r(142);
  int bad = 0;
  for (int i = 0; i < cases && bad < 5; i++) {
    const shunt_semiring by = random_semiring(r);
    const int64_t m = 1 + r.below(150), n = 1 + r.below(150), k = 1 + r.below(400);
    Form of_m = random_form(r), of_a = random_form(r), of_b = random_form(r);
    of_m.by_column = false;
    Operand M(m, n, 12, by.type, of_m, 2000 + i), A(m, k, 9, by.type, of_a, 3000 + i);
    Operand B(n, k, 14, by.type, of_b, 4000 + i);
    const bool same = r.below(4) == 0;
    Operand square(m, m, r.below(2) ? 12 : 20 * (double)m, by.type, of_m, 5000 + i); // mirrored
    const shunt_masked_dot x = same ? masked_dot(by, square, A, A) : masked_dot(by, M, A, B);
    const grb_masked_sources from = {{&M, 1 + (uint64_t)i, false, false}, {}, {}};
    const Masked t = by_gpu(x, r.below(2) ? from : grb_masked_sources{});
    if (is_right(x, t)) continue;
    bad++;
    printf("# case %d status %d %d: monoid %d op %d type %d, %ld x %ld x %ld, one matrix %d\n", i,
           t.begin, t.end, by.monoid, by.multiplier, by.type, (long)m, (long)n, (long)k, same);
  }
  check(bad == 0, "%s: %d random products are the twin's", mode, cases);
}

static void test_unsupported()
{
  const Form plain = {false, false, false, 8};
  Operand A(40, 40, 6, SHUNT_F64, plain, 7);
  const shunt_semiring by[] = {{SHUNT_MIN, SHUNT_TIMES, SHUNT_F64, false},
                               {SHUNT_PLUS, SHUNT_ADD, SHUNT_F64, false}};
  for (const shunt_semiring &s : by)
    check(by_gpu(masked_dot(s, A, A, A), {}).begin == SHUNT_E_UNSUPPORTED,
          "%s: monoid %d of operator %d is the host's", mode, s.monoid, s.multiplier);
}

// ---- what stays -----------------------------------------------------------------------------

static void uploads(const shunt_masked_dot &x, const grb_masked_sources &from, uint64_t wanted,
                    const char *what)
{
  const grb_gpu_counts before = masked_counts();
  const Masked t = by_gpu(x, from);
  const uint64_t sent = masked_counts().sparse_uploads - before.sparse_uploads;
  check(is_right(x, t) && sent == wanted, "%s: %s: %d sent", mode, what, (int)sent);
}

static void test_resident()
{
  const Form plain = {false, false, false, 8};
  const shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false};
  const shunt_semiring times = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false};
  Operand S(200, 200, 10, SHUNT_F64, plain, 11), L(200, 200, 5, SHUNT_F64, plain, 12);
  const grb_identity s = {&S, 5, false, false}, l = {&L, 6, false, false};
  grb_gpu_forget();
  uploads(masked_dot(pair, S, S, S), {s, s, s}, 1, "S S' under S");
  uploads(masked_dot(pair, S, S, S), {s, s, s}, 0, "again");
  uploads(masked_dot(pair, S, L, L), {s, l, l}, 1, "S is there");
  uploads(masked_dot(times, S, S, S), {s, s, s}, 1, "S with its values");
  uploads(masked_dot(times, S, S, S), {s, s, s}, 0, "they stay");
  const grb_identity later = {&S, 7, false, false}, unknown = {};
  uploads(masked_dot(pair, S, S, S), {later, later, later}, 1, "another epoch");
  uploads(masked_dot(pair, S, S, S), {unknown, unknown, unknown}, 1, "nobody's");
  uploads(masked_dot(pair, S, S, S), {unknown, unknown, unknown}, 1, "nobody's is not kept");
}

static void test_verify()
{
  const Form plain = {false, false, false, 8};
  const shunt_semiring times = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false};
  Operand S(200, 200, 10, SHUNT_F64, plain, 11);
  const grb_identity s = {&S, 0, false, false};
  const shunt_masked_dot x = masked_dot(times, S, S, S);
  uploads(x, {s, s, s}, 1, "new");
  uploads(x, {s, s, s}, 0, "kept without an epoch");
  store(S.values.data(), S.s.nnz / 3 + 1, SHUNT_F64, 0.75);
  uploads(x, {s, s, s}, 1, "one value changed, nobody said so");
}

// ---- the limit ------------------------------------------------------------------------------

// A product in parts reads one count, and one sum of `size` bytes, of each of M's entries back.
static void in_parts(const shunt_masked_dot &x, const grb_masked_sources &from, size_t size,
                     const char *what)
{
  const grb_gpu_counts before = masked_counts();
  const Masked t = by_gpu(x, from);
  const uint64_t down = masked_counts().bytes_down - before.bytes_down;
  check(is_right(x, t) && down == (uint64_t)x.m.nnz * (4 + size), "%s: %s, %ld entries in parts",
        mode, what, (long)x.m.nnz);
}

static void test_parts()
{
  const Form plain = {false, false, false, 4}, hyper = {false, true, false, 8};
  const Form by_column = {true, false, false, 8};
  Operand S(1000, 1000, 42, SHUNT_F64, plain, 22), M(700, 700, 110, SHUNT_F64, hyper, 23);
  Operand A(700, 50, 1, SHUNT_F64, plain, 24), B(700, 50, 1, SHUNT_F64, by_column, 25);
  Operand wide(900, 900, 110, SHUNT_U8, plain, 29), C(900, 50, 1, SHUNT_U8, plain, 30);
  const grb_identity s = {&S, 5, false, false}, m = {&M, 6, false, false};
  const shunt_semiring first = {SHUNT_PLUS, SHUNT_FIRST, SHUNT_F64, false};
  const shunt_semiring times = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false};
  const shunt_semiring any = {SHUNT_ANY, SHUNT_PAIR, SHUNT_U8, false};
  const shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false};
  const shunt_masked_dot one = masked_dot(first, S, S, S);
  in_parts(one, {s, s, s}, 8, "S S' under S");
  in_parts(one, {s, s, s}, 8, "again, S is there");
  in_parts(masked_dot(times, M, A, B), {m, {}, {}}, 8, "sums under another M");
  in_parts(masked_dot(pair, M, A, B), {m, {}, {}}, 0, "counts");
  in_parts(masked_dot(any, wide, C, C), {}, 0, "one value for all");
  const grb_masked_sources nobody = {};
  bool wise = false;
  const shunt_masked_dot sums = masked_dot(times, M, A, B);
  for (int i = 0; i < 5 && !wise; i++) wise = grb_gpu_masked_wise(&sums, &nobody, 1e7, 1e6);
  check(wise, "%s: parts are worth while", mode);
}

static void test_limit()
{
  const Form plain = {false, false, false, 4};
  const shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false};
  const shunt_semiring times = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false};
  Operand S(2500, 2500, 100, SHUNT_U8, plain, 21);
  const shunt_masked_dot x = masked_dot(pair, S, S, S);
  const Masked t = by_gpu(x, {});
  check(t.begin == SHUNT_E_WORKSPACE, "%s: %ld entries of A are too many (%d)", mode, (long)S.s.nnz,
        t.begin);
  check(!grb_gpu_masked_wise(&x, (const grb_masked_sources[]){{}}, 1e9, 1e3), "%s: nor wise", mode);
  Operand line(1, 120000, 110000, SHUNT_F64, plain, 26), a(1, 20, 5, SHUNT_F64, plain, 27);
  Operand b(120000, 20, 0.1, SHUNT_F64, plain, 28);
  check(by_gpu(masked_dot(times, line, a, b), {}).begin == SHUNT_E_WORKSPACE,
        "%s: so is a row of M that is no part", mode);
  for (int i = 0; i < 12; i++) { // what stays makes room
    Operand few(400, 400, 15, SHUNT_U8, plain, 30 + i);
    const grb_identity id = {&few, 90 + (uint64_t)i, false, false};
    const shunt_masked_dot y = masked_dot(pair, few, few, few);
    const Masked u = by_gpu(y, {id, id, id});
    if (!is_right(y, u)) check(false, "%s: product %d (%d %d)", mode, i, u.begin, u.end);
  }
}

// ---- placement ------------------------------------------------------------------------------

static void test_wise()
{
  const Form plain = {false, false, false, 8};
  const shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false};
  Operand S(400, 400, 20, SHUNT_U8, plain, 41);
  const shunt_masked_dot x = masked_dot(pair, S, S, S);
  const grb_masked_sources from = {};
  check(!grb_gpu_masked_wise(&x, &from, 1e5, 1e-4), "%s: what takes 0.1 ms stays", mode);
  check(!grb_gpu_masked_wise(&x, &from, 1e12, 0.1), "%s: so does what has no gain", mode);
  bool wise = false;
  for (int i = 0; i < 5 && !wise; i++) wise = grb_gpu_masked_wise(&x, &from, 1e7, 0.2);
  check(wise, "%s: once CUDA's start has paid, what takes 0.2 s goes to the GPU", mode);
  check(!grb_gpu_masked_wise(&x, &from, 1e5, 1e-4), "%s: what takes 0.1 ms still stays", mode);
}

// ---- failures -------------------------------------------------------------------------------

// One call in `each`.  M is rows x rows, of `mean` entries a row; A and B have `few`.
static void test_faults(shunt_semiring by, int each, int64_t rows, double mean, double few)
{
  const Form plain = {false, false, false, 8}, hyper = {false, true, false, 8};
  Operand M(rows, rows, mean, by.type, hyper, 51), A(rows, 90, few, by.type, plain, 52);
  Operand B(rows, 90, few, by.type, plain, 53);
  const shunt_masked_dot x = masked_dot(by, M, A, B);
  int rounds = 0, refused = 0, bad = 0;
  long seen = 0;
  for (long n = 1; n < 500 && (n == 1 || seen >= n - each); n += each, rounds++) {
    const grb_masked_sources from = {{&M, 1000 + (uint64_t)n, false, false},
                                     {&A, 1000 + (uint64_t)n, false, false},
                                     {&B, 1000 + (uint64_t)n, false, false}};
    grb_gpu_forget();
    shunt_fault_arm(n);
    const Masked t = by_gpu(x, from);
    seen = shunt_faults_seen();
    shunt_fault_armed = 0;
    refused += !t.done();
    bad += t.done() && !is_right(x, t);
    bad += !is_right(x, by_gpu(x, from));
  }
  check(bad == 0 && refused > 10 && seen < 499, "%s: %d faults, %d refused, %d bad", mode, rounds,
        refused, bad);
}

// ---- the program ----------------------------------------------------------------------------

static void again(const char *variable, const char *value, const char *what)
{
  fflush(stdout);
  const pid_t child = fork(); // before CUDA is started
  if (child == 0) {
    setenv(variable, value, 1);
    execl("/proc/self/exe", "test_graphblas_gpu_masked", what, (char *)NULL);
    _exit(3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "with %s=%s", variable, value);
}

int main(int argc, char **argv)
{
  mode = argc > 1 ? argv[1] : "plain";
  if (argc == 1) {
    {
      const SmallBudget alone;
      again("SHUNT_CACHE_MB", "1", "limit");
    }
    again("SHUNT_VERIFY", "1", "verify");
  }
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    Operand S(40, 40, 4, SHUNT_F64, {false, false, false, 8}, 1);
    const shunt_semiring pair = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_F64, false};
    check(by_gpu(masked_dot(pair, S, S, S), {}).begin == SHUNT_E_UNSUPPORTED,
          "without a device nothing is taken");
    return finish();
  }
  if (!strcmp(mode, "limit")) {
    test_limit();
    test_parts();
    test_faults({SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false}, sized(1, 8), 500, 120, 0.3);
    test_forms(sized(60, 8));
    return finish();
  }
  if (!strcmp(mode, "verify")) {
    test_verify();
    test_forms(sized(60, 8));
    return finish();
  }
  test_wise();
  test_forms(sized(400, 20));
  test_unsupported();
  test_resident();
  test_faults({SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false}, sized(1, 4), 60, 8, 8);
  test_faults({SHUNT_PLUS, SHUNT_TIMES, SHUNT_F64, false}, sized(1, 4), 60, 8, 8);
  return finish();
}
