/* test_sorted.c: the order of rows by length, on the host: by hand, against a stable sort on random
   matrices; kinds of lengths; offsets that cannot be.  */
#include <stdlib.h>
#include <string.h>

#include "conv/sorted/sorted_conv.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 17
#include "tests/unit/random_csr.h"

struct made {
  struct shunt_sorted v;
  unsigned char *memory;
  size_t bytes;
  bool good;
};

static struct made make(const struct owned *o)
{
  struct made m = {.bytes = shunt_sorted_bytes(&o->a)};
  m.memory = aligned_alloc(256, m.bytes + 256);
  memset(m.memory, 0xee, m.bytes + 256);
  m.good = shunt_sorted_lay_out(&o->a, m.memory, &m.v) &&
           shunt_csr_to_sorted_host(&o->a, &m.v) == SHUNT_OK;
  for (int i = 0; i < 256; i++) m.good = m.good && m.memory[m.bytes + (size_t)i] == 0xee;
  return m;
}

/* Rows of these lengths, without columns. */
static struct owned of_lengths(const int64_t *lengths, int64_t rows, shunt_type index, int base)
{
  struct owned o = owned_new(rows, 10, 1, index, SHUNT_F32, base);
  int64_t p = base;
  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p);
    p += lengths[i];
  }
  put(o.offsets, index, rows, p);
  o.a.nnz = p - base;
  return o;
}

static void test_kinds(void)
{
  bool rises = true, close = true, limits = true;
  int64_t first = 0; /* the least length of the kind */
  for (int64_t n = 1; n < 1 << 21; n++) {
    const int kind = shunt_sorted_kind(n), before = shunt_sorted_kind(n - 1);
    rises = rises && (kind == before || kind == before + 1) && kind < SHUNT_SORTED_KINDS;
    if (kind != before) first = n;
    close = close && 4 * n <= 5 * first;
  }
  check(rises && shunt_sorted_kind(0) == 0, "kinds rise with the length, none is left out");
  check(close, "lengths of a kind differ by less than a quarter");
  check(shunt_sorted_kind(INT64_MAX) == SHUNT_SORTED_KINDS - 1 && shunt_sorted_kind(-5) == 0,
        "the last kind has no end, and impossible lengths are empty");
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) {
    const int64_t least = shunt_sorted_least(i);
    limits = limits && shunt_sorted_kind(least) == shunt_sorted_kind(least - 1) + 1;
  }
  check(limits && shunt_sorted_least(1) == 4 && shunt_sorted_least(13) == 16384,
        "each length that is counted begins a kind");
}

static void test_by_hand(void)
{
  /* The matrix drawn in kernels/sorted/sorted_format.h. */
  static const int64_t lengths[] = {2, 0, 90, 1, 40, 0, 3, 1};
  static const uint32_t order[] = {2, 4, 6, 0, 3, 7, 1, 5}, counts[] = {6, 2, 2, 2, 2, 1, 0};
  static const uint8_t kind[] = {2, 0, 37, 1, 33, 0, 3, 1};
  struct owned o = of_lengths(lengths, 8, SHUNT_I32, 1);
  struct made m = make(&o);
  check(m.good && !memcmp(m.v.order, order, sizeof order) && !memcmp(m.v.kind, kind, sizeof kind),
        "the matrix drawn in kernels/sorted/sorted_format.h");
  check(!memcmp(m.v.counts->at_least, counts, sizeof counts), "its counts");
  free(m.memory);
  owned_free(&o);
}

/* Every row once, by falling kind, and of a kind by the row. */
static bool is_sorted(const struct made *m, const int64_t *lengths, int64_t rows)
{
  bool good = m->good;
  for (int64_t i = 0; good && i < rows; i++) {
    const int64_t row = m->v.order[i], before = i ? (int64_t)m->v.order[i - 1] : -1;
    const int kind = shunt_sorted_kind(lengths[row]);
    good = row < rows && m->v.kind[row] == kind;
    if (good && i) good = m->v.kind[before] > kind || (m->v.kind[before] == kind && before < row);
  }
  for (int k = 0; good && k < SHUNT_SORTED_COUNTS; k++) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) count += lengths[i] >= shunt_sorted_least(k);
    good = m->v.counts->at_least[k] == count;
  }
  return good;
}

static void test_random(void)
{
  static const int64_t sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000};
  bool good = true;
  int cases = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int form = 0; form < 4; form++, cases++) {
      int64_t lengths[1000];
      for (int64_t i = 0; i < sizes[s]; i++)
        lengths[i] = chance(0.3) ? 0 : chance(0.9) ? random_below(40) : random_below(20000);
      struct owned o = of_lengths(lengths, sizes[s], form & 1 ? SHUNT_I64 : SHUNT_I32, form >> 1);
      struct made m = make(&o);
      good = good && is_sorted(&m, lengths, sizes[s]);
      free(m.memory);
      owned_free(&o);
    }
  check(good, "%d matrices: each row once, the longest first, rows of a kind as they stand", cases);
}

static void test_layout(void)
{
  struct shunt_csr a = {.rows = 1 << 20, .index_type = SHUNT_I32};
  struct shunt_sorted v, other = {.rows = 7};
  char memory[8];
  check(shunt_sorted_bytes(&a) < 7 * ((size_t)1 << 20), "less than 7 bytes a row");
  check(shunt_sorted_lay_out(&a, memory, &v) && v.run % 32 == 0 && v.runs * v.run >= a.rows &&
            (v.runs - 1) * v.run < a.rows && v.runs <= 4096,
        "runs are whole warps, and cover the rows");
  a.rows = 0;
  check(shunt_sorted_bytes(&a) == 0 && !shunt_sorted_lay_out(&a, memory, &v), "no rows");
  a.rows = INT64_C(1) << 30;
  check(shunt_sorted_bytes(&a) == 0, "too many rows");
  a.rows = 8, a.index_type = SHUNT_F32;
  check(shunt_sorted_bytes(&a) == 0 && shunt_csr_to_sorted_host(&a, &other) == SHUNT_E_UNSUPPORTED,
        "an index type that there is not");
  a.index_type = SHUNT_I64;
  check(shunt_csr_to_sorted_host(&a, &other) == SHUNT_E_ARGUMENT, "not into another size");
}

static void test_impossible(void)
{
  static const int64_t lengths[] = {3, -2, 5, -9, 1, INT64_MAX / 2, 0};
  struct owned o = of_lengths(lengths, 7, SHUNT_I64, 0);
  struct made m = make(&o);
  bool seen[7] = {false}, all = true;
  for (int i = 0; i < 7; i++) seen[m.v.order[i] % 7] = true;
  for (int i = 0; i < 7; i++) all = all && seen[i];
  check(m.good && all && m.v.order[0] == 5, "offsets that run back: each row has its place");
  free(m.memory);
  owned_free(&o);
}

int main(void)
{
  test_kinds();
  test_by_hand();
  test_random();
  test_layout();
  test_impossible();
  return check_finish();
}
