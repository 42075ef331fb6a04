/* test_srbcrs_cost.c: the `srbcrs` route: which matrices it packs, and that what it expects of them
   is less than what `csr` takes where it has to be.  How right the estimates are only a device can
   say (tests/bench/srbcrs.md).  */
#include <string.h>

#include "backend/plan/context.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "conv/srbcrs/srbcrs_conv.h"
#include "tests/unit/check.h"

static struct shunt_context context = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                                       .memory_bytes = (int64_t)140 << 30};

/* A layer in groups of `height` rows, of which the profile is known, and a call on it. */
struct world {
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call call;
};

static void make_layer(struct world *w, int64_t rows, int64_t cols, double density, int height,
                       int64_t n)
{
  const int64_t row = (int64_t)(density * (double)cols), nnz = row * rows;
  *w = (struct world){.p = {.op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1}};
  w->p.spmm.a = (struct shunt_csr){
      .rows = rows, .cols = cols, .nnz = nnz, .index_type = SHUNT_I32, .value_type = SHUNT_I8};
  w->p.spmm.b = (struct shunt_dense){cols, n, n, 1, NULL, SHUNT_I8};
  w->p.spmm.c = (struct shunt_dense){rows, n, n, 1, NULL, SHUNT_I32};
  w->p.spmm.alpha.host = 1;
  w->p.spmm.compute = SHUNT_I32;
  w->f = (struct shunt_profile){.rows = rows, .cols = cols, .nnz = nnz, .longest_row = row};
  for (int v = 0; v < 3; v++) {
    w->f.groups_nonempty[v] = rows / (8 >> v);
    w->f.groups_equal[v] = height >= 8 >> v ? w->f.groups_nonempty[v] : 0;
  }
  w->call = (struct shunt_call){.problem = &w->p,
                                .context = &context,
                                .profile = &w->f,
                                .will_pack = true,
                                .workspace = w,
                                .workspace_bytes = (size_t)1 << 40};
}

/* A square one. */
static void make(struct world *w, int64_t side, double density, int height, int64_t n)
{
  make_layer(w, side, side, density, height, n);
}

static double expected(const struct world *w, enum shunt_reason *reason)
{
  double us = -1;
  *reason = shunt_route_srbcrs.expect(&w->call, &us).reason;
  return us;
}

static void test_layers(void)
{
  static const int64_t widths[] = {64, 128, 256, 1024};
  for (int height = 2; height <= 8; height *= 2) {
    bool fits = true, gains = true, grows = true;
    double before = 0;
    for (int i = 0; i < 4; i++) {
      struct world w;
      enum shunt_reason reason;
      make(&w, 4096, 0.1, height, widths[i]);
      const double us = expected(&w, &reason);
      const struct shunt_srbcrs_layout layout = {height, height, 8, 1};
      fits &= reason == SHUNT_FITS && us > 0;
      gains &= us < shunt_cost_csr(&w.p.spmm, &w.f, &context.machine) &&
               shunt_route_srbcrs.pack_bytes(&w.call) > shunt_srbcrs_bytes(&w.p.spmm.a, &layout);
      grows &= us >= before;
      before = us;
    }
    check(fits && gains && grows, "V = %d: layers are packed, at 64 to 1024 columns", height);
  }
}

/* What `csr` took on 4096 x 4096, an H200; H100: tests/bench/results/srbcrs/routed.json. */
static void test_csr(void)
{
  static const struct {
    double density;
    int64_t n;
    double us;
  } measured[] = {{0.2, 64, 43.8},   {0.2, 256, 156.5},  {0.2, 1024, 568.1}, {0.1, 64, 23.8},
                  {0.1, 256, 79.8},  {0.1, 1024, 288.7}, {0.05, 64, 13.6},   {0.05, 256, 41.9},
                  {0.05, 1024, 148}, {0.02, 64, 7.22},   {0.02, 256, 19.1},  {0.02, 1024, 64.1}};
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    struct world w;
    make(&w, 4096, measured[i].density, 8, measured[i].n);
    const double us = shunt_cost_csr(&w.p.spmm, &w.f, &context.machine);
    check(us < 1.3 * measured[i].us && measured[i].us < 1.3 * us,
          "csr, %.0f %% stored, N = %d: %.1f us, measured %.1f", 100 * measured[i].density,
          (int)measured[i].n, us, measured[i].us);
  }
}

static void test_taller_is_faster(void)
{
  struct world twos, eights;
  enum shunt_reason reason;
  make(&twos, 4096, 0.1, 2, 256);
  make(&eights, 4096, 0.1, 8, 256);
  check(expected(&eights, &reason) < expected(&twos, &reason),
        "eight rows that share a gathered row take less than two");
}

/* Inside where the blocks are all at work at once, in the shape that is fastest there, by strips
   from 512 columns on, or by gathers where rows are short or few; behind where they are not, or
   strips of 128 columns would hash too much first.  */
