/* semiring_samples.c: what a look at some of S's entries says of all of them (semiring_samples.h).
 */
#include <math.h>
#include <string.h>

#include "kernels/semiring/semiring_loops.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_samples.h"

enum {
  LINE = 64,     /* bytes of a cache line */
  USES = 16,     /* of a row of B that pay for aligning it */
  SAMPLE = 64,   /* entries that are looked at for where they stand */
  PAIRS = 32,    /* of rows that are looked at for the same columns */
  APART = 16,    /* rows between two such pairs, at least */
  SHORT = 8,     /* entries of a row that are too few to share */
  LONG = 256,    /* bytes of a row of B in a strip, of which more outlast the core's look-ahead */
  OFTEN = 24,    /* uses of a row of B */
  NEAR = 1 << 20 /* bytes of B that a core's own caches hold */
};

/* Bytes of a row of B in a strip. */
static int64_t row_bytes(const struct shunt_host_spmm *p, size_t size)
{
  return (p->b.cols < SHUNT_TILE_MAX ? p->b.cols : SHUNT_TILE_MAX) * (int64_t)size;
}

/* Do rows of C that follow each other use rows of B far apart?  By a sample: entries that stand
   further from the diagonal than a core's caches reach.  */
static bool scattered(const struct shunt_host_spmm *p, size_t size)
{
  const struct shunt_sparse *s = &p->s;
  const double reach = NEAR / 4 / (double)row_bytes(p, size);
  const double slope = (double)s->cols / (double)s->rows;
  int far = 0;
  for (int i = 0; i < SAMPLE; i++) {
    const int64_t q = s->nnz / SAMPLE * i;
    const int64_t line = shunt_vector_id(s, shunt_vector_of(s, q));
    const int64_t other = shunt_entry_index(s, q);
    const double from = slope * (double)(s->by_column ? other : line);
    far += fabs(from - (double)(s->by_column ? line : other)) > reach;
  }
  return far > SAMPLE / 2;
}

bool shunt_worth_aligning(const struct shunt_host_spmm *p, size_t size)
{
  const bool aligned =
      (uintptr_t)p->b.values % LINE == 0 && (size_t)p->b.row_stride * size % LINE == 0;
  return !aligned && (size_t)p->b.cols * size >= LINE && p->s.nnz / USES >= p->b.rows &&
         scattered(p, size);
}

/* With i % 6 and i % 8 it is not always the same unknown at a node of finite elements, nor the same
   end of a row.  */
bool shunt_worth_prefetching(const struct shunt_host_spmm *p, size_t size)
{
  const struct shunt_sparse *s = &p->s;
  const int64_t row = row_bytes(p, size), step = s->vectors / SAMPLE;
  const double reach = NEAR / 4 / (double)row;
  const double slope = (double)s->cols / (double)s->rows;
  int rows = 0, far = 0;
  if (p->b.rows * row <= NEAR) return false;
  if (s->by_column || step < 6) return true;
  if (row > LONG && s->nnz / OFTEN < p->b.rows) return true;
  for (int i = 0; i < SAMPLE; i++) {
    const int64_t v = step * i + i % 6, q = shunt_vector_begin(s, v);
    const int64_t length = shunt_vector_begin(s, v + 1) - q;
    if (length == 0) continue;
    const double column = (double)shunt_entry_index(s, q + length * (i % 8) / 8);
    far += fabs(slope * (double)shunt_vector_id(s, v) - column) > reach;
    rows++;
  }
  return 4 * far >= rows;
}

/* Have vectors v and v + 1 the same indices? */
static bool same_indices(const struct shunt_sparse *s, int64_t v)
{
  const int64_t q = shunt_vector_begin(s, v), length = shunt_vector_begin(s, v + 1) - q;
  const size_t bytes = (size_t)(length * s->index_bytes);
  const char *list = (const char *)s->indices + q * s->index_bytes;
  return length > 0 && shunt_vector_begin(s, v + 2) - q == 2 * length &&
         memcmp(list, list + bytes, bytes) == 0;
}

/* i % 6, as a step may be a multiple of the unknowns at a node. */
bool shunt_in_bundles(const struct shunt_sparse *s)
{
  const int64_t pairs = s->vectors / APART < PAIRS ? s->vectors / APART : PAIRS;
  int64_t same = 0;
  if (s->by_column || pairs == 0 || s->nnz / SHORT < s->vectors) return false;
  for (int64_t i = 0; i < pairs; i++) same += same_indices(s, s->vectors / pairs * i + i % 6);
  return 4 * same >= pairs;
}
