/* tool_text.c: messages, lists of words, numbers for people. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/tool.h"

void tool_say(const char *format, ...)
{
  char text[1024];
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  fprintf(stderr, "shunt: %s\n", text); /* one write: lines of parallel runs stay whole */
}

int tool_bad_usage(const char *command, const char *what)
{
  tool_say("%s: %s (see shunt %s --help)", command, what, command);
  return EXIT_USAGE;
}

int tool_bad_option(const char *command, int c, char **argv, const struct option *options)
{
  char all[512] = "", name[64];
  const char *word = argv[optind - 1], *complaint = "is unknown or takes no argument";
  for (const struct option *o = options; o->name; o++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s--%s", o == options ? "" : ", ",
             o->name);
  snprintf(name, sizeof name, "%s", word);
  if (optopt > 0 && optopt < 256 && strncmp(word, "--", 2) != 0)
    snprintf(name, sizeof name, "-%c", optopt);
  if (c == ':') complaint = "needs an argument";
  tool_say("%s: option '%s' %s; the options are %s", command, name, complaint, all);
  return EXIT_USAGE;
}

/* Copies the next item of a comma-separated list; false at its end. */
static bool next_item(const char **text, char *item, size_t bytes)
{
  if (!*text) return false;
  const char *end = strchr(*text, ',');
  size_t n = end ? (size_t)(end - *text) : strlen(*text);
  snprintf(item, bytes, "%.*s", (int)(n < bytes ? n : bytes - 1), *text);
  *text = end ? end + 1 : NULL;
  return true;
}

int tool_parse_sizes(const char *option, const char *text, int64_t most, int64_t out[TOOL_LIST])
{
  char item[32];
  int count = 0;
  while (next_item(&text, item, sizeof item)) {
    char *rest;
    errno = 0;
    long long n = strtoll(item, &rest, 10);
    if (!isdigit((unsigned char)item[0]) || *rest || errno || n < 1 || n > most) {
      tool_say("%s takes numbers from 1 to %" PRId64 ", separated by commas; got '%s'", option,
               most, item);
      return 0;
    }
    if (count == TOOL_LIST) {
      tool_say("%s takes at most %d values", option, TOOL_LIST);
      return 0;
    }
    out[count++] = n;
  }
  return count;
}

int tool_parse_words(const char *option, const char *text, const char *const *accepted,
                     int out[TOOL_LIST])
{
  char item[64], all[256] = "";
  int count = 0;
  while (next_item(&text, item, sizeof item)) {
    int i = 0;
    while (accepted[i] && strcmp(accepted[i], item) != 0) i++;
    if (!accepted[i] || count == TOOL_LIST) {
      for (int j = 0; accepted[j]; j++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", j ? ", " : "", accepted[j]);
      tool_say("%s takes %s, separated by commas; got '%s'", option, all, item);
      return 0;
    }
    out[count++] = i;
  }
  return count;
}

char *tool_temporary(const char *stem)
{
  const char *folder = getenv("TMPDIR");
  char *path = NULL;
  if (asprintf(&path, "%s/%s-XXXXXX", folder && *folder ? folder : "/tmp", stem) < 0) return NULL;
  int file = mkstemp(path);
  if (file >= 0) {
    close(file);
    return path;
  }
  tool_say("no temporary file %s: %s", path, strerror(errno));
  free(path);
  return NULL;
}

/* Bytes of the character that begins at c; 0: none of UTF-8, or a control character. */
static int character(const unsigned char *c)
{
  static const struct {
    unsigned char mask, lead;
    int bytes;
    uint32_t least;
  } kinds[] = {
      {0x80, 0, 1, 0x20}, {0xe0, 0xc0, 2, 0xa0}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if ((c[0] & kinds[i].mask) != kinds[i].lead) continue;
    uint32_t code = c[0] & (unsigned char)~kinds[i].mask;
    for (int k = 1; k < kinds[i].bytes; k++) {
      if ((c[k] & 0xc0) != 0x80) return 0;
      code = code << 6 | (c[k] & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const bool good = code >= kinds[i].least && code <= 0x10ffff && !surrogate && code != 0x7f;
    return good ? kinds[i].bytes : 0;
  }
  return 0;
}

void tool_clean(char *text)
{
  for (unsigned char *c = (unsigned char *)text; *c;) {
    const int bytes = character(c);
    if (bytes == 0) *c = '?';
    c += bytes > 1 ? bytes : 1;
  }
}

void tool_json_string(FILE *to, const char *text)
{
  fputc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(to, "\\%c", *c);
    else if (*c < 32)
      fprintf(to, "\\u%04x", *c);
    else
      fputc(*c, to);
  }
  fputc('"', to);
}

void tool_short_name(const char *path, char *out, size_t bytes)
{
  static const char *const endings[] = {".gz", ".mtx", ".smtx"};
  const char *slash = strrchr(path, '/');
  snprintf(out, bytes, "%s", slash && slash[1] ? slash + 1 : path);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t n = strlen(out), e = strlen(endings[i]);
    if (n > e && strcmp(out + n - e, endings[i]) == 0) out[n - e] = 0;
  }
}

const char *tool_grouped(int64_t n, char out[32])
{
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRId64, n), used = 0;
  for (int i = 0; i < length; i++) {
    out[used++] = digits[i];
    if (digits[i] != '-' && i + 1 < length && (length - 1 - i) % 3 == 0) out[used++] = ',';
  }
  out[used] = 0;
  return out;
}

const char *tool_duration(double us, char out[24])
{
  const double size = us < 0 ? -us : us;
  if (size < 1e3)
    snprintf(out, 24, "%.1f us", us);
  else if (size < 1e6)
    snprintf(out, 24, "%.2f ms", us / 1e3);
  else
    snprintf(out, 24, "%.2f s", us / 1e6);
  return out;
}
