/* inspect_picture.c: the grid as SVG: two panels of cells, a row of strips, a legend.

     +-----------------+   +-----------------+
     | cells coloured  |   | the same by the |   strips: how many rows have an entry there
     | by the vectors  |   | tiles           |
     +-----------------+   +-----------------+
     title, legend with shares, what the shades mean

   A cell has the colour of the kind that most of its entries are of, the deeper the more entries it
   holds for its size.  Cells of one colour and depth are one path, runs of them one rectangle.
   Colours are told apart by those who see red and green alike, and follow the reader's light or
   dark setting.  */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/inspect/inspect.h"

enum { MARGIN = 24, PANEL = 460, GAP = 40, TOP = 96, STRIPS = 10, LINE = 22, DEPTHS = 5 };

/* Fill on light and on dark ground, by kind. */
static const char *const colours[INSPECT_KINDS][2] = {
    {"#0059b3", "#5aa9ff"}, {"#00845f", "#2fd6a5"}, {"#d98a00", "#ffc04d"}, {"#b04a8c", "#f09acb"},
    {"#6f7680", "#a3abb6"}, {"#0059b3", "#5aa9ff"}, {"#c94f00", "#ff8f52"}};
static const double depth_opacity[DEPTHS] = {0.22, 0.4, 0.6, 0.8, 1};

struct panel {
  double x, y, width, height;
  int first, end; /* kinds */
  const char *title;
};

/* ---- text ----------------------------------------------------------------------------------- */

static void put_text(FILE *f, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '&': fputs("&amp;", f); break;
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    default:
      if ((unsigned char)*text >= 32) fputc(*text, f);
    }
}

