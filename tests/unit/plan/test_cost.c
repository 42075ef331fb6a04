/* What the planner expects: the times of routes and of the originals against those measured on an
   H200, and what each route takes or declines for them.  */
#include "backend/plan/context.h"
#include "backend/plan/leave.h"
#include "backend/plan/problem.h"
#include "backend/routes/costs.h"
#include "backend/routes/route.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/unit/check.h"

static const struct shunt_device h200 = {132, 90, 232448, 60 << 20};

static double gemm_us(shunt_type type, enum shunt_math math)
{
  return shunt_cost_gemm(4096, 1024, 4096, type, math, &h200);
}

static void test_costs(void)
{
  struct shunt_problem p;
  shunt_problem_parse(
      "spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k2048z1677721:NN:rr:ld1024.1024:a1b0:alg0", &p);
  double n1024 = shunt_cost_original(&p, NULL, &h200);
  p.spmm.c.cols = p.spmm.b.cols = 256;
  check(shunt_cost_original(&p, NULL, &h200) < n1024, "fewer columns cost less");
  double half = gemm_us(SHUNT_F16, SHUNT_MATH_EXACT), f32 = gemm_us(SHUNT_F32, SHUNT_MATH_EXACT);
  double tf32 = gemm_us(SHUNT_F32, SHUNT_MATH_TF32);
  check(half < f32, "f16 products are faster than f32");
  check(half > 35 && half < 60, "4096 x 4096 x 1024 f16 near its measured 46 us (%.1f)", half);
  check(half < tf32 && 5 * tf32 < f32, "TF32 is between f16 and f32 (%.1f us of %.1f)", tf32, f32);
  check(tf32 > 90 && tf32 < 111, "near its measured 100 us (%.1f)", tf32);
  double narrow = shunt_cost_gemm(4096, 256, 4096, SHUNT_F32, SHUNT_MATH_TF32, &h200);
  check(narrow > 33 && narrow < 41, "4096 x 4096 x 256 near its 37 us (%.1f)", narrow);
  static const shunt_type others[] = {SHUNT_F16, SHUNT_BF16, SHUNT_F64};
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
    check(gemm_us(others[i], SHUNT_MATH_TF32) == gemm_us(others[i], SHUNT_MATH_EXACT),
          "type %d costs the same with TF32 allowed", (int)others[i]);
}

/* Sizes, types and times of one matrix of SuiteSparse or of a pruned layer, us on an H200
   (tests/bench/results/rows.json, dlmc.json); 0: not measured.  */
struct measured {
  const char *matrix;
  int64_t rows, cols, nnz, longest, vectors, longest_group;
  int64_t n;
  shunt_type type;
  double by_rows, by_groups, by_original;
};
static const struct measured cases[] = {
    {"bcsstk32", 44609, 44609, 2014701, 216, 430762, 338, 32, SHUNT_F32, 26.4, 25.4, 98},
    {"bcsstk32", 44609, 44609, 2014701, 216, 430762, 338, 128, SHUNT_F64, 145, 100, 229},
    {"ex11", 16614, 16614, 1096948, 90, 261946, 189, 32, SHUNT_F64, 20.9, 16.4, 57.9},
    {"ex11", 16614, 16614, 1096948, 90, 261946, 189, 128, SHUNT_F64, 68.6, 49.5, 121},
    {"cfd1", 70656, 70656, 1828364, 33, 830425, 164, 32, SHUNT_F32, 20.4, 37.3, 99.9},
    {"delaunay_n16", 65536, 65536, 393150, 17, 243682, 61, 128, SHUNT_F32, 39.8, 38.5, 54.4},
    {"gupta2", 62064, 62064, 4248286, 8413, 1939464, 10543, 32, SHUNT_F32, 64.7, 103, 200},
    {"pyfr_p6_tet_m132-sp", 84, 252, 20400, 252, 0, 0, 32, SHUNT_F32, 4.0, 0, 0},
    {"tsyl201", 20685, 20685, 2454957, 162, 0, 0, 128, SHUNT_C32, 144, 0, 0},
    {"cfd1", 70656, 70656, 1828364, 33, 0, 0, 32, SHUNT_C32, 44.9, 0, 0},
    {"bcsstk32", 44609, 44609, 2014701, 216, 0, 0, 32, SHUNT_C64, 84.6, 0, 0},
    {"random 4096x4096", 4096, 4096, 1677119, 478, 0, 0, 256, SHUNT_C32, 206, 0, 0},
    {"random 4096x4096, 4 x 1", 4096, 4096, 1677720, 460, 0, 0, 256, SHUNT_F32, 100, 0, 0},
    {"transformer_512x2048_0.9", 512, 2048, 104857, 670, 0, 0, 256, SHUNT_F16, 13.2, 0, 0},
};

