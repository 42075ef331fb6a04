/* test_cost_original.c: what the algorithms of cuSPARSE's SpMM are expected to take, against what
   they took on an H200.  */
#include "tests/unit/plan/cost_cases.h"

/* cuSPARSE's algorithms after preprocess, on made-up matrices
   (tests/bench/results/rows-made-up.json). */
static void test_algorithms_fit(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, n;
    shunt_type type;
    double us[3]; /* of the default, ALG1, ALG3 */
  } measured[] = {
      {"rmat:131072:8", 131072, 1000464, 5983, 32, SHUNT_F32, {118, 201, 43}},
      {"rmat:131072:8", 131072, 1000464, 5983, 32, SHUNT_F64, {133, 221, 106}},
      {"mesh:48x48x48:4", 442368, 45812608, 108, 32, SHUNT_F32, {2363, 7364, 701}},
      {"random:1000000x1000000:0.00002", 1000000, 20000000, 46, 16, SHUNT_F64, {1860, 1937, 888}},
      {"random:1000000x1000000:0.00002",
       1000000,
       20000000,
       46,
       128,
       SHUNT_F64,
       {6089, 15638, 6897}},
  };
  static const int number[3] = {0, 4, 12};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++)
    for (int a = 0; a < 3; a++) {
      const int64_t rows = measured[i].rows, n = measured[i].n;
      const struct shunt_profile f = {
          .rows = rows, .nnz = measured[i].nnz, .longest_row = measured[i].longest};
      struct shunt_problem p = {
          .op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1, .algorithm = number[a]};
      p.spmm.a = (struct shunt_csr){.rows = rows,
                                    .cols = rows,
                                    .nnz = measured[i].nnz,
                                    .index_type = SHUNT_I32,
                                    .value_type = measured[i].type};
      p.spmm.b = p.spmm.c = (struct shunt_dense){rows, n, n, 1, NULL, measured[i].type};
      double us = shunt_cost_original(&p, &f, &h200);
      check(within(us, measured[i].us[a]) < 2.2, "%s, N = %d, algorithm %d: %.0f us, measured %.0f",
            measured[i].matrix, (int)n, number[a], us, measured[i].us[a]);
    }
}

/* Of 2-byte types they are slower by far: ALG1 by what it gathers, ALG3 by its longest row
   (tests/bench/results/csr/times.tsv).  `csr` takes the third figure.  */
static void test_algorithms_of_half(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, n;
    double alg1, alg3, csr;
  } measured[] = {{"wiki-Vote", 8297, 103689, 893, 8, 34.6, 47.0, 9.30},
                  {"CoSP2_hmatrix_1024", 12288, 196608, 19, 256, 262, 20.4, 13.9},
                  {"rajat16", 94294, 641159, 28755, 8, 650, 1980, 24.7},
                  {"rajat16", 94294, 641159, 28755, 64, 1743, 2025, 34.9},
                  {"c-64", 51035, 717841, 9474, 64, 921, 519, 26.7},
                  {"3dtube", 45330, 3213618, 2364, 256, 5147, 231, 141}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t rows = measured[i].rows, n = measured[i].n;
    const struct shunt_profile f = {
        .rows = rows, .nnz = measured[i].nnz, .longest_row = measured[i].longest};
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'N', .batches = 1};
    p.spmm.a = (struct shunt_csr){
        .rows = rows, .cols = rows, .nnz = f.nnz, .index_type = SHUNT_I32, .value_type = SHUNT_F16};
    p.spmm.b = p.spmm.c = (struct shunt_dense){rows, n, n, 1, NULL, SHUNT_F16};
    const double csr = shunt_cost_csr(&p.spmm, &f, &h200);
    for (int a = 0; a < 2; a++) {
      const double took = a ? measured[i].alg3 : measured[i].alg1;
      p.algorithm = a ? 12 : 4;
      const double us = shunt_cost_original(&p, &f, &h200);
      check(within(us, took) < 2, "%s, f16, N = %d, %s: %.0f us, measured %.0f", measured[i].matrix,
            (int)n, a ? "ALG3" : "ALG1", us, took);
      check(csr < us, "and csr, which takes %.0f, is expected to be faster", measured[i].csr);
    }
  }
}

/* No call is over before its launch is. */
static void test_every_call_has_a_start(void)
{
  static const int algorithms[] = {0, 4, 12};
  for (int type = SHUNT_F16; type <= SHUNT_F64; type++)
    for (int i = 0; i < 3; i++) {
      struct shunt_problem p = {
          .op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1, .algorithm = algorithms[i]};
      p.spmm.a = (struct shunt_csr){
          .rows = 100, .cols = 100, .nnz = 1, .index_type = SHUNT_I32, .value_type = type};
      p.spmm.b = p.spmm.c = (struct shunt_dense){100, 8, 8, 1, NULL, type};
      check(shunt_cost_original(&p, NULL, &h200) >= 2, "type %d, algorithm %d: 2 us at least", type,
            algorithms[i]);
    }
}

