/* frontier_kernels.h: T<M> = F A and T<!M> = F A, where F has few rows: the frontiers of as many
   searches of one graph, a step further.

     T(s,j) = sum over the k of F's row s with an entry (k,j) in A of F(s,k)    PLUS of FIRST, F64
     T(s,j) exists if there is such a k                                       ANY of PAIR
     T(s,j) = the least such k: a node that s came to j from                  MIN of SECONDI

   Searches of one graph soon stand at the same nodes.  So rows of F go together, in groups of 8 or
   64, and an entry of A is read once for a group.  For each node there is a byte or a word with a
   bit for each row of the group, and for sums a line of cache with its values:

       F   s0 | 1   .   3            node k    bits    values
           s1 | 2   5   .    ->        0       011     1  2 -0
           s2 | .   6   7              1       110    -0  5  6
                                       2       101     3 -0  7

   What does not exist is -0.0, which changes no sum, not even its sign.

     push, A by row:     for each k with bits, for each (k,j) of A:
                         bits(j) |=, values(j) += those of k
     pull, A by column:  for each j that M leaves bits, for each (k,j): the same; of ANY until all
                         bits are there

   k ascends, so the least is the one that sets a bit first: it is written there and then, into a
   line of numbers for each node.

   Of sums, values are read only where one of the bits passes M.  T is then turned into a bit for
   each place, row by row, from which either form of it is made.

   Where so little is met that the rows of a group share hardly any of it, rows of a sparse F are
   pushed one by one instead (frontier_single.c).

   Groups are independent; where there are fewer of them than threads, the threads share a group:
   numbers and what is pulled by ranges of T's columns, bits that are pushed by ranges of k.  A
   number is made by one thread in the order of k: results do not depend on the number of threads.
   (Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2014; Beamer et
   al., Direction-optimizing BFS, SC 2012.)  */
#ifndef SHUNT_SEMIRING_FRONTIER_H
#define SHUNT_SEMIRING_FRONTIER_H

#include "kernels/semiring/semiring_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By row, sparse or, with dense set, the other; there col_stride is 1. */
struct shunt_lines {
  bool dense;
  struct shunt_sparse sparse; /* indices ascend */
  struct shunt_full full;
};

/* F is m x k, A k x n and not hypersparse, its indices ascending, M m x n; M's values are not read,
   nor are A's.  */
struct shunt_frontier {
  bool sums;   /* PLUS of FIRST in F64 */
  int parents; /* bytes of a number of T, 4 or 8: MIN of SECONDI; 0 and no sums: ANY of PAIR */
  bool complement;
  bool single;  /* rows one by one, not in groups; only of a sparse F, and of A by row */
  int64_t rows; /* m */
  struct shunt_lines f, m;
  struct shunt_sparse a;
  int threads;
};

struct shunt_frontier_work;

/* Computes.  offsets [rows + 1]: where T's rows begin, the last is the number of entries.  *work
   holds the rest until it is finished.  SHUNT_E_UNSUPPORTED: 2^31 columns or more, or A
   hypersparse.  SHUNT_E_MEMORY: scratch.  SHUNT_E_ARGUMENT: shapes.  */
shunt_status shunt_frontier_begin(const struct shunt_frontier *p, uint64_t *offsets,
                                  struct shunt_frontier_work **work);
/* Fill T as sparse, indices [offsets[rows]], or as a bitmap [rows * n], zero bytes where nothing
   is, and let go of the work; values (F64 of sums, integers of parents; else NULL) at the same
   places.  NULL for all: only that.  */
void shunt_frontier_finish(struct shunt_frontier_work *work, uint64_t *indices, void *values);
void shunt_frontier_finish_bitmap(struct shunt_frontier_work *work, int8_t *present, void *values);
/* All at once, where T is to be a bitmap whatever it holds: numbers go there directly. */
shunt_status shunt_frontier_bitmap(const struct shunt_frontier *p, uint64_t *offsets,
                                   int8_t *present, void *values);

/* Bytes of a number of T; 0: it has none. */
size_t shunt_frontier_value(const struct shunt_frontier *p);

/* Entries of A that are met: by one row of F after the other, by groups of them, and by the longest
   row of F or, to pull, of M, where that is sparse (else 0).  By samples.  */
struct shunt_frontier_reads {
  double single, grouped, row;
};
struct shunt_frontier_reads shunt_frontier_reads(const struct shunt_frontier *p);

/* Entries of the node that an entry of A, which is square and by row, leads to: their mean, by a
   small sample.  */
double shunt_frontier_reach(const struct shunt_sparse *a);

/* How many will compute it. */
int shunt_frontier_threads(const struct shunt_frontier *p);

/* The slow, obviously right twin: values [rows * n] (sums, parents), exists [rows * n]. */
shunt_status shunt_frontier_twin(const struct shunt_frontier *p, double *values, bool *exists);

#ifdef __cplusplus
}
#endif
#endif
