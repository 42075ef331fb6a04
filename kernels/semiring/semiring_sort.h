/* semiring_sort.h: a matrix held by column, sorted into one held by row. */
#ifndef SHUNT_SEMIRING_SORT_H
#define SHUNT_SEMIRING_SORT_H

#include "kernels/semiring/semiring_kernels.h"

/* A sort under way.  Bucket b holds rows b << shift and up; no buckets: it is done.

   A sorted entry is its column, 4 bytes, and its value, if those are read at all: one place to
   write to, where two arrays would be two.

     entries  | col | value | col | value | ..        4 + `size` bytes each  */
struct shunt_sort {
  const struct shunt_sparse *s;
  size_t size; /* bytes of a value: 0 (none are sorted), 4 or 8 */
  int shift;
  int64_t buckets;
  void *counts;     /* [threads][buckets]: how many, then where the next one goes */
  int64_t *begin;   /* [buckets + 1] */
  char *records;    /* the entries by bucket */
  int64_t *next;    /* [rows], of pass 2 */
  int64_t *offsets; /* the result */
  char *entries;
};

/* Bytes from a sorted entry to the next. */
static inline size_t shunt_sort_entry(size_t size)
{
  return sizeof(uint32_t) + size;
}

/* Bytes of scratch that a sort of s needs. */
size_t shunt_sparse_sort_bytes(const struct shunt_sparse *s, size_t size, int threads);

/* s, held by column, with rows > 0 and cols < 2^31, is sorted into buckets, in `scratch` (64-byte
   aligned).  `sorted` is s held by row, also in scratch, but that its indices, of 4 bytes, and its
   values are shunt_sort_entry(size) bytes apart; its rows of a bucket can be read once
   shunt_sort_bucket has been called for it.  Entries of a row are in the order of s's vectors,
   whatever the number of threads.  With size 0, sorted->values is that of s.  */
void shunt_sort_begin(const struct shunt_sparse *s, size_t size, int threads, void *scratch,
                      struct shunt_sort *sort, struct shunt_sparse *sorted);

/* Different threads may sort different buckets at the same time. */
void shunt_sort_bucket(const struct shunt_sort *sort, int64_t bucket);

#endif