/* cuSPARSE's algorithms on layers, which `csr` is to pass in all of them: random 4096 x 4096 of 8 x
   1 vectors at 10 % (tests/bench/results/vector/f32.json).  PyTorch's COO products come as ALG1. */
static void test_layers_by_algorithm(void)
{
  static const struct {
    const char *types;
    int n;
    double csr, us[3]; /* of the default, ALG1, ALG3 */
  } measured[] = {{"f32.f32.f32.f32", 256, 83.5, {190, 2107, 125}},
                  {"f32.f32.f32.f32", 1024, 310, {734, 8377, 489}},
                  {"f64.f64.f64.f64", 256, 175, {380, 2363, 286}},
                  {"f64.f64.f64.f64", 1024, 657, {1521, 9522, 1114}}};
  static const int number[3] = {0, 4, 12};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++)
    for (int a = 0; a < 3; a++) {
      char word[SHUNT_PROBLEM_TEXT];
      struct shunt_problem p;
      snprintf(word, sizeof word,
               "spmm:csr:%s:i32b0:m4096n%dk4096z1677720:NN:rr:ld%d.%d:a1b0:alg%d",
               measured[i].types, measured[i].n, measured[i].n, measured[i].n, number[a]);
      check(shunt_problem_parse(word, &p) == SHUNT_OK, "parses %s", word);
      const double us = shunt_cost_original(&p, NULL, &h200);
      const double csr = shunt_cost_csr(&p.spmm, NULL, &h200);
      check(within(us, measured[i].us[a]) < 1.25, "%s: cuSPARSE %.0f us, measured %.0f", word, us,
            measured[i].us[a]);
      /* At random, where rows share nothing, csr takes 1.4 times as long at 1024 columns. */
      check(within(csr, measured[i].csr) < 1.3, "%s: csr %.0f us, measured %.0f", word, csr,
            measured[i].csr);
      check(csr < us, "%s: taken, without a profile", word);
    }
}

/* int8, the default: as long for few columns as for more (results/csr/int8-layers.txt). */
static void test_int8(void)
{
  static const struct {
    int64_t rows, cols, nnz;
    double us;
  } measured[] = {{4096, 4096, 1311315, 71.6},
                  {768, 3072, 471859, 30.8},
                  {262144, 262144, 1826686, 164},
                  {23000, 23000, 199866, 23}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'N', .batches = 1};
    p.spmm.a = (struct shunt_csr){.rows = measured[i].rows,
                                  .cols = measured[i].cols,
                                  .nnz = measured[i].nnz,
                                  .index_type = SHUNT_I32,
                                  .value_type = SHUNT_I8};
    p.spmm.b = (struct shunt_dense){measured[i].cols, 32, 32, 1, NULL, SHUNT_I8};
    p.spmm.c = (struct shunt_dense){measured[i].rows, 32, 32, 1, NULL, SHUNT_I32};
    const double us = shunt_cost_original(&p, NULL, &h200);
    check(within(us, measured[i].us) < 1.15, "int8, %d entries: cuSPARSE %.1f us, measured %.1f",
          (int)measured[i].nnz, us, measured[i].us);
  }
}

/* Products with the transpose on an H100 (tests/bench/results/csr/transposed.json).  `csr` proves
   the pattern of its copy and gathers the values anew.  */
static void test_transposed(void)
{
  static const struct {
    int64_t rows, cols, nnz; /* of A */
    int n;
    shunt_type type;
    double csr, us, alg1;
  } measured[] = {{100000, 100000, 1000000, 128, SHUNT_F32, 132, 327, 1511},
                  {100000, 100000, 1000000, 32, SHUNT_F64, 68.1, 148, 406},
                  {20000, 20000, 800000, 128, SHUNT_F64, 122, 402, 1182},
                  {4096, 4096, 1677722, 32, SHUNT_F32, 41.2, 81, 692},
                  {30000, 5000, 300000, 32, SHUNT_C32, 20.9, 57.7, 240},
                  {5000, 30000, 300000, 128, SHUNT_C64, 106, 646, 946},
                  {400000, 400000, 3200000, 32, SHUNT_F32, 161, 318, 1333},
                  {2000, 2000, 20000, 32, SHUNT_F64, 7.86, 8.78, 17.3}};
  static struct shunt_cost_table table;
  const struct shunt_machine h100 = {{132, 90, 232448, 50 << 20}, &table};
  shunt_costs_choose("NVIDIA H100 80GB HBM3", 132, &table);
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t n = measured[i].n, rows = measured[i].rows, cols = measured[i].cols;
    const shunt_type type = measured[i].type;
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'T', .op_b = 'N'};
    p.batches = 1;
    p.spmm.a = (struct shunt_csr){.rows = rows,
                                  .cols = cols,
                                  .nnz = measured[i].nnz,
                                  .index_type = SHUNT_I32,
                                  .value_type = type};
    p.spmm.b = (struct shunt_dense){rows, n, n, 1, NULL, type};
    p.spmm.c = (struct shunt_dense){cols, n, n, 1, NULL, type};
    const double csr = shunt_cost_csr_transposed(&p.spmm, -1, true, &h100);
    const double us = shunt_cost_original(&p, NULL, &h100);
    p.algorithm = 4;
    const double alg1 = shunt_cost_original(&p, NULL, &h100);
    check(within(us, measured[i].us) < 1.25, "case %u: cuSPARSE %.1f us, measured %.1f", i, us,
          measured[i].us);
    check(within(alg1, measured[i].alg1) < 1.25, "case %u: ALG1 %.1f us, measured %.1f", i, alg1,
          measured[i].alg1);
    check(within(csr, measured[i].csr) < 1.75, "case %u: csr %.1f us, measured %.1f", i, csr,
          measured[i].csr);
    check(csr < us, "case %u: is taken", i);
  }
}

