#include "backend/log/log_report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/log/log_timeline.h"
#include "backend/log/log_upkeep.h"
#include "backend/options/file_limit.h"
#include "backend/options/options.h"
#include "backend/plan/log.h"

#define SECOND INT64_C(1000000000)
static const int64_t first_after = SECOND / 10, apart = 2 * SECOND;
enum { NAMES = 1000, SHARE = 1000 };

static _Atomic(pid_t) owner;    /* whose counts these are; 0: there are none */
static _Atomic int64_t due;     /* when the next writing is; 0: no call has come */
static _Atomic int64_t started; /* when the first call came */
static atomic_flag writing = ATOMIC_FLAG_INIT;
static char own[PATH_MAX]; /* this process' file; "": none yet.  By who is writing */

/* ---- names --------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
  struct stat s;
  const size_t n = strlen(path);
  if (path[n - 1] == '/') mkdir(path, 0777); /* one that is there stays */
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_field(const char *path)
{
  for (const char *c = strchr(path, '%'); c; c = strchr(c + 1, '%'))
    if (c[1] == 'h' || c[1] == 'p' || c[1] == 'r') return true;
  return false;
}

/* What stands for %h, %p or %r; a name of a host that would be a path is none. */
static void fill(char field, char text[64])
{
  if (field == 'p') {
    snprintf(text, 64, "%ld", (long)getpid());
  } else if (field == 'r') {
    const long rank = shunt_process_rank();
    snprintf(text, 64, rank >= 0 ? "%ld" : "-", rank);
  } else {
    if (gethostname(text, 64) != 0) text[0] = 0;
    text[63] = 0;
    for (char *c = text; *c; c++)
      if (*c == '/' || (unsigned char)*c <= ' ') *c = '_';
  }
}

/* False: it is too long. */
static bool expand(const char *form, char path[PATH_MAX])
{
  size_t used = 0;
  for (; *form && used < PATH_MAX - 64; form++) {
    const char field = *form == '%' ? form[1] : 0;
    if (field == 'h' || field == 'p' || field == 'r') {
      fill(field, path + used);
      used += strlen(path + used);
      form++;
    } else {
      path[used++] = *form;
    }
  }
  path[used] = 0;
  return !*form;
}

/* Makes a file that nobody has, and leaves its whole path in `own`: the program may change its
   folder.  */
static bool claim(const char *path)
{
  char name[PATH_MAX + 16];
  int file = -1;
  for (int i = 1; file < 0 && i <= NAMES; i++) {
    snprintf(name, sizeof name, i > 1 ? "%s.%d" : "%s", path, i);
    file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) return false;
  }
  if (file < 0) return false;
  close(file);
  if (realpath(name, own)) return true;
  own[0] = 0;
  return false;
}

/* Has this process a file of its own, or has it one from now on? */
static bool has_own(void)
{
  const char *form = shunt_options()->report;
  char whole[PATH_MAX], path[PATH_MAX];
  if (own[0]) return true;
  if (!form[0]) return false;
  if (has_field(form)) return expand(form, path) && claim(path);
  if (!is_folder(form)) return false;
  snprintf(whole, sizeof whole, "%s%s%%h.%%r.%%p", form, form[strlen(form) - 1] == '/' ? "" : "/");
  return expand(whole, path) && claim(path);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* In one go, where the system takes it in one. */
static bool write_all(int file, const char *text, size_t bytes)
{
  while (bytes > 0) {
    const ssize_t n = write(file, text, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text += n;
    bytes -= (size_t)n;
  }
  return true;
}

static void append(const char *text, size_t bytes)
{
  const int file = open(shunt_options()->report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  write_all(file, text, bytes);
  close(file);
}

static void replace(const char *text, size_t bytes)
{
  char fresh[PATH_MAX + 8];
  snprintf(fresh, sizeof fresh, "%s.tmp", own);
  const int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return;
  const bool written = write_all(file, text, bytes);
  if (close(file) != 0 || !written || rename(fresh, own) != 0) unlink(fresh);
}

/* `at_end`: also to a file that processes share. */
static void write_report(bool at_end)
{
  const int saved_errno = errno;
  const struct shunt_file_limit limit = shunt_file_limit_begin();
  const char *form = shunt_options()->report;
  const bool mine = has_own(), shared = at_end && form[0] && !has_field(form);
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = mine || shared ? open_memstream(&text, &bytes) : NULL;
  if (to) {
    shunt_log_print(to);
    if (fclose(to) == 0) (mine ? replace : append)(text, bytes);
    free(text);
  }
  shunt_file_limit_end(&limit);
  errno = saved_errno;
}

/* ---- when ---------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * SECOND + t.tv_nsec;
}

void shunt_report_begin(void)
{
  pid_t nobody = 0;
  if (atomic_load_explicit(&owner, memory_order_relaxed) == 0)
    atomic_compare_exchange_strong(&owner, &nobody, getpid());
}

/* Close together at first, then `apart`, and further where a file system is slow. */
static int64_t next_after(int64_t now, int64_t took)
{
  int64_t wait = now - atomic_load(&started);
  if (wait > apart) wait = apart;
  if (wait < SHARE * took) wait = SHARE * took;
  return now + wait;
}

void shunt_report_tick(int64_t now)
{
  int64_t at = atomic_load_explicit(&due, memory_order_relaxed);
  if (now < at) return;
  if (at == 0) {
    if (atomic_compare_exchange_strong(&due, &at, now + first_after)) atomic_store(&started, now);
    return;
  }
  if (atomic_flag_test_and_set(&writing)) return;
  const int64_t begin = now_ns();
  write_report(false);
  atomic_store(&due, next_after(now, now_ns() - begin));
  atomic_flag_clear(&writing);
}

/* No CUDA here: the driver may be gone by now. */
__attribute__((destructor)) static void write_at_end(void)
{
  enum { ATTEMPTS = 1000, WAIT_NS = 1000000 };
  if (!shunt_log_has_content()) return; /* a program that made no calls has read no options */
  const pid_t whose = atomic_load(&owner);
  if (whose != 0 && whose != getpid()) return; /* a child that was made without fork's handlers */
  for (int i = 0; atomic_flag_test_and_set(&writing); i++) {
    if (i == ATTEMPTS) return;
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
  }
  write_report(true);
  atomic_flag_clear(&writing);
}

/* ---- fork ---------------------------------------------------------------------------------- */

/* What the parent counted is the parent's to tell. */
static void forget_in_child(void)
{
  if (atomic_load(&owner) != 0) shunt_log_forget();
  shunt_timeline_forget();
  shunt_upkeep_forget();
  atomic_store(&owner, 0);
  atomic_store(&due, 0);
  own[0] = 0;
  atomic_flag_clear(&writing);
}

__attribute__((constructor)) static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, forget_in_child);
}
