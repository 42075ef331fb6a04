/* test_cost_sddmm.c: what SDDMM is expected to take by each route and by cuSPARSE, against what it
   took on an H200, and which calls the routes leave to others for it.  */
#include "tests/unit/plan/cost_cases.h"

/* The same for SDDMM, B by row: inner dimension, us of `csr` with its copy of B, of cuSPARSE. */
static void test_sddmm_cost_fits(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, inner;
    shunt_type type;
    double by_rows, by_original;
  } measured[] = {
      {"opt1", 15449, 1930655, 243, 32, SHUNT_F32, 34.0, 43.8},
      {"opt1", 15449, 1930655, 243, 128, SHUNT_F64, 176.6, 293},
      {"cfd1", 70656, 1828364, 33, 128, SHUNT_F32, 136.8, 443},
      {"rajat16", 94294, 641159, 28755, 32, SHUNT_F32, 27.2, 1133},
      {"delaunay_n16", 65536, 393150, 17, 32, SHUNT_F64, 32.8, 99.2},
      {"p2p-Gnutella31", 62586, 147892, 78, 128, SHUNT_F32, 47.4, 130},
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t n = measured[i].rows, k = measured[i].inner;
    const shunt_type t = measured[i].type;
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    const struct shunt_profile f = {
        .rows = n, .nnz = measured[i].nnz, .longest_row = measured[i].longest};
    p.sddmm.a = (struct shunt_dense){n, k, k, 1, NULL, t};
    p.sddmm.b = (struct shunt_dense){k, n, n, 1, NULL, t};
    p.sddmm.c = (struct shunt_csr){
        .rows = n, .cols = n, .nnz = measured[i].nnz, .index_type = SHUNT_I32, .value_type = t};
    double rows = shunt_cost_csr_sddmm(&p.sddmm, &f, &h200);
    double original = shunt_cost_original(&p, &f, &h200);
    check(within(rows, measured[i].by_rows) < 1.3, "%s, K = %d: rows %.1f us, measured %.1f",
          measured[i].matrix, (int)k, rows, measured[i].by_rows);
    check(within(original, measured[i].by_original) < 2,
          "%s, K = %d: cuSPARSE %.1f us, measured %.1f", measured[i].matrix, (int)k, original,
          measured[i].by_original);
    check(rows < original, "%s, K = %d: taken", measured[i].matrix, (int)k);
  }
}

/* Layers, B by rows (tests/bench/results/csr/sddmm-small.txt): us by `csr` and by cuSPARSE. */
static void test_layers_by_rows(void)
{
  static const struct {
    shunt_type type;
    int64_t wide, inner;
    double stored, csr, original;
  } measured[] = {{SHUNT_F32, 256, 16, 0.2, 3.35, 4.33},    {SHUNT_F32, 512, 32, 0.1, 4.76, 6.73},
                  {SHUNT_F64, 512, 32, 0.05, 4.9, 6.91},    {SHUNT_F32, 1024, 64, 0.1, 8.62, 15.4},
                  {SHUNT_F64, 1024, 64, 0.05, 6.55, 19.7},  {SHUNT_F32, 2048, 64, 0.1, 14.9, 52.8},
                  {SHUNT_F32, 2048, 256, 0.1, 43.6, 192.6}, {SHUNT_F64, 2048, 128, 0.1, 44.4, 176},
                  {SHUNT_F32, 1024, 32, 0.1, 6.25, 8.79},   {SHUNT_F64, 768, 16, 0.1, 5.52, 7.46}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t n = measured[i].wide, k = measured[i].inner;
    const shunt_type t = measured[i].type;
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    p.sddmm.a = (struct shunt_dense){n, k, k, 1, NULL, t};
    p.sddmm.b = (struct shunt_dense){k, n, n, 1, NULL, t};
    p.sddmm.c = (struct shunt_csr){.rows = n,
                                   .cols = n,
                                   .nnz = (int64_t)(measured[i].stored * (double)(n * n)),
                                   .index_type = SHUNT_I32,
                                   .value_type = t};
    const double csr = shunt_cost_csr_sddmm(&p.sddmm, NULL, &h200);
    const double original = shunt_cost_original(&p, NULL, &h200);
    check(within(csr, measured[i].csr) < 1.4 && within(original, measured[i].original) < 1.4,
          "%d wide, K = %d: csr %.1f us, measured %.1f, cuSPARSE %.1f, measured %.1f", (int)n,
          (int)k, csr, measured[i].csr, original, measured[i].original);
    check(csr < original, "and is taken");
  }
}

