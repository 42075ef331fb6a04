/* dense_fma_cost.c: what f32 products with a dense copy of A are expected to take by a kernel of
   Shunt's (kernels/dense/dense_spmm_fma.cuh), and in which shape.  */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"

enum { TILE_ROWS = 64, STEP = 32 };

static const struct shunt_fma_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.dense.fma;
}

static const struct shunt_fma_tile_costs *tile_of(int columns, const struct shunt_machine *m)
{
  return &of(m)->tile[columns == 64 ? 0 : columns == 32 ? 1 : 2];
}

static double in_fourth(double x)
{
  return x * x * x * x;
}

double shunt_cost_dense_fma(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                            const struct shunt_machine *m)
{
  const struct shunt_fma_tile_costs *t = tile_of(how->columns, m);
  const double tiles = ceil((double)p->c.rows / TILE_ROWS) * ceil((double)p->c.cols / how->columns);
  const double each = tiles * how->split / shunt_cost_multiprocessors(m);
  const double beside = each <= 3 ? ceil(each) : each + 0.5; /* beyond, rounds overlap */
  const double steps = ceil(ceil((double)p->b.rows / STEP) / how->split);
  const double us =
      of(m)->start + steps * sqrt(sqrt(in_fourth(t->wait) + in_fourth(t->step * beside)));
  if (how->split == 1) return us;
  const double sums = (double)shunt_dense_spmm_fma_workspace(&p->c, how->split);
  return us + of(m)->join + sums / of(m)->joined;
}

/* Each part has a step at least, and its sums have room. */
static bool fits(const struct shunt_dense_shape *s, const struct shunt_spmm *p)
{
  return s->split == 1 || ((int64_t)s->split * STEP < p->b.rows + STEP &&
                           shunt_dense_spmm_fma_workspace(&p->c, s->split) <=
                               shunt_dense_sums_bytes(p->c.rows, p->c.cols, p->b.type));
}

/* Of few columns cuBLAS may take twice as long as is expected. */
bool shunt_choose_dense_fma_over_cublas(const struct shunt_spmm *p,
                                        const struct shunt_dense_shape *how, enum shunt_math math,
                                        const struct shunt_machine *m)
{
  enum { FEW = 32 };
  const double doubt = p->c.cols <= FEW ? of(m)->doubt : 1;
  return shunt_cost_dense_fma(p, how, m) < doubt * shunt_cost_dense_cublas(p, math, m);
}

struct shunt_dense_shape shunt_choose_dense_fma(const struct shunt_spmm *p, enum shunt_math math,
                                                const struct shunt_machine *m)
{
  static const int columns[] = {64, 32, 16}, splits[] = {1, 2, 3, 4, 6, 8, 12, 16};
  struct shunt_dense_shape best = {0};
  double least = INFINITY;
  if (math != SHUNT_MATH_EXACT || !shunt_dense_spmm_fma_takes(&p->b, &p->c, &m->device))
    return best;
  for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
    for (unsigned j = 0; j < sizeof splits / sizeof *splits; j++) {
      const struct shunt_dense_shape s = {TILE_ROWS, columns[i], splits[j]};
      if (!fits(&s, p)) continue;
      const double us = shunt_cost_dense_fma(p, &s, m);
      if (us < least) best = s, least = us;
    }
  return best;
}
