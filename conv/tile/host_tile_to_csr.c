/* host_tile_to_csr.c: the `tile` format back to CSR, on the host.  Values are moved, never
   computed with.

   A row's tiles stand in two lists, each ascending.  They are merged; each tile's part of the
   row is spread out over its columns first:

     packed    values, present, metadata, order   -->   found: bit c, value[c]   -->   CSR  */
#include "conv/common/index.h"
#include "conv/tile/tile_conv.h"

enum { LANES = SHUNT_TILE_LANES, PER_LANE = SHUNT_TILE_PER_LANE };

/* One row of one tile, columns of the matrix ascending. */
struct spread {
  int found;
  int64_t column[SHUNT_TILE_COLS];
  uint16_t value[SHUNT_TILE_COLS];
};

/* The column of A at position c of a packed tile of so many columns. */
static int64_t column_of(const struct shunt_tile_list *list, int64_t tile, int columns,
                         const uint8_t *order, int c)
{
  if (list->gather) return list->gather[tile * columns + c];
  return (int64_t)list->column[tile] * columns + (order ? order[tile * columns + c] : c);
}

static void take(struct spread *s, const struct shunt_tile_list *list, int64_t tile, int l, int i,
                 int64_t column)
{
  int at = s->found;

  if (!(list->present[tile * LANES + l] >> i & 1)) return;
  for (; at > 0 && s->column[at - 1] > column; at--) {
    s->column[at] = s->column[at - 1];
    s->value[at] = s->value[at - 1];
  }
  s->column[at] = column;
  s->value[at] = list->values[(tile * LANES + l) * PER_LANE + i];
  s->found++;
}

/* Row r of a 2:4 tile.  Its values lie with the four lanes of group r % 8. */
static void spread_24(const struct shunt_tile *v, int64_t tile, int r, struct spread *s)
{
  s->found = 0;
  for (int l = r % 8 * 4; l < r % 8 * 4 + 4; l++)
    for (int i = 0; i < PER_LANE; i++) {
      int q = shunt_tile_quad(l, i), c;
      uint32_t word = v->metadata[tile * SHUNT_TILE_WORDS + r % 8 * 2 + q / 4];
      if (shunt_tile_row(l, i) != r) continue;
      c = 4 * q + (int)(word >> (r / 8 * 16 + q % 4 * 4 + i % 2 * 2) & 3);
      take(s, &v->sparse, tile, l, i, column_of(&v->sparse, tile, SHUNT_TILE_COLS, v->order, c));
    }
}

static void spread_half(const struct shunt_tile *v, int64_t tile, int r, struct spread *s)
{
  s->found = 0;
  for (int l = r % 8 * 4; l < r % 8 * 4 + 4; l++)
    for (int i = 0; i < PER_LANE; i++)
      if (shunt_tile_row(l, i) == r)
        take(s, &v->dense, tile, l, i,
             column_of(&v->dense, tile, SHUNT_TILE_HALF, NULL, shunt_tile_column(l, i)));
}

/* Appends to entry p of a; returns the end. */
static int64_t append(const struct spread *s, struct shunt_csr *a, int64_t p)
{
  for (int c = 0; c < s->found; c++) {
    set_index((void *)(uintptr_t)a->columns, a->index_type, p, s->column[c] + a->base);
    ((uint16_t *)a->values)[p++] = s->value[c];
  }
  return p;
}

/* The leftmost column of a tile: tiles of a block row have none in common. */
static int64_t first_of(const struct shunt_tile_list *list, int64_t tile, int columns)
{
  int64_t first = column_of(list, tile, columns, NULL, 0);

  for (int c = 1; list->gather && c < columns; c++)
    if (column_of(list, tile, columns, NULL, c) < first)
      first = column_of(list, tile, columns, NULL, c);
  return first;
}

static int64_t unpack_row(const struct shunt_tile *v, int64_t row, struct shunt_csr *a, int64_t p)
{
  int64_t block = row / SHUNT_TILE_ROWS;
  int64_t i = v->sparse.begin[block], i_end = v->sparse.begin[block + 1];
  int64_t j = v->dense.begin[block], j_end = v->dense.begin[block + 1];
  int r = (int)(row % SHUNT_TILE_ROWS);
  struct spread s;

  while (i < i_end || j < j_end) {
    if (j == j_end || (i < i_end && first_of(&v->sparse, i, SHUNT_TILE_COLS) <
                                        first_of(&v->dense, j, SHUNT_TILE_HALF)))
      spread_24(v, i++, r, &s);
    else
      spread_half(v, j++, r, &s);
    p = append(&s, a, p);
  }
  return p;
}

shunt_status shunt_tile_to_csr_host(const struct shunt_tile *v, struct shunt_csr *a)
{
  void *offsets = (void *)(uintptr_t)a->row_offsets;
  int64_t p = 0;

  if (v->census->irregular) return SHUNT_E_ARGUMENT;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  a->rows = v->rows, a->cols = v->cols, a->value_type = v->value_type;
  for (int64_t i = 0; i < v->rows; i++) {
    set_index(offsets, a->index_type, i, p + a->base);
    p = unpack_row(v, i, a, p);
  }
  set_index(offsets, a->index_type, v->rows, p + a->base);
  a->nnz = p;
  return SHUNT_OK;
}