static void test_proof(void)
{
  static const struct {
    int64_t side, n;
    struct shunt_srbcrs_shape shape;
    bool inside;
    double full;  /* 0: 0.1 */
    int64_t rows; /* 0: as many as columns */
  } of[] = {{4096, 16, {32, 4, 0}, true},         {4096, 64, {64, 4, 0}, true},
            {4096, 128, {64, 1, 0}, true},        {4096, 256, {64, 1, 0}, true},
            {8192, 256, {64, 1, 0}, true},        {4096, 1024, {128, 1, 32}, true},
            {4096, 512, {64, 1, 32}, true},       {8192, 512, {64, 1, 0}, false},
            {6144, 256, {64, 1, 0}, false},       {4096, 257, {64, 1, 0}, false},
            {4096, 512, {64, 1, 0}, true, 0.02},  {4096, 1024, {64, 1, 0}, true, 0.02},
            {4096, 512, {64, 1, 0}, false, 0.05}, {4096, 512, {64, 1, 0}, true, 0.15, 2048}};
  bool right = true, cheaper = true;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct world w;
    struct shunt_srbcrs_shape shape = {-1, -1, -1}; /* all of it is chosen */
    const int64_t rows = of[i].rows ? of[i].rows : of[i].side;
    make_layer(&w, rows, of[i].side, of[i].full > 0 ? of[i].full : 0.1, 8, of[i].n);
    const struct shunt_machine *m = &context.machine;
    const bool inside = shunt_choose_srbcrs_proved(&w.p.spmm, 8, m, &shape);
    if (inside != of[i].inside || memcmp(&shape, &of[i].shape, sizeof shape))
      printf("# %d x %d: inside %d, %d columns by %d warps, %d groups\n", (int)of[i].side,
             (int)of[i].n, inside, shape.columns, shape.split, shape.groups);
    right &= inside == of[i].inside;
    right &= shape.columns == of[i].shape.columns && shape.split == of[i].shape.split;
    right &= shape.groups == of[i].shape.groups;
    enum shunt_reason reason;
    const double us = expected(&w, &reason), row = (double)w.f.longest_row;
    const enum shunt_proof_place place = inside ? SHUNT_PROOF_INSIDE : SHUNT_PROOF_BEHIND;
    right &= reason == SHUNT_FITS;
    cheaper &= inside == (us < shunt_cost_srbcrs(&w.p.spmm, 8, row, SHUNT_PROOF_BEHIND, m)) &&
               us >= shunt_cost_srbcrs(&w.p.spmm, 8, row, place, m);
    w.p.spmm.beta.host = 1;
    right &= !shunt_choose_srbcrs_proved(&w.p.spmm, 8, m, &shape);
  }
  check(right, "the proof is inside the launch, or behind it");
  check(cheaper, "inside it is expected to cost less");
}

/* Groups share B by strips where that was faster on an H100, of 80 and 90 % zeros, and not where
   strides reach further than strips are held (tests/bench/srbcrs.md). */
static void test_strips(void)
{
  static const struct {
    int64_t side, n;
    double density;
    int columns; /* of strips, 32: those that stay; 0: gathered */
  } of[] = {{4096, 1024, 0.2, 128}, {4096, 1024, 0.1, 128}, {8192, 1024, 0.2, 128},
            {8192, 1024, 0.1, 128}, {4096, 512, 0.2, 64},   {8192, 256, 0.2, 64},
            {4096, 256, 0.2, 32},   {4096, 256, 0.1, 0},    {4096, 1024, 0.05, 0},
            {4096, 1024, 0.02, 0},  {8192, 1024, 0.05, 0},  {4096, 64, 0.2, 0},
            {4096, 256, 0.05, 0},   {4096, 256, 0.02, 0},   {4096, 128, 0.2, 0}};
  struct shunt_machine old = context.machine;
  old.device.compute_capability = 80;
  bool right = true, gathers = true;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct world w;
    make(&w, of[i].side, of[i].density, 8, of[i].n);
    const struct shunt_srbcrs_shape s =
        shunt_choose_srbcrs_spmm_shape(&w.p.spmm, 8, &context.machine);
    const bool as_wanted = of[i].columns
                               ? s.groups == SHUNT_SRBCRS_STRIP_GROUPS && s.columns == of[i].columns
                               : s.groups == 0;
    if (!as_wanted)
      printf("# %d x %d, %g stored: %d columns, %d groups\n", (int)of[i].side, (int)of[i].n,
             of[i].density, s.columns, s.groups);
    right &= as_wanted;
    gathers &= shunt_choose_srbcrs_spmm_shape(&w.p.spmm, 8, &old).groups == 0;
  }
  check(right, "strips of B are shared where they were faster");
  check(gathers, "and nowhere on a device that has no copy engine");
}

static void test_conditions(void)
{
  struct world w;
  enum shunt_reason reason;
  make(&w, 4096, 0.1, 1, 256);
  expected(&w, &reason);
  check(reason == SHUNT_R_PATTERN && shunt_route_srbcrs.pack_bytes(&w.call) == 0,
        "rows that share nothing are left to others");
  make(&w, 4096, 0.1, 8, 256);
  w.f.groups_equal[0]--, w.f.groups_equal[1]--, w.f.groups_equal[2]--;
  check(shunt_route_srbcrs.pack_bytes(&w.call) == 0, "so are those of which one group does not");
  make(&w, 4096, 0.1, 8, 256);
  w.f.groups_equal[0]--;
  const struct shunt_srbcrs_layout fours = {4, 4, 8, 1};
  check(shunt_route_srbcrs.pack_bytes(&w.call) > shunt_srbcrs_bytes(&w.p.spmm.a, &fours),
        "or its halves share columns: then these are the groups");
  make(&w, 4096, 0.1, 8, 256);
  w.f.unsorted_rows = 1;
  check(shunt_route_srbcrs.pack_bytes(&w.call) == 0, "unsorted rows are left to others");
  make(&w, 64, 0.05, 2, 1);
  const bool gained = shunt_route_srbcrs.pack_bytes(&w.call) > 0;
  w.call.forced = true;
  check(!gained && shunt_route_srbcrs.pack_bytes(&w.call) > 0,
        "what is too small to gain is packed only if forced");
}

int main(void)
{
  test_layers();
  test_csr();
  test_taller_is_faster();
  test_proof();
  test_strips();
  test_conditions();
  return check_finish();
}
