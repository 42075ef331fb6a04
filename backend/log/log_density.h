/* log_density.h: the picture of a matrix in the report, a character a cell.

     .        no entry
     a to e   most entries of the cell are of 8 x 1 vectors; e: it is about as dense as the densest
              cell, and each letter before is a quarter of the next, a all that is less
     f to j   the same of 4 x 1 vectors,
     k to o   of 2 x 1,
     p to t   of entries that are 2:4,
     u to y   of dense tiles,
     A to E   of others

   Line after line of cells, as many and as wide as struct shunt_density has them.  Of a picture of
   4 x 8 cells, whose upper left is full of 8 x 1 vectors and whose diagonal is thin:

     eeee.... eeee.... ....B... ......B.     (without the spaces)  */
#ifndef SHUNT_LOG_DENSITY_H
#define SHUNT_LOG_DENSITY_H

#include <math.h>

#include "conv/profile/density.h"

enum {
  SHUNT_DENSITY_DEPTHS = 5,
  SHUNT_DENSITY_TEXT = SHUNT_DENSITY_CELLS * SHUNT_DENSITY_CELLS + 1
};

/* In the order of enum shunt_density_kind, and of depths. */
#define SHUNT_DENSITY_LETTERS "abcdefghijklmnopqrstuvwxyABCDE"

/* How deep a colour stands for `part` of the densest cell, which is more than 0: each is a quarter
   of the next, 0 all that is less, SHUNT_DENSITY_DEPTHS - 1 the densest.  */
static inline int shunt_density_depth(double part)
{
  const int depth = SHUNT_DENSITY_DEPTHS - 1 + (int)ceil(log(part) / log(4) - 0.5);
  return depth < 0 ? 0 : depth < SHUNT_DENSITY_DEPTHS ? depth : SHUNT_DENSITY_DEPTHS - 1;
}

/* The share of the densest cell's places that have an entry; 0: there is no entry. */
double shunt_density_write(const struct shunt_density *d, char text[SHUNT_DENSITY_TEXT]);

#endif