static double within(double estimate, double measured)
{
  return estimate > measured ? estimate / measured : measured / estimate;
}

/* Off by less than a factor, and in the order that was measured where that is clear. */
static void test_cost_fits(void)
{
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct measured *m = &cases[i];
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1};
    const struct shunt_profile f = {.rows = m->rows, .nnz = m->nnz, .longest_row = m->longest};
    p.spmm.a = (struct shunt_csr){.rows = m->rows,
                                  .cols = m->cols,
                                  .nnz = m->nnz,
                                  .index_type = SHUNT_I32,
                                  .value_type = m->type};
    p.spmm.b = (struct shunt_dense){m->cols, m->n, m->n, 1, NULL, m->type};
    p.spmm.c = (struct shunt_dense){m->rows, m->n, m->n, 1, NULL, m->type};
    double rows = shunt_cost_csr(&p.spmm, &f, &h200);
    double groups = shunt_cost_bundle(&p.spmm, (double)m->vectors, (double)m->longest_group, &h200);
    double original = shunt_cost_original(&p, &f, &h200);
    check(within(rows, m->by_rows) < 1.7, "%s, N = %d: rows %.1f us, measured %.1f", m->matrix,
          (int)m->n, rows, m->by_rows);
    if (m->by_groups == 0) continue;
    check(within(groups, m->by_groups) < 1.7, "%s, N = %d: groups %.1f us, measured %.1f",
          m->matrix, (int)m->n, groups, m->by_groups);
    check(within(original, m->by_original) < 1.7, "%s, N = %d: cuSPARSE %.1f us, measured %.1f",
          m->matrix, (int)m->n, original, m->by_original);
    bool clear = within(m->by_rows, m->by_groups) > 1.25;
    check(!clear || (rows < groups) == (m->by_rows < m->by_groups),
          "%s, N = %d: rows and groups in the order measured", m->matrix, (int)m->n);
    check(rows < original, "%s, N = %d: taken", m->matrix, (int)m->n);
  }
}

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

/* cuSPARSE's algorithms on layers, which `csr` is to pass in all of them: random 4096 x 4096 of 8 x
   1 vectors at 10 % (tests/bench/results/vector-f32.json).  PyTorch's COO products come as ALG1. */
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
      check(within(csr, measured[i].csr) < 1.25, "%s: csr %.0f us, measured %.0f", word, csr,
            measured[i].csr);
      check(csr < us, "%s: taken, without a profile", word);
    }
}

/* Blocks of 4 x 4: 911 us by `vector`, 339 by `csr`; it had been taken for 203. */
static void test_vector_is_slow_on_elements(void)
{
  struct shunt_spmm p = {.a = {.rows = 442368,
                               .cols = 442368,
                               .nnz = 45812608,
                               .index_type = SHUNT_I32,
                               .value_type = SHUNT_F32}};
  const struct shunt_profile f = {.rows = p.a.rows, .nnz = p.a.nnz, .longest_row = 108};
  p.b = p.c = (struct shunt_dense){p.a.rows, 32, 32, 1, NULL, SHUNT_F32};
  double vector = shunt_cost_vector(&p, 4, 108, &h200), rows = shunt_cost_csr(&p, &f, &h200);
  check(within(vector, 911) < 1.3 && rows < vector, "4 x 4 elements: vector %.0f us, rows %.0f",
        vector, rows);
}

