#include "instructions.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
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

/* Runs a function at whose first instruction the copy stands to its return; 0 if that fails.  A
   breakpoint takes the place of the instruction that it returns to. */
static int run_through(pid_t child)
{
#if defined __x86_64__ && defined __linux__
  struct user_regs_struct r;
  if (ptrace(PTRACE_GETREGS, child, 0, &r)) return 0;
  const long back = ptrace(PTRACE_PEEKTEXT, child, r.rsp, 0);
  const long code = ptrace(PTRACE_PEEKTEXT, child, back, 0);
  if (ptrace(PTRACE_POKETEXT, child, back, (code & ~0xffL) | 0xcc)) return 0;
  if (ptrace(PTRACE_CONT, child, 0, 0) || !stopped_by(child, SIGTRAP)) return 0;
  const unsigned long long stack = r.rsp + 8;
  if (ptrace(PTRACE_GETREGS, child, 0, &r) || r.rsp != stack) return 0;
  r.rip = (unsigned long long)back;
  return !ptrace(PTRACE_POKETEXT, child, back, code) && !ptrace(PTRACE_SETREGS, child, 0, &r);
#else
  (void)child;
  return 0;
#endif
}

/* Does the copy stand at the first instruction of this function? */
static int stands_at(pid_t child, const void *function)
{
#if defined __x86_64__ && defined __linux__
  const long at = ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip), 0);
  return function && (const void *)at == function;
#else
  (void)child, (void)function;
  return 0;
#endif
}

long instructions_without(void (*piece)(void *), void *argument, const void *left_out)
{
  pid_t child = fork();
  if (child < 0) return -1;
  if (!child) copy(piece, argument);
  long steps = -1;
  if (stopped_by(child, SIGSTOP)) {
    steps = 0;
    while (!ptrace(PTRACE_SINGLESTEP, child, 0, 0) && stopped_by(child, SIGTRAP)) {
      steps++;
      if (!stands_at(child, left_out)) continue;
      if (!run_through(child)) {
        steps = -1;
        break;
      }
      left_out = NULL;
    }
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return steps > 0 ? steps : -1;
}

long instructions_of(void (*piece)(void *), void *argument)
{
  return instructions_without(piece, argument, NULL);
}
