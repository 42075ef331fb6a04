/* linked.c: a program linked with -lcusparse. */
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
  return expect_failures;
}
