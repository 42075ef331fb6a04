/* vector_sddmm_share.h: how the entries of an SDDMM are dealt out to warps
   (kernels/vector/vector_csr_sddmm.cu), and how long that makes its longest chain of tiles.  Pure.

   A tile is 32 list positions of a group of 8 rows.  A warp owns `run` entries, and multiplies the
   tiles that begin there one after another.  A group of mean size is shared by `phases` warps;
   where groups are small, a warp has several.  */
#ifndef SHUNT_VECTOR_SDDMM_SHARE_H
#define SHUNT_VECTOR_SDDMM_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SHUNT_VECTOR_SDDMM_ANCHOR = 256, /* entries of a tile */
  SHUNT_VECTOR_SDDMM_MOST = 31     /* tiles of a warp */
};

struct shunt_vector_sddmm_share {
  int run, phases;
  int64_t rounds; /* of warps that run at once */
};

/* Warps of a block, of which a multiprocessor runs one: as many as the registers of the products
   allow, by the operands' bytes an element. */
static inline int shunt_vector_sddmm_warps(int size)
{
  return size == 2 ? 16 : 12;
}

/* How deals are compared: by entries, what a warp takes to find its place included. */
struct shunt_vector_sddmm_deal {
  int64_t nonzeros, resident;
  struct shunt_vector_sddmm_share best;
  int64_t least;
};

/* False: more phases, which means more rounds, can't end sooner. */
static inline bool shunt_vector_sddmm_keep_sooner(struct shunt_vector_sddmm_deal *d, int64_t run,
                                                  int64_t phases)
{
  enum { START = 2 * SHUNT_VECTOR_SDDMM_ANCHOR };
  if (run > SHUNT_VECTOR_SDDMM_MOST * SHUNT_VECTOR_SDDMM_ANCHOR) return true;
  const int64_t warps = (d->nonzeros + run - 1) / run;
  const int64_t rounds = (warps + d->resident - 1) / d->resident;
  if (rounds * (START + run) < d->least) {
    d->best.run = (int)run, d->best.phases = (int)phases, d->best.rounds = rounds;
    d->least = rounds * (START + run);
  }
  return rounds * (START + SHUNT_VECTOR_SDDMM_ANCHOR) < d->least;
}

/* The share by which the last warp ends first. */
static inline struct shunt_vector_sddmm_share
shunt_vector_sddmm_share_of(int64_t rows, int64_t nonzeros, int size, int multiprocessors)
{
  enum { GROUP = 8, MOST_PHASES = 64, MOST_TOGETHER = 8 };
  const int64_t anchor = SHUNT_VECTOR_SDDMM_ANCHOR, groups = (rows + GROUP - 1) / GROUP;
  const int64_t mean = nonzeros / (groups > 0 ? groups : 1) + 1;
  const int most = multiprocessors > 0 ? multiprocessors : 1;
  struct shunt_vector_sddmm_deal d = {nonzeros,
                                      (int64_t)most * shunt_vector_sddmm_warps(size),
                                      {SHUNT_VECTOR_SDDMM_ANCHOR, 1, 1},
                                      INT64_MAX};
  for (int64_t phases = 1; phases <= MOST_PHASES && mean >= anchor * phases; phases++)
    if (!shunt_vector_sddmm_keep_sooner(&d, (mean + phases - 1) / phases, phases)) break;
  for (int64_t tiles = 1; mean < anchor && tiles <= MOST_TOGETHER; tiles++)
    shunt_vector_sddmm_keep_sooner(&d, tiles * anchor, 1);
  return d.best;
}

/* Tiles that a multiprocessor's warp multiplies one after another. */
static inline double shunt_vector_sddmm_tiles(const struct shunt_vector_sddmm_share *s)
{
  return (double)s->rounds * (double)s->run / SHUNT_VECTOR_SDDMM_ANCHOR;
}

#endif
