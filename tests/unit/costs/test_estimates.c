/* Every estimate on an H200 with cuSPARSE 12.6, to the last bit: estimates.txt has what they are.
   Who moves a coefficient, or a form, sees here which estimates that moves; with --print this
   prints the file anew.

   Kernels are not linked: what their folders say of shapes stands here.  */
#include <stdlib.h>
#include <string.h>

#include "backend/costs/machine.h"
#include "backend/routes/cost/costs.h"
#include "tests/unit/check.h"

/* ---- shapes, as if from kernels/ ---------------------------------------------------------- */

bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p, const struct shunt_device *d,
                                         struct shunt_vector_single_launch *how)
{
  (void)d;
  *how = (struct shunt_vector_single_launch){8, p->b.cols > 64 ? 2 : 1, 128, 2};
  return p->b.type == SHUNT_F16 && p->a.rows <= 8192;
}
bool shunt_vector_packed_spmm_fits(const struct shunt_vector_shape *s,
                                   enum shunt_vector_order order, const struct shunt_device *d)
{
  return (void)d, s->rows == 0 || order == SHUNT_VECTOR_WINDOWED;
}
struct shunt_vector_shape shunt_vector_packed_spmm_gather(const struct shunt_spmm *p,
                                                          double vectors, int height,
                                                          const struct shunt_device *d)
{
  (void)d, (void)vectors;
  return (struct shunt_vector_shape){0, p->b.cols > 64 ? 128 : 64, 1, height == 16};
}
struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                              const struct shunt_device *d)
{
  return (void)p, (void)d, (struct shunt_tile_shape){16, 64, 2};
}
struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                  const struct shunt_device *d)
{
  return (void)p, (void)height, (void)d, (struct shunt_srbcrs_shape){64, 2, 0};
}
double shunt_srbcrs_spmm_proved_rounds(const struct shunt_spmm *p, int height,
                                       const struct shunt_srbcrs_shape *shape,
                                       const struct shunt_device *d)
{
  (void)height, (void)d;
  return (double)(p->a.rows * p->b.cols) / shape->columns / 8192;
}
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)d, p->b.type == SHUNT_F16;
}
bool shunt_dense_spmm_fma_takes(const struct shunt_dense *b, const struct shunt_dense *c,
                                const struct shunt_device *on)
{
  return (void)c, (void)on, b->type == SHUNT_F32;
}
bool shunt_sparse24_spmm_built(void)
{
  return true;
}

/* ---- the estimates ------------------------------------------------------------------------ */

static const struct shunt_machine machine = {.device = {132, 90, 232448, 60 << 20},
                                             .costs = &shunt_costs_h200};
#define ON (&machine)

struct matrix {
  const char *name;
  int64_t rows, cols, nnz, longest;
};
static const struct matrix matrices[] = {{"mesh", 44609, 44609, 2014701, 216},
                                         {"skewed", 94294, 94294, 641159, 28755},
                                         {"huge", 1000000, 1000000, 20000000, 46},
                                         {"layer", 4096, 4096, 1677720, 460},
                                         {"small", 512, 2048, 104857, 670}};
static const shunt_type types[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_C32, SHUNT_C64};
enum { MATRICES = 5, TYPES = 5 };

static FILE *out; /* of --print */
static FILE *recorded;
static int unchanged;

/* name: what is estimated; us: what is expected. */
static void say(const char *name, const struct matrix *m, shunt_type type, int64_t n, double us)
{
  char line[128], known[128] = "";
  snprintf(line, sizeof line, "%s %s %s %d %.17g\n", name, m->name, shunt_type_text(type), (int)n,
           us);
  if (out) {
    fputs(line, out);
    return;
  }
  if (!fgets(known, sizeof known, recorded)) known[0] = 0;
  const bool same = strcmp(line, known) == 0;
  line[strcspn(line, "\n")] = known[strcspn(known, "\n")] = 0;
  if (!same) check(false, "%s, recorded: %s", line, known);
  unchanged += same;
}

