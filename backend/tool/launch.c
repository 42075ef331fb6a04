/* launch.c: runs a program under the preload, as if it had been run directly.

     shunt ---fork---> child: environment, default signals, execvp
       |  <--pipe----  closed by exec, or the errno of an exec that failed
       |  --signals->  those sent to shunt alone; a terminal's reach the child by itself
       |  <--wait----  status  */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/tool/tool.h"

#ifndef PKGLIBDIR
#define PKGLIBDIR "/usr/local/lib/shunt"
#endif

static const char preload_object[] = "libshunt-cusparse.so";
static const char dlsym_object[] = "libshunt-dlsym.so";
static const char graphblas_object[] = "libshunt-graphblas.so";

/* ---- where the preload lives ---------------------------------------------- */

bool launch_own_folder(char *out, size_t bytes)
{
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return false;
  path[n] = 0;
  char *slash = strrchr(path, '/');
  if (!slash) return false;
  *slash = 0;
  return (size_t)snprintf(out, bytes, "%s", path) < bytes;
}

static bool readable(const char *folder, const char *object, char path[PATH_MAX])
{
  return snprintf(path, PATH_MAX, "%s/%s", folder, object) < PATH_MAX && access(path, R_OK) == 0;
}

/* A build without CUDA has the one for GraphBLAS alone. */
static bool holds_preload(const char *folder)
{
  char path[PATH_MAX];
  return readable(folder, preload_object, path) || readable(folder, graphblas_object, path);
}

/* SHUNT_LIBDIR; beside this executable, installed or in its build tree; PKGLIBDIR. */
static bool find_folder(char out[PATH_MAX])
{
  static const char *const beside[] = {"../lib/shunt", "../lib64/shunt", ".libs", "."};
  char own[PATH_MAX], folder[2 * PATH_MAX];
  const char *named = tool_option_text("SHUNT_LIBDIR");
  if (named) {
    if (holds_preload(named) && realpath(named, out)) return true;
    tool_say("SHUNT_LIBDIR=%s: there is no %s", named, preload_object);
    return false;
  }
  if (launch_own_folder(own, sizeof own))
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
      snprintf(folder, sizeof folder, "%s/%s", own, beside[i]);
      if (holds_preload(folder) && realpath(folder, out)) return true;
    }
  if (holds_preload(PKGLIBDIR) && realpath(PKGLIBDIR, out)) return true;
  tool_say("%s was not found: not beside this program (../lib/shunt, .libs), not in " PKGLIBDIR
           "; set SHUNT_LIBDIR to its folder",
           preload_object);
  return false;
}

/* Appends folder/object to *list if it is there; false: it is not, or no memory. */
static bool add_object(char **list, const char *folder, const char *object)
{
  char path[PATH_MAX], *longer;
  if (!readable(folder, object, path)) return false;
  if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ":" : "", path) < 0) return false;
  free(*list);
  *list = longer;
  return true;
}

char *launch_find_preload(bool with_dlsym)
{
  char folder[PATH_MAX], *list = NULL;
  if (!find_folder(folder)) return NULL;
  if (strpbrk(folder, ": \t")) {
    tool_say("%s: LD_PRELOAD cannot hold a path with a space or a colon", folder);
    return NULL;
  }
  if (add_object(&list, folder, preload_object) && with_dlsym &&
      !add_object(&list, folder, dlsym_object))
    tool_say("%s/%s is missing: programs that bind by handle (JAX) will not be rerouted", folder,
             dlsym_object);
  add_object(&list, folder, graphblas_object);
  if (!list) tool_say("out of memory");
  return list;
}

/* ---- signals -------------------------------------------------------------- */

