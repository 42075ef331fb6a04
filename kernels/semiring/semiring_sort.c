/* semiring_sort.c: from by column to by row, by a counting sort in one pass or two.

     entries, by column      buckets of 2^shift rows        rows
     | c0 | c1 | c2 | ..  -> | 0..77 | 78..155 | ..  ->  | 0 | 1 | 2 | ..

   With few rows one pass goes straight to them: rows are the buckets.  With many it would write to
   as many places as there are rows, too many for the caches; there are few enough buckets, and the
   entries of one bucket fit into cache for the second pass.  Pass 1: each thread takes an equal
   share of the entries; it counts them per bucket, and a prefix sum over (bucket, thread) says
   where it puts them.  Pass 2 is the caller's to start, bucket by bucket, so that a bucket is used
   while it is in cache.  */
#include <string.h>

#include "kernels/common/alignment.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_sort.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
  BUCKETS = 256,
  ROWS_AT_ONCE = 1 << 16, /* rows that are sorted to directly */
  COUNTS_MOST = 1 << 18,  /* and counts of all threads, which one thread adds up */
  AHEAD = 24              /* entries between the prefetch of a place and its use */
};

/* On the way to a bucket an entry has its row within the bucket before it. */
static size_t record_bytes(size_t size)
{
  return sizeof(uint32_t) + shunt_sort_entry(size);
}

static void *take(char **at, size_t bytes)
{
  void *taken = *at;
  *at += shunt_align_up(bytes, 64);
  return taken;
}

/* Rows are the buckets, and counts have 32 bits: half the cache. */
static bool at_once(const struct shunt_sparse *s, int threads)
{
  return s->rows <= ROWS_AT_ONCE && s->rows * threads <= COUNTS_MOST && s->nnz <= UINT32_MAX;
}

static int64_t cells(const struct shunt_sparse *s, int threads)
{
  return at_once(s, threads) ? s->rows : BUCKETS;
}

size_t shunt_sparse_sort_bytes(const struct shunt_sparse *s, size_t size, int threads)
{
  const size_t nnz = (size_t)s->nnz;
  const size_t counted = (size_t)cells(s, threads);
  const size_t records = at_once(s, threads) ? 0 : nnz * record_bytes(size);
  return shunt_align_up((size_t)threads * counted * sizeof(int64_t), 64) +
         shunt_align_up((counted + 1) * sizeof(int64_t), 64) + shunt_align_up(records, 64) +
         2 * shunt_align_up(((size_t)s->rows + 1) * sizeof(int64_t), 64) +
         shunt_align_up(nnz * shunt_sort_entry(size), 64);
}

/* ---- pass 1, for 32-bit counts (rows) and 64-bit ones (buckets) ------------------------------ */
#define COUNTS(TYPE, NAME)                                                                         \
  static void count_##NAME(const struct shunt_sort *w, int64_t begin, int64_t end, int thread)     \
  {                                                                                                \
    const void *indices = w->s->indices;                                                           \
    const int bytes = w->s->index_bytes, shift = w->shift;                                         \
    TYPE *counts = (TYPE *)w->counts + thread * w->buckets;                                        \
    memset(counts, 0, (size_t)w->buckets * sizeof *counts);                                        \
    for (int64_t q = begin; q < end; q++) counts[shunt_index_at(indices, bytes, q) >> shift]++;    \
  }                                                                                                \
  static void prefix_##NAME(const struct shunt_sort *w, int threads)                               \
  {                                                                                                \
    TYPE *counts = w->counts;                                                                      \
    int64_t before = 0;                                                                            \
    for (int64_t b = 0; b < w->buckets; b++) {                                                     \
      w->begin[b] = w->offsets[b << w->shift] = before;                                            \
      for (int t = 0; t < threads; t++) {                                                          \
        const int64_t n = counts[t * w->buckets + b];                                              \
        counts[t * w->buckets + b] = (TYPE)before;                                                 \
        before += n;                                                                               \
      }                                                                                            \
    }                                                                                              \
    w->begin[w->buckets] = w->offsets[w->s->rows] = before;                                        \
  }
