/* test_log_report.c: reports of many processes: those that end together, those that are killed, and
   forked children; by a clock of the test's own.  */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/log.h"
#include "tests/unit/check.h"
#include "tests/unit/clock.h"

enum { PROCESSES = 12, PROBLEMS = 1500, SOME = 3 };
static char folder[] = "/tmp/shunt-test-report-XXXXXX";

/* A forked child leaves what its parent counted: fork's handlers may not free it. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
  return 1;
}

static void print_name(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  snprintf(text, SHUNT_PROBLEM_TEXT, "problem%d-of-%ld", *(const int *)problem, (long)getpid());
}

/* So many calls of as many problems; `captured`: nothing slow may be done in them. */
static void make_calls(int n, bool captured)
{
  for (int i = 0; i < n; i++)
    shunt_log_decision_of(
        "call", "csr", SHUNT_OUTCOME(SHUNT_FITS), (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u,
        print_name, &i,
        (struct shunt_log_call){.us = 5, .saved_us = 2, .caller = captured ? NULL : &folder});
}

/* ---- reading ------------------------------------------------------------------------------- */

struct found {
  int files, blocks, lines, torn;
  char name[256]; /* of one of the files */
};

/* Each line must name the process of its block. */
static void read_file(const char *path, struct found *f)
{
  char line[1024];
  long pid = 0, of;
  int calls;
  double saved, us;
  FILE *from = fopen(path, "r");
  while (from && fgets(line, sizeof line, from)) {
    if (sscanf(line, "# shunt report 2 pid=%ld ", &pid) == 1) f->blocks++;
    if (sscanf(line, "call csr fits %d %lf problem%*d-of-%ld us=%lf", &calls, &saved, &of, &us) ==
            4 &&
        of == pid && saved == 2 * calls && us == 5 * calls)
      f->lines++;
    else if (line[0] != '#')
      f->torn++;
  }
  if (from) fclose(from);
}

/* All files of the folder, which are gone then. */
static struct found read_all(void)
{
  struct found f = {0};
  char path[512];
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(f.name, sizeof f.name, "%s", e->d_name);
    read_file(path, &f);
    f.files++;
    unlink(path);
  }
  if (d) closedir(d);
  return f;
}

/* A process with this report; 0 in the child. */
static pid_t start(const char *report)
{
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) setenv("SHUNT_REPORT", report, 1);
  return child;
}

static int status_of(pid_t child)
{
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Blocks of 100 KB, written at once. */
static void test_together(void)
{
  char report[64], word;
  int go[2], good = 0;
  pid_t child[PROCESSES];
  snprintf(report, sizeof report, "%s/report", folder);
  if (!check(pipe(go) == 0, "a pipe")) return;
  for (int i = 0; i < PROCESSES; i++) {
    if ((child[i] = start(report)) != 0) continue;
    close(go[1]);
    make_calls(PROBLEMS, false);
    const ssize_t n = read(go[0], &word, 1); /* until it is closed */
    exit(n != 0);
  }
  close(go[0]), close(go[1]);
  for (int i = 0; i < PROCESSES; i++) good += status_of(child[i]) == 0;
  const struct found f = read_all();
  check(good == PROCESSES && f.files == 1 && f.blocks == PROCESSES, "%d blocks of %d in one file",
        f.blocks, PROCESSES);
  check(f.torn == 0 && f.lines == PROCESSES * PROBLEMS,
        "%d lines, each in its process' block, and %d torn", f.lines, f.torn);
}

static void test_killed(void)
{
  for (int how = 0; how < 4; how++) {
    const pid_t child = start(folder);
    if (child == 0) {
      make_calls(SOME, false);
      clock_pass(300); /* the next call finds the report due */
      make_calls(SOME, how == 3);
      if (how == 2) _exit(0);
      raise(how ? SIGKILL : SIGTERM);
    }
    status_of(child);
    const struct found f = read_all();
    if (how == 3)
      check(f.files == 0, "a captured call writes nothing");
    else
      check(f.files == 1 && f.blocks == 1 && f.torn == 0 && f.lines >= 1,
            "%s: %d lines are left in %s",
            how == 0   ? "SIGTERM"
            : how == 1 ? "SIGKILL"
                       : "_exit",
            f.lines, f.name);
  }
}

static void test_names(void)
{
  char form[128], want[64], host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(form, sizeof form, "%s/a%%r-%%p-%%h-100%%", folder);
  const pid_t child = start(form);
  if (child == 0) {
    setenv("RANK", "7", 1);
    make_calls(SOME, false);
    if (chdir("/") != 0) _exit(1);
    exit(0);
  }
  const int status = status_of(child);
  snprintf(want, sizeof want, "a7-%ld-%s-100%%", (long)child, host);
  const struct found f = read_all();
  check(status == 0 && f.files == 1 && f.lines == 3 && strcmp(f.name, want) == 0,
        "rank, process and host in a name: %s", f.name);
  snprintf(form, sizeof form, "%s/new/", folder);
  for (int i = 0; i < 2; i++) {
    const pid_t next = start(form);
    if (next == 0) make_calls(SOME, false), exit(0);
    status_of(next);
  }
  snprintf(form, sizeof form, "ls %s/new | wc -l | grep -q -x 2 && rm -r %s/new", folder, folder);
  check(system(form) == 0, "a folder is made, and has a file for each process");
  snprintf(form, sizeof form, "%s/rank%%r", folder);
  for (int i = 0; i < 2; i++) {
    const pid_t next = start(form);
    if (next == 0) make_calls(SOME, false), exit(0);
    status_of(next);
  }
  const struct found two = read_all();
  check(two.files == 2 && two.blocks == 2, "a name that is taken stays as it is");
  const pid_t lost = start("/nowhere/%p");
  if (lost == 0) make_calls(SOME, false), exit(0);
  check(status_of(lost) == 0, "a folder that is not there");
}

/* A parent with calls has children with none, and with some. */
static void test_fork(void)
{
  const pid_t parent = start(folder);
  if (parent == 0) {
    make_calls(SOME, false);
    for (int calls = 0; calls < 3; calls++) {
      const pid_t child = fork();
      if (child == 0) make_calls(calls, false), exit(0);
      status_of(child);
    }
    exit(0);
  }
  status_of(parent);
  const struct found f = read_all();
  check(f.blocks == 3 && f.lines == SOME + 1 + 2 && f.torn == 0,
        "children report their own calls: %d blocks, %d lines", f.blocks, f.lines);
}

int main(void)
{
  if (!check(mkdtemp(folder) != NULL, "a folder")) return check_finish();
  unsetenv("RANK");
  test_together();
  test_killed();
  test_names();
  test_fork();
  rmdir(folder);
  return check_finish();
}