static const int forwarded[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile pid_t child;

static void hand_on(int number, siginfo_t *info, void *context)
{
  (void)context;
  int saved = errno;
  if (info->si_code != SI_KERNEL && child > 0) kill(child, number);
  errno = saved;
}

struct signals {
  struct sigaction old[FORWARDED];
  sigset_t mask;
};

/* Handlers for what is not ignored (nohup stays nohup), blocked until the child is known. */
static void take_signals(struct signals *s)
{
  struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t block;
  sigemptyset(&block);
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < FORWARDED; i++) sigaddset(&block, forwarded[i]);
  sigprocmask(SIG_BLOCK, &block, &s->mask);
  for (int i = 0; i < FORWARDED; i++) {
    sigaction(forwarded[i], NULL, &s->old[i]);
    if (s->old[i].sa_handler != SIG_IGN) sigaction(forwarded[i], &action, NULL);
  }
}

static void give_back_signals(const struct signals *s)
{
  for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], &s->old[i], NULL);
}

/* ---- the child ------------------------------------------------------------ */

static bool set_environment(const struct launch *l)
{
  const char *old = getenv("LD_PRELOAD");
  char *list = NULL;
  bool good = true;
  if (l->preload) {
    if (old && *old && asprintf(&list, "%s:%s", l->preload, old) < 0) return false;
    good = setenv("LD_PRELOAD", list ? list : l->preload, 1) == 0;
    free(list);
  }
  if (l->report) good = good && setenv("SHUNT_REPORT", l->report, 1) == 0;
  if (l->routes) good = good && setenv("SHUNT_ROUTES", l->routes, 1) == 0;
  if (l->measure) good = good && setenv("SHUNT_MEASURE", "1", 1) == 0;
  if (l->explain) good = good && setenv("SHUNT_LOG", "dispatch", 1) == 0;
  return good;
}

static _Noreturn void become_program(const struct launch *l, const struct signals *s, int output,
                                     int error)
{
  give_back_signals(s);
  sigprocmask(SIG_SETMASK, &s->mask, NULL);
  int failure = 0;
  if (output >= 0 && dup2(output, STDOUT_FILENO) < 0) failure = errno;
  if (!failure && !set_environment(l)) failure = ENOMEM;
  if (!failure) {
    execvp(l->argv[0], l->argv);
    failure = errno;
  }
  ssize_t ignored = write(error, &failure, sizeof failure);
  (void)ignored;
  _exit(EXIT_RUN_SELF);
}

/* ---- the parent ----------------------------------------------------------- */

/* The errno that the child sent instead of becoming the program; 0: it became it. */
static int exec_failure(int from)
{
  int failure = 0;
  ssize_t n;
  do n = read(from, &failure, sizeof failure);
  while (n < 0 && errno == EINTR);
  return n == (ssize_t)sizeof failure ? failure : 0;
}

static struct launch_end wait_for(pid_t pid)
{
  int status = 0;
  pid_t done;
  do done = waitpid(pid, &status, 0);
  while (done < 0 && errno == EINTR);
  struct launch_end end = {EXIT_RUN_SELF, 0, done == pid};
  if (done == pid && WIFEXITED(status)) end.status = WEXITSTATUS(status);
  if (done == pid && WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.status = 128 + end.signal;
  }
  return end;
}

static struct launch_end fail(const char *what, int error)
{
  tool_say("%s: %s", what, strerror(error));
  int status = error == ENOENT ? EXIT_RUN_MISSING : EXIT_RUN_DENIED;
  return (struct launch_end){status, 0, false};
}

struct launch_end launch_program(const struct launch *l)
{
  const struct launch_end broken = {EXIT_RUN_SELF, 0, false};
  struct signals signals;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    tool_say("pipe: %s", strerror(errno));
    return broken;
  }
  fflush(NULL);
  take_signals(&signals);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    become_program(l, &signals, l->output ? fileno(l->output) : -1, ends[1]);
  }
  int fork_error = errno;
  child = pid;
  sigprocmask(SIG_SETMASK, &signals.mask, NULL);
  close(ends[1]);
  if (pid < 0) {
    give_back_signals(&signals);
    close(ends[0]);
    tool_say("fork: %s", strerror(fork_error));
    return broken;
  }
  int failure = exec_failure(ends[0]);
  struct launch_end end = wait_for(pid);
  child = 0;
  give_back_signals(&signals);
  close(ends[0]);
  return failure ? fail(l->argv[0], failure) : end;
}
