/* dense_cost.c: what products with a dense copy of A are expected to take. */
#include <math.h>

#include "backend/routes/cost_forms.h"

static const struct shunt_dense_costs h200 = {
    /* cuBLAS 13.1, what large products reach; steps count for small ones, in f32 they are longer,
       and still more without tensor cores. */
    .start = 2.6,
    .f64 = 50e6,
    .f32 = 51e6,
    .tf32 = 360e6,
    .half = 940e6,
    .step = 1e-3,
    .step_f32 = 4e-3,
    .step_tf32 = 2e-3,
    .traffic = 7.2e6,
    .proof = 0.4, /* launched early, it ends last: 134 products of layers */
    .stored = 3.6e6,
    /* Product and proof in one launch: narrow products wait for memory, small ones for each other.
       Wide ones take a tile a multiprocessor; there A's arrays pass shared memory, which is what
       the product waits for. */
    .narrow_start = 1.4,
    .narrow_bytes = 3.88e6,
    .narrow_least = 6.1,
    .narrow_step = 1.1e-3,
    .wide_start = 4.5,
    .wide_step = 0.31,
    .wide_bytes = 6e6,
    .wide_full = 0.9,
    .wide_deepest = 1024,
    .wide_lanes = 0.22e6,
    /* 4096 x 4096, K = 64 to 1024, 0.8 to 0.95 sparse: 1.03 off; what denser ones take beyond that
       is guessed. */
    .sample_start = 4.3,
    .sample_step = 0.6,
    .sample_early = 0.4,
    .sample_least = 0.2,
    .sample = 2.2,
    .sample_entry = 7,
    .sample_dense = 10,
    .sample_other = 0.57,
    .sample_margin = 0.9,
    /* What the host takes to enqueue cuBLAS' product and the pass over C: nothing comes sooner. */
    .sampled_host = 11.3};

/* ---- cuBLAS ----------------------------------------------------------------------------- */

static double rate_of(shunt_type type, enum shunt_math math)
{
  switch (type) {
  case SHUNT_F64: return h200.f64;
  case SHUNT_F32: return math == SHUNT_MATH_TF32 ? h200.tf32 : h200.f32;
  default: return h200.half;
  }
}

static double step_of(shunt_type type, enum shunt_math math)
{
  if (type != SHUNT_F32) return h200.step;
  return math == SHUNT_MATH_TF32 ? h200.step_tf32 : h200.step_f32;
}

double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_device *d)
{
  double size = (double)shunt_type_size(type);
  double arithmetic = 2 * m * n * k / rate_of(type, math);
  double traffic = (m * k + k * n + m * n) * size / h200.traffic;
  return h200.start + step_of(type, math) * k +
         shunt_larger(arithmetic, traffic) * shunt_cost_scale(d);
}

/* A transposed or not: the product is as large as C, and as deep as B. */
static double gemm_of(const struct shunt_spmm *p, enum shunt_math math,
                      const struct shunt_device *d)
{
  return shunt_cost_gemm((double)p->c.rows, (double)p->c.cols, (double)p->b.rows, p->b.type, math,
                         d);
}

static double reading(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return shunt_cost_copy(shunt_cost_csr_bytes(&p->a), d);
}

double shunt_cost_dense_packed(const struct shunt_spmm *p, enum shunt_math math,
                               const struct shunt_device *d)
{
  return gemm_of(p, math, d) + h200.proof + reading(p, d);
}

double shunt_cost_dense_direct(const struct shunt_spmm *p, enum shunt_math math,
                               const struct shunt_device *d)
{
  const double cells = (double)p->a.rows * (double)p->a.cols;
  const double make = reading(p, d) + cells * (double)shunt_type_size(p->b.type) / h200.stored;
  return make + gemm_of(p, math, d) + shunt_cost_launches(1);
}

/* ---- product and proof in one launch ------------------------------------------------------ */

/* Bytes of A's arrays that the copy engine cannot bring (kernels/guard/fingerprint_bulk.cuh). */
static double read_by_lanes(const struct shunt_csr *a)
{
  double bytes = 0;
  if ((uintptr_t)a->columns % 8) bytes += (double)a->nnz * (double)shunt_type_size(a->index_type);
  if ((uintptr_t)a->values % 8) bytes += (double)a->nnz * (double)shunt_type_size(a->value_type);
  return bytes;
}

/* Rounds of tiles, each as long as its products, or as its lanes hash, or as D takes to come. */
static double wide_us(const struct shunt_spmm *p, int columns, double copy,
                      const struct shunt_device *d)
{
  const double arrays = shunt_cost_csr_bytes(&p->a), scale = shunt_cost_scale(d);
  const double tiles = ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / columns);
  const double rounds = ceil(tiles / (d->multiprocessors > 0 ? d->multiprocessors : 132));
  const double wide = columns / 128.0;
  const double steps = shunt_larger(rounds * ceil((double)p->a.cols / 64),
                                    read_by_lanes(&p->a) / (h200.wide_lanes * wide));
  const double products = h200.wide_start + steps * h200.wide_step * wide;
  const double coming = h200.narrow_start + copy / h200.narrow_bytes * scale;
  return shunt_larger(products, coming) + arrays / h200.wide_bytes * scale;
}

double shunt_cost_dense_proved(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                               const struct shunt_device *d)
{
  const struct shunt_csr *a = &p->a;
  const double arrays = shunt_cost_csr_bytes(a), scale = shunt_cost_scale(d);
  const double copy = (double)a->rows * (double)a->cols * (double)shunt_type_size(a->value_type);
  if (how->columns > 64) return wide_us(p, how->columns, copy, d);
  return shunt_larger(h200.narrow_start + (copy + arrays) / h200.narrow_bytes * scale,
                      h200.narrow_least + h200.narrow_step * (double)a->cols * 2 / how->split);
}

