/* inspect_layout.c: the panels of the picture, their cells and strips, and its words. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/inspect/inspect_picture.h"

const char *const picture_colours[INSPECT_KINDS][2] = {
    {"#0059b3", "#5aa9ff"}, {"#00845f", "#2fd6a5"}, {"#d98a00", "#ffc04d"}, {"#b04a8c", "#f09acb"},
    {"#6f7680", "#a3abb6"}, {"#0059b3", "#5aa9ff"}, {"#c94f00", "#ff8f52"}};
const double picture_opacity[PICTURE_DEPTHS] = {0.22, 0.4, 0.6, 0.8, 1};

/* ---- cells ---------------------------------------------------------------------------------- */

static const uint64_t *cell_at(const struct inspect_grid *g, int y, int x)
{
  return &g->cell[((size_t)y * (size_t)g->wide + (size_t)x) * INSPECT_KINDS];
}

static uint64_t in_cell(const uint64_t *c, const struct picture_panel *p)
{
  uint64_t n = 0;
  for (int k = p->first; k < p->end; k++) n += c[k];
  return n;
}

static int main_kind(const uint64_t *c, const struct picture_panel *p)
{
  int best = p->first;
  for (int k = p->first; k < p->end; k++)
    if (c[k] > c[best]) best = k;
  return best;
}

static double density(const struct inspect_grid *g, const struct picture_panel *p, int y, int x)
{
  return (double)in_cell(cell_at(g, y, x), p) / (double)shunt_density_extent(g->rows, g->high, y) /
         (double)shunt_density_extent(g->cols, g->wide, x);
}

static double densest(const struct inspect_grid *g, const struct picture_panel *p)
{
  double most = 0;
  for (int y = 0; y < g->high; y++)
    for (int x = 0; x < g->wide; x++) most = fmax(most, density(g, p, y, x));
  return most;
}

int picture_cell(const struct inspect_grid *g, const struct picture_panel *p, int y, int x,
                 int *kind)
{
  *kind = main_kind(cell_at(g, y, x), p);
  const double part = p->most > 0 ? density(g, p, y, x) / p->most : 0;
  return part > 0 ? shunt_density_depth(part) : -1;
}

/* ---- strips --------------------------------------------------------------------------------- */

int picture_bars(const struct inspect_grid *g)
{
  return (int)(g->strips < INSPECT_CELLS ? g->strips : INSPECT_CELLS);
}

struct picture_bar picture_bar(const struct inspect_grid *g, const struct picture_panel *p, int i)
{
  const int bars = picture_bars(g);
  const int64_t first = i * g->strips / bars, end = (i + 1) * g->strips / bars;
  const double right = fmin((double)(end * INSPECT_STRIP) / (double)g->cols, 1);
  struct picture_bar bar = {.x = p->x +
                                 p->width * (double)(first * INSPECT_STRIP) / (double)g->cols};
  for (int64_t k = first; k < end; k++) bar.share += g->strip[k] / (double)(end - first);
  bar.width = fmax(p->x + p->width * right - bar.x - 0.3, 0.3);
  return bar;
}

/* ---- words ---------------------------------------------------------------------------------- */

void picture_legend(const struct inspect_grid *g, const struct picture_panel *p, int kind,
                    char text[PICTURE_TEXT])
{
  uint64_t all = 0;
  for (int k = p->first; k < p->end; k++) all += g->entries[k];
  snprintf(text, PICTURE_TEXT, "%s: %.1f %% of the entries",
           inspect_kind_name((enum inspect_kind)kind),
           all ? 100.0 * (double)g->entries[kind] / (double)all : 0);
}

static void put_words(const struct inspection *i, struct picture *out)
{
  const struct inspect_grid *g = out->g;
  const char *slash = strrchr(i->file, '/');
  char rows[32], cols[32], nnz[32];
  snprintf(out->title, PICTURE_TEXT, "%s", slash ? slash + 1 : i->file);
  snprintf(out->sizes, PICTURE_TEXT, "%s x %s, %s entries; a cell: %.0f x %.0f",
           tool_grouped(g->rows, rows), tool_grouped(g->cols, cols), tool_grouped(i->p.nnz, nnz),
           ceil((double)g->rows / g->high), ceil((double)g->cols / g->wide));
  snprintf(out->shades, PICTURE_TEXT, "deepest: %.3g %% of a cell filled; each step a quarter",
           100 * out->panel[1].most);
  snprintf(out->strips[0], PICTURE_TEXT,
           "bars above: strips of 64 columns, stronger where more rows have an entry;");
  snprintf(out->strips[1], PICTURE_TEXT, "outlined: none (%" PRId64 " of %" PRId64 ")",
           g->empty_strips, g->strips);
}

void picture_lay_out(const struct inspection *i, struct picture *out)
{
  const struct inspect_grid *g = &i->grid;
  const double shape = (double)g->rows / (double)g->cols;
  struct picture_panel *vectors = &out->panel[0], *tiles = &out->panel[1];
  out->g = g;
  *vectors = (struct picture_panel){.x = PICTURE_MARGIN, .y = PICTURE_TOP};
  vectors->height = PICTURE_PANEL * fmin(fmax(shape, 0.25), 1);
  vectors->width = shape > 1 ? PICTURE_PANEL * fmax(1 / shape, 0.25) : PICTURE_PANEL;
  *tiles = *vectors;
  tiles->x += PICTURE_PANEL + PICTURE_GAP;
  vectors->end = tiles->first = INSPECT_VECTOR_KINDS;
  tiles->end = INSPECT_KINDS;
  vectors->title = "vectors: columns that 8 aligned rows share";
  tiles->title = "tiles: 16 rows x 32 columns, aligned";
  vectors->most = densest(g, vectors);
  tiles->most = densest(g, tiles);
  out->legend = PICTURE_TOP + vectors->height + 36;
  out->width = 2 * (PICTURE_MARGIN + PICTURE_PANEL) + PICTURE_GAP;
  out->height = out->legend + PICTURE_LINE * INSPECT_VECTOR_KINDS + 18;
  put_words(i, out);
}
