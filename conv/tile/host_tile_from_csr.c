/* host_tile_from_csr.c: CSR to the `tile` format, on the host: the slow twin of
   tile_from_csr.cu.  Values are moved, never computed with.

   A block row is walked tile by tile, 16 cursors abreast, so that tiles without entries cost
   nothing:

     row 0    ..| c c c c . . . .       each cursor stands at its row's next entry; the
     row 1    ..|     c c c . . .       next tile is the leftmost that one of them stands in
      ..        |
              the tile: bits[r], values[r][column]

   With merged columns the next tile is the next 32 columns that a cursor stands in, column by
   column.

   Twice: once to count, so that it is known where each block row begins, once to pack.  A
   row stops at the first entry that breaks the rules; the matrix is then irregular.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/tile/tile_chunk.h"
#include "conv/tile/tile_conv.h"

enum { ROWS = SHUNT_TILE_ROWS, COLS = SHUNT_TILE_COLS, LANES = SHUNT_TILE_LANES };

/* ---- the walk over a block row ---------------------------------------------------- */

struct walk {
  const struct shunt_csr *a;
  int64_t at[ROWS], end[ROWS]; /* what is left of each row */
  int64_t last[ROWS];          /* the column before */
  int64_t tile;                /* its first column / 32 */
  uint32_t bits[ROWS];
  uint16_t values[ROWS][COLS]; /* where bits say so */
  int how;
  uint32_t merged[COLS]; /* merged: the tile's columns */
  int irregular;
};

static void start_block(struct walk *w, int64_t block)
{
  const struct shunt_csr *a = w->a;

  for (int r = 0; r < ROWS; r++) {
    int64_t row = block * ROWS + r;
    w->at[r] = w->end[r] = 0;
    w->last[r] = -1;
    if (row >= a->rows) continue;
    w->at[r] = from_base(index_at(a->row_offsets, a->index_type, row), a->base);
    w->end[r] = from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base);
    if (w->at[r] < 0 || w->end[r] < w->at[r] || w->end[r] > a->nnz) {
      w->at[r] = w->end[r] = 0;
      w->irregular = 1;
    }
  }
}

static int64_t column_at(const struct walk *w, int64_t p)
{
  return from_base(index_at(w->a->columns, w->a->index_type, p), w->a->base);
}

static int is_allowed(const struct walk *w, int r, int64_t column)
{
  return column > w->last[r] && column < w->a->cols;
}

/* A census has no need of values. */
static uint16_t value_at(const struct walk *w, int64_t p)
{
  return w->a->values ? ((const uint16_t *)w->a->values)[p] : 0;
}

/* Takes the entries of row r that lie in the tile. */
static void take_row(struct walk *w, int r)
{
  int64_t low = w->tile * COLS;

  w->bits[r] = 0;
  for (; w->at[r] < w->end[r]; w->at[r]++) {
    int64_t c = column_at(w, w->at[r]);
    if (c >= low + COLS || !is_allowed(w, r, c)) return;
    w->bits[r] |= UINT32_C(1) << (c - low);
    w->values[r][c - low] = value_at(w, w->at[r]);
    w->last[r] = c;
  }
}

/* The column of row r's next entry; where that breaks the rules the row ends. */
static int64_t next_column(struct walk *w, int r)
{
  int64_t c;

  if (w->at[r] >= w->end[r]) return INT64_MAX;
  c = column_at(w, w->at[r]);
  if (is_allowed(w, r, c)) return c;
  w->at[r] = w->end[r];
  w->irregular = 1;
  return INT64_MAX;
}

/* Takes the entries in column c, which becomes column p of the tile. */
static void take_column(struct walk *w, int64_t c, int p)
{
  w->merged[p] = (uint32_t)c;
  for (int r = 0; r < ROWS; r++) {
    if (next_column(w, r) != c) continue;
    w->bits[r] |= UINT32_C(1) << p;
    w->values[r][p] = value_at(w, w->at[r]++);
    w->last[r] = c;
  }
}

static int next_merged_tile(struct walk *w)
{
  int p = 0;

  memset(w->bits, 0, sizeof w->bits);
  for (; p < COLS; p++) {
    int64_t least = INT64_MAX;
    for (int r = 0; r < ROWS; r++) {
      int64_t c = next_column(w, r);
      if (c < least) least = c;
    }
    if (least == INT64_MAX) break;
    take_column(w, least, p);
  }
  for (int q = p; q < COLS; q++) w->merged[q] = w->merged[0];
  return p > 0;
}