/* Layers of V x 1 vectors in one launch, f16; what is too large for it is not. */
static void test_vector_once_fits(void)
{
  static const struct {
    int64_t rows, cols, nnz, longest;
    int n, reuse;
    double us;
  } measured[] = {
      {4096, 512, 41936, 24, 64, 8, 3.57},     {4096, 1024, 419424, 134, 128, 8, 6.49},
      {4096, 4096, 839680, 205, 256, 8, 9.70}, {8192, 256, 209712, 91, 256, 8, 8.13},
      {2048, 512, 314572, 243, 64, 4, 4.87},   {2048, 4096, 167936, 82, 256, 4, 6.57},
      {1024, 1024, 104856, 134, 64, 2, 4.39},  {512, 1024, 157286, 490, 256, 2, 10.0},
  };
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    struct shunt_spmm p = {.a = {.rows = measured[i].rows,
                                 .cols = measured[i].cols,
                                 .nnz = measured[i].nnz,
                                 .index_type = SHUNT_I32,
                                 .value_type = SHUNT_F16},
                           .compute = SHUNT_F32};
    const int n = measured[i].n;
    p.b = (struct shunt_dense){p.a.cols, n, n, 1, NULL, SHUNT_F16};
    p.c = (struct shunt_dense){p.a.rows, n, n, 1, NULL, SHUNT_F16};
    struct shunt_vector_single_launch how;
    const bool once = shunt_vector_csr_spmm_single_launch(&p, &h200, &how);
    check(once, "%d x 1 vectors, %d rows: one launch", measured[i].reuse, (int)p.a.rows);
    if (!once) continue;
    const double us = shunt_cost_vector_single_launch(&p, &how, measured[i].reuse,
                                                      (double)measured[i].longest, &h200);
    check(within(us, measured[i].us) < 1.25, "%d x 1 vectors, %d rows: %.1f us, measured %.1f",
          measured[i].reuse, (int)p.a.rows, us, measured[i].us);
    p.a.rows *= 32, p.c.rows *= 32, p.a.nnz *= 32;
    check(!shunt_vector_csr_spmm_single_launch(&p, &h200, &how), "32 times as many rows are two");
  }
}

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
    const double us = shunt_cost_dense_sddmm(&s, &h200);
    check(within(us, measured[i].us) < 1.08, "SDDMM on the chip, K = %d: %.1f us, measured %.1f",
          (int)k, us, measured[i].us);
  }
}

/* SDDMM by `vector` where all rows are equal in groups of `height`, and no larger ones are. */
static enum shunt_reason sddmm_by_vector(int height)
{
  struct shunt_context e = {.device = h200};
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
  check(shunt_choose_csr_alike(&f), "rows in threes are taken together");
  f.groups_equal[2] = 300;
  check(!shunt_choose_csr_alike(&f), "where one pair in ten is alike they are not");
  f.groups_equal[2] = 3000;
  f.nnz = 200000, f.rows = 2000;
  check(!shunt_choose_csr_alike(&f), "nor where the rows are few");
  f.nnz = 2000000, f.rows = 44609;
  check(!shunt_choose_csr_alike(&f), "or short");
  check(!shunt_choose_csr_alike(NULL), "nor where nobody looked");
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
  struct shunt_context e = {.device = h200};
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
      check(shunt_cost_dense_sddmm(&p.sddmm, &h200) < us, "sampled on the chip is chosen instead");
  }
}

/* What `bundle` is expected to take before the merged lists are there decides whether they are
   made: opt1 and pkustk06 take 28.0 us of 38.2 and 43.8 of 48.5, opt1 in f32, N = 8, 17.7 of
   16.4.  */
static void test_groups_are_hoped_for(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, n;
    shunt_type type;
    bool taken;
  } hoped[] = {
      {"opt1", 15449, 1930655, 243, 32, SHUNT_F64, true},
      {"pkustk06", 43164, 2571768, 126, 32, SHUNT_F64, true},
      {"opt1", 15449, 1930655, 243, 8, SHUNT_F32, false},
  };
  struct shunt_context e = {.device = h200};
  for (unsigned i = 0; i < sizeof hoped / sizeof hoped[0]; i++) {
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1};
    const struct shunt_profile f = {
        .rows = hoped[i].rows, .nnz = hoped[i].nnz, .longest_row = hoped[i].longest};
    p.spmm.a = (struct shunt_csr){.rows = f.rows,
                                  .cols = f.rows,
                                  .nnz = f.nnz,
                                  .index_type = SHUNT_I32,
                                  .value_type = hoped[i].type};
    p.spmm.b = (struct shunt_dense){f.rows, hoped[i].n, hoped[i].n, 1, NULL, hoped[i].type};
    p.spmm.c = p.spmm.b;
    p.spmm.compute = hoped[i].type;
    const struct shunt_call c = {.problem = &p,
                                 .context = &e,
                                 .profile = &f,
                                 .will_pack = true,
                                 .workspace_bytes = (size_t)1 << 30};
    double rows = 0, groups = 0;
    shunt_route_at(shunt_route_index("csr"))->expect(&c, &rows);
    shunt_route_at(shunt_route_index("bundle"))->expect(&c, &groups);
    check((groups < rows) == hoped[i].taken, "%s, N = %d: groups %.1f us hoped for, rows %.1f",
          hoped[i].matrix, (int)hoped[i].n, groups, rows);
  }
}

