/* test_semiring_masked_reads.c: what a masked product reads, by a sample: that it is one of all
   of M, and what it costs, in instructions, before a call may be passed through.  */
#include "kernels/semiring/masked/masked.h"
#include "tests/graphblas/instructions.h"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/semiring_random.h"

/* The instructions of AddressSanitizer would be counted, too. */
#ifdef __SANITIZE_ADDRESS__
enum { CAN_COUNT = false };
#else
enum { CAN_COUNT = true };
#endif

/* The first `n_long` rows have 30 entries, the others `n_short`, from the diagonal on. */
static struct shunt_sparse band(int64_t rows, int64_t n_long, int64_t n_short)
{
  struct shunt_sparse s = {
      .rows = rows, .cols = rows, .vectors = rows, .offset_bytes = 8, .index_bytes = 8};
  int64_t *offsets = allocate((size_t)(rows + 1) * sizeof *offsets);
  int64_t *indices = allocate((size_t)(rows * 30) * sizeof *indices);
  for (int64_t i = 0; i < rows; i++) {
    const int64_t n = i < n_long ? 30 : n_short;
    offsets[i] = s.nnz;
    for (int64_t j = 0; j < n && i + j < rows; j++) indices[s.nnz++] = i + j;
  }
  offsets[rows] = s.nnz;
  s.offsets = offsets;
  s.indices = indices;
  s.iso = true;
  return s;
}

static struct shunt_masked_dot product(struct shunt_sparse s)
{
  return (struct shunt_masked_dot){{SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false}, s, s, s, 1, false};
}

static void decide(void *argument)
{
  const struct shunt_masked_dot *p = argument;
  (void)shunt_masked_dot_reads(p, 25);
}

/* Rows of every third column, 8 of them, from the diagonal on: row i and row i + 3 a, a < 8, are a
   pair, and have 8 - a columns in common, none beside another.  */
static void test_common(void)
{
  enum { ROWS = 3000, EACH = 8, STEP = 3 };
  struct shunt_sparse s = band(ROWS, 0, EACH);
  uint64_t *indices = (uint64_t *)s.indices;
  for (int64_t i = 0; i + EACH < ROWS; i++)
    for (int64_t h = 0, to = (int64_t)((const uint64_t *)s.offsets)[i]; h < EACH; h++)
      indices[to + h] = (uint64_t)(i + STEP * h < ROWS ? i + STEP * h : ROWS - EACH + h);
  struct shunt_masked_dot p = product(s);
  const double n = (double)s.nnz, mean = (EACH + 1) / 2.0;
  const double runs = shunt_masked_dot_reads(&p, EACH).runs;
  check(runs > 0.9 * mean * n && runs < 1.1 * mean * n, "%.3g columns in common, of %.3g", runs,
        mean * n);
  p.semiring.monoid = SHUNT_ANY;
  check(shunt_masked_dot_reads(&p, EACH).until_met < 0.1 * n, "the first of them meets at once");
  free_sparse(&s);
}

/* C(0,1) of ANY, of rows 0 and 1 of these entries: what is counted until they meet. */
static struct shunt_masked_dot pair_of(int64_t cols, const uint64_t *offsets,
                                       const uint64_t *indices)
{
  static const uint64_t one[] = {0, 1, 1}, second = 1;
  const struct shunt_sparse s = {.rows = 2,
                                 .cols = cols,
                                 .vectors = 2,
                                 .nnz = (int64_t)offsets[2],
                                 .offset_bytes = 8,
                                 .index_bytes = 8,
                                 .offsets = offsets,
                                 .indices = indices,
                                 .iso = true};
  struct shunt_masked_dot p = product(s);
  p.semiring.monoid = SHUNT_ANY;
  p.m.cols = 2;
  p.m.nnz = 1;
  p.m.offsets = one;
  p.m.indices = &second;
  return p;
}

/* Row 0 has even columns and row 1 odd ones: they never meet. */
static void test_never_met(void)
{
  enum { EACH = 100000 };
  static const uint64_t offsets[] = {0, EACH, 2 * EACH};
  uint64_t *indices = allocate(2 * EACH * sizeof *indices);
  for (uint64_t e = 0; e < EACH; e++) {
    indices[e] = 2 * e;
    indices[EACH + e] = 2 * e + 1;
  }
  struct shunt_masked_dot p = pair_of(2 * EACH, offsets, indices);
  const double n = shunt_masked_dot_reads(&p, EACH).until_met;
  check(n >= EACH - 1, "hubs that do not meet: %.3g entries", n);
  const long instructions = CAN_COUNT ? instructions_of(decide, &p) : -1;
  check(instructions < 300000, "they are not walked: %ld instructions", instructions);
  free(indices);
}

