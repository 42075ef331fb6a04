/* fork.h: locks that a forked child can go on with.

   A child has the parent's memory, but of its threads only the one that forked.  A lock that
   another thread held would stay locked, with what it guards half written.  So the fork waits for
   the lock.  Only for locks that are held for moments and over no CUDA call.  */
#ifndef SHUNT_FORK_H
#define SHUNT_FORK_H

#include <pthread.h>

/* In the file of a static pthread_mutex_t `lock`, behind its definition. */
#define SHUNT_LOCK_SURVIVES_FORK(name, lock)                                                       \
  static void name##_before_fork(void)                                                             \
  {                                                                                                \
    pthread_mutex_lock(&(lock));                                                                   \
  }                                                                                                \
  static void name##_after_fork(void)                                                              \
  {                                                                                                \
    pthread_mutex_unlock(&(lock));                                                                 \
  }                                                                                                \
  __attribute__((constructor)) static void name##_watch_forks(void)                                \
  {                                                                                                \
    pthread_atfork(name##_before_fork, name##_after_fork, name##_after_fork);                      \
  }

#endif
