#include "backend/log/log_density.h"

static const char letters[SHUNT_DENSITY_KINDS * SHUNT_DENSITY_DEPTHS + 1] = SHUNT_DENSITY_LETTERS;

static double density(const struct shunt_density *d, int y, int x)
{
  uint64_t entries = 0;
  for (int k = 0; k < SHUNT_DENSITY_KINDS; k++) entries += d->entries[y][x][k];
  return d->looked[y] ? (double)entries / (double)d->looked[y] /
                            (double)shunt_density_extent(d->cols, d->wide, x)
                      : 0;
}

static int main_kind(const uint64_t entries[SHUNT_DENSITY_KINDS])
{
  int best = 0;
  for (int k = 1; k < SHUNT_DENSITY_KINDS; k++)
    if (entries[k] > entries[best]) best = k;
  return best;
}

double shunt_density_write(const struct shunt_density *d, char text[SHUNT_DENSITY_TEXT])
{
  double densest = 0;
  for (int y = 0; y < d->high; y++)
    for (int x = 0; x < d->wide; x++) densest = fmax(densest, density(d, y, x));
  for (int y = 0; y < d->high; y++)
    for (int x = 0; x < d->wide; x++) {
      const double part = densest > 0 ? density(d, y, x) / densest : 0;
      *text++ = part > 0 ? letters[SHUNT_DENSITY_DEPTHS * main_kind(d->entries[y][x]) +
                                   shunt_density_depth(part)]
                         : '.';
    }
  *text = 0;
  return densest;
}
