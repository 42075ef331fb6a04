/* replay.c: runs a fuzzer without libFuzzer, on what is in its corpus and on changes of that.

     fuzz_NAME [FILE...]      without files: those of $SHUNT_SRCDIR/tests/fuzz/corpus/NAME

   Each file as it is, then with one to four changes, SHUNT_FUZZ_STEPS (400) times; the changes are
   the same on every machine.  A case that fails ends the program, and is left in the file
   "fuzz_NAME.case" of the working directory.  */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"

enum { ROOM = 1 << 16, MOST_FILES = 512 };

static uint8_t bytes[ROOM];
static size_t size;
static uint64_t state;
static char case_path[256];

/* Only what may be called after a fault. */
static void leave_case(int signal)
{
  FILE *f = fopen(case_path, "wb");
  if (f) {
    fwrite(bytes, 1, size, f);
    fclose(f);
  }
  _exit(128 + signal);
}

static size_t below(size_t n)
{
  return (size_t)(splitmix64(&state) % n);
}

static void splice(size_t at, size_t gone, const void *with, size_t n)
{
  if (gone > size - at) gone = size - at;
  if (size - gone + n > ROOM) return;
  memmove(bytes + at + n, bytes + at + gone, size - at - gone);
  memcpy(bytes + at, with, n);
  size += n - gone;
}

static void change(void)
{
  static const char *const words[] = {"-1",
                                      "0",
                                      "99999999999999999999",
                                      "9223372036854775807",
                                      "nan",
                                      "inf",
                                      "1e999",
                                      "4294967296",
                                      "\t",
                                      "\n",
                                      ",",
                                      ":",
                                      "*",
                                      ".",
                                      "%s%n",
                                      "65536",
                                      "\r\n",
                                      "#",
                                      "=",
                                      "x"};
  const char *word = words[below(sizeof words / sizeof *words)];
  const size_t at = below(size + 1);
  uint8_t any = (uint8_t)splitmix64(&state), copy[64];
  size_t n = below(sizeof copy);
  switch (below(6)) {
  case 0: splice(at, 1, &any, 1); break;
  case 1: /* a bit */
    if (at < size) bytes[at] ^= (uint8_t)(1 << below(8));
    break;
  case 2: size = at; break;
  case 3: splice(at, 1 + below(8), "", 0); break;
  case 4: splice(at, below(4), word, strlen(word)); break;
  default: /* a piece once more */
    if (n > size - at) n = size - at;
    memcpy(copy, bytes + at, n);
    splice(below(size + 1), 0, copy, n);
  }
}

static bool load(const char *path)
{
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  size = fread(bytes, 1, ROOM, f);
  fclose(f);
  return true;
}

/* The file as it is, and changed. */
static void replay(const char *path, int steps)
{
  if (!load(path)) {
    check(0, "%s: %s", path, strerror(errno));
    return;
  }
  LLVMFuzzerTestOneInput(bytes, size);
  for (int i = 0; i < steps; i++) {
    load(path);
    state = (uint64_t)i * 0x100000001b3u + size;
    for (size_t changes = 1 + below(4); changes; changes--) change();
    LLVMFuzzerTestOneInput(bytes, size);
  }
  check(1, "%s: as it is, and %d times changed", strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
        steps);
}

static int no_dots(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
  const char *sources = getenv("SHUNT_SRCDIR"), *steps_text = getenv("SHUNT_FUZZ_STEPS");
  const int steps = steps_text ? atoi(steps_text) : 400;
  const char *name = program_invocation_short_name;
  char folder[512], path[1024];
  struct dirent **entries = NULL;
  if (strncmp(name, "lt-", 3) == 0) name += 3; /* libtool's */
  snprintf(case_path, sizeof case_path, "%s.case", name);
  for (const int *s = (const int[]){SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, 0}; *s; s++)
    signal(*s, leave_case);
  for (int i = 1; i < argc; i++) replay(argv[i], steps);
  if (argc > 1) return check_finish();
  if (!freopen("/dev/null", "w", stderr)) return 3; /* the warnings that are asked for */
  snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", sources ? sources : ".",
           strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name);
  const int count = scandir(folder, &entries, no_dots, alphasort);
  check(count > 0, "%s has cases", folder);
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    replay(path, steps);
    free(entries[i]);
  }
  free(entries);
  return check_finish();
}
