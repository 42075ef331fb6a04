/* unserved.c: a program whose products Shunt would take, were there a device.

   Says what of the folder named/ is opened, by whom ever, and whether the program has more rights
   than who started it: functions that open files are bound to these.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/auxv.h>

#include "expect.h"

static int opened;

static void note(const char *path)
{
  if (!strstr(path, "/named/")) return;
  opened++;
  printf("opened %s\n", strrchr(path, '/') + 1);
}

int open(const char *path, int flags, ...)
{
  static int (*next)(const char *, int, ...);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  note(path);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "open");
  return next(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
  static FILE *(*next)(const char *, const char *);
  note(path);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "fopen");
  return next(path, mode);
}

int main(void)
{
  cusparseHandle_t h;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t d;
  size_t bytes;
  float one = 1;
  const cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  EXPECT(cusparseCreate(&h) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(!cusparseCreateCsr(&a, 64, 64, 2048, NULL, NULL, NULL, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  EXPECT(!cusparseCreateDnMat(&d, 64, 64, 64, NULL, CUDA_R_32F, CUSPARSE_ORDER_ROW));
#define CALL(f, last)                                                                              \
  EXPECT(!f(h, n, n, &one, a, d, &one, d, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, last))
  CALL(cusparseSpMM_bufferSize, &bytes);
  CALL(cusparseSpMM_preprocess, NULL);
  for (int i = 0; i < 20; i++) CALL(cusparseSpMM, NULL);
  EXPECT(bytes == 1001); /* the original's */
  expect_reached(h, 1, 22);
  cusparseDestroySpMat(a);
  cusparseDestroyDnMat(d);
  cusparseDestroy(h);
  printf("secure %d, opened %d\n", getauxval(AT_SECURE) != 0, opened);
  return expect_failures;
}
