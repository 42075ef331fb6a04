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

/* What shapes of so many columns have in common: as many as 24 are estimated for a call. */
struct width {
  const struct shunt_fma_tile_costs *costs;
  double tiles;  /* of C, for each multiprocessor */
  int64_t steps; /* of K */
  double joined; /* us to add the sums of a part */
};

static struct width width_of(const struct shunt_spmm *p, int columns, const struct shunt_machine *m)
{
  const int64_t down = (p->c.rows + TILE_ROWS - 1) / TILE_ROWS;
  const int64_t across = (p->c.cols + columns - 1) / columns;
  const double sums = (double)shunt_dense_spmm_fma_workspace(&p->c, 2) / 2;
  return (struct width){tile_of(columns, m),
                        (double)(down * across) / shunt_cost_multiprocessors(m),
                        (p->b.rows + STEP - 1) / STEP, sums / of(m)->joined};
}

/* us of a block, which waits for operands and multiplies beside others; but the larger of the two
   alone where that is `most` already.  */
static double block_us(const struct width *w, int split, double most)
{
  const double each = w->tiles * split;
  const double beside = each <= 1   ? 1
                        : each <= 2 ? 2
                        : each <= 3 ? 3
                                    : each + 0.5; /* beyond, rounds overlap */
  const double steps = (double)((w->steps + split - 1) / split);
  const double wait = steps * w->costs->wait, multiply = steps * w->costs->step * beside;
  const double larger = shunt_larger(wait, multiply);
  return larger >= most ? larger : sqrt(sqrt(in_fourth(wait) + in_fourth(multiply)));
}

static double joining_us(const struct width *w, int split, const struct shunt_machine *m)
{
  return split == 1 ? 0 : of(m)->join + w->joined * split;
}

double shunt_cost_dense_fma(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                            const struct shunt_machine *m)
{
  const struct width w = width_of(p, how->columns, m);
  return of(m)->start + block_us(&w, how->split, INFINITY) + joining_us(&w, how->split, m);
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

/* Each part has a step at least, and its sums have room. */
static int most_parts(const struct shunt_spmm *p)
{
  enum { MOST = 16 };
  const size_t sums = shunt_dense_spmm_fma_workspace(&p->c, 2) / 2;
  const size_t room = shunt_dense_sums_bytes(p->c.rows, p->c.cols, p->b.type);
  const size_t steps = (size_t)(p->b.rows + STEP - 1) / STEP, fit = sums ? room / sums : MOST;
  const size_t parts = steps < fit ? steps : fit;
  return parts < 1 ? 1 : parts > MOST ? MOST : (int)parts;
}

struct shunt_dense_shape shunt_choose_dense_fma(const struct shunt_spmm *p, enum shunt_math math,
                                                const struct shunt_machine *m)
{
  static const int columns[] = {64, 32, 16}, splits[] = {1, 2, 3, 4, 6, 8, 12, 16};
  struct shunt_dense_shape best = {0};
  double least = INFINITY;
  if (math != SHUNT_MATH_EXACT || !shunt_dense_spmm_fma_takes(&p->b, &p->c, &m->device))
    return best;
  const int most = most_parts(p);
  for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++) {
    const struct width w = width_of(p, columns[i], m);
    for (unsigned j = 0; j < sizeof splits / sizeof *splits && splits[j] <= most; j++) {
      const double join = joining_us(&w, splits[j], m);
      const double us = block_us(&w, splits[j], least - join) + join;
      if (us >= least) continue;
      best = (struct shunt_dense_shape){TILE_ROWS, columns[i], splits[j]}, least = us;
    }
  }
  return best;
}
