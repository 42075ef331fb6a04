/* host_tile_spmm.c: C = alpha A B + beta C for A in the `tile` format, on the host: the slow
   twin of kernels/tile/tile_spmm*.cu and tile_mixed_spmm*.cu.

   A block row of C times 8 columns is computed as a warp would, by two instructions written
   out after the PTX ISA, lane by lane and register by register.  They share nothing with the
   code that packs, so they test it:

     mma.sp.m16n8k32    D[16 x 8] += A[16 x 32, 2:4] B[32 x 8]     metadata, selector 0
     mma.m16n8k16       D[16 x 8] += A[16 x 16] B[16 x 8]

   Filled-up zeros are multiplied like any value here too.  So a sum that is NaN is computed
   again from A's own entries, those of the 2:4 list first.  Sums are kept in float and rounded
   once; C is not read when beta is 0.  */
#include <math.h>
#include <string.h>

#include "kernels/common/host_half.h"
#include "kernels/tile/tile_kernels.h"

enum { M = 16, N = 8, LANES = 32, REGISTERS = 4 };

static float load(const void *from, int64_t i, shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return shunt_half_to_float(((const uint16_t *)from)[i]);
  case SHUNT_BF16: return shunt_bfloat_to_float(((const uint16_t *)from)[i]);
  default: return ((const float *)from)[i];
  }
}

static void store(void *to, int64_t i, shunt_type t, float x)
{
  switch (t) {
  case SHUNT_F16: ((uint16_t *)to)[i] = shunt_float_to_half(x); return;
  case SHUNT_BF16: ((uint16_t *)to)[i] = shunt_float_to_bfloat(x); return;
  default: ((float *)to)[i] = x;
  }
}

static float scalar(const struct shunt_scalar *s)
{
  return s->device ? *(const float *)s->device : (float)s->host;
}

/* ---- the instructions ------------------------------------------------------------------ */

/* What a warp holds of A: a 32-bit register has two elements, the first in the low half. */
struct fragment {
  uint32_t a[LANES][REGISTERS];
  uint32_t e[LANES]; /* metadata */
};

static float element(const struct fragment *f, int lane, int reg, int half, shunt_type t)
{
  uint16_t x[2] = {(uint16_t)(f->a[lane][reg] >> (16 * half)), 0};

  return load(x, 0, t);
}

/* The quad with number q of row r: two elements in register r / 8 + q / 4 * 2 of lane
   4 (r % 8) + q % 4.  Their positions: four bits of lane 4 (r % 8) + q / 4's metadata, the
   upper half of it for rows 8 to 15.  */
static void mma_sp_m16n8k32(float d[M][N], const struct fragment *f, float b[32][N], shunt_type t)
{
  for (int r = 0; r < M; r++)
    for (int q = 0; q < 8; q++) {
      uint32_t word = f->e[r % 8 * 4 + q / 4];
      uint32_t pair = word >> (r / 8 * 16) >> (q % 4 * 4) & 15;
      for (int half = 0; half < 2; half++) {
        float x = element(f, r % 8 * 4 + q % 4, r / 8 + q / 4 * 2, half, t);
        int k = 4 * q + (int)(pair >> (2 * half) & 3);
        for (int j = 0; j < N; j++) d[r][j] += x * b[k][j];
      }
    }
}

static void mma_m16n8k16(float d[M][N], const struct fragment *f, float b[32][N], shunt_type t)
{
  for (int r = 0; r < M; r++)
    for (int k = 0; k < 16; k++) {
      float x = element(f, r % 8 * 4 + k % 8 / 2, r / 8 + k / 8 * 2, k % 2, t);
      for (int j = 0; j < N; j++) d[r][j] += x * b[k][j];
    }
}

/* ---- operands ---------------------------------------------------------------------------- */

static void load_values(const struct shunt_tile_list *list, int64_t tile, struct fragment *f)
{
  for (int l = 0; l < LANES; l++)
    for (int j = 0; j < REGISTERS; j++) {
      const uint16_t *pair = list->values + (tile * LANES + l) * 8 + 2 * j;
      f->a[l][j] = pair[0] | (uint32_t)pair[1] << 16;
    }
}

static void load_metadata(const struct shunt_tile *v, int64_t tile, struct fragment *f)
{
  for (int l = 0; l < LANES; l++) f->e[l] = v->metadata[tile * 16 + l / 4 * 2 + l % 2];
}

/* The row of B that position i of a packed tile of so many columns meets. */
static int64_t row_of_b(const struct shunt_tile *v, int64_t tile, int columns, int i)
{
  const struct shunt_tile_list *list = columns == 32 ? &v->sparse : &v->dense;

  if (list->gather) return list->gather[tile * columns + i];
  return (int64_t)list->column[tile] * columns +
         (columns == 32 && v->order ? v->order[tile * 32 + i] : i);
}

