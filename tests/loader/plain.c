/* plain.c: a program that has nothing to do with CUDA. */
#include <stdlib.h>
#include <string.h>

int main(void)
{
  char *p = malloc(100);
  if (!p) return 1;
  memset(p, 1, 100);
  int sum = p[0] + p[99];
  free(p);
  return sum == 2 ? 0 : 1;
}
