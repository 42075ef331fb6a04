/* next.c: an innocent preload that wraps getppid and finds the next one by RTLD_NEXT.
   Two of them in a row (-DNAME=...) call each other for ever if somebody's dlsym answers
   RTLD_NEXT for the wrong caller.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

int NAME(void);

static int seen;

int NAME(void)
{
  return seen;
}

pid_t getppid(void)
{
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  seen++;
  return next ? next() : -1;
}
