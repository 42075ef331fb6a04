/* inspect_canvas.h: pixels for the PNG of `shunt inspect`.  Whatever lies outside is not drawn. */
#ifndef SHUNT_TOOL_INSPECT_CANVAS_H
#define SHUNT_TOOL_INSPECT_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct canvas {
  int width, height;
  uint8_t *pixel; /* [height][width][3] red, green, blue */
};

/* White.  False: no memory. */
bool canvas_make(struct canvas *c, int width, int height);
void canvas_free(struct canvas *c);
/* From (x, y) to before (right, bottom); `colour` as "#0059b3". */
void canvas_fill(struct canvas *c, int x, int y, int right, int bottom, const char *colour,
                 double opacity);
void canvas_frame(struct canvas *c, int x, int y, int right, int bottom, const char *colour);
/* Letters of 5 x 7 dots of `dot` pixels, whose feet stand on y; what is not ASCII is a box. */
void canvas_text(struct canvas *c, int x, int y, int dot, const char *colour, const char *text);
int canvas_text_width(int dot, const char *text);
/* False: no memory, or *f is in error. */
bool canvas_write_png(const struct canvas *c, FILE *f);

#endif
