/* semiring_element.h: the inner loops for one element type T with every number of lanes that
   the instruction set has, and the choice among them.  Included by semiring_simd.h, which
   defines P (prefix of names), T, W, M, IEEE, PLUS, NONE_MIN and NONE_MAX (see semiring_lanes.h)
   and LANES_MOST.  */
#define TYPED_(p, x) p##_##x
#define TYPED(p, x) TYPED_(p, x)

#define L 1
#include "kernels/semiring/semiring_lanes.h"
#define L 2
#include "kernels/semiring/semiring_lanes.h"
#if LANES_MOST >= 4
#define L 4
#include "kernels/semiring/semiring_lanes.h"
#endif
#if LANES_MOST >= 8
#define L 8
#include "kernels/semiring/semiring_lanes.h"
#endif
#if LANES_MOST >= 16
#define L 16
#include "kernels/semiring/semiring_lanes.h"
#endif

#define PASTE_(p, l, name) p##x##l##_##name
#define PASTE(p, l, x) PASTE_(p, l, x)

/* The most lanes that fit into `size` columns. */
#if LANES_MOST == 2
#define CHOOSE(size, function) ((size) >= 2 ? PASTE(P, 2, function) : PASTE(P, 1, function))
#elif LANES_MOST == 4
#define CHOOSE(size, function)                                                                     \
  ((size) >= 4   ? PASTE(P, 4, function)                                                           \
   : (size) >= 2 ? PASTE(P, 2, function)                                                           \
                 : PASTE(P, 1, function))
#elif LANES_MOST == 8
#define CHOOSE(size, function)                                                                     \
  ((size) >= 8   ? PASTE(P, 8, function)                                                           \
   : (size) >= 4 ? PASTE(P, 4, function)                                                           \
   : (size) >= 2 ? PASTE(P, 2, function)                                                           \
                 : PASTE(P, 1, function))
#else
#define CHOOSE(size, function)                                                                     \
  ((size) >= 16  ? PASTE(P, 16, function)                                                          \
   : (size) >= 8 ? PASTE(P, 8, function)                                                           \
   : (size) >= 4 ? PASTE(P, 4, function)                                                           \
   : (size) >= 2 ? PASTE(P, 2, function)                                                           \
                 : PASTE(P, 1, function))
#endif

/* Columns that one call of the loops takes: what fits into 1, 2, 4 or 8 vectors. */
static int TYPED(P, part)(const struct shunt_rows_job *r)
{
  const int vectors = (r->width + LANES_MOST - 1) / LANES_MOST;
  if (r->mask) return vectors > 2 ? 2 * LANES_MOST : r->width;
  if (vectors >= TILE_VECTORS)
    return r->width < TILE_VECTORS * LANES_MOST ? r->width : TILE_VECTORS * LANES_MOST;
  if (vectors > 4) return 4 * LANES_MOST;
  return vectors == 3 ? 2 * LANES_MOST : r->width;
}

static void TYPED(P, skip)(struct shunt_rows_job *r, int part)
{
  r->b = (const T *)r->b + part;
  r->out = (T *)r->out + part;
  if (r->mask) r->mask = (const M *)r->mask + part;
  if (r->mask) r->exists = (M *)r->exists + part;
}

#define OPERATORS(OP)                                                                              \
  static void TYPED(P, rows_##OP)(const struct shunt_rows_job *r, int64_t begin, int64_t end)      \
  {                                                                                                \
    struct shunt_rows_job job = *r;                                                                \
    for (int left = r->width; left > 0; left -= job.width) {                                       \
      job.width = left;                                                                            \
      job.width = TYPED(P, part)(&job);                                                            \
      CHOOSE(job.width, rows_##OP)(&job, begin, end);                                              \
      TYPED(P, skip)(&job, job.width);                                                             \
    }                                                                                              \
  }                                                                                                \
  static void TYPED(P, spread_##OP)(const struct shunt_rows_job *r, int64_t first, int64_t end,    \
                                    int64_t begin)                                                 \
  {                                                                                                \
    CHOOSE(r->width, spread_##OP)(r, first, end, begin);                                           \
  }                                                                                                \
  static void TYPED(P, dots_##OP)(const struct shunt_dots_job *d, int64_t begin, int64_t end)      \
  {                                                                                                \
    CHOOSE(d->depth, dots_##OP)(d, begin, end);                                                    \
  }
#if PLUS
OPERATORS(PLUS_TIMES)
#endif
OPERATORS(MAX_TIMES)
OPERATORS(MIN_ADD)
OPERATORS(MAX_ADD)

#if IEEE && GROUPS
/* What is narrower than a vector is left to `rows`. */
static void TYPED(P, groups)(const struct shunt_rows_job *r, int64_t begin, int64_t end)
{
  struct shunt_rows_job job = *r;
  for (int left = r->width; left > 0; left -= job.width) {
    job.width = left;
    job.width = TYPED(P, part)(&job);
    if (job.width < LANES_MOST)
      TYPED(P, rows_PLUS_TIMES)(&job, begin, end);
    else
      TYPED(P, group_tile)(&job, begin, end);
    TYPED(P, skip)(&job, job.width);
  }
}
#define BUNDLES_PLUS_TIMES TYPED(P, groups)
#else
#define BUNDLES_PLUS_TIMES NULL
#endif
#define BUNDLES_MAX_TIMES NULL
#define BUNDLES_MIN_ADD NULL
#define BUNDLES_MAX_ADD NULL

#define ENTRY(OP)                                                                                  \
  [SHUNT_OP_##OP] = {2 * LANES_MOST, TYPED(P, rows_##OP), BUNDLES_##OP, TYPED(P, spread_##OP),     \
                     TYPED(P, dots_##OP)}
static const struct shunt_semiring_kernels TYPED(P, kernels)[SHUNT_OP_COUNT] = {
#if PLUS
    ENTRY(PLUS_TIMES),
#endif
    ENTRY(MAX_TIMES),
    ENTRY(MIN_ADD),
    ENTRY(MAX_ADD),
};

#undef BUNDLES_PLUS_TIMES
#undef BUNDLES_MAX_TIMES
#undef BUNDLES_MIN_ADD
#undef BUNDLES_MAX_ADD
#undef ENTRY
#undef OPERATORS
#undef CHOOSE
#undef TYPED
#undef TYPED_
#undef PASTE
#undef PASTE_
#undef P
#undef T
#undef W
#undef M
#undef IEEE
#undef PLUS
#undef NONE_MIN
#undef NONE_MAX
#undef LANES_MOST
