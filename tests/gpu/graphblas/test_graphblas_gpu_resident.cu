// test_graphblas_gpu_resident.cu: what GraphBLAS' GPU engine keeps on the device
// from one product to the next, and what it must not keep.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/fault.h"
#include "tests/gpu/graphblas/graphblas_gpu_product.cuh"

using namespace harness;

static void test_kept_sparse(bool by_column)
{
  Case k = medium();
  k.by_column = by_column;
  Product p(k, 11);
  grb_gpu_forget();
  p.from.s = {&p, 5, false};
  uploads(p, "S is new", 1, 1);
  uploads(p, "S is kept", 0, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++) p.set(p.values, i, 0.25);
  p.from.s.epoch = 6;
  uploads(p, "values changed in place, new epoch", 1, 1);
  uploads(p, "kept again", 0, 1);
  p.set(p.values, p.x.s.nnz / 3, 0.75);
  p.from.s.epoch = 7;
  uploads(p, "one value changed, new epoch", 1, 1);
  std::vector<char> moved = p.values;
  p.x.s.values = moved.data();
  uploads(p, "same epoch, another array", 1, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++)
    store(moved.data(), i, k.type, -0.5), p.set(p.values, i, -0.5);
  uploads(p, "all values changed behind the epoch's back: samples", 1, 1);
  p.from.s.read_only = true;
  uploads(p, "read-only is never kept", 1, 1);
  uploads(p, "read-only is never kept, again", 1, 1);
  p.from.s = {&p, 0, false};
  uploads(p, "unknown epoch is never kept", 1, 1);
  uploads(p, "unknown epoch is never kept, again", 1, 1);
  p.from.s = {NULL, 9, false};
  uploads(p, "no handle is never kept", 1, 1);
  uploads(p, "no handle is never kept, again", 1, 1);
}

static void test_kept_ones()
{
  Case k = medium();
  Product p(k, 12);
  grb_gpu_forget();
  p.from.s = {&p, 5, false};
  uploads(p, "PLUS_TIMES", 1, 1);
  p.x.semiring.multiplier = SHUNT_SECOND;
  uploads(p, "PLUS_SECOND of the same S has values of its own", 1, 1);
  uploads(p, "and keeps them", 0, 1);
  p.x.semiring.multiplier = SHUNT_TIMES;
  uploads(p, "PLUS_TIMES again", 0, 1);
}

// C of one product is B of the next.
static void test_chain(bool c_by_column)
{
  Case k = medium();
  k.cols = k.rows;
  k.b_by_column = k.c_by_column = c_by_column;
  Product p(k, 13);
  grb_gpu_forget();
  p.name(3);
  uploads(p, "first of a chain", 1, 1);
  std::vector<char> first = p.c;
  Product q(k, 13);
  q.from.s = p.from.s;
  q.x.s = p.x.s;
  q.from.c = {&q.c, 1, false};
  auto next = [&](std::vector<char> &from, uint64_t epoch) {
    q.b = from;
    q.x.b.values = from.data();
    q.from.b = {&p.c, epoch, false};
    q.from.c.epoch++;
  };
  next(p.c, 3);
  uploads(q, "C is B of the next: nothing is sent", 0, 0);
  uploads(q, "and once more", 0, 0);
  for (int64_t i = 0; i < Product::places(p.x.c); i++) p.set(p.c, i, 0.125);
  next(p.c, 4);
  uploads(q, "C was written since", 0, 1);
  next(first, 4);
  uploads(q, "another array", 0, 1);
}

static void test_kept_results_of_missing_rows()
{
  Case k = medium();
  k.cols = k.rows;
  k.empty_every = 10;
  k.present = true;
  Product p(k, 14);
  grb_gpu_forget();
  p.name(3);
  uploads(p, "rows without entries", 1, 1);
  uploads(p, "rows without entries, S kept", 0, 0);
  Product q(k, 15);
  q.x.s = p.x.s;
  q.from.s = p.from.s;
  q.values = p.values, q.arrays = p.arrays;
  q.b = p.c;
  q.x.b.values = p.c.data();
  q.from.b = {&p.c, 3, false};
  uploads(q, "a C with missing elements is not kept", 0, 1);
}

// B and C in arrays of their matrices' own, which no slot is needed for once they are pinned.
static Product pinnable(const Case &k, uint64_t seed)
{
  Product p(k, seed);
  p.name(1);
  static char matrix[64]; // that were never met
  static int count;
  p.from.b.handle = &matrix[count++];
  p.from.c.handle = &matrix[count++];
  p.from.b.own_array = p.from.c.own_array = true;
  return p;
}

// A product of a B that changed in its place; how many arrays it pinned.
static int pins_of(Product &p, const char *what)
{
  const uint64_t before = counts().pinned;
  p.from.b.epoch++;
  p.from.c.epoch++;
  for (int64_t i = 0; i < p.x.b.rows; i += 7)
    p.set(p.b, i * p.x.b.row_stride + i % p.x.b.cols, 1.0 / (1 + p.from.b.epoch));
  fine(p, what);
  return (int)(counts().pinned - before);
}

static int pins_of(Product &p, int times, const char *what)
{
  int sum = 0;
  while (times-- > 0) sum += pins_of(p, what);
  return sum;
}

static bool is_free(std::vector<char> &array)
{
  const bool yes = cudaHostRegister(array.data(), array.size(), 0) == cudaSuccess;
  if (yes) cudaHostUnregister(array.data());
  cudaGetLastError();
  return yes;
}

static Case wide()
{
  Case k;
  k.rows = 2100;
  k.cols = 2050;
  k.n = 136;
  k.density = 0.002;
  return k;
}