static struct shunt_problem spmm_of(const struct matrix *m, shunt_type type, int64_t n)
{
  struct shunt_problem p = {
      .op = SHUNT_SPMM, .format = SHUNT_CSR, .op_a = 'N', .op_b = 'N', .batches = 1};
  p.spmm.a = (struct shunt_csr){
      .rows = m->rows, .cols = m->cols, .nnz = m->nnz, .index_type = SHUNT_I32, .value_type = type};
  p.spmm.b = (struct shunt_dense){m->cols, n, n, 1, NULL, type};
  p.spmm.c = (struct shunt_dense){m->rows, n, n, 1, NULL, type};
  p.spmm.compute = type == SHUNT_F16 ? SHUNT_F32 : type;
  return p;
}

static struct shunt_problem sddmm_of(const struct matrix *m, shunt_type type, int64_t k,
                                     bool by_row)
{
  struct shunt_problem p = {.op = SHUNT_SDDMM, .format = SHUNT_CSR, .batches = 1};
  p.sddmm.a = (struct shunt_dense){m->rows, k, k, 1, NULL, type};
  p.sddmm.b = (struct shunt_dense){k, m->cols, by_row ? m->cols : 1, by_row ? 1 : k, NULL, type};
  p.sddmm.c = (struct shunt_csr){
      .rows = m->rows, .cols = m->cols, .nnz = m->nnz, .index_type = SHUNT_I32, .value_type = type};
  p.sddmm.compute = p.sddmm.a.type == SHUNT_F16 ? SHUNT_F32 : type;
  return p;
}

static void say_original(const struct matrix *m, shunt_type type, int64_t n,
                         const struct shunt_profile *f)
{
  static const int algorithms[] = {0, 4, 12};
  static const char *const names[] = {"default", "alg1", "alg3"};
  struct shunt_problem p = spmm_of(m, type, n);
  for (int i = 0; i < 3; i++) {
    p.algorithm = algorithms[i];
    say(names[i], m, type, n, shunt_cost_original(&p, f, ON));
  }
  p.algorithm = 0;
  if (m != matrices) return;
  for (int format = SHUNT_BSR; format <= SHUNT_BLOCKED_ELL; format++)
    for (int size = 2; size <= 64; size *= 2) {
      p.format = (enum shunt_format)format;
      p.blocks.size = size;
      say(format == SHUNT_BSR ? "original_bsr" : "original_ell", m, type, n,
          shunt_cost_original(&p, f, ON));
      if (format == SHUNT_BSR) say("bsr", m, type, n, shunt_cost_bsr(&p.spmm, &p.blocks, ON));
    }
}

static void say_copies(const struct matrix *m, shunt_type type, int64_t n)
{
  const struct shunt_problem p = spmm_of(m, type, n);
  const struct shunt_spmm *s = &p.spmm;
  const double longest = (double)m->longest, some = (double)m->nnz / 8;
  say("tile", m, type, n, shunt_cost_tile_product(s, some / 10, longest, ON));
  say("tile_inside", m, type, n, shunt_cost_tile(s, 10, SHUNT_PROOF_INSIDE, ON));
  say("tile_behind", m, type, n, shunt_cost_tile(s, 10, SHUNT_PROOF_BEHIND, ON));
  say("tile_packing", m, type, n, shunt_cost_tile_packing(&s->a, some / 10, longest, ON));
  say("srbcrs", m, type, n, shunt_cost_srbcrs(s, 8, longest, SHUNT_PROOF_BEHIND, ON));
  say("srbcrs_inside", m, type, n, shunt_cost_srbcrs(s, 8, longest, SHUNT_PROOF_INSIDE, ON));
  say("srbcrs_packing", m, type, n, shunt_cost_srbcrs_packing(&s->a, 8, longest, ON));
  say("packed", m, type, n, shunt_cost_vector_product(s, some, 8, ON));
  say("packed_16", m, type, n, shunt_cost_vector_product(s, some, 16, ON));
  say("tf32", m, type, n, shunt_cost_vector_tf32_product(s, some, 1, ON));
  say("tf32x3", m, type, n, shunt_cost_vector_tf32_product(s, some, 3, ON));
  say("packing", m, type, n, shunt_cost_vector_packing(&s->a, ON));
  say("ordering", m, type, n, shunt_cost_vector_ordering(&s->a, ON));
  say("packed_proved", m, type, n,
      shunt_cost_vector_packed(s, 10, 8, longest, SHUNT_PROOF_INSIDE, ON));
  for (int shape = SHUNT_SPARSE24_128; shape <= SHUNT_SPARSE24_2X128; shape++)
    say("sparse24", m, type, n, shunt_cost_sparse24(s, (enum shunt_sparse24_shape)shape, ON));
}

