/* host_tile_order.c: an order of a tile's 32 columns in which it is 2:4, found by a greedy
   search; the slow twin of tile_order.cuh.

   The columns are put one by one into 8 quads of 4.  For each quad two sets of rows are kept,
   those with one entry or more in it and those with two:

     quad q      one[q], two[q]     16 bits, a row each

   A column fits where there is a place left and none of its rows is in `two`.  It meets those of
   its rows that are in `one`, and it clashes where its two quads, 2m and 2m + 1, have a
   column that is the same modulo 8: ldmatrix reads eight rows of B for these eight columns at
   once, and such two lie on one bank.

   Of the quads it fits a column takes the one with fewest rows met, a clash counting as one; the
   first of equals.  Columns with most entries go first, the first of equals.  When a column
   fits nowhere it is moved to the front of the list and all is tried anew.  First it is tried
   without any clash, which at sparsity 0.8 and above, and in finite-element matrices, nearly
   always does; then with.

   No order helps a row of more than 16 entries.  */
#include <limits.h>
#include <string.h>

#include "conv/tile/tile_conv.h"

enum { COLS = SHUNT_TILE_COLS, ROWS = SHUNT_TILE_ROWS, QUADS = SHUNT_TILE_QUADS };

/* The columns as sets of rows; 0 when a row has too many entries. */
static int turn(const uint32_t rows[ROWS], uint16_t columns[COLS])
{
  int possible = 1;

  memset(columns, 0, COLS * sizeof *columns);
  for (int r = 0; r < ROWS; r++) {
    possible &= __builtin_popcount(rows[r]) <= 2 * QUADS;
    for (int c = 0; c < COLS; c++) columns[c] |= (uint16_t)((rows[r] >> c & 1) << r);
  }
  return possible;
}

static void sort_by_entries(const uint16_t columns[COLS], uint8_t list[COLS])
{
  int n = 0;

  for (int entries = ROWS; entries >= 0; entries--)
    for (int c = 0; c < COLS; c++)
      if (__builtin_popcount(columns[c]) == entries) list[n++] = (uint8_t)c;
}

/* Puts the columns into quads in the list's order; returns how many found a place. */
static int place(const uint16_t columns[COLS], const uint8_t list[COLS], int strict,
                 uint8_t order[COLS])
{
  uint16_t one[QUADS] = {0}, two[QUADS] = {0};
  uint8_t residues[QUADS / 2] = {0};
  int filled[QUADS] = {0};

  for (int n = 0; n < COLS; n++) {
    uint16_t column = columns[list[n]];
    int best = -1, least = INT_MAX;
    for (int q = 0; q < QUADS; q++) {
      int clash = residues[q / 2] >> list[n] % 8 & 1;
      int cost = __builtin_popcount(one[q] & column) + clash;
      if (filled[q] == 4 || (two[q] & column) || (strict && clash) || cost >= least) continue;
      best = q, least = cost;
    }
    if (best < 0) return n;
    order[4 * best + filled[best]++] = list[n];
    residues[best / 2] |= (uint8_t)(1u << list[n] % 8);
    two[best] |= one[best] & column;
    one[best] |= column;
  }
  return COLS;
}

int shunt_tile_order(const uint32_t rows[ROWS], uint8_t order[COLS])
{
  uint16_t columns[COLS];
  uint8_t list[COLS];

  if (!turn(rows, columns)) return 0;
  for (int strict = 1; strict >= 0; strict--) {
    sort_by_entries(columns, list);
    for (int i = 0; i < SHUNT_TILE_TRIES; i++) {
      int placed = place(columns, list, strict, order);
      if (placed == COLS) return 1;
      uint8_t stuck = list[placed];
      memmove(list + 1, list, (size_t)placed);
      list[0] = stuck;
    }
  }
  return 0;
}
