/* host_sparse24_from_csr.c: CSR to the `sparse24` format and back on the host; the first is the
   slow twin of sparse24_from_csr.cu.  Values are moved, never computed with.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/sparse24/sparse24_conv.h"

enum { ROWS = SHUNT_SPARSE24_ROWS };

static int size_of(const struct shunt_sparse24 *v)
{
  return (int)shunt_type_size(v->value_type);
}

/* The bits of a value of 1 or 2 bytes. */
static uint16_t get_bits(const void *values, int64_t i, int size)
{
  return size == 1 ? ((const uint8_t *)values)[i] : ((const uint16_t *)values)[i];
}

static void put_bits(void *values, int64_t i, int size, uint16_t bits)
{
  if (size == 1)
    ((uint8_t *)values)[i] = (uint8_t)bits;
  else
    ((uint16_t *)values)[i] = bits;
}

/* ---- CSR to sparse24 --------------------------------------------------------------------- */

static char *tile_of(const struct shunt_sparse24 *v, int64_t row, int64_t chunk)
{
  int64_t tile = row / ROWS * v->chunks + chunk;

  return (char *)v->tiles + tile * shunt_sparse24_tile_bytes(size_of(v));
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
    v[c - first] = get_bits(a->values, r->at, (int)shunt_type_size(a->value_type));
  }
  return bits;
}

/* The positions of a full quad's two entries. */
static void put_positions(const struct shunt_csr *a, const struct shunt_sparse24 *v, int64_t row,
                          int64_t quad, uint32_t pair)
{
  int64_t of_piece = 8 / (int64_t)shunt_type_size(a->index_type), at = row * (a->cols / 4) + quad;
  unsigned char *to = (unsigned char *)v->positions + shunt_sparse24_position(at / of_piece);

  *to = (unsigned char)((at % of_piece ? *to : 0) | pair << (at % of_piece * 4));
}

static void pack_row(const struct shunt_csr *a, const struct shunt_sparse24 *v, int64_t row,
                     int *bad)
{
  struct rest r = start_row(a, row, bad);
  int in_tile = (int)(row % ROWS), size = size_of(v), quads = shunt_sparse24_cols(size) / 4;

  for (int64_t quad = 0; quad < v->chunks * quads; quad++) {
    int q = (int)(quad % quads);
    char *tile = tile_of(v, row, quad / quads);
    uint16_t values[4] = {0};
    uint32_t bits = take_quad(a, &r, quad * 4, values);
    int crowded = __builtin_popcount(bits) > 2;
    uint32_t pair = shunt_tile_pair(crowded ? 0 : bits);
    uint16_t *half = (uint16_t *)(tile + shunt_sparse24_half(in_tile, q / 4, size));
    if (crowded) *bad = 1;
    char *first = tile + shunt_sparse24_value(in_tile, 2 * q * size);
    put_bits(first, 0, size, values[pair & 3]);
    put_bits(first, 1, size, values[pair >> 2]);
    *half = (uint16_t)((q % 4 ? *half : 0) | pair << (q % 4 * 4));
    if (v->positions && row < a->rows && quad < a->cols / 4) put_positions(a, v, row, quad, pair);
  }
  /* An entry that no quad took is out of order, repeated or out of range, and stopped the row. */
  if (r.at < r.end) *bad = 1;
}

shunt_status shunt_csr_to_sparse24_host(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                                        uint32_t *irregular)
{
  int bad = 0;

  if (shunt_sparse24_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols) return SHUNT_E_ARGUMENT;
  if (v->positions && !shunt_sparse24_full(a)) return SHUNT_E_ARGUMENT;
  if (v->positions)
    memset(v->positions, 0, (size_t)shunt_sparse24_position_bytes(shunt_sparse24_pieces(a)));
  for (int64_t row = 0; row < v->bands * ROWS; row++) pack_row(a, v, row, &bad);
  for (int64_t p = 0; p < a->nnz; p++)
    if (from_base(index_at(a->columns, a->index_type, p), a->base) >= a->cols) bad = 1;
  if (bad) *irregular |= SHUNT_IRREGULAR;
  return SHUNT_OK;
}

/* ---- sparse24 to CSR --------------------------------------------------------------------- */

static void put_index(const struct shunt_csr *a, const void *array, int64_t i, int64_t x)
{
  if (a->index_type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)(x + a->base);
  else
    ((int64_t *)array)[i] = x + a->base;
}

static void unpack_row(const struct shunt_sparse24 *v, int64_t row, struct shunt_csr *a)
{
  int in_tile = (int)(row % ROWS), size = size_of(v), cols = shunt_sparse24_cols(size);

  for (int64_t chunk = 0; chunk < v->chunks; chunk++) {
    const char *tile = tile_of(v, row, chunk);
    for (int place = 0; place < cols / 2; place++) {
      int quad = place / 2;
      int half = *(const uint16_t *)(tile + shunt_sparse24_half(in_tile, quad / 4, size));
      int position = half >> (quad % 4 * 4 + place % 2 * 2) & 3;
      uint16_t value = get_bits(tile + shunt_sparse24_value(in_tile, place * size), 0, size);
      if (value == 0) continue;
      put_index(a, a->columns, a->nnz, chunk * cols + quad * 4 + position);
      put_bits((void *)a->values, a->nnz++, size, value);
    }
  }
}

shunt_status shunt_sparse24_to_csr_host(const struct shunt_sparse24 *v, struct shunt_csr *a)
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