static void say_dense(const struct matrix *m, shunt_type type, int64_t n)
{
  static const struct shunt_dense_shape shapes[] = {{64, 64, 2}, {128, 128, 1}, {128, 256, 1}};
  const struct shunt_problem p = spmm_of(m, type, n);
  for (int math = SHUNT_MATH_EXACT; math <= SHUNT_MATH_TF32; math++) {
    const double us = shunt_cost_dense_cublas(&p.spmm, (enum shunt_math)math, ON);
    say("dense_packed", m, type, n, us + shunt_cost_dense_proof(&p.spmm, false, ON));
    say("dense_direct", m, type, n, us + shunt_cost_dense_making(&p.spmm, false, ON));
  }
  for (int i = 0; i < 3; i++)
    say("dense_proved", m, type, n, shunt_cost_dense_proved(&p.spmm, &shapes[i], ON));
  const struct shunt_dense_shape fma = shunt_choose_dense_fma(&p.spmm, SHUNT_MATH_EXACT, ON);
  if (fma.columns > 0) {
    say("dense_fma", m, type, n, shunt_cost_dense_fma(&p.spmm, &fma, ON));
    say("dense_fma_shape", m, type, n, fma.columns * 100 + fma.split);
  }
  say("combine", m, type, n, shunt_cost_combine(&p.spmm, ON));
}

/* The same with B by columns, with C, and with both. */
static void say_by_columns(const struct shunt_problem *by_rows, const struct matrix *m,
                           const struct shunt_profile *f)
{
  const shunt_type type = by_rows->spmm.a.value_type;
  const int64_t n = by_rows->spmm.b.cols;
  for (int which = 1; which <= 3; which++) {
    struct shunt_problem p = *by_rows;
    if (which & 1) p.spmm.b.col_stride = m->cols, p.spmm.b.row_stride = 1;
    if (which & 2) p.spmm.c.col_stride = m->rows, p.spmm.c.row_stride = 1;
    say("csr_by_columns", m, type, n, shunt_cost_csr(&p.spmm, f, ON));
    say("sorted_by_columns", m, type, n, shunt_cost_sorted(&p.spmm, f, ON));
    say("tile_by_columns", m, type, n, shunt_cost_tile_product(&p.spmm, 1e4, 300, ON));
    say("original_by_columns", m, type, n, shunt_cost_original(&p, f, ON));
    p.algorithm = 12; /* CSR_ALG3 */
    say("alg3_by_columns", m, type, n, shunt_cost_original(&p, f, ON));
  }
}

static void say_spmm(const struct matrix *m, shunt_type type, int64_t n,
                     const struct shunt_profile *f)
{
  struct shunt_problem p = spmm_of(m, type, n);
  say("csr", m, type, n, shunt_cost_csr(&p.spmm, f, ON));
  say("csr_unknown", m, type, n, shunt_cost_csr(&p.spmm, NULL, ON));
  say("merge", m, type, n, shunt_choose_csr_merge(&p.spmm, f, ON));
  say("bundle", m, type, n, shunt_cost_bundle(&p.spmm, f, (double)m->nnz / 4, 300, ON));
  say("sorted", m, type, n, shunt_cost_sorted(&p.spmm, f, ON));
  for (int reuse = 1; reuse <= 8; reuse *= 2) {
    say("vector", m, type, n, shunt_cost_vector(&p.spmm, reuse, (double)m->longest, ON));
    say("direct", m, type, n, shunt_cost_vector_direct(&p.spmm, reuse, (double)m->longest, ON));
  }
  say_original(m, type, n, f);
  say_by_columns(&p, m, f);
}

