/* bundle_shape.h: how a product by bundles (bundle_kernels.h) is cut, and how many turns of a
   scheduler a warp takes then, as counted in the compiled kernels.

   Estimates read it, too: a kernel's time is made of what one warp takes for its part of a list,
   and of how often warps have to share a scheduler or wait for those before them.  */
#ifndef SHUNT_BUNDLE_SHAPE_H
#define SHUNT_BUNDLE_SHAPE_H

#include "kernels/bundle/bundle_format.h"

enum {
  SHUNT_BUNDLE_CHUNK = 32,           /* vectors of a list that a warp stages at once */
  SHUNT_BUNDLE_LEAST_LANES_LOG2 = 2, /* 4 lanes a row of B */
  SHUNT_BUNDLE_MMA_LANES_LOG2 = 3,   /* 8 lanes of 2 columns: one tile of 16 */
  SHUNT_BUNDLE_MOST_LANES_LOG2 = 5,
  SHUNT_BUNDLE_MOST_SLICES_LOG2 = 3,
  /* Warps of a block, unless more share a group: f32 waits less for the longest of a block's
     groups, f64 finds more of its neighbours' rows of B in L1.  */
  SHUNT_BUNDLE_BLOCK_LOG2_F32 = 2,
  SHUNT_BUNDLE_BLOCK_LOG2_F64 = 3
};

/* Warps of a multiprocessor, by registers and shared memory, each with so many tiles of mma. */
#define SHUNT_BUNDLE_WARPS_AT_ONCE(tiles) ((tiles) == 4 ? 16 : 24)

/* What a product is cut for. */
struct shunt_bundle_work {
  int64_t groups, vectors; /* of A: groups of 8 rows; vectors of all their lists */
  int64_t n;               /* columns of C */
  int columns;             /* that a lane has: 16 bytes of a row of B, or 1 */
  shunt_type type;         /* f32, f64 */
  int multiprocessors;
};

struct shunt_bundle_cut {
  int lanes_log2;  /* of a warp, which share the columns of one row of B */
  int slices_log2; /* warps that share a group */
};

/* Tiles of 16 columns of a warp by mma; 0: by FMA. */
static inline int shunt_bundle_mma_tiles(const struct shunt_bundle_work *w, int lanes_log2)
{
  if (w->type != SHUNT_F64 || w->columns <= 1) return 0;
  return 1 << (lanes_log2 - SHUNT_BUNDLE_MMA_LANES_LOG2);
}

/* Columns of C in tiles, each a warp's. */
static inline int64_t shunt_bundle_tiles(const struct shunt_bundle_work *w, int lanes_log2)
{
  const int64_t tile = (int64_t)w->columns << lanes_log2;
  return (w->n + tile - 1) / tile;
}

/* Turns for a chunk of vectors and one tile: staging A, and steps of FMAs (a DFMA takes two turns)
   or of mma.m16n8k8 (30 turns).  */
static inline int64_t shunt_bundle_chunk_turns(const struct shunt_bundle_work *w, int lanes_log2)
{
  enum { STAGE = 227, STEP = 58 /* besides FMA and mma */ };
  const int mma = shunt_bundle_mma_tiles(w, lanes_log2);
  if (mma > 0) return STAGE + 4 * (30 + 36 * mma);
  const int64_t steps = lanes_log2 == SHUNT_BUNDLE_LEAST_LANES_LOG2
                            ? 2
                            : 1 << (lanes_log2 - SHUNT_BUNDLE_LEAST_LANES_LOG2);
  const int64_t fma = (w->type == SHUNT_F64 ? 2 : 1) * SHUNT_BUNDLE_ROWS * w->columns;
  return STAGE + steps * STEP + (fma << lanes_log2);
}

static inline int64_t shunt_bundle_warps_at_once(const struct shunt_bundle_work *w, int lanes_log2)
{
  return SHUNT_BUNDLE_WARPS_AT_ONCE(shunt_bundle_mma_tiles(w, lanes_log2));
}

/* The fewest lanes that there is a kernel for. */
static inline int shunt_bundle_least_lanes_log2(const struct shunt_bundle_work *w)
{
  return shunt_bundle_mma_tiles(w, SHUNT_BUNDLE_MOST_LANES_LOG2) > 0
             ? SHUNT_BUNDLE_MMA_LANES_LOG2
             : SHUNT_BUNDLE_LEAST_LANES_LOG2;
}

/* The cut that takes the fewest turns.  Several warps to a group while all run at once and each has
   8 vectors and more: the start of a group costs as much as some 30 vectors.  */
static inline struct shunt_bundle_cut shunt_bundle_choose_cut(const struct shunt_bundle_work *w)
{
  struct shunt_bundle_cut c = {shunt_bundle_least_lanes_log2(w), 0};
  int64_t least = INT64_MAX;
  for (int lanes = c.lanes_log2; lanes <= SHUNT_BUNDLE_MOST_LANES_LOG2; lanes++) {
    const int64_t turns = shunt_bundle_tiles(w, lanes) * shunt_bundle_chunk_turns(w, lanes);
    if (turns <= least) c.lanes_log2 = lanes, least = turns;
  }
  const int64_t tasks = w->groups * shunt_bundle_tiles(w, c.lanes_log2);
  const int64_t mean = w->groups > 0 ? w->vectors / w->groups : 0;
  const int64_t slots = w->multiprocessors * shunt_bundle_warps_at_once(w, c.lanes_log2);
  while (c.slices_log2 < SHUNT_BUNDLE_MOST_SLICES_LOG2 && tasks << (c.slices_log2 + 1) <= slots &&
         mean >> c.slices_log2 >= 16)
    c.slices_log2++;
  return c;
}

/* What a launch of such a cut is like. */
struct shunt_bundle_steps {
  double vectors; /* of a warp, of a mean group */
  double turns;   /* that they take one warp */
  double sharing; /* warps of a scheduler at one time, where blocks are most; */
  double most;    /* as many as there can be */
  double rounds;  /* of those, but the first */
};

static inline struct shunt_bundle_steps shunt_bundle_steps_of(const struct shunt_bundle_work *w,
                                                              const struct shunt_bundle_cut *c)
{
  enum { SCHEDULERS = 4 };
  const int64_t slices = (int64_t)1 << c->slices_log2;
  const int64_t usual = (int64_t)1 << (w->type == SHUNT_F32 ? SHUNT_BUNDLE_BLOCK_LOG2_F32
                                                            : SHUNT_BUNDLE_BLOCK_LOG2_F64);
  const int64_t block = usual > slices ? usual : slices; /* warps */
  const int64_t warps = w->groups * shunt_bundle_tiles(w, c->lanes_log2) * slices;
  const int64_t blocks = (warps + block - 1) / block;
  const int64_t most = shunt_bundle_warps_at_once(w, c->lanes_log2);
  const int64_t there = (blocks + w->multiprocessors - 1) / w->multiprocessors * block;
  const double rounds = (double)(blocks * block) / (double)(most * w->multiprocessors) - 1;
  struct shunt_bundle_steps s = {0};
  if (w->groups > 0) s.vectors = (double)w->vectors / (double)w->groups / (double)slices;
  s.turns = s.vectors * (double)shunt_bundle_chunk_turns(w, c->lanes_log2) / SHUNT_BUNDLE_CHUNK;
  s.most = (double)most / SCHEDULERS;
  s.sharing = there < most ? (double)there / SCHEDULERS : s.most;
  s.rounds = rounds > 0 ? rounds : 0;
  return s;
}

#endif