/* Wide products of matrices with huge rows: us by `csr` and by cuSPARSE's default. */
static void test_rows_leave_what_they_lose(void)
{
  static const struct {
    const char *matrix;
    int64_t rows, nnz, longest, n;
    shunt_type type;
    double by_rows, by_original;
  } measured[] = {
      {"rajat16", 94294, 641159, 28755, 128, SHUNT_F32, 88.5, 83.2},
      {"rajat16", 94294, 641159, 28755, 128, SHUNT_F64, 132, 149},
      {"c-64", 51035, 717841, 9474, 128, SHUNT_F64, 108, 124},
      {"rmat:131072:32", 131072, 3729482, 15666, 128, SHUNT_F32, 244, 278},
      {"rmat:131072:32", 131072, 3729482, 15666, 128, SHUNT_F64, 550, 530},
      {"rmat:1048576:16", 1048576, 16086321, 39440, 128, SHUNT_F64, 2720, 2951},
      {"rmat:3000000:3", 3000000, 8360000, 18909, 128, SHUNT_F32, 1515, 1392},
      {"wiki-Vote", 8297, 103689, 893, 128, SHUNT_C32, 27.1, 24.7},
      {"c-64", 51035, 717841, 9474, 32, SHUNT_C64, 62.8, 151},
      {"c-64", 51035, 717841, 9474, 128, SHUNT_C64, 332, 263},
      {"delaunay_n16", 65536, 393150, 17, 128, SHUNT_C32, 68.9, 103},
      {"delaunay_n16", 65536, 393150, 17, 128, SHUNT_C64, 309, 198},
      {"tsyl201", 20685, 2454957, 162, 128, SHUNT_C64, 321, 526},
  };
  struct shunt_context e = {.device = h200};
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    struct shunt_problem p = {.op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1};
    const int64_t rows = measured[i].rows, n = measured[i].n;
    const struct shunt_profile f = {
        .rows = rows, .nnz = measured[i].nnz, .longest_row = measured[i].longest};
    p.spmm.a = (struct shunt_csr){.rows = rows,
                                  .cols = rows,
                                  .nnz = f.nnz,
                                  .index_type = SHUNT_I32,
                                  .value_type = measured[i].type};
    p.spmm.b = p.spmm.c = (struct shunt_dense){rows, n, n, 1, NULL, measured[i].type};
    p.spmm.compute = measured[i].type;
    const struct shunt_call c = {
        .problem = &p, .context = &e, .profile = &f, .workspace_bytes = (size_t)1 << 40};
    double us = 0;
    const bool fits =
        shunt_route_at(shunt_route_index("csr"))->expect(&c, &us).reason == SHUNT_FITS;
    check((fits && us < shunt_cost_original(&p, &f, &h200)) ==
              (measured[i].by_rows < measured[i].by_original),
          "%s, N = %d: rows %.0f us, cuSPARSE %.0f", measured[i].matrix, (int)n,
          measured[i].by_rows, measured[i].by_original);
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
  struct shunt_context e = {.device = h200};
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

/* pyfr, 84 x 252 with 20,400 entries, N = 128: 4.6 us by `csr`, 9.2 by `dense`. */
static void test_small_f32_products_are_not_dense(void)
{
  struct shunt_spmm p = {.a = {.rows = 84,
                               .cols = 252,
                               .nnz = 20400,
                               .index_type = SHUNT_I32,
                               .value_type = SHUNT_F32},
                         .b = {252, 128, 128, 1, NULL, SHUNT_F32},
                         .c = {84, 128, 128, 1, NULL, SHUNT_F32}};
  const struct shunt_profile f = {.rows = 84, .nnz = 20400, .longest_row = 252};
  const double dense = shunt_cost_gemm(84, 128, 252, SHUNT_F32, SHUNT_MATH_EXACT, &h200) +
                       shunt_cost_copy(shunt_cost_csr_bytes(&p.a), &h200) - 1;
  check(shunt_cost_csr(&p, &f, &h200) < dense, "a small f32 product is rows' (dense %.1f us)",
        dense);
}

/* ---- sparse24 -------------------------------------------------------------------------------- */

struct pruned {
  struct shunt_context e;
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call c;
};

/* Square weights of n columns, half of them pruned. */
static void pruned_weights(struct pruned *w, int64_t m, int64_t n, bool in_place)
{
  *w = (struct pruned){.e = {.device = h200}, .f = {.rows = m, .cols = m, .nnz = m * m / 2}};
  w->p = (struct shunt_problem){.op = SHUNT_SPMM, .format = SHUNT_CSR, .batches = 1};
  w->p.spmm = (struct shunt_spmm){.a = {.rows = m,
                                        .cols = m,
                                        .nnz = m * m / 2,
                                        .index_type = SHUNT_I32,
                                        .value_type = SHUNT_F16},
                                  .b = {m, n, n, 1, NULL, SHUNT_F16},
                                  .c = {m, n, n, 1, NULL, SHUNT_F16},
                                  .alpha = {.host = 1},
                                  .compute = SHUNT_F32};
  w->c = (struct shunt_call){.problem = &w->p,
                             .context = &w->e,
                             .profile = &w->f,
                             .will_pack = true,
                             .workspace_bytes = (size_t)1 << 30};
  if (!in_place) w->p.spmm.a.nnz -= 2; /* a quad that is not full */
}

static enum shunt_reason sparse24_says(const struct pruned *w)
{
  const struct shunt_route *r = shunt_route_at(shunt_route_index("sparse24"));
  double us;
  enum shunt_reason reason = r->fits(&w->p, &w->e).reason;
  return reason == SHUNT_FITS ? r->expect(&w->c, &us).reason : reason;
}

static void test_sparse24(void)
{
  static const struct {
    int64_t m, n;
    enum shunt_sparse24_shape shape;
    double us; /* measured on an H200, with the proof */
    bool in_place;
  } measured[] = {{4096, 512, SHUNT_SPARSE24_128, 23.2, false},
                  {4096, 1024, SHUNT_SPARSE24_2X128, 38.8, false},
                  {4096, 2048, SHUNT_SPARSE24_256, 75.9, false},
                  {8192, 512, SHUNT_SPARSE24_128, 94.3, false},
                  {8192, 2048, SHUNT_SPARSE24_256, 314, false},
                  {4096, 512, SHUNT_SPARSE24_128, 20.2, true},
                  {4096, 1024, SHUNT_SPARSE24_256, 33.8, true},
                  {4096, 2048, SHUNT_SPARSE24_256, 69.9, true},
                  {8192, 512, SHUNT_SPARSE24_256, 78.7, true},
                  {8192, 1024, SHUNT_SPARSE24_256, 135.9, true},
                  {8192, 2048, SHUNT_SPARSE24_256, 304, true}};
  const int cases = sizeof measured / sizeof *measured;
  struct pruned w;
  for (int i = 0; i < cases; i++) {
    pruned_weights(&w, measured[i].m, measured[i].n, measured[i].in_place);
    double us = shunt_cost_sparse24(&w.p.spmm, measured[i].shape, &h200);
    check(within(us, measured[i].us) < 1.2, "2:4, %d^2 by %d%s: %.1f us, measured %.1f",
          (int)measured[i].m, (int)measured[i].n, measured[i].in_place ? ", in place" : "", us,
          measured[i].us);
    double dense = shunt_cost_gemm((double)measured[i].m, (double)measured[i].n,
                                   (double)measured[i].m, SHUNT_F16, SHUNT_MATH_EXACT, &h200);
    double read = shunt_cost_copy(shunt_cost_csr_bytes(&w.p.spmm.a), &h200);
    check(us < dense + read, "less than the dense product with its proof");
    w.p.spmm.a.values = (void *)8;
    check(shunt_cost_sparse24(&w.p.spmm, measured[i].shape, &h200) > us + read / 2,
          "more where an array stands off 16 bytes");
  }
  if (shunt_choose_sparse24_shape(&w.p.spmm, &h200) == SHUNT_SPARSE24_NONE) {
    check(sparse24_says(&w) == SHUNT_R_DEVICE, "a build without wgmma has no sparse24");
    return;
  }
  for (int i = 0; i < cases; i++) {
    pruned_weights(&w, measured[i].m, measured[i].n, measured[i].in_place);
    check(shunt_choose_sparse24_shape(&w.p.spmm, &h200) == measured[i].shape,
          "2:4, %d^2 by %d%s: shape %d", (int)measured[i].m, (int)measured[i].n,
          measured[i].in_place ? ", in place" : "", (int)measured[i].shape);
  }
  check(sparse24_says(&w) == SHUNT_FITS, "sparse24 takes pruned weights");
  w.f.crowded_rows = 1;
  check(sparse24_says(&w) == SHUNT_R_PATTERN, "not with a row that is not 2:4");
  w.f.crowded_rows = 0, w.f.unsorted_rows = 1;
  check(sparse24_says(&w) == SHUNT_R_PATTERN, "nor unsorted");
  pruned_weights(&w, 4096, 512, true);
  w.c.profile = NULL;
  check(sparse24_says(&w) == SHUNT_R_UNPROFILED, "nor before it is known");
  w.c.profile = &w.f, w.c.will_pack = false;
  check(sparse24_says(&w) == SHUNT_R_UNCONVERTED, "nor without a copy");
  pruned_weights(&w, 4096, 512, true);
  w.p.spmm.b.row_stride = 513;
  check(sparse24_says(&w) == SHUNT_R_SHAPE, "nor B with rows off 16 bytes");
  pruned_weights(&w, 4096, 512, true);
  w.e.device.compute_capability = 80;
  check(sparse24_says(&w) == SHUNT_R_DEVICE, "nor another GPU");
}

/* The shapes of kernels, at sizes on both sides of each limit. */

static void test_merge_is_for_long_rows(void)
{
  struct pruned w;
  pruned_weights(&w, 1 << 20, 128, true);
  struct shunt_spmm *s = &w.p.spmm;
  s->a.nnz = 20 << 20;
  check(!shunt_choose_csr_merge(s, -1, &h200), "an unknown matrix is split by rows");
  check(!shunt_choose_csr_merge(s, 2048, &h200), "so is one of rows that are not long");
  check(!shunt_choose_csr_merge(s, 100000, &h200), "or of one that ends with all the others");
  check(shunt_choose_csr_merge(s, 1000000, &h200), "not where its row would end last");
  s->a.nnz = 3 << 20;
  check(shunt_choose_csr_merge(s, 2049, &h200), "nor a narrow product of nearly empty rows");
  s->b.cols = s->c.cols = 129;
  check(!shunt_choose_csr_merge(s, 2049, &h200), "a wide one is");
}

static void test_dense_shapes(void)
{
  static const struct {
    int64_t m, n, k;
    struct shunt_dense_shape shape;
  } wanted[] = {{4096, 16, 4096, {0, 0}},    {4096, 64, 128, {0, 0}},
                {4096, 17, 4096, {64, 2}},   {4096, 64, 4096, {64, 2}},
                {8192, 64, 4096, {0, 0}},    {1024, 64, 4096, {0, 0}},
                {4096, 512, 4096, {128, 1}}, {4096, 1024, 4096, {256, 1}},
                {4096, 512, 1000, {0, 0}},   {4096, 256, 4096, {0, 0}}};
  struct pruned w;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pruned_weights(&w, wanted[i].m, wanted[i].n, true);
    struct shunt_spmm *s = &w.p.spmm;
    s->a.cols = s->b.rows = wanted[i].k;
    const struct shunt_dense_shape got = shunt_choose_dense_shape(s, &h200);
    const bool built = shunt_dense_spmm_proved_takes(s, &h200);
    check(got.columns == (built ? wanted[i].shape.columns : 0) &&
              got.split == (built ? wanted[i].shape.split : 0),
          "dense, %d x %d x %d: %d columns, split by %d", (int)wanted[i].m, (int)wanted[i].n,
          (int)wanted[i].k, got.columns, got.split);
  }
  pruned_weights(&w, 4096, 512, true);
  w.p.spmm.a.columns = (const void *)4;
  check(shunt_choose_dense_shape(&w.p.spmm, &h200).columns == 0,
        "none where lanes would have to hash all of A's columns");
}

