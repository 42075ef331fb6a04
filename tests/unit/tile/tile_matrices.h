/* tile_matrices.h: random CSR matrices and their packed form, for the tests of `tile`. */
#ifndef TILE_MATRICES_H
#define TILE_MATRICES_H

#include <stdlib.h>
#include <string.h>

#include "conv/tile/tile_conv.h"

#define RANDOM_SEED 24
#include "tests/unit/random_csr.h"

/* How the entries of a row lie. */
enum pattern {
  ANYWHERE,
  TWO_OF_FOUR, /* at most two of aligned four */
  RUNS,        /* 1 to 16 neighbours: dense tiles that another order makes 2:4 */
  MIXED,       /* tile by tile one of the others, or nothing */
  PATTERNS
};

/* One row's list as flags, for the columns of one tile. */
static inline void fill_tile_row(unsigned char *list, int64_t first, int64_t cols, double density,
                                 enum pattern pattern)
{
  int64_t run = (int64_t)(random_next() % 32), length = 1 + (int64_t)(random_next() % 16);
  int in_quad = 0;

  if (pattern == RUNS && !chance(4 * density)) length = 0;
  for (int64_t j = first; j < first + SHUNT_TILE_COLS && j < cols; j++) {
    if (j % 4 == 0) in_quad = 0;
    list[j] = pattern == RUNS ? j - first >= run && j - first < run + length
                              : chance(density) && (pattern != TWO_OF_FOUR || in_quad < 2);
    in_quad += list[j];
  }
}

/* One value in nine is a stored zero, of either sign. */
static inline struct owned random_matrix(int64_t rows, int64_t cols, double density,
                                         enum pattern pattern, shunt_type index, int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, SHUNT_F16, base);
  unsigned char *list = calloc((size_t)cols, 1);
  enum pattern *of_tile = calloc((size_t)cols / 32 + 1, sizeof *of_tile);
  int64_t p = 0;

  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p + base);
    for (int64_t t = 0; t * 32 < cols; t++) {
      if (i % 16 == 0) of_tile[t] = pattern == MIXED ? random_next() % PATTERNS : pattern;
      fill_tile_row(list, t * 32, cols, of_tile[t] == MIXED ? 0 : density, of_tile[t]);
    }
    for (int64_t j = 0; j < cols; j++) {
      if (!list[j]) continue;
      put(o.columns, index, p, j + base);
      ((uint16_t *)o.a.values)[p++] =
          random_next() % 9 ? (uint16_t)random_next() : (uint16_t)(random_next() << 15);
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  free(list);
  free(of_tile);
  return o;
}

/* ---- a packed matrix --------------------------------------------------------------- */

struct packed {
  struct shunt_tile v;
  unsigned char *memory;
  size_t bytes;
  int overrun; /* refused, or wrote beyond its memory */
};

static inline struct packed pack(const struct owned *o, int reorder, int64_t sparse_room,
                                 int64_t dense_room)
{
  struct shunt_tile_layout layout = {reorder, sparse_room, dense_room};
  struct packed k;

  k.bytes = shunt_tile_bytes(&o->a, &layout);
  k.memory = malloc(k.bytes + 64);
  memset(k.memory, 0xee, k.bytes + 64);
  k.overrun = !shunt_tile_lay_out(&o->a, &layout, k.memory, &k.v) ||
              shunt_csr_to_tile_host(&o->a, &layout, &k.v) != SHUNT_OK;
  for (int i = 0; i < 64; i++) k.overrun |= k.memory[k.bytes + (size_t)i] != 0xee;
  return k;
}

/* csr -> tile -> csr gives the same bytes. */
static inline int round_trip(const struct owned *o, const struct packed *k)
{
  shunt_type index = o->a.index_type;
  size_t size = shunt_type_size(index);
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, index, SHUNT_F16, o->a.base);
  int same = shunt_tile_to_csr_host(&k->v, &back.a) == SHUNT_OK && back.a.nnz == o->a.nnz &&
             back.a.rows == o->a.rows && back.a.cols == o->a.cols &&
             !memcmp(back.offsets, o->offsets, (size_t)(o->a.rows + 1) * size) &&
             !memcmp(back.columns, o->columns, (size_t)o->a.nnz * size) &&
             !memcmp(back.a.values, o->a.values, (size_t)o->a.nnz * 2);

  owned_free(&back);
  return same;
}