/* Goes to the next tile that has entries; false when there is none. */
static int next_tile(struct walk *w)
{
  if (w->how & SHUNT_TILE_MERGE) return next_merged_tile(w);
  w->tile = INT64_MAX;
  for (int r = 0; r < ROWS; r++) {
    int64_t c = next_column(w, r);
    if (c != INT64_MAX && c / COLS < w->tile) w->tile = c / COLS;
  }
  if (w->tile == INT64_MAX) return 0;
  for (int r = 0; r < ROWS; r++) take_row(w, r);
  return 1;
}

/* ---- what a tile is ------------------------------------------------------------------- */

enum kind { PLAIN_24, REORDERED_24, DENSE };

/* order: of the columns if the tile is 2:4, else undefined. */
static enum kind find_kind(const struct walk *w, uint8_t order[COLS])
{
  int good = 1;

  for (int c = 0; c < COLS; c++) order[c] = (uint8_t)c;
  for (int r = 0; r < ROWS; r++) good &= shunt_tile_is_24(w->bits[r]);
  if (w->how & SHUNT_TILE_DENSE) return DENSE;
  if (good) return PLAIN_24;
  return w->how & SHUNT_TILE_REORDER && shunt_tile_order(w->bits, order) ? REORDERED_24 : DENSE;
}

/* Bit h: half h has entries. */
static int halves_of(const struct walk *w)
{
  uint32_t any = 0;

  for (int r = 0; r < ROWS; r++) any |= w->bits[r];
  return ((any & 0xffff) != 0) + 2 * (any >> 16 != 0);
}

static int entries_of(const struct walk *w)
{
  int entries = 0;

  for (int r = 0; r < ROWS; r++) entries += __builtin_popcount(w->bits[r]);
  return entries;
}

static void count_tile(const struct walk *w, enum kind kind, struct shunt_tile_census *out)
{
  int halves = halves_of(w), entries = entries_of(w);

  if (kind == DENSE) {
    out->dense++;
    out->halves += (uint64_t)((halves & 1) + (halves >> 1));
    out->dense_entries += (uint64_t)entries;
    return;
  }
  out->sparse++;
  out->reordered += kind == REORDERED_24;
  out->sparse_entries += (uint64_t)entries;
}

static void count_block(struct walk *w, int64_t block, struct shunt_tile_census *out)
{
  uint8_t order[COLS];

  start_block(w, block);
  while (next_tile(w)) count_tile(w, find_kind(w, order), out);
  if (w->irregular) out->irregular = SHUNT_IRREGULAR;
}

shunt_status shunt_csr_tile_census_host(const struct shunt_csr *a, int how,
                                        struct shunt_tile_census *out)
{
  const struct shunt_tile_layout no_room = {how, 0, 0};
  struct walk w = {.a = a, .how = how};

  if (shunt_tile_bytes(a, &no_room) == 0) return SHUNT_E_UNSUPPORTED;
  memset(out, 0, sizeof *out);
  for (int64_t b = 0; b * ROWS < a->rows; b++) count_block(&w, b, out);
  return SHUNT_OK;
}

/* ---- packing -------------------------------------------------------------------------- */

/* Value i of lane l of a packed tile is row r, column c of the tile, or nothing. */
static void put_value(const struct walk *w, const struct shunt_tile_list *list, int64_t tile, int l,
                      int i, int r, int c)
{
  int there = w->bits[r] >> c & 1;

  list->values[(tile * LANES + l) * SHUNT_TILE_PER_LANE + i] = there ? w->values[r][c] : 0;
  list->present[tile * LANES + l] |= (uint8_t)(there << i);
}

static void put_metadata(const struct shunt_tile *v, int64_t tile, int r, int q, uint32_t pair)
{
  v->metadata[tile * SHUNT_TILE_WORDS + r % 8 * 2 + q / 4] |= pair << (r / 8 * 16 + q % 4 * 4);
}

