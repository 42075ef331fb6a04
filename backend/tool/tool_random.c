/* tool_random.c: V x 1 vectors anywhere.

   The pattern is drawn over its grid of v x 1 cells, read row by row:

     columns ->  . . x . .   | geometric steps from one x to the next draw each
     group 0     . . . . x   | cell with probability p, in O(nonzeros); p is a
     group 1     x . . . .   | little more than wanted, and the surplus is then
                             | dropped by selection sampling (Knuth 3.4.2 S).  */
#include <math.h>
#include <stdlib.h>

#include "backend/tool/tool.h"
#include "backend/tool/tool_draw.h"

/* Cells of a grid drawn with probability p, ascending; returns how many of them
   there are, at most `room`.  */
static int64_t draw_cells(int64_t grid, double p, int64_t room, uint64_t *state, int64_t *cells)
{
  int64_t count = 0;
  double scale = step_scale(p);
  for (int64_t at = -1; count < room;) {
    double step = p < 1 ? next_step(scale, state) : 0;
    if (step >= (double)(grid - at - 1)) break;
    at += 1 + (int64_t)step;
    cells[count++] = at;
  }
  return count;
}

/* Exactly `wanted` cells of `grid`, ascending, each such set equally likely. */
static bool choose_cells(int64_t grid, int64_t wanted, uint64_t seed, int64_t *cells, int64_t room)
{
  double slack = 4 * sqrt((double)wanted) + 16;
  double p = ((double)wanted + slack) / (double)grid;
  for (int attempt = 0; attempt < 64; attempt++) {
    uint64_t state = seed + 0x51ed2701u * (uint64_t)attempt;
    int64_t drawn = draw_cells(grid, p, room, &state, cells);
    if (drawn < wanted || (drawn == room && p < 1)) continue;
    int64_t kept = 0;
    for (int64_t i = 0; kept < wanted; i++)
      if (uniform(&state) * (double)(drawn - i) < (double)(wanted - kept)) cells[kept++] = cells[i];
    return true;
  }
  return false;
}

/* Group g of v rows gets the cells of its grid row; the last group may be short. */
static void fill_vectors(const int64_t *cells, int64_t count, int v, struct shunt_matrix *m)
{
  int64_t at = 0, used = 0;
  m->row_offsets[0] = 0;
  for (int64_t first = 0; first < m->rows; first += v) {
    int64_t group = first / v, begin = at;
    while (at < count && cells[at] / m->cols == group) at++;
    for (int64_t i = first; i < first + v && i < m->rows; i++) {
      for (int64_t c = begin; c < at; c++) m->columns[used++] = cells[c] % m->cols;
      m->row_offsets[i + 1] = used;
    }
  }
  m->nnz = used;
}

bool tool_random_pattern(int64_t rows, int64_t cols, int64_t nnz, int v, uint64_t seed,
                         struct shunt_matrix *out)
{
  int64_t grid = (rows + v - 1) / v * cols, wanted = (nnz + v / 2) / v;
  if (wanted > grid) wanted = grid;
  int64_t room = wanted + (int64_t)(10 * sqrt((double)wanted)) + 64;
  if (room > grid) room = grid;

  *out = (struct shunt_matrix){.rows = rows, .cols = cols, .pattern = 1};
  if (!tool_fits_memory(8.0 * ((double)rows + (double)room + (double)wanted * v), "the pattern"))
    return false;
  int64_t *cells = malloc((size_t)(room + 1) * sizeof *cells);
  out->row_offsets = malloc((size_t)(rows + 1) * sizeof *out->row_offsets);
  out->columns = malloc((size_t)(wanted * v + 1) * sizeof *out->columns);
  bool good = cells && out->row_offsets && out->columns &&
              (wanted == 0 || choose_cells(grid, wanted, seed, cells, room));
  if (good) fill_vectors(cells, wanted, v, out);
  free(cells);
  return good || tool_out_of_memory(out);
}
