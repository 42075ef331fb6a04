#include "backend/tool/calibrate/least_squares.h"

#include <math.h>

void least_squares_add(struct least_squares *s, const double *row, int count, double b,
                       double times)
{
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) s->gram[i][j] += times * row[i] * row[j];
    s->right[i] += times * row[i] * b;
  }
}

/* Sets c[i] to its best with the others as they are; by what share of itself it moved. */
static double step(const struct least_squares *s, int count, int i, double bound, double *c)
{
  double rest = s->right[i];
  for (int j = 0; j < count; j++)
    if (j != i) rest -= s->gram[i][j] * c[j];
  const double best = rest / s->gram[i][i], fresh = best > bound ? best : bound;
  const double moved = fabs(fresh - c[i]) / (fabs(fresh) + 1e-9);
  c[i] = fresh;
  return moved;
}

void least_squares_solve(const struct least_squares *s, int count, double floor, double *c)
{
  enum { SWEEPS = 1000 };
  const double still = 1e-6;
  for (int i = 0; i < count; i++) c[i] = i == 0 ? floor : 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double moved = 0;
    for (int i = 0; i < count; i++)
      if (s->gram[i][i] > 0) moved = fmax(moved, step(s, count, i, i == 0 ? floor : 0, c));
    if (moved < still) break;
  }
}
