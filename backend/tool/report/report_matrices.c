/* report_matrices.c: the page's part about matrices.

     .---------.
     |88  2    |   #### 8 rows alike    where its entries lie (backend/log/log_density.h): a cell
     |88  :    |   ## 4 rows alike      has the colour of the kind that most of its entries are of,
     |  :::  2 |   # 2 rows alike       the stronger the denser it is
     |  ###  : |   ####### 2:4
     |______ : |   ### dense tiles
     '---------'

   Of a matrix without a picture the rectangle has one colour, the stronger the denser the matrix,
   and the part below the line is the share of its rows that are empty.  Bars stand beside those
   that have a profile.  */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

enum { SIDE = 150, BARS = SIDE + 14, BAR = 60, WORDS = BARS + BAR + 6 }; /* of 360 */

static const char *const kind_class[SHUNT_DENSITY_KINDS] = {"r0", "r1", "r2", "r3", "r5", "left"};
static const char *const kind_name[SHUNT_DENSITY_KINDS] = {
    "8 × 1 vectors", "4 × 1 vectors", "2 × 1 vectors", "2:4", "dense tiles", "other entries"};

static void put_whole(const struct report_matrix *m, double high, double wide, FILE *to)
{
  const double density = m->nnz / (m->rows * m->cols), empty = high * m->empty / m->rows;
  const double opacity = fmin(1, fmax(0.1, 1 + log10(fmax(density, 1e-9)) / 5));
  fprintf(to,
          "<rect class=\"r0\" fill-opacity=\"%.2f\" x=\"0.5\" y=\"0.5\" width=\"%.1f\" "
          "height=\"%.1f\"></rect>\n",
          opacity, wide, high - empty);
}

/* The cells of one kind and depth, as one path, each run in a line of cells a rectangle. */
static void put_cells(const struct report_matrix *m, int kind, int depth, double high, double wide,
                      FILE *to)
{
  const char letter = SHUNT_DENSITY_LETTERS[kind * SHUNT_DENSITY_DEPTHS + depth];
  static const double opacity[SHUNT_DENSITY_DEPTHS] = {0.22, 0.4, 0.6, 0.8, 1};
  const int lines = shunt_density_cells((int64_t)m->rows);
  const int places = shunt_density_cells((int64_t)m->cols);
  const double h = high / lines, w = wide / places;
  if (!strchr(m->density, letter)) return;
  fprintf(to, "<path class=\"%s\" fill-opacity=\"%.2f\" d=\"", kind_class[kind], opacity[depth]);
  for (int y = 0; y < lines; y++)
    for (int x = 0, run; x<places; x += run> 0 ? run : 1) {
      const char *cell = m->density + y * places;
      for (run = 0; x + run < places && cell[x + run] == letter; run++) {
      }
      if (run > 0)
        fprintf(to, "M%.1f %.1fh%.1fv%.1fh-%.1fz", 0.5 + w * x, 0.5 + h * y, w * run, h, w * run);
    }
  fputs("\"></path>\n", to);
}

/* The matrix in proportion. */
static void put_shape(const struct report_matrix *m, FILE *to)
{
  const double most = fmax(m->rows, m->cols);
  const double high = fmax(SIDE * m->rows / most, 8), wide = fmax(SIDE * m->cols / most, 8);
  if (!m->density[0]) put_whole(m, high, wide, to);
  for (int kind = 0; kind < SHUNT_DENSITY_KINDS; kind++)
    for (int depth = 0; depth < SHUNT_DENSITY_DEPTHS; depth++)
      put_cells(m, kind, depth, high, wide, to);
  fprintf(to, "<rect class=\"edge\" x=\"0.5\" y=\"0.5\" width=\"%.1f\" height=\"%.1f\"></rect>\n",
          wide, high);
}

