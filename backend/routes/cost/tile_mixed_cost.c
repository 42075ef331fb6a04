/* tile_mixed_cost.c: which shape of the kernels over tiles of any kind is expected to take the
   least. No route asks: for `shunt bench` and tests, in libshunt-formats. */
#include "backend/routes/cost/tile_mixed_cost.h"

/* No route has a use for them, so they are no part of a GPU's table. */
struct shunt_tile_mixed_costs {
  double start;    /* us of a block */
  double sum;      /* us of the sum where blocks split K */
  double chunk[3]; /* us of 64 columns of A; blocks of 128 x 128, 128 x 64 and 64 x 64 of C */
};

/* On an H200: the slope of the times for 4096 and 8192 columns where all tiles are 2:4, when eight
   warps multiplied.  */
static const struct shunt_tile_mixed_costs h200 = {
    .start = 5, .sum = 3, .chunk = {0.60, 0.41, 0.30}};

enum { BLOCKED = 3 };
static const struct shunt_tile_shape blocked[BLOCKED] = {{128, 128, 1}, {128, 64, 1}, {64, 64, 1}};

/* Rounds of one block for each multiprocessor, times a block's chunks. */
static double blocked_us(const struct shunt_spmm *p, const struct shunt_tile_shape *s, double chunk,
                         const struct shunt_device *d)
{
  const int64_t tall = (p->a.rows + s->rows - 1) / s->rows;
  const int64_t wide = (p->b.cols + s->tile - 1) / s->tile;
  const int64_t rounds = (tall * wide * s->split + d->multiprocessors - 1) / d->multiprocessors;
  const int64_t chunks = (shunt_tile_chunks(p->a.cols) + s->split - 1) / s->split;
  const double block = h200.start + (double)chunks * chunk;
  return (double)rounds * (block + (s->split > 1 ? h200.sum : 0));
}

/* The cheapest of all, by itself and split in two; rows: 0 where none fits. */
static struct shunt_tile_shape best_blocked(const struct shunt_spmm *p, const struct shunt_tile *v,
                                            const struct shunt_device *d)
{
  struct shunt_tile_shape best = {0};
  double least = 0;
  for (int i = 0; i < BLOCKED; i++)
    for (int split = 1; split <= 2; split++) {
      const struct shunt_tile_shape s = {blocked[i].rows, blocked[i].tile, split};
      const double us = blocked_us(p, &s, h200.chunk[i], d);
      if (!shunt_tile_mixed_spmm_fits(&s, v, d) || (best.rows != 0 && us >= least)) continue;
      best = s, least = us;
    }
  return best;
}

/* Few tiles: less than one place in 16. */
static bool few_tiles(const struct shunt_tile *v)
{
  const int64_t places = v->blocks * ((v->cols + SHUNT_TILE_COLS - 1) / SHUNT_TILE_COLS);
  return v->sparse.room + v->dense.room < places / 16;
}

struct shunt_tile_shape shunt_choose_tile_shape(const struct shunt_spmm *p,
                                                const struct shunt_tile *v,
                                                const struct shunt_device *d)
{
  const struct shunt_tile_shape unblocked = shunt_tile_mixed_spmm_unblocked(p, v, d);
  if (v->sparse.gather) return unblocked;
  const struct shunt_tile_shape best = best_blocked(p, v, d);
  return best.rows == 0 || few_tiles(v) ? unblocked : best;
}
