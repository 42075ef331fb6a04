/* graphblas_pages.c: calls from two pages of code that lie 4096 pages apart, so that they meet in
   one place of the table of backend/graphblas/epoch/interposed.h.  Fails if a call from the second
   page takes more than LIMIT ns longer than one from the first: it was looked up anew.  */
#include <GraphBLAS.h>
#include <stdio.h>
#include <time.h>

#ifdef __x86_64__
enum { LIMIT = 1000, CALLS = 2000, ROUNDS = 9 };

__asm__(".text\n"
        ".balign 4096\n"
        "near_page:\n"
        "  subq $8, %rsp\n"
        "  call GrB_Matrix_setElement_FP64@PLT\n"
        "  addq $8, %rsp\n"
        "  ret\n"
        ".skip 4096 * 4096 - (. - near_page)\n"
        "far_page:\n"
        "  subq $8, %rsp\n"
        "  call GrB_Matrix_setElement_FP64@PLT\n"
        "  addq $8, %rsp\n"
        "  ret\n");
GrB_Info near_page(GrB_Matrix, double, GrB_Index, GrB_Index);
GrB_Info far_page(GrB_Matrix, double, GrB_Index, GrB_Index);

/* Nanoseconds a call; the least of several rounds. */
static double time_of(GrB_Info (*set)(GrB_Matrix, double, GrB_Index, GrB_Index), GrB_Matrix a)
{
  double least = 1e9;
  for (int r = 0; r < ROUNDS; r++) {
    struct timespec s, e;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &s);
    for (int i = 0; i < CALLS; i++) set(a, i, 1, 1);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &e);
    double ns = (double)(e.tv_sec - s.tv_sec) * 1e9 + (double)(e.tv_nsec - s.tv_nsec);
    if (ns / CALLS < least) least = ns / CALLS;
  }
  return least;
}

int main(void)
{
  GrB_Matrix a = NULL;
  if (GrB_init(GrB_NONBLOCKING) || GrB_Matrix_new(&a, GrB_FP64, 4, 4)) return 1;
  GrB_Matrix_setElement_FP64(a, 0, 1, 1);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  const double first = time_of(near_page, a), second = time_of(far_page, a);
  printf("first page %.0f ns, second page %.0f ns\n", first, second);
  GrB_Matrix_free(&a);
  GrB_finalize();
  return second > first + LIMIT;
}
#else
int main(void)
{
  return 0;
}
#endif
