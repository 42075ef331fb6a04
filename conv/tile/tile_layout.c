/* tile_layout.c: the sizes of a matrix in the `tile` format, where its arrays lie, and what its
   census says.

   The memory, every part aligned to 256 bytes:

     census | begin, column or gather, values, present of the 2:4 list | the same of the dense list
   | metadata | order | chunk  */
#include <string.h>

#include "conv/tile/tile_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/common/divide.h"

/* The smaller of what was asked for and what the sizes allow; -1: too many. */
static int64_t room(int64_t wanted, int64_t most)
{
  int64_t tiles = wanted >= 0 && wanted < most ? wanted : most;

  return tiles <= INT32_MAX ? tiles : -1;
}

/* Rooms of both lists; false when there are too many tiles (or a->nnz is negative).  A 2:4 tile
   holds an entry, a dense tile three, or one where all tiles are dense, and so its two
   halves; merged tiles have 32 entries or are the last of a block row.  */
static int find_rooms(const struct shunt_csr *a, const struct shunt_tile_layout *layout,
                      struct shunt_tile *v)
{
  int64_t tiles = v->blocks * shunt_div_up(a->cols, SHUNT_TILE_COLS);
  int64_t merged = a->nnz / SHUNT_TILE_COLS + v->blocks;
  int64_t entries = layout->how & SHUNT_TILE_DENSE ? a->nnz : a->nnz / 3;
  int64_t dense;

  if (layout->how & SHUNT_TILE_MERGE && merged < tiles) tiles = merged;
  dense = entries < tiles ? entries : tiles;
  v->sparse.room = room(layout->sparse_room, a->nnz < tiles ? a->nnz : tiles);
  v->dense.room = room(layout->dense_room, 2 * dense);
  return v->sparse.room >= 0 && v->dense.room >= 0;
}

static int can_be_packed(const struct shunt_csr *a)
{
  if (a->value_type != SHUNT_F16 && a->value_type != SHUNT_BF16) return 0;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return 0;
  return a->rows >= 1 && a->cols >= 1 && a->rows <= INT32_MAX - 64 && a->cols <= INT32_MAX - 64;
}

/* columns: of a tile of the list. */
static void lay_out_list(struct shunt_tile_list *list, int64_t blocks, int columns, int merged,
                         char *memory, size_t *at)
{
  list->begin = shunt_place_in(memory, at, (blocks + 1) * 4);
  if (merged)
    list->gather = shunt_place_in(memory, at, list->room * columns * 4);
  else
    list->column = shunt_place_in(memory, at, list->room * 4);
  list->values = shunt_place_in(memory, at, list->room * SHUNT_TILE_VALUES * 2);
  list->present = shunt_place_in(memory, at, list->room * SHUNT_TILE_LANES);
}

/* Is the table of chunks small beside the tiles? */
static int has_chunks(const struct shunt_tile *v)
{
  return v->blocks * shunt_tile_chunks(v->cols) <= 8 * (v->sparse.room + v->dense.room) + 4096;
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_csr *a, const struct shunt_tile_layout *layout,
                      char *memory, struct shunt_tile *v)
{
  const int merged = (layout->how & SHUNT_TILE_MERGE) != 0;
  size_t at = 0;

  memset(v, 0, sizeof *v);
  if (!can_be_packed(a)) return 0;
  v->rows = a->rows, v->cols = a->cols, v->nnz = a->nnz;
  v->blocks = shunt_div_up(a->rows, SHUNT_TILE_ROWS);
  v->value_type = a->value_type;
  if (!find_rooms(a, layout, v)) return 0;
  v->census = shunt_place_in(memory, &at, sizeof *v->census);
  lay_out_list(&v->sparse, v->blocks, SHUNT_TILE_COLS, merged, memory, &at);
  lay_out_list(&v->dense, v->blocks, SHUNT_TILE_HALF, merged, memory, &at);
  v->metadata = shunt_place_in(memory, &at, v->sparse.room * SHUNT_TILE_WORDS * 4);
  if (layout->how & SHUNT_TILE_REORDER && !merged)
    v->order = shunt_place_in(memory, &at, v->sparse.room * SHUNT_TILE_COLS);
  if (!merged && has_chunks(v))
    v->chunk = shunt_place_in(memory, &at,
                              v->blocks * shunt_tile_chunks(v->cols) * (int64_t)sizeof *v->chunk);
  return shunt_align_up(at, 256);
}

size_t shunt_tile_bytes(const struct shunt_csr *a, const struct shunt_tile_layout *layout)
{
  struct shunt_tile v;

  return lay_out(a, layout, NULL, &v);
}

int shunt_tile_lay_out(const struct shunt_csr *a, const struct shunt_tile_layout *layout,
                       void *memory, struct shunt_tile *out)
{
  return lay_out(a, layout, memory, out) != 0;
}

struct shunt_tile_shares shunt_tile_shares(int64_t rows, int64_t cols,
                                           const struct shunt_tile_census *census)
{
  struct shunt_tile_shares s = {0};
  double tiles =
      (double)(shunt_div_up(rows, SHUNT_TILE_ROWS) * shunt_div_up(cols, SHUNT_TILE_COLS));
  double nonzero = (double)(census->sparse + census->dense);
  double stored = (double)(census->sparse + census->halves) * SHUNT_TILE_VALUES;

  s.fill = stored > 0 ? (double)(census->sparse_entries + census->dense_entries) / stored : 1;
  if (tiles > 0) s.zero = (tiles - nonzero) / tiles;
  if (nonzero == 0) return s;
  s.sparse = (double)census->sparse / nonzero;
  s.reordered = (double)census->reordered / nonzero;
  s.dense = (double)census->dense / nonzero;
  return s;
}
