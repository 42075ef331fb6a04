/* report.c: the table on stdout, the progress on stderr, CSV.

   Ways and their columns (us per call):

     csr vector bundle sorted      Shunt, in place
     bsr                           the same, of problems that are given in blocks
     packed ordered                `vector`, converted, the second in another order of the rows
     tile tile-24                  `tile`, columns merged: all tiles dense; those that can be 2:4
     aligned align24               the same, columns as they stand
     sparse24 srbcrs dcsr-b online dcsr-c dense d.packed routed
     default alg1 alg2 alg3        cuSPARSE
     cuBLAS lt.i8 lt.fp8           dense, the last two by cuBLASLt, of int8 only
     best of Shunt, over ..., and the route taken

   "d.packed" is the dense GEMM with the guard that proves that nothing changed; "dense" scatters
   anew.  '!' marks a result off by more than its types allow.  */
#include <inttypes.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

struct column {
  const char *way, *title;
};
static const struct column cuda_columns[] = {
    {"csr", "csr"},
    {"vector", "vector"},
    {"bundle", "bundle"},
    {"sorted", "sorted"},
    {"bsr", "bsr"},
    {"vector-packed", "packed"},
    {"vector-ordered", "ordered"},
    {"tile", "tile"},
    {"tile-24", "tile-24"},
    {"tile-aligned", "aligned"},
    {"tile-aligned-24", "align24"},
    {"sparse24", "sparse24"},
    {"srbcrs", "srbcrs"},
    {"dcsr-b", "dcsr-b"},
    {"dcsr-online", "online"},
    {"dcsr-c", "dcsr-c"},
    {"dense", "dense"},
    {"dense-packed", "d.packed"},
    {"routed", "routed"},
    {"cusparse-default", "cs.def"},
    {"cusparse-alg1", "cs.alg1"},
    {"cusparse-alg2", "cs.alg2"},
    {"cusparse-alg3", "cs.alg3"},
    {"blocked-ell", "b.ell"},
    {"cublas", "cuBLAS"},
    {"cublaslt-i8", "lt.i8"},
    {"cublaslt-fp8", "lt.fp8"},
};
enum { CUDA_COLUMNS = sizeof cuda_columns / sizeof *cuda_columns };
_Static_assert((int)CUDA_COLUMNS < (int)BENCH_WAYS, "a case has room for every way");
static const struct column host_columns[] = {{"host-one", "one thread"},
                                             {"host-parallel", "parallel"}};

/* ---- progress --------------------------------------------------------------- */

static struct tool_progress progress;

void bench_progress(int index, int count, const struct bench_case *c, const char *way)
{
  static int last_index, last_count;
  char what[512];
  if (index == 1) progress = tool_progress_begin();
  if (index) {
    last_index = index;
    last_count = count;
  }
  snprintf(what, sizeof what, "%d/%d %s %s %s", last_index, last_count, c->matrix, c->word,
           way ? way : "");
  tool_progress_at(&progress, (double)(last_index - 1) / last_count, what);
}

void bench_progress_end(void)
{
  tool_progress_clear(&progress);
}

/* ---- table ------------------------------------------------------------------ */

static void print_version(const char *name, int number)
{
  if (number)
    printf(", %s %d", name, number);
  else
    printf(", no %s", name);
}

void bench_print_machine(const struct bench_machine *m)
{
  if (strcmp(m->engine, "host") == 0) {
    printf("host engine: %s, %d thread%s; us per call, median\n", m->name, m->threads,
           m->threads == 1 ? "" : "s");
  } else {
    printf("%s, %d multiprocessors, CUDA %d.%d", m->name, m->multiprocessors, m->runtime / 1000,
           m->runtime % 1000 / 10);
    print_version("cuSPARSE", m->cusparse);
    print_version("cuBLAS", m->cublas);
    puts("; us per call, median of graph replays");
  }
}

static void print_ratio(const struct bench_way *other, const struct bench_way *best)
{
  if (other && best && best->us > 0)
    printf(" %8.2f", other->us / best->us);
  else
    printf(" %8s", "-");
}

static void print_time(const struct bench_case *c, const char *name, int width)
{
  const struct bench_way *w = bench_find_way(c, name);
  if (w)
    printf(" %*.*f%c", width - 1, w->us < 1000 ? 2 : 1, w->us, w->right ? ' ' : '!');
  else
    printf(" %*s ", width - 1, "-");
}

