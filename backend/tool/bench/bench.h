/* bench.h: what the files of `shunt bench` share.

     bench.c          options -> cases; one case after the other into an engine
     each_case.c      sources -> cases, also for shunt calibrate
     suite.c          named lists of cases
     ablation.c       --ablation: runs a program of the build tree
     case.c           a case's problem, and its list of ways
     operands.c       a case's operands in host memory
     blocks.c         its matrix in blocks, where the problem is given so
     turned.c         its matrix transposed, where op(A) is that
     check.c          a result against a float64 sum, on the host
     host.c           engine: the host twins, one thread and parallel
     gpu.c            engine: the GPU; the list of ways to time
     gpu_shunt.c        Shunt's kernels that the routes use
     gpu_formats.c      those on converted matrices, and the planner's choice
     gpu_clusters.c     `vector`, its rows in another order
     gpu_transposed.c   `csr` of products with a transpose
     gpu_bsr.c          blocks
     gpu_dcsr.c         densified CSR
     gpu_peers.c        cuSPARSE and cuBLAS, opened when present
     gpu_cusparse.c       cuSPARSE's ways
     gpu_cublas.c         the dense product
     gpu_cublaslt.c       the dense product in 8 bits
     gpu_memory.c       device memory
     gpu_time.c         graph replays
     reference.cu       a result against a float64 sum, on the GPU
     report.c         table, progress, CSV
     summary.c        means over all cases
     json.c           JSON

   A case is one problem on one pattern; a way is one means of solving it.  */
#ifndef SHUNT_BENCH_H
#define SHUNT_BENCH_H

#include "backend/tool/tool.h"
#include "conv/profile/profile.h"

enum { BENCH_WAYS = 48 }; /* room for more than there are; report.c asserts it */

struct bench_way {
  const char *name; /* a static word: see report.c */
  bool ours;        /* Shunt's */
  bool ran;
  bool right; /* error_ratio <= 1 */
  double us;  /* median; < 0: not timed */
  double
      conversion_us;  /* of the matrix into the format that the way keeps; 0: none, or not timed */
  double max_error;   /* largest |result - float64 sum| */
  double error_ratio; /* largest error over what the types allow (tolerance.h) */
  const char *timing; /* "graph", "stream" or "wall" */
  char note[96];      /* why it did not run; `routed`: the route */
};

struct bench_case {
  char matrix[96];
  const struct shunt_matrix *pattern;
  int v;
  struct shunt_problem problem;    /* array pointers are NULL, scalars are host values */
  struct shunt_block_shape blocks; /* of a problem that was given in blocks, now in CSR; else 0 */
  bool device_scalars;             /* alpha and beta are to stand on the device */
  char word[SHUNT_PROBLEM_TEXT];
  struct shunt_profile profile;
  struct bench_way way[BENCH_WAYS];
  int ways;
  int64_t checked_rows; /* of the result, against float64 */
};

/* What the numbers were measured on. */
struct bench_machine {
  const char *engine; /* "cuda" or "host" */
  char name[128];
  int multiprocessors, compute_capability; /* cuda */
  int64_t memory_bytes, l2_bytes;
  int driver, runtime, cusparse, cublas; /* as their libraries number them; 0: absent */
  int threads;                           /* host */
};

/* As problems have it (backend/plan/problem.h): 126 for 12.6; 0: absent. */
static inline int bench_cusparse_version(const struct bench_machine *m)
{
  return m->cusparse / 1000 * 10 + m->cusparse % 1000 / 100;
}

struct bench_options {
  int64_t n[TOOL_LIST];
  int n_count;
  int types[TOOL_LIST], type_count;     /* into bench_type_words */
  int layouts[TOOL_LIST], layout_count; /* into bench_layout_words */
  enum shunt_op op;
  char op_a; /* of SpMM: 'N', 'T' or 'H' */
  shunt_type index_type;
  int v;
  uint64_t seed;
  bool host, quick, csv, list, ablation;
  bool sized; /* n, types or v were given, which suites have of their own */
  const char *json;
  const char *suite, *data; /* NULL; folder of its files */
  const char *ways;         /* of the GPU, with commas; NULL: all */
};

struct bench_engine {
  /* False, and why, when this engine cannot run here. */
  bool (*open)(struct bench_machine *machine, char *why, size_t bytes);
  /* Times every way of the case; false after a message when nothing more can be
     measured (a broken device).  */
  bool (*measure)(struct bench_case *c, const struct bench_options *o);
  void (*close)(void);
};
extern const struct bench_engine bench_host_engine;
/* Only when built with CUDA. */
extern const struct bench_engine bench_cuda_engine;
bool bench_cuda_present(char *why, size_t bytes);

/* Sources that share what is to be measured on them. */
struct bench_step {
  struct bench_options o;
  char **sources;
  int count;
};

/* ---- each_case.c ----------------------------------------------------- */

/* Is handed one case after the other; false: no more of them. */
typedef bool (*bench_visit)(void *of, struct bench_case *c, const struct bench_options *o);
/* False, after a message, where a source or a case of it is none; the others are visited. */
bool bench_each_case(const struct bench_step *steps, int count, bench_visit visit, void *of);
int bench_count_cases(const struct bench_step *steps, int count);

/* ---- bench.c --------------------------------------------------------- */

/* Measures one step after the other and prints as it goes; an exit status.  Where to write, and
   whether on the host, the first step's options say.  */
