/* tool_memory.c: whether there is room, and what is said where there is none. */
#include <unistd.h>

#include "backend/tool/tool.h"

bool tool_fits_memory(double bytes, const char *what)
{
  double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= 0.7 * have) return true;
  tool_say("%s needs %.1f GB; this machine has %.1f GB", what, bytes / 1e9, have / 1e9);
  return false;
}

bool tool_out_of_memory(struct shunt_matrix *m)
{
  tool_say("out of memory");
  shunt_matrix_free(m);
  return false;
}
