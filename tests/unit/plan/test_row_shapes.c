/* test_row_shapes.c: how `csr` and `sorted` cut rows, by sizes on both sides of each limit, and by
   counts of their lengths.  */
#include <math.h>

#include "kernels/csr/csr_layers.h"
#include "kernels/csr/csr_words.h"
#include "kernels/sorted/sorted_kernels.h"
#include "kernels/sorted/sorted_layers.h"
#include "tests/unit/plan/cost_cases.h"

/* Layers by lengths: where rows are alike but a few full ones, and where every other is long. */
static void test_sorted_layers(void)
{
  static const struct shunt_sorted_counts mask = {
      {4096, 4096, 4096, 4096, 4096, 4096, 4058, 12, 12, 12, 12, 12, 0, 0}};
  static const struct shunt_sorted_counts skewed = {
      {2048, 1990, 1900, 1760, 1520, 1180, 820, 547, 399, 270, 141, 40, 0, 0}};
  static const struct shunt_sorted_counts nothing = {{0}};
  static const struct shunt_sorted_counts full = {{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1}};
  struct shunt_sorted_layer m = {
      .rows = 4096, .nonzeros = 874758, .n = 256, .size = 4, .huge = 10, .cluster = 4};
  check(shunt_sorted_layer_has_lines(&mask) && !shunt_sorted_layer_has_lines(&nothing),
        "rows that were counted have lines");
  check(!shunt_sorted_layer_has_lines(&full), "but not where some are as long as are counted");
  shunt_sorted_layer_count(&m, &mask);
  check(fabs(m.entries[0] - 874758) < 1, "the entries of all rows are A's");
  double us;
  struct shunt_sorted_layer_cut c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.lanes_log2 == 5, "wide C, rows alike: a warp's lanes have a row of B");
  m.n = 24;
  shunt_sorted_layer_count(&m, &mask);
  c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.lanes_log2 <= 3 && c.long_lanes_log2 == 3, "groups are not wider than C by half");
  m = (struct shunt_sorted_layer){
      .rows = 2048, .nonzeros = 503317, .n = 128, .size = 4, .huge = 14, .cluster = 4};
  shunt_sorted_layer_count(&m, &skewed);
  c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.lanes_log2 < 5 && shunt_sorted_least(c.limit) < 1024,
        "rows that differ: narrower groups, and more rows with a block");
  int better = 0;
  struct shunt_sorted_layer_cut at = {.words = 1};
  for (at.lanes_log2 = 2; at.lanes_log2 <= 5; at.lanes_log2++) {
    at.team_log2 = at.lanes_log2 < 5 ? at.lanes_log2 + 1 : 5;
    for (at.long_lanes_log2 = 3; at.long_lanes_log2 <= 5; at.long_lanes_log2++)
      for (at.limit = 5; at.limit <= 9; at.limit++) better += shunt_sorted_layer_us(&m, &at) < us;
  }
  check(better == 0 && us == shunt_sorted_layer_us(&m, &c), "no cut is estimated to end sooner");
}

/* Narrow C, by loads of a row: shares of lanes as many as the loads, or half; or A is staged. */
static void test_sorted_narrow_layers(void)
{
  static const struct shunt_sorted_counts skewed = {
      {2048, 1990, 1900, 1760, 1520, 1180, 820, 547, 399, 270, 141, 40, 0, 0}};
  for (int n = 4; n <= 16; n += 4) {
    struct shunt_sorted_layer m = {
        .rows = 2048, .nonzeros = 503317, .n = n, .size = 4, .huge = 14, .cluster = 4};
    double us;
    shunt_sorted_layer_count(&m, &skewed);
    const struct shunt_sorted_layer_cut c = shunt_sorted_choose_layer_cut(&m, &us);
    const int lanes_log2 = n == 4 ? 0 : n == 8 ? 1 : 2, few = n > 8 ? 2 : 1;
    int better = 0;
    struct shunt_sorted_layer_cut at = {.words = 1, .team_log2 = 2};
    for (at.lanes_log2 = lanes_log2 ? lanes_log2 - 1 : 0; at.lanes_log2 <= lanes_log2;
         at.lanes_log2++)
      for (at.share = 4; at.share <= 32; at.share *= 2)
        for (at.long_lanes_log2 = few; at.long_lanes_log2 <= few + 1; at.long_lanes_log2++)
          for (at.limit = 5; at.limit <= 9; at.limit++)
            better += shunt_sorted_layer_us(&m, &at) < us;
    check(better == 0 && us == shunt_sorted_layer_us(&m, &c),
          "%d columns: no shares are estimated to end sooner", n);
    check(c.share >= 4 || (c.lanes_log2 == 2 && n > 8), "A is staged for more than 2 loads alone");
  }
  /* All rows long: nothing but blocks. */
  static const struct shunt_sorted_counts longs = {
      {512, 512, 512, 512, 512, 512, 512, 512, 0, 0, 0, 0, 0, 0}};
  struct shunt_sorted_layer m = {
      .rows = 512, .nonzeros = 190000, .n = 8, .size = 4, .huge = 14, .cluster = 4};
  shunt_sorted_layer_count(&m, &longs);
  struct shunt_sorted_layer_cut c = {.share = 8, .lanes_log2 = 1, .long_lanes_log2 = 1, .limit = 7};
  const double us = shunt_sorted_layer_us(&m, &c);
  c.share = 32;
  check(us == shunt_sorted_layer_us(&m, &c), "shares say nothing where all rows have blocks");
}