COUNTS(uint32_t, rows)
COUNTS(int64_t, buckets)

ALWAYS_INLINE void put_entry(char *to, uint32_t col, const char *value, size_t size)
{
  memcpy(to, &col, sizeof col);
  if (size > 0) memcpy(to + sizeof col, value, size);
}

/* Entries begin .. end of S to their rows' places, of which next[row] is the first free one. */
ALWAYS_INLINE void put_rows(const struct shunt_sort *w, int64_t begin, int64_t end,
                            uint32_t *restrict next, size_t size, int bytes)
{
  const struct shunt_sparse *s = w->s;
  const void *indices = s->indices;
  const char *values = s->values;
  const size_t entry = shunt_sort_entry(size);
  char *restrict entries = w->entries;

  int64_t q = begin;
  for (int64_t v = shunt_vector_of(s, begin); q < end; v++) {
    const int64_t after = shunt_vector_begin(s, v + 1), stop = after < end ? after : end;
    const uint32_t col = (uint32_t)shunt_vector_id(s, v);
    for (; q < stop; q++) {
      const int64_t soon = q + AHEAD < end ? q + AHEAD : end - 1;
      __builtin_prefetch(entries + next[shunt_index_at(indices, bytes, soon)] * entry, 1);
      const size_t to = next[shunt_index_at(indices, bytes, q)]++;
      put_entry(entries + to * entry, col, values + (size_t)q * size, size);
    }
  }
}

/* The same to buckets. */
ALWAYS_INLINE void put_buckets(const struct shunt_sort *w, int64_t begin, int64_t end,
                               int64_t *restrict next, size_t size, int bytes)
{
  const struct shunt_sparse *s = w->s;
  const void *indices = s->indices;
  const char *values = s->values;
  const size_t record = record_bytes(size);
  const int shift = w->shift;
  char *restrict records = w->records;

  int64_t q = begin;
  for (int64_t v = shunt_vector_of(s, begin); q < end; v++) {
    const int64_t after = shunt_vector_begin(s, v + 1), stop = after < end ? after : end;
    const uint32_t col = (uint32_t)shunt_vector_id(s, v);
    for (; q < stop; q++) {
      const int64_t row = shunt_index_at(indices, bytes, q);
      const uint32_t within = (uint32_t)(row - (row >> shift << shift));
      char *to = records + (size_t)next[row >> shift]++ * record;
      memcpy(to, &within, sizeof within);
      put_entry(to + sizeof within, col, values + (size_t)q * size, size);
    }
  }
}

/* CALL(size, bytes) for the sizes of w's values and indices, as constants. */
#define FOR_SIZES(w, CALL)                                                                         \
  do {                                                                                             \
    const bool wide = (w)->s->index_bytes == 8;                                                    \
    if ((w)->size == 0)                                                                            \
      wide ? CALL(0, 8) : CALL(0, 4);                                                              \
    else if ((w)->size == 4)                                                                       \
      wide ? CALL(4, 8) : CALL(4, 4);                                                              \
    else                                                                                           \
      wide ? CALL(8, 8) : CALL(8, 4);                                                              \
  } while (0)

static void pass_1(const struct shunt_sort *w, bool direct, int64_t begin, int64_t end, int thread)
{
#define ROWS(size, bytes)                                                                          \
  put_rows(w, begin, end, (uint32_t *)w->counts + thread * w->buckets, size, bytes)
#define TO_BUCKETS(size, bytes)                                                                    \
  put_buckets(w, begin, end, (int64_t *)w->counts + thread * w->buckets, size, bytes)
  if (begin == end) return;
  if (direct)
    FOR_SIZES(w, ROWS);
  else
    FOR_SIZES(w, TO_BUCKETS);
}