/* What a merge goes through of rows without what only one can have. */
static double merged(const uint64_t *offsets, const uint64_t *x)
{
  uint64_t p = 0, q = offsets[1], p_end = offsets[1], q_end = offsets[2];
  if (p == p_end || q == q_end) return 0;
  const uint64_t low = x[p] > x[q] ? x[p] : x[q];
  const uint64_t high = x[p_end - 1] < x[q_end - 1] ? x[p_end - 1] : x[q_end - 1];
  while (p < p_end && x[p] < low) p++;
  while (q < q_end && x[q] < low) q++;
  while (p < p_end && x[p_end - 1] > high) p_end--;
  while (q < q_end && x[q_end - 1] > high) q_end--;
  const uint64_t from_p = p, from_q = q;
  while (p < p_end && q < q_end && x[p] != x[q]) *(x[p] < x[q] ? &p : &q) += 1;
  return (double)(p - from_p < q - from_q ? p - from_p : q - from_q);
}

/* Rows of up to 24 columns: a meeting, one row's end, and nothing in common, each often. */
static void test_until_met(void)
{
  enum { COLUMNS = 24, CASES = 5000 };
  int wrong = 0;
  uint64_t state = 7;
  for (int c = 0; c < CASES; c++) {
    uint64_t offsets[3] = {0}, indices[2 * COLUMNS], n = 0;
    for (int row = 0; row < 2; row++) {
      const uint64_t one_in = 2 + splitmix64(&state) % 8;
      for (uint64_t j = 0; j < COLUMNS; j++)
        if (splitmix64(&state) % one_in == 0) indices[n++] = j;
      offsets[row + 1] = n;
    }
    const struct shunt_masked_dot p = pair_of(COLUMNS, offsets, indices);
    wrong += shunt_masked_dot_reads(&p, 0).until_met != merged(offsets, indices);
  }
  check(wrong == 0, "what a merge goes through until rows meet: %d of %d wrong", wrong, CASES);
}

/* They live until the test ends. */
static struct shunt_sparse even, ends;

/* Rows added up: each entry (i,k) reads row k, and nothing where M has no row i. */
static void test_terms(void)
{
  struct shunt_masked_dot p = product(even);
  struct shunt_masked_terms n;
  check(!shunt_masked_saxpy_terms(&p, &n), "B by row: its rows are not known");
  p.b.by_column = true;
  const double entries = (double)even.nnz;
  check(shunt_masked_saxpy_terms(&p, &n) && n.read > 3.9 * entries && n.offered < 4.1 * entries,
        "a band: terms of rows");
  /* Of column i + a of row i and b of row i + a, those with a + b < 4 are M's: 10 of 16. */
  check(n.met > 0.55 * 4 * entries && n.met < 0.7 * 4 * entries, "and where M has entries");
  check(!shunt_masked_seems_symmetric(&p), "half a band is not symmetric");
  struct shunt_sparse diagonal = band(64, 0, 1);
  const struct shunt_masked_dot symmetric = product(diagonal);
  check(shunt_masked_seems_symmetric(&symmetric), "a diagonal is");
  check(shunt_masked_seems_mirrored(&diagonal), "and mirrored");
  check(!shunt_masked_seems_mirrored(&even), "half a band is not mirrored");
  free_sparse(&diagonal);
  p.m = band(25000, 0, 0);
  check(shunt_masked_saxpy_terms(&p, &n) && n.offered == 0, "no terms under an empty mask");
  free_sparse(&p.m);
}

int main(void)
{
  even = band(25000, 0, 4);
  ends = band(128, 8, 2);
  struct shunt_masked_dot p = product(even);
  const struct shunt_masked_reads reads = shunt_masked_dot_reads(&p, 5);
  const double entries = (double)even.nnz;
  check(reads.scanned > 3.9 * entries && reads.scanned <= 4 * entries, "a band: reads of rows");
  check(reads.runs > 0.9 * entries && reads.runs <= entries, "a run of columns each");
  test_common();
  test_never_met();
  test_until_met();
  const long instructions = CAN_COUNT ? instructions_of(decide, &p) : -1;
  if (instructions < 0)
    check_skip("instructions cannot be counted here");
  else
    check(instructions < 15000, "a clear case of %lld entries: %ld instructions, limit 15000",
          (long long)even.nnz, instructions);
  p = product(ends);
  /* Of fewer than two entries for each that is looked at.  Row i < 8 meets 8 - i long ones. */
  double want = 2 * 2 * 120;
  for (int i = 0; i < 8; i++) want += 30 * (8 - i) + 2 * (22 + i);
  const double got = shunt_masked_dot_reads(&p, 4).scanned;
  check(got > 0.9 * want && got < 1.1 * want, "a sample of all of M: %.3g reads, of %.3g", got,
        want);
  test_terms();
  return check_finish();
}
