/* inspect_picture.c: the picture as SVG, which follows the reader's light or dark setting.

   Cells of one colour and depth are one path, runs of them one rectangle.  */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "backend/tool/inspect/inspect_picture.h"

/* ---- text ----------------------------------------------------------------------------------- */

static void put_escaped(FILE *f, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '&': fputs("&amp;", f); break;
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    default:
      if ((unsigned char)*text >= 32) fputc(*text, f);
    }
}

/* `class`: title, small, or "". */
static void put_text(FILE *f, const char *class, double x, double y, const char *text)
{
  fputs("<text", f);
  if (*class) fprintf(f, " class='%s'", class);
  fprintf(f, " x='%.1f' y='%.1f'>", x, y);
  put_escaped(f, text);
  fputs("</text>\n", f);
}

static void put_style(FILE *f)
{
  fputs("<style>\n"
        "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:14px;fill:#1c2024}\n"
        ".title{font-size:18px;font-weight:600}.small{font-size:12px;fill:#555d66}\n"
        ".ground{fill:#ffffff}.panel{fill:#f1f3f5;stroke:#9aa2ab}.strip{fill:#1c2024}"
        ".empty{fill:none;stroke:#c94f00}\n",
        f);
  for (int k = 0; k < INSPECT_KINDS; k++) fprintf(f, ".k%d{fill:%s}", k, picture_colours[k][0]);
  for (int d = 0; d < PICTURE_DEPTHS; d++)
    fprintf(f, ".d%d{fill-opacity:%g}", d, picture_opacity[d]);
  fputs("\n@media (prefers-color-scheme:dark){\n"
        "text{fill:#e9ecef}.small{fill:#a9b1ba}.ground{fill:#14171a}"
        ".panel{fill:#20252a;stroke:#5b636c}.strip{fill:#e9ecef}.empty{stroke:#ff8f52}\n",
        f);
  for (int k = 0; k < INSPECT_KINDS; k++) fprintf(f, ".k%d{fill:%s}", k, picture_colours[k][1]);
  fputs("}\n</style>\n", f);
}

/* ---- a panel -------------------------------------------------------------------------------- */

static bool belongs(const struct inspect_grid *g, const struct picture_panel *p, int y, int x,
                    int kind, int depth)
{
  int of;
  return picture_cell(g, p, y, x, &of) == depth && of == kind;
}

static void put_path(FILE *f, const struct inspect_grid *g, const struct picture_panel *p, int kind,
                     int depth)
{
  const double high = p->height / g->high, wide = p->width / g->wide;
  bool open = false;
  for (int y = 0; y < g->high; y++)
    for (int x = 0, run; x < g->wide; x += run) {
      for (run = 0; x + run < g->wide && belongs(g, p, y, x + run, kind, depth);) run++;
      if (run && !open) fprintf(f, "<path class='k%d d%d' d='", kind, depth);
      if (run)
        fprintf(f, "M%.2f %.2fh%.2fv%.2fh%.2fz", p->x + wide * x, p->y + high * y, wide * run, high,
                -wide * run);
      open |= run > 0;
      run += run == 0;
    }
  if (open) fputs("'/>\n", f);
}

static void put_strips(FILE *f, const struct inspect_grid *g, const struct picture_panel *p)
{
  for (int i = 0; i < picture_bars(g); i++) {
    const struct picture_bar bar = picture_bar(g, p, i);
    if (bar.share > 0)
      fprintf(f, "<rect class='strip' fill-opacity='%.2f' ", 0.15 + 0.85 * bar.share);
    else
      fputs("<rect class='empty' ", f);
    fprintf(f, "x='%.2f' y='%.1f' width='%.2f' height='%d'/>\n", bar.x, p->y - PICTURE_STRIPS - 3,
            bar.width, PICTURE_STRIPS - 2);
  }
}

static void put_legend(FILE *f, const struct inspect_grid *g, const struct picture_panel *p,
                       double y)
{
  char text[PICTURE_TEXT];
  for (int k = p->first; k < p->end; k++, y += PICTURE_LINE) {
    picture_legend(g, p, k, text);
    fprintf(f, "<rect class='k%d' x='%.1f' y='%.1f' width='14' height='14'/>", k, p->x, y - 12);
    put_text(f, "", p->x + 22, y, text);
  }
}

static void put_panel(FILE *f, const struct picture *picture, const struct picture_panel *p)
{
  put_text(f, "", p->x, p->y - PICTURE_STRIPS - 10, p->title);
  fprintf(f, "<rect class='panel' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", p->x - 0.5,
          p->y - 0.5, p->width + 1, p->height + 1);
  for (int k = p->first; k < p->end; k++)
    for (int d = 0; d < PICTURE_DEPTHS; d++) put_path(f, picture->g, p, k, d);
  put_strips(f, picture->g, p);
  put_legend(f, picture->g, p, picture->legend);
}

/* ---- the picture ---------------------------------------------------------------------------- */

static void put_shades(FILE *f, const struct picture *p)
{
  const double x = p->panel[1].x, y = p->legend + 2 * PICTURE_LINE + 4;
  for (int d = 0; d < PICTURE_DEPTHS; d++)
    fprintf(f, "<rect class='k%d d%d' x='%.1f' y='%.1f' width='22' height='14'/>\n", INSPECT_ALONE,
            d, x + 22 * d, y - 12);
  put_text(f, "small", x + 22 * PICTURE_DEPTHS + 8, y, p->shades);
  for (int k = 0; k < 2; k++) put_text(f, "small", x, y + PICTURE_LINE + 4 + 16 * k, p->strips[k]);
}

static void put_svg(FILE *f, const struct inspection *i, const struct picture *p)
{
  fprintf(f,
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' "
          "height='%.0f' role='img'>\n<title>",
          p->width, p->height, p->width, p->height);
  put_escaped(f, i->file);
  fputs("</title>\n", f);
  put_style(f);
  fputs("<rect class='ground' width='100%' height='100%'/>\n", f);
  put_text(f, "title", PICTURE_MARGIN, 34, p->title);
  put_text(f, "small", PICTURE_MARGIN, 54, p->sizes);
  put_panel(f, p, &p->panel[0]);
  put_panel(f, p, &p->panel[1]);
  put_shades(f, p);
  fputs("</svg>\n", f);
}

bool inspect_write_picture(const struct inspection *i, const char *path)
{
  const char *ending = strrchr(path, '.');
  struct picture picture;
  if (i->grid.rows == 0 || i->grid.cols == 0) {
    tool_say("%s: an empty matrix has no picture", i->file);
    return false;
  }
  picture_lay_out(i, &picture);
  errno = 0;
  FILE *f = fopen(path, "w");
  bool written = f != NULL;
  if (f && ending && strcasecmp(ending, ".png") == 0)
    written = picture_write_png(f, &picture);
  else if (f)
    put_svg(f, i, &picture);
  written &= f && !ferror(f);
  if ((f && fclose(f) != 0) || !written) {
    tool_say("%s: %s", path, strerror(errno));
    return false;
  }
  return true;
}