static void run(const struct shunt_sort *w, bool direct, int threads)
{
  SHUNT_OMP(omp parallel num_threads(threads))
  {
#ifdef _OPENMP
    const int t = omp_get_thread_num(), of = omp_get_num_threads();
#else
    const int t = 0, of = 1;
    (void)threads;
#endif
    const int64_t share = w->s->nnz / of, rest = w->s->nnz % of;
    const int64_t begin = share * t + rest * t / of;
    const int64_t end = share * (t + 1) + rest * (t + 1) / of;
    (direct ? count_rows : count_buckets)(w, begin, end, t);
    SHUNT_OMP(omp barrier)
    SHUNT_OMP(omp single)
    (direct ? prefix_rows : prefix_buckets)(w, of);
    pass_1(w, direct, begin, end, t);
  }
}

void shunt_sort_begin(const struct shunt_sparse *s, size_t size, int threads, void *scratch,
                      struct shunt_sort *w, struct shunt_sparse *sorted)
{
  const size_t nnz = (size_t)s->nnz;
  char *at = scratch;

  const bool direct = at_once(s, threads);
  *w = (struct shunt_sort){.s = s, .size = size};
  while (!direct && (s->rows - 1) >> w->shift >= BUCKETS) w->shift++;
  w->buckets = ((s->rows - 1) >> w->shift) + 1;
  w->counts = take(&at, (size_t)(threads * w->buckets) * sizeof(int64_t));
  w->begin = take(&at, (size_t)(w->buckets + 1) * sizeof *w->begin);
  w->records = take(&at, direct ? 0 : nnz * record_bytes(size));
  w->offsets = take(&at, ((size_t)s->rows + 1) * sizeof *w->offsets);
  w->next = take(&at, (size_t)s->rows * sizeof *w->next);
  w->entries = take(&at, nnz * shunt_sort_entry(size));
  run(w, direct, threads);
  if (direct) w->buckets = 0;

  *sorted = *s;
  sorted->by_column = false;
  sorted->vectors = s->rows;
  sorted->ids = NULL;
  sorted->offsets = w->offsets;
  sorted->offset_bytes = 8;
  sorted->indices = w->entries;
  sorted->index_bytes = 4;
  if (size > 0) sorted->values = w->entries + sizeof(uint32_t);
}

/* ---- pass 2 ---------------------------------------------------------------------------------- */
/* The records of a bucket, `begin` .. `end`, to its rows; next[row] is where the row's next entry
   goes, and at last where the row ends.  */
ALWAYS_INLINE void bucket_rows(const struct shunt_sort *w, int64_t begin, int64_t end, int64_t rows,
                               int64_t *restrict next, size_t size)
{
  const size_t record = record_bytes(size), entry = shunt_sort_entry(size);
  const char *restrict records = w->records;
  char *restrict entries = w->entries;
  uint32_t row;
  int64_t before = begin;
  memset(next, 0, (size_t)rows * sizeof *next);
  for (int64_t q = begin; q < end; q++) {
    memcpy(&row, records + (size_t)q * record, sizeof row);
    next[row]++;
  }
  for (int64_t i = 0; i < rows; i++) {
    const int64_t n = next[i];
    next[i] = before;
    before += n;
  }
  for (int64_t q = begin; q < end; q++) {
    const char *from = records + (size_t)q * record;
    memcpy(&row, from, sizeof row);
    memcpy(entries + (size_t)next[row]++ * entry, from + sizeof row, entry);
  }
}

void shunt_sort_bucket(const struct shunt_sort *w, int64_t bucket)
{
  const int64_t first = bucket << w->shift, after = (bucket + 1) << w->shift;
  const int64_t rows = (after < w->s->rows ? after : w->s->rows) - first;
  const int64_t begin = w->begin[bucket], end = w->begin[bucket + 1];
  int64_t *next = w->next + first;
  if (w->size == 0)
    bucket_rows(w, begin, end, rows, next, 0);
  else if (w->size == 4)
    bucket_rows(w, begin, end, rows, next, 4);
  else
    bucket_rows(w, begin, end, rows, next, 8);
  /* The ends of the bucket itself stand there already: other threads read them. */
  memcpy(w->offsets + first + 1, next, (size_t)(rows - 1) * sizeof *next);
}
