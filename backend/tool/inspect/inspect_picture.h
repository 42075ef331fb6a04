/* inspect_picture.h: what the picture of `shunt inspect` shows, for each kind of file.

     +-----------------+   +-----------------+
     | cells coloured  |   | the same by the |   strips: how many rows have an entry there
     | by the vectors  |   | tiles           |
     +-----------------+   +-----------------+
     title, legend with shares, what the shades mean

   A cell has the colour of the kind that most of its entries are of, the deeper the more entries it
   holds for its size.  The colours differ for those who see red and green alike.  Lengths are
   CSS pixels.

     inspect_layout.c    the panels, and the words
     inspect_picture.c   as SVG; inspect_write_picture
     inspect_png.c       as PNG, by inspect_canvas.c, which has a font  */
#ifndef SHUNT_TOOL_INSPECT_PICTURE_H
#define SHUNT_TOOL_INSPECT_PICTURE_H

#include "backend/log/log_density.h"
#include "backend/tool/inspect/inspect.h"

enum {
  PICTURE_MARGIN = 24,
  PICTURE_PANEL = 460,
  PICTURE_GAP = 40,
  PICTURE_TOP = 96,
  PICTURE_STRIPS = 10, /* height of the bars above a panel */
  PICTURE_LINE = 22,
  PICTURE_DEPTHS = SHUNT_DENSITY_DEPTHS,
  PICTURE_TEXT = 256
};

/* Fill on light and on dark ground, by kind. */
extern const char *const picture_colours[INSPECT_KINDS][2];
extern const double picture_opacity[PICTURE_DEPTHS];

struct picture_panel {
  double x, y, width, height;
  int first, end; /* kinds */
  const char *title;
  double most; /* share of the densest cell's places that have entries */
};

struct picture {
  const struct inspect_grid *g;
  struct picture_panel panel[2];
  double width, height, legend; /* the legend's first line */
  char title[PICTURE_TEXT], sizes[PICTURE_TEXT], shades[PICTURE_TEXT], strips[2][PICTURE_TEXT];
};

void picture_lay_out(const struct inspection *i, struct picture *out);
/* The cell's depth, and its kind; -1: no entry. */
int picture_cell(const struct inspect_grid *g, const struct picture_panel *p, int y, int x,
                 int *kind);
/* "8 x 1 vectors: 12.5 % of the entries" */
void picture_legend(const struct inspect_grid *g, const struct picture_panel *p, int kind,
                    char text[PICTURE_TEXT]);

/* Above a panel, a bar for each strip, or for as many as a cell has. */
struct picture_bar {
  double x, width, share; /* of the rows that have an entry */
};
int picture_bars(const struct inspect_grid *g);
struct picture_bar picture_bar(const struct inspect_grid *g, const struct picture_panel *p, int i);

/* False: no memory, or *f is in error. */
bool picture_write_png(FILE *f, const struct picture *p);

#endif
