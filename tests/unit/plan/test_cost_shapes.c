/* test_cost_shapes.c: which shape of a kernel is chosen, at sizes on both sides of each limit, and
   what `sparse24` takes and declines.  */
#include "kernels/bundle/bundle_shape.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/unit/plan/cost_cases.h"

struct pruned {
  struct shunt_context e;
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call c;
};

/* Square weights of n columns, half of them pruned. */
static void pruned_weights(struct pruned *w, int64_t m, int64_t n, bool in_place)
{
  *w = (struct pruned){.e = {.machine = h200}, .f = {.rows = m, .cols = m, .nnz = m * m / 2}};
  w->p = (struct shunt_problem){.op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'N', .batches = 1};
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
    check(sparse24_says(&w) == SHUNT_R_WGMMA, "a build without wgmma has no sparse24");
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
  check(sparse24_says(&w) == SHUNT_R_WGMMA, "nor another GPU");
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

/* The shapes of kernels, at sizes on both sides of each limit. */

static bool merges(const struct shunt_spmm *s, int64_t longest)
{
  const struct shunt_profile f = {.rows = s->a.rows, .nnz = s->a.nnz, .longest_row = longest};
  return shunt_choose_csr_merge(s, &f, &h200);
}

static void test_merge_is_for_long_rows(void)
{
  struct pruned w;
  pruned_weights(&w, 1 << 20, 128, true);
  struct shunt_spmm *s = &w.p.spmm;
  s->a.nnz = 20 << 20;
  check(!shunt_choose_csr_merge(s, NULL, &h200), "an unknown matrix is split by rows");
  check(!merges(s, 2048), "so is one of rows that are not long");
  check(!merges(s, 100000), "or of one that ends with all the others");
  check(merges(s, 1000000), "not where its row would end last");
  s->a.nnz = 3 << 20;
  check(merges(s, 2049), "nor a narrow product of nearly empty rows");
  s->b.cols = s->c.cols = 129;
  check(!merges(s, 2049), "a wide one is");
}

/* 1024 rows of 460 entries on average, the longest of which has 1645. */
static void test_merge_in_int8(void)
{
  struct pruned w;
  pruned_weights(&w, 1024, 128, true);
  struct shunt_spmm *s = &w.p.spmm;
  s->a.nnz = 1024 * 460;
  struct shunt_profile f = {.rows = 1024, .nnz = s->a.nnz, .longest_row = 1645};
  f.row_length_squares = 1.39 * 460 * 460 * 1024;
  check(!shunt_choose_csr_merge(s, &f, &h200), "rows that vary are split by rows in f16");
  s->a.value_type = s->b.type = SHUNT_I8, s->c.type = s->compute = SHUNT_I32;
  check(shunt_choose_csr_merge(s, &f, &h200), "and by nonzeros in int8");
  check(!shunt_choose_csr_merge(s, NULL, &h200), "not where nothing is known");
  s->b.cols = s->c.cols = 512;
  check(!shunt_choose_csr_merge(s, &f, &h200), "nor in very wide products");
  s->b.cols = s->c.cols = 128;
  f.row_length_squares = 1.05 * 460 * 460 * 1024;
  check(!shunt_choose_csr_merge(s, &f, &h200), "nor where long rows are few");
  f.row_length_squares = 1.39 * 460 * 460 * 1024, f.longest_row = 1400;
  check(!shunt_choose_csr_merge(s, &f, &h200), "nor where none is much longer than others");
}

struct dense_case {
  int64_t m, n, k;
  struct shunt_dense_shape shape; /* none where the build has no such kernel */
};

static void check_dense(const struct dense_case *x, const struct shunt_spmm *s,
                        struct shunt_dense_shape got, const char *what)
{
  const bool built = shunt_dense_spmm_proved_takes(s, &h200.device);
  const struct shunt_dense_shape none = {0}, want = built ? x->shape : none;
  check(got.rows == want.rows && got.columns == want.columns && got.split == want.split,
        "%s, %d x %d x %d: %d rows, %d columns, split by %d", what, (int)x->m, (int)x->n, (int)x->k,
        got.rows, got.columns, got.split);
}

static void test_dense_shapes(void)
{
  static const struct dense_case wanted[] = {{4096, 16, 4096, {0, 0, 0}},
                                             {4096, 64, 128, {0, 0, 0}},
                                             {4096, 17, 4096, {64, 64, 2}},
                                             {4096, 64, 4096, {64, 64, 2}},
                                             {8192, 64, 4096, {64, 64, 1}},
                                             {11008, 64, 4096, {128, 64, 1}},
                                             {1024, 64, 4096, {64, 64, 4}},
                                             {4096, 512, 4096, {128, 128, 1}},
                                             {4096, 1024, 4096, {128, 256, 1}},
                                             {4096, 512, 1000, {0, 0, 0}},
                                             {4096, 256, 4096, {0, 0, 0}},
                                             {2048, 256, 512, {0, 0, 0}},
                                             /* K is not a multiple of 8 */
                                             {6000, 128, 1500, {128, 128, 1}},
                                             {4000, 512, 4001, {128, 128, 1}},
                                             {512, 256, 1530, {64, 64, 2}}};
  struct pruned w;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pruned_weights(&w, wanted[i].m, wanted[i].n, true);
    struct shunt_spmm *s = &w.p.spmm;
    s->a.cols = s->b.rows = wanted[i].k;
    s->a.nnz = wanted[i].m * wanted[i].k / 2;
    const struct shunt_dense_shape got = shunt_choose_dense_shape(s, &h200);
    check_dense(&wanted[i], s, got, "dense");
  }
  pruned_weights(&w, 4096, 512, true);
  w.p.spmm.a.columns = (const void *)4;
  check(shunt_choose_dense_shape(&w.p.spmm, &h200).columns == 0,
        "none where lanes would have to hash all of A's columns");
}

