#include "backend/plan/cost.h"

#include <math.h>
#include <stdbool.h>

static double scale(const struct shunt_device *d)
{
  return d->multiprocessors > 0 ? 132.0 / d->multiprocessors : 1;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

static double least(double a, double b)
{
  return a < b ? a : b;
}

double shunt_cost_copy(double bytes, const struct shunt_device *d)
{
  return SHUNT_COST_LAUNCH_US + bytes / 3.6e6 * scale(d);
}

double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_device *d)
{
  double rate = table_bytes > (double)d->l2_bytes ? 3.6e6 : 8.0e6;
  if (row_bytes < 128) rate *= 0.3 + 0.7 * row_bytes / 128;
  return SHUNT_COST_LAUNCH_US + bytes / rate * scale(d);
}

/* FLOP per microsecond that large dense products reach. */
static double gemm_rate(shunt_type type, enum shunt_math math)
{
  switch (type) {
  case SHUNT_F64: return 50e6;
  case SHUNT_F32: return math == SHUNT_MATH_TF32 ? 360e6 : 51e6;
  default: return 940e6;
  }
}

double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_device *d)
{
  double size = (double)shunt_type_size(type);
  double arithmetic = 2 * m * n * k / gemm_rate(type, math);
  double traffic = (m * k + k * n + m * n) * size / 7.2e6; /* much of it from L2 */
  /* Of K, one after the other: what counts for small products; of f32 they are longer, without
     tensor cores still more. */
  double steps = (type != SHUNT_F32 ? 1e-3 : math == SHUNT_MATH_TF32 ? 2e-3 : 4e-3) * k;
  return 2.6 + steps + larger(arithmetic, traffic) * scale(d);
}

/* Narrow products wait for memory, small ones for each other.  Wide ones take a tile a multiprocessor, of 128 columns or of
   256; there A's arrays pass shared memory, which is what the product waits for.  */
double shunt_cost_dense_proved(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const struct shunt_csr *a = &p->a;
  const double arrays = shunt_cost_csr_bytes(a);
  const double copy = (double)a->rows * (double)a->cols * (double)shunt_type_size(a->value_type);
  if (p->c.cols <= 64)
    return larger(1.4 + (copy + arrays) / 3.88e6 * scale(d), 6.1 + 1.1e-3 * (double)a->cols);
  const double half = ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / 128);
  const double step = half * scale(d) <= 132 ? 0.31 : 0.62; /* 64 of K */
  return 4.5 + ceil((double)a->cols / 64) * step + arrays / 6e6 * scale(d);
}

double shunt_cost_csr_bytes(const struct shunt_csr *a)
{
  double index = (double)shunt_type_size(a->index_type);
  return (double)a->nnz * (index + (double)shunt_type_size(a->value_type)) +
         (double)(a->rows + 1) * index;
}

/* A tile of 128 rows is a multiprocessor's work: so long for 128 bytes of K, and hashing a megabyte
   of A beside that adds so much, or takes so long if that is longer
   (kernels/sparse24/sparse24_spmm_wgmma.cu).  Arrays off 16 bytes are read piece by piece.  */
static const struct {
  double columns, step, beside, least;
} sparse24[][4] = {{[SHUNT_SPARSE24_NONE] = {128, 0.276, 0.125, 0},
                    [SHUNT_SPARSE24_128] = {128, 0.276, 0.125, 0},
                    [SHUNT_SPARSE24_256] = {256, 0.521, 0.128, 0.576},
                    [SHUNT_SPARSE24_2X128] = {256, 0.565, 0.043, 0.477}},
                   /* values read in place */
                   {[SHUNT_SPARSE24_NONE] = {128, 0.276, 0.125, 0},
                    [SHUNT_SPARSE24_128] = {128, 0.276, 0.125, 0},
                    [SHUNT_SPARSE24_256] = {256, 0.521, 0.06, 0.42},
                    [SHUNT_SPARSE24_2X128] = {256, 0.565, 0.09, 0.477}}};