/* Without cuBLAS: whatever fits, and whatever it costs. */
static void test_dense_shapes_alone(void)
{
  static const struct {
    int64_t m, n, k;
    struct shunt_dense_shape shape;
  } wanted[] = {{4096, 16, 4096, {64, 2}},   {4096, 64, 128, {0, 0}},
                {4096, 128, 4096, {64, 1}},  {16384, 64, 4096, {128, 1}},
                {4096, 256, 4096, {128, 1}}, {4096, 1024, 4096, {256, 1}},
                {8192, 1024, 8192, {256, 1}}};
  struct pruned w;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pruned_weights(&w, wanted[i].m, wanted[i].n, true);
    struct shunt_spmm *s = &w.p.spmm;
    s->a.cols = s->b.rows = wanted[i].k;
    const struct shunt_dense_shape got = shunt_choose_dense_shape_alone(s, &h200);
    const bool built = shunt_dense_spmm_proved_takes(s, &h200);
    check(got.columns == (built ? wanted[i].shape.columns : 0) &&
              got.split == (built ? wanted[i].shape.split : 0),
          "dense alone, %d x %d x %d: %d columns, split by %d", (int)wanted[i].m, (int)wanted[i].n,
          (int)wanted[i].k, got.columns, got.split);
  }
  pruned_weights(&w, 4096, 256, true);
  w.p.spmm.b.row_stride = 257;
  check(shunt_choose_dense_shape_alone(&w.p.spmm, &h200).columns == 0,
        "none for rows off 16 bytes");
}

