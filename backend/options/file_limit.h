/* file_limit.h: writing to files while the program has a limit on their size (RLIMIT_FSIZE).

   A write beyond it sends SIGXFSZ, which ends a program that does not expect it.  The program does
   not know of our files, so the signal is held back around our writes and taken away afterwards,
   unless one of the program's own was waiting.  The write fails, as on a full disk.

   One thread's business: that of the caller.  */
#ifndef SHUNT_FILE_LIMIT_H
#define SHUNT_FILE_LIMIT_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

struct shunt_file_limit {
  sigset_t mask; /* the caller's */
  bool waiting;  /* the program's own signal */
};

static inline struct shunt_file_limit shunt_file_limit_begin(void)
{
  struct shunt_file_limit l;
  sigset_t one, pending;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  l.waiting = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &one, &l.mask);
  return l;
}

static inline void shunt_file_limit_end(const struct shunt_file_limit *l)
{
  const int saved = errno;
  const struct timespec now = {0, 0};
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  if (!l->waiting)
    while (sigtimedwait(&one, NULL, &now) == SIGXFSZ) {
    }
  pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
  errno = saved;
}

#endif
