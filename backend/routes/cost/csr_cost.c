/* csr_cost.c: what the kernels of `csr` are expected to take. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_layers.h"
#include "kernels/csr/csr_unstaged.h"
#include "kernels/csr/csr_words.h"

static const struct shunt_csr_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.csr;
}

static bool is_unstaged(const struct shunt_spmm *p, const struct shunt_profile *f)
{
  return f && p->a.rows > 0 &&
         shunt_csr_is_unstaged(p->a.rows, p->a.nnz, f->longest_row, p->b.cols,
                               (int64_t)shunt_type_size(p->b.type));
}

static bool may_have_words(const struct shunt_spmm *p)
{
  return !shunt_type_is_complex(p->b.type) && p->a.value_type == p->b.type &&
         shunt_type_size(p->b.type) > 1;
}

/* What the kernel chooses its shape by. */
static struct shunt_csr_work work_of(const struct shunt_spmm *p, const struct shunt_profile *f,
                                     const struct shunt_machine *m)
{
  return (struct shunt_csr_work){.rows = p->a.rows,
                                 .nonzeros = p->a.nnz,
                                 .longest = f ? f->longest_row : -1,
                                 .n = p->b.cols,
                                 .size = (int64_t)shunt_type_size(p->b.type),
                                 .multiprocessors = m->device.multiprocessors,
                                 .words = may_have_words(p)};
}

/* What the kernel's own lines say of a layer, us; 0: they say nothing of it. */
static double lines_us(const struct shunt_spmm *p, const struct shunt_profile *f,
                       const struct shunt_machine *m)
{
  const struct shunt_csr_work work = work_of(p, f, m);
  struct shunt_csr_layer layer;
  double us = 0;
  if (p->a.value_type == p->b.type && shunt_csr_layer_of(&work, &layer))
    shunt_csr_choose_layer_cut(&layer, &us);
  return us;
}

/* What layers take, B as it is.  Where rows differ in length they are not at the same columns at
   the same time, so that L1 has less of what they gather; in int8 that was not measured.  */
static double layer_us(const struct shunt_spmm *p, const struct shunt_profile *f,
                       const struct shunt_machine *m)
{
  const double us = lines_us(p, f, m);
  const struct shunt_fit_costs *c = shunt_cost_is_half(p) ? &of(m)->layer_half : &of(m)->layer;
  if (us > 0) {
    c = &of(m)->lines[shunt_cost_block_type(p->b.type)];
    return c->lines * us + shunt_cost_fitted(c, p, (double)p->a.nnz, 0, m) +
           shunt_cost_waiting(c, p, f);
  }
  return shunt_cost_fitted(c, p, (double)p->a.nnz, shunt_cost_longest(&p->a, f), m) +
         (p->b.type == SHUNT_I8 ? 0 : shunt_cost_waiting(c, p, f));
}

static bool has_words(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_machine *m)
{
  const struct shunt_csr_work work = work_of(p, f, m);
  return shunt_csr_has_words(&work);
}

static const struct shunt_fit_costs *scattered_costs(const struct shunt_spmm *p,
                                                     const struct shunt_profile *f,
                                                     const struct shunt_machine *m)
{
  if (is_unstaged(p, f)) return shunt_cost_is_half(p) ? &of(m)->unstaged_half : &of(m)->unstaged;
  return &of(m)->scattered[shunt_cost_block_type(p->b.type)];
}

/* By the balanced kernel it does not matter how long rows are. */
static double scattered_us(const struct shunt_spmm *p, const struct shunt_profile *f,
                           const struct shunt_machine *m)
{
  if (shunt_choose_csr_merge(p, f, m))
    return shunt_cost_fitted(&of(m)->merge, p, (double)p->a.nnz, 0, m);
  const struct shunt_fit_costs *c = scattered_costs(p, f, m);
  return (has_words(p, f, m) ? of(m)->words : 1) *
         (shunt_cost_fitted(c, p, (double)p->a.nnz, shunt_cost_excess(&p->a, f), m) +
          shunt_cost_waiting(c, p, f));
}

