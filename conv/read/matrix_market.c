/* matrix_market.c: Matrix Market files (read.h).

     %%MatrixMarket matrix coordinate real symmetric
     % comments
     rows cols entries                 array: rows cols
     i j value                         array: one value a line, column by column
     ...

   Indices are 1-based.  Of a symmetric or hermitian matrix one triangle is stored,
   of a skew-symmetric one without the diagonal; mirrored entries are added here.
   An entry in the other triangle is taken as it comes: some programs write upper
   triangles.  In an array only what is not zero becomes an entry.  */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conv/read/scanner.h"

enum field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN };
enum symmetry { GENERAL, SYMMETRIC, SKEW };

struct header {
  int coordinate;
  enum field field;
  enum symmetry symmetry;
  int64_t rows, cols, entries; /* entries: as declared */
};

static shunt_status parse_words(struct read_text *t, char word[5][32], struct header *h)
{
  if (strcasecmp(word[1], "matrix") != 0)
    return read_fail(t, "holds a '%s', not a matrix", word[1]);
  if (strcasecmp(word[2], "coordinate") == 0)
    h->coordinate = 1;
  else if (strcasecmp(word[2], "array") == 0)
    h->coordinate = 0;
  else
    return read_fail(t, "unknown format '%s': want coordinate or array", word[2]);

  if (strcasecmp(word[3], "real") == 0 || strcasecmp(word[3], "double") == 0)
    h->field = FIELD_REAL;
  else if (strcasecmp(word[3], "integer") == 0)
    h->field = FIELD_INTEGER;
  else if (strcasecmp(word[3], "pattern") == 0 && h->coordinate)
    h->field = FIELD_PATTERN;
  else if (strcasecmp(word[3], "complex") == 0) {
    read_fail(t, "complex matrices are not supported");
    return SHUNT_E_UNSUPPORTED;
  } else
    return read_fail(t, "unknown field '%s' for format %s", word[3], word[2]);

  if (strcasecmp(word[4], "general") == 0)
    h->symmetry = GENERAL;
  else if (strcasecmp(word[4], "symmetric") == 0 || strcasecmp(word[4], "hermitian") == 0)
    h->symmetry = SYMMETRIC; /* the same for real numbers */
  else if (strcasecmp(word[4], "skew-symmetric") == 0 && h->field != FIELD_PATTERN)
    h->symmetry = SKEW;
  else
    return read_fail(t, "unknown symmetry '%s' for field %s", word[4], word[3]);
  return SHUNT_OK;
}

static void make_printable(char *text)
{
  for (; *text; text++)
    if (!isprint((unsigned char)*text) && *text != '\t') *text = *text == '\r' ? ' ' : '?';
}

static shunt_status read_banner(struct read_text *t, struct header *h)
{
  char line[256], word[5][32] = {"", "", "", "", ""}, more[2];
  int words;
  shunt_status status = read_rest_of_line(t, line, sizeof line);

  if (status != SHUNT_OK) return status;
  t->line = 1; /* messages are about the line just read */
  make_printable(line);
  words = sscanf(line, "%31s %31s %31s %31s %31s %1s", word[0], word[1], word[2], word[3], word[4],
                 more);
  if (words < 1 || strcasecmp(word[0], "%%MatrixMarket") != 0)
    return read_fail(t, "is not a Matrix Market file: no %%%%MatrixMarket line");
  if (words != 5)
    return read_fail(t, "the %%%%MatrixMarket line needs 4 words: object format field symmetry");
  status = parse_words(t, word, h);
  t->line = 2;
  return status;
}

static shunt_status read_sizes(struct read_text *t, struct header *h)
{
  int found;
  shunt_status status = read_next_line(t, '%', &found);

  if (status == SHUNT_OK && !found) return read_fail(t, "ends before the line of sizes");
  if (status == SHUNT_OK) status = read_int(t, "the number of rows", &h->rows);
  if (status == SHUNT_OK) status = read_int(t, "the number of columns", &h->cols);
  if (status == SHUNT_OK && h->coordinate)
    status = read_int(t, "the number of entries", &h->entries);
  if (status != SHUNT_OK) return status;
  if (h->rows < 0 || h->cols < 0 || h->entries < 0) return read_fail(t, "a size is negative");
  if (h->symmetry != GENERAL && h->rows != h->cols)
    return read_fail(t, "a symmetric matrix must be square, this is %lld x %lld",
                     (long long)h->rows, (long long)h->cols);
  return read_line_end(t);
}

static shunt_status read_value(struct read_text *t, const struct header *h, double *value)
{
  int64_t whole;
  shunt_status status;

  if (h->field == FIELD_REAL) return read_real(t, "the value", value);
  status = read_int(t, "the value", &whole);
  *value = (double)whole;
  return status;
}