double shunt_cost_sparse24(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                           const struct shunt_device *d)
{
  const double depth = 128 / (double)shunt_type_size(p->b.type);
  const bool in_place = shunt_sparse24_in_place(&p->a);
  const double columns = sparse24[in_place][shape].columns, step = sparse24[in_place][shape].step;
  const double across = ceil((double)p->c.cols / columns);
  const double tiles = ceil((double)p->c.rows / 128) * across;
  const double at_once = d->multiprocessors > 0 ? d->multiprocessors : 132;
  const double steps = ceil(tiles / at_once) * ceil((double)p->b.rows / depth);
  const double values = (double)p->a.nnz * (double)shunt_type_size(p->a.value_type);
  const double arrays = shunt_cost_csr_bytes(&p->a) - (in_place ? values : 0);
  const double read = arrays / 1e6 * scale(d);
  const double us = 1 + larger(steps * step + read * sparse24[in_place][shape].beside,
                               read * sparse24[in_place][shape].least);
  const uintptr_t places = (uintptr_t)p->a.columns | (uintptr_t)p->a.values;
  return places % 16 ? us + 0.8 * shunt_cost_copy(arrays, d) : us;
}

/* ---- SpMM: least squares over measurements ------------------------------------------------ */

/* Microseconds on an H200, fitted by the least relative error to tests/bench/results: `scattered`
   ones to 26 matrices of SuiteSparse and SNAP in f32 and f64 at 8, 32 and 128 columns, the others
   to layers, pruned and of random vectors; `half`: in 2-byte types, scattered ones to 7 matrices.  By geometric standard deviation
   a case is 1.14 (the original), 1.31 (the same, preprocessed), 1.2 (rows), 1.15 (groups) and 1.11
   (vector) off.  */
struct fit {
  double start;
  double entry;   /* per million entries */
  double gather;  /* per GB of B that is gathered; L1 serves much of it where rows share columns */
  double written; /* per GB of C */
  double row;     /* per million rows */
  double list;    /* per million gathered rows of B */
  double longest; /* per thousand of `late`, up to 512: latency */
  double beyond;  /* and from there up to 4096, which rows are cut at */
  double far;     /* per GB of B that is gathered from beyond L2 */
};
static const struct fit original_narrow_fit = {6.7, 41.6, 8.9, 453, 257, 0, 0.9, 1.0, 37};
static const struct fit original_wide_fit = {6.1, 25.2, 62.3, 578, 214, 0, 0, 1.6, 12};
static const struct fit original_alg1_fit = {7.5, 0, 846, 689, 49, 0, 1.3, 2.3, 0};
static const struct fit original_alg3_narrow_fit = {0.7, 11.3, 11.2, 173, 172, 0, 26, 0, 148};
static const struct fit original_alg3_wide_fit = {2.8, 0, 93.5, 1750, 0, 0, 10, 6.6, 75};
static const struct fit rows_scattered_fit = {1.9, 4.2, 42.8, 782, 0, 0, 13.1, 2.25, 0};
static const struct fit rows_scattered_half_fit = {2.6, 4.2, 68, 782, 0, 0, 13.1, 2.25, 0};
static const struct fit rows_fit = {3.6, 1, 52, 460, 0, 0, 0, 0, 0};
static const struct fit rows_half_fit = {2.6, 3.1, 77, 1146, 0, 0, 14.6, 18.2, 0};
static const struct fit vector_fit = {7.2, 0, 145, 0, 0, 6.8, 0, 0, 0};
/* By 128 columns a warp: random 8 x 1 and 4 x 1 vectors, 4096 and 8192 square, N = 256 and 1024,
   0.7 to 0.98 sparse; 0.89 to 1.17 times what they take. */
static const struct fit vector_wide_fit = {7.2, 0, 110, 460, 0, 6.8, 0, 0, 0};
/* The f32 kernel on finite elements in blocks of 4, where it walks each list at its own pace. */
static const struct fit vector_scattered_fit = {7.2, 0, 145, 0, 0, 76, 0, 0, 0};
static const struct fit vector_double_fit = {8, 0, 118, 600, 0, 11, 0, 0, 0};
static const struct fit vector_half_fit = {5.1, 0, 90, 834, 0, 12.2, 0, 0, 0};
/* Of these, and six meshes of 10^5 to 10^6 rows: the ones that choose best between groups and
   rows.  */
