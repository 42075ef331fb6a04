/* test_log.c: a report counts every call, also of programs whose problems never repeat.  */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/log.h"
#include "tests/unit/check.h"

enum { PROBLEMS = 20000, LEAST_KEPT = 2000 };

static void print_name(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  snprintf(text, SHUNT_PROBLEM_TEXT, "problem%d", *(const int *)problem);
}

/* A process of its own: the report is written at its end. */
static int count_calls(const char *report)
{
  const pid_t child = fork();
  if (child == 0) {
    setenv("SHUNT_REPORT", report, 1);
    for (int i = 0; i < PROBLEMS; i++)
      shunt_log_decision_of("call", i % 4 ? "csr" : "original", SHUNT_OUTCOME(SHUNT_FITS),
                            (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u, print_name, &i,
                            (struct shunt_log_call){.saved_us = 2});
    exit(0);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A program that says at most so much in files, and makes a few calls: it ends as it would. */
static bool ends_well(const char *report, const char *log, rlim_t most)
{
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {most, most};
    setenv("SHUNT_REPORT", report, 1);
    setenv("SHUNT_LOG", "dispatch", 1);
    setenv("SHUNT_LOG_FILE", log, 1);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 500; i++)
      shunt_log_decision_of("call", "csr", SHUNT_OUTCOME(SHUNT_FITS), (uint64_t)i + 1, print_name,
                            &i, (struct shunt_log_call){.saved_us = 2});
    exit(3);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 3;
}

static void test_full_disk(void)
{
  char folder[] = "/tmp/shunt-test-log-XXXXXX", report[64], log[64];
  if (!check(mkdtemp(folder) != NULL, "a folder")) return;
  snprintf(report, sizeof report, "%s/report", folder);
  snprintf(log, sizeof log, "%s/log", folder);
  check(ends_well(report, log, RLIM_INFINITY), "a program with room");
  struct stat s;
  check(stat(report, &s) == 0 && s.st_size > 8192 && stat(log, &s) == 0 && s.st_size > 8192,
        "says more than 8 KiB in each file");
  unlink(report), unlink(log);
#ifdef __SANITIZE_ADDRESS__
  check_skip("files of 4 KiB at most: a program that counts its lines writes more at its end");
#else
  check(ends_well(report, log, 4096), "files of 4 KiB at most: it ends as it would");
  check(stat(report, &s) == 0 && s.st_size <= 4096, "and the report is cut off");
  unlink(report), unlink(log);
  check(ends_well(report, log, 0), "files of nothing");
  unlink(report), unlink(log);
#endif
  check(ends_well("/dev/full", "/dev/full", RLIM_INFINITY), "a disk that is full");
  check(ends_well("/nowhere/report", "/nowhere/log", RLIM_INFINITY), "no such folder");
  rmdir(folder);
}

int main(void)
{
  char report[] = "/tmp/shunt-test-log-XXXXXX", line[1024], route[64], name[256];
  const int descriptor = mkstemp(report);
  if (!check(descriptor >= 0 && count_calls(report), "a program of %d problems", PROBLEMS))
    return check_finish();
  FILE *f = fdopen(descriptor, "r");
  unsigned long long calls, csr = 0, original = 0;
  double saved, all_saved = 0;
  int named = 0, uncounted = 0;
  while (f && fgets(line, sizeof line, f)) {
    uncounted += strstr(line, "not counted") != NULL;
    if (line[0] == '#' ||
        sscanf(line, "call %63s %*s %llu %lf %255s", route, &calls, &saved, name) != 4)
      continue;
    *(strcmp(route, "csr") ? &original : &csr) += calls;
    all_saved += saved;
    named += strcmp(name, "-") != 0;
  }
  check(csr == PROBLEMS / 4 * 3 && original == PROBLEMS / 4, "calls of each route: %llu and %llu",
        csr, original);
  check(all_saved == 2.0 * PROBLEMS, "and what they saved: %.0f", all_saved);
  check(named >= LEAST_KEPT && named < PROBLEMS, "%d of the problems by name", named);
  check(uncounted == 0, "none is not counted");
  if (f) fclose(f);
  unlink(report);
  test_full_disk();
  return check_finish();
}
