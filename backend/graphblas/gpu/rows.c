#include "backend/graphblas/gpu/rows.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/graphblas/gpu/part.h"
#include "backend/plan/fault.h"

static inline int64_t read_index(const void *array, int bytes, int64_t i)
{
  return bytes == 4 ? (int64_t)((const uint32_t *)array)[i] : (int64_t)((const uint64_t *)array)[i];
}

static int64_t offset(const struct shunt_sparse *s, int64_t v)
{
  return read_index(s->offsets, s->offset_bytes, v);
}

static int64_t id(const struct shunt_sparse *s, int64_t v)
{
  return s->ids ? read_index(s->ids, s->id_bytes, v) : v;
}

static void *allocate(int64_t count, size_t size)
{
  return SHUNT_TRY_OR(NULL, malloc((size_t)(count > 0 ? count : 1) * size));
}

/* Rows whose vectors are missing have no entries; the ids ascend. */
static shunt_status offsets_by_row(struct grb_gpu_rows *r, int threads)
{
  const struct shunt_sparse *s = r->s;
  const int64_t begin = grb_gpu_first_vector(s, r->row);
  const int64_t end = grb_gpu_first_vector(s, r->row + r->rows);
  r->base = offset(s, begin);
  const int64_t base = r->base, entries = offset(s, end) - base;
  if (entries >= GRB_GPU_MOST_INDEX) return SHUNT_E_UNSUPPORTED;
  if (!s->ids) {
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i <= r->rows; i++) r->offsets[i] = (int32_t)(offset(s, begin + i) - base);
    return SHUNT_OK;
  }
  int64_t row = 0;
  for (int64_t v = begin; v < end; v++)
    for (; row <= id(s, v) - r->row; row++) r->offsets[row] = (int32_t)(offset(s, v) - base);
  for (; row <= r->rows; row++) r->offsets[row] = (int32_t)entries;
  return SHUNT_OK;
}

/* ---- the transpose -------------------------------------------------------------------

   The columns are cut into one chunk per thread, of about as many entries each.

     1. counts[t][i] = entries of row i in chunk t
     2. counts[t][i] = where the first of them goes: rows before i, then chunks before t
     3. every thread sends its entries, in order, to counts[t][i]++

   Entries of rows that are not wanted are passed over.  */
struct transpose {
  const struct shunt_sparse *s;
  struct grb_gpu_rows *r;
  int chunks;
  int32_t *counts; /* [chunks][rows] */
};

/* The first vector of a chunk. */
static int64_t chunk_begin(const struct shunt_sparse *s, int chunk, int chunks)
{
  int64_t goal = s->nnz / chunks * chunk, low = 0, high = s->vectors;
  if (chunk == chunks) return s->vectors;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (offset(s, middle) < goal)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void count_chunk(const struct transpose *t, int chunk)
{
  const struct shunt_sparse *s = t->s;
  const uint64_t rows = (uint64_t)t->r->rows;
  int32_t *counts = t->counts + chunk * t->r->rows;
  int64_t end = offset(s, chunk_begin(s, chunk + 1, t->chunks));
  memset(counts, 0, (size_t)rows * sizeof *counts);
  for (int64_t p = offset(s, chunk_begin(s, chunk, t->chunks)); p < end; p++) {
    const uint64_t row = (uint64_t)(read_index(s->indices, s->index_bytes, p) - t->r->row);
    if (row < rows) counts[row]++;
  }
}

/* How many entries there are; the rest is undone if they are too many. */
static int64_t place_rows(const struct transpose *t)
{
  const int64_t rows = t->r->rows;
  int64_t sum = 0;
  for (int64_t i = 0; i < rows && sum < GRB_GPU_MOST_INDEX; i++) {
    t->r->offsets[i] = (int32_t)sum;
    for (int c = 0; c < t->chunks; c++) {
      int32_t *count = &t->counts[c * rows + i], here = *count;
      *count = (int32_t)sum;
      sum += here;
    }
  }
  t->r->offsets[rows] = (int32_t)sum;
  return sum;
}

static void send_chunk(const struct transpose *t, int chunk)
{
  const struct shunt_sparse *s = t->s;
  struct grb_gpu_rows *r = t->r;
  const uint64_t rows = (uint64_t)r->rows;
  int32_t *places = t->counts + chunk * r->rows;
  int64_t last = chunk_begin(s, chunk + 1, t->chunks);
  for (int64_t v = chunk_begin(s, chunk, t->chunks); v < last; v++)
    for (int64_t p = offset(s, v); p < offset(s, v + 1); p++) {
      const uint64_t row = (uint64_t)(read_index(s->indices, s->index_bytes, p) - r->row);
      if (row >= rows) continue;
      int32_t place = places[row]++;
      r->columns[place] = (int32_t)id(s, v);
      if (!r->values) continue;
      if (r->size == 4)
        memcpy(r->values + (size_t)place * 4, (const char *)s->values + p * 4, 4);
      else
        memcpy(r->values + (size_t)place * 8, (const char *)s->values + p * 8, 8);
    }
}

static shunt_status transpose(struct grb_gpu_rows *r, bool values, int threads)
{
  const struct shunt_sparse *s = r->s;
  /* The counters of all chunks together are not to outgrow the entries by much. */
  int64_t room = 1 + 2 * s->nnz / s->rows;
  struct transpose t = {s, r, threads < room ? threads : (int)room, NULL};
  t.counts = allocate(r->rows * t.chunks, sizeof *t.counts);
  if (!t.counts) return SHUNT_E_MEMORY;
#pragma omp parallel for num_threads(t.chunks) schedule(static, 1)
  for (int chunk = 0; chunk < t.chunks; chunk++) count_chunk(&t, chunk);
  const int64_t entries = place_rows(&t);
  shunt_status status = entries < GRB_GPU_MOST_INDEX ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
  if (status == SHUNT_OK) {
    r->columns = allocate(entries, sizeof *r->columns);
    r->values = values ? allocate(entries, r->size) : NULL;
    if (!r->columns || (values && !r->values)) status = SHUNT_E_MEMORY;
  }
  if (status == SHUNT_OK) {
#pragma omp parallel for num_threads(t.chunks) schedule(static, 1)
    for (int chunk = 0; chunk < t.chunks; chunk++) send_chunk(&t, chunk);
  }
  free(t.counts);
  return status;
}

/* ---- what else is known of the rows --------------------------------------------------- */

/* The chunks of B that entries begin .. end - 1 meet. */
static uint64_t needs_of(const struct grb_gpu_rows *r, int64_t begin, int64_t end)
{
  const struct shunt_sparse *s = r->s;
  uint64_t needs = 0;
  for (int64_t p = begin; p < end; p++) {
    int64_t column =
        r->columns ? r->columns[p] : read_index(s->indices, s->index_bytes, r->base + p);
    needs |= (uint64_t)1 << ((column + 1) * GRB_GPU_CHUNKS - 1) / s->cols;
  }
  return needs;
}

static void look_at_chunks(struct grb_gpu_rows *r, bool needs, int threads)
{
  struct grb_gpu_chunks *c = &r->chunks;
  for (int i = 0; i <= GRB_GPU_CHUNKS; i++) c->begin[i] = r->offsets[r->rows * i / GRB_GPU_CHUNKS];
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int i = 0; i < GRB_GPU_CHUNKS; i++)
    c->needs[i] = needs ? needs_of(r, c->begin[i], c->begin[i + 1]) : ~(uint64_t)0;
}