static const struct fit groups_fit = {3.05, 0, 72, 843, 14, 26.9, 13.5, 0, 0};
static const struct fit groups_double_fit = {4.13, 0.52, 86, 475, 90, 20.2, 11.8, 0, 0};

/* `gathered`: rows of B; `late`: of those that one team gathers, how many others do not have. */
static double fitted(const struct fit *c, const struct shunt_spmm *p, double gathered, double late,
                     const struct shunt_device *d)
{
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double nnz = (double)p->a.nnz, rows = (double)p->a.rows;
  const double some = least(late, 512), more = least(late, 4096) - some;
  const double near = (double)d->l2_bytes * 0.75 / ((double)p->b.rows * row + 1);
  const double far = larger(1 - near, 0) * gathered * row;
  return c->start + 1e-3 * (c->longest * some + c->beyond * more) +
         scale(d) * (1e-6 * (c->entry * nnz + c->row * rows + c->list * gathered) +
                     1e-9 * (c->gather * gathered * row + c->far * far + c->written * written));
}

/* How much longer the longest row is than the mean; f NULL: as much again. */
static double excess(const struct shunt_csr *a, const struct shunt_profile *f)
{
  const double mean = (double)a->nnz / (double)(a->rows + 1);
  return f ? larger((double)f->longest_row - mean, 0) : mean;
}

/* Pruned layers are not: their rows share nothing that L1 could keep. */
static bool scattered(const struct shunt_csr *a)
{
  return (double)a->nnz < (double)a->rows * (double)a->cols / 64;
}

/* A column-major B is copied into rows first. */
static double copy_of_b(const struct shunt_spmm *p, const struct shunt_device *d)
{
  double bytes = 2 * (double)p->b.rows * (double)p->b.cols * (double)shunt_type_size(p->b.type);
  return p->b.col_stride != 1 ? shunt_cost_copy(bytes, d) : 0;
}

static bool is_half(const struct shunt_spmm *p)
{
  return shunt_type_size(p->b.type) <= 2;
}

double shunt_cost_csr(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_device *d)
{
  const bool half = is_half(p);
  const struct fit *c = scattered(&p->a) ? half ? &rows_scattered_half_fit : &rows_scattered_fit
                        : half           ? &rows_half_fit
                                         : &rows_fit;
  return fitted(c, p, (double)p->a.nnz, excess(&p->a, f), d) + copy_of_b(p, d);
}

double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_device *d)
{
  const struct fit *c = p->b.type == SHUNT_F64 ? &groups_double_fit : &groups_fit;
  return fitted(c, p, vectors, longest, d) + copy_of_b(p, d);
}

/* A warp walks the lists of 8 rows one after the other, each row of a list for a while of its own;
   where groups and tiles of 64 columns are fewer than 16 warps a multiprocessor, the lists are cut
   into up to 8 slices.  Rows of the longest such list of a warp, and of the mean.  */
struct walk {
  double mean, longest;
};

static struct walk walk_of(const struct shunt_spmm *p, double reuse, double longest_row,
                           const struct shunt_device *d)
{
  const double groups = ceil((double)p->c.rows / 8), warps = 16 * 132 / scale(d);
  const double tasks = groups * ceil((double)p->c.cols / 64);
  struct walk w = {groups > 0 ? (double)p->a.nnz / reuse / groups : 0, longest_row * 8 / reuse};
  for (int slices = 2; slices <= 8 && tasks * slices <= warps; slices *= 2)
    w.mean /= 2, w.longest /= 2;
  return w;
}

