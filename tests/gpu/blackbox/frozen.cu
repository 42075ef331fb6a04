// frozen.cu: a program that breaks the promise of SHUNT_ASSUME=frozen.
//
//   frozen half|eights
//
// With the promise in the environment a matrix that was met unchanged 8 times may be used without
// proof but for one of its products in 64 (shunt-env(7)).  So:
//
//   a matrix that changes in its first products      right, each time
//   one that is trusted, and freed for another one   right, from the other's first product on
//   one that is trusted, B with a NaN or Inf         right, too
//   one that is trusted, and changes                 wrong for at most 63 products; then, and for
//                                                    all matrices, right whatever changes
//
// and one line on standard error says so.  Without the promise nothing is ever wrong, nor said.
// half: half of the entries, for `dense`; eights: 8 x 1 vectors, for `vector`.
#include <unistd.h>

#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

namespace
{

constexpr int kMet = 8, kShare = 64; // as documented
constexpr int kSettled = 200;        // products after which a matrix is trusted, if any is

struct Lab {
  cusparseHandle_t handle;
  cudaStream_t stream;
  Outcome *outcome; // device
  uint64_t seed = 100;
};

// One product, waited for; is it right?
bool is_right(Lab &lab, Operands &o)
{
  prepare_output(o, lab.seed++, lab.stream);
  return multiply(o, lab.handle) == CUSPARSE_STATUS_SUCCESS &&
         outcome_of(o, lab.outcome, lab.stream).loose == 0;
}

int count_wrong(Lab &lab, Operands &o, int products)
{
  int wrong = 0;
  for (int i = 0; i < products; i++) wrong += !is_right(lab, o);
  return wrong;
}

// Other values in A's place.
void change(Lab &lab, Operands &o)
{
  fill(o.p.a.values, o.p.a.nnz, o.p.a.type, lab.seed++, FILL_RANDOM, lab.stream);
}

bool make(Lab &lab, Operands &o, const Shape &shape)
{
  make_operands(o, shape, lab.seed++, lab.stream);
  return ask_workspace(o, lab.handle) == CUSPARSE_STATUS_SUCCESS;
}

// What stands on standard error from now on.
struct Said {
  FILE *file = tmpfile();
  int old = dup(2);
  Said()
  {
    fflush(stderr);
    if (file) dup2(fileno(file), 2);
  }
  // Lines of Shunt's; standard error is what it was.
  int lines()
  {
    int n = 0;
    char line[1024];
    fflush(stderr);
    dup2(old, 2);
    close(old);
    if (!file) return 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) n += strncmp(line, "shunt: ", 7) == 0;
    fclose(file);
    return n;
  }
};

void test_young(Lab &lab, const Shape &shape)
{
  Operands o;
  bool good = make(lab, o, shape);
  int wrong = 0;
  for (int i = 0; good && i < kSettled; i++) {
    if (i % (kMet - 1) == 0) change(lab, o);
    wrong += !is_right(lab, o);
  }
  check(good && wrong == 0, "a matrix that changes every %d products: %d of %d wrong", kMet - 1,
        wrong, kSettled);
  destroy_operands(o);
}

void test_freed(Lab &lab, const Shape &shape)
{
  int wrong = 0, at_once = 0;
  const void *before = nullptr;
  for (int round = 0; round < 4; round++) {
    Operands o;
    if (!make(lab, o, shape)) return;
    at_once += o.p.a.values == before;
    before = o.p.a.values;
    wrong += count_wrong(lab, o, kSettled / 2);
    CUDA_OK(cudaDeviceSynchronize());
    destroy_operands(o);
  }
  check(wrong == 0,
        "matrices that are freed, %d of 3 then followed by another at that place: "
        "%d of %d wrong",
        at_once, wrong, 2 * kSettled);
}

void test_nonfinite(Lab &lab, Operands &o)
{
  int wrong = 0;
  for (double odd : {(double)NAN, (double)INFINITY}) {
    put_kernel<<<1, 1, 0, lab.stream>>>(o.p.b.values, o.p.b.at(o.p.b.rows / 2, 3), o.p.b.type, odd,
                                        0);
    wrong += count_wrong(lab, o, 3);
    fill(o.p.b.values, o.p.b.stored(), o.p.b.type, lab.seed++, FILL_RANDOM, lab.stream);
  }
  check(wrong == 0, "a NaN or Inf in B: %d of 6 wrong", wrong);
}

void test_broken(Lab &lab, const Shape &shape, bool promised)
{
  Operands o;
  if (!make(lab, o, shape)) return;
  check(count_wrong(lab, o, kSettled) == 0, "%d products with a matrix that does not change",
        kSettled);
  test_nonfinite(lab, o);
  count_wrong(lab, o, 2 * kSettled); // copies that a NaN has cost are there again
  Said said;
  change(lab, o);
  int wrong = 0;
  while (wrong < 2 * kShare && !is_right(lab, o)) wrong++;
  const int later = count_wrong(lab, o, kShare);
  if (promised && wrong == 0)
    skip("the change met the product that is proved, or the matrix was not trusted");
  else
    check(wrong < (promised ? kShare : 1), "a trusted matrix changes: %d products wrong", wrong);
  check(later == 0, "and none behind them (%d)", later);
  int any = 0;
  for (int i = 0; i < kSettled; i++) {
    if (i % 20 == 19) change(lab, o);
    any += !is_right(lab, o);
  }
  check(any == 0, "it changes again and again: %d of %d wrong", any, kSettled);
  destroy_operands(o);
  if (!make(lab, o, shape)) return;
  any = count_wrong(lab, o, kSettled);
  change(lab, o);
  any += count_wrong(lab, o, kShare);
  check(any == 0, "another matrix, which changes once it has settled: %d wrong", any);
  destroy_operands(o);
  const int lines = said.lines();
  check(lines == (promised ? 1 : 0), "%d lines on standard error", lines);
}

} // namespace

int main(int argc, char **argv)
{
  const char *assume = getenv("SHUNT_ASSUME");
  const bool promised = assume && strcmp(assume, "frozen") == 0;
  const bool eights = argc > 1 && strcmp(argv[1], "eights") == 0;
  const Shape shape = {false, CUDA_R_16F,         2048,           2048,
                       128,   eights ? 0.1 : 0.4, eights ? 8 : 1, false};
  Lab lab;
  CUDA_OK(cudaStreamCreateWithFlags(&lab.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&lab.handle));
  SPARSE_OK(cusparseSetStream(lab.handle, lab.stream));
  lab.outcome = (Outcome *)device_bytes(sizeof *lab.outcome);
  test_young(lab, shape);
  test_freed(lab, shape);
  test_broken(lab, shape, promised);
  SPARSE_OK(cusparseDestroy(lab.handle));
  return finish();
}