/* ---- the format's rules ------------------------------------------------------------ */

/* Values that are no entries are zeros; there are entries. */
static inline int values_right(const struct shunt_tile_list *list, int64_t tile)
{
  int entries = 0, good = 1;

  for (int i = 0; i < SHUNT_TILE_VALUES; i++) {
    int there = list->present[tile * 32 + i / 8] >> i % 8 & 1;
    good &= there || list->values[tile * 256 + i] == 0;
    entries += there;
  }
  return good && entries > 0;
}

/* Every pair ascends; order names each column once. */
static inline int description_right(const struct shunt_tile *v, int64_t tile)
{
  uint32_t seen = 0;
  int good = 1;

  for (int i = 0; i < 16 * 8; i++) {
    uint32_t pair = v->metadata[tile * 16 + i / 8] >> (i % 8 * 4);
    good &= (pair & 3) < (pair >> 2 & 3);
  }
  for (int c = 0; v->order && c < 32; c++) seen |= UINT32_C(1) << v->order[tile * 32 + c];
  return good && (!v->order || seen == ~UINT32_C(0));
}

/* The strip of a tile of either list, for a chunk: 0 or 1; -1: left of it; 2: right. */
static inline int strip_in_chunk(int64_t strip, int64_t chunk)
{
  return strip < 2 * chunk ? -1 : strip > 2 * chunk + 1 ? 2 : (int)(strip - 2 * chunk);
}

/* The table says of block row b what its lists hold in a chunk, looked through one by one. */
static inline int chunk_right(const struct shunt_tile *v, int64_t b, int64_t chunk)
{
  struct shunt_tile_chunk want = {v->sparse.begin[b], v->dense.begin[b], 0};
  const struct shunt_tile_chunk *got = v->chunk + chunk * v->blocks + b;

  for (uint32_t i = v->sparse.begin[b]; i < v->sparse.begin[b + 1]; i++) {
    int strip = strip_in_chunk(v->sparse.column[i], chunk), ordered = 0;
    for (int c = 0; v->order && c < 32; c++) ordered |= v->order[i * 32 + (uint32_t)c] != c;
    want.sparse += strip < 0;
    if (strip == 0 || strip == 1) want.kinds |= (ordered ? 4u : 1u) << strip;
  }
  for (uint32_t i = v->dense.begin[b]; i < v->dense.begin[b + 1]; i++) {
    int strip = strip_in_chunk(v->dense.column[i] / 2, chunk);
    want.dense += strip < 0;
    if (strip == 0 || strip == 1) want.kinds |= (v->dense.column[i] % 2 ? 64u : 16u) << strip;
  }
  return want.sparse == got->sparse && want.dense == got->dense && want.kinds == got->kinds;
}

static inline int chunks_right(const struct shunt_tile *v)
{
  int good = v->chunk != NULL;

  for (int64_t c = 0; v->chunk && c * 64 < v->cols; c++)
    for (int64_t b = 0; b < v->blocks; b++) good &= chunk_right(v, b, c);
  return good;
}

static inline int rules_hold(const struct shunt_tile *v)
{
  int good = v->sparse.begin[0] == 0 && v->dense.begin[0] == 0;

  for (int dense = 0; dense < 2; dense++) {
    const struct shunt_tile_list *list = dense ? &v->dense : &v->sparse;
    for (int64_t b = 0; b < v->blocks; b++) {
      good &= list->begin[b] <= list->begin[b + 1];
      for (int64_t i = list->begin[b]; i < list->begin[b + 1]; i++) {
        for (int p = 0; list->gather && p < (dense ? 16 : 32); p++)
          good &= list->gather[i * (dense ? 16 : 32) + p] < v->cols;
        good &= list->gather || i == list->begin[b] || list->column[i - 1] < list->column[i];
        good &= list->gather || (int64_t)list->column[i] * (dense ? 16 : 32) < v->cols;
        good &= values_right(list, i) && (dense || description_right(v, i));
      }
    }
    good &= (int64_t)list->begin[v->blocks] <= list->room;
  }
  return good;
}

#endif