double shunt_cost_vector(const struct shunt_spmm *p, double reuse, double longest_row,
                         const struct shunt_device *d)
{
  const struct fit *c = is_half(p)               ? &vector_half_fit
                        : scattered(&p->a)       ? &vector_scattered_fit
                        : p->b.type == SHUNT_F64 ? &vector_double_fit
                        : p->b.cols > 64         ? &vector_wide_fit
                                                 : &vector_fit;
  const bool wide = p->a.index_type == SHUNT_I64; /* fitted with 4 bytes a column */
  const double columns = wide ? 4 * (double)p->a.nnz / 4.28e6 * scale(d) : 0;
  const double us = fitted(c, p, (double)p->a.nnz / reuse, 0, d) + columns + copy_of_b(p, d);
  const struct walk w = walk_of(p, reuse, longest_row, d);
  /* Lists of fours take longer than those of eights and twos. */
  const double mean = 6 + w.mean * (reuse > 3 && reuse < 6 ? 0.042 : 0.031);
  return is_half(p) ? larger(us, larger(mean, 5 + 0.020 * w.longest)) : us;
}

/* Fitted to 211 products of layers: 1.06 off.  Warps part the lists of a group, which are as many as
   rows of it share none; the longest row's chunks and steps of 16 entries follow each other.  */
double shunt_cost_vector_single_launch(const struct shunt_spmm *p,
                                       const struct shunt_vector_single_launch *how, double reuse,
                                       double longest_row, const struct shunt_device *d)
{
  const double nnz = (double)p->a.nnz, groups = ceil((double)p->c.rows / 8);
  const double lists = larger(8 / reuse, 1), slots = (double)how->warps / how->tiles;
  const double rounds = larger(lists / slots, 1), slices = larger(slots / lists, 1);
  const double longest = larger(longest_row, nnz / (double)p->a.rows);
  const double steps = ceil(ceil(longest / 16) / slices) * rounds;
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double index = (double)shunt_type_size(p->a.index_type) / 4;
  const double one_after_other =
      0.22 * steps + 0.84 * larger(ceil(longest / how->chunk) - 1, 0) + 0.84 * (ceil(rounds) - 1);
  return 2.3 + one_after_other + copy_of_b(p, d) +
         scale(d) *
             (44e-9 * nnz / reuse * row + 291e-9 * written + 1.1e-6 * index * nnz * how->blocks +
              0.48e-3 * groups * how->blocks * how->warps);
}

/* Of a kept copy, let in while the product ends. */
static double proof_let_in(const struct shunt_csr *a, const struct shunt_device *d)
{
  return larger(0.7 + shunt_cost_csr_bytes(a) / 3.6e6 * scale(d), 2.4);
}

/* Of a packed copy with its proof inside the lists are read while what stands before it ends; 288
   products of layers: 1.07 off.  */
static const double read_before = 0.5;

/* By warps beside those that multiply, who gather from the same L2; fitted to 110 products. */
static double proof_inside(const struct shunt_csr *a, const struct shunt_device *d)
{
  return larger(shunt_cost_csr_bytes(a) / 5.5e6 * scale(d) - 0.3, 0.1);
}

double shunt_cost_packed(const struct shunt_spmm *p, double product, double reuse,
                         double longest_row, bool inside, const struct shunt_device *d)
{
  const struct walk w = walk_of(p, reuse, longest_row, d);
  return larger(product, 3.1 + 0.0018 * reuse * w.longest) +
         (inside ? proof_inside(&p->a, d) - read_before : proof_let_in(&p->a, d));
}

double shunt_cost_tile(const struct shunt_spmm *p, double product, bool inside,
                       const struct shunt_device *d)
{
  return product + (inside ? proof_inside(&p->a, d) : proof_let_in(&p->a, d));
}

/* A warp takes 16 rows column by column, twice, 0.15 us each; rows that share few of theirs have twice
   as many as the longest.  */
double shunt_cost_tile_making(const struct shunt_csr *a, double tiles, double longest_row,
                              const struct shunt_device *d)
{
  const double blocks = (double)((a->rows + 15) / 16), warps = 16 * 132 / scale(d);
  const double columns = blocks > 0 ? 32 * tiles / blocks : 0;
  return 20 + 0.31 * larger(2 * longest_row, columns * ceil(blocks / warps));
}

/* ---- SDDMM ------------------------------------------------------------------------------ */

static double sddmm_row_bytes(const struct shunt_sddmm *p)
{
  return (double)p->a.cols * (double)shunt_type_size(p->a.type);
}

