/* test_timeline.c: buckets of the report's timeline, by a clock that the test sets. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/log/log_timeline.h"
#include "tests/unit/check.h"

static double now = 5; /* seconds, of the monotonic clocks; the other runs a million ahead */

int clock_gettime(clockid_t clock, struct timespec *t)
{
  const double s = clock == CLOCK_REALTIME ? now + 1e6 : now;
  t->tv_sec = (time_t)s;
  t->tv_nsec = (long)((s - (double)t->tv_sec) * 1e9);
  return 0;
}

struct span {
  char route[32];
  double from, to, us;
  unsigned long long calls;
};

static int print(struct span *span, int room)
{
  char *text = NULL, *rest;
  size_t size;
  int n = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) exit(99);
  shunt_timeline_print(f);
  fclose(f);
  for (char *line = strtok_r(text, "\n", &rest); line && n < room;
       line = strtok_r(NULL, "\n", &rest), n++)
    if (sscanf(line, "# time\t%31[^\t]\t%lf\t%lf\t%llu\t%lf", span[n].route, &span[n].from,
               &span[n].to, &span[n].calls, &span[n].us) != 5)
      exit(98);
  free(text);
  return n;
}

/* How many calls are in spans that hold the moment, and no wider than they may be. */
static unsigned long long calls_at(const struct span *span, int n, const char *route, double at)
{
  unsigned long long calls = 0;
  const double slack = 0.002; /* what is printed is rounded */
  for (int i = 0; i < n; i++)
    if (strcmp(span[i].route, route) == 0 && span[i].from <= at + slack &&
        at < span[i].to + slack && span[i].to - span[i].from <= (at - 1e6 - 5) / 32 + 0.017 + slack)
      calls += span[i].calls;
  return calls;
}

int main(void)
{
  enum { ROOM = 2000 };
  static struct span span[ROOM];
  static const double moments[] = {0, 0.01, 0.5, 1.05, 1.09, 2.14, 2.2, 10, 59, 3600, 86400, 1e6};
  enum { MOMENTS = sizeof moments / sizeof *moments };
  check(print(span, ROOM) == 0, "nothing before the first call");
  for (int i = 0; i < MOMENTS; i++) {
    now = 5 + moments[i];
    shunt_timeline_add("csr", 1, 10);
    if (i % 2) shunt_timeline_add("original", 2, -1);
  }
  int n = print(span, ROOM);
  bool all = true;
  for (int i = 0; i < MOMENTS; i++) {
    const double at = 1e6 + 5 + moments[i];
    all = all && calls_at(span, n, "csr", at) >= 1;
    all = all && (i % 2 == 0 || calls_at(span, n, "original", at) >= 2);
  }
  check(all, "every call is in a span around its time, as narrow as it should be");
  unsigned long long calls[2] = {0};
  double us[2] = {0};
  bool apart = true;
  for (int i = 0; i < n; i++) {
    const bool left = strcmp(span[i].route, "original") == 0;
    calls[left] += span[i].calls;
    us[left] += span[i].us;
    if (i > 0 && strcmp(span[i].route, span[i - 1].route) == 0)
      apart = apart && span[i].from >= span[i - 1].to - 0.002;
  }
  check(calls[0] == MOMENTS && calls[1] == MOMENTS / 2 * 2, "none is lost");
  check(us[0] > 10 * MOMENTS - 1 && us[0] < 10 * MOMENTS + 1 && us[1] == 0, "nor their time");
  check(apart, "spans of a route do not overlap");
  now = 5 + 1e6 + 1;
  shunt_timeline_add("csr", 0, 5);
  int more = print(span, ROOM);
  check(more >= n && more <= n + 1, "time may be told later than the call");
  now = 1;
  shunt_timeline_add("csr", 1, 1);
  check(print(span, ROOM) == more && span[0].calls == 3, "before the first call counts as with it");
  static const char routes[20][4] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                     "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
  for (int i = 0; i < 20; i++) shunt_timeline_add(routes[i], 1, 1);
  check(print(span, ROOM) == more + 14, "more routes than it has room for are left out");
  return check_finish();
}