/* Where rows of A are not multiples of 16 bytes cuBLAS is slower, in 2-byte types alone. */
static void test_ragged_products(void)
{
  struct pruned w;
  pruned_weights(&w, 6000, 256, true);
  struct shunt_spmm *s = &w.p.spmm;
  s->a.cols = s->b.rows = 1504;
  const double whole = shunt_cost_dense_cublas(s, SHUNT_MATH_EXACT, &h200);
  s->a.cols = s->b.rows = 1500;
  const double ragged = shunt_cost_dense_cublas(s, SHUNT_MATH_EXACT, &h200);
  check(ragged > 2 * whole, "K = 1500: %.1f us, 1504: %.1f", ragged, whole);
  s->a.value_type = s->b.type = s->c.type = SHUNT_F32;
  const double f32 = shunt_cost_dense_cublas(s, SHUNT_MATH_EXACT, &h200);
  s->a.cols = s->b.rows = 1504;
  check(shunt_cost_dense_cublas(s, SHUNT_MATH_EXACT, &h200) >= f32, "not in f32");
}

/* Bundles: lanes and slices of a product, and what falls to a warp. */
static void test_bundle_cuts(void)
{
  static const struct {
    int64_t groups, vectors, n;
    shunt_type type;
    struct shunt_bundle_cut cut;
  } cases[] = {{256, 256 * 2040, 8, SHUNT_F32, {2, 3}},   {256, 256 * 2040, 128, SHUNT_F32, {5, 3}},
               {4096, 4096 * 100, 32, SHUNT_F32, {3, 0}}, {160, 160 * 600, 256, SHUNT_F64, {5, 1}},
               {512, 512 * 12, 16, SHUNT_F64, {3, 0}},    {1, 0, 4, SHUNT_F32, {2, 0}}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct shunt_bundle_work w = {.groups = cases[i].groups,
                                        .vectors = cases[i].vectors,
                                        .n = cases[i].n,
                                        .columns = cases[i].type == SHUNT_F64 ? 2 : 4,
                                        .type = cases[i].type,
                                        .multiprocessors = 132};
    const struct shunt_bundle_cut c = shunt_bundle_choose_cut(&w);
    const struct shunt_bundle_steps s = shunt_bundle_steps_of(&w, &c);
    const double mean = (double)w.vectors / (double)w.groups;
    check(c.lanes_log2 == cases[i].cut.lanes_log2 && c.slices_log2 == cases[i].cut.slices_log2,
          "bundles of %.0f vectors, N = %d: %d lanes, %d slices", mean, (int)w.n, 1 << c.lanes_log2,
          1 << c.slices_log2);
    check(s.vectors * (1 << c.slices_log2) == mean && s.sharing <= s.most && s.rounds >= 0,
          "a warp has %.0f of them", s.vectors);
  }
}

/* Of small copies that are trusted, without entries of A to read. */
static void test_dense_shapes_trusted(void)
{
  static const struct dense_case wanted[] = {
      {1024, 64, 256, {128, 64, 1}}, {2048, 256, 512, {128, 64, 1}}, {512, 64, 1024, {64, 64, 4}},
      {512, 256, 1024, {64, 64, 2}}, {2048, 128, 1024, {64, 64, 2}}, {2048, 512, 2048, {0, 0, 0}}};
  struct pruned w;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pruned_weights(&w, wanted[i].m, wanted[i].n, true);
    struct shunt_spmm *s = &w.p.spmm;
    s->a.cols = s->b.rows = wanted[i].k;
    s->a.nnz = 0;
    const struct shunt_dense_shape got = shunt_choose_dense_shape(s, &h200);
    check_dense(&wanted[i], s, got, "dense, trusted");
  }
}

/* Without cuBLAS: whatever fits, and whatever it costs. */
static void test_dense_shapes_alone(void)
{
  static const struct dense_case wanted[] = {
      {4096, 16, 4096, {64, 64, 2}},    {4096, 64, 128, {0, 0, 0}},
      {4096, 128, 4096, {64, 64, 1}},   {16384, 64, 4096, {128, 64, 1}},
      {4096, 256, 4096, {128, 128, 1}}, {4096, 1024, 4096, {128, 256, 1}},
      {8192, 1024, 8192, {128, 256, 1}}};
  struct pruned w;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pruned_weights(&w, wanted[i].m, wanted[i].n, true);
    struct shunt_spmm *s = &w.p.spmm;
    s->a.cols = s->b.rows = wanted[i].k;
    const struct shunt_dense_shape got = shunt_choose_dense_shape_alone(s, &h200);
    check_dense(&wanted[i], s, got, "dense alone");
  }
  pruned_weights(&w, 4096, 256, true);
  w.p.spmm.b.row_stride = 257;
  check(shunt_choose_dense_shape_alone(&w.p.spmm, &h200).columns == 0,
        "none for rows off 16 bytes");
}

int main(void)
{
  test_sparse24();
  test_merge_is_for_long_rows();
  test_merge_in_int8();
  test_dense_shapes();
  test_dense_shapes_trusted();
  test_ragged_products();
  test_bundle_cuts();
  test_dense_shapes_alone();
  test_sparse24_proofs();
  return check_finish();
}
