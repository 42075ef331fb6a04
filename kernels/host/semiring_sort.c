/* semiring_sort.c: from by column to by row, by a counting sort in two passes.

     entries, by column      buckets of 2^shift rows        rows
     | c0 | c1 | c2 | ..  -> | 0..77 | 78..155 | ..  ->  | 0 | 1 | 2 | ..

   With few rows one pass goes straight to them.  With many it would write to as many places as
   there are rows, too many for the caches; there are few enough buckets, and the entries of one
   bucket fit into cache for the second pass.  Pass 1: each thread takes an equal share of the
   entries; it counts them per bucket, and a prefix sum over (bucket, thread) says where it puts
   them.  Pass 2 is the caller's to start, bucket by bucket, so that a bucket is used while it is in
   cache.  */
#include <string.h>

#include "kernels/host/semiring_operands.h"
#include "kernels/host/semiring_sort.h"

enum {
  BUCKETS = 256,
  ROWS_AT_ONCE = 1 << 16, /* rows that are sorted to directly */
  COUNTS_MOST = 1 << 18   /* and counts of all threads, which one thread adds up */
};

/* An entry on its way, for values of 0, 4 and 8 bytes.  `row` is that within the bucket. */
struct record_0 {
  uint32_t row, col;
};
struct record_4 {
  uint32_t row, col, value;
};
struct record_8 {
  uint32_t row, col;
  uint64_t value;
};

typedef uint32_t value_4 __attribute__((may_alias));
typedef uint64_t value_8 __attribute__((may_alias));

static size_t record_bytes(size_t size)
{
  return size == 0   ? sizeof(struct record_0)
         : size == 4 ? sizeof(struct record_4)
                     : sizeof(struct record_8);
}

static size_t round_up(size_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

static void *take(char **at, size_t bytes)
{
  void *taken = *at;
  *at += round_up(bytes);
  return taken;
}

/* Rows are the buckets. */
static bool at_once(const struct shunt_sparse *s, int threads)
{
  return s->rows <= ROWS_AT_ONCE && s->rows * threads <= COUNTS_MOST;
}

static int64_t cells(const struct shunt_sparse *s, int threads)
{
  return at_once(s, threads) ? s->rows : BUCKETS;
}

size_t shunt_sort_bytes(const struct shunt_sparse *s, size_t size, int threads)
{
  const size_t nnz = (size_t)s->nnz;
  const size_t counted = (size_t)cells(s, threads);
  return round_up((size_t)threads * counted * sizeof(int64_t)) +
         round_up((counted + 1) * sizeof(int64_t)) + round_up(nnz * record_bytes(size)) +
         round_up(nnz * size) + 2 * round_up(((size_t)s->rows + 1) * sizeof(int64_t)) +
         round_up(nnz * sizeof(int32_t));
}

static void count(const struct shunt_sort *w, int64_t begin, int64_t end, int64_t *counts)
{
  const void *indices = w->s->indices;
  const int bytes = w->s->index_bytes, shift = w->shift;
  memset(counts, 0, (size_t)w->buckets * sizeof *counts);
  for (int64_t q = begin; q < end; q++)
    counts[shunt_index_at(indices, bytes, q) >> shift]++;
}

static void prefix(const struct shunt_sort *w, int threads)
{
  int64_t before = 0;
  for (int64_t b = 0; b < w->buckets; b++) {
    w->begin[b] = w->offsets[b << w->shift] = before;
    for (int t = 0; t < threads; t++) {
      const int64_t n = w->counts[t * w->buckets + b];
      w->counts[t * w->buckets + b] = before;
      before += n;
    }
  }
  w->begin[w->buckets] = w->offsets[w->s->rows] = before;
}

/* One column of S, entries q .. stop, to the records that `next` says. */
#define TO_BUCKETS(SIZE, VALUE, ITS_VALUE)                                                         \
  static void column_##SIZE(const struct shunt_sort *w, uint32_t col, int64_t q, int64_t stop,     \
                            int64_t *restrict next)                                                \
  {                                                                                                \
    struct record_##SIZE *restrict records = w->records;                                           \
    const void *indices = w->s->indices;                                                           \
    const VALUE *given = w->s->values;                                                             \
    (void)given;                                                                                   \
    const int bytes = w->s->index_bytes, shift = w->shift;                                         \
    const int64_t low = ((int64_t)1 << shift) - 1;                                                 \
    for (; q < stop; q++) {                                                                        \
      const int64_t row = shunt_index_at(indices, bytes, q), to = next[row >> shift]++;            \
      records[to] = (struct record_##SIZE){(uint32_t)(row & low), col ITS_VALUE};                  \
    }                                                                                              \
  }
#define COMMA ,
TO_BUCKETS(0, char, )
TO_BUCKETS(4, value_4, COMMA given[q])
TO_BUCKETS(8, value_8, COMMA given[q])

/* The same when rows are the buckets: to the row's place. */
#define TO_PLACES(SIZE, VALUE, KEEP_VALUE)                                                         \
  static void places_##SIZE(const struct shunt_sort *w, uint32_t col, int64_t q, int64_t stop,     \
                            int64_t *restrict next)                                                \
  {                                                                                                \
    const void *from = w->s->indices;                                                              \
    const int bytes = w->s->index_bytes;                                                           \
    int32_t *restrict indices = w->indices;                                                        \
    VALUE *restrict values = w->values;                                                            \
    const VALUE *given = w->s->values;                                                             \
    (void)values, (void)given;                                                                     \
    for (; q < stop; q++) {                                                                        \
      const int64_t to = next[shunt_index_at(from, bytes, q)]++;                                   \
      indices[to] = (int32_t)col;                                                                  \
      KEEP_VALUE;                                                                                  \
    }                                                                                              \
  }
