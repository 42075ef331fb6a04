/* check.h: the lines that tests of all kinds print: "ok - text", "not ok - text" or "skip - text"
   for each check, then "N passed, N failed, N skipped".  C11 and C++17.  One source of a program
   includes it, as each has its own counts.  */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>

static int check_passed, check_failed, check_skipped;

static inline int check(int good, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  fputs(good ? "ok - " : "not ok - ", stdout);
  vprintf(format, ap);
  putchar('\n');
  fflush(stdout);
  va_end(ap);
  good ? check_passed++ : check_failed++;
  return good;
}

static inline void check_skip(const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  fputs("skip - ", stdout);
  vprintf(format, ap);
  putchar('\n');
  va_end(ap);
  check_skipped++;
}

static inline int check_finish(void)
{
  printf("%d passed, %d failed, %d skipped\n", check_passed, check_failed, check_skipped);
  fflush(stdout);
  return check_failed != 0;
}

#endif
