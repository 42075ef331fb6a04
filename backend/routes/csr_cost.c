/* csr_cost.c: what the kernels of `csr` are expected to take. */
#include "backend/routes/cost_forms.h"

/* Fitted by the least relative error to tests/bench/results/csr/times.tsv: 36 matrices of
   SuiteSparse, SNAP and made-up ones at 8 to 256 columns, those of 2-byte types apart, by
   tests/bench/fit_costs.py; layers, pruned and of random vectors, apart.
 */
static const struct shunt_csr_costs h200 = {
    .scattered = {.start = 2.17,
                  .entry = 2.65,
                  .gather = 48.2,
                  .written = 603,
                  .longest = 11.3,
                  .beyond = 1.14},
    .scattered_half = {.start = 2.59,
                       .entry = 3.44,
                       .gather = 57.3,
                       .written = 815,
                       .longest = 14.7,
                       .beyond = 1.26},
    .layer = {.start = 3.6, .entry = 1, .gather = 52, .written = 460},
    .layer_half = {.start = 2.6,
                   .entry = 3.1,
                   .gather = 77,
                   .written = 1146,
                   .longest = 14.6,
                   .beyond = 18.2},
    /* Nine matrices, f32 and f64, inner dimensions 32 and 128: 1.1 off; now for layers. */
    .sddmm = {.start = 3, .entry = 4.7e-6, .byte = 87e-9, .copied = 600e-9},
    /* Layers and random vectors in f16, inner dimensions 64 to 1024 (dlmc-sddmm.json, sddmm.json):
       1.08 off where each matrix is left out of its own fit. */
    .sddmm_half =
        {.start = 3, .copies_start = 2.4, .entry = 2.5e-6, .byte = 122e-9, .copied = 114e-9},
    /* 30 matrices, inner dimensions 32 to 256, B by columns: the choice between this and cuSPARSE
       is 1.4 to 1.7 % off on average where each matrix is left out of the fits. */
    .scattered_sddmm = {{.start = 2.79, .entry = 13.7, .gather = 82.1, .of_a = 263},
                        {.start = 2.7, .entry = 3.43, .gather = 91.6, .of_a = 319},
                        {.start = 2.59, .entry = 3.74, .gather = 88.8, .of_a = 515}},
    .alike = 0.8,
    .c64 = 1.3, /* 25 of the matrices at 8, 32 and 128 columns: 1.2 off; c32 by its bytes 1.22 */
    .huge_entry = 1.2, /* made-up matrices with one huge row (tests/bench/csr.md) */
    .others_bytes = 8000};

double shunt_cost_csr(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_device *d)
{
  const bool half = shunt_cost_is_half(p);
  const struct shunt_fit_costs *c = shunt_cost_scattered(&p->a)
                                        ? half ? &h200.scattered_half : &h200.scattered
                                    : half ? &h200.layer_half
                                           : &h200.layer;
  return (p->b.type == SHUNT_C64 ? h200.c64 : 1) *
             shunt_cost_fitted(c, p, (double)p->a.nnz, shunt_cost_excess(&p->a, f), d) +
         shunt_cost_copy_of_b(p, d);
}

double shunt_cost_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                            const struct shunt_device *d)
{
  const struct shunt_sddmm_costs *c =
      shunt_type_size(p->b.type) == 2 ? &h200.sddmm_half : &h200.sddmm;
  const double row = shunt_cost_sddmm_row_bytes(p), nnz = (double)p->c.nnz;
  const double copied = shunt_cost_sddmm_copied_bytes(p);
  const double copies =
      (copied > 0 ? c->copies_start : 0) + shunt_cost_scale(d) * c->copied * copied;
  if (shunt_cost_scattered(&p->c))
    return copies +
           (shunt_choose_csr_alike(f) && !shunt_type_is_complex(p->b.type) ? h200.alike : 1) *
               shunt_cost_scattered_sddmm(&h200.scattered_sddmm[shunt_cost_block_type(p->b.type)],
                                          p, f, d);
  return c->start + copies + shunt_cost_scale(d) * nnz * (c->entry + c->byte * row);
}

/* Of rows in threes, two of three aligned pairs are alike.  Shorter rows, or fewer, lose more by
   waiting for each other than they gain (tests/bench/sddmm.md). */
bool shunt_choose_csr_alike(const struct shunt_profile *f)
{
  enum { LEAST_MEAN_ROW = 56, LEAST_ENTRIES = 1000000 };
  return f && f->nnz >= LEAST_ENTRIES && f->nnz >= LEAST_MEAN_ROW * f->rows &&
         (double)f->groups_equal[2] >= 0.6 * (double)f->groups_nonempty[2];
}

/* Where one block's row would end last; and for narrow products of rows that mostly have next to
   nothing (tests/bench/csr.md).  */
bool shunt_choose_csr_merge(const struct shunt_spmm *p, int64_t longest_row,
                            const struct shunt_device *d)
{
  enum { HUGE_ROW = 2048 };
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double nnz = (double)p->a.nnz;
  if (longest_row <= HUGE_ROW) return false;
  const double sparse = row < 128 ? 3.5 : 6;
  if (nnz < sparse * (double)p->a.rows && row <= 256) return true;
  const double others =
      nnz * row / h200.others_bytes * 132 / (d->multiprocessors > 0 ? d->multiprocessors : 132);
  return longest_row > SHUNT_LONGEST_FOR_SPLIT && h200.huge_entry * (double)longest_row > others;
}