TO_PLACES(0, char, (void)0)
TO_PLACES(4, value_4, values[to] = given[q])
TO_PLACES(8, value_8, values[to] = given[q])

typedef void column_pass(const struct shunt_sort *w, uint32_t col, int64_t q, int64_t stop,
                         int64_t *next);

static void pass_1(const struct shunt_sort *w, column_pass *pass, int64_t begin, int64_t end,
                   int64_t *next)
{
  const struct shunt_sparse *s = w->s;
  int64_t q = begin;
  if (begin == end) return;
  for (int64_t v = shunt_vector_of(s, begin); q < end; v++) {
    const int64_t after = shunt_vector_begin(s, v + 1), stop = after < end ? after : end;
    pass(w, (uint32_t)shunt_vector_id(s, v), q, stop, next);
    q = stop;
  }
}

static column_pass *pass_of(size_t size, bool direct)
{
  static column_pass *const passes[2][3] = {{column_0, column_4, column_8},
                                            {places_0, places_4, places_8}};
  return passes[direct][size / 4];
}

/* The entries of a bucket, `begin` .. `end`, to its rows; next[row] is where the row's next entry
   goes, and at last where the row ends.  */
#define TO_ROWS(SIZE, VALUE, KEEP_VALUE)                                                           \
  static void bucket_##SIZE(const struct shunt_sort *w, int64_t begin, int64_t end, int64_t rows,  \
                            int64_t *restrict next)                                                \
  {                                                                                                \
    const struct record_##SIZE *restrict records = w->records;                                     \
    int32_t *restrict indices = w->indices;                                                        \
    VALUE *restrict values = w->values;                                                            \
    (void)values;                                                                                  \
    int64_t before = begin;                                                                        \
    for (int64_t i = 0; i < rows; i++)                                                             \
      next[i] = 0;                                                                                 \
    for (int64_t q = begin; q < end; q++)                                                          \
      next[records[q].row]++;                                                                      \
    for (int64_t i = 0; i < rows; i++) {                                                           \
      const int64_t n = next[i];                                                                   \
      next[i] = before;                                                                            \
      before += n;                                                                                 \
    }                                                                                              \
    for (int64_t q = begin; q < end; q++) {                                                        \
      const int64_t to = next[records[q].row]++;                                                   \
      indices[to] = (int32_t)records[q].col;                                                       \
      KEEP_VALUE;                                                                                  \
    }                                                                                              \
  }
TO_ROWS(0, char, (void)0)
TO_ROWS(4, value_4, values[to] = records[q].value)
TO_ROWS(8, value_8, values[to] = records[q].value)

void shunt_sort_bucket(const struct shunt_sort *w, int64_t bucket)
{
  const int64_t first = bucket << w->shift, after = (bucket + 1) << w->shift;
  const int64_t rows = (after < w->s->rows ? after : w->s->rows) - first;
  const int64_t begin = w->begin[bucket], end = w->begin[bucket + 1];
  int64_t *next = w->next + first;
  if (w->size == 0)
    bucket_0(w, begin, end, rows, next);
  else if (w->size == 4)
    bucket_4(w, begin, end, rows, next);
  else
    bucket_8(w, begin, end, rows, next);
  /* The ends of the bucket itself stand there already: other threads read them. */
  memcpy(w->offsets + first + 1, next, (size_t)(rows - 1) * sizeof *next);
}

static void run(const struct shunt_sort *w, column_pass *pass, int threads)
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
    count(w, begin, end, w->counts + t * w->buckets);
    SHUNT_OMP(omp barrier)
    SHUNT_OMP(omp single)
    prefix(w, of);
    pass_1(w, pass, begin, end, w->counts + t * w->buckets);
  }
}

void shunt_sort_begin(const struct shunt_sparse *s, size_t size, int threads, void *scratch,
                      struct shunt_sort *w, struct shunt_sparse *sorted)
{
  const size_t nnz = (size_t)s->nnz;
  char *at = scratch;

  const bool direct = at_once(s, threads);
  *w = (struct shunt_sort){.s = s, .size = size};
  while (!direct && (s->rows - 1) >> w->shift >= BUCKETS)
    w->shift++;
  w->buckets = ((s->rows - 1) >> w->shift) + 1;
  w->counts = take(&at, (size_t)(threads * w->buckets) * sizeof *w->counts);
  w->begin = take(&at, (size_t)(w->buckets + 1) * sizeof *w->begin);
  w->records = take(&at, nnz * record_bytes(size));
  w->offsets = take(&at, ((size_t)s->rows + 1) * sizeof *w->offsets);
  w->next = take(&at, (size_t)s->rows * sizeof *w->next);
  w->indices = take(&at, nnz * sizeof *w->indices);
  w->values = take(&at, nnz * size);
  run(w, pass_of(size, direct), threads);
  if (direct) w->buckets = 0;

  *sorted = *s;
  sorted->by_column = false;
  sorted->vectors = s->rows;
  sorted->ids = NULL;
  sorted->offsets = w->offsets;
  sorted->offset_bytes = 8;
  sorted->indices = w->indices;
  sorted->index_bytes = 4;
  if (size > 0) sorted->values = w->values;
}
