/* omp_race.c: a parallel loop that races, and with the argument "apart" one that does not: does the
   sanitizer see through omp_threads.c?  */
#include <stdio.h>

int main(int argc, char **argv)
{
  long sums[4096] = {0};
  const long apart = argc > 1;
  (void)argv;
#pragma omp parallel for schedule(dynamic, 16) num_threads(4)
  for (long i = 0; i < 4096; i++) sums[apart ? i : 0] += i;
  long sum = 0;
  for (long i = 0; i < 4096; i++) sum += sums[i];
  printf("ok - %ld\n", sum);
  return 0;
}
