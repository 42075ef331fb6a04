/* scanner.c: the scanner that all readers share (scanner.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conv/read/scanner.h"

shunt_status read_open(struct read_text *t, const char *path, struct shunt_message *why)
{
  if (why) why->text[0] = '\0';
  memset(t, 0, sizeof *t);
  t->path = path;
  t->why = why;
  t->separator = ' ';
  t->buffer = malloc(READ_BUFFER + 1);
  if (!t->buffer) return read_no_memory(t);
  t->file = gzopen(path, "rb");
  if (!t->file) {
    read_fail(t, "cannot be opened");
    read_close(t);
    return SHUNT_E_INPUT;
  }
  struct stat file;
  t->bytes = stat(path, &file) == 0 ? (double)file.st_size : 0;
  gzbuffer(t->file, 1 << 17);
  t->line = 1;
  t->buffer[0] = '\0';
  return SHUNT_OK;
}

void read_close(struct read_text *t)
{
  if (t->file) gzclose_r(t->file);
  free(t->buffer);
  t->file = NULL;
  t->buffer = NULL;
}

shunt_status read_fail(struct read_text *t, const char *format, ...)
{
  const char *name = strrchr(t->path, '/') ? strrchr(t->path, '/') + 1 : t->path;
  size_t used;
  va_list ap;

  if (!t->why) return SHUNT_E_INPUT;
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

static void tell(const struct read_text *t)
{
  if (!t->watch || t->bytes <= 0) return;
  const double share = (double)gzoffset(t->file) / t->bytes;
  t->watch->tell(t->watch->context, share < 1 ? share : 1);
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
    if (got == 0) t->at_eof = 1;
    t->end += (size_t)got;
    tell(t);
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
  return is_blank(*p) || *p == '\n' || *p == t->separator || (p == t->buffer + t->end && t->at_eof);
}

/* Skips blanks, and the separator that the format has besides them. */
static shunt_status skip_blanks(struct read_text *t)
{
  for (;;) {
    const char *p;
    shunt_status status = need(t);
    if (status != SHUNT_OK) return status;
    p = t->buffer + t->at;
    while (is_blank(*p) || *p == t->separator) p++;
    t->at = (size_t)(p - t->buffer);
    /* Blanks up to the buffer's end: there may be more of them. */
    if (t->at < t->end || t->at_eof) return need(t);
  }
}

int read_at_line_end(struct read_text *t)
{
  if (skip_blanks(t) != SHUNT_OK) return -1;
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

/* Goes to the token that comes next on the line. */
static shunt_status find_token(struct read_text *t, const char *name)
{
  shunt_status status = skip_blanks(t);

  if (status == SHUNT_OK && (t->at == t->end || t->buffer[t->at] == '\n'))
    status = read_fail(t, "%s is missing", name);
  return status;
}

shunt_status read_int(struct read_text *t, const char *name, int64_t *value)
{
  char copy[24];
  shunt_status status = find_token(t, name);
  const char *p = t->buffer + t->at, *digits;
  int negative = *p == '-', overflow = 0;
  uint64_t v = 0;

  if (status != SHUNT_OK) return status;
  if (*p == '-' || *p == '+') p++;
  for (digits = p; is_digit(*p); p++) {
    overflow |= v > ((uint64_t)INT64_MAX - (uint64_t)(*p - '0')) / 10;
    v = v * 10 + (uint64_t)(*p - '0');
  }
  if (p == digits || !ends_token(t, p))
    return read_fail(t, "%s is not a whole number: '%s'", name, excerpt(t, copy));
  if (overflow) return read_fail(t, "%s does not fit in 64 bits: '%s'", name, excerpt(t, copy));
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
    if (c == 'x' || c == 'X' || c == '(' || c == '\0') break;
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
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  shunt_status status = find_token(t, name);
  const char *p = t->buffer + t->at;
  int negative = *p == '-', digits = 0, exponent = 0, exponent_sign = 1, e = 0;
  uint64_t m = 0;
  double v;

  if (status != SHUNT_OK) return status;
  if (*p == '-' || *p == '+') p++;
  for (; is_digit(*p) && digits < 18; p++, digits++) m = m * 10 + (uint64_t)(*p - '0');
  if (*p == '.')
    for (p++; is_digit(*p) && digits < 18; p++, digits++, exponent--)
      m = m * 10 + (uint64_t)(*p - '0');
  if (digits && (*p == 'e' || *p == 'E')) {
    const char *first;
    p++;
    if (*p == '-' || *p == '+') exponent_sign = *p++ == '-' ? -1 : 1;
    for (first = p; is_digit(*p) && p - first < 4; p++) e = e * 10 + (*p - '0');
    if (p == first) return slow_real(t, name, value);
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

  if (status != SHUNT_OK) return status;
  if (t->at == t->end) return SHUNT_OK;
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
    if (status != SHUNT_OK) return status;
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
    if (stop || t->at_eof) break;
  }
  if (size) copy[n] = '\0';
  return SHUNT_OK;
}

shunt_status read_next_line(struct read_text *t, int comment, int *found)
{
  for (;;) {
    shunt_status status = skip_blanks(t);
    *found = 0;
    if (status != SHUNT_OK) return status;
    if (t->at == t->end) return SHUNT_OK;
    if (t->buffer[t->at] == '\n') {
      t->at++;
      t->line++;
    } else if (comment && t->buffer[t->at] == comment) {
      status = read_rest_of_line(t, NULL, 0);
      if (status != SHUNT_OK) return status;
    } else {
      *found = 1;
      return SHUNT_OK;
    }
  }
}
