#define _GNU_SOURCE
/* test_log_gain.c: what the report says was saved, of calls whose times are made up, by a clock
   that the test sets, so that the truth is known.  */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/log/log_measure.h"
#include "backend/options/options.h"
#include "backend/plan/log.h"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"

static struct shunt_options options = {.report = "/dev/null", .measure = true};
static double clock_us = 1e6;

const struct shunt_options *shunt_options(void)
{
  return &options;
}
/* By the other clock the process has just begun. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
  if (clock == CLOCK_BOOTTIME) return (int)syscall(SYS_clock_gettime, clock, t);
  t->tv_sec = (time_t)(clock_us / 1e6);
  t->tv_nsec = (long)(1e3 * (clock_us - 1e6 * (double)t->tv_sec));
  return 0;
}

static void print_problem(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  snprintf(text, SHUNT_PROBLEM_TEXT, "p%d", *(const int *)problem);
}

/* A call of problem number `id` that was taken, in so many microseconds. */
static struct shunt_decision *call(int id, double us, bool by_table)
{
  clock_us += us;
  return shunt_log_decision_of(
      "GrB_mxm", "host", (struct shunt_outcome){.reason = SHUNT_FITS}, 1000 + (uint64_t)id * 7,
      print_problem, &id, (struct shunt_log_call){.us = us, .saved_us = NAN, .by_table = by_table});
}

/* What the report says that it saved, and how far it may be off; NAN: nothing. */
static double said_to(int id, double *error)
{
  char *text = NULL, *rest, name[16];
  size_t size;
  double saved = NAN;
  FILE *f = open_memstream(&text, &size);
  if (!f) exit(99);
  shunt_log_print(f);
  fclose(f);
  snprintf(name, sizeof name, "p%d", id);
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char problem[64];
    double us;
    if (sscanf(line, "GrB_mxm\thost\t%*[^\t]\t%*d\t%lf\t%63[^\t]", &us, problem) == 2 &&
        strcmp(problem, name) == 0) {
      const char *of = strstr(line, "\terror=");
      saved = us;
      *error = of ? strtod(of + 7, NULL) : NAN;
    }
  }
  free(text);
  return saved;
}

static double said(int id)
{
  double error;
  return said_to(id, &error);
}

static bool close_to(double x, double y, double off)
{
  return fabs(x - y) <= off * fabs(y);
}

/* 100 calls of 100 us, the first four dearer; the original 800 us, but 1600 at the second. */
static void check_first_calls(void)
{
  const double first[] = {900, 600, 500, 500};
  double took = 0;
  for (int i = 0; i < 100; i++) {
    const double us = i < 4 ? first[i] : 100;
    struct shunt_decision *d = call(1, us, false);
    took += us;
    if (i == 1) shunt_log_sampled(d, 1600, us);
    if (i == 50) shunt_log_sampled(d, 800, us);
  }
  check(close_to(said(1), 100 * 800 - took, 0.001), "what is paid once is not multiplied: %.0f us",
        said(1));
}

static void check_few(void)
{
  struct shunt_decision *d = call(2, 900, false);
  shunt_log_sampled(d, 1000, 900);
  for (int i = 0; i < 2; i++) call(2, 100, false);
  check(close_to(said(2), 3 * 1000 - 1100, 0.001),
        "one sample of three calls: the original's times three, without what they took: %.0f us",
        said(2));
}

/* A machine that slows down to a third after a quarter of the calls. */
static void check_drift(void)
{
  double truth = 0;
  for (int i = 0; i < 400; i++) {
    const double slow = i < 100 ? 1 : 3;
    struct shunt_decision *d = call(3, 100 * slow, false);
    truth += 700 * slow;
    if (i == 20 || i == 50 || i == 90) shunt_log_sampled(d, 800 * slow, 100 * slow);
  }
  check(close_to(said(3), truth, 0.02), "samples from when the machine was quick: %.0f for %.0f us",
        said(3), truth);
}

static void check_table(void)
{
  struct shunt_decision *d = NULL;
  for (int i = 0; i < 50; i++) d = call(4, 5, true);
  shunt_log_sampled(d, 30, 10);
  shunt_log_sampled(d, 500, 11);
  shunt_log_sampled(d, 32, 12);
  check(close_to(said(4), 50 * (32 - 11), 0.001), "by events: the samples in the middle: %.1f us",
        said(4));
}

/* ---- a program --------------------------------------------------------------------------------

   Three products a step, as in alternating least squares, and 600 us of other work.  The machine is
   up to 1.8 times as slow for stretches of 20 ms, and each time is off by up to a fifth.  */
enum { KINDS = 3 };
static const double originals[KINDS] = {150, 900, 1400}, ours[KINDS] = {65, 140, 110};

static double uniform(uint64_t *state)
{
  return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

/* What the report says of the program over what it gained; samples of the longest product; does
   what it gained lie where the report says?  */
struct outcome {
  double quotient;
  int samples;
  bool within;
};

static struct outcome program(int run, int steps)
{
  uint64_t state = 77 + (uint64_t)run;
  double truth = 0, sum = 0, slow = 1, until = 0, off = 0, error;
  int samples = 0;
  for (int step = 0; step < steps; step++) {
    clock_us += 600 * slow;
    for (int k = 0; k < KINDS; k++) {
      if (clock_us > until) slow = 1 + 0.8 * uniform(&state), until = clock_us + 20000;
      const double cold = step < 4 ? 400 : 0, loose = slow * (0.8 + 0.4 * uniform(&state));
      const double original = originals[k] * slow * (0.8 + 0.4 * uniform(&state));
      const double us = ours[k] * loose + cold;
      struct shunt_decision *d = call(100 + run * KINDS + k, us, false);
      const uint64_t key = (uint64_t)(uintptr_t)d;
      truth += originals[k] * slow - us;
      if (!shunt_measure_due(key, 1.5 * originals[k])) continue;
      const int count = shunt_measure_begin(key, 1.5 * originals[k]);
      if (count == 0) continue;
      shunt_log_sampled(d, original + (step < 4 ? 400 : 0), us);
      shunt_measure_end(1.5 * originals[k], original);
      clock_us += original;
      samples += k == KINDS - 1;
    }
  }
  for (int k = 0; k < KINDS; k++) {
    sum += said_to(100 + run * KINDS + k, &error);
    off = hypot(off, error);
  }
  return (struct outcome){sum / truth, samples, fabs(sum - truth) <= off};
}

/* So many programs of so many steps: at most off by `most`. */
static void check_programs(int first, int runs, int steps, double most)
{
  double mean = 0, worst = 0;
  int samples = 0, within = 0;
  for (int run = first; run < first + runs; run++) {
    const struct outcome o = program(run, steps);
    mean += o.quotient / runs;
    worst = fmax(worst, fabs(o.quotient - 1));
    samples += o.samples;
    within += o.within;
  }
  check(fabs(mean - 1) < 0.03, "programs of %d steps: in the mean %.3f of what was gained", steps,
        mean);
  check(worst < most, "at most off by %.3f, by %.1f samples of the longest", worst,
        (double)samples / runs);
  check(within >= 0.85 * runs, "%d of %d gained what the report says, give or take its error",
        within, runs);
}

int main(void)
{
  check_first_calls();
  check_few();
  check_drift();
  check_table();
  check_programs(0, 60, 2000, 0.3);
  check_programs(60, 15, 20000, 0.12);
  return check_finish();
}
