/* check.h: the lines that a unit test prints. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>

static int check_passed, check_failed, check_skipped;

static inline int check(int good, const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  printf(good ? "ok - " : "not ok - ");
  vprintf(format, ap);
  printf("\n");
  va_end(ap);
  good ? check_passed++ : check_failed++;
  return good;
}

static inline void check_skip(const char *why)
{
  printf("skip - %s\n", why);
  check_skipped++;
}

static inline int check_finish(void)
{
  printf("%d passed, %d failed, %d skipped\n", check_passed, check_failed, check_skipped);
  return check_failed != 0;
}

#endif
