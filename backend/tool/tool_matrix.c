/* tool_matrix.c: files, random patterns and problems into host CSR.

   A random pattern is drawn over its grid of v x 1 cells, read row by row:

     columns ->  . . x . .   | geometric steps from one x to the next draw each
     group 0     . . . . x   | cell with probability p, in O(nonzeros); p is a
     group 1     x . . . .   | little more than wanted, and the surplus is then
                             | dropped by selection sampling (Knuth 3.4.2 S).  */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/tool.h"

enum { MOST = INT32_MAX - 1024 }; /* rows, columns: what the kernels index */

/* ---- random numbers ------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state) /* in (0, 1) */
{
  return ((double)(next_random(state) >> 12) + 0.5) * 0x1p-52;
}

/* ---- patterns ------------------------------------------------------------- */

bool tool_fits_memory(double bytes, const char *what)
{
  double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= 0.7 * have) return true;
  tool_say("%s needs %.1f GB; this machine has %.1f GB", what, bytes / 1e9, have / 1e9);
  return false;
}

static bool out_of_memory(struct shunt_matrix *m)
{
  tool_say("out of memory");
  shunt_matrix_free(m);
  return false;
}

/* Cells of a grid drawn with probability p, ascending; returns how many of them
   there are, at most `room`.  */
