/* graphblas_graphs.c: the products of graph programs, sparse by sparse under a sparse mask, by
   GrB_mxm under Shunt's preload and by the original, in turns in one process.

     LD_PRELOAD=.../libshunt-graphblas.so graphblas_graphs [-t THREADS] [-u] [-r REPEATS]
         [-q] [-o OUT.json] [-p TEXT] GRAPH ...

   GRAPH is rmatN (2^N nodes, 16 edges each drawn, Graph500's parameters, made symmetric, seed 1),
   gridN (2^N nodes in a square, 4 neighbours), urandN (2^N nodes, 16 edges each) or a matrix file,
   whose pattern is made symmetric; no loops.  -u: one thread, by the process' CPU time.  -p: only
   products whose names have TEXT.  -q: the original is asked once, and that call is timed.

   A row for each product: medians, ms, and the quotient; the results must be equal.  */
#define _GNU_SOURCE

#include "tests/bench/graphblas_paired.h"

static struct paired_options o = {.threads = 2, .repeats = 5};
static int rows_written, wrong;

/* ---- graphs --------------------------------------------------------------------------------- */

static uint64_t random_state;
static uint64_t random_bits(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 2685821657736338717u >> 32;
}

struct edges {
  GrB_Index nodes, count, room;
  GrB_Index *i, *j;
};

static void add_edge(struct edges *e, GrB_Index i, GrB_Index j)
{
  if (i == j) return;
  if (e->count + 2 > e->room) {
    e->room = e->room ? 2 * e->room : 1 << 16;
    e->i = must(realloc(e->i, e->room * sizeof *e->i));
    e->j = must(realloc(e->j, e->room * sizeof *e->j));
  }
  e->i[e->count] = i, e->j[e->count++] = j;
  e->i[e->count] = j, e->j[e->count++] = i;
}

/* Quadrants with probabilities 0.57, 0.19, 0.19, 0.05; nodes renamed at random. */
static void rmat(struct edges *e, int scale)
{
  GrB_Index *name = must(malloc(e->nodes * sizeof *name));
  for (GrB_Index i = 0; i < e->nodes; i++) name[i] = i;
  for (GrB_Index i = e->nodes - 1; i > 0; i--) {
    const GrB_Index j = random_bits() % (i + 1), kept = name[i];
    name[i] = name[j], name[j] = kept;
  }
  for (GrB_Index n = 0; n < 16 * e->nodes; n++) {
    GrB_Index i = 0, j = 0;
    for (int bit = 0; bit < scale; bit++) {
      const uint64_t x = random_bits() % 100;
      i = 2 * i + (x >= 76);
      j = 2 * j + ((x >= 57 && x < 76) || x >= 95);
    }
    add_edge(e, name[i], name[j]);
  }
  free(name);
}

static void grid(struct edges *e, int scale)
{
  const GrB_Index side = (GrB_Index)1 << scale / 2, other = e->nodes / side;
  for (GrB_Index i = 0; i < side; i++)
    for (GrB_Index j = 0; j < other; j++) {
      if (i + 1 < side) add_edge(e, i * other + j, (i + 1) * other + j);
      if (j + 1 < other) add_edge(e, i * other + j, i * other + j + 1);
    }
}

static void from_file(struct edges *e, const char *path)
{
  struct shunt_matrix m = read_or_leave(path);
  e->nodes = (GrB_Index)(m.rows > m.cols ? m.rows : m.cols);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t p = m.row_offsets[i]; p < m.row_offsets[i + 1]; p++)
      add_edge(e, (GrB_Index)i, (GrB_Index)m.columns[p]);
}

static struct edges graph(const char *name)
{
  struct edges e = {.nodes = 0};
  int scale = 0;
  random_state = 88172645463325252u;
  if (sscanf(name, "rmat%d", &scale) == 1 || sscanf(name, "grid%d", &scale) == 1 ||
      sscanf(name, "urand%d", &scale) == 1)
    e.nodes = (GrB_Index)1 << scale;
  if (!scale)
    from_file(&e, name);
  else if (name[0] == 'r')
    rmat(&e, scale);
  else if (name[0] == 'g')
    grid(&e, scale);
  else
    for (GrB_Index n = 0; n < 16 * e.nodes; n++)
      add_edge(&e, random_bits() % e.nodes, random_bits() % e.nodes);
  return e;
}

