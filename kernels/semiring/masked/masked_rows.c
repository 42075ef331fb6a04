/* masked_rows.c: operands by row with narrow indices (masked_rows.h). */
#include "kernels/semiring/masked/masked_rows.h"

#include <string.h>

#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_team.h"

/* ---- memory ------------------------------------------------------------------------------- */

void *shunt_masked_piece(struct shunt_masked_memory *m, size_t bytes)
{
  const size_t whole = shunt_whole_lines(bytes ? bytes : 1);
  if (!m->block.memory || whole > m->block.bytes - m->used) return NULL;
  m->used += whole;
  return m->block.memory + m->used - whole;
}

/* ---- operands ----------------------------------------------------------------------------- */

static bool make_offsets(const struct shunt_sparse *s, struct shunt_masked_memory *memory,
                         struct shunt_rows *r)
{
  int64_t *offsets = shunt_masked_piece(memory, ((size_t)s->rows + 1) * sizeof *offsets), row = 0;
  r->offsets = offsets;
  if (!offsets) return false;
  for (int64_t v = 0; v < s->vectors; v++)
    for (const int64_t id = shunt_vector_id(s, v); row <= id; row++)
      offsets[row] = shunt_vector_begin(s, v);
  for (; row <= s->rows; row++) offsets[row] = s->nnz;
  return true;
}

struct narrowing {
  const int64_t *from;
  uint32_t *to;
};

static void narrow_some(void *narrowing, int64_t begin, int64_t end, int worker)
{
  const struct narrowing *n = narrowing;
  (void)worker;
  for (int64_t q = begin; q < end; q++) n->to[q] = (uint32_t)n->from[q];
}

void shunt_narrow_indices(const struct shunt_sparse *s, int threads, uint32_t *to)
{
  enum { EACH = 1 << 12 };
  struct narrowing n = {s->indices, to};
  shunt_team_loop(threads, s->nnz, EACH, narrow_some, &n);
}

/* narrow: the indices, if somebody has them. */
static bool by_row(const struct shunt_sparse *s, const uint32_t *narrow, int threads,
                   struct shunt_masked_memory *memory, struct shunt_rows *r)
{
  r->values = s->values;
  r->indices = narrow ? narrow : s->index_bytes == 4 ? s->indices : NULL;
  r->offsets = s->offsets;
  if ((s->ids || s->offset_bytes != 8) && !make_offsets(s, memory, r)) return false;
  if (r->indices) return true;
  uint32_t *indices = shunt_masked_piece(memory, (size_t)s->nnz * sizeof *indices);
  if (indices) shunt_narrow_indices(s, threads, indices);
  r->indices = indices;
  return indices;
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
      if (copies) shunt_copy_element(copies, to, x.s->values, q, size);
    }
  }
}

struct shares {
  const struct shunt_sparse *s;
  int threads;
  uint32_t *counts, *indices;
  char *copies;
  size_t size;
};

static void count_shares(void *shares, int64_t begin, int64_t end, int worker)
{
  const struct shares *x = shares;
  (void)worker;
  for (int64_t t = begin; t < end; t++) count_share(share_of(x->s, x->threads, (int)t, x->counts));
}

static void move_shares(void *shares, int64_t begin, int64_t end, int worker)
{
  const struct shares *x = shares;
  (void)worker;
  for (int64_t t = begin; t < end; t++)
    move_share(share_of(x->s, x->threads, (int)t, x->counts), x->indices, x->copies, x->size);
}

/* Entries in the order of the columns come to stand in ascending order in each row. */
static bool transpose(const struct shunt_sparse *s, size_t size, bool values, int most,
                      struct shunt_masked_memory *memory, struct shunt_rows *r)
{
  const size_t rows = (size_t)s->rows, nnz = (size_t)s->nnz;
  const int threads = shunt_masked_sorters(most, s->nnz, s->rows);
  int64_t *offsets = shunt_masked_piece(memory, (rows + 1) * sizeof *offsets);
  uint32_t *indices = shunt_masked_piece(memory, nnz * sizeof *indices);
  uint32_t *counts = shunt_masked_piece(memory, (size_t)threads * rows * sizeof *counts);
  char *copies = values ? shunt_masked_piece(memory, nnz * size) : NULL;
  if (!offsets || !indices || !counts || (values && !copies)) return false;
  struct shares x = {s, threads, counts, indices, copies, size};
  shunt_team_loop(threads, threads, 1, count_shares, &x);
  shunt_masked_starts(counts, threads, s->rows, offsets);
  shunt_team_loop(threads, threads, 1, move_shares, &x);
  r->offsets = offsets;
  r->indices = indices;
  r->values = values ? copies : s->values;
  return true;
}

bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values,
                     const uint32_t *narrow, int threads, struct shunt_masked_memory *memory,
                     struct shunt_rows *out)
{
  *out = (struct shunt_rows){.rows = s->rows, .cols = s->cols, .nnz = s->nnz, .iso = s->iso};
  if (s->by_column) return transpose(s, size, use_values && !s->iso, threads, memory, out);
  return by_row(s, narrow, threads, memory, out);
}

size_t shunt_rows_bytes(const struct shunt_sparse *s, size_t size, bool use_values, int threads)
{
  const bool copies = s->by_column && use_values && !s->iso;
  return shunt_piece_bytes(s->rows + 1, sizeof(int64_t)) +
         shunt_piece_bytes(s->nnz, sizeof(uint32_t) + (copies ? size : 0)) +
         shunt_piece_bytes(s->rows * shunt_masked_sorters(threads, s->nnz, s->rows),
                           sizeof(uint32_t));
}
