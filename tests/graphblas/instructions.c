#include "instructions.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The traced copy stops itself before and behind the piece. */
static void copy(void (*piece)(void *), void *argument)
{
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(1);
  raise(SIGSTOP);
  piece(argument);
  raise(SIGSTOP);
  _exit(0);
}

static int stopped_by(pid_t child, int signal)
{
  int status;
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

long instructions_of(void (*piece)(void *), void *argument)
{
  pid_t child = fork();
  if (child < 0) return -1;
  if (!child) copy(piece, argument);
  long steps = -1;
  if (stopped_by(child, SIGSTOP)) {
    steps = 0;
    while (!ptrace(PTRACE_SINGLESTEP, child, 0, 0) && stopped_by(child, SIGTRAP)) steps++;
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return steps > 0 ? steps : -1;
}
