/* limit_loops.c: part of a library built for sanitizers (build_library.sh): SHUNT_LOOPS=1 keeps it
   from AVX-512, 0 from AVX2, too, so that the inner loops of each are run on one machine.  */
#include <stdlib.h>

#include "kernels/semiring/semiring_choice.h"

__attribute__((constructor)) static void limit_loops(void)
{
  const char *most = getenv("SHUNT_LOOPS");
  if (most) shunt_semiring_limit(atoi(most));
}
