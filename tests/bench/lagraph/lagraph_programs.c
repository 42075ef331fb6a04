/* lagraph_programs.c: LAGraph's functions on one graph, each timed as a whole.  Run it plain and
   under Shunt's preload: the answers are the same.

     lagraph_programs [-t THREADS] [-r REPEATS] [-p TEXT] GRAPH ...

   GRAPH is rmatN (rmat.h) or a matrix file, whose pattern is made symmetric.  -p: only functions
   whose names have TEXT.  A row for each: the least time, ms, and the answer as one number.

   It is built beside, where LAGraph 1.1.4 is in FOLDER, built in FOLDER/b as lagraph.sh says:

     gcc -O2 -fopenmp -I. -IFOLDER/include -o lagraph_programs \
       tests/bench/lagraph/lagraph_programs.c .libs/libshunt-host.a \
       FOLDER/b/experimental/liblagraphx.a FOLDER/b/src/liblagraph.a -lgraphblas -lz -lm  */
#include <LAGraph.h>
#include <LAGraphX.h>
#include <getopt.h>

#include "tests/bench/rmat/rmat.h"
#include "tests/clients/graphblas_common.h"

enum { MOST_SOURCES = 128 };

static char message[LAGRAPH_MSG_LEN];
static int repeats = 3, threads = 2;
static const char *only;

