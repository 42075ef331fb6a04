/* spmm_whole24.c: C = alpha A B + beta C for A in the `whole24` format, on the host: the slow twin
   of kernels/spmm_whole24_wgmma.cu.

   Values and metadata are found as wgmma.mma_async.sp.m64nNk32 finds them, after the PTX ISA: A's
   64 x 16 stored values by a descriptor, the positions in the words of a warpgroup's lanes.
   This shares nothing with the code that packs, so it tests it.

   Zeros that fill up are multiplied like any value here too.  So a sum that is NaN is computed
   again from A's own entries.  Sums are kept in float and rounded once.  */
#include <math.h>

#include "kernels/host/element.h"
#include "kernels/whole24_kernels.h"

/* The matrices of 8 rows x 16 bytes: from one to the next along K, and along M. */
enum { LEADING = 1024, STRIDE = 128, PRODUCT_BYTES = 2048 };

/* Stored value `place` of row r of one product's A. */
static double value_at(const struct shunt_whole24 *v, const char *product, int r, int place)
{
  int byte = place / 8 * LEADING + r / 8 * STRIDE + r % 8 * 16 + place % 8 * 2;

  return shunt_load(product + byte, 0, v->value_type);
}

/* Its column: quad place / 2 of row 16 w + 8 h + g has four bits in half h of the word of lane
   4 g + 2 selector + quad / 4 of warp w.  */
static int column_at(const uint32_t *metadata, int r, int place, int selector)
{
  int quad = place / 2, lane = r / 16 * 32 + r % 8 * 4 + 2 * selector + quad / 4;
  uint32_t pair = metadata[lane] >> (r / 8 % 2 * 16) >> (quad % 4 * 4) & 15;

  return 4 * quad + (int)(place % 2 ? pair >> 2 : pair & 3);
}

/* Adds what a tile contributes to row i, column j; columns of A beyond B's rows hold zeros. */
static float add_tile(const struct shunt_spmm *p, const struct shunt_whole24 *v, int64_t chunk,
                      int64_t i, int64_t j, float sum)
{
  int64_t tile = i / SHUNT_WHOLE24_ROWS * v->chunks + chunk;
  const char *values = (const char *)v->tiles + tile * SHUNT_WHOLE24_TILE_BYTES;
  const uint32_t *metadata = (const uint32_t *)(values + SHUNT_WHOLE24_VALUES * 2);
  int r = (int)(i % SHUNT_WHOLE24_ROWS);

  for (int selector = 0; selector < 2; selector++)
    for (int place = 0; place < 16; place++) {
      int64_t k =
          chunk * SHUNT_WHOLE24_COLS + selector * 32 + column_at(metadata, r, place, selector);
      float x = (float)value_at(v, values + selector * PRODUCT_BYTES, r, place);
      if (k >= p->b.rows) continue;
      sum +=
          x * (float)shunt_load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type);
    }
  return sum;
}

static float sum_of_entries(const struct shunt_spmm *p, int64_t i, int64_t j)
{
  const struct shunt_csr *a = &p->a;
  int64_t end = shunt_index_at(a->row_offsets, i + 1, a->index_type) - a->base;
  float sum = 0;

  for (int64_t q = shunt_index_at(a->row_offsets, i, a->index_type) - a->base; q < end; q++) {
    int64_t k = shunt_index_at(a->columns, q, a->index_type) - a->base;
    sum += (float)shunt_load(a->values, q, a->value_type) *
           (float)shunt_load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type);
  }
  return sum;
}

static float sum_of(const struct shunt_spmm *p, const struct shunt_whole24 *v, int64_t i, int64_t j)
{
  float sum = 0;

  for (int64_t chunk = 0; chunk < v->chunks; chunk++)
    sum = add_tile(p, v, chunk, i, j, sum);
  return isnan(sum) ? sum_of_entries(p, i, j) : sum;
}

static void compute(const struct shunt_spmm *p, const struct shunt_whole24 *v)
{
  float alpha = (float)shunt_scalar_value(&p->alpha, SHUNT_F32);
  float beta = (float)shunt_scalar_value(&p->beta, SHUNT_F32);

  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      float x = alpha == 0 ? 0 : alpha * sum_of(p, v, i, j);
      if (beta != 0) x += beta * (float)shunt_load(p->c.values, at, p->c.type);
      shunt_store(p->c.values, at, p->c.type, x);
    }
}

shunt_status shunt_spmm_whole24_host(const struct shunt_spmm *p, const struct shunt_whole24 *v)
{
  if (v->rows != p->c.rows || v->cols != p->b.rows || v->value_type != p->b.type)
    return SHUNT_E_ARGUMENT;
  compute(p, v);
  return SHUNT_OK;
}