/* An operand whose inner dimension is not contiguous is copied first: bytes read and written.  */
static double sddmm_copied_bytes(const struct shunt_sddmm *p)
{
  const double row = sddmm_row_bytes(p);
  double copied = 0;
  if (p->a.col_stride != 1) copied += 2 * row * (double)p->a.rows;
  if (p->b.row_stride != 1) copied += 2 * row * (double)p->b.cols;
  return copied;
}

/* Fitted to a B of 4096 columns in f16, inner dimensions 256 to 1024 (results/sddmm.json): 4.4, 8.0
   and 13.9 us.  */
double shunt_cost_sddmm_copies(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  const double copied = sddmm_copied_bytes(p);
  return copied > 0 ? 1.2 + 780e-9 * copied * scale(d) : 0;
}

/* Fitted to nine of the matrices above, f32 and f64, inner dimensions 32 and 128: 1.1 off.  */
double shunt_cost_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  const double row = sddmm_row_bytes(p), nnz = (double)p->c.nnz;
  const double copied = sddmm_copied_bytes(p);
  return 3 + scale(d) * (4.7e-6 * nnz + 87e-9 * nnz * row + 600e-9 * copied);
}

/* A multiprocessor multiplies its tiles of C one after the other, 64 of K at a time, and samples each
   while it multiplies the next one: what takes longer is waited for, and slowed down by the other.
   Fitted to 4096 x 4096, K = 64 to 1024, 0.8 to 0.95 sparse: 1.03 off; what denser ones take
   beyond that is guessed.  */
double shunt_cost_dense_sddmm(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  const double at_once = d->multiprocessors > 0 ? d->multiprocessors : 132;
  const double tiles =
      ceil(ceil((double)p->c.rows / 128) * ceil((double)p->c.cols / 256) / at_once);
  const double density = (double)p->c.nnz / ((double)p->c.rows * (double)p->c.cols + 1);
  const double product = larger(0.6 * ceil((double)p->a.cols / 64) - 0.4, 0.2);
  const double sampling = 2.2 + density * (7 + 10 * density);
  return 4.3 + tiles * (larger(product, sampling) + 0.57 * least(product, sampling));
}

/* Scattered patterns: by rows, entries and what the longest row has beyond the mean; fitted to the
   26 matrices in f32, 1.5 off.  Others: FLOP per microsecond, as measured on an H200.  */
static double original_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                             const struct shunt_device *d)
{
  const double inner = (double)p->a.cols, nnz = (double)p->c.nnz;
  if (!scattered(&p->c))
    return 8 + 2 * nnz * inner / (p->a.type == SHUNT_F16 ? 12.4e6 : 9.5e6) * scale(d);
  const double size = p->a.type == SHUNT_F64 ? 1.5 : 1;
  return 2.9 +
         size * inner *
             (scale(d) * (15e-6 * (double)p->c.rows + 0.59e-6 * nnz) + 0.83e-3 * excess(&p->c, f));
}

/* ---- the original ------------------------------------------------------------------------ */

/* cuSPARSE's numbers of the algorithms that differ from its default. */
enum { CSR_ALG1 = 4, CSR_ALG3 = 12 };

static const struct fit *original_fit(const struct shunt_problem *p)
{
  const struct shunt_dense *b = &p->spmm.b;
  const bool narrow = (double)b->cols * (double)shunt_type_size(b->type) <= 128;
  if (p->algorithm == CSR_ALG1) return &original_alg1_fit;
  if (p->algorithm == CSR_ALG3) return narrow ? &original_alg3_narrow_fit : &original_alg3_wide_fit;
  return narrow ? &original_narrow_fit : &original_wide_fit;
}

/* Matrices in blocks, fitted to 4096 x 4096 with 2 to 30 % of the blocks, 256 and 1024 columns:
   microseconds to start, for each 2^30 products, and for each 2^20 elements of C.  The next smaller
   size of blocks stands for others.  */
