/* masked_work.h: inside of T<M> = A B': what its two steps share. */
#ifndef SHUNT_MASKED_WORK_H
#define SHUNT_MASKED_WORK_H

#include "kernels/semiring/masked/masked_rows.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_team.h"

/* Where every term is the same number T is found by counting: of PLUS values are `counts` of
   `term`, of other monoids `term`, and exists is not filled.  */
struct shunt_masked_dot_work {
  const struct shunt_masked_dot *p;
  struct shunt_masked_dot copy;
  struct shunt_masked_memory memory;
  struct shunt_rows a, b;
  const uint32_t *columns; /* [m.nnz] M's indices */
  shunt_sum sum;
  bool symmetric;    /* each pair once, to two places */
  bool two_sided;    /* some pairs are computed from row j, which then scans row i */
  uint32_t *mirror;  /* [m.nnz] where (j,i) stands for (i,j) */
  uint32_t *counts;  /* [m.nnz] terms of each entry; NULL: terms differ */
  bool uniform;      /* T's values are all `term`: counts say which exist, and may be too small */
  uint64_t term;     /* one, as the first bytes */
  uint8_t *exists;   /* [m.nnz] */
  void *values;      /* [m.nnz], at the places of M's entries */
  uint64_t *offsets; /* [m.vectors + 1] of T */
  int threads;
};

/* Is every term the same number? */
static inline bool shunt_masked_counts(const struct shunt_masked_dot *p)
{
  return p->a.iso && p->b.iso;
}

static inline int64_t shunt_row_length(const struct shunt_rows *r, int64_t i)
{
  return r->offsets[i + 1] - r->offsets[i];
}

/* Is T symmetric?  Then x->mirror says where (j,i) stands for (i,j) and operands
   that the proof covers are said to be by row.  Needs x->columns.  */
bool shunt_find_symmetry(struct shunt_masked_dot_work *x);
/* The same where A and B are held in different ways, once their rows are made: of C<M> = L U, say,
   where U is L's transpose.  */
bool shunt_find_symmetry_by_rows(struct shunt_masked_dot_work *x);
/* Of memory that it takes, at most. */
size_t shunt_symmetry_bytes(const struct shunt_masked_dot *p, int threads);

/* Fill counts, or exists and values.  False: no memory. */
bool shunt_masked_by_marks(struct shunt_masked_dot_work *x);
/* Of memory that it takes, at most. */
size_t shunt_masked_marks_bytes(const struct shunt_masked_dot *p, int threads);

/* Parts of M's entries for each thread, to be taken in turn. */
enum { SHUNT_PARTS_PER_THREAD = 128 };

#endif
