/* tool_patterns.c: patterns made up from a word.

     random:ROWSxCOLUMNS:DENSITY[:V]   exactly so many aligned V x 1 vectors, anywhere
                                       (tool_random.c)
     shuffled:ROWSxCOLUMNS:DENSITY:V[:LOST]   the same, rows in a random order, some entries lost
     rmat:ROWS:MEAN                    a graph whose degrees follow a power law: MEAN edges a row,
                                       each found by descending into quadrants (R-MAT, Chakrabarti,
                                       Zhan, Faloutsos, SDM 2004); repeated edges count once
     band:ROWS:WIDTH:DENSITY           the diagonal, and so much of WIDTH diagonals on each side
     mesh:XxYxZ:B                      a finite-element matrix: points of a box coupled with their
                                       26 neighbours, each coupling a full B x B block, i.e. the
                                       stencil's pattern (x) ones(B, B)
     tiles:ROWSxCOLUMNS:DENSE:TWO      aligned 16 x 32 tiles: a share DENSE of them full, a share
                                       TWO with two entries in each four of a row, the rest empty
     skewed:ROWSxCOLUMNS:DENSITY:SPREAD   a pruned layer whose rows and columns differ in length
                                       (tool_networks.c)
     window:ROWS:WIDTH:FULL            a mask of attention: WIDTH diagonals on each side, FULL rows
                                       and their columns full (tool_networks.c)

   All but the first are emitted entry by entry, twice: to count the rows, and to fill them.  */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/tool.h"
#include "backend/tool/tool_draw.h"
#include "backend/tool/tool_patterns.h"

/* One edge, that falls into the matrix. */
static void draw_edge(const struct made *m, int levels, uint64_t *state, int64_t *row, int64_t *col)
{
  /* Of the quadrants upper left, upper right, lower left; Graph500's. */
  static const double a = 0.57, b = 0.19, c = 0.19;
  do {
    *row = *col = 0;
    for (int l = 0; l < levels; l++) {
      double u = uniform(state);
      *row = 2 * *row + (u >= a + b);
      *col = 2 * *col + ((u >= a && u < a + b) || u >= a + b + c);
    }
  } while (*row >= m->rows || *col >= m->cols);
}

/* By all threads: what order a row's edges come in does not matter, they are sorted. */
static void emit_rmat(struct made *m, uint64_t seed)
{
  const int64_t edges = m->rows * m->number, piece = 1 << 16;
  struct shunt_matrix *out = m->out;
  int levels = 0;
  while ((int64_t)1 << levels < m->rows) levels++;
#pragma omp parallel for schedule(dynamic)
  for (int64_t first = 0; first < edges; first += piece) {
    /* Hashed: states that are multiples of splitmix64's own step apart are one sequence. */
    uint64_t start = seed + (uint64_t)first, state = shunt_splitmix64(&start);
    for (int64_t e = first; e < first + piece && e < edges; e++) {
      int64_t row, col, at, *to;
      draw_edge(m, levels, &state, &row, &col);
      to = &out->row_offsets[row + !m->fill];
#pragma omp atomic capture
      at = (*to)++;
      if (m->fill) out->columns[at] = col;
    }
  }
}

static void emit_band(struct made *m, uint64_t seed)
{
  uint64_t state = seed;
  const double p = m->share[0], scale = step_scale(p);
  for (int64_t i = 0; i < m->rows; i++) {
    int64_t first = i - m->number < 0 ? 0 : i - m->number;
    int64_t last = i + m->number < m->rows ? i + m->number : m->rows - 1;
    emit(m, i, i);
    if (p <= 0) continue;
    for (int64_t at = first - 1;;) {
      double step = p < 1 ? next_step(scale, &state) : 0;
      if (step >= (double)(last - at)) break;
      at += 1 + (int64_t)step;
      if (at != i) emit(m, i, at);
    }
  }
}

static void emit_block(struct made *m, int64_t p, int64_t q)
{
  for (int64_t i = 0; i < m->number; i++)
    for (int64_t j = 0; j < m->number; j++) emit(m, p * m->number + i, q * m->number + j);
}