static void test_pinned()
{
  Product p = pinnable(wide(), 21);
  grb_gpu_forget();
  check(pins_of(p, 3, "met three times") == 0, "nothing is pinned yet");
  check(pins_of(p, 1, "met for the fourth time") == 2, "B and C are pinned");
  check(pins_of(p, 3, "pinned") == 0 && !is_free(p.b) && !is_free(p.c), "they remain so");
  grb_gpu_unpin(p.from.b.handle);
  check(is_free(p.b) && !is_free(p.c), "B is let go of, and B alone");
  check(pins_of(p, 7, "B met again") == 0, "B is not pinned as soon as the first time");
  check(pins_of(p, 1, "B met often enough") == 1, "B is pinned again");
  std::vector<char> moved = p.b;
  p.b.swap(moved); // and x.b.values is what `moved` has
  p.x.b.values = p.b.data();
  pins_of(p, 2, "B has another array");
  check(is_free(moved) && is_free(p.b), "the one that it had is let go of");
  p.x.accumulate = true;
  check(pins_of(p, 2, "C += beside a C that is pinned") == 0, "C += pins nothing anew");
  grb_gpu_unpin(NULL);
  check(is_free(p.c), "all are let go of");
}

// The pages behind an array become others, as when it is freed by a call that nobody saw and a new
// matrix comes to be at the same place.
static void map_anew(std::vector<char> &array)
{
  const uintptr_t page = 4096, end = (uintptr_t)(array.data() + array.size()) / page * page;
  const uintptr_t begin = ((uintptr_t)array.data() + page - 1) / page * page;
  const std::vector<char> content((char *)begin, (char *)end);
  check(mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)begin,
        "pages are mapped anew");
  memcpy((void *)begin, content.data(), content.size());
}

static void test_stale_pins()
{
  const uint64_t before = counts().stale_pins;
  Product p = pinnable(wide(), 28);
  pins_of(p, 6, "before pages change");
  map_anew(p.b);
  for (int64_t i = 0; i < p.x.b.rows * p.x.b.cols; i++) p.set(p.b, i, (double)(i % 64) / 64);
  pins_of(p, 2, "B has other pages and other values, which nobody was told");
  Product q = pinnable(wide(), 29);
  pins_of(q, 6, "before pages change");
  map_anew(q.c);
  pins_of(q, 2, "C has other pages, which nobody was told");
  const bool follows = counts().stale_pins == before; // the emulator's copies go by address
  if (follows)
    skip("pins follow their pages here");
  else
    check(counts().stale_pins == before + 2 && is_free(p.b) && is_free(q.c) &&
              pins_of(q, 20, "C goes through slots") == 0,
          "both are found by samples and let go of for good");
  grb_gpu_unpin(NULL);
}

static void test_pinned_fork()
{
  Product p = pinnable(wide(), 26);
  pins_of(p, 5, "before a fork");
  check(!is_free(p.b), "pinned before a fork");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0 && is_free(p.b) && is_free(p.c), "nothing is pinned across a fork");
  pins_of(p, 1, "after a fork");
  grb_gpu_unpin(NULL);
}

// CUDA fails at each call of the product that would pin B and C, and of one that found them pinned.
static void test_pinned_faults()
{
  Product p = pinnable(wide(), 27);
  int bad = 0, rounds = 0;
  static char handle[2][5000]; // each round has matrices that were never met
  for (long n = 1; n < 4000; n += sized(1, 3) + every() / 8, rounds++) {
    p.from.b.handle = &handle[0][n], p.from.c.handle = &handle[1][n];
    for (int i = 0; i < 3 + (int)(n % 2); i++)
      p.from.b.epoch++, p.from.c.epoch++, bad += p.run() != SHUNT_OK;
    p.from.b.epoch++, p.from.c.epoch++;
    shunt_fault_arm(n);
    const bool done = p.run() == SHUNT_OK;
    const long seen = shunt_faults_seen();
    shunt_fault_armed = 0;
    bad += done && !(p.wrong() <= 1);
    p.from.b.epoch++, p.from.c.epoch++;
    bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    grb_gpu_unpin(NULL);
    bad += !is_free(p.b) || !is_free(p.c);
    if (seen < n) break;
  }
  check(bad == 0 && rounds > 5 && rounds < 3999, "%d faults beside pinned arrays: %d bad", rounds,
        bad);
}

static void test_not_pinned()
{
  Product p = pinnable(wide(), 22);
  p.from.b.own_array = p.from.c.own_array = false;
  check(pins_of(p, 10, "arrays of nobody's") == 0, "arrays of nobody's are not pinned");
  p.from.b.own_array = p.from.c.own_array = p.from.b.read_only = p.from.c.read_only = true;
  check(pins_of(p, 10, "read-only") == 0, "read-only arrays are not pinned");
  Case k = wide();
  k.pad = 3;
  Product q = pinnable(k, 23);
  check(pins_of(q, 10, "padded rows") == 0, "padded rows are not pinned");
  k.pad = 0;
  k.b_by_column = k.c_by_column = true;
  Product r = pinnable(k, 24);
  check(pins_of(r, 10, "by column") == 0, "arrays by column are not pinned");
  k = wide();
  k.n = 8;
  Product t = pinnable(k, 25);
  check(pins_of(t, 10, "small") == 0, "small arrays are not pinned");
}

int main()
{
  if (device_count() == 0) {
    skip("no device");
    return finish();
  }
  grb_gpu_force_devices(1);
  test_kept_sparse(false);
  test_kept_sparse(true);
  test_kept_ones();
  test_chain(false);
  test_chain(true);
  test_kept_results_of_missing_rows();
  test_pinned();
  test_stale_pins();
  test_pinned_fork();
  test_pinned_faults();
  test_not_pinned();
  return finish();
}
