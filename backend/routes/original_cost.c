/* original_cost.c: what cuSPARSE is expected to take. */
#include "backend/routes/cost_forms.h"

/* cuSPARSE 12.6.3.  CSR_ALG1 and ALG3 are taken at their speed after preprocess, because programs
   that ask for them may have done that. */
static const struct shunt_original_costs h200 = {
    /* As the scattered ones of `csr` (csr_cost.c): a case is 1.14 off by geometric standard
       deviation; preprocessed, of 26 matrices in f32 and f64 at 8, 32 and 128 columns, 1.31. */
    .off = 1.14,
    .preprocessed_off = 1.31,
    .narrow = {.start = 8.41,
               .entry = 43.4,
               .gather = 4.45,
               .written = 226,
               .row = 202,
               .longest = 0.45,
               .beyond = 0.5,
               .far = 37},
    .wide = {.start = 7.48,
             .entry = 26.1,
             .gather = 69.7,
             .written = 598,
             .row = 134,
             .beyond = 0.8,
             .far = 24},
    .c64 = 1.5,
    .alg1 = {.start = 7.5, .gather = 846, .written = 689, .row = 49, .longest = 1.3, .beyond = 2.3},
    .alg3_narrow = {.start = 0.7,
                    .entry = 11.3,
                    .gather = 11.2,
                    .written = 173,
                    .row = 172,
                    .longest = 26,
                    .far = 148},
    .alg3_wide =
        {.start = 2.8, .gather = 93.5, .written = 1750, .longest = 10, .beyond = 6.6, .far = 75},
    /* Pruned layers (dlmc.json), and in f32 and f64 random vectors (vector-f32.json: 48 products,
       1.06 off where each is left out of its own fit). */
    .layer_off = 1.06,
    .layer_start = 10,
    .layer = {4.8e6, 4.65e6, 2.24e6, 1.87e6, 0.926e6},
    .layer_alg1 = {0.29e6, 0.42e6, 0.37e6, 0.42e6, 0.37e6},
    .layer_alg3 = {9.0e6, 7.4e6, 2.8e6, 2.06e6, 1.24e6},
    .sddmm_layer_start = 8,
    .sddmm_layer = 9.5e6,
    .sddmm_layer_f16 = 12.4e6,
    .sddmm_layer_f16_by_rows = 3.2e6, /* what three of four of 165 products of layers stay below */
    /* As those of `csr`. */
    .by_columns = {{.start = 2.34,
                    .entry = 3.28,
                    .row = 141,
                    .gather = 72.8,
                    .of_a = 1060,
                    .longest = 6.64,
                    .longest_bytes = 121},
                   {.start = 2.11,
                    .entry = 3.98,
                    .row = 41,
                    .gather = 54.3,
                    .of_a = 1380,
                    .longest = 13.1,
                    .longest_bytes = 45.4},
                   {.start = 2.28,
                    .entry = 8.08,
                    .gather = 50.8,
                    .of_a = 1290,
                    .longest = 18.9,
                    .longest_bytes = 51.2}},
    /* The 26 matrices in f32, B by rows: 1.5 off. */
    .sddmm_off = 1.5,
    .sddmm_start = 2.9,
    .sddmm_row = 15e-6,
    .sddmm_entry = 0.59e-6,
    .sddmm_longest = 0.83e-3,
    .sddmm_f64 = 1.5,
    /* Five matrices in c32 and c64, inner dimensions 32, 256: by rows 1.7 off, by columns 1.5. */
    .sddmm_complex = {2.5e-6, 4.3e-6},
    .sddmm_complex_by_columns = {0.9e-6, 1.8e-6},
    /* 4096 x 4096 with 2 to 30 % of the blocks, 256 and 1024 columns. */
    .ell = {{{1, 20, 480, 0},
             {4, 20, 480, 0},
             {8, 6, 42.4, 5.5},
             {16, 4.5, 21.7, 2.6},
             {32, 4.5, 8.1, 0.9}},
            {{1, 15, 250, 0}, {4, 15, 250, 0}, {8, 15, 125, 0}, {16, 10, 64, 0}, {32, 3.5, 23, 0}},
            {{1, 25, 700, 0}, {4, 25, 700, 0}, {8, 20, 355, 0}, {16, 7, 142, 0}, {32, 4, 69, 0}}},
    .bsr = {{{1, 25, 770, 0}, {4, 25, 770, 0}, {8, 12, 260, 0}, {16, 11, 162, 0}, {32, 14, 161, 0}},
            {{1, 15, 690, 0}, {4, 15, 690, 0}, {8, 12, 213, 0}, {16, 9, 148, 0}, {32, 6, 154, 0}},
            {{1, 10, 990, 0}, {4, 10, 990, 0}, {8, 6, 358, 0}, {16, 4, 263, 0}, {32, 4, 263, 0}}}};

static int layer_type(shunt_type t)
{
  if (shunt_type_is_complex(t)) return t == SHUNT_C32 ? 3 : 4;
  return shunt_cost_block_type(t);
}

/* Per us, multiplications and additions of elements. */
static double layer_rate(const struct shunt_problem *p)
{
  const int type = layer_type(p->spmm.a.value_type);
  if (p->algorithm == SHUNT_CSR_ALG1) return h200.layer_alg1[type];
  return (p->algorithm == SHUNT_CSR_ALG3 ? h200.layer_alg3 : h200.layer)[type];
}

static bool is_preprocessed(const struct shunt_problem *p)
{
  return p->algorithm == SHUNT_CSR_ALG1 || p->algorithm == SHUNT_CSR_ALG3;
}