/* Transposing A, on an H200 (tests/bench/results/csr/transposing.txt). */
static void test_transposing(void)
{
  static const struct {
    int64_t cols, nnz;
    double us;
  } measured[] = {{10000, 100000, 54.3}, {1000000, 10000000, 2290}, {45000, 2025000, 307},
                  {5000, 300000, 95.4},  {30000, 300000, 89.9},     {4096, 1679360, 244}};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const struct shunt_csr a = {.cols = measured[i].cols, .nnz = measured[i].nnz};
    const double us = shunt_cost_csr_transposing(&a, &h200);
    check(within(us, measured[i].us) < 1.25, "case %u: transposed in %.0f us, measured %.0f", i, us,
          measured[i].us);
  }
}

/* Layers whose rows differ: us by `csr`, by the dense copy, and by cuSPARSE's default
   (tests/bench/results/csr/uneven.txt, dense/f64.txt).  */
static void test_uneven_layers(void)
{
  static const struct {
    int64_t rows, cols, nnz, longest;
    double squares;
    int64_t n;
    shunt_type type;
    double csr, dense, original;
  } measured[] = {
      {4096, 4096, 838861, 257, 1.726e8, 128, SHUNT_F64, 48.3, 88.4, 104},
      {4096, 4096, 5033165, 1347, 6.188e9, 128, SHUNT_F64, 273, 101, 571},
      {1536, 6144, 1696280, 2956, 2.224e9, 128, SHUNT_F64, 182, 63.7, 200},
      {4096, 14336, 4240139, 10442, 1.335e10, 256, SHUNT_F64, 989, 525, 1039},
      {7168, 2048, 1759614, 1541, 8.638e8, 64, SHUNT_F64, 80.4, 57.4, 93},
      {3584, 3584, 3262605, 2193, 3.322e9, 32, SHUNT_F32, 41.1, 41.7, 139},
      {3584, 3584, 3262605, 2193, 3.322e9, 64, SHUNT_F32, 68.1, 59, 154},
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    const int64_t rows = measured[i].rows, cols = measured[i].cols, n = measured[i].n;
    const shunt_type t = measured[i].type;
    const struct shunt_profile f = {.rows = rows,
                                    .nnz = measured[i].nnz,
                                    .longest_row = measured[i].longest,
                                    .row_length_squares = measured[i].squares};
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'N', .batches = 1};
    p.spmm.a = (struct shunt_csr){
        .rows = rows, .cols = cols, .nnz = f.nnz, .index_type = SHUNT_I32, .value_type = t};
    p.spmm.b = (struct shunt_dense){cols, n, n, 1, NULL, t};
    p.spmm.c = (struct shunt_dense){rows, n, n, 1, NULL, t};
    const double csr = shunt_cost_csr(&p.spmm, &f, &h200);
    const double dense = shunt_cost_dense_cublas(&p.spmm, SHUNT_MATH_EXACT, &h200) +
                         shunt_cost_dense_proof(&p.spmm, false, &h200);
    const double original = shunt_cost_original(&p, &f, &h200);
    check(within(csr, measured[i].csr) < 1.45 && within(dense, measured[i].dense) < 1.3 &&
              within(original, measured[i].original) < 1.2,
          "%d x %d, N = %d: %.0f, %.0f, %.0f us", (int)rows, (int)cols, (int)n, csr, dense,
          original);
    check((csr < dense) == (measured[i].csr < measured[i].dense) &&
              (csr < dense ? csr : dense) < original,
          "the fastest way is expected to be that");
  }
}

int main(void)
{
  test_transposing();
  test_int8();
  test_transposed();
  test_algorithms_fit();
  test_algorithms_of_half();
  test_every_call_has_a_start();
  test_layers_by_algorithm();
  test_uneven_layers();
  return check_finish();
}