/* Layers of all kinds (results/sddmm-layers.txt.gz): us by `csr`, by a dense product that is
   sampled, and by cuSPARSE; the fastest is chosen.  */
static void test_layers_of_all_kinds(void)
{
  static const struct {
    const char *matrix;
    shunt_type type;
    bool by_columns;
    int64_t m, n, inner, nnz;
    double csr, dense, original;
  } measured[] = {
      {"magnitudes", SHUNT_F32, true, 8192, 2048, 128, 335545, 19.3, 137, 40.9},
      {"magnitudes", SHUNT_F32, true, 4096, 1024, 128, 419431, 25.6, 33.6, 44.9},
      {"attention", SHUNT_F32, true, 4096, 4096, 128, 2068480, 117, 142, 60.7},
      {"magnitudes", SHUNT_F64, true, 1024, 3072, 128, 471860, 44.7, 30.8, 65.7},
      {"magnitudes", SHUNT_F64, true, 4096, 1024, 32, 419431, 15.2, 23.9, 33.3},
      {"magnitudes", SHUNT_F64, false, 768, 3072, 128, 471859, 46.7, 23, 226},
      {"triangle", SHUNT_F64, false, 2048, 2048, 128, 2098176, 440, 50.9, 111},
      {"triangle", SHUNT_F64, true, 2048, 2048, 128, 2098176, 435, 50.5, 103},
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t m = measured[i].m, n = measured[i].n, k = measured[i].inner;
    const shunt_type t = measured[i].type;
    const bool turned = measured[i].by_columns;
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    p.sddmm.a = (struct shunt_dense){m, k, k, 1, NULL, t};
    p.sddmm.b = (struct shunt_dense){k, n, turned ? 1 : n, turned ? k : 1, NULL, t};
    p.sddmm.c = (struct shunt_csr){
        .rows = m, .cols = n, .nnz = measured[i].nnz, .index_type = SHUNT_I32, .value_type = t};
    const double us[] = {shunt_cost_csr_sddmm(&p.sddmm, NULL, &h200),
                         shunt_cost_dense_sampled(&p.sddmm, SHUNT_MATH_EXACT, &h200),
                         shunt_cost_original(&p, NULL, &h200)};
    const double took[] = {measured[i].csr, measured[i].dense, measured[i].original};
    int chosen = 0, fastest = 0;
    for (int way = 1; way < 3; way++) {
      if (us[way] < us[chosen]) chosen = way;
      if (took[way] < took[fastest]) fastest = way;
    }
    check(chosen == fastest, "%s, %d x %d, K = %d: %.1f, %.1f, %.1f us for %.1f, %.1f, %.1f",
          measured[i].matrix, (int)m, (int)n, (int)k, us[0], us[1], us[2], took[0], took[1],
          took[2]);
  }
}

/* Rows in groups of 8 (results/vector/sddmm.txt.gz): us by `csr`, `vector` and on the chip. */
static struct shunt_sddmm eights(int64_t m, int64_t n, int64_t k, int64_t nnz, bool by_columns)
{
  const shunt_type t = SHUNT_F16;
  return (struct shunt_sddmm){
      .compute = SHUNT_F32,
      .a = {m, k, k, 1, NULL, t},
      .b = {k, n, by_columns ? 1 : n, by_columns ? k : 1, NULL, t},
      .c = {.rows = m, .cols = n, .nnz = nnz, .index_type = SHUNT_I32, .value_type = t}};
}

