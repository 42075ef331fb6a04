/* log_process.c: what the report says of the process: when it started, where, and as which rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/plan/log.h"

/* Seconds that the machine had run when this process started; negative: not told.  In
   /proc/self/stat the program's name stands in brackets and may hold anything; the 20th field
   behind it is the start in clock ticks.  */
static double started_after_boot(void)
{
  char text[1024];
  FILE *f = fopen("/proc/self/stat", "re");
  const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  const long ticks = sysconf(_SC_CLK_TCK);
  if (f) fclose(f);
  text[n] = 0;
  char *at = strrchr(text, ')'), *end;
  for (int field = 0; at && field < 20; field++) at = strchr(at + 1, ' ');
  if (!at || ticks <= 0) return -1;
  const unsigned long long started = strtoull(at, &end, 10);
  return end > at ? (double)started / (double)ticks : -1;
}

static double now_by(clockid_t clock)
{
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* This process' number among those that a launcher started together; negative: none. */
static long rank(void)
{
  static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    char *end;
    const long n = value ? strtol(value, &end, 10) : -1;
    if (value && *value && !*end && n >= 0) return n;
  }
  return -1;
}

double shunt_process_seconds(void)
{
  const double start = started_after_boot();
  return start >= 0 ? now_by(CLOCK_BOOTTIME) - start : 0;
}

void shunt_log_process(FILE *to)
{
  char host[64];
  const double start = started_after_boot(), seconds = now_by(CLOCK_BOOTTIME) - start;
  if (gethostname(host, sizeof host) != 0) host[0] = 0;
  host[sizeof host - 1] = 0;
  fputs("# process", to);
  if (start >= 0)
    fprintf(to, "\tstarted=%.3f\tseconds=%.3f", now_by(CLOCK_REALTIME) - seconds, seconds);
  if (rank() >= 0) fprintf(to, "\trank=%ld", rank());
  fprintf(to, "\thost=%s\n", host);
}
