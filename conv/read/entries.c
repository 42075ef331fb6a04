/* entries.c: the assembly of what was read into a CSR matrix (scanner.h): columns ascending,
   repeated entries summed in the file's order.  */
#include <stdlib.h>
#include <string.h>

#include "conv/read/scanner.h"

shunt_status read_check_sizes(struct read_text *t, int64_t rows, int64_t cols, int64_t entries)
{
  int64_t most = (int64_t)1 << 24;

  if (entries > most / 64) most = entries < INT64_MAX / 64 ? entries * 64 : INT64_MAX;
  if (rows > most || cols > most)
    return read_fail(t, "%lld x %lld is out of proportion to its %lld entries", (long long)rows,
                     (long long)cols, (long long)entries);
  return SHUNT_OK;
}

void entries_init(struct read_entries *e, int pattern)
{
  memset(e, 0, sizeof *e);
  e->pattern = pattern;
}

void entries_free(struct read_entries *e)
{
  free(e->row);
  free(e->column);
  free(e->value);
  entries_init(e, 0);
}

static int grow(void **array, int64_t count, size_t size)
{
  void *more = realloc(*array, (size_t)count * size);

  if (more) *array = more;
  return more != NULL;
}

shunt_status entries_add(struct read_entries *e, int64_t row, int64_t column, double value)
{
  if (e->count == e->room) {
    int64_t room = e->room ? e->room * 2 : 1024;
    void *r = e->row, *c = e->column, *v = e->value;
    int good = grow(&r, room, sizeof *e->row) && grow(&c, room, sizeof *e->column) &&
               (e->pattern || grow(&v, room, sizeof *e->value));
    e->row = r;
    e->column = c;
    e->value = v;
    if (!good) return SHUNT_E_MEMORY;
    e->room = room;
  }
  e->row[e->count] = row;
  e->column[e->count] = column;
  if (!e->pattern) e->value[e->count] = value;
  e->count++;
  return SHUNT_OK;
}

/* Sorts n (column, value) pairs stably, by merging runs from the bottom up; the
   second half of each array is room.  Files are nearly always sorted already, so
   this runs for few rows.  */
static void sort_row(int64_t *column, double *value, int64_t n, int64_t *column_room,
                     double *value_room)
{
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t from = 0; from < n; from += 2 * run) {
      int64_t middle = from + run < n ? from + run : n;
      int64_t to = middle + run < n ? middle + run : n;
      int64_t i = from, j = middle;
      for (int64_t k = from; k < to; k++) {
        int64_t take = i < middle && (j == to || column[i] <= column[j]) ? i++ : j++;
        column_room[k] = column[take];
        value_room[k] = value[take];
      }
    }
    memcpy(column, column_room, (size_t)n * sizeof *column);
    memcpy(value, value_room, (size_t)n * sizeof *value);
  }
}

static int is_ascending(const int64_t *column, int64_t n)
{
  for (int64_t k = 1; k < n; k++)
    if (column[k] < column[k - 1]) return 0;
  return 1;
}

static shunt_status sort_rows(struct shunt_matrix *m)
{
  int64_t longest = 0, *column_room = NULL;
  double *value_room = NULL;
  shunt_status status = SHUNT_OK;

  for (int64_t i = 0; i < m->rows; i++) {
    int64_t n = m->row_offsets[i + 1] - m->row_offsets[i];
    if (n > longest && !is_ascending(m->columns + m->row_offsets[i], n)) longest = n;
  }
  if (longest) {
    column_room = malloc((size_t)longest * sizeof *column_room);
    value_room = malloc((size_t)longest * sizeof *value_room);
    if (!column_room || !value_room) status = SHUNT_E_MEMORY;
  }
  for (int64_t i = 0; longest && status == SHUNT_OK && i < m->rows; i++) {
    int64_t at = m->row_offsets[i], n = m->row_offsets[i + 1] - at;
    if (!is_ascending(m->columns + at, n))
      sort_row(m->columns + at, m->values + at, n, column_room, value_room);
  }
  free(column_room);
  free(value_room);
  return status;
}

static void sum_repeats(struct shunt_matrix *m)
{
  int64_t kept = 0, begin = 0;

  for (int64_t i = 0; i < m->rows; i++) {
    int64_t end = m->row_offsets[i + 1], row_start = kept;
    for (int64_t p = begin; p < end; p++) {
      if (kept > row_start && m->columns[kept - 1] == m->columns[p]) {
        m->values[kept - 1] += m->values[p];
        continue;
      }
      m->columns[kept] = m->columns[p];
      m->values[kept++] = m->values[p];
    }
    begin = end;
    m->row_offsets[i + 1] = kept;
  }
  m->nnz = kept;
}

shunt_status matrix_tidy(struct shunt_matrix *m)
{
  shunt_status status = sort_rows(m);

  if (status != SHUNT_OK) return status;
  sum_repeats(m);
  if (m->pattern) shunt_fill_values(m->values, m->nnz, 1);
  return SHUNT_OK;
}

shunt_status entries_to_csr(const struct read_entries *e, int64_t rows, int64_t cols,
                            struct shunt_matrix *out)
{
  size_t room = (size_t)e->count + 1;
  shunt_status status = SHUNT_E_MEMORY;

  memset(out, 0, sizeof *out);
  out->rows = rows;
  out->cols = cols;
  out->nnz = e->count;
  out->pattern = e->pattern;
  out->row_offsets = calloc((size_t)rows + 2, sizeof *out->row_offsets);
  out->columns = malloc(room * sizeof *out->columns);
  out->values = e->pattern ? calloc(room, sizeof *out->values) : malloc(room * sizeof *out->values);
  if (out->row_offsets && out->columns && out->values) {
    /* next[r] is where row r goes on; counting one place further leaves
       row_offsets right when all is placed.  */
    int64_t *next = out->row_offsets + 1;
    for (int64_t k = 0; k < e->count; k++) next[e->row[k] + 1]++;
    for (int64_t i = 0; i < rows; i++) next[i + 1] += next[i];
    for (int64_t k = 0; k < e->count; k++) {
      int64_t p = next[e->row[k]]++;
      out->columns[p] = e->column[k];
      if (!e->pattern) out->values[p] = e->value[k];
    }
    status = matrix_tidy(out);
  }
  if (status != SHUNT_OK) shunt_matrix_free(out);
  return status;
}
