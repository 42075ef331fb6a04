/* sparse24_cost.c: what the kernel of `sparse24` is expected to take, the shape that takes the
   least, and how product and proof share the multiprocessors in it. */
#include <math.h>

#include "backend/routes/cost_forms.h"

static const struct shunt_sparse24_costs h200 =
    {.start = 1,
     .shape =
         {/* results/sparse24/shapes.txt */
          {[SHUNT_SPARSE24_NONE] = {0.276, 0.125, 0},
           [SHUNT_SPARSE24_128] = {0.276, 0.125, 0},
           [SHUNT_SPARSE24_256] = {0.521, 0.128, 0.576},
           [SHUNT_SPARSE24_2X128] = {0.565, 0.043, 0.477}},
          /* results/sparse24/columns.txt, as all that follows */
          {[SHUNT_SPARSE24_NONE] = {0.276, 0.125, 0},
           [SHUNT_SPARSE24_128] = {0.276, 0.125, 0},
           [SHUNT_SPARSE24_256] = {0.521, 0.06, 0.42},
           [SHUNT_SPARSE24_2X128] = {0.565, 0.09, 0.477}}},
     .misplaced = 0.8,
     .compared = 3,
     .compared_tail = 0.75,
     .spare_start = 5,
     .spare_slower = 12,
     .spare_rate = 0.03,
     .spare_alone = 0.035};

/* Of C, for a block each: how many there are, and how many of 128 bytes of K. */
static int64_t tiles_of(const struct shunt_spmm *p, enum shunt_sparse24_shape shape)
{
  const int64_t columns = shunt_sparse24_shape_columns(shape);
  return (p->c.rows + 127) / 128 * ((p->c.cols + columns - 1) / columns);
}
static int64_t chunks_of(const struct shunt_spmm *p)
{
  const int64_t depth = shunt_sparse24_cols((int)shunt_type_size(p->b.type));
  return (p->b.rows + depth - 1) / depth;
}

/* A multiprocessor's tiles take their steps one after the other, while A is hashed. */
static double product_us(const struct shunt_spmm *p, enum shunt_sparse24_shape shape, bool in_place,
                         double megabytes, const struct shunt_device *d)
{
  const int64_t at_once = d->multiprocessors > 0 ? d->multiprocessors : 132;
  const int64_t rounds = (tiles_of(p, shape) + at_once - 1) / at_once;
  const double steps = (double)(rounds * chunks_of(p));
  return shunt_larger(steps * h200.shape[in_place][shape].step +
                          megabytes * h200.shape[in_place][shape].hash,
                      megabytes * h200.shape[in_place][shape].least);
}

/* Arrays off 16 bytes are read piece by piece. */
double shunt_cost_sparse24(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                           const struct shunt_device *d)
{
  const bool in_place = shunt_sparse24_in_place(&p->a);
  const double values = (double)p->a.nnz * (double)shunt_type_size(p->a.value_type);
  const double arrays = shunt_cost_csr_bytes(&p->a) - (in_place ? values : 0);
  const double us =
      h200.start + product_us(p, shape, in_place, arrays / 1e6 * shunt_cost_scale(d), d);
  const uintptr_t places = (uintptr_t)p->a.columns | (uintptr_t)p->a.values;
  return places % 16 ? us + h200.misplaced * shunt_cost_copy(arrays, d) : us;
}

/* Of the arrays those count that grow with A's entries. */
enum shunt_sparse24_shape shunt_choose_sparse24_shape(const struct shunt_spmm *p,
                                                      const struct shunt_device *d)
{
  const bool in_place = shunt_sparse24_in_place(&p->a);
  const size_t entry =
      shunt_type_size(p->a.index_type) + (in_place ? 0 : shunt_type_size(p->a.value_type));
  const double read = 1e-6 * (double)p->a.nnz * (double)entry;
  if (!shunt_sparse24_spmm_built()) return SHUNT_SPARSE24_NONE;
  const double of_128 = product_us(p, SHUNT_SPARSE24_128, in_place, read, d);
  const double of_256 = product_us(p, SHUNT_SPARSE24_256, in_place, read, d);
  const double of_2x128 = product_us(p, SHUNT_SPARSE24_2X128, in_place, read, d);
  if (of_128 <= of_256 && of_128 <= of_2x128) return SHUNT_SPARSE24_128;
  return of_256 <= of_2x128 ? SHUNT_SPARSE24_256 : SHUNT_SPARSE24_2X128;
}

/* ---- the proof in it ---------------------------------------------------------------------- */

/* Us of a tile of C. */
static double tile_us(const struct shunt_spmm *p, enum shunt_sparse24_shape shape)
{
  return h200.shape[1][shape].step * (double)chunks_of(p);
}

/* Is A's pattern compared?  Beside tiles of 128 columns only where they come in one round, and
   their products take long enough for A's columns, or many blocks have none: else hashing, which
   asks memory for less at a time, was 1 to 15 % faster. */
static bool compares(const struct shunt_spmm *p, enum shunt_sparse24_shape shape, bool in_place,
                     const struct shunt_device *d)
{
  const int64_t tiles = tiles_of(p, shape), blocks = d->multiprocessors;
  if (!in_place || blocks <= 0 || !shunt_sparse24_compared(&p->a)) return false;
  if (shape != SHUNT_SPARSE24_128) return true;
  const double read = 16e-6 * (double)shunt_sparse24_pieces(&p->a);
  return tiles <= blocks && (read <= h200.compared * tile_us(p, shape) ||
                             (double)tiles <= h200.compared_tail * (double)blocks);
}

/* Tiles of A's columns that blocks with a tile of C less than the others take, so that both are
   done at one time. */
static int spared(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                  const struct shunt_device *d)
{
  const int64_t blocks = d->multiprocessors, busy = tiles_of(p, shape) % blocks;
  const int64_t free = blocks - busy, tiles = shunt_sparse24_column_tiles(&p->a);
  if (busy == 0 || tiles == 0) return 0;
  const double even = (double)free / (double)blocks;
  const double rate = h200.spare_rate + h200.spare_alone * (double)free / (double)blocks;
  const double all = 1e-6 * SHUNT_FP_TILE * (double)tiles;
  const double slower = h200.spare_slower * all / (double)busy;
  const double part =
      (tile_us(p, shape) - h200.spare_start + slower) / (all / ((double)free * rate) + slower);
  return part <= even ? 0 : (int)(shunt_lesser(part, 1) * (double)tiles);
}

struct shunt_sparse24_proof shunt_choose_sparse24_proof(const struct shunt_spmm *p,
                                                        enum shunt_sparse24_shape shape,
                                                        bool in_place, const struct shunt_device *d)
{
  const bool compared = compares(p, shape, in_place, d);
  return (struct shunt_sparse24_proof){compared, compared ? spared(p, shape, d) : 0};
}
