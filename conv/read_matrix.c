/* read_matrix.c: the scanner and the assembly that all readers share (reading.h),
   and the choice of a reader by name (readers.h).  */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conv/reading.h"

/* ---- scanner ---------------------------------------------------------------- */

shunt_status read_open(struct read_text *t, const char *path, struct shunt_message *why)
{
  memset(t, 0, sizeof *t);
  t->path = path;
  t->why = why;
  t->separator = ' ';
  t->buffer = malloc(READ_BUFFER + 1);
  if (!t->buffer)
    return read_no_memory(t);
  t->file = gzopen(path, "rb");
  if (!t->file) {
    read_fail(t, "cannot be opened");
    read_close(t);
    return SHUNT_E_INPUT;
  }
  gzbuffer(t->file, 1 << 17);
  t->line = 1;
  t->buffer[0] = '\0';
  return SHUNT_OK;
}

void read_close(struct read_text *t)
{
  if (t->file)
    gzclose_r(t->file);
  free(t->buffer);
  t->file = NULL;
  t->buffer = NULL;
}

shunt_status read_fail(struct read_text *t, const char *format, ...)
{
  const char *name = strrchr(t->path, '/') ? strrchr(t->path, '/') + 1 : t->path;
  size_t used;
  va_list ap;

  if (!t->why)
    return SHUNT_E_INPUT;
  if (t->line > 0)
    snprintf(t->why->text, sizeof t->why->text, "%.120s:%lld: ", name, (long long)t->line);
  else
    snprintf(t->why->text, sizeof t->why->text, "%.120s: ", name);
  used = strlen(t->why->text);
  va_start(ap, format);
  vsnprintf(t->why->text + used, sizeof t->why->text - used, format, ap);
  va_end(ap);
  return SHUNT_E_INPUT;
}

shunt_status read_no_memory(struct read_text *t)
{
  read_fail(t, "there is not enough memory");
  return SHUNT_E_MEMORY;
}

/* Reads until READ_TOKEN bytes are there.  A short count is the end of the file or
   an error, which for a truncated gzip stream shows only in gzerror.  */