/* Of fewer than half as many blocks as multiprocessors, too few read D. */
static struct shunt_dense_shape narrow_shape(const struct shunt_spmm *p,
                                             const struct shunt_device *d)
{
  const int64_t blocks = (p->c.rows + 63) / 64 * 2;
  if (blocks > d->multiprocessors || blocks * 2 < d->multiprocessors)
    return (struct shunt_dense_shape){0};
  return (struct shunt_dense_shape){64, 2};
}

static bool on_16_bytes(const struct shunt_dense *m)
{
  return m->col_stride == 1 && (uintptr_t)m->values % 16 == 0 &&
         m->row_stride * (int64_t)shunt_type_size(m->type) % 16 == 0;
}

/* One round of tiles of 128 rows that leaves few multiprocessors without one, and D in L2; and no
   more for lanes to hash than they can while the tensor cores are at work.  */
static struct shunt_dense_shape wide_shape(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const double rows = (double)p->c.rows, cols = (double)p->c.cols, deep = (double)p->a.cols;
  const bool cached = rows * deep * 2 <= (double)d->l2_bytes;
  if (deep < h200.wide_deepest || !cached || !on_16_bytes(&p->c))
    return (struct shunt_dense_shape){0};
  for (int columns = 128; columns <= 256; columns *= 2) {
    const int64_t tiles = (p->c.rows + 127) / 128 * ((p->c.cols + columns - 1) / columns);
    if (tiles <= d->multiprocessors &&
        rows / 128 * cols / columns >= h200.wide_full * d->multiprocessors &&
        read_by_lanes(&p->a) <= h200.wide_lanes * deep / 64 * columns / 128)
      return (struct shunt_dense_shape){columns, 1};
  }
  return (struct shunt_dense_shape){0};
}

/* Between 64 columns and what fills the multiprocessors, products are bound by L2, which cuBLAS
   uses better. */
struct shunt_dense_shape shunt_choose_dense_shape(const struct shunt_spmm *p,
                                                  const struct shunt_device *d)
{
  if (!shunt_dense_spmm_proved_takes(p, d) || p->c.cols <= 16 || p->a.cols <= 128)
    return (struct shunt_dense_shape){0};
  return p->c.cols <= 64 ? narrow_shape(p, d) : wide_shape(p, d);
}

/* B's rows, or columns, are brought by the copy engine. */
static bool can_be_brought(const struct shunt_dense *b)
{
  const int64_t stride = b->col_stride == 1 ? b->row_stride : b->col_stride;
  return (b->col_stride == 1 || b->row_stride == 1) && (uintptr_t)b->values % 16 == 0 &&
         stride * (int64_t)shunt_type_size(b->type) % 16 == 0;
}

/* Whatever cuBLAS would take: the best of the shapes that fit. */
struct shunt_dense_shape shunt_choose_dense_shape_alone(const struct shunt_spmm *p,
                                                        const struct shunt_device *d)
{
  static const struct shunt_dense_shape shapes[] = {{256, 1}, {128, 1}, {64, 2}, {64, 1}};
  struct shunt_dense_shape best = {0};
  double least = INFINITY;
  if (!shunt_dense_spmm_proved_takes(p, d) || !can_be_brought(&p->b) || p->a.cols <= 128)
    return best;
  const double tiles = ceil((double)p->c.rows / 64) * ceil((double)p->c.cols / 64);
  for (int i = 0; i < 4; i++) {
    if (shapes[i].columns == 64 && tiles * shapes[i].split > d->multiprocessors) continue;
    const double us = shunt_cost_dense_proved(p, &shapes[i], d);
    if (us < least) best = shapes[i], least = us;
  }
  return best;
}

/* ---- SDDMM ------------------------------------------------------------------------------ */

/* A multiprocessor multiplies its tiles of C one after the other, 64 of K at a time, and samples
   each while it multiplies the next one: what takes longer is waited for, and slowed down by the
   other.
 */
double shunt_cost_dense_sddmm(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  const double at_once = d->multiprocessors > 0 ? d->multiprocessors : 132;
  const double tiles =
      ceil(ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / 256) / at_once);
  const double density = (double)p->c.nnz / ((double)p->c.rows * (double)p->c.cols + 1);
  const double product = shunt_larger(
      h200.sample_step * ceil((double)p->a.cols / 64) - h200.sample_early, h200.sample_least);
  const double sampling = h200.sample + density * (h200.sample_entry + h200.sample_dense * density);
  return h200.sample_start + tiles * (shunt_larger(product, sampling) +
                                      h200.sample_other * shunt_lesser(product, sampling));
}

double shunt_cost_dense_sampled(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_device *d)
{
  const double cells = (double)p->c.rows * (double)p->c.cols;
  const double us =
      shunt_cost_gemm((double)p->c.rows, (double)p->c.cols, (double)p->a.cols, p->b.type, math, d) +
      shunt_cost_copy(cells * 4, d) + shunt_cost_copy(shunt_cost_csr_bytes(&p->c), d);
  return shunt_larger(us, h200.sampled_host);
}

bool shunt_choose_dense_on_chip(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_device *d)
{
  return shunt_cost_dense_sddmm(p, d) < h200.sample_margin * shunt_cost_dense_sampled(p, math, d);
}