static bool inside(const struct made *m, const int64_t at[3])
{
  for (int d = 0; d < 3; d++)
    if (at[d] < 0 || at[d] >= m->size[d]) return false;
  return true;
}

static void emit_mesh(struct made *m, uint64_t seed)
{
  const int64_t *s = m->size;
  (void)seed;
  for (int64_t p = 0; p < s[0] * s[1] * s[2]; p++)
    for (int n = 0; n < 27; n++) {
      const int64_t at[3] = {p % s[0] + n % 3 - 1, p / s[0] % s[1] + n / 3 % 3 - 1,
                             p / s[0] / s[1] + n / 9 - 1};
      if (inside(m, at)) emit_block(m, p, at[0] + s[0] * (at[1] + s[1] * at[2]));
    }
}

enum { TILE_ROWS = 16, TILE_COLS = 32, QUAD = 4 };

static void emit_tile(struct made *m, int64_t row, int64_t col, bool dense, uint64_t *state)
{
  for (int64_t i = row; i < row + TILE_ROWS; i++)
    for (int64_t j = col; j < col + TILE_COLS; j += QUAD) {
      /* Two of four: six ways. */
      static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      const int *p = pair[shunt_splitmix64(state) % 6];
      for (int q = 0; q < QUAD; q++)
        if ((dense || q == p[0] || q == p[1]) && i < m->rows && j + q < m->cols) emit(m, i, j + q);
    }
}

/* Exactly the wanted numbers of both kinds: each tile is what the rest still lacks with the
   probability that makes all choices equally likely.  */
static void emit_tiles(struct made *m, uint64_t seed)
{
  uint64_t state = seed;
  const int64_t down = (m->rows + TILE_ROWS - 1) / TILE_ROWS,
                across = (m->cols + TILE_COLS - 1) / TILE_COLS;
  int64_t left = down * across;
  int64_t dense = llround(m->share[0] * (double)left), two = llround(m->share[1] * (double)left);
  if (dense + two > left) two = left - dense;
  for (int64_t t = 0; t < down * across; t++, left--) {
    double u = uniform(&state) * (double)left;
    bool is_dense = u < (double)dense, is_two = !is_dense && u < (double)(dense + two);
    dense -= is_dense;
    two -= is_two;
    if (is_dense || is_two)
      emit_tile(m, t / across * TILE_ROWS, t % across * TILE_COLS, is_dense, &state);
  }
}

static int compare_columns(const void *x, const void *y)
{
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Sorts each row, drops what stands twice. */
static void sort_rows(struct shunt_matrix *m)
{
  int64_t used = 0, begin = 0;
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t i = 0; i < m->rows; i++)
    qsort(m->columns + m->row_offsets[i], (size_t)(m->row_offsets[i + 1] - m->row_offsets[i]),
          sizeof *m->columns, compare_columns);
  for (int64_t i = 0; i < m->rows; i++) {
    int64_t end = m->row_offsets[i + 1], first = used;
    for (int64_t p = begin; p < end; p++)
      if (used == first || m->columns[used - 1] != m->columns[p])
        m->columns[used++] = m->columns[p];
    m->row_offsets[i + 1] = used;
    begin = end;
  }
  m->nnz = used;
}

static bool make(struct made *m, void (*entries)(struct made *, uint64_t), uint64_t seed)
{
  struct shunt_matrix *out = m->out;
  *out = (struct shunt_matrix){.rows = m->rows, .cols = m->cols, .pattern = 1};
  if (!tool_fits_memory(8 * ((double)m->rows + m->entries), "the pattern")) return false;
  out->row_offsets = calloc((size_t)m->rows + 1, sizeof *out->row_offsets);
  if (!out->row_offsets) return tool_out_of_memory(out);
  entries(m, seed);
  for (int64_t i = 0; i < m->rows; i++) out->row_offsets[i + 1] += out->row_offsets[i];
  out->columns = malloc((size_t)(out->row_offsets[m->rows] + 1) * sizeof *out->columns);
  if (!out->columns) return tool_out_of_memory(out);
  m->fill = true;
  entries(m, seed);
  /* Filling has moved each row's offset to its end, where the next begins. */
  memmove(out->row_offsets + 1, out->row_offsets, (size_t)m->rows * sizeof *out->row_offsets);
  out->row_offsets[0] = 0;
  sort_rows(out);
  return true;
}

