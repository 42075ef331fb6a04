/* read_matrix.c: the choice of a reader by the file's name (read.h). */
#include <string.h>

#include "conv/read/scanner.h"

static int ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);

  return n >= m && strcmp(text + n - m, end) == 0;
}

shunt_status shunt_read_matrix_watched(const char *path, struct shunt_matrix *out,
                                       struct shunt_message *why,
                                       const struct shunt_read_watch *watch)
{
  if (ends_with(path, ".smtx") || ends_with(path, ".smtx.gz"))
    return read_smtx(path, out, why, watch);
  return read_mtx(path, out, why, watch);
}

shunt_status shunt_read_matrix(const char *path, struct shunt_matrix *out,
                               struct shunt_message *why)
{
  return shunt_read_matrix_watched(path, out, why, NULL);
}
