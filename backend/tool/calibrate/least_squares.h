/* least_squares.h: least squares with coefficients that are not negative, the first above a floor.

   Minimises |A c - b|^2 subject to c[0] >= floor and c[i] >= 0, given A'A and A'b alone: what the
   equations add up to.

   The algorithm is coordinate descent, one coefficient after the other set to its best and cut off
   at its bound: V. Franc, V. Hlavac, M. Navara, "Sequential Coordinate-Wise Algorithm for the
   Non-negative Least Squares Problem", CAIP 2005.  It converges as A'A is positive semidefinite and
   the bounds are a box.  For a handful of coefficients; pure; thread-safe.  */
#ifndef SHUNT_LEAST_SQUARES_H
#define SHUNT_LEAST_SQUARES_H

enum { LEAST_SQUARES_MOST = 10 };

struct least_squares {
  double gram[LEAST_SQUARES_MOST][LEAST_SQUARES_MOST]; /* A'A */
  double right[LEAST_SQUARES_MOST];                    /* A'b */
};

/* Adds `times` equations row . c = b. */
void least_squares_add(struct least_squares *s, const double *row, int count, double b,
                       double times);
void least_squares_solve(const struct least_squares *s, int count, double floor, double *c);

#endif
