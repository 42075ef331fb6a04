/* test_preprocess_epoch.c: active buffers: an epoch is found for the call that began it, and for no
   other.  */
#include "backend/cusparse/preprocess_epoch.h"
#include "tests/unit/check.h"

static char arrays[8], buffers[2], libraries[2];

static struct shunt_problem product(void)
{
  struct shunt_problem p;
  if (shunt_problem_parse("spmm:csr:f16.f16.f16.f32:i32b0:m64n32k48z500:NN:rr:ld32.32:a1b0:alg0",
                          &p) != SHUNT_OK)
    check(0, "the problem parses");
  p.spmm.a.row_offsets = arrays;
  p.spmm.a.columns = arrays + 1;
  p.spmm.a.values = arrays + 2;
  return p;
}

static struct shunt_preprocessed call_of(uintptr_t descriptor, const struct shunt_problem *p)
{
  return (struct shunt_preprocessed){(cusparseConstSpMatDescr_t)descriptor, libraries, buffers, p,
                                     shunt_problem_hash(p)};
}

static void test_life(void)
{
  const struct shunt_problem p = product();
  const struct shunt_preprocessed m = call_of(0x1000, &p), n = call_of(0x2000, &p);
  check(shunt_epoch_of(&m) == 0, "nothing is promised at first");
  shunt_epoch_begin(&m);
  const uint64_t first = shunt_epoch_of(&m);
  check(first && shunt_epoch_of(&m) == first, "calls of an epoch know it");
  check(shunt_epoch_of(&n) == 0, "another matrix does not, though its arrays are the same");
  shunt_epoch_begin(&n);
  check(shunt_epoch_of(&n) != first, "and has one of its own");
  shunt_epoch_begin(&m);
  check(shunt_epoch_of(&m) > first, "each preprocess begins another");
  shunt_epoch_end(m.descriptor);
  check(shunt_epoch_of(&m) == 0 && shunt_epoch_of(&n), "one ends, and only that");
  shunt_epoch_end(NULL);
}

static void test_other_call(void)
{
  const struct shunt_problem p = product();
  const struct shunt_preprocessed m = call_of(0x3000, &p);
  shunt_epoch_begin(&m);
  const uint64_t epoch = shunt_epoch_of(&m);
#define OTHER(what, change)                                                                        \
  do {                                                                                             \
    struct shunt_problem q = p;                                                                    \
    struct shunt_preprocessed o = call_of(0x3000, &q);                                             \
    change;                                                                                        \
    o.hash = shunt_problem_hash(&q);                                                               \
    check(shunt_epoch_of(&o) == 0, "none with another " what);                                     \
  } while (0)
  OTHER("buffer", o.buffer = buffers + 1);
  OTHER("library", o.library = libraries + 1);
  OTHER("array of offsets", q.spmm.a.row_offsets = arrays + 5);
  OTHER("array of columns", q.spmm.a.columns = arrays + 5);
  OTHER("array of row indices", q.row_indices = arrays + 5);
  OTHER("number of entries", q.spmm.a.nnz++);
  OTHER("base", q.spmm.a.base = 1);
  OTHER("operation", q.op_a = 'T');
  OTHER("algorithm", q.algorithm++);
  OTHER("width", q.spmm.b.cols++; q.spmm.c.cols++);
#define SAME(what, change)                                                                         \
  do {                                                                                             \
    struct shunt_problem q = p;                                                                    \
    change;                                                                                        \
    const struct shunt_preprocessed o = call_of(0x3000, &q);                                       \
    check(shunt_epoch_of(&o) == epoch, "the same with another " what);                             \
  } while (0)
  SAME("array of values", q.spmm.a.values = arrays + 5);
  SAME("alpha", q.spmm.alpha.host = 7);
  SAME("dense matrix", q.spmm.b.values = arrays);
}

/* A graph may run its preprocess again at any time, with whatever the arrays then hold. */
static void test_captured(void)
{
  const struct shunt_problem p = product();
  const struct shunt_preprocessed m = call_of(0x5000, &p), n = call_of(0x6000, &p);
  shunt_epoch_begin(&m);
  shunt_epoch_captured(m.descriptor);
  check(shunt_epoch_of(&m) == 0, "a captured preprocess ends the epoch");
  shunt_epoch_begin(&m);
  check(shunt_epoch_of(&m) == 0, "and none begins while its graph may run");
  shunt_epoch_end(m.descriptor);
  shunt_epoch_begin(&m);
  check(shunt_epoch_of(&m) == 0, "whatever arrays are set");
  shunt_epoch_begin(&n);
  check(shunt_epoch_of(&n) != 0, "other matrices have theirs");
  shunt_epoch_forget(m.descriptor);
  shunt_epoch_begin(&m);
  check(shunt_epoch_of(&m) != 0, "as has another at the address of one that was destroyed");
  shunt_epoch_captured(NULL);
}

/* Last: from then on there are no epochs.  A mark that finds no room is not believed away. */
static void test_captured_many(void)
{
  enum { MANY = 20000 };
  const struct shunt_problem p = product();
  int believed = 0;
  for (int i = 1; i <= MANY; i++)
    shunt_epoch_captured((cusparseConstSpMatDescr_t)((uintptr_t)i * 64));
  for (int i = 1; i <= MANY; i++) {
    const struct shunt_preprocessed m = call_of((uintptr_t)i * 64, &p);
    shunt_epoch_begin(&m);
    believed += shunt_epoch_of(&m) != 0;
  }
  check(believed == 0, "of %d captured matrices %d are believed", MANY, believed);
}

static void test_no_buffer(void)
{
  const struct shunt_problem p = product();
  struct shunt_preprocessed m = call_of(0x4000, &p);
  m.buffer = NULL;
  shunt_epoch_begin(&m);
  check(shunt_epoch_of(&m) == 0, "without a buffer there is none");
}

/* More matrices than there is room for: old epochs go, none is ever another's. */
static void test_many(void)
{
  enum { MANY = 20000 };
  static uint64_t epochs[MANY + 1];
  const struct shunt_problem p = product();
  int known = 0, wrong = 0;
  for (int i = 1; i <= MANY; i++) {
    const struct shunt_preprocessed m = call_of((uintptr_t)i * 64, &p);
    shunt_epoch_begin(&m);
    epochs[i] = shunt_epoch_of(&m);
    wrong += epochs[i] <= epochs[i - 1];
  }
  for (int i = 1; i <= MANY; i++) {
    const struct shunt_preprocessed m = call_of((uintptr_t)i * 64, &p);
    const uint64_t e = shunt_epoch_of(&m);
    known += e != 0;
    wrong += e != 0 && e != epochs[i];
  }
  check(wrong == 0 && known > 500, "%d of %d are known, %d wrong", known, MANY, wrong);
}

int main(void)
{
  test_life();
  test_other_call();
  test_no_buffer();
  test_captured();
  test_many();
  test_captured_many();
  return check_finish();
}
