/* cost_forms.c: what the estimates of several formats are made of. */
#include "backend/routes/cost/cost_forms.h"

#include <math.h>

static const struct shunt_common_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.common;
}

double shunt_cost_copy(double bytes, const struct shunt_machine *m)
{
  return of(m)->launch + bytes / of(m)->stream;
}

double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_machine *m)
{
  double rate = table_bytes > (double)m->device.l2_bytes ? of(m)->gather_far : of(m)->gather;
  if (row_bytes < of(m)->whole)
    rate *= of(m)->narrow + (1 - of(m)->narrow) * row_bytes / of(m)->whole;
  return of(m)->launch + bytes / rate;
}

double shunt_cost_launches(int count, const struct shunt_machine *m)
{
  return count * of(m)->launch;
}

double shunt_cost_in_batches(double us, int batches, const struct shunt_machine *m)
{
  return batches > 1 ? shunt_larger(us, of(m)->batch_host) : us;
}

double shunt_cost_csr_bytes(const struct shunt_csr *a)
{
  double index = (double)shunt_type_size(a->index_type);
  return (double)a->nnz * (index + (double)shunt_type_size(a->value_type)) +
         (double)(a->rows + 1) * index;
}

double shunt_cost_combine(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  return shunt_cost_copy((double)p->c.rows * (double)p->c.cols * of(m)->combined_bytes, m);
}

double shunt_cost_copy_of_b(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  double bytes = 2 * (double)p->b.rows * (double)p->b.cols * (double)shunt_type_size(p->b.type);
  return p->b.col_stride != 1 ? shunt_cost_copy(bytes, m) : 0;
}

/* By columns a warp writes as many elements beside each other as it has neighbouring rows: fewer,
   the longer rows of C are, and none of `sorted`.  Rows of few entries write most of the time.  A C
   far beyond L2 is better written in order.  */
bool shunt_choose_rows_of_c(const struct shunt_spmm *p, enum shunt_rows_taken taken)
{
  const bool sorted = taken == SHUNT_ROWS_BY_LENGTH;
  const double size = (double)shunt_type_size(p->c.type), row = size * (double)p->c.cols;
  const double rows = (double)p->c.rows, elements = rows * (double)p->c.cols;
  if (p->c.col_stride == 1 || p->c.cols == 1) return false;
  if (size * elements >= 96e6) return true;
  if (sorted && row >= 256 && p->c.cols >= 64) return elements >= 1e6;
  if (sorted) return row >= 128 && elements >= 1.9e6;
  if (row >= 512 || (row >= 256 && size < 8)) return elements >= 1e6;
  const double short_row = row >= 256 ? 6.5 : 3.5;
  return size >= 4 && row >= 128 && elements >= 1.9e6 && (double)p->a.nnz <= short_row * rows;
}

double shunt_cost_columns_of_c(const struct shunt_spmm *p, enum shunt_rows_taken taken,
                               const struct shunt_machine *m)
{
  const double elements = (double)p->c.rows * (double)p->c.cols;
  if (p->c.col_stride == 1 || p->c.cols == 1) return 0;
  if (!shunt_choose_rows_of_c(p, taken)) return 1e-6 * of(m)->columns * elements;
  return shunt_cost_copy(2 * elements * (double)shunt_type_size(p->c.type), m);
}

double shunt_cost_excess(const struct shunt_csr *a, const struct shunt_profile *f)
{
  const double mean = (double)a->nnz / (double)(a->rows + 1);
  return f ? shunt_larger((double)f->longest_row - mean, 0) : mean;
}

double shunt_cost_longest(const struct shunt_csr *a, const struct shunt_profile *f)
{
  return f ? (double)f->longest_row : (double)a->nnz / (double)(a->rows + 1);
}

/* ---- SpMM ------------------------------------------------------------------------------- */

double shunt_cost_fitted(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                         double gathered, double late, const struct shunt_machine *m)
{
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  /* One-byte elements are gathered as slowly as two-byte ones (tests/bench/srbcrs.md). */
  const double loaded = shunt_larger(row, 2 * (double)p->b.cols);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double nnz = (double)p->a.nnz, rows = (double)p->a.rows;
  const double tiles = rows * shunt_larger(row / 128 - 1, 0);
  const double narrow = gathered * shunt_larger(64 - row, 0) / 64;
  const double some = shunt_lesser(late, 512), more = shunt_lesser(late, 4096) - some;
  const double most = late - some - more;
  const double near = (double)m->device.l2_bytes * 0.75 / ((double)p->b.rows * row + 1);
  const double far = shunt_larger(1 - near, 0) * gathered * row;
  const double wide = row > 1024 ? log2(row / 1024) * gathered * row : 0;
  const double us = c->start + 1e-3 * (c->longest * some + c->beyond * more + c->huge * most) +
                    (1e-6 * (c->entry * nnz + c->row * rows + c->list * gathered +
                             c->narrow * narrow + c->tiles * tiles) +
                     1e-9 * (c->gather * gathered * loaded + c->far * far + c->wide * wide +
                             c->written * written));
  return shunt_larger(us, c->start + 1e-6 * c->least * nnz);
}

