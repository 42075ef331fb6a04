/* test_frontier_cost.c: steps of searches that were timed on 16 threads of an H100's host: those
   that pay are estimated to, and others not.  */
#include <string.h>

#include "backend/graphblas/frontier/frontier_cost.h"
#include "tests/unit/check.h"

enum kind { BITS, SUMS, PARENTS };

/* From graphblas_bc and graphblas_msbfs, of wiki-Vote, ca-AstroPh and a Delaunay mesh, and
   graphblas_steps.  */
static const struct timed {
  const char *name;
  enum kind kind;
  bool complement, pull, f_dense, m_dense;
  int64_t rows, nodes, entries, f_entries, m_entries;
  struct shunt_frontier_reads reads;
  double original, host; /* microseconds */
} timed[] = {
    {"few terms, one row has most: the mask is copied",
     SUMS,
     1,
     0,
     0,
     1,
     32,
     8297,
     201524,
     4957,
     197751,
     {8392, 8392, 4436},
     1396,
     516},
    {"the same under the mask itself",
     SUMS,
     0,
     0,
     0,
     1,
     32,
     8297,
     201524,
     4957,
     69134,
     {8392, 8392, 4436},
     2346,
     519},
    {"of 128 rows",
     SUMS,
     1,
     0,
     0,
     1,
     128,
     8297,
     201524,
     21396,
     762779,
     {40201, 40201, 6095},
     4714,
     292},
    {"few terms, no long row: tables",
     SUMS,
     1,
     0,
     0,
     1,
     32,
     18772,
     396100,
     5004,
     535749,
     {15604, 15604, 1924},
     354,
     86},
    {"hardly any terms", SUMS, 1, 0, 0, 1, 32, 18772, 396100, 105, 536727, {249, 249, 24}, 13, 70},
    {"more terms: one thread of GraphBLAS",
     SUMS,
     1,
     0,
     0,
     1,
     32,
     18772,
     396100,
     30088,
     530745,
     {131253, 131253, 18457},
     6415,
     548},
    {"many terms: four threads",
     SUMS,
     1,
     0,
     0,
     1,
     32,
     8297,
     201524,
     24691,
     25616,
     {2047303, 806096, 288302},
     6742,
     972},
    {"a sparse mask",
     SUMS,
     0,
     0,
     0,
     0,
     32,
     8297,
     201524,
     69134,
     98044,
     {414466, 414466, 28333},
     6225,
     939},
    {"pulled under a bitmap",
     SUMS,
     1,
     1,
     1,
     1,
     32,
     18772,
     396100,
     113542,
     125201,
     {7690616, 1478749, 0},
     5444,
     1489},
    {"pulled under a sparse mask",
     SUMS,
     0,
     1,
     1,
     0,
     32,
     18772,
     396100,
     240761,
     113542,
     {4767433, 1584400, 339223},
     3230,
     1864},
    {"pulled, few entries of the mask",
     SUMS,
     0,
     1,
     1,
     0,
     32,
     18772,
     396100,
     11050,
     577,
     {39885, 39885, 6083},
     348,
     713},
    {"sums pushed from a bitmap F",
     SUMS,
     1,
     0,
     1,
     1,
     128,
     3000,
     12000,
     153600,
     7680,
     {614400, 188700, 0},
     1251,
     1576},
    {"parents, a bitmap F",
     PARENTS,
     1,
     0,
     1,
     1,
     64,
     8297,
     201524,
     194651,
     247187,
     {6589398, 204923, 0},
     2253,
     942},
    {"parents, most found",
     PARENTS,
     1,
     0,
     0,
     1,
     64,
     8297,
     201524,
     137860,
     385047,
     {861221, 201524, 29524},
     2218,
     775},
    {"bits", BITS, 1, 0, 0, 1, 64, 8297, 201524, 10474, 395521, {21592, 21592, 6688}, 2362, 161},
    {"bits of a mesh",
     BITS,
     1,
     0,
     0,
     1,
     64,
     65536,
     393150,
     50047,
     0,
     {298473, 298473, 5940},
     7987,
     189},
    {"sums of a mesh",
     SUMS,
     1,
     0,
     0,
     1,
     32,
     65536,
     393150,
     22372,
     0,
     {135564, 135564, 6986},
     3933,
     205},
    {"sums of a mesh, a sparse mask",
     SUMS,
     0,
     0,
     0,
     0,
     32,
     65536,
     393150,
     28726,
     28860,
     {170953, 170953, 7938},
     2992,
     235},
    {"few of a mesh", SUMS, 0, 0, 0, 0, 32, 65536, 393150, 316, 701, {1802, 1802, 120}, 70, 87},
};

static struct shunt_frontier step(const struct timed *t)
{
  return (struct shunt_frontier){
      .sums = t->kind == SUMS,
      .parents = t->kind == PARENTS ? 4 : 0,
      .complement = t->complement,
      .rows = t->rows,
      .f = {.dense = t->f_dense, .sparse = {.nnz = t->f_entries}},
      .m = {.dense = t->m_dense, .sparse = {.nnz = t->m_entries}},
      .a = {.rows = t->nodes,
            .cols = t->nodes,
            .vectors = t->nodes,
            .nnz = t->entries,
            .by_column = t->pull},
      .threads = 16,
  };
}

static void chosen_as_timed(void)
{
  for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
    const struct timed *t = &timed[i];
    const struct shunt_frontier x = step(t);
    const struct grb_frontier_cost cost = grb_frontier_cost(&x, (double)t->f_entries, t->reads);
    check((cost.original >= cost.host) == (t->original >= t->host),
          "%s: took %.0f and %.0f us, estimated %.0f and %.0f", t->name, t->original, t->host,
          cost.original / 1e3, cost.host / 1e3);
  }
}

static const struct timed *named(const char *name)
{
  const struct timed *t = timed;
  while (strcmp(t->name, name) != 0) t++;
  return t;
}

/* Rows share little on a mesh, and nearly all where each has many of the nodes. */
static void single_where_little_is_shared(void)
{
  const struct timed *little = named("bits of a mesh"), *much = named("parents, most found");
  const struct shunt_frontier mesh = step(little);
  struct shunt_frontier all = step(much);
  all.threads = 1;
  check(grb_frontier_cost(&mesh, (double)little->f_entries, little->reads).single,
        "rows of a mesh go one by one");
  check(!grb_frontier_cost(&all, (double)much->f_entries, much->reads).single,
        "rows that meet the same go together");
}

static void threads_help(void)
{
  struct shunt_frontier many = step(&timed[8]), one = many;
  one.threads = 1;
  const struct grb_frontier_cost on_many = grb_frontier_cost(&many, 1e5, timed[8].reads),
                                 on_one = grb_frontier_cost(&one, 1e5, timed[8].reads);
  check(on_one.original == on_one.original_alone && on_one.host == on_one.host_alone,
        "on one thread either takes as long as alone");
  check(on_many.host < on_one.host && on_many.original < on_one.original, "16 are faster");
  many = step(&timed[0]), one = many, one.threads = 1;
  check(grb_frontier_cost(&many, 1e4, timed[0].reads).original ==
            grb_frontier_cost(&one, 1e4, timed[0].reads).original,
        "but not where GraphBLAS takes one");
}

int main(void)
{
  chosen_as_timed();
  single_where_little_is_shared();
  threads_help();
  return check_finish();
}