static void pack_24(const struct walk *w, const struct shunt_tile *v, int64_t tile,
                    const uint8_t order[COLS])
{
  if (v->sparse.column) v->sparse.column[tile] = (uint32_t)w->tile;
  for (int p = 0; v->sparse.gather && p < COLS; p++)
    v->sparse.gather[tile * COLS + p] = w->merged[order[p]];
  memset(v->sparse.present + tile * LANES, 0, LANES);
  memset(v->metadata + tile * SHUNT_TILE_WORDS, 0, SHUNT_TILE_WORDS * 4);
  if (v->order) memcpy(v->order + tile * COLS, order, COLS);
  for (int l = 0; l < LANES; l++)
    for (int i = 0; i < SHUNT_TILE_PER_LANE; i++) {
      int r = shunt_tile_row(l, i), q = shunt_tile_quad(l, i);
      uint32_t quad = 0, pair;
      for (int p = 0; p < 4; p++) quad |= (w->bits[r] >> order[4 * q + p] & 1) << p;
      pair = shunt_tile_pair(quad);
      put_value(w, &v->sparse, tile, l, i, r, order[4 * q + (int)(pair >> (i % 2 * 2) & 3)]);
      if (i % 2 == 0) put_metadata(v, tile, r, q, pair);
    }
}

static void pack_half(const struct walk *w, const struct shunt_tile *v, int64_t tile, int half)
{
  if (v->dense.column) v->dense.column[tile] = (uint32_t)(w->tile * 2 + half);
  for (int p = 0; v->dense.gather && p < SHUNT_TILE_HALF; p++)
    v->dense.gather[tile * SHUNT_TILE_HALF + p] = w->merged[half * SHUNT_TILE_HALF + p];
  memset(v->dense.present + tile * LANES, 0, LANES);
  for (int l = 0; l < LANES; l++)
    for (int i = 0; i < SHUNT_TILE_PER_LANE; i++)
      put_value(w, &v->dense, tile, l, i, shunt_tile_row(l, i),
                shunt_tile_column(l, i) + half * SHUNT_TILE_HALF);
}

/* Tiles that a list has no room for are left out: `end` is where the next block row begins. */
static void pack_block(struct walk *w, const struct shunt_tile *v, int64_t block)
{
  int64_t sparse = v->sparse.begin[block], sparse_end = v->sparse.begin[block + 1];
  int64_t dense = v->dense.begin[block], dense_end = v->dense.begin[block + 1];
  uint8_t order[COLS];

  start_block(w, block);
  while (next_tile(w)) {
    if (find_kind(w, order) != DENSE) {
      if (sparse < sparse_end) pack_24(w, v, sparse, order);
      sparse++;
      continue;
    }
    for (int h = 0; h < 2; h++) {
      if (!(halves_of(w) >> h & 1)) continue;
      if (dense < dense_end) pack_half(w, v, dense, h);
      dense++;
    }
  }
}

/* Where a list's next block row begins when there are `tiles` before it. */
static uint32_t begin_of(const struct shunt_tile_list *list, uint64_t tiles,
                         struct shunt_tile_census *census)
{
  if (tiles <= (uint64_t)list->room) return (uint32_t)tiles;
  census->irregular = SHUNT_IRREGULAR;
  return (uint32_t)list->room;
}

shunt_status shunt_csr_to_tile_host(const struct shunt_csr *a,
                                    const struct shunt_tile_layout *layout,
                                    const struct shunt_tile *v)
{
  struct walk w = {.a = a, .how = layout->how};

  if (shunt_tile_bytes(a, layout) == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols || v->nnz != a->nnz) return SHUNT_E_ARGUMENT;
  memset(v->census, 0, sizeof *v->census);
  v->sparse.begin[0] = v->dense.begin[0] = 0;
  for (int64_t b = 0; b < v->blocks; b++) {
    count_block(&w, b, v->census);
    v->sparse.begin[b + 1] = begin_of(&v->sparse, v->census->sparse, v->census);
    v->dense.begin[b + 1] = begin_of(&v->dense, v->census->halves, v->census);
  }
  for (int64_t b = 0; b < v->blocks; b++) pack_block(&w, v, b);
  for (int64_t i = 0; v->chunk && i < v->blocks * shunt_tile_chunks(v->cols); i++)
    v->chunk[i] = shunt_tile_find_chunk(v, i % v->blocks, i / v->blocks);
  return SHUNT_OK;
}
