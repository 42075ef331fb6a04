/* fuzz_file.c: a file for fuzzers of what reads files. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static char path[] = "/tmp/shunt-fuzz-XXXXXX";
static int made = -1;

static void remove_file(void)
{
  unlink(path);
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
  if (made < 0) {
    made = mkostemp(path, 0);
    if (made < 0) exit(3);
    close(made);
    atexit(remove_file);
  }
  FILE *f = fopen(path, "wb"); /* anew by name: what is tested may have put another in its place */
  if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f) != 0) exit(3);
  return path;
}