/* Two words a lane: many short rows, where slices of C are whole. */
static void test_sorted_layer_words(void)
{
  static const struct shunt_sorted_counts some = {
      {65000, 64000, 60000, 38000, 7000, 500, 0, 0, 0, 0, 0, 0, 0, 0}};
  struct shunt_sorted_layer m = {
      .rows = 65536, .nonzeros = 1258000, .n = 64, .size = 4, .huge = 14, .cluster = 4};
  double us;
  shunt_sorted_layer_count(&m, &some);
  struct shunt_sorted_layer_cut c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.words == 2 && c.lanes_log2 == 3, "8 lanes have a row of 256 bytes");
  check(us == shunt_sorted_layer_us(&m, &c), "it takes what its line says");
  m.n = 256;
  shunt_sorted_layer_count(&m, &some);
  c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.words == 2 && c.lanes_log2 == 5 && c.team_log2 == 5, "and 32 one of 1,024");
  m.n = 72;
  shunt_sorted_layer_count(&m, &some);
  c = shunt_sorted_choose_layer_cut(&m, &us);
  check(c.words == 1, "not where slices would not be whole,");
  m.n = 64, m.nonzeros = 48 * m.rows;
  shunt_sorted_layer_count(&m, &some);
  check(shunt_sorted_choose_layer_cut(&m, &us).words == 1, "nor of long rows,");
  m.rows = 10000, m.nonzeros = 192000;
  shunt_sorted_layer_count(&m, &some);
  check(shunt_sorted_choose_layer_cut(&m, &us).words == 1, "nor of few");
}

/* How layers and scattered matrices are cut, by counts alone. */
static struct shunt_sorted_shape sorted_shape(int64_t cols, int64_t n,
                                              const struct shunt_sorted_counts *known)
{
  const struct shunt_device d = {.multiprocessors = 132};
  const struct shunt_spmm p = {.a = {.rows = 1024, .cols = cols, .nnz = 588554},
                               .b = {.cols = n, .type = SHUNT_F32}};
  return shunt_sorted_spmm_shape(&p, known, &d);
}

static void test_sorted_shapes(void)
{
  static const struct shunt_sorted_counts known = {
      {1024, 1024, 1020, 1015, 1000, 990, 935, 717, 418, 150, 20, 0, 0, 0}};
  static const struct shunt_sorted_counts nothing = {{0}};
  const struct shunt_sorted_shape narrow = sorted_shape(4096, 8, &known);
  check(narrow.limit <= 512 && narrow.share > 0,
        "a layer that is not staged, whose last row would end late: more rows have a block");
  check(sorted_shape(100000, 8, &known).limit == 1024, "not those of a scattered matrix");
  for (int64_t n = 8; n <= 512; n *= 4) {
    struct shunt_sorted_layer m = {
        .rows = 1024, .nonzeros = 588554, .n = n, .size = 4, .huge = 10, .cluster = 4};
    double us;
    shunt_sorted_layer_count(&m, &known);
    const struct shunt_sorted_layer_cut cut = shunt_sorted_choose_layer_cut(&m, &us);
    const struct shunt_sorted_shape s = sorted_shape(4096, n, &known);
    check(s.lanes_log2 == cut.lanes_log2 && s.long_lanes_log2 == cut.long_lanes_log2 &&
              s.limit == 2 << cut.limit && s.huge == 2048 && s.cluster == 4 && s.share == cut.share,
          "a layer of %d columns: as its lines say", (int)n);
  }
  check(sorted_shape(4096, 128, &nothing).lanes_log2 ==
            sorted_shape(100000, 128, &nothing).lanes_log2,
        "one whose rows nobody counted: as any other");
}

