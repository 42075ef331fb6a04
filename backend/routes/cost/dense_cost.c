/* dense_cost.c: what products with a dense copy of A are expected to take. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"

static const struct shunt_dense_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.dense;
}

static const struct shunt_gemm_costs *gemm_of(shunt_type type, bool ragged, enum shunt_math math,
                                              const struct shunt_machine *m)
{
  switch (type) {
  case SHUNT_F32: return &of(m)->gemm[math == SHUNT_MATH_TF32 ? SHUNT_GEMM_TF32 : SHUNT_GEMM_F32];
  case SHUNT_F64: return &of(m)->gemm[SHUNT_GEMM_F64];
  case SHUNT_C32: return &of(m)->gemm[SHUNT_GEMM_C32];
  case SHUNT_C64: return &of(m)->gemm[SHUNT_GEMM_C64];
  default: return &of(m)->gemm[ragged ? SHUNT_GEMM_RAGGED : SHUNT_GEMM_HALF];
  }
}

/* A product of complex numbers is four of real ones. */
static double gemm_us(double m, double n, double k, shunt_type type,
                      const struct shunt_gemm_costs *c, const struct shunt_machine *on)
{
  double size = (double)shunt_type_size(type);
  double flop = (shunt_type_is_complex(type) ? 8 : 2) * m * shunt_larger(n, c->columns) * k;
  double bytes = (m * k + k * n + m * n) * size;
  double beyond = shunt_larger(bytes - 0.75 * (double)on->device.l2_bytes, 0);
  double traffic = bytes / of(on)->traffic + beyond / of(on)->far;
  return c->start + c->step * k + shunt_larger(flop / c->rate, traffic);
}

/* Rows of so many elements of 2 bytes are not whole loads of 16: cuBLAS has but old kernels for
   them, whatever the leading dimension is. */
static bool are_ragged(int64_t columns)
{
  return columns % 8 != 0;
}

double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_machine *on)
{
  return gemm_us(m, n, k, type,
                 gemm_of(type, are_ragged((int64_t)n) || are_ragged((int64_t)k), math, on), on);
}

static int64_t contiguous(const struct shunt_dense *m)
{
  return m->col_stride == 1 ? m->cols : m->rows;
}

static bool is_ragged(const struct shunt_spmm *p)
{
  return are_ragged(p->a.cols) || are_ragged(contiguous(&p->b)) || are_ragged(contiguous(&p->c));
}

/* A transposed or not: the product is as large as C, and as deep as B. */
double shunt_cost_dense_cublas(const struct shunt_spmm *p, enum shunt_math math,
                               const struct shunt_machine *m)
{
  return gemm_us((double)p->c.rows, (double)p->c.cols, (double)p->b.rows, p->b.type,
                 gemm_of(p->b.type, is_ragged(p), math, m), m);
}

static double reading(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  return shunt_cost_copy(shunt_cost_csr_bytes(&p->a), m);
}

double shunt_cost_dense_proof(const struct shunt_spmm *p, bool transposed,
                              const struct shunt_machine *m)
{
  const double proof = shunt_type_size(p->b.type) == 2 ? of(m)->proof : of(m)->proof_wide;
  return proof + reading(p, m) + (transposed ? shunt_cost_launches(2, m) : 0);
}

double shunt_cost_dense_making(const struct shunt_spmm *p, bool transposed,
                               const struct shunt_machine *m)
{
  const double cells = (double)p->a.rows * (double)p->a.cols;
  const double make = reading(p, m) + cells * (double)shunt_type_size(p->b.type) / of(m)->stored;
  return make + shunt_cost_launches(transposed ? 3 : 1, m);
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

/* What the proof adds to the products: agreement, and what hashing takes from them.  Nothing where
   D is trusted, as A is without entries then.  */
static double proof_us(const struct shunt_csr *a, const struct shunt_machine *m)
{
  return a->nnz ? of(m)->agreed + shunt_cost_csr_bytes(a) / of(m)->hashed : 0;
}

/* Rounds of tiles, each as long as its products, or as its lanes hash. */
static double wide_us(const struct shunt_spmm *p, int columns, const struct shunt_machine *m)
{
  const double tiles = ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / columns);
  const double rounds = ceil(tiles / shunt_cost_multiprocessors(m));
  const double wide = columns > 64 ? columns / 128.0 : 0.75; /* as its bytes are, of D and B */
  const double steps = shunt_larger(rounds * ceil((double)p->a.cols / 64),
                                    read_by_lanes(&p->a) / (of(m)->wide_lanes * wide));
  return of(m)->wide_start + steps * of(m)->wide_step * wide;
}

/* A block's part of K, and the operands of all tiles out of L2. */
static double narrow_us(const struct shunt_spmm *p, int split, const struct shunt_machine *m)
{
  const double tiles = ceil((double)p->c.rows / 64) * ceil((double)p->c.cols / 64);
  const double deep = (double)p->a.cols, size = (double)shunt_type_size(p->a.value_type);
  return of(m)->narrow_least + of(m)->narrow_shared * log2(split) +
         of(m)->narrow_step * deep / split + tiles * 128 * deep * size / of(m)->narrow_near;
}

