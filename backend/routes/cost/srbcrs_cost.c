/* srbcrs_cost.c: what the kernels of `srbcrs` are expected to take, which gather B for groups of
   rows, or bring it by strips to many groups, and which of them is taken.  A model, not a fit, but
   of the strips; tests/bench/srbcrs.md has what it chose in the products timed. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"
#include "kernels/common/divide.h"
#include "kernels/srbcrs/srbcrs_kernels.h"

static const struct shunt_srbcrs_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.srbcrs;
}

/* ---- the product alone ---------------------------------------------------------------------- */

/* Of what a stride takes warps that add up in the end, for a warp that has the group to itself: by
   it whole tiles are taken of 4096^2, 20 %, at N = 256, 18.2 us for 18.3, and not at 128, 15.7 for
   12.1, nor of 10 % at 256, 13.1 for 11.1 (H100).  */
static const double ALONE = 0.84;

/* B gathered once for each vector, and C written; or the strides of the longest group, one after
   the other.  */
static double gathered_us(const struct shunt_spmm *p, int height, double longest_row,
                          const struct shunt_machine *m)
{
  const double row = (double)p->b.cols, table = row * (double)p->b.rows;
  const double vectors = (double)p->a.nnz / height;
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const struct shunt_srbcrs_shape shape = shunt_srbcrs_spmm_shape(p, height, &m->device);
  const double deep = ceil(longest_row / SHUNT_SRBCRS_STRIDE / shape.split);
  const double each = of(m)->latency * (shape.split > 1 ? 1 : ALONE);
  const double gathered = shunt_cost_gather(vectors * row, row, table, m);
  return shunt_larger(gathered, of(m)->start + each * deep) + of(m)->written * written;
}

/* A block starts and stores; a strip takes so long to bring, and so much longer the more vectors it
   has to do with.  Or the strides of the longest group.  */
static double strips_us(const struct shunt_spmm *p, int height, int columns, double longest_row,
                        const struct shunt_machine *m)
{
  const struct shunt_strip_costs *c = &of(m)->strips[columns == 128 ? 0 : columns == 64 ? 1 : 2];
  const int64_t groups = shunt_div_up(p->a.rows, height);
  const int64_t blocks =
      shunt_div_up(groups, SHUNT_SRBCRS_STRIP_GROUPS) * shunt_div_up(p->b.cols, columns);
  const int64_t rounds = shunt_div_up(blocks, shunt_cost_multiprocessors(m));
  const double strips = ceil((double)p->a.cols / SHUNT_SRBCRS_STRIP);
  const double full = (double)p->a.nnz / ((double)p->a.rows * (double)p->a.cols);
  const double deep = ceil(longest_row / SHUNT_SRBCRS_STRIDE);
  return shunt_larger((double)rounds * (c->start + strips * (c->strip + c->full * full)),
                      of(m)->start + of(m)->latency * deep);
}

static double mean_row(const struct shunt_spmm *p)
{
  return (double)p->a.nnz / (double)p->a.rows;
}

/* Are the rows of a stride held together, of a matrix that is full alike throughout?  Spread ones
   are up to twice as far apart as others. */
static bool strides_are_held(const struct shunt_spmm *p, int columns)
{
  return 2.0 * SHUNT_SRBCRS_STRIDE * (double)p->a.cols <=
         mean_row(p) * (double)shunt_srbcrs_strips_held(columns);
}

/* A shape of which groups share B, if it is one for this product. */
static bool is_shared(const struct shunt_spmm *p, const struct shunt_srbcrs_shape *s,
                      const struct shunt_machine *m)
{
  return shunt_srbcrs_spmm_whole_fits(p, s, &m->device) ||
         (shunt_srbcrs_spmm_strips_fit(s, &m->device) && strides_are_held(p, s->columns));
}

struct shunt_srbcrs_shape shunt_choose_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                         const struct shunt_machine *m)
{
  const double row = mean_row(p);
  struct shunt_srbcrs_shape best = shunt_srbcrs_spmm_shape(p, height, &m->device);
  double least = gathered_us(p, height, row, m);
  for (int columns = SHUNT_SRBCRS_WHOLE_COLUMNS; columns <= 128; columns *= 2) {
    const struct shunt_srbcrs_shape s = {columns, 1, SHUNT_SRBCRS_STRIP_GROUPS};
    const double us = strips_us(p, height, columns, row, m);
    if (us < least && is_shared(p, &s, m)) least = us, best = s;
  }
  return best;
}

static double shaped_us(const struct shunt_spmm *p, int height, const struct shunt_srbcrs_shape *s,
                        double longest_row, const struct shunt_machine *m)
{
  return s->groups ? strips_us(p, height, s->columns, longest_row, m)
                   : gathered_us(p, height, longest_row, m);
}

/* ---- with its proof ------------------------------------------------------------------------- */

/* Up to so many columns of B, or for rows so short, 64 columns take the kernel hardly longer than
   128, which leave no registers to a proof (tests/bench/results/integers.txt,
   srbcrs/sectors.txt).  */