/* ---- words ------------------------------------------------------------------ */

/* %n wants an int that says how much was read, so that nothing may follow. */
static bool parse_random(const char *text, int v, uint64_t seed, struct shunt_matrix *out)
{
  int64_t rows, cols;
  double density;
  int own_v = 0, used = 0;
  int fields = sscanf(text, "random:%" SCNd64 "x%" SCNd64 ":%lf%n:%d%n", &rows, &cols, &density,
                      &used, &own_v, &used);
  if (fields < 3 || text[used] || (fields == 4 && (own_v < 1 || own_v > TOOL_MAX_V))) {
    tool_say("'%s': expected random:ROWSxCOLUMNS:DENSITY or random:ROWSxCOLUMNS:DENSITY:V, as in "
             "random:4096x4096:0.1:8 (V up to %d)",
             text, TOOL_MAX_V);
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

/* ---- shuffled: the same with its rows in another order ------------------------ */

static void swap_rows(int64_t *order, int64_t rows, uint64_t *state)
{
  for (int64_t i = 0; i < rows; i++) order[i] = i;
  for (int64_t i = rows - 1; i > 0; i--) {
    int64_t j = (int64_t)(shunt_splitmix64(state) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Rows of m in a random order, each entry lost with probability `lost`. */
static bool shuffle(struct shunt_matrix *m, double lost, uint64_t seed)
{
  struct shunt_matrix out = {.rows = m->rows, .cols = m->cols, .pattern = 1};
  uint64_t state = seed ^ 0x5bd1e995u;
  int64_t *order = malloc((size_t)m->rows * sizeof *order);
  out.row_offsets = malloc((size_t)(m->rows + 1) * sizeof *out.row_offsets);
  out.columns = malloc((size_t)(m->nnz + 1) * sizeof *out.columns);
  bool good = order && out.row_offsets && out.columns;
  if (good) {
    swap_rows(order, m->rows, &state);
    for (int64_t i = 0; i < m->rows; i++) {
      out.row_offsets[i] = out.nnz;
      for (int64_t p = m->row_offsets[order[i]]; p < m->row_offsets[order[i] + 1]; p++)
        if (uniform(&state) >= lost) out.columns[out.nnz++] = m->columns[p];
    }
    out.row_offsets[m->rows] = out.nnz;
  }
  free(order);
  shunt_matrix_free(m);
  *m = out;
  return good || tool_out_of_memory(m);
}

static bool parse_shuffled(const char *text, uint64_t seed, struct shunt_matrix *out)
{
  char vectors[128];
  double lost = 0;
  int length = 0, used = 0;
  sscanf(text, "shuffled%n:%*[0-9]x%*[0-9]:%*[0-9.eE-]:%*[0-9]%n", &used, &length);
  if (!length ||
      (text[length] &&
       (sscanf(text + length, ":%lf%n", &lost, &used) < 1 || text[length + used])) ||
      !(lost >= 0 && lost <= 1) || length - 8 >= (int)sizeof vectors - 7) {
    tool_say("'%s': expected shuffled:ROWSxCOLUMNS:DENSITY:V or "
             "shuffled:ROWSxCOLUMNS:DENSITY:V:LOST, as in shuffled:4096x4096:0.1:8:0.1",
             text);
    return false;
  }
  snprintf(vectors, sizeof vectors, "random%.*s", length - 8, text + 8);
  return parse_random(vectors, 1, seed, out) && shuffle(out, lost, seed);
}

static bool read_rmat(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "rmat:%" SCNd64 ":%" SCNd64 "%n", &m->rows, &m->number, used) < 2) return false;
  m->cols = m->rows;
  m->entries = (double)m->rows * (double)m->number;
  return m->number >= 1 && m->number <= m->rows;
}

static bool read_band(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "band:%" SCNd64 ":%" SCNd64 ":%lf%n", &m->rows, &m->number, &m->share[0], used) <
      3)
    return false;
  m->cols = m->rows;
  m->entries = (double)m->rows * (1 + 2.1 * (double)m->number * m->share[0]);
  return m->number >= 0 && m->number < m->rows && m->share[0] >= 0 && m->share[0] <= 1;
}

static bool read_mesh(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "mesh:%" SCNd64 "x%" SCNd64 "x%" SCNd64 ":%" SCNd64 "%n", &m->size[0],
             &m->size[1], &m->size[2], &m->number, used) < 4)
    return false;
  double points = 1;
  for (int d = 0; d < 3; d++) {
    if (m->size[d] < 1 || m->size[d] > MOST) return false;
    points *= (double)m->size[d];
  }
  if (m->number < 1 || m->number > TOOL_MAX_V || points * (double)m->number > MOST) return false;
  m->rows = m->cols = m->size[0] * m->size[1] * m->size[2] * m->number;
  m->entries = 27 * points * (double)(m->number * m->number);
  return true;
}