enum { BLOCK_FITS = 5 };
struct block_fit {
  int size;
  double start, rate, written;
};
/* By type: 2 bytes, f32, f64. */
static const struct block_fit original_ell_fit[3][BLOCK_FITS] = {
    {{1, 20, 480, 0},
     {4, 20, 480, 0},
     {8, 6, 42.4, 5.5},
     {16, 4.5, 21.7, 2.6},
     {32, 4.5, 8.1, 0.9}},
    {{1, 15, 250, 0}, {4, 15, 250, 0}, {8, 15, 125, 0}, {16, 10, 64, 0}, {32, 3.5, 23, 0}},
    {{1, 25, 700, 0}, {4, 25, 700, 0}, {8, 20, 355, 0}, {16, 7, 142, 0}, {32, 4, 69, 0}}};
static const struct block_fit original_bsr_fit[3][BLOCK_FITS] = {
    {{1, 25, 770, 0}, {4, 25, 770, 0}, {8, 12, 260, 0}, {16, 11, 162, 0}, {32, 14, 161, 0}},
    {{1, 15, 690, 0}, {4, 15, 690, 0}, {8, 12, 213, 0}, {16, 9, 148, 0}, {32, 6, 154, 0}},
    {{1, 10, 990, 0}, {4, 10, 990, 0}, {8, 6, 358, 0}, {16, 4, 263, 0}, {32, 4, 263, 0}}};
static const struct block_fit blocks_fit[3][BLOCK_FITS] = {
    {{2, 5, 116, 0}, {4, 4, 55, 0}, {8, 4, 27, 0}, {16, 5, 16.5, 0}, {32, 5.5, 16.7, 0}},
    {{2, 6, 300, 0}, {4, 4, 130, 0}, {8, 4, 87, 0}, {16, 4, 85, 0}, {32, 4, 85, 0}},
    {{2, 8, 680, 0}, {4, 5, 330, 0}, {8, 4, 208, 0}, {16, 5, 232, 0}, {32, 5, 235, 0}}};

/* Which of the three. */
static int fit_of_type(shunt_type t)
{
  return shunt_type_size(t) == 8 ? 2 : shunt_type_size(t) == 4 ? 1 : 0;
}

static double fitted_blocks(const struct block_fit *f, const struct shunt_spmm *p, int64_t size,
                            const struct shunt_device *d)
{
  const double n = (double)p->c.cols;
  for (int i = 1; i < BLOCK_FITS && f[1].size <= size; i++) f++;
  return f->start + scale(d) * (f->rate * (double)p->a.nnz * n / (1 << 30) +
                                f->written * (double)p->c.rows * n / (1 << 20));
}

static double original_blocks(const struct shunt_problem *p, const struct shunt_device *d)
{
  const int type = fit_of_type(p->spmm.a.value_type);
  return fitted_blocks(p->format == SHUNT_BSR ? original_bsr_fit[type] : original_ell_fit[type],
                       &p->spmm, p->blocks.size, d);
}

double shunt_cost_bsr(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                      const struct shunt_device *d)
{
  return fitted_blocks(blocks_fit[fit_of_type(p->a.value_type)], p, shape->size, d) +
         copy_of_b(p, d);
}

/* Pruned layers: a start-up and a rate in FLOP per microsecond, as measured on an H200.
   CSR_ALG1 and ALG3 are taken at their speed after preprocess, because whoever asks for them may have
   done that.  */
double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_device *d)
{
  const struct shunt_csr *sparse = shunt_problem_sparse(p);
  if (p->op == SHUNT_SDDMM) return original_sddmm(&p->sddmm, f, d);
  if (shunt_problem_in_blocks(p)) return original_blocks(p, d);
  bool preprocessed = p->algorithm == CSR_ALG1 || p->algorithm == CSR_ALG3;
  if (scattered(sparse))
    return fitted(original_fit(p), &p->spmm, (double)sparse->nnz, excess(sparse, f), d);
  double flop = 2.0 * (double)sparse->nnz * (double)p->spmm.c.cols;
  double rate = preprocessed ? 9.0e6 : 4.8e6;
  if (sparse->value_type == SHUNT_F64) rate *= 0.6;
  return 10 + flop / rate * scale(d);
}
