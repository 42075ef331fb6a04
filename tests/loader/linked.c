/* linked.c: a program linked with -lcusparse.

     -DDIRECT   fails unless the library's functions return to this program: Shunt's have made tail
                calls, or are not there  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "expect.h"
#include "use.h"

int main(void)
{
  for (int i = 0; i < 3; i++) {
    cusparseHandle_t h;
    if (cusparseCreate(&h) != CUSPARSE_STATUS_SUCCESS) return 1;
    EXPECT(use_library(h) == 0);
    expect_reached(h, 1, USE_CALLS);
    cusparseDestroy(h);
  }
#ifdef DIRECT
  EXPECT(!use_indirect);
#endif
  return expect_failures;
}