int bench_run(const struct bench_step *steps, int count);
struct bench_options bench_defaults(void);
extern const char *const bench_layout_words[]; /* NULL-terminated */

/* ---- suite.c --------------------------------------------------------- */

enum { BENCH_STEPS = 16 };
/* The steps of a suite with files below folder `data`; their number.  After a message: -1 where
   there is no such suite, 0 where its files are not to be had.  `o`: how to measure.  */
int bench_suite(const char *name, const char *data, const struct bench_options *o,
                struct bench_step steps[BENCH_STEPS]);
void bench_suite_free(struct bench_step *steps, int count);

/* ---- ablation.c ------------------------------------------------------ */

/* Runs tests/bench/ablation_bench of the tree around this program with these arguments, and
   "-o json" unless that is NULL; an exit status, after a message where the program is not to be
   found or does not start.  */
int bench_ablation(char **arguments, int count, const char *json);

/* ---- case.c ---------------------------------------------------------- */

extern const char *const bench_type_words[]; /* NULL-terminated */
/* SpMM: C[m,n] = A[m,k] B[k,n], A the pattern and `width` n.  SDDMM: the pattern
   is C[m,n], and `width` the inner dimension.  `layout`: two of r and c.  */
struct shunt_problem bench_problem(const struct shunt_matrix *m, int64_t width, int types,
                                   const char *layout, const struct bench_options *o);
/* Ties the case, whose problem is set, to its pattern. */
void bench_finish_case(struct bench_case *c, const struct shunt_matrix *m, int v);
/* False after a message: operands of these sizes cannot be made. */
bool bench_sane(const struct bench_case *c);
/* A new way of the case, not run yet; NULL when the table is full. */
struct bench_way *bench_add_way(struct bench_case *c, const char *name, bool ours);
/* Way `name` of the case if it was timed, else NULL. */
const struct bench_way *bench_find_way(const struct bench_case *c, const char *name);
/* The fastest of Shunt's right ways (ours; not `routed`, which is one of them), or of cuSPARSE's,
   that were timed. */
const struct bench_way *bench_best(const struct bench_case *c, bool ours);
double bench_median(double *x, int count);
/* Floating-point operations of the sparse product. */
double bench_flops(const struct bench_case *c);

/* ---- operands.c ------------------------------------------------------ */

enum { BENCH_OFFSETS, BENCH_COLUMNS, BENCH_VALUES, BENCH_FIRST, BENCH_SECOND, BENCH_ARRAYS };

/* The arrays of a case: row offsets, columns and values of the sparse operand,
   then the two dense ones (B, C of SpMM; A, B of SDDMM).  */
struct bench_operands {
  void *array[BENCH_ARRAYS];
  size_t bytes[BENCH_ARRAYS];
};
/* Seeded random values; the result holds random values when beta counts, else
   bytes 0xff (NaN), which no right way reads.  False when memory is short.  */
bool bench_operands_make(const struct bench_case *c, uint64_t seed, struct bench_operands *o);
void bench_operands_free(struct bench_operands *o);
/* The case's problem over these arrays (of host or device). */
struct shunt_problem bench_bind(const struct bench_case *c, void *const array[BENCH_ARRAYS]);
/* Which array holds the result. */
int bench_result_array(const struct shunt_problem *p);
const struct shunt_scalar *bench_beta(const struct shunt_problem *p);
double bench_load(const void *from, int64_t i, shunt_type type);
void bench_store(void *to, int64_t i, shunt_type type, double x);

/* ---- blocks.c -------------------------------------------------------- */

/* Offsets, columns and values in blocks of a case that was given so; `values`: in CSR's order.
   Freed by bench_operands_free; false after a message when memory is short.  */
bool bench_blocks_make(const struct bench_case *c, const void *values, struct bench_operands *o);

/* ---- turned.c -------------------------------------------------------- */

/* op(A)'s offsets, columns (64-bit, from 0) and values, where it is the transpose of the pattern
   and these values; else nothing.  Freed by bench_operands_free; false after a message when memory
   is short.  */
bool bench_turn(const struct bench_case *c, const void *values, struct bench_operands *o);
/* p with op(A) over these arrays (of host or device) in the place of A. */
struct shunt_problem bench_bind_turned(const struct shunt_problem *p,
                                       void *const array[BENCH_ARRAYS]);

/* ---- check.c --------------------------------------------------------- */

struct bench_error {
  double largest, ratio; /* max_error, error_ratio */
  int64_t rows;          /* checked */
};
/* p holds host arrays with the result; `before` is the result's array before. */
bool bench_check_host(const struct shunt_problem *p, const void *before, struct bench_error *out);

/* ---- report.c -------------------------------------------------------- */

/* Case `index` of `count`, from 1 on, or 0: the same as before, and the way that is timed next; on
   terminals (tool_progress_at).  */
void bench_progress(int index, int count, const struct bench_case *c, const char *way);
void bench_progress_end(void);
void bench_print_machine(const struct bench_machine *m);
void bench_print_case(const struct bench_machine *m, const struct bench_case *c, bool first);
void bench_print_csv(const struct bench_case *c, bool first);

/* ---- summary.c: after several cases, means and worst cases, way by way ---- */

void bench_note_means(const struct bench_case *c);
void bench_print_summary(void);

/* ---- json.c ---------------------------------------------------------- */

FILE *bench_json_open(const char *path, const struct bench_machine *m);
void bench_json_case(FILE *to, const struct bench_case *c, bool first);
bool bench_json_close(FILE *to, const char *path);

#endif