static bool read_tiles(const char *text, int *used, struct made *m)
{
  if (sscanf(text, "tiles:%" SCNd64 "x%" SCNd64 ":%lf:%lf%n", &m->rows, &m->cols, &m->share[0],
             &m->share[1], used) < 4)
    return false;
  m->entries = ((double)m->rows + 16) * ((double)m->cols + 32) * (m->share[0] + m->share[1] / 2);
  return m->share[0] >= 0 && m->share[1] >= 0 && m->share[0] + m->share[1] <= 1;
}

static const struct kind {
  const char *prefix, *form;
  bool (*read)(const char *text, int *used, struct made *m);
  void (*entries)(struct made *m, uint64_t seed);
  bool (*prepare)(struct made *m, uint64_t seed); /* before both passes; may be NULL */
} kinds[] = {
    {"rmat:", "rmat:ROWS:MEAN, as in rmat:1000000:8", read_rmat, emit_rmat, NULL},
    {"band:", "band:ROWS:WIDTH:DENSITY, as in band:100000:64:0.2", read_band, emit_band, NULL},
    {"mesh:", "mesh:XxYxZ:UNKNOWNS, as in mesh:40x40x40:3", read_mesh, emit_mesh, NULL},
    {"tiles:", "tiles:ROWSxCOLUMNS:DENSE:TWO, shares of the tiles, as in tiles:4096x4096:0.1:0.2",
     read_tiles, emit_tiles, NULL},
    {"skewed:",
     "skewed:ROWSxCOLUMNS:DENSITY:SPREAD, as in skewed:4096x4096:0.1:0.7 (up to 2^28 cells, the "
     "density and the spread above 0, the spread up to 3)",
     tool_read_skewed, tool_emit_skewed, tool_prepare_skewed},
    {"window:", "window:ROWS:WIDTH:FULL, as in window:4096:128:16 (WIDTH and FULL below ROWS)",
     tool_read_window, tool_emit_window, tool_prepare_window},
};

static bool make_kind(const struct kind *k, const char *text, uint64_t seed,
                      struct shunt_matrix *out)
{
  struct made m = {.out = out};
  int used = 0;
  if (!k->read(text, &used, &m) || text[used]) {
    tool_say("'%s': expected %s", text, k->form);
    return false;
  }
  if (m.rows < 1 || m.cols < 1 || m.rows > MOST || m.cols > MOST || m.entries > MOST) {
    tool_say("'%s': sizes go from 1 to %d, and so do nonzeros", text, MOST);
    return false;
  }
  bool good = (!k->prepare || k->prepare(&m, seed)) && make(&m, k->entries, seed);
  free(m.weights);
  free(m.full);
  return good;
}

enum tool_made tool_make_pattern(const char *text, int v, uint64_t seed, struct shunt_matrix *out)
{
  if (strncmp(text, "random:", 7) == 0)
    return parse_random(text, v, seed, out) ? TOOL_MADE_VECTORS : TOOL_NOT_MADE;
  if (strncmp(text, "shuffled:", 9) == 0)
    return parse_shuffled(text, seed, out) ? TOOL_MADE_VECTORS : TOOL_NOT_MADE;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
      return make_kind(&kinds[i], text, seed, out) ? TOOL_MADE : TOOL_NOT_MADE;
  return TOOL_NO_PATTERN;
}
