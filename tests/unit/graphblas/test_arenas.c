/* test_arenas.c: memory that GraphBLAS gives and takes in arenas, from 10.4 on: only while there is
   one may arrays be handed over.  Versions have different numbers of them.  */
#include "backend/graphblas/memory.h"
#include "tests/unit/check.h"

enum { ARENAS = 8 };
static int used; /* the highest arena in use; -1: GrB_init was not called */

/* As 10.5.1 answers. */
static int initialized(int *flag, int k)
{
  if (used < 0) return GRB_PANIC;
  if (k >= ARENAS) return GRB_INVALID_VALUE;
  *flag = k <= used;
  return GRB_SUCCESS;
}

int main(void)
{
  struct grb_library l = {0};
  check(!grb_has_arenas(&l), "a version without arenas has none");
  l.GxB_arena_initialized = initialized;
  check(!grb_has_arenas(&l), "eight arenas may be, one is: the memory is its");
  used = 1;
  check(grb_has_arenas(&l), "two arenas");
  check(!grb_allocate(&l, 8), "and whose memory it would be is not known");
  used = -1;
  check(grb_has_arenas(&l), "what cannot be asked may have arenas");
  return check_finish();
}
