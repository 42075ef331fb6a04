/* test_tile_route.c: the `tile` route: when it packs a matrix, and what it expects, held against
   times measured on an H200 (tests/bench/results/tile/routed.txt; of csr in
   results/csr/times-h200-12.9.tsv.gz).  */
#include "backend/plan/context.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "conv/tile/tile_conv.h"
#include "tests/unit/check.h"

static struct shunt_context context = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                                       .memory_bytes = (int64_t)140 << 30};

/* A matrix, of which the profile is known, and a call on it. */
struct world {
  struct shunt_problem p;
  struct shunt_profile f;
  struct shunt_call call;
};

struct matrix {
  const char *name;
  int64_t rows, cols, nnz, longest, tiles;
};

static void make(struct world *w, const struct matrix *m, int64_t n, shunt_type type)
{
  *w = (struct world){.p = {.op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1}};
  w->p.spmm.a = (struct shunt_csr){
      .rows = m->rows, .cols = m->cols, .nnz = m->nnz, .index_type = SHUNT_I32, .value_type = type};
  w->p.spmm.b = (struct shunt_dense){m->cols, n, n, 1, NULL, type};
  w->p.spmm.c = (struct shunt_dense){m->rows, n, n, 1, NULL, type};
  w->p.spmm.alpha.host = 1;
  w->p.spmm.compute = SHUNT_F32;
  w->f = (struct shunt_profile){.rows = m->rows,
                                .cols = m->cols,
                                .nnz = m->nnz,
                                .longest_row = m->longest,
                                .merged_blocks = (m->rows + 15) / 16,
                                .merged_tiles = m->tiles};
  w->call = (struct shunt_call){.problem = &w->p,
                                .context = &context,
                                .profile = &w->f,
                                .will_pack = true,
                                .workspace = w,
                                .workspace_bytes = (size_t)1 << 40};
}

static const struct matrix opt1 = {"opt1", 15449, 15449, 1930655, 243, 7427},
                           bcsstk32 = {"bcsstk32", 44609, 44609, 2014701, 216, 10595},
                           ex11 = {"ex11", 16614, 16614, 1096948, 90, 6733},
                           pkustk06 = {"pkustk06", 43164, 43164, 2571768, 126, 15867},
                           kim1 = {"kim1", 38415, 38415, 933195, 25, 9409},
                           gupta2 = {"gupta2", 62064, 62064, 4248286, 8413, 47122},
                           rajat16 = {"rajat16", 94294, 94294, 641159, 28755, 13104};

static double within(double a, double b)
{
  return a > b ? a / b : b / a;
}

static void test_times(void)
{
  static const struct {
    const struct matrix *m;
    int64_t n;
    double proved, rows; /* us */
    bool keeps;
  } cases[] = {
      {&opt1, 64, 12.2, 25.7, true},     {&ex11, 64, 10.7, 18.6, true},
      {&opt1, 128, 19.2, 41.4, true},    {&opt1, 256, 29.8, 73.5, true},
      {&bcsstk32, 64, 20.2, 30.8, true}, {&bcsstk32, 256, 51.9, 84.1, true},
      {&ex11, 128, 16.6, 26.0, true},    {&pkustk06, 128, 34.4, 52.8, true},
      {&kim1, 128, 23.0, 21.0, false},   {&gupta2, 64, 0, 0, false},
      {&rajat16, 64, 543, 35.0, false},  {&rajat16, 128, 590, 60.5, false},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct matrix *m = cases[i].m;
    struct world w;
    make(&w, m, cases[i].n, SHUNT_F16);
    if (m == &rajat16) w.f.idle_steps = 307679, w.f.row_length_squares = 904962961;
    double us = 0;
    const struct shunt_outcome v = shunt_route_tile.expect(&w.call, &us);
    const double rows = shunt_cost_csr(&w.p.spmm, &w.f, &context.machine);
    printf("# %s, N = %d: %.1f (%.1f), rows %.1f (%.1f)\n", m->name, (int)cases[i].n, us,
           cases[i].proved, rows, cases[i].rows);
    check(v.reason == SHUNT_FITS, "it may run");
    if (cases[i].proved > 0)
      check(within(us, cases[i].proved) < 1.3 && within(rows, cases[i].rows) < 1.35, "as measured");
    check((shunt_route_tile.pack_bytes(&w.call) > 0) == cases[i].keeps, "a copy is %skept",
          cases[i].keeps ? "" : "not ");
  }
}