double shunt_cost_csr(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_machine *m)
{
  const double us = shunt_csr_is_cut_as_layer(&p->a) ? layer_us(p, f, m) : scattered_us(p, f, m);
  return (p->b.type == SHUNT_C64 ? of(m)->c64 : 1) * us + shunt_cost_copy_of_b(p, m) +
         shunt_cost_columns_of_c(p, SHUNT_ROWS_AS_STORED, m);
}

/* ---- transposed: a call by the rates of copies and gathers, the copy as it was measured ------ */

double shunt_cost_csr_transposed(const struct shunt_spmm *p, int64_t longest, bool proved,
                                 const struct shunt_machine *m)
{
  const double nnz = (double)p->a.nnz, value = (double)shunt_type_size(p->a.value_type);
  struct shunt_spmm t = *p;
  t.a.rows = p->a.cols, t.a.cols = p->a.rows, t.a.index_type = SHUNT_I32;
  /* Nobody has counted more than the longest row: others as if entries were spread by chance. */
  const double rows = (double)t.a.rows, mean = nnz / (rows + 1);
  const struct shunt_profile f = {.rows = t.a.rows,
                                  .cols = t.a.cols,
                                  .nnz = t.a.nnz,
                                  .longest_row = longest,
                                  .idle_steps = (int64_t)(rows * sqrt(mean)),
                                  .row_length_squares = nnz * (mean + 1)};
  /* Places are read and values written in order; with a proof columns and offsets of the copy both,
     and A's read. */
  double bytes = nnz * (4 + value);
  if (proved) bytes += 8 * (nnz + (double)t.a.rows) + shunt_cost_csr_bytes(&p->a) - nnz * value;
  double us = shunt_cost_csr(&t, longest < 0 ? NULL : &f, m) + shunt_cost_copy(bytes, m) +
              shunt_cost_gather(nnz * value, value, nnz * value, m);
  if (longest < 0 && shunt_cost_scattered(&t.a))
    us += shunt_cost_waiting(scattered_costs(&t, NULL, m), &t, &f);
  /* Two launches are in that: the one that gathers, and with a proof the one behind it. */
  return proved ? us : us - shunt_cost_launches(1, m);
}

/* Columns of 8,192 entries and more, which nobody has counted by then, take far longer. */
double shunt_cost_csr_transposing(const struct shunt_csr *a, const struct shunt_machine *m)
{
  return of(m)->transposing_start + 1e-6 * (of(m)->transposing_entry * (double)a->nnz +
                                            of(m)->transposing_column * (double)a->cols);
}

/* Tiles each meet all entries of their rows. */
static double direct_sddmm(const struct shunt_sddmm *p, const struct shunt_machine *m)
{
  const int columns = shunt_csr_sddmm_direct_columns(p, m->device.multiprocessors);
  const double met = 1e-6 * (double)p->c.nnz * ceil((double)p->c.cols / columns);
  const double width = sqrt((double)p->c.rows * (double)p->c.cols);
  return of(m)->direct_start + of(m)->direct_step * (double)p->a.cols * width / 512 +
         of(m)->direct_entry * met;
}

double shunt_cost_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                            const struct shunt_machine *m)
{
  const struct shunt_sddmm_costs *c =
      &of(m)->sddmm[shunt_type_size(p->b.type) == 1 ? 1 /* of int8 nothing was fitted */
                                                    : shunt_cost_block_type(p->b.type)];
  const double row = shunt_cost_sddmm_row_bytes(p), nnz = (double)p->c.nnz;
  if (shunt_csr_sddmm_direct(p)) return direct_sddmm(p, m);
  const double copied = shunt_cost_sddmm_copied_bytes(p);
  const double copies = (copied > 0 ? c->copies_start : 0) + c->copied * copied;
  if (shunt_cost_scattered(&p->c))
    return copies +
           (shunt_choose_csr_sddmm(f).alike && !shunt_type_is_complex(p->b.type) ? of(m)->alike
                                                                                 : 1) *
               shunt_cost_scattered_sddmm(&of(m)->scattered_sddmm[shunt_cost_block_type(p->b.type)],
                                          p, f);
  return c->start + copies + nnz * (c->entry + c->byte * row);
}