static int64_t draw_cells(int64_t grid, double p, int64_t room, uint64_t *state, int64_t *cells)
{
  int64_t count = 0;
  double scale = p < 1 ? 1 / log1p(-p) : 0;
  for (int64_t at = -1; count < room;) {
    double step = p < 1 ? floor(log(uniform(state)) * scale) : 0;
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
static void fill_pattern(const int64_t *cells, int64_t count, int v, struct shunt_matrix *m)
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

  *out = (struct shunt_matrix){ .rows = rows, .cols = cols, .pattern = 1 };
  if (!tool_fits_memory(8.0 * ((double)rows + (double)room + (double)wanted * v), "the pattern"))
    return false;
  int64_t *cells = malloc((size_t)(room + 1) * sizeof *cells);
  out->row_offsets = malloc((size_t)(rows + 1) * sizeof *out->row_offsets);
  out->columns = malloc((size_t)(wanted * v + 1) * sizeof *out->columns);
  bool good = cells && out->row_offsets && out->columns &&
              (wanted == 0 || choose_cells(grid, wanted, seed, cells, room));
  if (good) fill_pattern(cells, wanted, v, out);
  free(cells);
  return good || out_of_memory(out);
}

/* Every entry becomes a v x 1 vector: row i of the file is rows i v .. i v + v - 1. */
static bool expand_vectors(struct shunt_matrix *m, int v)
{
  if (v == 1) return true;
  struct shunt_matrix wide = { .rows = m->rows * v, .cols = m->cols, .pattern = 1 };
  if (wide.rows > MOST || m->nnz > MOST / v) {
    tool_say("%d x 1 vectors make the matrix too large", v);
    shunt_matrix_free(m);
    return false;
  }
  wide.row_offsets = malloc((size_t)(wide.rows + 1) * sizeof *wide.row_offsets);
  wide.columns = malloc((size_t)(m->nnz * v + 1) * sizeof *wide.columns);
  if (!wide.row_offsets || !wide.columns) {
    shunt_matrix_free(m);
    return out_of_memory(&wide);
  }
  wide.row_offsets[0] = 0;
  for (int64_t i = 0; i < wide.rows; i++) {
    int64_t begin = m->row_offsets[i / v], length = m->row_offsets[i / v + 1] - begin;
    memcpy(wide.columns + wide.nnz, m->columns + begin, (size_t)length * sizeof *wide.columns);
    wide.nnz += length;
    wide.row_offsets[i + 1] = wide.nnz;
  }
  shunt_matrix_free(m);
  *m = wide;
  return true;
}

/* ---- sources -------------------------------------------------------------- */

static bool load_random(const char *text, int v, uint64_t seed, struct shunt_matrix *out)
{
  int64_t rows, cols;
  double density;
  int own_v = 0, used = 0;
  int fields = sscanf(text, "random:%" SCNd64 "x%" SCNd64 ":%lf%n:%d%n", &rows, &cols, &density,
                      &used, &own_v, &used);
  if (fields < 3 || text[used] || (fields == 4 && (own_v < 1 || own_v > TOOL_MAX_V))) {
    tool_say("'%s': expected random:ROWSxCOLUMNS:DENSITY or random:ROWSxCOLUMNS:DENSITY:V, as in "
             "random:4096x4096:0.1:8 (V up to %d)", text, TOOL_MAX_V);
    return false;
  }
  if (rows < 1 || cols < 1 || rows > MOST || cols > MOST || !(density >= 0 && density <= 1)) {
    tool_say("'%s': sizes go from 1 to %d, the density from 0 to 1", text, MOST);
    return false;
  }
  double nnz = (double)rows * (double)cols * density;
  if (nnz > MOST) {
    tool_say("'%s': %.3g nonzeros are more than %d", text, nnz, MOST);
    return false;
  }
  return tool_random_pattern(rows, cols, llround(nnz), own_v ? own_v : v, seed, out);
}

static bool load_problem(struct tool_source *s, int v, uint64_t seed, struct shunt_matrix *out)
{
  const struct shunt_problem *p = &s->problem;
  const struct shunt_csr *a = shunt_problem_sparse(p);
  if (p->format == SHUNT_BSR || p->format == SHUNT_BLOCKED_ELL || shunt_problem_transposed(p)) {
    tool_say("'%s': bench reruns problems in csr and coo whose sparse matrix is not transposed, "
             "and in csc where it is", s->text);
    return false;
  }
  if (p->batches != 1) {
    tool_say("'%s': bench reruns one product, not batches: leave away the part ':x%d...'", s->text,
             p->batches);
    return false;
  }
  if (a->rows < 1 || a->cols < 1 || a->rows > MOST || a->cols > MOST || a->nnz > MOST ||
      (double)a->nnz > (double)a->rows * (double)a->cols) {
    tool_say("'%s': sizes go from 1 to %d, and the nonzeros must fit the matrix", s->text, MOST);
    return false;
  }
  return tool_random_pattern(a->rows, a->cols, a->nnz, v, seed, out);
}

/* A word that was meant as a problem, not as a file. */
static bool looks_like_problem(const char *text)
{
  return strncmp(text, "spmm:", 5) == 0 || strncmp(text, "sddmm:", 6) == 0;
}

bool tool_load(const char *text, int v, uint64_t seed, struct tool_source *source,
               struct shunt_matrix *out)
{
  *source = (struct tool_source){ .text = text };
  *out = (struct shunt_matrix){ 0 };
  if (strncmp(text, "random:", 7) == 0) return load_random(text, v, seed, out);
  if (looks_like_problem(text)) {
    if (shunt_problem_parse(text, &source->problem) != SHUNT_OK) {
      tool_say("'%s': not a problem; expected the last column of a SHUNT_LOG=dispatch line, as in "
               "spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k4096z1677721:NN:rr:ld1024.1024:a1b0:alg0",
               text);
      return false;
    }
    source->from_problem = true;
    return load_problem(source, v, seed, out);
  }
  struct shunt_message why = { "" };
  if (shunt_read_matrix(text, out, &why) != SHUNT_OK) {
    tool_say("%s", why.text[0] ? why.text : "the matrix could not be read");
    return false;
  }
  return expand_vectors(out, v);
}

struct shunt_csr tool_view(const struct shunt_matrix *m)
{
  return (struct shunt_csr){ m->rows,   m->cols,   m->nnz,    m->row_offsets, m->columns,
                             m->values, SHUNT_I64, SHUNT_F64, 0 };
}

bool tool_write_csrbin(const char *path, const struct shunt_matrix *m)
{
  int64_t sizes[3] = { m->rows, m->cols, m->nnz };
  FILE *to = fopen(path, "wb");
  bool good = to && fwrite(sizes, sizeof sizes, 1, to) == 1 &&
              fwrite(m->row_offsets, sizeof(int64_t), (size_t)m->rows + 1, to) ==
                  (size_t)m->rows + 1;
  for (int64_t p = 0; good && p < m->nnz; p++) {
    int32_t column = (int32_t)m->columns[p];
    good = fwrite(&column, sizeof column, 1, to) == 1;
  }
  if (to && fclose(to) != 0) good = false;
  if (!good) tool_say("%s: %s", path, strerror(errno));
  return good;
}
