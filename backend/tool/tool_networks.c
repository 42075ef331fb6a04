/* tool_networks.c: made-up patterns of neural networks.

     skewed   A pruned layer.  The magnitude of an entry is that of a normal number, times
              exp(SPREAD r) with a normal number r of its row, times exp(SPREAD c / 2) with one of
              its column.  The share DENSITY that is largest is kept.
     window   A mask of attention.  Each row has the columns at most WIDTH from the diagonal; FULL
              rows anywhere, and the columns of the same numbers, are full: tokens that see all and
              that all see.

   What is drawn for a cell of skewed depends on the seed and the cell alone, so that each pass
   finds the same magnitudes and none is stored.  */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "backend/tool/tool_draw.h"
#include "backend/tool/tool_patterns.h"

/* Logarithms of magnitudes are counted in bins, so fine that one has few of the cells that
   are kept.  What lies beyond the edges counts at them.  */
enum { MOST_CELLS = 1 << 28, BINS = 1 << 20, EDGE = 32 };

/* ---- skewed ------------------------------------------------------------------ */

/* Of the standard normal distribution, as Box and Muller draw it. */
static double normal(uint64_t *state)
{
  static const double turn = 6.283185307179586;
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(turn * uniform(state));
}

static int bin_of(const struct made *m, int64_t row, int64_t col)
{
  uint64_t state = m->cells + (uint64_t)(row * m->cols + col);
  double x = log(fabs(normal(&state))) + m->weights[row] + m->weights[m->rows + col];
  return (int)((fmin(fmax(x, -EDGE), EDGE) + EDGE) / (2 * EDGE) * (BINS - 1));
}

/* The bin from which on there are as many cells as are to be kept. */
static int least_bin(const struct made *m, int64_t *counts)
{
  const int64_t wanted = llround(m->entries);
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) {
      int bin = bin_of(m, i, j);
#pragma omp atomic
      counts[bin]++;
    }
  int bin = BINS;
  for (int64_t kept = 0; bin > 0 && kept < wanted;) kept += counts[--bin];
  return bin;
}

bool tool_prepare_skewed(struct made *m, uint64_t seed)
{
  const int64_t weights = m->rows + m->cols;
  if (!tool_fits_memory(8 * (double)weights, "the pattern")) return false;
  int64_t *counts = calloc(BINS, sizeof *counts);
  m->weights = malloc((size_t)weights * sizeof *m->weights);
  bool good = counts && m->weights;
  if (good) {
    uint64_t state = seed;
    for (int64_t i = 0; i < weights; i++)
      m->weights[i] = (i < m->rows ? 1 : 0.5) * m->share[1] * normal(&state);
    m->cells = shunt_splitmix64(&state);
    m->least = least_bin(m, counts);
  } else {
    tool_say("out of memory");
  }
  free(counts);
  return good;
}

/* By all threads: a row is one thread's. */
void tool_emit_skewed(struct made *m, uint64_t seed)
{
  (void)seed;
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++)
      if (bin_of(m, i, j) >= m->least) emit(m, i, j);
}

bool tool_read_skewed(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "skewed:%" SCNd64 "x%" SCNd64 ":%lf:%lf%n", &m->rows, &m->cols, &m->share[0],
             &m->share[1], used) < 4)
    return false;
  const double cells = (double)m->rows * (double)m->cols;
  m->entries = cells * m->share[0];
  return cells <= MOST_CELLS && m->share[0] > 0 && m->share[0] <= 1 && m->share[1] > 0 &&
         m->share[1] <= 3;
}

/* ---- window ------------------------------------------------------------------ */

/* Each choice of rows equally likely: selection sampling (Knuth 3.4.2 S). */
bool tool_prepare_window(struct made *m, uint64_t seed)
{
  uint64_t state = seed;
  int64_t chosen = 0;
  m->full = malloc((size_t)(m->fulls + 1) * sizeof *m->full);
  if (!m->full) {
    tool_say("out of memory");
    return false;
  }
  for (int64_t i = 0; chosen < m->fulls; i++)
    if (uniform(&state) * (double)(m->rows - i) < (double)(m->fulls - chosen))
      m->full[chosen++] = i;
  return true;
}

void tool_emit_window(struct made *m, uint64_t seed)
{
  int64_t next = 0;
  (void)seed;
  for (int64_t i = 0; i < m->rows; i++) {
    bool is_full = next < m->fulls && m->full[next] == i;
    int64_t first = is_full || i < m->number ? 0 : i - m->number;
    int64_t last = is_full || i + m->number >= m->rows ? m->rows - 1 : i + m->number;
    next += is_full;
    for (int64_t f = 0; f < m->fulls && m->full[f] < first; f++) emit(m, i, m->full[f]);
    for (int64_t j = first; j <= last; j++) emit(m, i, j);
    for (int64_t f = 0; f < m->fulls; f++)
      if (m->full[f] > last) emit(m, i, m->full[f]);
  }
}

bool tool_read_window(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "window:%" SCNd64 ":%" SCNd64 ":%" SCNd64 "%n", &m->rows, &m->number, &m->fulls,
             used) < 3)
    return false;
  m->cols = m->rows;
  m->entries = (double)m->rows * (1 + 2 * (double)m->number + 2 * (double)m->fulls);
  m->entries = fmin(m->entries, (double)m->rows * (double)m->rows);
  return m->number >= 0 && m->number < m->rows && m->fulls >= 0 && m->fulls < m->rows;
}
