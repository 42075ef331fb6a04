/* graphblas_product.c: a program of GraphBLAS, for tests of what is reported of it.

   C = A B, 2000 x 2000 with 10 entries in each row, times 2000 x 32, three times or TIMES. */
#include <GraphBLAS.h>
#include <pthread.h>
#include <stdlib.h>
__attribute__((noinline)) int multiply(GrB_Matrix c, GrB_Matrix a, GrB_Matrix b)
{
  return GrB_mxm(c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, b, NULL) == GrB_SUCCESS;
}
static void *own_malloc(size_t n)
{
  return malloc(n);
}
int run(void)
{
  enum { ROWS = 2000, WIDE = 32, EACH = 10 };
  const char *times = getenv("TIMES"), *way = getenv("WAY");
  GrB_Matrix a, b, c, d;
  if (way && *way == 'm')
    GxB_init(GrB_NONBLOCKING, own_malloc, calloc, realloc, free);
  else
    GrB_init(GrB_NONBLOCKING);
  GrB_Matrix_new(&a, GrB_FP32, ROWS, ROWS);
  GrB_Matrix_new(&b, GrB_FP32, ROWS, WIDE);
  GrB_Matrix_new(&c, GrB_FP32, ROWS, WIDE);
  for (int i = 0; i < ROWS; i++) {
    for (int k = 0; k < EACH; k++)
      GrB_Matrix_setElement_FP32(a, (float)(k + 1), i, (i * 7 + k * 31) % ROWS);
    for (int j = 0; j < WIDE; j++) GrB_Matrix_setElement_FP32(b, (float)(i - j), i, j);
  }
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  GrB_Matrix_wait(b, GrB_MATERIALIZE);
  int good = 1;
  if (way && *way == 'b') GxB_Global_Option_set(GxB_BURBLE, 1);
  for (int i = times ? atoi(times) : 3; i > 0; i--) good &= multiply(c, a, b);
  /* Whatever ran beside: the same sums, and nothing else was done to any of them. */
  GrB_Matrix_new(&d, GrB_FP32, ROWS, WIDE);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < WIDE; j++) {
      float sum = 0, found = 0;
      for (int k = 0; k < EACH; k++) sum += (float)(k + 1) * (float)((i * 7 + k * 31) % ROWS - j);
      good &= GrB_Matrix_extractElement_FP32(&found, c, i, j) == GrB_SUCCESS && found == sum;
    }
  GrB_finalize();
  return !good;
}
static void *in_thread(void *unused)
{
  return run() ? unused : NULL;
}
int run_in_thread(void)
{
  pthread_t thread;
  return pthread_create(&thread, NULL, in_thread, &thread) || pthread_join(thread, NULL);
}
int main(void)
{
  return run();
}