#define LA_OK(call)                                                                                \
  do {                                                                                             \
    const int status_ = (call);                                                                    \
    if (status_ < 0) {                                                                             \
      printf("not ok - %s:%d %s: %d %s\n", __FILE__, __LINE__, #call, status_, message);           \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

/* ---- the functions: each gives its answer --------------------------------------------------- */

static double entries_of(GrB_Matrix *c)
{
  GrB_Index n;
  GRB_OK(GrB_Matrix_nvals(&n, *c));
  GRB_OK(GrB_Matrix_free(c));
  return (double)n;
}

static double sum_of(GrB_Vector *v)
{
  double sum = 0;
  GRB_OK(GrB_Vector_reduce_FP64(&sum, NULL, GrB_PLUS_MONOID_FP64, *v, NULL));
  GRB_OK(GrB_Vector_free(v));
  return sum;
}

static double truss(LAGraph_Graph g, int k)
{
  GrB_Matrix c = NULL;
  LA_OK(LAGraph_KTruss(&c, g, (uint32_t)k, message));
  return entries_of(&c);
}

static double clustering(LAGraph_Graph g, int unused)
{
  GrB_Vector v = NULL;
  double took[2];
  (void)unused;
  LA_OK(LAGraph_lcc(&v, g->A, true, false, took, message));
  return sum_of(&v);
}

static double centrality(LAGraph_Graph g, int method)
{
  GrB_Vector v = NULL;
  uint64_t triangles = 0;
  LA_OK(LAGraph_VertexCentrality_Triangle(&v, &triangles, method, g, message));
  return sum_of(&v);
}

static double triangles(LAGraph_Graph g, int which)
{
  LAGr_TriangleCount_Method method = (LAGr_TriangleCount_Method)which;
  LAGr_TriangleCount_Presort sort = LAGr_TriangleCount_AutoSort;
  uint64_t count = 0;
  LA_OK(LAGr_TriangleCount(&count, g, &method, &sort, message));
  return (double)count;
}

static double betweenness(LAGraph_Graph g, int sources)
{
  GrB_Vector v = NULL;
  GrB_Index from[MOST_SOURCES], n;
  GRB_OK(GrB_Matrix_nrows(&n, g->A));
  for (int s = 0; s < sources; s++) from[s] = n * (GrB_Index)s / (GrB_Index)sources;
  LA_OK(LAGr_Betweenness(&v, g, from, sources, message));
  return sum_of(&v);
}

static double search(LAGraph_Graph g, int unused)
{
  GrB_Vector level = NULL;
  (void)unused;
  LA_OK(LAGr_BreadthFirstSearch(&level, NULL, g, 0, message));
  return sum_of(&level);
}

static double rank(LAGraph_Graph g, int unused)
{
  GrB_Vector v = NULL;
  int steps = 0;
  (void)unused;
  LA_OK(LAGr_PageRankGAP(&v, &steps, g, 0.85F, 1e-4F, 100, message));
  return sum_of(&v);
}

static double components(LAGraph_Graph g, int unused)
{
  GrB_Vector v = NULL;
  (void)unused;
  LA_OK(LAGr_ConnectedComponents(&v, g, message));
  return sum_of(&v);
}

static const struct {
  const char *name;
  double (*answer)(LAGraph_Graph g, int argument);
  int argument;
} rows[] = {
    {"k-truss 4", truss, 4},
    {"clustering", clustering, 0},
    {"triangle centrality 2", centrality, 2},
    {"triangle centrality 3", centrality, 3},
    {"triangles 3, L L", triangles, LAGr_TriangleCount_Sandia_LL},
    {"triangles 4, U U", triangles, LAGr_TriangleCount_Sandia_UU},
    {"triangles 5, L U'", triangles, LAGr_TriangleCount_Sandia_LUT},
    {"triangles 6, U L'", triangles, LAGr_TriangleCount_Sandia_ULT},
    {"betweenness 4", betweenness, 4},
    {"betweenness 32", betweenness, 32},
    {"betweenness 128", betweenness, 128},
    {"breadth first", search, 0},
    {"page rank", rank, 0},
    {"components", components, 0},
};

/* ---- graphs --------------------------------------------------------------------------------- */

static GrB_Matrix built(GrB_Index n, const GrB_Index *i, const GrB_Index *j, GrB_Index count)
{
  GrB_Matrix a;
  GrB_Scalar one;
  GRB_OK(GrB_Matrix_new(&a, GrB_BOOL, n, n));
  GRB_OK(GrB_Scalar_new(&one, GrB_BOOL));
  GRB_OK(GrB_Scalar_setElement_BOOL(one, true));
  GRB_OK(GxB_Matrix_build_Scalar(a, i, j, one, count));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  GRB_OK(GrB_Scalar_free(&one));
  return a;
}

static GrB_Matrix from_rmat(int scale)
{
  struct rmat g = rmat_make(scale);
  GrB_Index *i = rmat_memory(g.entries, sizeof *i), *j = rmat_memory(g.entries, sizeof *j);
  for (int64_t r = 0; r < g.nodes; r++)
    for (int64_t e = g.offsets[r]; e < g.offsets[r + 1]; e++)
      i[e] = (GrB_Index)r, j[e] = (GrB_Index)g.columns[e];
  GrB_Matrix a = built((GrB_Index)g.nodes, i, j, (GrB_Index)g.entries);
  free(i);
  free(j);
  rmat_free(&g);
  return a;
}

static GrB_Matrix from_file(const char *path)
{
  struct shunt_matrix m = read_or_leave(path);
  GrB_Index *i = must(malloc((2 * (size_t)m.nnz + 1) * sizeof *i)), count = 0;
  GrB_Index *j = must(malloc((2 * (size_t)m.nnz + 1) * sizeof *j));
  for (int64_t r = 0; r < m.rows; r++)
    for (int64_t p = m.row_offsets[r]; p < m.row_offsets[r + 1]; p++) {
      if (m.columns[p] == r) continue;
      i[count] = (GrB_Index)r, j[count++] = (GrB_Index)m.columns[p];
      i[count] = (GrB_Index)m.columns[p], j[count++] = (GrB_Index)r;
    }
  GrB_Matrix a = built((GrB_Index)(m.rows > m.cols ? m.rows : m.cols), i, j, count);
  free(i);
  free(j);
  shunt_matrix_free(&m);
  return a;
}

static void programs(const char *name)
{
  int scale = 0;
  LAGraph_Graph g = NULL;
  GrB_Matrix a = sscanf(name, "rmat%d", &scale) == 1 ? from_rmat(scale) : from_file(name);
  LA_OK(LAGraph_New(&g, &a, LAGraph_ADJACENCY_UNDIRECTED, message));
  LA_OK(LAGraph_Cached_OutDegree(g, message));
  LA_OK(LAGraph_Cached_NSelfEdges(g, message));
  for (size_t p = 0; p < sizeof rows / sizeof *rows; p++) {
    double least = 0, answer = 0;
    if (only && !strstr(rows[p].name, only)) continue;
    for (int r = 0; r < repeats; r++) {
      const double begin = seconds_now();
      answer = rows[p].answer(g, rows[p].argument);
      const double ms = 1e3 * (seconds_now() - begin);
      least = r == 0 || ms < least ? ms : least;
    }
    printf("%-14s %-22s %10.3f  %.9g\n", file_name(name), rows[p].name, least, answer);
    fflush(stdout);
  }
  LA_OK(LAGraph_Delete(&g, message));
}

int main(int argc, char **argv)
{
  int option;
  while ((option = getopt(argc, argv, "t:r:p:")) != -1) {
    if (option == 't') threads = atoi(optarg);
    if (option == 'r') repeats = atoi(optarg);
    if (option == 'p') only = optarg;
    if (option == '?') return 2;
  }
  LA_OK(LAGraph_Init(message));
  GRB_OK(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
  for (int i = optind; i < argc; i++) programs(argv[i]);
  LA_OK(LAGraph_Finalize(message));
  return 0;
}
