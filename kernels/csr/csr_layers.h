/* csr_layers.h: layers, and what the split kernel takes of those in f32 whose rows differ.

   Pruned layers have few zeros beside what is called scattered, and their rows share nothing that
   L1 could keep.  Rows of one length are at the same columns at the same time, so L1 has much of
   what they gather.  Rows that differ are not: narrow slices of C, of which L1 holds more rows of
   B, gain more than A loses that is read again for each.  A few shapes are estimated, each by a
   line:

     us = start + gather x nonzeros x n x 4 / 8 TB/s + row x rows x slices / 1000
          + longest x kept / 100

   kept: nonzeros of the longest row that one warp walks alone, which all else may wait for.  The
   lines are 1.07 off where they were fitted, 25 layers on an H200, and 1.11 off on others
   (tests/bench/csr.md).  */
#ifndef SHUNT_CSR_LAYERS_H
#define SHUNT_CSR_LAYERS_H

#include "kernels/common/types.h"

/* Is one element in 64 stored, or more? */
static inline bool shunt_csr_is_layer(const struct shunt_csr *a)
{
  return (double)a->nnz >= (double)a->rows * (double)a->cols / 64;
}

/* A shape of the split kernel: each row has a warp, each thread of a group 4 columns. */
struct shunt_csr_uneven {
  int lanes_log2;
  int limit; /* rows are long that have so many halves of the mean; 0: none is */
  double start, gather, row, longest;
};

enum { SHUNT_CSR_UNEVEN_SHAPES = 5, SHUNT_CSR_UNEVEN_COLUMNS = 4 /* of a lane */ };

static inline const struct shunt_csr_uneven *shunt_csr_uneven_shapes(void)
{
  static const struct shunt_csr_uneven shapes[SHUNT_CSR_UNEVEN_SHAPES] = {
      {2, 0, 1.45, 0.602, 0.327, 0.526}, {3, 0, 1.18, 0.492, 0.270, 0.856},
      {4, 0, 1.00, 0.487, 0.097, 1.541}, {2, 3, 5.85, 0.707, 0.341, 0.398},
      {3, 3, 5.82, 0.665, 0.308, 0.743},
  };
  return shapes;
}

/* Where the lines were fitted, and the shapes gain; a layer, by its longest row (negative: nobody
   knows).  */
static inline bool shunt_csr_is_uneven(int64_t rows, int64_t nonzeros, int64_t longest, int64_t n)
{
  return rows > 0 && n >= 32 && nonzeros >= 24 * rows && 2 * longest * rows >= 5 * nonzeros &&
         longest * rows <= 16 * nonzeros && nonzeros < 1 << 24;
}

/* From where on rows are long; INT64_MAX: nowhere. */
static inline int64_t shunt_csr_uneven_limit(const struct shunt_csr_uneven *s, int64_t rows,
                                             int64_t nonzeros)
{
  const int64_t limit = s->limit * (nonzeros / rows) / 2;
  return s->limit == 0 ? INT64_MAX : limit < 64 ? 64 : limit;
}

static inline double shunt_csr_uneven_us(const struct shunt_csr_uneven *s, int64_t rows,
                                         int64_t nonzeros, int64_t longest, int64_t n)
{
  const int64_t limit = shunt_csr_uneven_limit(s, rows, nonzeros);
  const int64_t kept = longest < limit ? longest : limit;
  const int64_t width = SHUNT_CSR_UNEVEN_COLUMNS << s->lanes_log2;
  const int64_t slices = (n + width - 1) / width;
  return s->start + s->gather * 4e-6 / 8 * ((double)nonzeros * (double)n) +
         1e-3 * s->row * ((double)rows * (double)slices) + 1e-2 * s->longest * (double)kept;
}

/* The shape that is estimated to end first. */
static inline const struct shunt_csr_uneven *shunt_csr_choose_uneven(int64_t rows, int64_t nonzeros,
                                                                     int64_t longest, int64_t n)
{
  const struct shunt_csr_uneven *shape = shunt_csr_uneven_shapes(), *best = shape;
  for (int i = 1; i < SHUNT_CSR_UNEVEN_SHAPES; i++)
    if (shunt_csr_uneven_us(&shape[i], rows, nonzeros, longest, n) <
        shunt_csr_uneven_us(best, rows, nonzeros, longest, n))
      best = &shape[i];
  return best;
}

#endif