static void test_conditions(void)
{
  struct world w;
  make(&w, &opt1, 128, SHUNT_BF16);
  const size_t bytes = shunt_route_tile.pack_bytes(&w.call);
  const struct shunt_tile_layout exact = {.how = SHUNT_TILE_MERGE | SHUNT_TILE_DENSE,
                                          .dense_room = 2 * opt1.tiles};
  const size_t least = shunt_tile_bytes(&w.p.spmm.a, &exact);
  check(bytes > least && bytes < least + least / 8 + (1 << 20),
        "room for the tiles, and some more");
  w.f.merged_blocks /= 2, w.f.merged_tiles /= 2;
  check(within((double)shunt_route_tile.pack_bytes(&w.call), (double)bytes) < 1.01,
        "every other block was looked at: as much");
  w.call.profile = NULL;
  check(shunt_route_tile.pack_bytes(&w.call) == 0, "nothing before there is a profile");
  w.call.profile = &w.f;
  w.f.unsorted_rows = 1;
  check(shunt_route_tile.pack_bytes(&w.call) == 0, "nor of unsorted rows");
  w.f.unsorted_rows = 0;
  w.call.no_copies = true;
  check(shunt_route_tile.pack_bytes(&w.call) == 0, "nor where copies do not stand");
  make(&w, &rajat16, 64, SHUNT_F16);
  w.call.forced = true;
  check(shunt_route_tile.pack_bytes(&w.call) > 0, "slow ones if forced");
}

static enum shunt_reason fits(const struct world *w)
{
  return shunt_route_tile.fits(&w->p, &context).reason;
}

static enum shunt_reason expects(const struct world *w)
{
  double us = 0;
  return shunt_route_tile.expect(&w->call, &us).reason;
}

static void test_refusals(void)
{
  struct world w;
  make(&w, &opt1, 16, SHUNT_F16);
  check(fits(&w) == SHUNT_R_SHAPE, "16 columns are too few");
  make(&w, &opt1, 64, SHUNT_F32);
  check(fits(&w) == SHUNT_R_TYPES, "f32 is not for it");
  make(&w, &opt1, 64, SHUNT_F16);
  w.p.spmm.c.type = SHUNT_BF16;
  check(fits(&w) == SHUNT_R_TYPES, "nor f16 into bf16");
  w.p.spmm.c.type = SHUNT_F32;
  check(fits(&w) == SHUNT_FITS, "f16 into f32 is");
  w.p.op = SHUNT_SDDMM;
  check(fits(&w) == SHUNT_R_PATTERN, "SDDMM is not");
  make(&w, &opt1, 64, SHUNT_F16);
  check(expects(&w) == SHUNT_FITS, "all is there");
  w.p.spmm.b.values = (void *)24;
  check(expects(&w) == SHUNT_R_SHAPE, "B off 16 bytes");
  w.p.spmm.b.values = NULL;
  w.call.will_pack = false;
  check(expects(&w) == SHUNT_R_UNCONVERTED, "no copy, none to come");
  w.call.will_pack = true;
  w.call.workspace_bytes = 1024;
  check(expects(&w) == SHUNT_R_WORKSPACE, "no room for W");
  w.call.workspace_bytes = (size_t)1 << 40;
  w.f.unsorted_rows = 3;
  check(expects(&w) == SHUNT_R_PATTERN, "unsorted rows");
  w.call.profile = NULL;
  check(expects(&w) == SHUNT_R_UNPROFILED, "no profile");
}

/* B is copied where its rows are not to be read in place; beta wants W combined. */
static void test_workspace(void)
{
  struct world w;
  make(&w, &opt1, 64, SHUNT_F16);
  const size_t in_place = shunt_route_tile.workspace(&w.p, &context);
  double us = 0, copied = 0, added = 0;
  shunt_route_tile.expect(&w.call, &us);
  w.p.spmm.b.row_stride = 1, w.p.spmm.b.col_stride = opt1.cols;
  shunt_route_tile.expect(&w.call, &copied);
  check(shunt_route_tile.workspace(&w.p, &context) >= in_place + 64 * (size_t)opt1.cols * 2 &&
            copied > us,
        "a column-major B is copied");
  make(&w, &opt1, 64, SHUNT_F16);
  w.p.spmm.beta.host = 1;
  shunt_route_tile.expect(&w.call, &added);
  check(added > us, "beta costs a pass");
}

int main(void)
{
  test_times();
  test_conditions();
  test_refusals();
  test_workspace();
  return check_finish();
}
