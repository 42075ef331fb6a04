/* sparse24_cost.c: what the kernel of `sparse24` is expected to take, the shape that takes the
   least, and how product and proof share the multiprocessors in it. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"

static const struct shunt_sparse24_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.sparse24;
}

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
                         double megabytes, const struct shunt_machine *m)
{
  const int64_t at_once = shunt_cost_multiprocessors(m);
  const int64_t rounds = (tiles_of(p, shape) + at_once - 1) / at_once;
  const double steps = (double)(rounds * chunks_of(p));
  return shunt_larger(steps * of(m)->shape[in_place][shape].step +
                          megabytes * of(m)->shape[in_place][shape].hash,
                      megabytes * of(m)->shape[in_place][shape].least);
}

/* Arrays off 16 bytes are read piece by piece. */
double shunt_cost_sparse24(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                           const struct shunt_machine *m)
{
  const bool in_place = shunt_sparse24_in_place(&p->a);
  const double values = (double)p->a.nnz * (double)shunt_type_size(p->a.value_type);
  const double arrays = shunt_cost_csr_bytes(&p->a) - (in_place ? values : 0);
  const double us = of(m)->start + product_us(p, shape, in_place, arrays / 1e6, m);
  const uintptr_t places = (uintptr_t)p->a.columns | (uintptr_t)p->a.values;
  return places % 16 ? us + of(m)->misplaced * shunt_cost_copy(arrays, m) : us;
}

/* Of the arrays those count that grow with A's entries. */
enum shunt_sparse24_shape shunt_choose_sparse24_shape(const struct shunt_spmm *p,
                                                      const struct shunt_machine *m)
{
  const bool in_place = shunt_sparse24_in_place(&p->a);
  const size_t entry =
      shunt_type_size(p->a.index_type) + (in_place ? 0 : shunt_type_size(p->a.value_type));
  const double read = 1e-6 * (double)p->a.nnz * (double)entry;
  if (!shunt_sparse24_spmm_built()) return SHUNT_SPARSE24_NONE;
  const double of_128 = product_us(p, SHUNT_SPARSE24_128, in_place, read, m);
  const double of_256 = product_us(p, SHUNT_SPARSE24_256, in_place, read, m);
  const double of_2x128 = product_us(p, SHUNT_SPARSE24_2X128, in_place, read, m);
  if (of_128 <= of_256 && of_128 <= of_2x128) return SHUNT_SPARSE24_128;
  return of_256 <= of_2x128 ? SHUNT_SPARSE24_256 : SHUNT_SPARSE24_2X128;
}

/* ---- the proof in it ---------------------------------------------------------------------- */

/* Us of a tile of C. */
static double tile_us(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                      const struct shunt_machine *m)
{
  return of(m)->shape[1][shape].step * (double)chunks_of(p);
}

/* Is A's pattern compared?  Beside tiles of 128 columns only where they come in one round, and
   their products take long enough for A's columns, or many blocks have none: else hashing, which
   asks memory for less at a time, was 1 to 15 % faster. */
static bool compares(const struct shunt_spmm *p, enum shunt_sparse24_shape shape, bool in_place,
                     const struct shunt_machine *m)
{
  const int64_t tiles = tiles_of(p, shape), blocks = m->device.multiprocessors;
  if (!in_place || blocks <= 0 || !shunt_sparse24_compared(&p->a)) return false;
  if (shape != SHUNT_SPARSE24_128) return true;
  const double read = 16e-6 * (double)shunt_sparse24_pieces(&p->a);
  return tiles <= blocks && (read <= of(m)->compared * tile_us(p, shape, m) ||
                             (double)tiles <= of(m)->compared_tail * (double)blocks);
}

/* Tiles of A's columns that blocks with a tile of C less than the others take, so that both are
   done at one time. */
static int spared(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                  const struct shunt_machine *m)
{
  const int64_t blocks = m->device.multiprocessors, busy = tiles_of(p, shape) % blocks;
  const int64_t free = blocks - busy, tiles = shunt_sparse24_column_tiles(&p->a);
  if (busy == 0 || tiles == 0) return 0;
  const double even = (double)free / (double)blocks;
  const double rate = of(m)->spare_rate + of(m)->spare_alone * (double)free / (double)blocks;
  const double all = 1e-6 * SHUNT_FP_TILE * (double)tiles;
  const double slower = of(m)->spare_slower * all / (double)busy;
  const double part =
      (tile_us(p, shape, m) - of(m)->spare_start + slower) / (all / ((double)free * rate) + slower);
  return part <= even ? 0 : (int)(shunt_lesser(part, 1) * (double)tiles);
}

struct shunt_sparse24_proof shunt_choose_sparse24_proof(const struct shunt_spmm *p,
                                                        enum shunt_sparse24_shape shape,
                                                        bool in_place,
                                                        const struct shunt_machine *m)
{
  const bool compared = compares(p, shape, in_place, m);
  return (struct shunt_sparse24_proof){compared, compared ? spared(p, shape, m) : 0};
}
