/* tool_patterns.h: what the makers of patterns share.

     tool_patterns.c    the words, the passes, and kinds of scattered matrices
     tool_networks.c    kinds of layers and masks  */
#ifndef SHUNT_TOOL_PATTERNS_H
#define SHUNT_TOOL_PATTERNS_H

#include "backend/tool/tool.h"

enum { MOST = INT32_MAX - 1024 }; /* rows, columns, entries: what the kernels index */

struct made {
  int64_t rows, cols;
  double entries;  /* about, or more */
  int64_t size[3]; /* mesh: points a side */
  int64_t number;  /* rmat: edges a row; band, window: diagonals a side; mesh: unknowns a point */
  double share[2]; /* band: density; tiles: dense, 2:4; skewed: density, spread */
  double *weights; /* skewed: logarithms of the factors of the rows, then of the columns */
  uint64_t cells;  /* skewed: the cells' numbers are drawn from here on */
  int least;       /* skewed: the bin of the smallest magnitude that is kept */
  int64_t *full;   /* window: the full rows, ascending, */
  int64_t fulls;   /* and how many */
  struct shunt_matrix *out;
  bool fill; /* else: count, in row_offsets[row + 1] */
};

static inline void emit(struct made *m, int64_t row, int64_t col)
{
  struct shunt_matrix *out = m->out;
  if (m->fill)
    out->columns[out->row_offsets[row]++] = col;
  else
    out->row_offsets[row + 1]++;
}

/* ---- tool_networks.c ------------------------------------------------------ */

bool tool_read_skewed(const char *text, int *used, struct made *m);
bool tool_prepare_skewed(struct made *m, uint64_t seed);
void tool_emit_skewed(struct made *m, uint64_t seed);
bool tool_read_window(const char *text, int *used, struct made *m);
bool tool_prepare_window(struct made *m, uint64_t seed);
void tool_emit_window(struct made *m, uint64_t seed);

#endif
