/* masked_rows.c: operands by row with narrow indices (masked_rows.h). */
#include "kernels/semiring/masked/masked_rows.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_operands.h"

/* ---- operands ----------------------------------------------------------------------------- */

static bool make_offsets(const struct shunt_sparse *s, struct shunt_rows *r)
{
  int64_t *offsets = malloc((size_t)(s->rows + 1) * sizeof *offsets), row = 0;
  r->owned[0] = offsets;
  r->offsets = offsets;
  if (!offsets) return false;
  for (int64_t v = 0; v < s->vectors; v++)
    for (const int64_t id = shunt_vector_id(s, v); row <= id; row++)
      offsets[row] = shunt_vector_begin(s, v);
  for (; row <= s->rows; row++) offsets[row] = s->nnz;
  return true;
}

uint32_t *shunt_narrow_indices(const struct shunt_sparse *s, int threads)
{
  uint32_t *indices = malloc(((size_t)s->nnz + 1) * sizeof *indices);
  const int64_t *wide = s->indices;
  (void)threads;
  if (indices) {
    SHUNT_OMP(omp parallel for schedule(static) num_threads(threads) if (s->nnz > 65536))
    for (int64_t q = 0; q < s->nnz; q++) indices[q] = (uint32_t)wide[q];
  }
  return indices;
}

/* narrow: the indices, if somebody has them. */
static bool by_row(const struct shunt_sparse *s, const uint32_t *narrow, int threads,
                   struct shunt_rows *r)
{
  r->values = s->values;
  r->indices = narrow ? narrow : s->index_bytes == 4 ? s->indices : NULL;
  r->offsets = s->offsets;
  if ((s->ids || s->offset_bytes != 8) && !make_offsets(s, r)) return false;
  if (!r->indices) r->indices = r->owned[1] = shunt_narrow_indices(s, threads);
  return r->indices != NULL;
}

static void copy_value(char *to, int64_t at, const char *from, int64_t q, size_t size)
{
  if (size == 4)
    ((uint32_t *)(void *)to)[at] = ((const uint32_t *)(const void *)from)[q];
  else
    ((uint64_t *)(void *)to)[at] = ((const uint64_t *)(const void *)from)[q];
}

/* A transpose's share of one thread: entries begin .. end. */
struct share {
  const struct shunt_sparse *s;
  int64_t begin, end;
  uint32_t *at; /* [rows] */
};

static struct share share_of(const struct shunt_sparse *s, int threads, int t, uint32_t *counts)
{
  const int64_t each = s->nnz / threads + 1, begin = t * each;
  return (struct share){s, begin, begin + each < s->nnz ? begin + each : s->nnz,
                        counts + t * s->rows};
}

static void count_share(struct share x)
{
  memset(x.at, 0, (size_t)x.s->rows * sizeof *x.at);
  for (int64_t q = x.begin; q < x.end; q++) x.at[shunt_entry_index(x.s, q)]++;
}

static void move_share(struct share x, uint32_t *indices, char *copies, size_t size)
{
  if (x.begin >= x.end) return;
  for (int64_t v = shunt_vector_of(x.s, x.begin), q = x.begin; q < x.end; v++) {
    const uint32_t column = (uint32_t)shunt_vector_id(x.s, v);
    const int64_t end = shunt_vector_begin(x.s, v + 1);
    for (; q < end && q < x.end; q++) {
      const int64_t to = x.at[shunt_entry_index(x.s, q)]++;
      indices[to] = column;
      if (copies) copy_value(copies, to, x.s->values, q, size);
    }
  }
}

/* Entries in the order of the columns come to stand in ascending order in each row. */
static bool transpose(const struct shunt_sparse *s, size_t size, bool values, int threads,
                      struct shunt_rows *r)
{
  int64_t *offsets = malloc(((size_t)s->rows + 1) * sizeof *offsets);
  uint32_t *indices = malloc(((size_t)s->nnz + 1) * sizeof *indices);
  uint32_t *counts = malloc(((size_t)threads * (size_t)s->rows + 1) * sizeof *counts);
  char *copies = values ? malloc(((size_t)s->nnz + 1) * size) : NULL;
  r->owned[0] = offsets, r->owned[1] = indices, r->owned[2] = copies;
  const bool good = offsets && indices && counts && (copies || !values);
  if (good) {
    SHUNT_OMP(omp parallel for schedule(static, 1) num_threads(threads))
    for (int t = 0; t < threads; t++) count_share(share_of(s, threads, t, counts));
    shunt_masked_starts(counts, threads, s->rows, offsets);
    SHUNT_OMP(omp parallel for schedule(static, 1) num_threads(threads))
    for (int t = 0; t < threads; t++)
      move_share(share_of(s, threads, t, counts), indices, copies, size);
  }
  free(counts);
  r->offsets = offsets;
  r->indices = indices;
  r->values = values ? copies : s->values;
  return good;
}

bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values,
                     const uint32_t *narrow, int threads, struct shunt_rows *out)
{
  *out = (struct shunt_rows){.rows = s->rows, .cols = s->cols, .nnz = s->nnz, .iso = s->iso};
  if (s->by_column) return transpose(s, size, use_values && !s->iso, threads, out);
  return by_row(s, narrow, threads, out);
}

void shunt_rows_free(struct shunt_rows *r)
{
  for (int i = 0; i < 3; i++) free(r->owned[i]);
}