/* b[i] = the row of B for position i, columns j0 .. j0 + 7; zeros beyond its edges. */
static void load_b(const struct shunt_spmm *p, const struct shunt_tile *v, int64_t tile, int rows,
                   int64_t j0, float b[32][N])
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < N; j++) {
      int64_t k = row_of_b(v, tile, rows, i);
      int inside = k < p->b.rows && j0 + j < p->b.cols;
      b[i][j] = inside
                    ? load(p->b.values, k * p->b.row_stride + (j0 + j) * p->b.col_stride, p->b.type)
                    : 0;
    }
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void sum_block(const struct shunt_spmm *p, const struct shunt_tile *v, int64_t block,
                      int64_t j0, float d[M][N])
{
  struct fragment f = {{{0}}, {0}};
  float b[32][N];

  memset(d, 0, sizeof(float) * M * N);
  for (int64_t i = v->sparse.begin[block]; i < v->sparse.begin[block + 1]; i++) {
    load_values(&v->sparse, i, &f);
    load_metadata(v, i, &f);
    load_b(p, v, i, 32, j0, b);
    mma_sp_m16n8k32(d, &f, b, v->value_type);
  }
  for (int64_t i = v->dense.begin[block]; i < v->dense.begin[block + 1]; i++) {
    load_values(&v->dense, i, &f);
    load_b(p, v, i, 16, j0, b);
    mma_m16n8k16(d, &f, b, v->value_type);
  }
}

/* What the entries of row r in one tile add; sparse: 2:4, else half a dense one. */
static float exact_tile(const struct shunt_spmm *p, const struct shunt_tile *v, int sparse,
                        int64_t tile, int r, int64_t j)
{
  const struct shunt_tile_list *list = sparse ? &v->sparse : &v->dense;
  float sum = 0;

  for (int l = r % 8 * 4; l < r % 8 * 4 + 4; l++)
    for (int i = 0; i < 8; i++) {
      int c = l % 4 * 2 + i % 2 + i / 4 * 8;
      int64_t k;
      if (i / 2 % 2 != r / 8 || !(list->present[tile * LANES + l] >> i & 1)) continue;
      if (sparse) {
        uint32_t word = v->metadata[tile * 16 + r % 8 * 2 + i / 4];
        uint32_t at = word >> (r / 8 * 16 + l % 4 * 4 + i % 2 * 2) & 3;
        c = i / 4 * 16 + l % 4 * 4 + (int)at;
      }
      k = row_of_b(v, tile, sparse ? 32 : 16, c);
      sum += load(list->values, (tile * LANES + l) * 8 + i, v->value_type) *
             load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type);
    }
  return sum;
}

static float exact_sum(const struct shunt_spmm *p, const struct shunt_tile *v, int64_t row,
                       int64_t j)
{
  int64_t block = row / M;
  float sum = 0;

  for (int64_t i = v->sparse.begin[block]; i < v->sparse.begin[block + 1]; i++)
    sum += exact_tile(p, v, 1, i, (int)(row % M), j);
  for (int64_t i = v->dense.begin[block]; i < v->dense.begin[block + 1]; i++)
    sum += exact_tile(p, v, 0, i, (int)(row % M), j);
  return sum;
}

static void store_block(const struct shunt_spmm *p, const struct shunt_tile *v, int64_t block,
                        int64_t j0, float d[M][N])
{
  float alpha = scalar(&p->alpha), beta = scalar(&p->beta);

  for (int64_t i = block * M; i < block * M + M && i < p->c.rows; i++)
    for (int64_t j = j0; j < j0 + N && j < p->c.cols; j++) {
      int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      float sum = d[i % M][j - j0], x;
      if (isnan(sum)) sum = exact_sum(p, v, i, j);
      x = alpha == 0 ? 0 : alpha * sum;
      if (beta != 0) x += beta * load(p->c.values, at, p->c.type);
      store(p->c.values, at, p->c.type, x);
    }
}

shunt_status shunt_tile_spmm_host(const struct shunt_spmm *p, const struct shunt_tile *v)
{
  float d[M][N];

  if (p->compute != SHUNT_F32 || p->only_if || p->b.type != v->value_type ||
      (p->c.type != v->value_type && p->c.type != SHUNT_F32))
    return SHUNT_E_UNSUPPORTED;
  if (p->b.rows != v->cols || p->c.rows != v->rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  for (int64_t block = 0; block < v->blocks; block++)
    for (int64_t j0 = 0; j0 < p->c.cols; j0 += N) {
      sum_block(p, v, block, j0, d);
      store_block(p, v, block, j0, d);
    }
  return SHUNT_OK;
}
