/* test_bundle.c: CSR to the `bundle` format (of each 8 rows, the columns that any of them has), on
   the host: by hand on a tiny matrix, against a brute-force union on random ones; irregular rows,
   sizes, long lists.  */
#include <stdlib.h>
#include <string.h>

#include "conv/bundle/bundle_conv.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 11
#include "tests/unit/random_csr.h"

/* ---- matrices -------------------------------------------------------------------- */

/* Sets of `height` rows have lists that differ in one entry of ten; one row in nine is empty. */
static struct owned random_matrix(int64_t rows, int64_t cols, double density, int height,
                                  shunt_type index, int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, SHUNT_F16, base);
  unsigned char *list = calloc((size_t)cols + 1, 1);
  int64_t p = 0;

  for (int64_t i = 0; i < rows; i++) {
    int empty = chance(1. / 9);
    put(o.offsets, index, i, p + base);
    for (int64_t j = 0; j < cols; j++) {
      if (i % height == 0) list[j] = (unsigned char)chance(density);
      if (list[j] && !empty && chance(0.9)) put(o.columns, index, p++, j + base);
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  free(list);
  return o;
}

/* ---- lists -------------------------------------------------------------------------- */

struct made {
  struct shunt_bundle g;
  unsigned char *memory;
  size_t bytes;
  int good, overrun;
};

static struct made make(const struct owned *o)
{
  struct made m;

  m.bytes = shunt_bundle_bytes(&o->a);
  m.memory = aligned_alloc(256, m.bytes + 256);
  memset(m.memory, 0xee, m.bytes + 256);
  m.good = shunt_bundle_lay_out(&o->a, m.memory, &m.g) &&
           shunt_csr_to_bundle_host(&o->a, &m.g) == SHUNT_OK;
  m.overrun = 0;
  for (int i = 0; i < 256; i++) m.overrun |= m.memory[m.bytes + (size_t)i] != 0xee;
  return m;
}

/* Whether row i has column j; the slow way. */
static int row_has(const struct shunt_csr *a, int64_t i, int64_t j)
{
  if (i >= a->rows) return 0;
  for (int64_t p = get(a->row_offsets, a->index_type, i) - a->base;
       p < get(a->row_offsets, a->index_type, i + 1) - a->base; p++)
    if (get(a->columns, a->index_type, p) - a->base == j) return 1;
  return 0;
}

/* The union of a group's rows, column by column, is its list. */
static int group_is_union(const struct owned *o, const struct made *m, int64_t group)
{
  int64_t at = m->g.begin[group], end = at + m->g.count[group];

  for (int64_t j = 0; j < o->a.cols; j++) {
    unsigned mask = 0;
    for (int r = 0; r < 8; r++) mask |= (unsigned)row_has(&o->a, group * 8 + r, j) << r;
    if (!mask) continue;
    if (at == end || m->g.columns[at] != (uint32_t)j || m->g.masks[at] != mask) return 0;
    at++;
  }
  return at == end;
}

static int is_union(const struct owned *o, const struct made *m)
{
  uint64_t vectors = 0;
  uint32_t longest = 0, longs = 0;
  int good = m->good && !m->overrun && m->g.counts->irregular == 0;

  for (int64_t g = 0; good && g < m->g.groups; g++) {
    uint32_t count = m->g.count[g];
    good = group_is_union(o, m, g) && (int64_t)m->g.begin[g] + count <= o->a.nnz;
    vectors += count;
    if (count > longest) longest = count;
    if (count > SHUNT_BUNDLE_LONG) good = good && m->g.long_list[longs++] == (uint32_t)g;
  }
  return good && m->g.counts->vectors == vectors && m->g.counts->longest == longest &&
         m->g.counts->long_groups == longs && m->g.counts->reserved == 0;
}

/* ---- tests ---------------------------------------------------------------------------- */

static void test_by_hand(void)
{
  /* The matrix drawn in kernels/bundle/bundle_format.h: rows 0, 1 and 7 of one bundle, and a
     ninth row.  */
  static const int32_t offsets[] = {0, 3, 6, 6, 6, 6, 6, 6, 9, 10};
  static const int32_t columns[] = {3, 9, 17, 3, 4, 17, 4, 9, 17, 5};
  static const uint32_t want[] = {3, 4, 9, 17};
  static const uint8_t masks[] = {0x03, 0x82, 0x81, 0x83};
  struct owned o = owned_new(9, 18, 10, SHUNT_I32, SHUNT_F16, 0);
  struct made m;

  memcpy(o.offsets, offsets, sizeof offsets);
  memcpy(o.columns, columns, sizeof columns);
  o.a.nnz = 10;
  m = make(&o);
  check(m.good && m.g.groups == 2 && m.g.begin[0] == 0 && m.g.count[0] == 4 &&
            !memcmp(m.g.columns, want, sizeof want) && !memcmp(m.g.masks, masks, sizeof masks),
        "the group drawn in kernels/bundle/bundle_format.h");
  check(m.g.begin[1] == 9 && m.g.count[1] == 1 && m.g.columns[9] == 5 && m.g.masks[9] == 1,
        "a last group of one row");
  check(m.g.counts->vectors == 5 && m.g.counts->longest == 4 && m.g.counts->irregular == 0,
        "counts");
  free(m.memory);
  owned_free(&o);
}

static void test_random(void)
{
  static const double density[] = {0, 0.02, 0.2, 1};
  int good = 1, cases = 0;

  for (int64_t rows = 1; rows < 60; rows += 7)
    for (int64_t cols = 1; cols < 90; cols = cols * 3 + 2)
      for (int d = 0; d < 4; d++)
        for (int form = 0; form < 4; form++) {
          struct owned o = random_matrix(rows, cols, density[d], form % 2 ? 8 : 3,
                                         form & 1 ? SHUNT_I64 : SHUNT_I32, form >> 1);
          struct made m = make(&o);
          good = good && is_union(&o, &m);
          free(m.memory);
          owned_free(&o);
          cases++;
        }
  check(good, "%d matrices: every list is the union, in place and in order", cases);
}

static void test_long(void)
{
  struct owned o = random_matrix(40, 700, 0.02, 8, SHUNT_I32, 1);
  struct owned wide = random_matrix(40, 700, 1, 8, SHUNT_I32, 0);
  struct made m = make(&o), w = make(&wide);

  check(is_union(&o, &m) && m.g.counts->long_groups == 0, "no long groups");
  check(is_union(&wide, &w) && w.g.counts->long_groups == 5 && w.g.long_list[4] == 4,
        "five long groups, named in order");
  free(m.memory);
  free(w.memory);
  owned_free(&o);
  owned_free(&wide);

  /* Two groups of one row each: 512 vectors, and one more. */
  o = owned_new(9, 513, 1025, SHUNT_I32, SHUNT_F16, 0);
  for (int64_t p = 0; p < 1025; p++) put(o.columns, SHUNT_I32, p, p < 512 ? p : p - 512);
  for (int64_t r = 1; r <= 9; r++) put(o.offsets, SHUNT_I32, r, r < 9 ? 512 : 1025);
  o.a.nnz = 1025;
  m = make(&o);
  check(is_union(&o, &m) && m.g.counts->long_groups == 1 && m.g.long_list[0] == 1,
        "a group is long from 513 vectors on");
  free(m.memory);
  owned_free(&o);
}

/* Spoils one index of a sound matrix of 3 groups; the group it is in, and no other, is irregular.
 */
static void test_spoiled(const char *what, int in_offsets, int64_t i, int64_t value,
                         unsigned groups)
{
  struct owned o = owned_new(24, 50, 24 * 4, SHUNT_I64, SHUNT_F16, 1);
  struct made m;
  int good;

  for (int64_t p = 0; p < 24 * 4; p++) put(o.columns, SHUNT_I64, p, p % 4 * 10 + 1);
  for (int64_t r = 0; r <= 24; r++) put(o.offsets, SHUNT_I64, r, r * 4 + 1);
  o.a.nnz = 24 * 4;
  put(in_offsets ? o.offsets : o.columns, SHUNT_I64, i, value);
  m = make(&o);
  good = m.good && !m.overrun;
  for (unsigned g = 0; g < 3; g++)
    good = good && (groups >> g & 1 ? m.g.count[g] == 0 : group_is_union(&o, &m, g));
  check(good && m.g.counts->irregular == (unsigned)__builtin_popcount(groups), "irregular: %s",
        what);
  free(m.memory);
  owned_free(&o);
}

static void test_irregular(void)
{
  test_spoiled("nothing is spoiled", 0, 33, 11, 0);
  test_spoiled("a column repeats", 0, 33, 1, 2);
  test_spoiled("a row falls back", 0, 35, 5, 2);
  test_spoiled("a column behind the matrix", 0, 95, 51, 4);
  test_spoiled("a column before the matrix", 0, 0, 0, 1);
  test_spoiled("a column that is no number of 32 bits", 0, 40, INT64_C(1) << 40, 2);
  test_spoiled("the least number as a column", 0, 4, INT64_MIN, 1);
  test_spoiled("an offset that falls back", 1, 12, 3, 2);
  test_spoiled("an offset behind the entries", 1, 20, 1000, 4);
  test_spoiled("an offset before them", 1, 0, 0, 1);
  test_spoiled("an offset between two groups", 1, 8, -5, 3);
}

/* Offsets that run back and forth: every group spans everything. */
static void test_too_many_long(void)
{
  struct owned o = owned_new(80, 600, 600, SHUNT_I32, SHUNT_F16, 0);
  struct made m;

  for (int64_t p = 0; p < 600; p++) put(o.columns, SHUNT_I32, p, p);
  for (int64_t g = 0; g < 10; g++) /* 0, 600, 600 .. in even groups; odd ones go back */
    for (int64_t r = 0; r < 8; r++)
      put(o.offsets, SHUNT_I32, g * 8 + r, g % 2 == 0 && r > 0 ? 600 : 0);
  for (int64_t g = 1; g < 10; g += 2) put(o.offsets, SHUNT_I32, g * 8, 600);
  put(o.offsets, SHUNT_I32, 80, 0);
  o.a.nnz = 600;
  m = make(&o);
  check(m.good && !m.overrun && m.g.counts->long_groups == 5 && m.g.counts->irregular == 5,
        "more long groups than there is room for are counted, not listed");
  free(m.memory);
  owned_free(&o);
}

static void test_declined(void)
{
  struct owned o = random_matrix(8, 8, 0.5, 8, SHUNT_I32, 0);
  struct shunt_bundle g;
  struct shunt_csr a = o.a;
  int good = 1;

#define DECLINED(CHANGE)                                                                           \
  a = o.a, CHANGE,                                                                                 \
  good = good && shunt_bundle_bytes(&a) == 0 && !shunt_bundle_lay_out(&a, NULL, &g) &&             \
         shunt_csr_to_bundle_host(&a, &g) == SHUNT_E_UNSUPPORTED
  DECLINED(a.rows = 0);
  DECLINED(a.cols = 0);
  DECLINED(a.nnz = -1);
  DECLINED(a.nnz = INT32_MAX);
  DECLINED(a.cols = INT32_MAX);
  DECLINED(a.rows = INT32_MAX);
  DECLINED(a.index_type = SHUNT_F32);
#undef DECLINED
  check(good, "sizes and types that cannot be made are declined");
  a = o.a, a.nnz = 0;
  check(shunt_bundle_bytes(&a) > 0, "no entries can be made");
  g = (struct shunt_bundle){.rows = 8, .cols = 8, .nnz = o.a.nnz - 1};
  good = shunt_csr_to_bundle_host(&o.a, &g) == SHUNT_E_ARGUMENT;
  g.nnz++, g.cols++;
  good &= shunt_csr_to_bundle_host(&o.a, &g) == SHUNT_E_ARGUMENT;
  check(good, "not into lists of another size");
  owned_free(&o);
}

int main(void)
{
  test_by_hand();
  test_random();
  test_long();
  test_irregular();
  test_too_many_long();
  test_declined();
  return check_finish();
}
