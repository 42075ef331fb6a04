/* masked.h: T<M> = A B' over a semiring, A and B sparse: one dot product of two sparse
   rows for each entry of M.

     T(i,j) = sum over the k that row i of A and row j of B share of A(i,k) (x) B(j,k)

   exists where M has an entry (its values are not read) and the two rows share any k.

   Row i of A is marked once for all entries of row i of M; then the rows j of B are scanned:

       M  row i | j0    j1   j2 |
       A  row i | k0 k2 k5 |            mark   |1 0 1 0 0 1 0 ..|
       B  row j0 | k0 k1 k5 |           1 + 0 + 1 marked
       B  row j1, far longer than row i of A: each k is sought in it by halving

   A pair whose row of B is far longer, where many are, is left until the others are done: those are
   sorted by j, row j is marked and the rows of A are scanned.  A row of few entries is compared
   with others all with all, by vector instructions, where terms are only counted.

   Where the monoid is PLUS and all terms are the same number, T counts them and multiplies once.

   Where A and B are the same matrix, (x) does not mind their order and M's pattern is symmetric, so
   is T: each pair is computed once, with the shorter of the two rows scanned.  M's symmetry is
   proved: as rows i come in turn, the entries (i,j) before the diagonal must meet the ones behind
   it in row j, in the order in which these stand there; each thread knows from a count of the
   columns where its own rows begin to.  Where M's pattern is A's and B's, too, and their values are
   not read, the proof stands for theirs, and nothing is transposed.

   Or rows of B' are added up under the mask (saxpy), where their entries are fewer than what the
   dot products and transposes would read (masked_saxpy.h).

   Two steps, because only the first tells how large T is; scratch is held in between.  Threads
   share the work by M's entries.  Each entry is summed by one thread in the order of k: results do
   not depend on the number of threads.  */
#ifndef SHUNT_MASKED_H
#define SHUNT_MASKED_H

#include "kernels/semiring/semiring_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All three are m x n, m x k, n x k; M by row, with indices in ascending order; A and B by row or
   by column (then they are transposed first; saxpy transposes B where it is by row), indices in
   ascending order.  Integers wrap.  */
struct shunt_masked_dot {
  struct shunt_semiring semiring;
  struct shunt_sparse m, a, b;
  int threads;
  bool saxpy; /* adds up rows of B' */
};

struct shunt_masked_dot_work;

/* Computes.  offsets [m.vectors + 1]: where T's vectors, one for each of M's, begin; the last is
   the number of T's entries.  *work holds the rest until it is finished. SHUNT_E_UNSUPPORTED: a
   type that is not built; 2^31 or more rows or columns of A or B, or far more than they have
   entries, or 2^32 entries.  SHUNT_E_MEMORY: scratch.  SHUNT_E_ARGUMENT: shapes.  */
shunt_status shunt_masked_dot_begin(const struct shunt_masked_dot *p, uint64_t *offsets,
                                    struct shunt_masked_dot_work **work);
/* Are T's values one for all?  So they are where A and B are read as one value each, and the monoid
   is not PLUS.  */
bool shunt_masked_dot_uniform(const struct shunt_masked_dot *p);
/* Where they are, or PLUS of equal terms: one term, to term (8 bytes).  False: terms differ, or a
   type that is not built.  */
bool shunt_masked_dot_term(const struct shunt_masked_dot *p, void *term);
/* counts[0], counts[1] ... times *term, of those that are not 0, to out[at] ... out[end - 1]. */
void shunt_store_counts(shunt_type t, const uint32_t *counts, const void *term, void *out,
                        uint64_t at, uint64_t end);
/* Fills T's indices [offsets[m.vectors]] and as many values, or one of a uniform T, and lets go of
   the work; NULL for both: only that.  */
void shunt_masked_dot_finish(struct shunt_masked_dot_work *work, uint64_t *indices, void *values);

/* What dot products of M's entries read, by a sample of those; nothing where the rows of a pair
   have no columns in common, from where the later one begins to where the earlier one ends.

   scanned   entries of the shorter row; T's symmetry would halve them
   runs      of columns, in that part of the row that has fewer entries there: what a merge of the
             two meets unforeseen; not of a uniform T, where it ends at the first that both have
   until_met entries up to that one; of a uniform T only

   The sample is small where the shorter row clearly has more or fewer entries than `enough`, on the
   average; where it has fewer, both are all of them.  */
struct shunt_masked_reads {
  double scanned, runs, until_met;
};
struct shunt_masked_reads shunt_masked_dot_reads(const struct shunt_masked_dot *p, double enough);

/* Entries of rows of B' that saxpy reads, by a sample of A's; offered: with those of rows that end
   before M's begins, or begin behind it; met: where M has an entry.  False: not known without a
   transpose, unless A is by row and B by column.  */
struct shunt_masked_terms {
  double read, offered, met;
};
bool shunt_masked_saxpy_terms(const struct shunt_masked_dot *p, struct shunt_masked_terms *terms);

/* Is T likely to be found symmetric without a transpose?  A, B and M are one matrix, and so it is
   in a few of its entries.  */
bool shunt_masked_seems_symmetric(const struct shunt_masked_dot *p);
/* Do half of M's entries (i,j) seem to have (j,i), by a sample? */
bool shunt_masked_seems_mirrored(const struct shunt_sparse *m);

/* The slow, obviously right twin: values [m.nnz] and exists [m.nnz] at the places of M's
   entries. */
shunt_status shunt_masked_dot_twin(const struct shunt_masked_dot *p, void *values, bool *exists);

#ifdef __cplusplus
}
#endif
#endif