static void say_sddmm(const struct matrix *m, shunt_type type, int64_t k, bool by_row,
                      const struct shunt_profile *f)
{
  const struct shunt_problem p = sddmm_of(m, type, k, by_row);
  say("sddmm", m, type, k, shunt_cost_csr_sddmm(&p.sddmm, f, ON));
  say("sddmm_original", m, type, k, shunt_cost_original(&p, f, ON));
  say("sddmm_vector", m, type, k, shunt_cost_vector_sddmm(&p.sddmm, 8, ON));
  say("sddmm_dense", m, type, k, shunt_cost_dense_sddmm(&p.sddmm, f, ON));
  say("sddmm_sampled", m, type, k, shunt_cost_dense_sampled(&p.sddmm, SHUNT_MATH_EXACT, ON));
}

static void say_transposed(const struct matrix *m, shunt_type type, int64_t n)
{
  struct shunt_problem p = spmm_of(m, type, n);
  p.op_a = 'T', p.spmm.b.rows = m->rows, p.spmm.c.rows = m->cols;
  say("transposed", m, type, n, shunt_cost_csr_transposed(&p.spmm, m->longest, true, ON));
  say("transposed_promised", m, type, n, shunt_cost_csr_transposed(&p.spmm, m->longest, false, ON));
  say("transposed_unknown", m, type, n, shunt_cost_csr_transposed(&p.spmm, -1, true, ON));
  say("transposed_original", m, type, n, shunt_cost_original(&p, NULL, ON));
  say("transposing", m, type, n, shunt_cost_csr_transposing(&p.spmm.a, ON));
}

/* Rows as long as the mean, but for one in 50. */
static struct shunt_sorted_counts lengths_of(const struct matrix *m)
{
  struct shunt_sorted_counts c = {{0}};
  for (int i = 0; i <= shunt_sorted_count_of(m->longest); i++)
    c.at_least[i] =
        (uint32_t)(shunt_sorted_least(i) * m->rows <= m->nnz ? m->rows : m->rows / 50 + 1);
  return c;
}

static void say_all(void)
{
  for (int i = 0; i < MATRICES; i++)
    for (int t = 0; t < TYPES; t++) {
      const struct matrix *m = &matrices[i];
      const double mean = (double)m->nnz / (double)m->rows;
      const struct shunt_profile f = {.rows = m->rows,
                                      .nnz = m->nnz,
                                      .longest_row = m->longest,
                                      .idle_steps = m->nnz / 8,
                                      .lengths = lengths_of(m),
                                      .row_length_squares = 1.5 * mean * (double)m->nnz};
      for (int64_t n = 8; n <= 512; n *= 8) say_spmm(m, types[t], n, &f);
      for (int row = 0; row <= 1; row++) say_sddmm(m, types[t], 64, row, &f);
      if (t > 1) continue;
      say_copies(m, types[t], 256);
      say_dense(m, types[t], 256);
    }
  for (int i = 0; i < MATRICES; i++)
    for (int t = 0; t < TYPES; t++) say_transposed(&matrices[i], types[t], 32);
}

int main(int argc, char **argv)
{
  char path[4096];
  const char *sources = getenv("SHUNT_SRCDIR");
  if (argc > 1 && strcmp(argv[1], "--print") == 0) {
    out = stdout;
    say_all();
    return 0;
  }
  snprintf(path, sizeof path, "%s/tests/unit/costs/estimates.txt", sources ? sources : ".");
  recorded = fopen(path, "r");
  if (!check(recorded != NULL, "%s is there", path)) return check_finish();
  say_all();
  check(unchanged > 0 && fgetc(recorded) == EOF, "%d estimates are as recorded, and no more are",
        unchanged);
  fclose(recorded);
  return check_finish();
}