static void put_style(FILE *f)
{
  fputs("<style>\n"
        "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:14px;fill:#1c2024}\n"
        ".title{font-size:18px;font-weight:600}.small{font-size:12px;fill:#555d66}\n"
        ".ground{fill:#ffffff}.panel{fill:#f1f3f5;stroke:#9aa2ab}.strip{fill:#1c2024}"
        ".empty{fill:none;stroke:#c94f00}\n",
        f);
  for (int k = 0; k < INSPECT_KINDS; k++) fprintf(f, ".k%d{fill:%s}", k, colours[k][0]);
  for (int d = 0; d < DEPTHS; d++) fprintf(f, ".d%d{fill-opacity:%g}", d, depth_opacity[d]);
  fputs("\n@media (prefers-color-scheme:dark){\n"
        "text{fill:#e9ecef}.small{fill:#a9b1ba}.ground{fill:#14171a}"
        ".panel{fill:#20252a;stroke:#5b636c}.strip{fill:#e9ecef}.empty{stroke:#ff8f52}\n",
        f);
  for (int k = 0; k < INSPECT_KINDS; k++) fprintf(f, ".k%d{fill:%s}", k, colours[k][1]);
  fputs("}\n</style>\n", f);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static const uint64_t *cell_at(const struct inspect_grid *g, int y, int x)
{
  return &g->cell[((size_t)y * (size_t)g->wide + (size_t)x) * INSPECT_KINDS];
}

static uint64_t in_cell(const uint64_t *c, const struct panel *p)
{
  uint64_t n = 0;
  for (int k = p->first; k < p->end; k++) n += c[k];
  return n;
}

static int main_kind(const uint64_t *c, const struct panel *p)
{
  int best = p->first;
  for (int k = p->first; k < p->end; k++)
    if (c[k] > c[best]) best = k;
  return best;
}

/* Rows or columns of the matrix that cell i of n has; a cell holds [i * of / n] up. */
static double extent(int64_t of, int n, int i)
{
  return (double)(((int64_t)(i + 1) * of + n - 1) / n - ((int64_t)i * of + n - 1) / n);
}

static double density(const struct inspect_grid *g, const struct panel *p, int y, int x)
{
  return (double)in_cell(cell_at(g, y, x), p) / extent(g->rows, g->high, y) /
         extent(g->cols, g->wide, x);
}

static double densest(const struct inspect_grid *g, const struct panel *p)
{
  double most = 0;
  for (int y = 0; y < g->high; y++)
    for (int x = 0; x < g->wide; x++) most = fmax(most, density(g, p, y, x));
  return most;
}

/* Each step is a quarter of the next: 0 stands for the rest; -1: no entry. */
static int depth_of(double part)
{
  if (part <= 0) return -1;
  const int d = DEPTHS - 1 + (int)ceil(log(part) / log(4) - 0.5);
  return d < 0 ? 0 : d >= DEPTHS ? DEPTHS - 1 : d;
}

static bool belongs(const struct inspect_grid *g, const struct panel *p, double most, int y, int x,
                    int kind, int depth)
{
  return depth_of(density(g, p, y, x) / most) == depth && main_kind(cell_at(g, y, x), p) == kind;
}

static void put_path(FILE *f, const struct inspect_grid *g, const struct panel *p, double most,
                     int kind, int depth)
{
  const double high = p->height / g->high, wide = p->width / g->wide;
  bool open = false;
  for (int y = 0; y < g->high; y++)
    for (int x = 0, run; x < g->wide; x += run) {
      for (run = 0; x + run < g->wide && belongs(g, p, most, y, x + run, kind, depth);) run++;
      if (run && !open) fprintf(f, "<path class='k%d d%d' d='", kind, depth);
      if (run)
        fprintf(f, "M%.2f %.2fh%.2fv%.2fh%.2fz", p->x + wide * x, p->y + high * y, wide * run, high,
                -wide * run);
      open |= run > 0;
      run += run == 0;
    }
  if (open) fputs("'/>\n", f);
}

static void put_panel(FILE *f, const struct inspect_grid *g, const struct panel *p)
{
  const double most = densest(g, p);
  fprintf(f, "<text x='%.1f' y='%.1f'>%s</text>\n", p->x, p->y - STRIPS - 10, p->title);
  fprintf(f, "<rect class='panel' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", p->x - 0.5,
          p->y - 0.5, p->width + 1, p->height + 1);
  for (int k = p->first; k < p->end && most > 0; k++)
    for (int d = 0; d < DEPTHS; d++) put_path(f, g, p, most, k, d);
}

/* Above a panel, a bar for each strip, or for as many as a cell has. */
static void put_strips(FILE *f, const struct inspect_grid *g, const struct panel *p)
{
  const int bars = (int)(g->strips < INSPECT_CELLS ? g->strips : INSPECT_CELLS);
  for (int i = 0; i < bars; i++) {
    const int64_t first = i * g->strips / bars, end = (i + 1) * g->strips / bars;
    const double x = p->x + p->width * (double)(first * INSPECT_STRIP) / (double)g->cols;
    const double right = fmin((double)(end * INSPECT_STRIP) / (double)g->cols, 1);
    double share = 0;
    for (int64_t k = first; k < end; k++) share += g->strip[k] / (double)(end - first);
    if (share > 0)
      fprintf(f, "<rect class='strip' fill-opacity='%.2f' ", 0.15 + 0.85 * share);
    else
      fputs("<rect class='empty' ", f);
    fprintf(f, "x='%.2f' y='%.1f' width='%.2f' height='%d'/>\n", x, p->y - STRIPS - 3,
            fmax(p->x + p->width * right - x - 0.3, 0.3), STRIPS - 2);
  }
}

/* ---- legend --------------------------------------------------------------------------------- */

static void put_legend(FILE *f, const struct inspect_grid *g, const struct panel *p, double y)
{
  uint64_t all = 0;
  for (int k = p->first; k < p->end; k++) all += g->entries[k];
  for (int k = p->first; k < p->end; k++, y += LINE)
    fprintf(f,
            "<rect class='k%d' x='%.1f' y='%.1f' width='14' height='14'/>"
            "<text x='%.1f' y='%.1f'>%s: %.1f %% of the entries</text>\n",
            k, p->x, y - 12, p->x + 22, y, inspect_kind_name((enum inspect_kind)k),
            all ? 100.0 * (double)g->entries[k] / (double)all : 0);
}

static void put_shades(FILE *f, const struct inspect_grid *g, const struct panel *p, double y)
{
  const double most = densest(g, p);
  for (int d = 0; d < DEPTHS; d++)
    fprintf(f, "<rect class='k%d d%d' x='%.1f' y='%.1f' width='22' height='14'/>\n", INSPECT_ALONE,
            d, p->x + 22 * d, y - 12);
  fprintf(
      f,
      "<text class='small' x='%.1f' y='%.1f'>deepest: entries fill %.3g %% of a cell; each step a "
      "quarter</text>\n",
      p->x + 22 * DEPTHS + 8, y, 100 * most);
}

static void put_strip_words(FILE *f, const struct inspect_grid *g, const struct panel *p, double y)
{
  fprintf(
      f,
      "<text class='small' x='%.1f' y='%.1f'>bars above: strips of 64 columns, stronger where more "
      "rows have an entry;</text><text class='small' x='%.1f' y='%.1f'>outlined: none "
      "(%" PRId64 " of %" PRId64 ")</text>\n",
      p->x, y, p->x, y + 16, g->empty_strips, g->strips);
}

/* ---- the picture ---------------------------------------------------------------------------- */

static void put_picture(FILE *f, const struct inspection *i)
{
  const struct inspect_grid *g = &i->grid;
  const double shape = (double)g->rows / (double)g->cols;
  const double height = PANEL * fmin(fmax(shape, 0.25), 1);
  const double width = shape > 1 ? PANEL * fmax(1 / shape, 0.25) : PANEL;
  const struct panel vectors = {MARGIN,
                                TOP,
                                width,
                                height,
                                0,
                                INSPECT_VECTOR_KINDS,
                                "vectors: columns that 8 aligned rows share"};
  struct panel tiles = vectors;
  const double legend = TOP + height + 36, bottom = legend + LINE * INSPECT_VECTOR_KINDS + 18;
  char rows[32], cols[32], nnz[32];
  tiles.x += PANEL + GAP;
  tiles.first = INSPECT_VECTOR_KINDS, tiles.end = INSPECT_KINDS;
  tiles.title = "tiles: 16 rows x 32 columns, aligned";
  fprintf(f,
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' width='%d' height='%.0f' "
          "role='img'>\n<title>",
          2 * (MARGIN + PANEL) + GAP, bottom, 2 * (MARGIN + PANEL) + GAP, bottom);
  put_text(f, i->file);
  fputs("</title>\n", f);
  put_style(f);
  fputs("<rect class='ground' width='100%' height='100%'/>\n", f);
  fprintf(f, "<text class='title' x='%d' y='34'>", MARGIN);
  const char *slash = strrchr(i->file, '/');
  put_text(f, slash ? slash + 1 : i->file);
  fprintf(
      f,
      "</text><text class='small' x='%d' y='54'>%s x %s, %s entries; a cell: %.0f x %.0f</text>\n",
      MARGIN, tool_grouped(g->rows, rows), tool_grouped(g->cols, cols), tool_grouped(i->p.nnz, nnz),
      ceil((double)g->rows / g->high), ceil((double)g->cols / g->wide));
  put_panel(f, g, &vectors);
  put_panel(f, g, &tiles);
  put_strips(f, g, &vectors);
  put_strips(f, g, &tiles);
  put_legend(f, g, &vectors, legend);
  put_legend(f, g, &tiles, legend);
  put_shades(f, g, &tiles, legend + 2 * LINE + 4);
  put_strip_words(f, g, &tiles, legend + 3 * LINE + 8);
  fputs("</svg>\n", f);
}

bool inspect_write_picture(const struct inspection *i, const char *path)
{
  if (i->grid.rows == 0 || i->grid.cols == 0) {
    tool_say("%s: an empty matrix has no picture", i->file);
    return false;
  }
  FILE *f = fopen(path, "w");
  if (f) put_picture(f, i);
  const bool written = f && !ferror(f);
  if ((!f || fclose(f) != 0) || !written) {
    tool_say("%s: %s", path, strerror(errno));
    return false;
  }
  return true;
}
