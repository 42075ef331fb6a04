/* test_strides.c: batch strides are found for the matrix they were noted for, and for no other. */
#include <string.h>

#include "backend/cusparse/strides.h"
#include "tests/unit/check.h"

static char arrays[8];

static struct shunt_strided matrix(uintptr_t descriptor)
{
  return (struct shunt_strided){
      .descriptor = (cusparseConstSpMatDescr_t)descriptor,
      .library = arrays,
      .batches = 3,
      .csr = {7, 5, 11, arrays + 1, arrays + 2, arrays + 3, SHUNT_I32, SHUNT_F32, 0}};
}

static bool finds(const struct shunt_strided *m, int64_t offsets, int64_t entries)
{
  int64_t o = -1, e = -1;
  return shunt_strides_find(m, &o, &e) && o == offsets && e == entries;
}

static bool finds_nothing(const struct shunt_strided *m)
{
  int64_t o = -1, e = -1;
  return !shunt_strides_find(m, &o, &e) && o == -1 && e == -1;
}

static void test_life(void)
{
  struct shunt_strided m = matrix(0x1000), n = matrix(0x2000);
  check(finds_nothing(&m), "nothing is known at first");
  shunt_strides_note(&m, 8, 11);
  check(finds(&m, 8, 11) && finds_nothing(&n), "a note is found, for its descriptor");
  shunt_strides_note(&m, 0, 0);
  check(finds(&m, 0, 0), "a second note replaces the first");
  shunt_strides_note(&n, 1, 2);
  shunt_strides_forget(m.descriptor);
  check(finds_nothing(&m) && finds(&n, 1, 2), "forgotten, and only that one");
}

/* A descriptor at the same address whose strides were set unseen. */
static void test_other_matrix(void)
{
  struct shunt_strided m = matrix(0x3000);
  shunt_strides_note(&m, 8, 11);
#define OTHER(what, change)                                                                        \
  do {                                                                                             \
    struct shunt_strided o = m;                                                                    \
    change;                                                                                        \
    check(finds_nothing(&o), "no note for another " what);                                         \
  } while (0)
  OTHER("library", o.library = arrays + 7);
  OTHER("number of batches", o.batches++);
  OTHER("number of rows", o.csr.rows++);
  OTHER("number of columns", o.csr.cols++);
  OTHER("number of nonzeros", o.csr.nnz++);
  OTHER("array of offsets", o.csr.row_offsets = arrays + 6);
  OTHER("array of columns", o.csr.columns = arrays + 6);
  OTHER("array of values", o.csr.values = arrays + 6);
  OTHER("array of row indices", o.row_indices = arrays + 6);
  OTHER("index type", o.csr.index_type = SHUNT_I64);
  OTHER("value type", o.csr.value_type = SHUNT_F64);
  OTHER("base", o.csr.base = 1);
  check(finds(&m, 8, 11), "and still the one for its own");
}

/* More matrices than there is room for: old notes go, none is ever wrong. */
static void test_many(void)
{
  int known = 0, wrong = 0;
  enum { MANY = 20000 };
  for (int i = 1; i <= MANY; i++) {
    struct shunt_strided m = matrix((uintptr_t)i * 64);
    shunt_strides_note(&m, i, 2 * i);
    if (!finds(&m, i, 2 * i)) wrong++;
  }
  for (int i = 1; i <= MANY; i++) {
    struct shunt_strided m = matrix((uintptr_t)i * 64);
    int64_t o, e;
    if (!shunt_strides_find(&m, &o, &e)) continue;
    known++;
    if (o != i || e != 2 * i) wrong++;
  }
  check(wrong == 0 && known > 0 && known < MANY, "%d of %d notes left, %d wrong", known, (int)MANY,
        wrong);
}

int main(void)
{
  test_life();
  test_other_matrix();
  test_many();
  return check_finish();
}
