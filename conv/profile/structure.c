/* structure.c: the shares of structure that routes look for, counted exactly on
   the host in a few passes of O(nnz).  Values play no part: every stored position
   counts, once.

   fill[V]     positions / (V x aligned V x 1 vectors that hold one), V = 8, 4, 2

   tiles       aligned, 16 rows x 32 columns, the last ones ragged:

                   +--------32--------+
                   |.... .... .. ....|  a tile is 2:4 when no aligned run of four
                 16|                  |  columns in any of its rows holds more than
                   |                  |  two positions, else it is dense
                   +------------------+

   strips      64 columns wide, all rows high; a segment is one row of one strip.
               strip_occupancy = segments with an entry / all segments  */
#include <stdlib.h>
#include <string.h>

#include "conv/common/index.h"
#include "conv/profile/profile.h"
#include "kernels/common/divide.h"

enum { TILE_ROWS = 16, TILE_COLS = 32, STRIP_COLS = 64, QUAD = 4 };

static int64_t offset_at(const struct shunt_csr *a, int64_t i)
{
  return index_at(a->row_offsets, a->index_type, i) - a->base;
}

static int64_t column_at(const struct shunt_csr *a, int64_t p)
{
  return index_at(a->columns, a->index_type, p) - a->base;
}

/* Offsets and columns inside their arrays, so that the passes may trust them. */
static int is_sound(const struct shunt_csr *a)
{
  if (a->rows < 0 || a->cols < 0 || a->nnz < 0) return 0;
  for (int64_t i = 0; i < a->rows; i++) {
    int64_t begin = index_at(a->row_offsets, a->index_type, i);
    int64_t end = index_at(a->row_offsets, a->index_type, i + 1);
    if (begin < a->base || end < begin || end - a->base > a->nnz) return 0;
  }
  for (int64_t p = 0; p < a->nnz; p++) {
    int64_t column = index_at(a->columns, a->index_type, p);
    if (column < a->base || column - a->base >= a->cols) return 0;
  }
  return 1;
}

/* A table of marks, "seen in round r": no clearing between rounds. */
static int64_t *marks_new(int64_t count)
{
  return calloc((size_t)count + 1, sizeof(int64_t));
}

static int mark(int64_t *marks, int64_t i, int64_t round)
{
  int fresh = marks[i] != round + 1;

  marks[i] = round + 1;
  return fresh;
}

/* The number of aligned V x 1 vectors that hold an entry; V = 1 counts positions. */
static shunt_status count_vectors(const struct shunt_csr *a, int64_t v, int64_t *count)
{
  int64_t *seen = marks_new(a->cols);

  if (!seen) return SHUNT_E_MEMORY;
  *count = 0;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = offset_at(a, i); p < offset_at(a, i + 1); p++)
      *count += mark(seen, column_at(a, p), i / v);
  free(seen);
  return SHUNT_OK;
}

/* What the pass over tiles keeps: per tile column of the current band, whether it
   was seen and whether it broke 2:4; per quad of the current row, its positions.  */
struct tile_pass {
  int64_t *tile_seen, *tile_broken, *quad_seen;
  unsigned char *quad_bits;
  int64_t nonzero, dense;
};

static void tile_entry(struct tile_pass *t, int64_t row, int64_t column)
{
  static const unsigned char weight[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  int64_t band = row / TILE_ROWS, tile = column / TILE_COLS, quad = column / QUAD;

  t->nonzero += mark(t->tile_seen, tile, band);
  if (mark(t->quad_seen, quad, row)) t->quad_bits[quad] = 0;
  t->quad_bits[quad] |= (unsigned char)(1u << (column % QUAD));
  if (weight[t->quad_bits[quad]] > 2) t->dense += mark(t->tile_broken, tile, band);
}

static shunt_status count_tiles(const struct shunt_csr *a, struct shunt_structure *out)
{
  struct tile_pass t = {0};
  int64_t tiles = shunt_div_up(a->rows, TILE_ROWS) * shunt_div_up(a->cols, TILE_COLS);
  shunt_status status = SHUNT_E_MEMORY;

  t.tile_seen = marks_new(a->cols / TILE_COLS + 1);
  t.tile_broken = marks_new(a->cols / TILE_COLS + 1);
  t.quad_seen = marks_new(a->cols / QUAD + 1);
  t.quad_bits = calloc((size_t)(a->cols / QUAD) + 1, 1);
  if (t.tile_seen && t.tile_broken && t.quad_seen && t.quad_bits) {
    for (int64_t i = 0; i < a->rows; i++)
      for (int64_t p = offset_at(a, i); p < offset_at(a, i + 1); p++)
        tile_entry(&t, i, column_at(a, p));
    out->tile_zero = tiles ? (double)(tiles - t.nonzero) / (double)tiles : 0;
    out->tile_dense = t.nonzero ? (double)t.dense / (double)t.nonzero : 0;
    out->tile_24 = t.nonzero ? (double)(t.nonzero - t.dense) / (double)t.nonzero : 0;
    status = SHUNT_OK;
  }
  free(t.tile_seen);
  free(t.tile_broken);
  free(t.quad_seen);
  free(t.quad_bits);
  return status;
}

static shunt_status count_strips(const struct shunt_csr *a, struct shunt_structure *out)
{
  int64_t strips = shunt_div_up(a->cols, STRIP_COLS), segments = 0;
  int64_t *seen = marks_new(strips);

  if (!seen) return SHUNT_E_MEMORY;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = offset_at(a, i); p < offset_at(a, i + 1); p++)
      segments += mark(seen, column_at(a, p) / STRIP_COLS, i);
  out->strip_occupancy =
      a->rows && strips ? (double)segments / (double)strips / (double)a->rows : 0;
  free(seen);
  return SHUNT_OK;
}

shunt_status shunt_structure_csr_host(const struct shunt_csr *a, struct shunt_structure *out)
{
  int64_t positions, vectors;
  shunt_status status;

  memset(out, 0, sizeof *out);
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!is_sound(a)) return SHUNT_E_ARGUMENT;
  status = count_vectors(a, 1, &positions);
  for (int v = 0; v < 3 && status == SHUNT_OK; v++) {
    status = count_vectors(a, 8 >> v, &vectors);
    if (status == SHUNT_OK && vectors)
      out->fill[v] = (double)positions / ((double)vectors * (8 >> v));
  }
  if (status == SHUNT_OK) status = count_tiles(a, out);
  if (status == SHUNT_OK) status = count_strips(a, out);
  return status;
}
