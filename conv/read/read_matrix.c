/* read_matrix.c: the choice of a reader by the file's name (read.h). */
#include <string.h>

#include "conv/read/read.h"

static int ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);

  return n >= m && strcmp(text + n - m, end) == 0;
}

shunt_status shunt_read_matrix(const char *path, struct shunt_matrix *out,
                               struct shunt_message *why)
{
  if (ends_with(path, ".smtx") || ends_with(path, ".smtx.gz"))
    return shunt_read_smtx(path, out, why);
  return shunt_read_mtx(path, out, why);
}