static void test_sparse24_proofs(void)
{
  struct pruned w;
  pruned_weights(&w, 4096, 512, true);
  const struct shunt_spmm *s = &w.p.spmm;
  struct shunt_sparse24_proof how = shunt_choose_sparse24_proof(s, SHUNT_SPARSE24_128, true, &h200);
  check(how.compares && how.spared >= 0 && how.spared <= shunt_sparse24_column_tiles(&s->a),
        "columns are compared where tiles come in one round (%d spared)", how.spared);
  how = shunt_choose_sparse24_proof(s, SHUNT_SPARSE24_128, false, &h200);
  check(!how.compares && how.spared == 0, "a copy is hashed");
  pruned_weights(&w, 4096, 2048, true);
  how = shunt_choose_sparse24_proof(s, SHUNT_SPARSE24_128, true, &h200);
  check(!how.compares && how.spared == 0, "so is A beside several rounds of 128 columns");
  how = shunt_choose_sparse24_proof(s, SHUNT_SPARSE24_256, true, &h200);
  check(how.compares, "not of 256");
  pruned_weights(&w, 4096, 128, true);
  how = shunt_choose_sparse24_proof(s, SHUNT_SPARSE24_128, true, &h200);
  check(how.compares && how.spared > 0, "blocks without a tile of C take more (%d of %d)",
        how.spared, (int)shunt_sparse24_column_tiles(&s->a));
}

