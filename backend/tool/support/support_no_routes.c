/* support_no_routes.c: a build without CUDA has no routes to ask. */
#include "backend/tool/support/support.h"

bool support_print_tables(int gpu, bool json, FILE *to)
{
  (void)gpu;
  (void)json;
  (void)to;
  tool_say(
      "support: this build has no CUDA, and takes no call of cuSPARSE; shunt-support(7) has the "
      "tables of one that does");
  return false;
}
