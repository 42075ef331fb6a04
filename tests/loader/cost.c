/* cost.c: what the exported functions pay to know their original, and what they get.

   original.c is linked into this program, so "ourselves" is the program, and the stand-in
   library comes after it.  Fails if a repeated question costs more than 500 ns at
   best (it costs about 10; the limit is for slow machines).  */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/cusparse/original.h"

enum { ROUNDS = 10000, REPEATS = 1000 };

/* Of the processor: the machine may do other work as well. */
static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As an exported function asks. */
static __attribute__((noinline)) const struct shunt_original *ask(void)
{
  return shunt_original_for(__builtin_return_address(0));
}

int main(void)
{
  double start = seconds();
  const struct shunt_original *o = ask();
  double first = seconds() - start;
  if (!o || !o->path || !o->base || !strstr(o->path, "libcusparse.so.12")) return 1;
#define THERE(f)                                                                                   \
  if (!o->f) return printf("no " #f "\n"), 1;
  SHUNT_TAKEN(THERE)
  SHUNT_READ(THERE)
  if (o->SpMM != cusparseSpMM || o->GetVersion != cusparseGetVersion) return 1;
  double best = 1;
  for (int round = 0; round < ROUNDS; round++) {
    start = seconds();
    for (int i = 0; i < REPEATS; i++)
      if (ask() != o) return 1;
    double each = (seconds() - start) / REPEATS;
    if (each < best) best = each;
  }
  printf("# first %.1f us, repeated %.1f ns\n", 1e6 * first, 1e9 * best);
  return best < 500e-9 ? 0 : 1;
}