/* Of rows in threes, two of three aligned pairs are alike.  Shorter rows, or fewer, lose more by
   waiting for each other than they gain (tests/bench/sddmm.md). */
static bool are_alike(const struct shunt_profile *f)
{
  enum { LEAST_MEAN_ROW = 56, LEAST_ENTRIES = 1000000 };
  return f->nnz >= LEAST_ENTRIES && f->nnz >= LEAST_MEAN_ROW * f->rows &&
         (double)f->groups_equal[2] >= 0.6 * (double)f->groups_nonempty[2];
}

/* In runs of 64 columns with an entry, is C so much denser than in all?  Triangles are 1.9 times,
   windows more, entries anywhere are not (tests/bench/sddmm.md).  */
static bool are_crowded(const struct shunt_profile *f)
{
  const double runs = (double)f->segments * SHUNT_PROFILE_STRIP;
  return 1.8 * runs <= (double)f->rows * (double)f->cols;
}

struct shunt_csr_sddmm_pattern shunt_choose_csr_sddmm(const struct shunt_profile *f)
{
  const struct shunt_csr_sddmm_pattern unknown = {false, false};
  return f ? (struct shunt_csr_sddmm_pattern){are_alike(f), are_crowded(f)} : unknown;
}

/* Are long rows many?  If a share `many` of the rows were as long as the longest, and all others
   alike, the squares of the rows' lengths would have this sum.  */
static bool rows_vary(const struct shunt_profile *f)
{
  enum { LEAST_LONGEST = 7 }; /* halves of the mean */
  const double mean = (double)f->nnz / (double)(f->rows + 1);
  const double longest = (double)f->longest_row / (mean + 1e-9);
  const double many = shunt_cost_variation(f) * shunt_cost_variation(f) / (longest * longest);
  return 2 * longest >= LEAST_LONGEST && many >= 0.007;
}

/* In int8, whose loads are of 8 bytes: would the longest row that its team keeps end last? */
static bool int8_ends_late(const struct shunt_spmm *p, const struct shunt_profile *f,
                           const struct shunt_machine *m)
{
  const double n = (double)p->b.cols, nnz = (double)p->a.nnz;
  const double kept = shunt_lesser((double)f->longest_row, 6 * nnz / (double)(p->a.rows + 1));
  const double lanes = shunt_lesser(exp2(ceil(log2(shunt_larger(n / 8, 4)))), 32);
  return rows_vary(f) && 1e-3 * of(m)->int8_walk * lanes * kept >
                             1e-6 * of(m)->int8_even * nnz * n / 128 + of(m)->int8_join;
}

/* Where one block's row would end last; and for narrow products of rows that mostly have next to
   nothing (tests/bench/csr.md).  */
bool shunt_choose_csr_merge(const struct shunt_spmm *p, const struct shunt_profile *f,
                            const struct shunt_machine *m)
{
  enum { HUGE_ROW = 2048 };
  const int64_t longest_row = f ? f->longest_row : -1;
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double nnz = (double)p->a.nnz;
  if (f && p->b.type == SHUNT_I8 && p->b.cols <= 256 && int8_ends_late(p, f, m)) return true;
  if (longest_row <= HUGE_ROW) return false;
  const double sparse = row < 128 ? 3.5 : 6;
  if (nnz < sparse * (double)p->a.rows && row <= 256) return true;
  const double others = nnz * row / of(m)->others_bytes;
  return longest_row > SHUNT_LONGEST_FOR_SPLIT && of(m)->huge_entry * (double)longest_row > others;
}
