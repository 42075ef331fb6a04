/* inspect_kinds.c: each entry's kind, on a grid of cells.

   Columns of 8 aligned rows, as bits of the rows that have them:

     row 0..7 have column c   bits 11111111   eight entries of an 8 x 1 vector
     row 0..3                      00001111   four of a 4 x 1 vector
     row 4, 5                      00110000   two of a 2 x 1 vector
     row 3, 4                      00011000   shared: no aligned pair
     row 6                         01000000   alone

   Tiles are aligned, and 2:4 or not as the format `tile` has them (kernels/tile/tile_format.h).
   How many there are is counted in conv/tile/tile_conv.h; here, where they lie.  */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/inspect/inspect.h"

enum { GROUP = 8, TILE_ROWS = SHUNT_TILE_ROWS, TILE_COLUMNS = SHUNT_TILE_COLS };

struct scratch {
  uint8_t *rows_of; /* [cols] bits, of a group */
  uint32_t *bits;   /* [tiles] columns of a row that have entries */
  uint8_t *crowded; /* [tiles] the tile is not 2:4 */
  int64_t *last;    /* [strips] the last row seen there, + 1 */
};

static int64_t offset(const struct shunt_csr *a, int64_t row)
{
  return ((const int64_t *)a->row_offsets)[row];
}

static int64_t column(const struct shunt_csr *a, int64_t p)
{
  return ((const int64_t *)a->columns)[p];
}

static void count(struct inspect_grid *g, int64_t row, int64_t col, enum inspect_kind kind)
{
  const int64_t y = row * g->high / g->rows, x = col * g->wide / g->cols;
  g->cell[(y * g->wide + x) * INSPECT_KINDS + kind]++;
  g->entries[kind]++;
}

static enum inspect_kind kind_of(unsigned bits, int row)
{
  const unsigned four = 0xfu << (row & 4), two = 0x3u << (row & 6);
  if (bits == 0xff) return INSPECT_VECTOR_8;
  if ((bits & four) == four) return INSPECT_VECTOR_4;
  if ((bits & two) == two) return INSPECT_VECTOR_2;
  return (bits & (bits - 1)) ? INSPECT_SHARED : INSPECT_ALONE;
}

static void count_group(const struct shunt_csr *a, int64_t first, struct inspect_grid *g,
                        struct scratch *s)
{
  const int64_t end = first + GROUP < a->rows ? first + GROUP : a->rows;
  for (int64_t i = first; i < end; i++)
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++)
      s->rows_of[column(a, p)] |= (uint8_t)(1u << (i - first));
  for (int64_t i = first; i < end; i++)
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++)
      count(g, i, column(a, p), kind_of(s->rows_of[column(a, p)], (int)(i - first)));
  for (int64_t p = offset(a, first); p < offset(a, end); p++) s->rows_of[column(a, p)] = 0;
}

static void count_tiles(const struct shunt_csr *a, int64_t first, struct inspect_grid *g,
                        struct scratch *s)
{
  const int64_t end = first + TILE_ROWS < a->rows ? first + TILE_ROWS : a->rows;
  for (int64_t i = first; i < end; i++) {
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++) {
      const int64_t tile = column(a, p) / TILE_COLUMNS;
      s->bits[tile] |= UINT32_C(1) << (column(a, p) % TILE_COLUMNS);
      if (!shunt_tile_is_24(s->bits[tile])) s->crowded[tile] = 1;
    }
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++)
      s->bits[column(a, p) / TILE_COLUMNS] = 0;
  }
  for (int64_t i = first; i < end; i++)
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++)
      count(g, i, column(a, p),
            s->crowded[column(a, p) / TILE_COLUMNS] ? INSPECT_TILE_DENSE : INSPECT_TILE_24);
  for (int64_t p = offset(a, first); p < offset(a, end); p++)
    s->crowded[column(a, p) / TILE_COLUMNS] = 0;
}

static void count_strips(const struct shunt_csr *a, struct inspect_grid *g, struct scratch *s)
{
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = offset(a, i); p < offset(a, i + 1); p++) {
      const int64_t strip = column(a, p) / INSPECT_STRIP;
      g->strip[strip] += s->last[strip] != i + 1;
      s->last[strip] = i + 1;
    }
  for (int64_t k = 0; k < g->strips; k++) {
    g->empty_strips += g->strip[k] == 0;
    g->strip[k] /= (double)a->rows;
  }
}

shunt_status inspect_grid_make(const struct shunt_csr *a, struct inspect_grid *out)
{
  struct inspect_grid g = {.rows = a->rows, .cols = a->cols};
  g.high = (int)(a->rows < INSPECT_CELLS ? a->rows : INSPECT_CELLS);
  g.wide = (int)(a->cols < INSPECT_CELLS ? a->cols : INSPECT_CELLS);
  g.strips = (a->cols + INSPECT_STRIP - 1) / INSPECT_STRIP;
  const size_t cells = (size_t)g.high * (size_t)g.wide * INSPECT_KINDS, cols = (size_t)a->cols;
  g.cell = calloc(cells + 1, sizeof *g.cell);
  g.strip = calloc((size_t)g.strips + 1, sizeof *g.strip);
  struct scratch s = {calloc(cols + 1, 1), calloc(cols / TILE_COLUMNS + 1, sizeof *s.bits),
                      calloc(cols / TILE_COLUMNS + 1, 1),
                      calloc((size_t)g.strips + 1, sizeof *s.last)};
  const bool good = g.cell && g.strip && s.rows_of && s.bits && s.crowded && s.last;
  if (good) {
    for (int64_t i = 0; i < a->rows; i += GROUP) count_group(a, i, &g, &s);
    for (int64_t i = 0; i < a->rows; i += TILE_ROWS) count_tiles(a, i, &g, &s);
    count_strips(a, &g, &s);
    *out = g;
  } else {
    inspect_grid_free(&g);
  }
  free(s.rows_of);
  free(s.bits);
  free(s.crowded);
  free(s.last);
  return good ? SHUNT_OK : SHUNT_E_MEMORY;
}

void inspect_grid_free(struct inspect_grid *g)
{
  free(g->cell);
  free(g->strip);
  *g = (struct inspect_grid){0};
}

const char *inspect_kind_name(enum inspect_kind k)
{
  static const char *const names[INSPECT_KINDS] = {
      "8 x 1 vectors", "4 x 1 vectors", "2 x 1 vectors", "shared by rows of 8",
      "alone",         "2:4 tiles",     "tiles not 2:4"};
  return names[k];
}