static void test_eights(void)
{
  static const struct {
    const char *pattern;
    bool by_columns;
    int64_t m, n, inner, nnz, segments;
    double csr, vector, chip;
  } measured[] = {
      {"random", false, 1024, 1024, 256, 104824, 16352, 12.2, 11.7, 7.15},
      {"random", true, 1024, 1024, 64, 104824, 16352, 4.61, 5.74, 6.03},
      {"random", true, 2048, 2048, 256, 128528, 57056, 10.2, 15.1, 7.02},
      {"random", false, 4096, 4096, 64, 835024, 252168, 20.9, 10.4, 14.2},
      {"blocks of 16", false, 1024, 1024, 256, 100864, 5504, 10.6, 11.4, 7.9},
      {"blocks of 64", true, 4096, 4096, 256, 1630208, 25472, 182, 19.5, 29.9},
      {"a window", true, 4096, 4096, 64, 2027776, 35104, 42.8, 10.7, 34.8},
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const struct shunt_sddmm s = eights(measured[i].m, measured[i].n, measured[i].inner,
                                        measured[i].nnz, measured[i].by_columns);
    const struct shunt_profile f = {.segments = measured[i].segments};
    const double us[] = {shunt_cost_csr_sddmm(&s, &f, &h200), shunt_cost_vector_sddmm(&s, 8, &h200),
                         shunt_cost_dense_sddmm(&s, &f, &h200)};
    const double took[] = {measured[i].csr, measured[i].vector, measured[i].chip};
    int chosen = 0, fastest = 0;
    for (int way = 1; way < 3; way++) {
      if (us[way] < us[chosen]) chosen = way;
      if (took[way] < took[fastest]) fastest = way;
    }
    check(within(us[1], took[1]) < 1.25 && within(us[2], took[2]) < 1.4,
          "%s of %d x %d, K = %d: vector %.1f us for %.1f, on the chip %.1f for %.1f",
          measured[i].pattern, (int)measured[i].m, (int)measured[i].n, (int)measured[i].inner,
          us[1], took[1], us[2], took[2]);
    check(chosen == fastest, "the fastest is chosen");
  }
}

/* Entries that crowd leave tiles full and empty. */
static void test_crowded(void)
{
  const struct shunt_sddmm s = eights(2048, 2048, 256, 419430, true);
  const struct shunt_profile full = {.segments = 419430 / 64}, even = {.segments = 2048 * 32};
  const double us = shunt_cost_dense_sddmm(&s, NULL, &h200);
  check(shunt_cost_dense_sddmm(&s, &full, &h200) > 1.3 * us, "full runs take the chip longer");
  check(within(shunt_cost_dense_sddmm(&s, &even, &h200), us) < 1.001,
        "runs as dense as all of C take no longer");
}

/* SDDMM in one kernel, 4096 x 4096, f16. */
static void test_sampled_on_the_chip(void)
{
  static const struct {
    int64_t inner;
    double density, us;
  } measured[] = {{64, 0.1, 16.9},  {128, 0.1, 18.5}, {256, 0.05, 18.6}, {256, 0.1, 21.1},
                  {256, 0.2, 24.7}, {512, 0.1, 28.5}, {1024, 0.1, 48.5}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t n = 4096, k = measured[i].inner;
    struct shunt_sddmm s = {.compute = SHUNT_F32};
    s.a = (struct shunt_dense){n, k, k, 1, NULL, SHUNT_F16};
    s.b = (struct shunt_dense){k, n, 1, k, NULL, SHUNT_F16};
    s.c = (struct shunt_csr){.rows = n,
                             .cols = n,
                             .index_type = SHUNT_I32,
                             .nnz = (int64_t)(measured[i].density * (double)(n * n)),
                             .value_type = SHUNT_F16};
    const double us = shunt_cost_dense_sddmm(&s, NULL, &h200);
    check(within(us, measured[i].us) < 1.1, "SDDMM on the chip, K = %d: %.1f us, measured %.1f",
          (int)k, us, measured[i].us);
  }
}

/* SDDMM by `vector` where all rows are equal in groups of `height`, and no larger ones are. */
static enum shunt_reason sddmm_by_vector(int height)
{
  struct shunt_context e = {.machine = h200};
  const int64_t rows = 4096, inner = 128;
  struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
  struct shunt_profile f = {.rows = rows, .nnz = 60 * rows, .longest_row = 60};
  for (int v = 0; v < 3; v++) {
    f.groups_nonempty[v] = rows / (8 >> v);
    f.groups_equal[v] = 8 >> v <= height ? f.groups_nonempty[v] : 0;
  }
  p.sddmm.a = (struct shunt_dense){rows, inner, inner, 1, NULL, SHUNT_F32};
  p.sddmm.b = (struct shunt_dense){inner, rows, 1, inner, NULL, SHUNT_F32};
  p.sddmm.c = (struct shunt_csr){
      .rows = rows, .cols = rows, .nnz = f.nnz, .index_type = SHUNT_I32, .value_type = SHUNT_F32};
  p.sddmm.compute = SHUNT_F32;
  const struct shunt_call c = {
      .problem = &p, .context = &e, .profile = &f, .workspace_bytes = (size_t)1 << 30};
  double us = 0;
  return shunt_route_at(shunt_route_index("vector"))->expect(&c, &us).reason;
}

