/* start.c: what a preload adds to the start of a program that has nothing to do with CUDA.

     start US PRELOAD PROGRAM   the program is started 200 times without and with the preload, in
                                turns

   The bar: the least time of the processor with it is less than US above the least without.  That
   of the processor, and the least, since a machine that does other work as well adds to the
   clock's.  US is meant for a machine that starts PROGRAM alone in BARE us; where that takes
   longer, as it does while the neighbours use the caches, the bar grows with it.  */
#define _DEFAULT_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { STARTS = 200, BARE = 500 };

static double us_of(struct timeval t)
{
  return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

/* Of the processor, from the start to the end; negative: it did not end well. */
static double run(char *program, char **environment)
{
  char *arguments[] = {program, NULL};
  pid_t child;
  int status;
  struct rusage used;
  if (posix_spawn(&child, program, NULL, NULL, arguments, environment) != 0) return -1;
  if (wait4(child, &status, 0, &used) != child || status != 0) return -1;
  return us_of(used.ru_utime) + us_of(used.ru_stime);
}

int main(int argc, char **argv)
{
  char preload[4096];
  char *without[] = {NULL}, *with[] = {preload, NULL};
  double least[2] = {1e30, 1e30};
  if (argc != 4) return 2;
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[2]);
  for (int i = 0; i < 2 * STARTS; i++) {
    const double us = run(argv[3], i % 2 ? with : without);
    if (us < 0) return 1;
    if (us < least[i % 2]) least[i % 2] = us;
  }
  const double slower = least[0] > BARE ? least[0] / BARE : 1;
  const double bar = atof(argv[1]) * slower;
  printf("# %.0f us with the preload, %.0f without: %.0f more, of %.0f at most\n", least[1],
         least[0], least[1] - least[0], bar);
  return least[1] - least[0] < bar ? 0 : 1;
}