static void test_left_to_others(void)
{
  struct shunt_device fewer = h200;
  check(shunt_leave_multiprocessors(132, -1) == 132 && shunt_leave_multiprocessors(132, 0) == 132 &&
            shunt_leave_multiprocessors(132, 16) == 116 &&
            shunt_leave_multiprocessors(132, 131) == 66 &&
            shunt_leave_multiprocessors(132, (int64_t)1 << 39) == 66,
        "multiprocessors that are left to others, half of them at most");
  fewer.multiprocessors = shunt_leave_multiprocessors(132, 16);
  const double less = shunt_cost_gemm(4096, 1024, 4096, SHUNT_F16, SHUNT_MATH_EXACT, &fewer);
  const double all = gemm_us(SHUNT_F16, SHUNT_MATH_EXACT);
  check(less > all && less < 1.3 * all, "what is left of the device takes longer: %.1f us, %.1f",
        less, all);
}

int main(void)
{
  test_left_to_others();
  test_costs();
  test_cost_fits();
  test_algorithms_fit();
  test_layers_by_algorithm();
  test_vector_is_slow_on_elements();
  test_vector_once_fits();
  test_sddmm_cost_fits();
  test_vector_copies_operands();
  test_vector_wants_eights();
  test_alike_rows_are_chosen();
  test_sddmm_of_layers();
  test_groups_are_hoped_for();
  test_rows_leave_what_they_lose();
  test_complex_sddmm();
  test_sampled_on_the_chip();
  test_small_f32_products_are_not_dense();
  test_sparse24();
  test_merge_is_for_long_rows();
  test_dense_shapes();
  test_dense_shapes_alone();
  test_sparse24_proofs();
  return check_finish();
}
