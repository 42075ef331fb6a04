/* smtx.c: files of the Deep Learning Matrix Collection (read.h); patterns only.

     rows, cols, nnz
     row offsets, rows + 1 of them, 0-based
     column indices, nnz of them, 0-based

   The second and third line are as long as they need to be; they are read number
   by number.  Repeated columns of a row become one entry.  */
#include <stdlib.h>
#include <string.h>

#include "conv/read/scanner.h"

/* A list that grows as it is filled. */
struct list {
  int64_t *at;
  int64_t count, room;
};

static shunt_status append(struct read_text *t, struct list *list, int64_t value)
{
  if (list->count == list->room) {
    int64_t room = list->room ? list->room * 2 : 1024;
    int64_t *more = realloc(list->at, (size_t)room * sizeof *more);
    if (!more) return read_no_memory(t);
    list->at = more;
    list->room = room;
  }
  list->at[list->count++] = value;
  return SHUNT_OK;
}

static shunt_status read_sizes(struct read_text *t, struct shunt_matrix *m)
{
  int found;
  shunt_status status = read_next_line(t, 0, &found);

  if (status == SHUNT_OK && !found) return read_fail(t, "is empty");
  if (status == SHUNT_OK) status = read_int(t, "the number of rows", &m->rows);
  if (status == SHUNT_OK) status = read_int(t, "the number of columns", &m->cols);
  if (status == SHUNT_OK) status = read_int(t, "the number of entries", &m->nnz);
  if (status == SHUNT_OK && (m->rows < 0 || m->cols < 0 || m->nnz < 0 || m->rows == INT64_MAX))
    return read_fail(t, "a size is negative or too large");
  return status == SHUNT_OK ? read_line_end(t) : status;
}

/* One line of `count` numbers into a list. */
static shunt_status read_list(struct read_text *t, const char *name, int64_t count,
                              struct list *list)
{
  int found = 0;
  shunt_status status = SHUNT_OK;

  if (count > 0) {
    status = read_next_line(t, 0, &found);
    if (status == SHUNT_OK && !found) return read_fail(t, "ends before its line: %s", name);
  }
  for (int64_t k = 0; k < count && status == SHUNT_OK; k++) {
    int64_t value = 0;
    int end = read_at_line_end(t);
    if (end < 0) return SHUNT_E_INPUT; /* the message is there */
    if (end)
      return read_fail(t, "holds %lld of %lld numbers: %s", (long long)k, (long long)count, name);
    status = read_int(t, name, &value);
    if (status == SHUNT_OK) status = append(t, list, value);
  }
  return status;
}

static shunt_status check_offsets(struct read_text *t, const struct list *offsets, int64_t nnz)
{
  if (offsets->at[0] != 0)
    return read_fail(t, "the first row offset is %lld, not 0", (long long)offsets->at[0]);
  for (int64_t i = 1; i < offsets->count; i++)
    if (offsets->at[i] < offsets->at[i - 1])
      return read_fail(t, "row offset %lld of row %lld is below the one before",
                       (long long)offsets->at[i], (long long)i);
  if (offsets->at[offsets->count - 1] != nnz)
    return read_fail(t, "the last row offset is %lld, not %lld",
                     (long long)offsets->at[offsets->count - 1], (long long)nnz);
  return SHUNT_OK;
}

static shunt_status check_columns(struct read_text *t, const struct list *columns, int64_t cols)
{
  for (int64_t p = 0; p < columns->count; p++)
    if (columns->at[p] < 0 || columns->at[p] >= cols)
      return read_fail(t, "column index %lld is outside of %lld columns", (long long)columns->at[p],
                       (long long)cols);
  return SHUNT_OK;
}

static shunt_status read_lists(struct read_text *t, const struct shunt_matrix *m,
                               struct list *offsets, struct list *columns)
{
  int found = 0;
  shunt_status status = read_list(t, "row offset", m->rows + 1, offsets);

  if (status == SHUNT_OK) status = check_offsets(t, offsets, m->nnz);
  if (status == SHUNT_OK) status = read_line_end(t);
  if (status == SHUNT_OK) status = read_list(t, "column index", m->nnz, columns);
  if (status == SHUNT_OK) status = check_columns(t, columns, m->cols);
  if (status == SHUNT_OK) status = read_line_end(t);
  if (status == SHUNT_OK) status = read_next_line(t, 0, &found);
  if (status == SHUNT_OK && found) return read_fail(t, "goes on after its last column index");
  return status == SHUNT_OK ? read_check_sizes(t, m->rows, m->cols, m->nnz) : status;
}

/* Gives the lists to the matrix and finishes it. */
static shunt_status finish(struct read_text *t, struct shunt_matrix *m, struct list *offsets,
                           struct list *columns)
{
  m->pattern = 1;
  m->row_offsets = offsets->at;
  m->columns = columns->at ? columns->at : malloc(sizeof *m->columns);
  offsets->at = columns->at = NULL;
  m->values = calloc((size_t)m->nnz + 1, sizeof *m->values);
  if (m->columns && m->values && matrix_tidy(m) == SHUNT_OK) return SHUNT_OK;
  return read_no_memory(t);
}

shunt_status read_smtx(const char *path, struct shunt_matrix *out, struct shunt_message *why,
                       const struct shunt_read_watch *watch)
{
  struct read_text t;
  struct list offsets = {0}, columns = {0};
  shunt_status status;

  memset(out, 0, sizeof *out);
  status = read_open(&t, path, why);
  if (status != SHUNT_OK) return status;
  t.watch = watch;
  t.separator = ',';
  status = read_sizes(&t, out);
  if (status == SHUNT_OK) status = read_lists(&t, out, &offsets, &columns);
  if (status == SHUNT_OK) status = finish(&t, out, &offsets, &columns);
  free(offsets.at);
  free(columns.at);
  read_close(&t);
  if (status != SHUNT_OK) shunt_matrix_free(out);
  return status;
}
