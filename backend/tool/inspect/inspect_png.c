/* inspect_png.c: the picture as PNG, on light ground, SCALE pixels for each of the layout's. */
#include <math.h>

#include "backend/tool/inspect/inspect_canvas.h"
#include "backend/tool/inspect/inspect_picture.h"

enum { SCALE = 2, DOT = 3, TITLE_DOT = 5, SMALL_DOT = 2 };
static const char ink[] = "#1c2024", soft[] = "#555d66", ground[] = "#f1f3f5", edge[] = "#9aa2ab",
                  outline[] = "#c94f00";

static int pixels(double x)
{
  return (int)lround(SCALE * x);
}

static void put_cells(struct canvas *c, const struct inspect_grid *g, const struct picture_panel *p)
{
  for (int y = 0; y < g->high; y++)
    for (int x = 0; x < g->wide; x++) {
      const double high = p->height / g->high, wide = p->width / g->wide;
      int kind;
      const int depth = picture_cell(g, p, y, x, &kind);
      if (depth < 0) continue;
      canvas_fill(c, pixels(p->x + x * wide), pixels(p->y + y * high),
                  pixels(p->x + (x + 1) * wide), pixels(p->y + (y + 1) * high),
                  picture_colours[kind][0], picture_opacity[depth]);
    }
}

static void put_strips(struct canvas *c, const struct inspect_grid *g,
                       const struct picture_panel *p)
{
  const int top = pixels(p->y - PICTURE_STRIPS - 3), bottom = pixels(p->y - 5);
  for (int i = 0; i < picture_bars(g); i++) {
    const struct picture_bar bar = picture_bar(g, p, i);
    const int x = pixels(bar.x), right = pixels(bar.x + bar.width);
    if (bar.share > 0)
      canvas_fill(c, x, top, right, bottom, ink, 0.15 + 0.85 * bar.share);
    else
      canvas_frame(c, x, top, right, bottom, outline);
  }
}

static void put_legend(struct canvas *c, const struct picture *picture,
                       const struct picture_panel *p)
{
  char text[PICTURE_TEXT];
  double y = picture->legend;
  for (int k = p->first; k < p->end; k++, y += PICTURE_LINE) {
    picture_legend(picture->g, p, k, text);
    canvas_fill(c, pixels(p->x), pixels(y - 12), pixels(p->x + 14), pixels(y + 2),
                picture_colours[k][0], 1);
    canvas_text(c, pixels(p->x + 22), pixels(y), DOT, ink, text);
  }
}

static void put_panel(struct canvas *c, const struct picture *picture,
                      const struct picture_panel *p)
{
  const int x = pixels(p->x), y = pixels(p->y), right = pixels(p->x + p->width),
            bottom = pixels(p->y + p->height);
  canvas_text(c, x, pixels(p->y - PICTURE_STRIPS - 10), DOT, ink, p->title);
  canvas_fill(c, x, y, right, bottom, ground, 1);
  put_cells(c, picture->g, p);
  canvas_frame(c, x - 1, y - 1, right + 1, bottom + 1, edge);
  put_strips(c, picture->g, p);
  put_legend(c, picture, p);
}

static void put_shades(struct canvas *c, const struct picture *p)
{
  const double x = p->panel[1].x, y = p->legend + 2 * PICTURE_LINE + 4;
  for (int d = 0; d < PICTURE_DEPTHS; d++)
    canvas_fill(c, pixels(x + 22 * d), pixels(y - 12), pixels(x + 22 * (d + 1)), pixels(y + 2),
                picture_colours[INSPECT_ALONE][0], picture_opacity[d]);
  canvas_text(c, pixels(x + 22 * PICTURE_DEPTHS + 8), pixels(y), SMALL_DOT, soft, p->shades);
  for (int k = 0; k < 2; k++)
    canvas_text(c, pixels(x), pixels(y + PICTURE_LINE + 4 + 16 * k), SMALL_DOT, soft, p->strips[k]);
}

/* In letters small enough for its length. */
static void put_title(struct canvas *c, const char *title)
{
  const int room = c->width - pixels(2 * PICTURE_MARGIN);
  int dot = TITLE_DOT;
  while (dot > SMALL_DOT && canvas_text_width(dot, title) > room) dot--;
  canvas_text(c, pixels(PICTURE_MARGIN), pixels(34), dot, ink, title);
}

bool picture_write_png(FILE *f, const struct picture *p)
{
  struct canvas c;
  if (!canvas_make(&c, pixels(p->width), pixels(p->height))) return false;
  put_title(&c, p->title);
  canvas_text(&c, pixels(PICTURE_MARGIN), pixels(54), SMALL_DOT, soft, p->sizes);
  put_panel(&c, p, &p->panel[0]);
  put_panel(&c, p, &p->panel[1]);
  put_shades(&c, p);
  const bool good = canvas_write_png(&c, f);
  canvas_free(&c);
  return good;
}
