/* ablation.c: shunt bench --ablation: the program that times the vector kernels against
   those that the octet mapping replaced (tests/bench/ablation_bench), beside the build.  */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/bench/bench.h"

/* The tree around this program, which stands in its root or in .libs. */
static bool find_program(char path[PATH_MAX])
{
  static const char *const beside[] = {"tests/bench", "../tests/bench"};
  char own[PATH_MAX];
  for (int i = 0; i < 2 && launch_own_folder(own, sizeof own); i++) {
    int length = snprintf(path, PATH_MAX, "%s/%s/ablation_bench", own, beside[i]);
    if (length < PATH_MAX && access(path, X_OK) == 0) return true;
  }
  return false;
}

int bench_ablation(char **arguments, int count, const char *json)
{
  char path[PATH_MAX];
  char **argv = calloc((size_t)count + 4, sizeof *argv);
  int at = 0, status = EXIT_BAD;
  if (!argv) {
    tool_say("out of memory");
  } else if (!find_program(path)) {
    tool_say("tests/bench/ablation_bench is not there: `make gpu-tests` in the build tree makes "
             "it");
  } else {
    argv[at++] = path;
    if (json) argv[at++] = (char *)"-o";
    if (json) argv[at++] = (char *)json;
    memcpy(argv + at, arguments, (size_t)count * sizeof *argv);
    const struct launch l = {.argv = argv};
    struct launch_end end = launch_program(&l);
    if (end.signal) tool_say("%s: ended by signal %d", path, end.signal);
    status = end.ran && end.status <= EXIT_USAGE ? end.status : EXIT_BAD;
  }
  free(argv);
  return status;
}
