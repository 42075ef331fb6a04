/* graphblas_startup.c: what a short program costs: every function that it calls is called for the
   first time.  Prints the microseconds of processor time that the process took, its start
   included.  */
#include <GraphBLAS.h>
#include <stdio.h>
#include <sys/resource.h>

enum { N = 64 };

static GrB_Info use(void)
{
  GrB_Matrix a = NULL, b = NULL, c = NULL;
  GrB_Vector u = NULL, w = NULL;
  int bad = GrB_Matrix_new(&a, GrB_FP64, N, N) | GrB_Matrix_new(&c, GrB_FP64, N, N) |
            GrB_Vector_new(&u, GrB_FP64, N) | GrB_Vector_new(&w, GrB_FP64, N);
  for (GrB_Index i = 0; i < N; i++) {
    bad |= GrB_Matrix_setElement_FP64(a, 1.5, i, i * 7 % N);
    bad |= GrB_Vector_setElement_FP64(u, 2, i);
  }
  bad |= GrB_Matrix_dup(&b, a);
  bad |= GrB_mxm(c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, a, b, NULL);
  bad |= GrB_mxv(w, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, a, u, NULL);
  bad |= GrB_vxm(w, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, u, a, NULL);
  bad |= GrB_Matrix_eWiseAdd_BinaryOp(c, NULL, NULL, GrB_PLUS_FP64, a, b, NULL);
  bad |= GrB_Matrix_eWiseMult_BinaryOp(c, NULL, NULL, GrB_TIMES_FP64, a, b, NULL);
  bad |= GrB_Vector_eWiseAdd_BinaryOp(w, NULL, NULL, GrB_PLUS_FP64, u, u, NULL);
  bad |= GrB_Vector_eWiseMult_BinaryOp(w, NULL, NULL, GrB_TIMES_FP64, u, u, NULL);
  bad |= GrB_Matrix_apply(c, NULL, NULL, GrB_AINV_FP64, a, NULL);
  bad |= GrB_Vector_apply(w, NULL, NULL, GrB_AINV_FP64, u, NULL);
  bad |= GrB_Matrix_select_FP64(c, NULL, NULL, GrB_VALUEGT_FP64, a, 0, NULL);
  bad |= GrB_Vector_select_FP64(w, NULL, NULL, GrB_VALUEGT_FP64, u, 0, NULL);
  bad |= GrB_Matrix_reduce_Monoid(w, NULL, NULL, GrB_PLUS_MONOID_FP64, a, NULL);
  bad |= GrB_Matrix_extract(c, NULL, NULL, a, GrB_ALL, N, GrB_ALL, N, NULL);
  bad |= GrB_Vector_extract(w, NULL, NULL, u, GrB_ALL, N, NULL);
  bad |= GrB_Matrix_assign(c, NULL, NULL, a, GrB_ALL, N, GrB_ALL, N, NULL);
  bad |= GrB_Vector_assign_FP64(w, NULL, NULL, 1, GrB_ALL, N, NULL);
  bad |= GrB_transpose(c, NULL, NULL, a, NULL);
  bad |= GrB_Matrix_removeElement(c, 0, 0) | GrB_Matrix_resize(c, N, N) | GrB_Matrix_clear(c);
  bad |= GrB_Matrix_free(&a) | GrB_Matrix_free(&b) | GrB_Matrix_free(&c);
  bad |= GrB_Vector_free(&u) | GrB_Vector_free(&w);
  return bad;
}

int main(void)
{
  struct rusage r;
  if (GrB_init(GrB_NONBLOCKING) || GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1) || use()) return 1;
  GrB_finalize();
  getrusage(RUSAGE_SELF, &r);
  printf("%ld\n", (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000L + r.ru_utime.tv_usec +
                      r.ru_stime.tv_usec);
  return 0;
}