/* Other groups go entry by entry: 606 us for pkustk06, which has pairs, where `csr` takes 49. */
static void test_vector_wants_eights(void)
{
  check(sddmm_by_vector(2) == SHUNT_R_PATTERN, "vector leaves SDDMM on pairs of rows alone");
  check(sddmm_by_vector(4) == SHUNT_R_PATTERN, "and on fours");
  check(sddmm_by_vector(8) == SHUNT_FITS, "and takes eights");
}

/* Rows in threes are alike in two of three aligned pairs; those of most matrices are in none. */
static void test_alike_rows_are_chosen(void)
{
  struct shunt_profile f = {
      .rows = 20685, .nnz = 2454957, .groups_nonempty = {0, 0, 3000}, .groups_equal = {0, 0, 2000}};
  check(shunt_choose_csr_sddmm(&f).alike, "rows in threes are taken together");
  f.groups_equal[2] = 300;
  check(!shunt_choose_csr_sddmm(&f).alike, "where one pair in ten is alike they are not");
  f.groups_equal[2] = 3000;
  f.nnz = 200000, f.rows = 2000;
  check(!shunt_choose_csr_sddmm(&f).alike, "nor where the rows are few");
  f.nnz = 2000000, f.rows = 44609;
  check(!shunt_choose_csr_sddmm(&f).alike, "or short");
  check(!shunt_choose_csr_sddmm(NULL).alike, "nor where nobody looked");
}

/* Panels of B's columns find work in few rows of a window. */
static void test_crowded_rows_are_known(void)
{
  struct shunt_profile f = {.rows = 2048, .cols = 2048, .nnz = 274924, .segments = 2048 * 4};
  check(shunt_choose_csr_sddmm(&f).crowded, "a window of 120 columns");
  f.segments = 2048 * 31;
  check(!shunt_choose_csr_sddmm(&f).crowded, "not entries anywhere");
  check(!shunt_choose_csr_sddmm(NULL).crowded, "nor where nobody looked");
}

/* SDDMM of layers in f16 (tests/bench/results/dlmc-sddmm.json, sddmm.json) by `csr` and cuSPARSE,
   and one whose figures took no part in the fit: 2048 x 4608. */
static void test_sddmm_of_layers(void)
{
  static const struct {
    int64_t rows, cols, nnz, inner;
    bool by_row;
    double by_csr, by_original;
  } measured[] = {
      {2048, 4608, 943718, 64, true, 24, 58},      {8192, 256, 104856, 128, true, 9.5, 29.2},
      {16384, 1024, 335544, 64, true, 11.7, 35.9}, {4096, 512, 41936, 256, true, 8.5, 33.5},
      {4096, 4096, 1677722, 256, true, 104, 423},  {4096, 4096, 1677722, 256, false, 94.5, 80.2}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t m = measured[i].rows, n = measured[i].cols, k = measured[i].inner;
    const bool by_row = measured[i].by_row;
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    p.sddmm.a = (struct shunt_dense){m, k, k, 1, NULL, SHUNT_F16};
    p.sddmm.b = (struct shunt_dense){k, n, by_row ? n : 1, by_row ? 1 : k, NULL, SHUNT_F16};
    p.sddmm.c = (struct shunt_csr){.rows = m,
                                   .cols = n,
                                   .nnz = measured[i].nnz,
                                   .index_type = SHUNT_I32,
                                   .value_type = SHUNT_F16};
    const double csr = shunt_cost_csr_sddmm(&p.sddmm, NULL, &h200);
    const double original = shunt_cost_original(&p, NULL, &h200);
    check(within(csr, measured[i].by_csr) < 1.2, "%d x %d, K = %d: csr %.1f us, measured %.1f",
          (int)m, (int)n, (int)k, csr, measured[i].by_csr);
    check((csr < original) == (measured[i].by_csr < measured[i].by_original),
          "%d x %d, K = %d: csr %.1f, cuSPARSE %.1f us in the order measured", (int)m, (int)n,
          (int)k, csr, original);
  }
}

