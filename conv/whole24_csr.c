/* whole24_csr.c: CSR to the `whole24` format and back on the host; the first is the slow twin of
   whole24_csr_device.cu.  Values are moved, never computed with.  */
#include <string.h>

#include "conv/whole24.h"

enum { ROWS = SHUNT_WHOLE24_ROWS, COLS = SHUNT_WHOLE24_COLS };

/* ---- CSR to whole24 --------------------------------------------------------------------- */

static uint16_t *tile_of(const struct shunt_whole24 *v, int64_t row, int64_t chunk)
{
  int64_t tile = row / ROWS * v->chunks + chunk;

  return (uint16_t *)((char *)v->tiles + tile * SHUNT_WHOLE24_TILE_BYTES);
}

static int64_t index_at(const void *array, shunt_type type, int64_t i)
{
  return type == SHUNT_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* Unsigned, so that garbage wraps (to a place that the checks refuse). */
static int64_t from_base(int64_t index, int base)
{
  return (int64_t)((uint64_t)index - (uint64_t)base);
}

/* What is left of a row. */
struct rest {
  int64_t at, end;
};

static struct rest start_row(const struct shunt_csr *a, int64_t row, int *bad)
{
  struct rest r = {0, 0};

  if (row >= a->rows) return r;
  r.at = from_base(index_at(a->row_offsets, a->index_type, row), a->base);
  r.end = from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base);
  if (r.at >= 0 && r.at <= r.end && r.end <= a->nnz) return r;
  *bad = 1;
  return (struct rest){0, 0};
}

/* Takes the row's entries in four columns from `first` on: bit i of the result, v[i]. */
static uint32_t take_quad(const struct shunt_csr *a, struct rest *r, int64_t first, uint16_t v[4])
{
  uint32_t bits = 0;

  for (; r->at < r->end; r->at++) {
    int64_t c = from_base(index_at(a->columns, a->index_type, r->at), a->base);
    if (c < first || c >= first + 4 || bits >> (c - first) != 0) break;
    bits |= UINT32_C(1) << (c - first);
    v[c - first] = ((const uint16_t *)a->values)[r->at];
  }
  return bits;
}

static void pack_row(const struct shunt_csr *a, const struct shunt_whole24 *v, int64_t row,
                     int *bad)
{
  struct rest r = start_row(a, row, bad);
  int in_tile = (int)(row % ROWS);

  for (int64_t quad = 0; quad < v->chunks * (COLS / 4); quad++) {
    int q = (int)(quad % (COLS / 4));
    uint16_t *tile = tile_of(v, row, quad / (COLS / 4)), values[4] = {0};
    uint32_t bits = take_quad(a, &r, quad * 4, values);
    int crowded = __builtin_popcount(bits) > 2;
    uint32_t pair = shunt_tile24_pair(crowded ? 0 : bits);
    uint16_t *half = &tile[shunt_whole24_half(in_tile, q / 4)];
    if (crowded) *bad = 1;
    tile[shunt_whole24_value(in_tile, 2 * q)] = values[pair & 3];
    tile[shunt_whole24_value(in_tile, 2 * q + 1)] = values[pair >> 2];
    *half = (uint16_t)((q % 4 ? *half : 0) | pair << (q % 4 * 4));
  }
  /* An entry that no quad took is out of order, repeated or out of range, and stopped the row. */
  if (r.at < r.end) *bad = 1;
}

shunt_status shunt_csr_to_whole24_host(const struct shunt_csr *a, const struct shunt_whole24 *v,
                                       uint32_t *irregular)
{
  int bad = 0;

  if (shunt_whole24_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols) return SHUNT_E_ARGUMENT;
  for (int64_t row = 0; row < v->bands * ROWS; row++)
    pack_row(a, v, row, &bad);
  for (int64_t p = 0; p < a->nnz; p++)
    if (from_base(index_at(a->columns, a->index_type, p), a->base) >= a->cols) bad = 1;
  if (bad) *irregular |= SHUNT_IRREGULAR;
  return SHUNT_OK;
}

/* ---- whole24 to CSR --------------------------------------------------------------------- */

static void put_index(const struct shunt_csr *a, const void *array, int64_t i, int64_t x)
{
  if (a->index_type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)(x + a->base);
  else
    ((int64_t *)array)[i] = x + a->base;
}

static void unpack_row(const struct shunt_whole24 *v, int64_t row, struct shunt_csr *a)
{
  int in_tile = (int)(row % ROWS);

  for (int64_t chunk = 0; chunk < v->chunks; chunk++) {
    const uint16_t *tile = tile_of(v, row, chunk);
    for (int place = 0; place < SHUNT_WHOLE24_PLACES; place++) {
      int quad = place / 2, half = tile[shunt_whole24_half(in_tile, quad / 4)];
      int position = half >> (quad % 4 * 4 + place % 2 * 2) & 3;
      uint16_t value = tile[shunt_whole24_value(in_tile, place)];
      if (value == 0) continue;
      put_index(a, a->columns, a->nnz, chunk * COLS + quad * 4 + position);
      ((uint16_t *)a->values)[a->nnz++] = value;
    }
  }
}

shunt_status shunt_whole24_to_csr_host(const struct shunt_whole24 *v, struct shunt_csr *a)
{
  a->rows = v->rows;
  a->cols = v->cols;
  a->value_type = v->value_type;
  a->nnz = 0;
  put_index(a, a->row_offsets, 0, 0);
  for (int64_t row = 0; row < v->rows; row++) {
    unpack_row(v, row, a);
    put_index(a, a->row_offsets, row + 1, a->nnz);
  }
  return SHUNT_OK;
}
