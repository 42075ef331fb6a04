/* test_forks.c: children of a process whose other threads are inside of what all threads share: the
   notes of descriptors, the answers of tuning, the table of processes.  And processes that are
   killed while they write the answers' file.  */
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cusparse/preprocess_epoch.h"
#include "backend/plan/memory/budget.h"
#include "backend/plan/tune/tune.h"
#include "tests/unit/check.h"

static const unsigned char uuid[16] = {9};
static char folder[] = "/tmp/shunt-forks-XXXXXX";
static atomic_bool stop;

/* Locks are held for longer than they are (the linker's --wrap), so that a fork finds them held. */
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
static atomic_bool lingers;
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
  if (atomic_load(&lingers)) nanosleep(&(struct timespec){0, 50000}, NULL);
  return __real_pthread_mutex_unlock(lock);
}

/* The i-th of problems that are all different. */
static struct shunt_problem problem(int i)
{
  char word[128];
  struct shunt_problem p;
  snprintf(word, sizeof word,
           "spmm:csr:f32.f32.f32.f32:i32b0:m%dn32k48z500:NN:rr:ld32.32:a1b0:alg0", 100 + i);
  if (shunt_problem_parse(word, &p) != SHUNT_OK) abort();
  return p;
}

/* ---- what the other thread does, and then the child ------------------------------------------ */

static bool use_notes(int i)
{
  static char buffer, library;
  const struct shunt_problem p = problem(i % 50);
  const struct shunt_preprocessed m = {(cusparseConstSpMatDescr_t)(uintptr_t)(64 + 64 * (i % 100)),
                                       &library, &buffer, &p, shunt_problem_hash(&p)};
  shunt_epoch_begin(&m);
  const bool known = shunt_epoch_of(&m) != 0;
  shunt_epoch_forget(m.descriptor);
  return known;
}

static bool use_answers(int i)
{
  const struct shunt_problem p = problem(i % 50);
  shunt_tune_keep(&p, (struct shunt_tune_answer){SHUNT_TUNE_ORIGINAL, 2, 2});
  return shunt_tune_find(&p) == SHUNT_TUNE_ORIGINAL;
}

static bool use_table(int i)
{
  (void)i;
  struct shunt_budget *s = shunt_budget_open(folder, uuid);
  for (int n = 0; n < 10000 && !s; n++) { /* locked by one that may not run for a while */
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    s = shunt_budget_open(folder, uuid);
  }
  shunt_budget_close(s);
  return s != NULL;
}

static void *use_all_the_time(void *use)
{
  atomic_store(&lingers, true);
  for (int i = 0; !atomic_load(&stop); i++) (*(bool (**)(int))use)(i);
  return NULL;
}

/* AddressSanitizer's allocator is locked for good in a child if another thread was in it: of that a
   few hang, which they do not without it.  */
#ifdef __SANITIZE_ADDRESS__
enum { PATIENCE = 30, HANGING = 3 };
#else
enum { PATIENCE = 300, HANGING = 0 };
#endif

static void test_fork(const char *what, bool (*use)(int))
{
  enum { FORKS = 100 };
  pthread_t other;
  int good = 0, hanging = 0;
  atomic_store(&stop, false);
  fflush(stdout);
  if (pthread_create(&other, NULL, use_all_the_time, &use) != 0) abort();
  for (int i = 0; i < FORKS; i++) {
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
      alarm(PATIENCE); /* it hangs */
      _exit(use(i) ? 0 : 1);
    }
    good += child > 0 && waitpid(child, &status, 0) == child && status == 0;
    hanging += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (i - good > 3) break;
  }
  atomic_store(&stop, true);
  atomic_store(&lingers, false);
  pthread_join(other, NULL);
  check(good + hanging == FORKS && hanging <= HANGING, "%s: %d of %d forked children go on", what,
        good, FORKS);
}

/* ---- killed while they write ----------------------------------------------------------- */

static char path[96];

/* Answers in the file as a process finds it. */
static int answers(void)
{
  int known = 0, status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv("SHUNT_TUNE_FILE", path, 1);
    shunt_tune_sign("machine");
    for (int i = 0; i < 200; i++) {
      const struct shunt_problem p = problem(1000 + i);
      known += shunt_tune_find(&p) == SHUNT_TUNE_ORIGINAL;
    }
    _exit(known);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Adds answers to the first `known`, one after the other, and tells of each, until it is killed. */
static pid_t start_writer(int known, int *told)
{
  int ends[2];
  if (pipe(ends)) abort();
  const pid_t child = fork();
  if (child == 0) {
    setenv("SHUNT_TUNE_FILE", path, 1);
    shunt_tune_sign("machine");
    for (int i = known; i < 200; i++) {
      const struct shunt_problem p = problem(1000 + i);
      shunt_tune_keep(&p, (struct shunt_tune_answer){SHUNT_TUNE_ORIGINAL, 2, 2});
      if (write(ends[1], "", 1) != 1) break;
    }
    _exit(0);
  }
  close(ends[1]);
  *told = ends[0];
  return child;
}

/* Kills it at some moment behind its i % 3-th answer; how many it told of by then. */
static int kill_writer(pid_t writer, int told, int i)
{
  int answered = 0, ended;
  char c;
  while (answered <= i % 3 && read(told, &c, 1) == 1) answered++;
  for (volatile int n = i % 23 * 20000; n > 0; n--) {
  }
  kill(writer, SIGKILL);
  waitpid(writer, &ended, 0);
  while (read(told, &c, 1) == 1) answered++;
  close(told);
  return answered;
}

static void test_killed(void)
{
  enum { KILLS = 60 };
  int before = 0, lost = 0, grew = 0, told;
  glob_t g;
  char pattern[112];
  snprintf(path, sizeof path, "%s/answers", folder);
  fflush(stdout);
  for (int i = 0; i < KILLS; i++) {
    const pid_t writer = start_writer(before, &told);
    const int answered = kill_writer(writer, told, i), now = answers();
    lost += now < before + answered;
    grew += now > before;
    before = now;
    if (before > 150) unlink(path), before = 0;
  }
  check(lost == 0 && grew == KILLS,
        "killed %d times, %d in the midst: no answer is lost (%d times)", KILLS, grew, lost);
  snprintf(pattern, sizeof pattern, "%s.*", path);
  if (glob(pattern, 0, NULL, &g) == 0) {
    for (size_t i = 0; i < g.gl_pathc; i++) unlink(g.gl_pathv[i]);
    globfree(&g);
  }
  unlink(path);
}

int main(void)
{
  if (!mkdtemp(folder)) return 1;
  test_killed();
  test_fork("notes of descriptors", use_notes);
  test_fork("answers of tuning", use_answers);
  test_fork("the table of processes", use_table);
  rmdir(folder);
  return check_finish();
}