/* One line "i j [value]", 0-based on return. */
static shunt_status read_entry(struct read_text *t, const struct header *h, int64_t *i, int64_t *j,
                               double *value)
{
  shunt_status status = read_int(t, "the row", i);

  if (status == SHUNT_OK) status = read_int(t, "the column", j);
  if (status == SHUNT_OK && (*i < 1 || *i > h->rows || *j < 1 || *j > h->cols))
    return read_fail(t, "entry (%lld, %lld) is outside of %lld x %lld", (long long)*i,
                     (long long)*j, (long long)h->rows, (long long)h->cols);
  if (status == SHUNT_OK && h->field != FIELD_PATTERN) status = read_value(t, h, value);
  --*i;
  --*j;
  if (status == SHUNT_OK && h->symmetry == SKEW && *i == *j && *value != 0)
    return read_fail(t, "a skew-symmetric matrix has a zero diagonal");
  return status == SHUNT_OK ? read_line_end(t) : status;
}

/* Adds an entry and its mirror image. */
static shunt_status add(struct read_text *t, const struct header *h, struct read_entries *e,
                        int64_t i, int64_t j, double value)
{
  shunt_status status = entries_add(e, i, j, value);

  if (status == SHUNT_OK && h->symmetry != GENERAL && i != j)
    status = entries_add(e, j, i, h->symmetry == SKEW ? -value : value);
  return status == SHUNT_OK ? SHUNT_OK : read_no_memory(t);
}

/* Goes to a line with text on it, which must be there. */
static shunt_status expect_line(struct read_text *t, int64_t have, int64_t want)
{
  int found;
  shunt_status status = read_next_line(t, '%', &found);

  if (status == SHUNT_OK && !found)
    return read_fail(t, "ends after %lld of %lld entries", (long long)have, (long long)want);
  return status;
}

static shunt_status read_coordinates(struct read_text *t, const struct header *h,
                                     struct read_entries *e)
{
  for (int64_t k = 0; k < h->entries; k++) {
    int64_t i = 0, j = 0;
    double value = 0;
    shunt_status status = expect_line(t, k, h->entries);
    if (status == SHUNT_OK) status = read_entry(t, h, &i, &j, &value);
    if (status == SHUNT_OK) status = add(t, h, e, i, j, value);
    if (status != SHUNT_OK) return status;
  }
  return SHUNT_OK;
}

static shunt_status read_array(struct read_text *t, const struct header *h, struct read_entries *e)
{
  int64_t have = 0;

  for (int64_t j = 0; j < h->cols; j++) {
    int64_t first = h->symmetry == GENERAL ? 0 : h->symmetry == SKEW ? j + 1 : j;
    for (int64_t i = first; i < h->rows; i++, have++) {
      double value = 0;
      int found;
      shunt_status status = read_next_line(t, '%', &found);
      if (status == SHUNT_OK && !found)
        return read_fail(t, "ends after %lld values, in column %lld of %lld", (long long)have,
                         (long long)j + 1, (long long)h->cols);
      if (status == SHUNT_OK) status = read_value(t, h, &value);
      if (status == SHUNT_OK) status = read_line_end(t);
      if (status == SHUNT_OK && value != 0) /* true for NaN */
        status = add(t, h, e, i, j, value);
      if (status != SHUNT_OK) return status;
    }
  }
  return SHUNT_OK;
}

static shunt_status read_body(struct read_text *t, struct shunt_matrix *out)
{
  struct header h = {0};
  struct read_entries e;
  int found;
  shunt_status status = read_banner(t, &h);

  if (status == SHUNT_OK) status = read_sizes(t, &h);
  if (status != SHUNT_OK) return status;
  /* An array of no rows has no lines that would end the walk over its columns. */
  if (h.rows == 0 || h.cols == 0) status = read_check_sizes(t, h.rows, h.cols, 0);
  if (status != SHUNT_OK) return status;
  entries_init(&e, h.field == FIELD_PATTERN);
  status = h.coordinate ? read_coordinates(t, &h, &e) : read_array(t, &h, &e);
  if (status == SHUNT_OK) status = read_next_line(t, '%', &found);
  if (status == SHUNT_OK && found) status = read_fail(t, "goes on after its last entry");
  if (status == SHUNT_OK) status = read_check_sizes(t, h.rows, h.cols, e.count);
  if (status == SHUNT_OK && (status = entries_to_csr(&e, h.rows, h.cols, out)) != SHUNT_OK)
    read_no_memory(t);
  entries_free(&e);
  return status;
}

shunt_status read_mtx(const char *path, struct shunt_matrix *out, struct shunt_message *why,
                      const struct shunt_read_watch *watch)
{
  struct read_text t;
  shunt_status status;

  memset(out, 0, sizeof *out);
  status = read_open(&t, path, why);
  if (status != SHUNT_OK) return status;
  t.watch = watch;
  status = read_body(&t, out);
  read_close(&t);
  return status;
}