static const GrB_Index *degree_of;
static int by_degree(const void *x, const void *y)
{
  const GrB_Index a = *(const GrB_Index *)x, b = *(const GrB_Index *)y;
  if (degree_of[a] != degree_of[b]) return degree_of[a] < degree_of[b] ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Renames nodes in ascending order of their edges, as LAGraph does before it counts triangles. */
static void sort_nodes(struct edges *e)
{
  GrB_Index *degree = must(calloc(e->nodes + 1, sizeof *degree));
  GrB_Index *order = must(malloc((e->nodes + 1) * sizeof *order));
  GrB_Index *name = must(malloc((e->nodes + 1) * sizeof *name));
  for (GrB_Index k = 0; k < e->count; k++) degree[e->i[k]]++;
  for (GrB_Index i = 0; i < e->nodes; i++) order[i] = i;
  degree_of = degree;
  qsort(order, e->nodes, sizeof *order, by_degree);
  for (GrB_Index i = 0; i < e->nodes; i++) name[order[i]] = i;
  for (GrB_Index k = 0; k < e->count; k++) e->i[k] = name[e->i[k]], e->j[k] = name[e->j[k]];
  free(degree);
  free(order);
  free(name);
}

/* The pattern with the value 1 for all, held by row. */
static GrB_Matrix adjacency(const struct edges *e, GrB_Type type)
{
  GrB_Matrix a;
  GrB_Scalar one;
  GRB_OK(GrB_Matrix_new(&a, type, e->nodes, e->nodes));
  GRB_OK(GrB_Scalar_new(&one, type));
  GRB_OK(GrB_Scalar_setElement_FP64(one, 1));
  GRB_OK(GxB_Matrix_build_Scalar(a, e->i, e->j, one, e->count));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  GrB_Scalar_free(&one);
  return a;
}

static GrB_Matrix part_of(GrB_Matrix a, GrB_IndexUnaryOp which, int64_t diagonal)
{
  GrB_Matrix part;
  GrB_Type type;
  GrB_Index n;
  GRB_OK(GrB_Matrix_nrows(&n, a));
  GRB_OK(GxB_Matrix_type(&type, a));
  GRB_OK(GrB_Matrix_new(&part, type, n, n));
  GRB_OK(GrB_Matrix_select_INT64(part, NULL, NULL, which, a, diagonal, NULL));
  GRB_OK(GrB_Matrix_wait(part, GrB_MATERIALIZE));
  return part;
}

/* Its pattern, with the number of the row for a value. */
static GrB_Matrix numbered(GrB_Matrix a, GrB_Type type)
{
  GrB_Matrix out;
  GrB_Index n;
  GRB_OK(GrB_Matrix_nrows(&n, a));
  GRB_OK(GrB_Matrix_new(&out, type, n, n));
  GRB_OK(GrB_Matrix_apply_IndexOp_INT64(out, NULL, NULL, GrB_ROWINDEX_INT64, a, 0, NULL));
  GRB_OK(GrB_Matrix_wait(out, GrB_MATERIALIZE));
  return out;
}

/* ---- products ------------------------------------------------------------------------------- */

static bool equal(GrB_Matrix x, GrB_Matrix y)
{
  GrB_Matrix same = NULL;
  GrB_Index n, nx, ny, both;
  bool all = true;
  GRB_OK(GrB_Matrix_nrows(&n, x));
  GRB_OK(GrB_Matrix_nvals(&nx, x));
  GRB_OK(GrB_Matrix_nvals(&ny, y));
  GRB_OK(GrB_Matrix_new(&same, GrB_BOOL, n, n));
  GRB_OK(GrB_Matrix_eWiseMult_BinaryOp(same, NULL, NULL, GrB_EQ_FP64, x, y, NULL));
  GRB_OK(GrB_Matrix_nvals(&both, same));
  GRB_OK(GrB_Matrix_reduce_BOOL(&all, NULL, GrB_LAND_MONOID_BOOL, same, NULL));
  GrB_Matrix_free(&same);
  return nx == ny && both == nx && all;
}

static void row(const char *graph_name, const char *what, GrB_Type type, GrB_Semiring s,
                GrB_Matrix mask, GrB_Matrix a, GrB_Matrix b, GrB_Descriptor d)
{
  GrB_Matrix c, results[2];
  GrB_Index n, entries;
  if (o.only && !strstr(what, o.only)) return;
  GRB_OK(GrB_Matrix_nrows(&n, mask));
  GRB_OK(GrB_Matrix_nvals(&entries, mask));
  GRB_OK(GrB_Matrix_new(&c, type, n, n));
  double once = 0;
  for (int i = 0; i < 2; i++) {
    GRB_OK(GrB_Matrix_new(&results[i], type, n, n));
    const double start = paired_seconds();
    GRB_OK((i ? o.original : GrB_mxm)(results[i], mask, NULL, s, a, b, d));
    once = 1e3 * (paired_seconds() - start);
  }
  const bool good = equal(results[0], results[1]);
  const struct paired_product p = {c, mask, NULL, s, a, b, d};
  struct paired_time t = paired_run(o.once ? NULL : o.original, &p, o.repeats);
  if (o.once) t.original = once;
  printf("%-16s %-36s %10lu %10.3f %10.3f %7.2f%s\n", graph_name, what, (unsigned long)entries,
         t.original, t.shunt, t.original / t.shunt, good ? "" : "  WRONG");
  fflush(stdout);
  wrong += !good;
  if (o.json)
    fprintf(o.json,
            "%s\n  {\"graph\": \"%s\", \"product\": \"%s\", \"mask_entries\": %lu, "
            "\"graphblas_ms\": %.4f, \"shunt_ms\": %.4f}",
            rows_written++ ? "," : "", graph_name, what, (unsigned long)entries, t.original,
            t.shunt);
  GrB_Matrix_free(&c);
  for (int i = 0; i < 2; i++) GrB_Matrix_free(&results[i]);
}

/* Of booleans, of any and of the least; S is the graph and L its lower half. */
static void other_semirings(const char *name, GrB_Matrix s, GrB_Matrix l)
{
  GrB_Matrix n = numbered(s, GrB_UINT32), lower = numbered(l, GrB_UINT32);
  row(name, "C<S> = S S', any.pair bool", GrB_BOOL, GxB_ANY_PAIR_BOOL, s, s, s, GrB_DESC_RST1);
  row(name, "C<S> = S S, any.pair bool", GrB_BOOL, GxB_ANY_PAIR_BOOL, s, s, s, GrB_DESC_S);
  row(name, "C<L> = L L, lor.land bool", GrB_BOOL, GrB_LOR_LAND_SEMIRING_BOOL, l, l, l, GrB_DESC_S);
  row(name, "C<S> = S S', min.plus uint32", GrB_UINT32, GrB_MIN_PLUS_SEMIRING_UINT32, n, n, n,
      GrB_DESC_ST1);
  row(name, "C<S> = S S, min.plus uint32", GrB_UINT32, GrB_MIN_PLUS_SEMIRING_UINT32, n, n, n,
      GrB_DESC_S);
  row(name, "C<L> = L L, max.first uint32", GrB_UINT32, GxB_MAX_FIRST_UINT32, lower, lower, lower,
      GrB_DESC_S);
  GrB_Matrix_free(&n);
  GrB_Matrix_free(&lower);
}

static void products(const char *path)
{
  struct edges e = graph(path);
  const char *name = file_name(path);
  GrB_Matrix s = adjacency(&e, GrB_BOOL), x = adjacency(&e, GrB_FP64);
  GrB_Matrix l = part_of(s, GrB_TRIL, -1), u = part_of(s, GrB_TRIU, 1), w = part_of(x, GrB_TRIU, 1);
  sort_nodes(&e);
  GrB_Matrix sorted = adjacency(&e, GrB_BOOL);
  GrB_Matrix lower = part_of(sorted, GrB_TRIL, -1), upper = part_of(sorted, GrB_TRIU, 1);
  free(e.i);
  free(e.j);
  row(name, "C<S> = S S', plus.pair uint32", GrB_UINT32, GxB_PLUS_PAIR_UINT32, s, s, s,
      GrB_DESC_RST1);
  row(name, "C<S> = S S, plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, s, s, s, GrB_DESC_S);
  row(name, "C<S> = S S', plus.times fp64", GrB_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, x, x, x,
      GrB_DESC_T1);
  row(name, "C<S> = S U', plus.second fp64", GrB_FP64, GxB_PLUS_SECOND_FP64, x, x, w, GrB_DESC_ST1);
  row(name, "C<L> = L U', plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, l, l, u, GrB_DESC_ST1);
  row(name, "C<U> = U L', plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, u, u, l, GrB_DESC_ST1);
  row(name, "C<L> = L L, plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, l, l, l, GrB_DESC_S);
  row(name, "C<U> = U U, plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, u, u, u, GrB_DESC_S);
  row(name, "C<S> = L U, plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, s, l, u, GrB_DESC_S);
  row(name, "sorted C<L> = L U', plus.pair int64", GrB_INT64, GxB_PLUS_PAIR_INT64, lower, lower,
      upper, GrB_DESC_ST1);
  other_semirings(name, s, l);
  GrB_Matrix *all[] = {&s, &x, &l, &u, &w, &sorted, &lower, &upper};
  for (int i = 0; i < 8; i++) GrB_Matrix_free(all[i]);
}

int main(int argc, char **argv)
{
  if (!paired_begin(argc, argv, &o)) return 2;
  printf("# %d threads, %s; mask entries, ms of the original, of Shunt, times as fast\n", o.threads,
         paired_clock == CLOCK_MONOTONIC ? "time" : "CPU time");
  if (o.json)
    fprintf(o.json, "{\"threads\": %d, \"clock\": \"%s\", \"repeats\": %d, \"products\": [",
            o.threads, paired_clock == CLOCK_MONOTONIC ? "time" : "CPU time of the process",
            o.repeats);
  for (int i = optind; i < argc; i++) products(argv[i]);
  if (o.json) {
    fprintf(o.json, "]}\n");
    fclose(o.json);
  }
  GRB_OK(GrB_finalize());
  return wrong != 0;
}