/* And not before D and A's arrays have come. */
double shunt_cost_dense_proved(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                               const struct shunt_machine *m)
{
  const struct shunt_csr *a = &p->a;
  const double copy = (double)a->rows * (double)a->cols * (double)shunt_type_size(a->value_type);
  const double products =
      how->rows > 64 ? wide_us(p, how->columns, m) : narrow_us(p, how->split, m);
  return shunt_larger(products + proof_us(a, m),
                      of(m)->narrow_start + (copy + shunt_cost_csr_bytes(a)) / of(m)->narrow_bytes);
}

/* As many tiles as fit at one time; beyond that those of twice the rows, which read B half as
   often. */
static struct shunt_dense_shape narrow_shape(const struct shunt_spmm *p,
                                             const struct shunt_machine *m)
{
  const int64_t tiles = (p->c.rows + 63) / 64, blocks = m->device.multiprocessors;
  if (tiles <= blocks) return (struct shunt_dense_shape){64, 64, tiles * 2 <= blocks ? 2 : 1};
  return (struct shunt_dense_shape){128, 64, 1};
}

static bool on_16_bytes(const struct shunt_dense *m)
{
  return m->col_stride == 1 && (uintptr_t)m->values % 16 == 0 &&
         m->row_stride * (int64_t)shunt_type_size(m->type) % 16 == 0;
}

/* One round of tiles of 128 rows that leaves few multiprocessors without one, and D in L2; and no
   more for lanes to hash than they can while the tensor cores are at work.  */
static struct shunt_dense_shape wide_shape(const struct shunt_spmm *p,
                                           const struct shunt_machine *m)
{
  const double rows = (double)p->c.rows, cols = (double)p->c.cols, deep = (double)p->a.cols;
  const bool cached = rows * deep * 2 <= (double)m->device.l2_bytes;
  if (deep < of(m)->wide_deepest || !cached || !on_16_bytes(&p->c))
    return (struct shunt_dense_shape){0};
  for (int columns = 128; columns <= 256; columns *= 2) {
    const int64_t tiles = (p->c.rows + 127) / 128 * ((p->c.cols + columns - 1) / columns);
    if (tiles <= m->device.multiprocessors &&
        rows / 128 * cols / columns >= of(m)->wide_full * m->device.multiprocessors &&
        read_by_lanes(&p->a) <= of(m)->wide_lanes * deep / 64 * columns / 128)
      return (struct shunt_dense_shape){128, columns, 1};
  }
  return (struct shunt_dense_shape){0};
}

/* There is a kernel that proves A beside the product, and K is deep enough for it to gain. */
static bool is_proved(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  return shunt_dense_spmm_proved_takes(p, &m->device) && p->a.cols > 128;
}

/* B's rows, or columns, are brought by the copy engine. */
static bool can_be_brought(const struct shunt_dense *b)
{
  const int64_t stride = b->col_stride == 1 ? b->row_stride : b->col_stride;
  return (b->col_stride == 1 || b->row_stride == 1) && (uintptr_t)b->values % 16 == 0 &&
         stride * (int64_t)shunt_type_size(b->type) % 16 == 0;
}

/* Tiles of 64 rows all run at one time, each block with a part of K. */
static bool tiles_fit(const struct shunt_dense_shape *s, const struct shunt_spmm *p,
                      const struct shunt_machine *m)
{
  const double tiles = ceil((double)p->c.rows / 64) * ceil((double)p->c.cols / 64);
  return s->rows != 64 || (s->split <= (p->a.cols + 127) / 128 &&
                           tiles <= (double)shunt_dense_tiles_at_once(s->split, &m->device));
}

static bool is_small(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  const double cells = (double)p->a.rows * (double)p->a.cols;
  return p->c.cols <= 256 && cells * (double)shunt_type_size(p->a.value_type) <= of(m)->small_bytes;
}

/* Tiles of 128 by 64 would read a large D again for more columns. */
static bool shape_fits(const struct shunt_dense_shape *s, const struct shunt_spmm *p,
                       const struct shunt_machine *m)
{
  return tiles_fit(s, p, m) &&
         (s->rows == 64 || s->columns > 64 || p->c.cols <= 64 || is_small(p, m));
}

/* The first of the shapes that fit, which takes the fewest microseconds, and fewer than `least`. */
static struct shunt_dense_shape best_of(const struct shunt_dense_shape *shapes, size_t count,
                                        const struct shunt_spmm *p, double least,
                                        const struct shunt_machine *m)
{
  struct shunt_dense_shape best = {0};
  for (size_t i = 0; i < count; i++) {
    if (!shape_fits(&shapes[i], p, m)) continue;
    const double us = shunt_cost_dense_proved(p, &shapes[i], m);
    if (us < least) best = shapes[i], least = us;
  }
  return best;
}

