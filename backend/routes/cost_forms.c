/* cost_forms.c: what the estimates of several formats are made of. */
#include "backend/routes/cost_forms.h"

#include <math.h>

/* An H200; units in cost_table.h. */
static const struct shunt_common_costs h200 = {
    .launch = 2,
    .batch_host = 8,
    .stream = 3.6e6,
    .gather = 8.0e6,
    .gather_far = 3.6e6,
    .narrow = 0.3,
    .whole = 128, /* a line of L2 */
    .let_in = 0.7,
    .let_in_least = 2.4,
    .inside = 5.5e6, /* this and the next two: 110 products of layers */
    .inside_before = 0.3,
    .inside_least = 0.1,
    .combined_bytes = 16}; /* in f32: W written and read, C read and written */

double shunt_cost_copy(double bytes, const struct shunt_device *d)
{
  return h200.launch + bytes / h200.stream * shunt_cost_scale(d);
}

double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_device *d)
{
  double rate = table_bytes > (double)d->l2_bytes ? h200.gather_far : h200.gather;
  if (row_bytes < h200.whole) rate *= h200.narrow + (1 - h200.narrow) * row_bytes / h200.whole;
  return h200.launch + bytes / rate * shunt_cost_scale(d);
}

double shunt_cost_launches(int count)
{
  return count * h200.launch;
}

double shunt_cost_in_batches(double us, int batches)
{
  return batches > 1 ? shunt_larger(us, h200.batch_host) : us;
}

double shunt_cost_csr_bytes(const struct shunt_csr *a)
{
  double index = (double)shunt_type_size(a->index_type);
  return (double)a->nnz * (index + (double)shunt_type_size(a->value_type)) +
         (double)(a->rows + 1) * index;
}

double shunt_cost_combine(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return shunt_cost_copy((double)p->c.rows * (double)p->c.cols * h200.combined_bytes, d);
}

double shunt_cost_copy_of_b(const struct shunt_spmm *p, const struct shunt_device *d)
{
  double bytes = 2 * (double)p->b.rows * (double)p->b.cols * (double)shunt_type_size(p->b.type);
  return p->b.col_stride != 1 ? shunt_cost_copy(bytes, d) : 0;
}

double shunt_cost_excess(const struct shunt_csr *a, const struct shunt_profile *f)
{
  const double mean = (double)a->nnz / (double)(a->rows + 1);
  return f ? shunt_larger((double)f->longest_row - mean, 0) : mean;
}

/* ---- SpMM ------------------------------------------------------------------------------- */

double shunt_cost_fitted(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                         double gathered, double late, const struct shunt_device *d)
{
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double nnz = (double)p->a.nnz, rows = (double)p->a.rows;
  const double some = shunt_lesser(late, 512), more = shunt_lesser(late, 4096) - some;
  const double near = (double)d->l2_bytes * 0.75 / ((double)p->b.rows * row + 1);
  const double far = shunt_larger(1 - near, 0) * gathered * row;
  return c->start + 1e-3 * (c->longest * some + c->beyond * more) +
         shunt_cost_scale(d) *
             (1e-6 * (c->entry * nnz + c->row * rows + c->list * gathered) +
              1e-9 * (c->gather * gathered * row + c->far * far + c->written * written));
}

int shunt_cost_block_type(shunt_type t)
{
  return shunt_type_size(t) >= 8 ? 2 : shunt_type_size(t) == 4 ? 1 : 0;
}

double shunt_cost_blocks(const struct shunt_block_costs f[SHUNT_BLOCK_SIZES],
                         const struct shunt_spmm *p, int64_t size, const struct shunt_device *d)
{
  const double n = (double)p->c.cols;
  int i = 0;
  while (i + 1 < SHUNT_BLOCK_SIZES && f[i + 1].size <= (double)size) i++;
  return f[i].start + shunt_cost_scale(d) * (f[i].rate * (double)p->a.nnz * n / (1 << 30) +
                                             f[i].written * (double)p->c.rows * n / (1 << 20));
}

struct shunt_cost_walk shunt_cost_walk_of(const struct shunt_spmm *p, double reuse,
                                          double longest_row, const struct shunt_device *d)
{
  const double groups = ceil((double)p->c.rows / 8), warps = 16 * 132 / shunt_cost_scale(d);
  const double tasks = groups * ceil((double)p->c.cols / 64);
  struct shunt_cost_walk w = {groups > 0 ? (double)p->a.nnz / reuse / groups : 0,
                              longest_row * 8 / reuse};
  for (int slices = 2; slices <= 8 && tasks * slices <= warps; slices *= 2)
    w.mean /= 2, w.longest /= 2;
  return w;
}

/* ---- proofs ----------------------------------------------------------------------------- */

double shunt_cost_proof_let_in(const struct shunt_csr *a, const struct shunt_device *d)
{
  return shunt_larger(h200.let_in + shunt_cost_csr_bytes(a) / h200.stream * shunt_cost_scale(d),
                      h200.let_in_least);
}

double shunt_cost_proof_inside(const struct shunt_csr *a, const struct shunt_device *d)
{
  return shunt_larger(shunt_cost_csr_bytes(a) / h200.inside * shunt_cost_scale(d) -
                          h200.inside_before,
                      h200.inside_least);
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

double shunt_cost_scattered_sddmm(const struct shunt_scattered_sddmm_costs *c,
                                  const struct shunt_sddmm *p, const struct shunt_profile *f,
                                  const struct shunt_device *d)
{
  const double row = shunt_cost_sddmm_row_bytes(p), nnz = (double)p->c.nnz;
  const double rows = (double)p->c.rows, late = shunt_cost_excess(&p->c, f);
  return c->start + 1e-3 * c->longest * late + 1e-6 * c->longest_bytes * late * row +
         shunt_cost_scale(d) * (1e-6 * (c->entry * nnz + c->row * rows) +
                                1e-9 * row * (c->gather * nnz + c->of_a * rows));
}