static shunt_status fill(struct read_text *t)
{
  memmove(t->buffer, t->buffer + t->at, t->end - t->at);
  t->end -= t->at;
  t->at = 0;
  while (!t->at_eof && t->end < READ_TOKEN) {
    int got = gzread(t->file, t->buffer + t->end, (unsigned)(READ_BUFFER - t->end));
    int code = Z_OK;
    const char *text = gzerror(t->file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      return read_fail(t, "cannot be read: %s", text && *text ? text : "input error");
    if (got == 0)
      t->at_eof = 1;
    t->end += (size_t)got;
  }
  t->buffer[t->end] = '\0';
  return SHUNT_OK;
}

static inline shunt_status need(struct read_text *t)
{
  return t->end - t->at >= READ_TOKEN || t->at_eof ? SHUNT_OK : fill(t);
}

static inline int is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static inline int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Whether a token may end before the byte at p; the end of the buffer cuts it, and
   is no end, unless the file ends there.  */
static inline int ends_token(const struct read_text *t, const char *p)
{
  return is_blank(*p) || *p == '\n' || *p == t->separator ||
         (p == t->buffer + t->end && t->at_eof);
}

/* Skips blanks, and the separator that the format has besides them. */
static shunt_status skip_blanks(struct read_text *t)
{
  for (;;) {
    const char *p;
    shunt_status status = need(t);
    if (status != SHUNT_OK)
      return status;
    p = t->buffer + t->at;
    while (is_blank(*p) || *p == t->separator)
      p++;
    t->at = (size_t)(p - t->buffer);
    /* Blanks up to the buffer's end: there may be more of them. */
    if (t->at < t->end || t->at_eof)
      return need(t);
  }
}

int read_at_line_end(struct read_text *t)
{
  if (skip_blanks(t) != SHUNT_OK)
    return -1;
  return t->at == t->end || t->buffer[t->at] == '\n';
}

/* A printable piece of the offending token, for messages. */
static const char *excerpt(const struct read_text *t, char copy[24])
{
  size_t n = 0;
  const char *p = t->buffer + t->at;

  while (n < 20 && p + n < t->buffer + t->end && !ends_token(t, p + n)) {
    unsigned char c = (unsigned char)p[n];
    copy[n++] = c >= 32 && c < 127 ? (char)c : '?';
  }
  copy[n] = '\0';
  return copy;
}

shunt_status read_int(struct read_text *t, const char *name, int64_t *value)
{
  char copy[24];
  shunt_status status = skip_blanks(t);
  const char *p = t->buffer + t->at, *digits;
  int negative = *p == '-', overflow = 0;
  uint64_t v = 0;

  if (status != SHUNT_OK)
    return status;
  if (t->at == t->end || *p == '\n')
    return read_fail(t, "%s is missing", name);
  if (*p == '-' || *p == '+')
    p++;
  for (digits = p; is_digit(*p); p++) {
    overflow |= v > ((uint64_t)INT64_MAX - (uint64_t)(*p - '0')) / 10;
    v = v * 10 + (uint64_t)(*p - '0');
  }
  if (p == digits || !ends_token(t, p))
    return read_fail(t, "%s is not a whole number: '%s'", name, excerpt(t, copy));
  if (overflow)
    return read_fail(t, "%s does not fit in 64 bits: '%s'", name, excerpt(t, copy));
  *value = negative ? -(int64_t)v : (int64_t)v;
  t->at = (size_t)(p - t->buffer);
  return SHUNT_OK;
}

/* strtod on a copy of the token, for what the fast path below declines.  Fortran's
   exponent letter D is taken; hexadecimal is not.  (The tool never leaves the "C"
   locale, so the decimal point is a point.)  */
static shunt_status slow_real(struct read_text *t, const char *name, double *value)
{
  char copy[READ_TOKEN], shown[24], *end;
  const char *p = t->buffer + t->at;
  size_t n = 0;

  while (n < sizeof copy - 1 && !ends_token(t, p + n)) {
    char c = p[n];
    if (c == 'x' || c == 'X' || c == '(' || c == '\0')
      break;
    copy[n++] = c == 'd' || c == 'D' ? 'e' : c;
  }
  copy[n] = '\0';
  *value = strtod(copy, &end);
  if (n == 0 || *end || !ends_token(t, p + n))
    return read_fail(t, "%s is not a number: '%s'", name, excerpt(t, shown));
  t->at += n;
  return SHUNT_OK;
}

/* m x 10^e is exact to one rounding when m < 2^53 and |e| <= 22, since both are
   doubles then (Clinger, PLDI 1990); nearly every token of a matrix file is such.  */
shunt_status read_real(struct read_text *t, const char *name, double *value)
{
  static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  shunt_status status = skip_blanks(t);
  const char *p = t->buffer + t->at;
  int negative = *p == '-', digits = 0, exponent = 0, exponent_sign = 1, e = 0;
  uint64_t m = 0;
  double v;

  if (status != SHUNT_OK)
    return status;
  if (t->at == t->end || *p == '\n')
    return read_fail(t, "%s is missing", name);
  if (*p == '-' || *p == '+')
    p++;
  for (; is_digit(*p) && digits < 18; p++, digits++)
    m = m * 10 + (uint64_t)(*p - '0');
  if (*p == '.')
    for (p++; is_digit(*p) && digits < 18; p++, digits++, exponent--)
      m = m * 10 + (uint64_t)(*p - '0');
  if (digits && (*p == 'e' || *p == 'E')) {
    const char *first;
    p++;
    if (*p == '-' || *p == '+')
      exponent_sign = *p++ == '-' ? -1 : 1;
    for (first = p; is_digit(*p) && p - first < 4; p++)
      e = e * 10 + (*p - '0');
    if (p == first)
      return slow_real(t, name, value);
    exponent += exponent_sign * e;
  }
  if (!digits || !ends_token(t, p) || m >> 53 || exponent < -22 || exponent > 22)
    return slow_real(t, name, value);
  v = exponent < 0 ? (double)m / power[-exponent] : (double)m * power[exponent];
  *value = negative ? -v : v;
  t->at = (size_t)(p - t->buffer);
  return SHUNT_OK;
}

shunt_status read_line_end(struct read_text *t)
{
  char copy[24];
  shunt_status status = skip_blanks(t);

  if (status != SHUNT_OK)
    return status;
  if (t->at == t->end)
    return SHUNT_OK;
  if (t->buffer[t->at] != '\n')
    return read_fail(t, "too much on this line, from '%s'", excerpt(t, copy));
  t->at++;
  t->line++;
  return SHUNT_OK;
}

shunt_status read_rest_of_line(struct read_text *t, char *copy, size_t size)
{
  size_t n = 0;

  for (;;) {
    shunt_status status = need(t);
    const char *from, *stop;
    size_t length;
    if (status != SHUNT_OK)
      return status;
    from = t->buffer + t->at;
    stop = memchr(from, '\n', t->end - t->at);
    length = stop ? (size_t)(stop - from) : t->end - t->at;
    if (size && n < size - 1) {
      size_t keep = length < size - 1 - n ? length : size - 1 - n;
      memcpy(copy + n, from, keep);
      n += keep;
    }
    t->at += length;
    if (stop) {
      t->at++;
      t->line++;
    }
    if (stop || t->at_eof)
      break;
  }
  if (size)
    copy[n] = '\0';
  return SHUNT_OK;
}

shunt_status read_next_line(struct read_text *t, int comment, int *found)
{
  for (;;) {
    shunt_status status = skip_blanks(t);
    *found = 0;
    if (status != SHUNT_OK)
      return status;
    if (t->at == t->end)
      return SHUNT_OK;
    if (t->buffer[t->at] == '\n') {
      t->at++;
      t->line++;
    } else if (comment && t->buffer[t->at] == comment) {
      status = read_rest_of_line(t, NULL, 0);
      if (status != SHUNT_OK)
        return status;
    } else {
      *found = 1;
      return SHUNT_OK;
    }
  }
}

shunt_status read_check_sizes(struct read_text *t, int64_t rows, int64_t cols, int64_t entries)
{
  int64_t most = (int64_t)1 << 24;

  if (entries > most / 64)
    most = entries < INT64_MAX / 64 ? entries * 64 : INT64_MAX;
  if (rows > most || cols > most)
    return read_fail(t, "%lld x %lld is out of proportion to its %lld entries", (long long)rows,
                     (long long)cols, (long long)entries);
  return SHUNT_OK;
}

/* ---- entries -> CSR ------------------------------------------------------------ */

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

  if (more)
    *array = more;
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
    if (!good)
      return SHUNT_E_MEMORY;
    e->room = room;
  }
  e->row[e->count] = row;
  e->column[e->count] = column;
  if (!e->pattern)
    e->value[e->count] = value;
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
    if (column[k] < column[k - 1])
      return 0;
  return 1;
}