static void print_types(const struct bench_case *c)
{
  const struct shunt_problem *p = &c->problem;
  bool spmm = p->op == SHUNT_SPMM;
  shunt_type in = spmm ? p->spmm.b.type : p->sddmm.a.type;
  shunt_type out = spmm ? p->spmm.c.type : p->sddmm.c.value_type;
  const struct shunt_dense *x = spmm ? &p->spmm.b : &p->sddmm.a;
  const struct shunt_dense *y = spmm ? &p->spmm.c : &p->sddmm.b;
  char types[16];
  snprintf(types, sizeof types, "%s%s", shunt_type_text(in),
           out == in || (in == SHUNT_I8 && out == SHUNT_I32) ? "" : shunt_type_text(out));
  printf(" %5" PRId64 " %-7s %c%c", spmm ? p->spmm.c.cols : p->sddmm.a.cols, types,
         x->col_stride == 1 ? 'r' : 'c', y->col_stride == 1 ? 'r' : 'c');
}

static void print_header(bool host)
{
  printf("%-30s %9s %5s %-7s %s", "matrix", "nonzeros", "n", "types", "lo");
  if (host) {
    for (size_t i = 0; i < sizeof host_columns / sizeof *host_columns; i++)
      printf(" %12s", host_columns[i].title);
    printf(" %8s %10s\n", "speedup", "max error");
    return;
  }
  for (int i = 0; i < CUDA_COLUMNS; i++) printf(" %9s", cuda_columns[i].title);
  printf(" | %-10s %8s %8s %8s  %s\n", "best", "/cs.def", "/cs.best", "/cuBLAS", "route");
}

static void print_host_case(const struct bench_case *c)
{
  const struct bench_way *one = bench_find_way(c, "host-one");
  const struct bench_way *all = bench_find_way(c, "host-parallel");
  print_time(c, "host-one", 12);
  print_time(c, "host-parallel", 12);
  print_ratio(one, all);
  printf(" %10.2g\n", all ? all->max_error : one ? one->max_error : 0);
}

static void print_cuda_case(const struct bench_case *c)
{
  const struct bench_way *best = bench_best(c, true);
  for (int i = 0; i < CUDA_COLUMNS; i++) print_time(c, cuda_columns[i].way, 9);
  printf(" | %-10s", best ? best->name : "-");
  print_ratio(bench_find_way(c, "cusparse-default"), best);
  print_ratio(bench_best(c, false), best);
  print_ratio(bench_find_way(c, "cublas"), best);
  const struct bench_way *routed = bench_find_way(c, "routed");
  printf("  %s\n", routed ? routed->note : "-");
}

void bench_print_case(const struct bench_machine *m, const struct bench_case *c, bool first)
{
  bool host = strcmp(m->engine, "host") == 0;
  char name[128], nonzeros[32];
  if (first) print_header(host);
  if (c->v > 1)
    snprintf(name, sizeof name, "%s V=%d", c->matrix, c->v);
  else
    snprintf(name, sizeof name, "%s", c->matrix);
  size_t length = strlen(name), skip = length > 30 ? length - 30 : 0; /* the end tells more */
  printf("%-30s %9s", name + skip, tool_grouped(shunt_problem_sparse(&c->problem)->nnz, nonzeros));
  print_types(c);
  if (host)
    print_host_case(c);
  else
    print_cuda_case(c);
  for (int i = 0; i < c->ways; i++)
    if (c->way[i].note[0] && !c->way[i].ran) printf("    %s: %s\n", c->way[i].name, c->way[i].note);
  fflush(stdout);
}

/* ---- CSV: for the planner's calibration --------------------------------------- */

static double share(int64_t part, int64_t of)
{
  return of ? (double)part / (double)of : 0;
}

void bench_print_csv(const struct bench_case *c, bool first)
{
  const struct shunt_csr *a = shunt_problem_sparse(&c->problem);
  const struct shunt_profile *f = &c->profile;
  int64_t width = c->problem.op == SHUNT_SPMM ? c->problem.spmm.c.cols : c->problem.sddmm.a.cols;
  if (first) {
    fputs("csv,matrix,problem,rows,cols,nnz,width,empty_rows,longest_row,row_length_squares,"
          "equal8,equal4,equal2",
          stdout);
    for (int i = 0; i < CUDA_COLUMNS; i++) printf(",%s", cuda_columns[i].way);
    puts(",host-one,host-parallel");
  }
  printf("csv,%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
         ",%.6g,%.4f,%.4f,%.4f",
         c->matrix, c->word, a->rows, a->cols, a->nnz, width, f->empty_rows, f->longest_row,
         f->row_length_squares, share(f->groups_equal[0], f->groups_nonempty[0]),
         share(f->groups_equal[1], f->groups_nonempty[1]),
         share(f->groups_equal[2], f->groups_nonempty[2]));
  for (int i = 0; i < CUDA_COLUMNS + 2; i++) {
    const char *way = i < CUDA_COLUMNS ? cuda_columns[i].way : host_columns[i - CUDA_COLUMNS].way;
    const struct bench_way *w = bench_find_way(c, way);
    if (w)
      printf(",%.3f", w->us);
    else
      putchar(',');
  }
  puts("");
}