enum { PROVED_COLUMNS = 256, PROVED_ROW = 4 * SHUNT_SRBCRS_STRIDE };

/* Does it lose much by the 64 columns of a proof?  With few rows it has no more without one. */
static bool loses_width(const struct shunt_spmm *p, int height, const struct shunt_machine *m)
{
  return p->b.cols > PROVED_COLUMNS && shunt_srbcrs_spmm_shape(p, height, &m->device).columns > 64;
}

/* A warp for a unit where there are 6 for a multiprocessor. */
static struct shunt_srbcrs_shape gathered_shape(const struct shunt_spmm *p, int height,
                                                const struct shunt_machine *m)
{
  struct shunt_srbcrs_shape s = {.columns = p->b.cols > 32 ? 64 : 32};
  const int64_t units = shunt_div_up(p->a.rows, height) * shunt_div_up(p->b.cols, s.columns);
  s.split = units >= INT64_C(6) * m->device.multiprocessors ? 1 : 4;
  return s;
}

/* Where the blocks are at work all at once, or, of gathers, twice with few to spare, as with
   `tile`: more are dealt out better by the hardware.  */
static bool proves(const struct shunt_spmm *p, int height, const struct shunt_srbcrs_shape *s,
                   const struct shunt_machine *m)
{
  const double rounds = shunt_srbcrs_spmm_proved_rounds(p, height, s, &m->device);
  if (rounds <= 0) return false;
  if (s->groups) return is_shared(p, s, m) && rounds <= 1;
  if (loses_width(p, height, m)) return mean_row(p) <= PROVED_ROW && rounds <= 4;
  return rounds <= 1 || (rounds >= 1.8 && rounds <= 2);
}

static double behind_us(const struct shunt_spmm *p, int height, double longest_row,
                        const struct shunt_machine *m)
{
  const struct shunt_srbcrs_shape s = shunt_choose_srbcrs_spmm_shape(p, height, m);
  return shaped_us(p, height, &s, longest_row, m) + shunt_cost_proof_let_in(&p->a, m);
}

/* What gathers of one round gain that read lists before the kernel in front has ended, and let the
   next one in (tests/bench/results/srbcrs/proved.txt: with nothing hashed, beside alone). */
static const double EARLY_US = 0.8;

static double early_us(const struct shunt_spmm *p, int height, const struct shunt_srbcrs_shape *s,
                       const struct shunt_machine *m)
{
  if (s->groups) return 0;
  return shunt_srbcrs_spmm_proved_rounds(p, height, s, &m->device) <= 1 ? EARLY_US : 0;
}

/* Strips of 128 columns hash first, others beside. */
static double inside_us(const struct shunt_spmm *p, int height, const struct shunt_srbcrs_shape *s,
                        double longest_row, const struct shunt_machine *m)
{
  const bool first = s->groups && s->columns == 128;
  return shaped_us(p, height, s, longest_row, m) - early_us(p, height, s, m) +
         (first ? shunt_cost_csr_bytes(&p->a) / of(m)->first : shunt_cost_proof_inside(&p->a, m));
}

/* The fastest, where those with the proof behind them do not take less. */
bool shunt_choose_srbcrs_proved(const struct shunt_spmm *p, int height,
                                const struct shunt_machine *m, struct shunt_srbcrs_shape *shape)
{
  const double row = mean_row(p);
  double least = behind_us(p, height, row, m);
  bool any = false;
  *shape = gathered_shape(p, height, m);
  const struct shunt_srbcrs_shape of[] = {
      *shape, {64, 1, SHUNT_SRBCRS_STRIP_GROUPS}, {128, 1, SHUNT_SRBCRS_STRIP_GROUPS}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    if (!proves(p, height, &of[i], m)) continue;
    const double us = inside_us(p, height, &of[i], row, m);
    if (us <= least) least = us, *shape = of[i], any = true;
  }
  return any;
}

double shunt_cost_srbcrs(const struct shunt_spmm *p, int height, double longest_row,
                         enum shunt_proof_place proof, const struct shunt_machine *m)
{
  struct shunt_srbcrs_shape s;
  switch (proof) {
  case SHUNT_PROOF_NONE:
    s = shunt_choose_srbcrs_spmm_shape(p, height, m);
    return shaped_us(p, height, &s, longest_row, m);
  case SHUNT_PROOF_INSIDE:
    shunt_choose_srbcrs_proved(p, height, m, &s);
    return inside_us(p, height, &s, longest_row, m);
  default: return behind_us(p, height, longest_row, m);
  }
}

/* A warp takes a group window by window of 32 columns, those that have entries. */
double shunt_cost_srbcrs_packing(const struct shunt_csr *a, int height, double longest_row,
                                 const struct shunt_machine *m)
{
  const double groups = ceil((double)a->rows / height), warps = 16 * shunt_cost_multiprocessors(m);
  const double windows = shunt_lesser(longest_row, ceil((double)a->cols / SHUNT_SRBCRS_STRIDE));
  return of(m)->pack_start + of(m)->pack * windows * ceil(groups / warps);
}