static shunt_status look_at_rows(struct grb_gpu_rows *r, int threads)
{
  int64_t longest = 0, empty = 0;
#pragma omp parallel for num_threads(threads) reduction(max : longest) reduction(+ : empty)
  for (int64_t i = 0; i < r->rows; i++) {
    int64_t length = r->offsets[i + 1] - r->offsets[i];
    if (length > longest) longest = length;
    empty += length == 0;
  }
  r->longest = longest;
  r->empty_count = empty;
  if (r->empty_count == 0) return SHUNT_OK;
  r->empty = allocate(r->empty_count, sizeof *r->empty);
  if (!r->empty) return SHUNT_E_MEMORY;
  for (int64_t i = 0, n = 0; i < r->rows; i++)
    if (r->offsets[i + 1] == r->offsets[i]) r->empty[n++] = (int32_t)i;
  return SHUNT_OK;
}

static shunt_status order(struct grb_gpu_rows *r, const struct shunt_sparse *s,
                          const struct grb_gpu_rows_wish *wish, int threads)
{
  *r = (struct grb_gpu_rows){
      .s = s, .row = wish->row, .rows = wish->row_end - wish->row, .size = wish->size};
  if (r->rows < 1 || s->rows >= GRB_GPU_MOST_INDEX || s->cols >= GRB_GPU_MOST_INDEX || s->nnz < 1)
    return SHUNT_E_UNSUPPORTED;
  shunt_status status;
  r->offsets = allocate(r->rows + 1, sizeof *r->offsets);
  if (!r->offsets)
    status = SHUNT_E_MEMORY;
  else if (s->by_column)
    status = transpose(r, wish->values && !s->iso, threads);
  else
    status = offsets_by_row(r, threads);
  if (status != SHUNT_OK) grb_gpu_rows_free(r);
  return status;
}

shunt_status grb_gpu_rows_order(struct grb_gpu_rows *r, const struct shunt_sparse *s, size_t size,
                                bool values, int threads)
{
  const struct grb_gpu_rows_wish wish = {.row_end = s->rows, .size = size, .values = values};
  return order(r, s, &wish, threads);
}

shunt_status grb_gpu_rows_make(struct grb_gpu_rows *r, const struct shunt_sparse *s,
                               const struct grb_gpu_rows_wish *wish, int threads)
{
  shunt_status status = order(r, s, wish, threads);
  if (status != SHUNT_OK) return status;
  status = look_at_rows(r, threads);
  if (status == SHUNT_OK) look_at_chunks(r, wish->needs, threads);
  if (status != SHUNT_OK) grb_gpu_rows_free(r);
  return status;
}

void grb_gpu_rows_free(struct grb_gpu_rows *r)
{
  free(r->offsets);
  free(r->columns);
  free(r->values);
  free(r->empty);
  *r = (struct grb_gpu_rows){.s = NULL};
}

void grb_gpu_rows_columns(const struct grb_gpu_rows *r, int64_t first, int64_t count, int32_t *to)
{
  const struct shunt_sparse *s = r->s;
  if (r->columns) {
    memcpy(to, r->columns + first, (size_t)count * sizeof *to);
    return;
  }
  first += r->base;
  if (s->index_bytes == 4)
    memcpy(to, (const char *)s->indices + first * 4, (size_t)count * sizeof *to);
  else
    for (int64_t i = 0; i < count; i++) to[i] = (int32_t)((const int64_t *)s->indices)[first + i];
}

void grb_gpu_rows_values(const struct grb_gpu_rows *r, int64_t first, int64_t count, void *to)
{
  const char *from =
      r->values ? r->values : (const char *)r->s->values + r->base * (int64_t)r->size;
  memcpy(to, from + first * (int64_t)r->size, (size_t)count * r->size);
}
