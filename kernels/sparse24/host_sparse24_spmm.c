/* host_sparse24_spmm.c: C = alpha A B + beta C for A in the `sparse24` format, on the host: the
   slow twin of kernels/sparse24/sparse24_spmm_wgmma.cu.

   Values and metadata are found as wgmma.mma_async.sp.m64nNk32 finds them, after the PTX ISA: A's
   64 x 16 stored values by a descriptor, the positions in the words of a warpgroup's lanes.
   This shares nothing with the code that packs, so it tests it.

   Zeros that fill up are multiplied like any value here too.  So a sum that is NaN is computed
   again from A's own entries.  Sums are kept in float and rounded once; those of int8 as whole
   numbers, by wgmma.mma_async.sp.m64nNk64.  */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/sparse24/sparse24_kernels.h"

/* The matrices of 8 rows x 16 bytes: from one to the next along K, and along M. */
enum {
  LEADING = 1024,
  STRIDE = 128,
  PRODUCT_BYTES = 2048,
  VALUE_BYTES = 4096,
  TILE_BYTES = VALUE_BYTES + 512,
  TILE_BYTES_I8 = VALUE_BYTES + 1024
};

/* Stored value `place` of row r of one product's A. */
static double value_at(const struct shunt_sparse24 *v, const char *product, int r, int place)
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
static float add_tile(const struct shunt_spmm *p, const struct shunt_sparse24 *v, int64_t chunk,
                      int64_t i, int64_t j, float sum)
{
  int64_t tile = i / SHUNT_SPARSE24_ROWS * v->chunks + chunk;
  const char *values = (const char *)v->tiles + tile * TILE_BYTES;
  const uint32_t *metadata = (const uint32_t *)(values + VALUE_BYTES);
  int r = (int)(i % SHUNT_SPARSE24_ROWS);

  for (int selector = 0; selector < 2; selector++)
    for (int place = 0; place < 16; place++) {
      int64_t k = chunk * 64 + selector * 32 + column_at(metadata, r, place, selector);
      float x = (float)value_at(v, values + selector * PRODUCT_BYTES, r, place);
      if (k >= p->b.rows) continue;
      sum +=
          x * (float)shunt_load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type);
    }
  return sum;
}

/* int8: its column of a product's 64: quad place / 2 of row 16 w + 8 h + g has four bits in the
   word of lane 4 g + 2 (quad / 8) + h of warp w, which stand two apart. */
static int column_at_i8(const uint32_t *metadata, int r, int place)
{
  int quad = place / 2, lane = r / 16 * 32 + r % 8 * 4 + quad / 8 * 2 + r / 8 % 2;
  uint32_t pair = metadata[2 * lane] >> (quad % 8 * 4) & 15;

  return 4 * quad + (int)(place % 2 ? pair >> 2 : pair & 3);
}

static int64_t add_tile_i8(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                           int64_t chunk, int64_t i, int64_t j, int64_t sum)
{
  int64_t tile = i / SHUNT_SPARSE24_ROWS * v->chunks + chunk;
  const int8_t *values = (const int8_t *)v->tiles + tile * TILE_BYTES_I8;
  const uint32_t *metadata =
      (const uint32_t *)((const char *)v->tiles + tile * TILE_BYTES_I8 + VALUE_BYTES);
  int r = (int)(i % SHUNT_SPARSE24_ROWS);

  for (int product = 0; product < 2; product++)
    for (int place = 0; place < 32; place++) {
      int at = product * PRODUCT_BYTES + place / 16 * LEADING + r / 8 * STRIDE + r % 8 * 16;
      int64_t k = chunk * 128 + product * 64 + column_at_i8(metadata + product, r, place);
      if (k >= p->b.rows) continue;
      sum += values[at + place % 16] *
             ((const int8_t *)p->b.values)[k * p->b.row_stride + j * p->b.col_stride];
    }
  return sum;
}

/* int8: integers wrap, as the original's do. */
static void store_i8(const struct shunt_spmm *p, const struct shunt_sparse24 *v, int64_t i,
                     int64_t j)
{
  int64_t at = i * p->c.row_stride + j * p->c.col_stride, sum = 0;
  double alpha = p->alpha.host, beta = p->beta.host;

  for (int64_t chunk = 0; chunk < v->chunks; chunk++) sum = add_tile_i8(p, v, chunk, i, j, sum);
  if (p->compute == SHUNT_I32) {
    int32_t *c = (int32_t *)p->c.values + at;
    if (p->alpha.device) alpha = *(const int32_t *)p->alpha.device;
    if (p->beta.device) beta = *(const int32_t *)p->beta.device;
    uint32_t old = beta != 0 ? (uint32_t)(int32_t)beta * (uint32_t)*c : 0;
    *c = (int32_t)((uint32_t)(int32_t)alpha * (uint32_t)sum + old);
    return;
  }
  alpha = shunt_scalar_value(&p->alpha, SHUNT_F32), beta = shunt_scalar_value(&p->beta, SHUNT_F32);
  float *c = (float *)p->c.values + at;
  *c = (float)alpha * (float)sum + (beta != 0 ? (float)beta * *c : 0);
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

static float sum_of(const struct shunt_spmm *p, const struct shunt_sparse24 *v, int64_t i,
                    int64_t j)
{
  float sum = 0;

  for (int64_t chunk = 0; chunk < v->chunks; chunk++) sum = add_tile(p, v, chunk, i, j, sum);
  return isnan(sum) ? sum_of_entries(p, i, j) : sum;
}

static void compute(const struct shunt_spmm *p, const struct shunt_sparse24 *v)
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

shunt_status shunt_sparse24_spmm_host(const struct shunt_spmm *p, const struct shunt_sparse24 *v)
{
  if (v->rows != p->c.rows || v->cols != p->b.rows || v->value_type != p->b.type)
    return SHUNT_E_ARGUMENT;
  if (v->value_type != SHUNT_I8) {
    compute(p, v);
    return SHUNT_OK;
  }
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) store_i8(p, v, i, j);
  return SHUNT_OK;
}