static shunt_status sort_rows(struct shunt_matrix *m)
{
  int64_t longest = 0, *column_room = NULL;
  double *value_room = NULL;
  shunt_status status = SHUNT_OK;

  for (int64_t i = 0; i < m->rows; i++) {
    int64_t n = m->row_offsets[i + 1] - m->row_offsets[i];
    if (n > longest && !is_ascending(m->columns + m->row_offsets[i], n))
      longest = n;
  }
  if (longest) {
    column_room = malloc((size_t)longest * sizeof *column_room);
    value_room = malloc((size_t)longest * sizeof *value_room);
    if (!column_room || !value_room)
      status = SHUNT_E_MEMORY;
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

  if (status != SHUNT_OK)
    return status;
  sum_repeats(m);
  if (m->pattern)
    shunt_fill_values(m->values, m->nnz, 1);
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
  out->values = e->pattern ? calloc(room, sizeof *out->values) :
                             malloc(room * sizeof *out->values);
  if (out->row_offsets && out->columns && out->values) {
    /* next[r] is where row r goes on; counting one place further leaves
       row_offsets right when all is placed.  */
    int64_t *next = out->row_offsets + 1;
    for (int64_t k = 0; k < e->count; k++)
      next[e->row[k] + 1]++;
    for (int64_t i = 0; i < rows; i++)
      next[i + 1] += next[i];
    for (int64_t k = 0; k < e->count; k++) {
      int64_t p = next[e->row[k]]++;
      out->columns[p] = e->column[k];
      if (!e->pattern)
        out->values[p] = e->value[k];
    }
    status = matrix_tidy(out);
  }
  if (status != SHUNT_OK)
    shunt_matrix_free(out);
  return status;
}

/* ---- readers.h ------------------------------------------------------------------ */

void shunt_matrix_free(struct shunt_matrix *m)
{
  free(m->row_offsets);
  free(m->columns);
  free(m->values);
  memset(m, 0, sizeof *m);
}

void shunt_fill_values(double *values, int64_t count, uint64_t seed)
{
  for (int64_t i = 0; i < count; i++) { /* splitmix64 of the place */
    uint64_t z = seed * 0xd1342543de82ef95u + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    values[i] = (double)(z >> 11) * 0x1p-52 - 1;
  }
}

static int ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);

  return n >= m && strcmp(text + n - m, end) == 0;
}

shunt_status shunt_read_matrix(const char *path, struct shunt_matrix *out,
                               struct shunt_message *why)
{
  if (ends_with(path, ".smtx") || ends_with(path, ".smtx.gz"))
    return shunt_read_smtx(path, out, why);
  return shunt_read_mtx(path, out, why);
}