/* Graphs: two words a lane, where rows are some, and not nearly all short. */
static void test_sorted_words(void)
{
  const struct shunt_device d = {.multiprocessors = 132};
  struct shunt_sorted_counts known = {{30000, 20000, 8000, 3000, 500}};
  struct shunt_spmm p = {.a = {.rows = 40000, .cols = 40000, .nnz = 240000},
                         .b = {.cols = 64, .type = SHUNT_F32}};
  struct shunt_sorted_shape s = shunt_sorted_spmm_shape(&p, &known, &d);
  check(s.words == 2 && s.lanes_log2 == 3 && s.team_log2 == 3 && s.wide == 32 && !s.brief,
        "8 lanes a row, and a warp from 32 entries on");
  p.b.cols = 32;
  s = shunt_sorted_spmm_shape(&p, &known, &d);
  check(s.words == 2 && s.lanes_log2 == 2 && s.wide == 16, "4 where C has 128 bytes a row");
  p.a.rows = 4000, p.a.nnz = 24000, p.b.cols = 64;
  known = (struct shunt_sorted_counts){{3000, 2000, 800, 300, 50}};
  check(shunt_sorted_spmm_shape(&p, &known, &d).wide == 16, "of few rows from 16 entries on");
  p.b.cols = 72;
  check(shunt_sorted_spmm_shape(&p, &known, &d).words == 1, "none where slices are not whole,");
  p.b.cols = 64, known.at_least[2] = 200, known.at_least[3] = known.at_least[4] = 0;
  check(shunt_sorted_spmm_shape(&p, &known, &d).words == 1, "where nearly all rows are short,");
  known.at_least[0] = 0;
  check(shunt_sorted_spmm_shape(&p, &known, &d).words == 1, "where nobody counted,");
  known = (struct shunt_sorted_counts){{60000, 50000, 20000}};
  p.a.rows = p.a.cols = 70000, p.a.nnz = 420000;
  check(shunt_sorted_spmm_shape(&p, &known, &d).words == 1, "of very many,");
  p.a.rows = p.a.cols = 2000, p.a.nnz = 12000;
  check(shunt_sorted_spmm_shape(&p, &known, &d).words == 1, "and of very few");
}

/* What estimates know of the shape of a layer. */
static void test_sorted_us(void)
{
  const struct shunt_device d = {.multiprocessors = 132};
  struct shunt_sorted_counts known = {{4096, 4096, 4096, 4096, 4096, 4096}}; /* of 64 to 127 */
  struct shunt_spmm p = {.a = {.rows = 4096, .cols = 4096, .nnz = 4096 * 90},
                         .b = {.cols = 128, .type = SHUNT_F32}};
  check(shunt_sorted_spmm_us(&p, &known, &d) > 2, "wide C: by lines");
  p.b.cols = 8;
  const double us = shunt_sorted_spmm_us(&p, &known, &d);
  check(us > 2, "narrow C, too");
  for (int i = 6; i <= 10; i++) known.at_least[i] = 16;
  check(shunt_sorted_spmm_us(&p, &known, &d) > us, "full rows take longer");
  p.a.cols = 400000;
  check(shunt_sorted_spmm_us(&p, &known, &d) == 0, "a scattered matrix has no lines");
  p.a.cols = 4096, known.at_least[0] = 0;
  check(shunt_sorted_spmm_us(&p, &known, &d) == 0, "nor has one that nobody counted");
}

/* How many words a lane has by the lines of `csr`. */
static int csr_layer_words(const struct shunt_csr_work *w)
{
  struct shunt_csr_layer m;
  double us;
  return shunt_csr_layer_of(w, &m) ? shunt_csr_choose_layer_cut(&m, &us).words : 0;
}

/* The same of `csr`, which has lines for the longest row alone. */
static void test_csr_layer_words(void)
{
  struct shunt_csr_work w = {100000, 1024000, 27, 256, 4, 132, true};
  struct shunt_csr_layer m;
  double us, one;
  check(shunt_csr_layer_of(&w, &m) && m.many, "there are lines for it");
  struct shunt_csr_layer_cut c = shunt_csr_choose_layer_cut(&m, &us);
  check(c.words == 2 && c.lanes_log2 == 5 && c.threads_log2 == 5,
        "32 lanes have a row of 1,024 bytes");
  check(us == shunt_csr_layer_us(&m, &c), "it takes what its line says");
  int better = 0;
  for (c.lanes_log2 = 2; c.lanes_log2 < SHUNT_CSR_LAYER_LANES; c.lanes_log2++)
    for (c.threads_log2 = c.lanes_log2; c.threads_log2 <= 5; c.threads_log2++)
      better += shunt_csr_layer_us(&m, &c) < us;
  check(better == 0, "no cut by two words is estimated to end sooner");
  m.words = false;
  check(shunt_csr_choose_layer_cut(&m, &one).words == 1 && one > us, "one word takes longer");
  w.n = 260;
  check(csr_layer_words(&w) == 1, "not where slices would not be whole,");
  w.n = 16;
  check(csr_layer_words(&w) == 1, "nor of narrow C,");
  w.n = 256, w.nonzeros = 48 * w.rows;
  check(csr_layer_words(&w) == 1, "nor of long rows,");
  w.rows = 2000, w.nonzeros = 20000;
  check(csr_layer_words(&w) == 1, "nor of few");
  w.longest = -1;
  check(csr_layer_words(&w) == 0, "rows that nobody counted have no lines");
  w.longest = 27, w.n = 255;
  check(csr_layer_words(&w) == 0, "nor have rows of C of no whole loads");
}

