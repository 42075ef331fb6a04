/* frontier_group.h: inside of the frontier products: one group of rows, computed by a team of
   threads.

     read      F by node: which rows of the group are there; of sums also their values
     walk      pushed or pulled into T by node; then T by row, a bit for each place
     collect   of sums and parents whose T is sparse: the values, row after row

   A part is a range of F's nodes, or of T's, and belongs to one thread: what a node of T gets does
   not depend on how many parts there are.  Bits are pushed by the part that has read them, into a T
   of its own, and these are joined in the walk; sums and parents by the part that has the node of
   T.  */
#ifndef SHUNT_SEMIRING_FRONTIER_GROUP_H
#define SHUNT_SEMIRING_FRONTIER_GROUP_H

#include "kernels/semiring/frontier/frontier_bits.h"

enum { SHUNT_GROUP_SUMS = 8, SHUNT_GROUP_BITS = 64, SHUNT_GROUP_PARTS = 64 };

/* The values of a node, one for each row of the group.  What does not exist is -0.0. */
typedef double shunt_lanes __attribute__((vector_size(SHUNT_GROUP_SUMS * sizeof(double))));

/* Where T goes. */
struct shunt_places {
  uint64_t *bits; /* [rows * stride] words: a bit for each place, row after row */
  int64_t stride;
  void *values; /* [rows * n] of what becomes a bitmap and has any; NULL: others */
};

struct shunt_group {
  const struct shunt_frontier *p;
  int64_t first;
  int rows;  /* SHUNT_GROUP_BITS at most; of sums SHUNT_GROUP_SUMS */
  int parts; /* and threads */
  struct shunt_places to;
  /* Bounds of the parts: multiples of 64, and the end. */
  int64_t node[SHUNT_GROUP_PARTS + 1], column[SHUNT_GROUP_PARTS + 1];
  /* By node, in scratch; words of bits, or bytes of sums. */
  uint64_t *f_words, *t_words, *allowed_words; /* pushed t_words: a T for each part */
  uint8_t *f_bytes, *t_bytes, *allowed_bytes;
  shunt_lanes *f_values, *t_values;
  uint32_t *parents; /* [n * lanes] */
  int64_t lanes;
  uint32_t *active; /* of sums: nodes of F that any row has, ascending, each part from its
                                           own beginning on */
  int64_t met[SHUNT_GROUP_PARTS];     /* so many */
  int64_t (*count)[SHUNT_GROUP_BITS]; /* [parts] entries of T's rows */
  uint64_t *spare;                    /* [stride] of a row of M */
  void *collected;                    /* values, where T is sparse */
};

/* How many parts a group that threads share should have. */
int shunt_group_parts(const struct shunt_frontier *p, int threads);
/* Scratch for a group of so many parts, aligned to 64 bytes. */
size_t shunt_group_bytes(const struct shunt_frontier *p, int parts);
/* Fills g->to, and offsets[first + 1 ...] with the entries of T's rows.  *values: where T has some
   and does not become a bitmap, row after row, to be freed.  False: no memory.  */
bool shunt_group_run(struct shunt_group *g, char *scratch, uint64_t *offsets, void **values);
/* Where the collected values of a row's part begin. */
int64_t shunt_group_before(const struct shunt_group *g, int part, int row);

/* The steps of one part. */
void shunt_words_read(struct shunt_group *g, int part);
void shunt_words_walk(struct shunt_group *g, int part);
void shunt_parents_walk(struct shunt_group *g, int part);
void shunt_parents_collect(struct shunt_group *g, int part);
void shunt_sums_read(struct shunt_group *g, int part);
void shunt_sums_walk(struct shunt_group *g, int part);
void shunt_sums_collect(struct shunt_group *g, int part);

/* Fills allowed_words. */
void shunt_words_allowed(struct shunt_group *g, struct shunt_range columns);
/* t_words to bits by row, all that count, or those that M lets pass; counts them. */
void shunt_words_rows(struct shunt_group *g, int part, bool masked);

static inline struct shunt_range shunt_part_nodes(const struct shunt_group *g, int part)
{
  return (struct shunt_range){g->node[part], g->node[part + 1]};
}

static inline struct shunt_range shunt_part_columns(const struct shunt_group *g, int part)
{
  return (struct shunt_range){g->column[part], g->column[part + 1]};
}

#endif