double shunt_cost_variation(const struct shunt_profile *f)
{
  const double mean = (double)f->nnz / ((double)f->rows + 1e-9);
  const double spread = f->row_length_squares / ((double)f->nnz * mean + 1e-9) - 1;
  return spread > 0 ? sqrt(spread) : 0;
}

double shunt_cost_waiting(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                          const struct shunt_profile *f)
{
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  if (!f) return 0;
  const double idle = (double)f->idle_steps;
  return 1e-6 * c->idle * idle + 1e-9 * c->idle_bytes * idle * shunt_lesser(row, 512) +
         1e-9 * c->varied * (double)p->a.nnz * row *
             shunt_lesser(shunt_cost_variation(f), shunt_cost_scattered(&p->a) ? 4 : 1);
}

int shunt_cost_block_type(shunt_type t)
{
  return shunt_type_size(t) >= 8 ? 2 : shunt_type_size(t) == 4 ? 1 : 0;
}

double shunt_cost_blocks(const struct shunt_block_costs f[SHUNT_BLOCK_SIZES],
                         const struct shunt_spmm *p, int64_t size)
{
  const double n = (double)p->c.cols;
  int i = 0;
  while (i + 1 < SHUNT_BLOCK_SIZES && f[i + 1].size <= (double)size) i++;
  /* Of int8 nothing was measured: half the bytes of B, and twice those of C, that 2-byte types
     have. */
  const bool bytes = p->a.value_type == SHUNT_I8;
  return f[i].start + ((bytes ? 0.5 : 1) * f[i].rate * (double)p->a.nnz * n / (1 << 30) +
                       (bytes ? 2 : 1) * f[i].written * (double)p->c.rows * n / (1 << 20));
}

struct shunt_cost_walk shunt_cost_walk_of(const struct shunt_spmm *p, double reuse,
                                          double longest_row, const struct shunt_machine *m)
{
  const double groups = ceil((double)p->c.rows / 8), warps = 16 * shunt_cost_multiprocessors(m);
  const double tasks = groups * ceil((double)p->c.cols / 64);
  struct shunt_cost_walk w = {groups > 0 ? (double)p->a.nnz / reuse / groups : 0,
                              longest_row * 8 / reuse};
  for (int slices = 2; slices <= 8 && tasks * slices <= warps; slices *= 2)
    w.mean /= 2, w.longest /= 2;
  return w;
}

/* ---- proofs ----------------------------------------------------------------------------- */

double shunt_cost_proof_let_in(const struct shunt_csr *a, const struct shunt_machine *m)
{
  return shunt_larger(of(m)->let_in + shunt_cost_csr_bytes(a) / of(m)->stream, of(m)->let_in_least);
}

double shunt_cost_proof_inside(const struct shunt_csr *a, const struct shunt_machine *m)
{
  return shunt_larger(shunt_cost_csr_bytes(a) / of(m)->inside - of(m)->inside_before,
                      of(m)->inside_least);
}

/* ---- SDDMM ------------------------------------------------------------------------------ */

double shunt_cost_sddmm_row_bytes(const struct shunt_sddmm *p)
{
  return (double)p->a.cols * (double)shunt_type_size(p->a.type);
}

double shunt_cost_sddmm_copied_bytes(const struct shunt_sddmm *p)
{
  const double row = shunt_cost_sddmm_row_bytes(p);
  double copied = 0;
  if (p->a.col_stride != 1) copied += 2 * row * (double)p->a.rows;
  if (p->b.row_stride != 1) copied += 2 * row * (double)p->b.cols;
  return copied;
}

double shunt_cost_sddmm_enqueued(double us, bool copied, const struct shunt_machine *m)
{
  return shunt_larger(us, copied ? of(m)->sddmm_two_host : of(m)->sddmm_host);
}

double shunt_cost_scattered_sddmm(const struct shunt_scattered_sddmm_costs *c,
                                  const struct shunt_sddmm *p, const struct shunt_profile *f)
{
  const double row = shunt_cost_sddmm_row_bytes(p), nnz = (double)p->c.nnz;
  const double rows = (double)p->c.rows, late = shunt_cost_excess(&p->c, f);
  return c->start + 1e-3 * c->longest * late + 1e-6 * c->longest_bytes * late * row +
         (1e-6 * (c->entry * nnz + c->row * rows) +
          1e-9 * row * (c->gather * nnz + c->of_a * rows));
}