static void put_bar(const char *name, double share, int row, FILE *to)
{
  const int y = SIDE / 4 * row + 10;
  fprintf(to,
          "<rect class=\"edge\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"9\"></rect>"
          "<rect class=\"r1\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"9\"></rect>"
          "<text x=\"%d\" y=\"%d\">%s %.0f %%</text>\n",
          BARS, y, BAR, BARS, y, BAR * fmin(fmax(share, 0), 1), WORDS, y + 9, name, 100 * share);
}

static void put_bars(const struct report_matrix *m, FILE *to)
{
  put_bar("8 rows alike", m->alike[0], 0, to);
  put_bar("4 rows alike", m->alike[1], 1, to);
  put_bar("2 rows alike", m->alike[2], 2, to);
  put_bar("rows of 2:4", m->two_of_four, 3, to);
}

static void put_rows(const struct report_matrix *m, FILE *to)
{
  char longest[32];
  const double mean = m->nnz / m->rows;
  const double spread = sqrt(fmax(m->squares / m->rows - mean * mean, 0));
  tool_grouped((int64_t)m->longest, longest);
  fprintf(to, "<br>a row: %.1f on average, spread %.1f, longest %s; %.1f %% are empty", mean,
          spread, longest, 100 * m->empty / m->rows);
}

static void put_matrix(const struct report_matrix *m, FILE *to)
{
  char rows[32], cols[32], entries[32];
  tool_grouped((int64_t)m->rows, rows);
  tool_grouped((int64_t)m->cols, cols);
  tool_grouped((int64_t)m->nnz, entries);
  fprintf(to,
          "<figure><svg role=\"img\" viewBox=\"0 0 360 %d\" aria-label=\"%s x %s, %s entries\">\n",
          SIDE + 1, rows, cols, entries);
  put_shape(m, to);
  if (m->profiled) put_bars(m, to);
  fprintf(to, "</svg>\n<figcaption>%s × %s, %s entries (%.3g %%)", rows, cols, entries,
          100 * m->nnz / (m->rows * m->cols));
  if (m->profiled) put_rows(m, to);
  if (m->density[0]) fprintf(to, "<br>the densest cell: %.3g %% filled", 100 * m->densest);
  fputs("</figcaption></figure>\n", to);
}

static void put_key(FILE *to)
{
  fputs("<div class=\"key\">", to);
  for (int k = 0; k < SHUNT_DENSITY_KINDS; k++)
    fprintf(to, "<span><i class=\"%s\"></i>%s</span>", kind_class[k], kind_name[k]);
  fputs("</div>\n", to);
}

static const char with_pictures[] =
    "<p>Where the entries lie, in cells of the colour of what most of their entries are part of: a "
    "V × 1 vector is a column in which all of V aligned rows have an entry; a tile of 8 rows and "
    "32 "
    "columns is dense if each of its rows has half of them or more; an entry is 2:4 if it is of "
    "neither, and one of just two in the aligned four columns of its row. The stronger the "
    "colour, the denser the cell; each step is a quarter of the next. Of a large matrix rows and "
    "entries are looked at here and there.</p>\n";
static const char without_pictures[] =
    "<p>A matrix without cells has one colour, the stronger, the denser it is, with its empty rows "
    "counted at the bottom. <code>shunt inspect --picture OUT.svg FILE</code> draws a matrix from "
    "its file.</p>\n";

void run_report_matrices(const struct run_report *r, FILE *to)
{
  int pictures = 0;
  for (int i = 0; i < r->matrices; i++) pictures += r->matrix[i].density[0] != 0;
  if (r->matrices == 0) return;
  fputs("<h2 id=\"matrices\">Matrices</h2>\n", to);
  if (pictures > 0) {
    fputs(with_pictures, to);
    put_key(to);
  }
  if (pictures < r->matrices) fputs(without_pictures, to);
  fputs("<div class=\"matrices\">\n", to);
  for (int i = 0; i < r->matrices; i++) put_matrix(&r->matrix[i], to);
  fputs("</div>\n", to);
}