static double sddmm_layer_rate(const struct shunt_sddmm *p)
{
  if (p->a.type != SHUNT_F16) return h200.sddmm_layer;
  return p->b.row_stride == 1 ? h200.sddmm_layer_f16 : h200.sddmm_layer_f16_by_rows;
}

/* Is a row much longer than most? */
static bool rows_differ(const struct shunt_csr *c, const struct shunt_profile *f)
{
  return f && (double)f->longest_row * (double)c->rows >= 16 * (double)c->nnz;
}

/* Scattered patterns: by rows, entries and what the longest row has beyond the mean. */
static double sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                    const struct shunt_device *d)
{
  const double inner = (double)p->a.cols, nnz = (double)p->c.nnz, scale = shunt_cost_scale(d);
  if (shunt_type_is_complex(p->a.type)) {
    const double *entry = p->b.row_stride != 1 || rows_differ(&p->c, f)
                              ? h200.sddmm_complex
                              : h200.sddmm_complex_by_columns;
    return h200.sddmm_start + nnz * inner * entry[p->a.type == SHUNT_C64] * scale;
  }
  if (!shunt_cost_scattered(&p->c))
    return h200.sddmm_layer_start + 2 * nnz * inner / sddmm_layer_rate(p) * scale;
  if (p->b.row_stride == 1)
    return shunt_cost_scattered_sddmm(&h200.by_columns[shunt_cost_block_type(p->a.type)], p, f, d);
  const double size = p->a.type == SHUNT_F64 ? h200.sddmm_f64 : 1;
  return h200.sddmm_start +
         size * inner *
             (scale * (h200.sddmm_row * (double)p->c.rows + h200.sddmm_entry * nnz) +
              h200.sddmm_longest * shunt_cost_excess(&p->c, f));
}

static double blocks(const struct shunt_problem *p, const struct shunt_device *d)
{
  const int type = shunt_cost_block_type(p->spmm.a.value_type);
  return shunt_cost_blocks(p->format == SHUNT_BSR ? h200.bsr[type] : h200.ell[type], &p->spmm,
                           p->blocks.size, d);
}

static const struct shunt_fit_costs *fit_of(const struct shunt_problem *p)
{
  const struct shunt_dense *b = &p->spmm.b;
  const bool narrow = (double)b->cols * (double)shunt_type_size(b->type) <= 128;
  if (p->algorithm == SHUNT_CSR_ALG1) return &h200.alg1;
  if (p->algorithm == SHUNT_CSR_ALG3) return narrow ? &h200.alg3_narrow : &h200.alg3_wide;
  return narrow ? &h200.narrow : &h200.wide;
}

double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_device *d)
{
  const struct shunt_csr *sparse = shunt_problem_sparse(p);
  if (p->op == SHUNT_SDDMM) return sddmm(&p->sddmm, f, d);
  if (shunt_problem_in_blocks(p)) return blocks(p, d);
  if (shunt_cost_scattered(sparse))
    return (sparse->value_type == SHUNT_C64 ? h200.c64 : 1) *
           shunt_cost_fitted(fit_of(p), &p->spmm, (double)sparse->nnz, shunt_cost_excess(sparse, f),
                             d);
  double flop = 2.0 * (double)sparse->nnz * (double)p->spmm.c.cols;
  return h200.layer_start + flop / layer_rate(p) * shunt_cost_scale(d);
}

double shunt_cost_original_off(const struct shunt_problem *p)
{
  const bool scattered = shunt_cost_scattered(shunt_problem_sparse(p));
  if (shunt_problem_in_blocks(p)) return 0;
  if (p->op == SHUNT_SDDMM) return scattered ? h200.sddmm_off : 0;
  if (!scattered)
    return p->spmm.a.value_type == SHUNT_F16 || is_preprocessed(p) ? 0 : h200.layer_off;
  return is_preprocessed(p) ? h200.preprocessed_off : h200.off;
}

/* Where the default was measured to be the faster one: wide products of matrices with huge rows, in
   f32 where all others are short, in f64 where they are not; in complex types with long rows, and
   very wide ones of short rows.  */
bool shunt_choose_original_over_csr(const struct shunt_problem *p, const struct shunt_profile *f)
{
  const struct shunt_spmm *s = &p->spmm;
  if (!f || f->rows == 0 || is_preprocessed(p)) return false;
  const double row = (double)s->b.cols * (double)shunt_type_size(s->b.type);
  const double mean = (double)f->nnz / (double)f->rows, longest = (double)f->longest_row;
  if (shunt_type_is_complex(s->b.type))
    return row >= 1024 &&
           (longest > 64 * mean || (s->b.type == SHUNT_C64 && row >= 2048 && mean < 8));
  if (s->b.type == SHUNT_F64) return row >= 1024 && mean >= 24 && longest > 256 * mean;
  return row >= 512 && mean < 8 && longest > SHUNT_LONGEST_FOR_SPLIT;
}

/* Of complex types cuSPARSE is as fast or faster where B stands by columns, unless rows differ much
   in length; and where columns are short and C is dense.  */
bool shunt_choose_original_over_csr_sddmm(const struct shunt_sddmm *p,
                                          const struct shunt_profile *f)
{
  if (!shunt_type_is_complex(p->a.type)) return false;
  if (!shunt_cost_scattered(&p->c) && shunt_cost_sddmm_row_bytes(p) <= 256) return true;
  return p->b.row_stride == 1 && !rows_differ(&p->c, f);
}