/* SDDMM by `vector`, 4096 x 4096 of 8x1 vectors, a tenth, f16: a B by row is copied first. */
static void test_vector_copies_operands(void)
{
  static const struct {
    int64_t inner;
    double by_column, by_row;
  } measured[] = {{256, 21.2, 25.5}, {512, 35.2, 43.2}, {1024, 61.9, 75.8}};
  struct shunt_context e = {.machine = h200};
  const int64_t n = 4096, nnz = n * n / 10;
  struct shunt_profile f = {.rows = n, .nnz = nnz, .longest_row = 480};
  for (int v = 0; v < 3; v++) f.groups_nonempty[v] = f.groups_equal[v] = n / (8 >> v);
  for (unsigned i = 0; i < 2 * sizeof measured / sizeof measured[0]; i++) {
    const int64_t k = measured[i / 2].inner;
    const bool by_row = i % 2;
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    p.sddmm.a = (struct shunt_dense){n, k, k, 1, NULL, SHUNT_F16};
    p.sddmm.b = (struct shunt_dense){k, n, by_row ? n : 1, by_row ? 1 : k, NULL, SHUNT_F16};
    p.sddmm.c = (struct shunt_csr){
        .rows = n, .cols = n, .nnz = nnz, .index_type = SHUNT_I32, .value_type = SHUNT_F16};
    p.sddmm.compute = SHUNT_F32;
    const struct shunt_call c = {
        .problem = &p, .context = &e, .profile = &f, .workspace_bytes = (size_t)1 << 30};
    double us = 0;
    shunt_route_at(shunt_route_index("vector"))->expect(&c, &us);
    const double took = by_row ? measured[i / 2].by_row : measured[i / 2].by_column;
    check(within(us, took) < 1.15, "SDDMM by vector, K = %d, B by %s: %.1f us, measured %.1f",
          (int)k, by_row ? "row" : "column", us, took);
    if (k == 256 && by_row)
      check(shunt_cost_dense_sddmm(&p.sddmm, NULL, &h200) < us,
            "sampled on the chip is chosen instead");
  }
}

/* Complex SDDMM: us by `csr` and by cuSPARSE. */
static void test_complex_sddmm(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, inner;
    bool by_columns;
    shunt_type type;
    double by_rows, by_original;
  } measured[] = {
      {"random 10 %", 4096, 1677119, 478, 32, false, SHUNT_C32, 149, 129},
      {"random 10 %", 4096, 1677119, 478, 256, false, SHUNT_C32, 304, 1329},
      {"tsyl201", 20685, 2454957, 162, 32, false, SHUNT_C32, 81, 88.8},
      {"tsyl201", 20685, 2454957, 162, 256, true, SHUNT_C32, 461, 318},
      {"ca-AstroPh", 18772, 396160, 504, 256, true, SHUNT_C64, 264, 484},
      {"cfd1", 70656, 1828364, 33, 256, true, SHUNT_C64, 973, 659},
      {"cfd1", 70656, 1828364, 33, 256, false, SHUNT_C64, 1118, 2348},
  };
  struct shunt_context e = {.machine = h200};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
    const int64_t rows = measured[i].rows, k = measured[i].inner;
    const shunt_type t = measured[i].type;
    const struct shunt_profile f = {
        .rows = rows, .nnz = measured[i].nnz, .longest_row = measured[i].longest};
    p.sddmm.a = (struct shunt_dense){rows, k, k, 1, NULL, t};
    p.sddmm.b = measured[i].by_columns ? (struct shunt_dense){k, rows, 1, k, NULL, t}
                                       : (struct shunt_dense){k, rows, rows, 1, NULL, t};
    p.sddmm.c = (struct shunt_csr){
        .rows = rows, .cols = rows, .nnz = f.nnz, .index_type = SHUNT_I32, .value_type = t};
    p.sddmm.compute = t;
    const struct shunt_call c = {
        .problem = &p, .context = &e, .profile = &f, .workspace_bytes = (size_t)1 << 40};
    double us = 0;
    const bool fits =
        shunt_route_at(shunt_route_index("csr"))->expect(&c, &us).reason == SHUNT_FITS;
    check((fits && us < shunt_cost_original(&p, &f, &h200)) ==
              (measured[i].by_rows < measured[i].by_original),
          "%s, K = %d, type %d: csr %.0f us, cuSPARSE %.0f", measured[i].matrix, (int)k, (int)t,
          measured[i].by_rows, measured[i].by_original);
  }
}

int main(void)
{
  test_sddmm_cost_fits();
  test_layers_by_rows();
  test_layers_of_all_kinds();
  test_eights();
  test_crowded();
  test_vector_copies_operands();
  test_vector_wants_eights();
  test_alike_rows_are_chosen();
  test_crowded_rows_are_known();
  test_sddmm_of_layers();
  test_complex_sddmm();
  test_sampled_on_the_chip();
  return check_finish();
}