static struct shunt_dense_shape best_of_all(const struct shunt_spmm *p, double least,
                                            const struct shunt_machine *m)
{
  static const struct shunt_dense_shape shapes[] = {{128, 64, 1}, {128, 256, 1}, {128, 128, 1},
                                                    {64, 64, 2},  {64, 64, 1},   {64, 64, 4}};
  return best_of(shapes, sizeof shapes / sizeof *shapes, p, least, m);
}

/* Small ones of more than 64 columns by wider tiles were not timed. */
static struct shunt_dense_shape best_of_small(const struct shunt_spmm *p, double least,
                                              const struct shunt_machine *m)
{
  static const struct shunt_dense_shape shapes[] = {
      {128, 64, 1}, {64, 64, 1}, {64, 64, 2}, {64, 64, 4}};
  return best_of(shapes, sizeof shapes / sizeof *shapes, p, least, m);
}

/* Small products, and those that cuBLAS has but old kernels for, go to the best shape that is
   faster than cuBLAS with the proof behind it.  Of others between 64 columns and what fills the
   multiprocessors, cuBLAS uses L2 better.  */
struct shunt_dense_shape shunt_choose_dense_shape(const struct shunt_spmm *p,
                                                  const struct shunt_machine *m)
{
  const bool brought = can_be_brought(&p->b), ragged = brought && is_ragged(p);
  if (!is_proved(p, m) || p->c.cols <= 16) return (struct shunt_dense_shape){0};
  if (!ragged && !is_small(p, m)) return p->c.cols <= 64 ? narrow_shape(p, m) : wide_shape(p, m);
  if (!brought) return (struct shunt_dense_shape){0};
  const double least = of(m)->small_margin * (shunt_cost_dense_cublas(p, SHUNT_MATH_EXACT, m) +
                                              shunt_cost_dense_proof(p, false, m));
  return ragged ? best_of_all(p, least, m) : best_of_small(p, least, m);
}

/* Whatever cuBLAS would take. */
struct shunt_dense_shape shunt_choose_dense_shape_alone(const struct shunt_spmm *p,
                                                        const struct shunt_machine *m)
{
  if (!is_proved(p, m) || !can_be_brought(&p->b)) return (struct shunt_dense_shape){0};
  return best_of_all(p, INFINITY, m);
}

/* ---- SDDMM ------------------------------------------------------------------------------ */

/* Of the tiles that end last.  Blocks and windows leave most tiles empty and some full. */
static double sampled_density(const struct shunt_sddmm *p, const struct shunt_profile *f,
                              const struct shunt_machine *m)
{
  const double nnz = (double)p->c.nnz, mean = nnz / ((double)p->c.rows * (double)p->c.cols + 1);
  if (!f || f->segments <= 0) return mean;
  const double of_runs = nnz / ((double)f->segments * SHUNT_PROFILE_STRIP);
  return mean + of(m)->sample_crowded * shunt_larger(of_runs - mean, 0);
}

/* A multiprocessor multiplies its tiles of C one after the other, 64 of K at a time, and samples
   each while it multiplies the next one: what takes longer is waited for, and slowed down by the
   other.  */
double shunt_cost_dense_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                              const struct shunt_machine *m)
{
  const double at_once = shunt_cost_multiprocessors(m);
  const double tiles =
      ceil(ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / 256) / at_once);
  const double density = sampled_density(p, f, m);
  const double product = shunt_larger(
      of(m)->sample_step * ceil((double)p->a.cols / 64) - of(m)->sample_early, of(m)->sample_least);
  const double sampling =
      of(m)->sample + density * (of(m)->sample_entry + of(m)->sample_dense * density);
  return of(m)->sample_start + tiles * (shunt_larger(product, sampling) +
                                        of(m)->sample_other * shunt_lesser(product, sampling));
}

static double sampled_by_fit(const struct shunt_sddmm *p, const struct shunt_sampled_costs *c)
{
  const double cells = (double)p->c.rows * (double)p->c.cols;
  return c->start +
         1e-6 * (cells * (c->cell + c->step * (double)p->a.cols) + c->entry * (double)p->c.nnz);
}

static double sampled_by_rates(const struct shunt_sddmm *p, enum shunt_math math,
                               const struct shunt_machine *m)
{
  const double rows = (double)p->c.rows, cols = (double)p->c.cols;
  return shunt_cost_gemm(rows, cols, (double)p->a.cols, p->b.type, math, m) +
         shunt_cost_copy(rows * cols * 4, m) + shunt_cost_copy(shunt_cost_csr_bytes(&p->c), m);
}

double shunt_cost_dense_sampled(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_machine *m)
{
  const bool f64 = p->b.type == SHUNT_F64;
  const double us = f64 || (p->b.type == SHUNT_F32 && math == SHUNT_MATH_EXACT)
                        ? sampled_by_fit(p, &of(m)->sampled[f64])
                        : sampled_by_rates(p, math, m);
  return shunt_larger(us, of(m)->sampled_host);
}

bool shunt_choose_dense_on_chip(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_machine *m)
{
  return shunt_cost_dense_sddmm(p, NULL, m) <
         of(m)->sample_margin * shunt_cost_dense_sampled(p, math, m);
}