/* Two words a lane, by rows and columns of C. */
static void test_csr_words(void)
{
  struct shunt_csr_work m = {70000, 70000 * 25, 33, 128, 8, 132, true};
  check(shunt_csr_has_words(&m) && shunt_csr_words_lanes_log2(&m) == 5 &&
            shunt_csr_words_team_log2(&m, 5) == 5,
        "rows alike: groups as wide as C");
  m.longest = 60;
  check(shunt_csr_words_lanes_log2(&m) == 4, "narrower where they differ");
  m.n = 96;
  check(shunt_csr_words_lanes_log2(&m) == 3, "and where slices would not be whole");
  m.n = 100;
  check(!shunt_csr_has_words(&m), "none where they cannot be");
  m.n = 16;
  check(!shunt_csr_has_words(&m), "nor of narrow C");
  m.nonzeros = 8 * m.rows, m.longest = 15;
  check(shunt_csr_has_words(&m) && shunt_csr_words_lanes_log2(&m) == 2 &&
            shunt_csr_words_team_log2(&m, 2) == 2,
        "but of many short rows where that has 128 bytes a row");
  m.rows /= 8, m.nonzeros /= 8;
  check(!shunt_csr_has_words(&m), "and not of few");
  m.rows *= 8, m.nonzeros = 25 * m.rows;
  m.n = 128, m.longest = 3000;
  check(!shunt_csr_has_words(&m), "nor where a row would end last");
  m.longest = -1;
  check(!shunt_csr_has_words(&m), "nor where nobody looked");
  m.longest = 33, m.nonzeros = SHUNT_CSR_MOST_LIMIT;
  check(!shunt_csr_has_words(&m), "nor of a matrix in which rows are searched for");
  m.longest = 9, m.nonzeros = 6 * m.rows;
  check(!shunt_csr_has_words(&m), "nor of short rows");
  m.nonzeros = 25 * m.rows, m.longest = 33, m.words = false;
  check(!shunt_csr_has_words(&m), "nor of complex numbers");
}

/* Matrices that an order of their rows may help. */
static void test_sorted_candidates(void)
{
  struct shunt_spmm p = {.a = {.rows = 4000, .cols = 4000, .nnz = 30000, .value_type = SHUNT_F32},
                         .b = {.cols = 64, .type = SHUNT_F32}};
  struct shunt_profile f = {.rows = p.a.rows, .cols = p.a.cols, .nnz = p.a.nnz, .longest_row = 12};
  check(!shunt_choose_sorted_candidate(&p, &f), "rows that are alike: none");
  check(!shunt_choose_sorted_candidate(&p, NULL), "nor unseen ones");
  f.idle_steps = p.a.nnz / 3;
  check(shunt_choose_sorted_candidate(&p, &f), "a third of the steps is waiting");
  f.idle_steps--;
  check(!shunt_choose_sorted_candidate(&p, &f), "or less");
  f.longest_row = 63;
  check(!shunt_choose_sorted_candidate(&p, &f), "a row of eight times the mean, which is short");
  f.longest_row = 64;
  check(shunt_choose_sorted_candidate(&p, &f), "and a long one");
  p.a.rows = f.rows = 1023;
  check(!shunt_choose_sorted_candidate(&p, &f), "not in a small matrix");
  p.a.rows = f.rows = 4000, p.a.cols = f.cols = 400;
  f.idle_steps = p.a.nnz, f.lengths.at_least[0] = 4000;
  f.longest_row = (2 * p.a.nnz + p.a.rows - 1) / p.a.rows;
  check(shunt_choose_sorted_candidate(&p, &f), "in a layer whose longest row is twice the mean");
  f.longest_row--;
  check(!shunt_choose_sorted_candidate(&p, &f), "not in one that has none");
  f.longest_row++, f.lengths.at_least[0] = 0;
  check(!shunt_choose_sorted_candidate(&p, &f), "nor in one whose rows nobody counted");
}

int main(void)
{
  test_sorted_candidates();
  test_sorted_layers();
  test_sorted_shapes();
  test_sorted_words();
  test_sorted_us();
  test_sorted_narrow_layers();
  test_sorted_layer_words();
  test_csr_layer_words();
  test_csr_words();
  return check_finish();
}
