/* test_tune.c: the file of SHUNT_TUNE: what was written comes back, and nothing of a file that is
   not whole or not about this machine.  Options are read once a process, so each case runs in a
   child.  */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/tune/tune.h"
#include "backend/routes/route.h"
#include "tests/unit/check.h"
#include "tests/unit/comma_locale.h"

#define WORD "spmm:csr:f32.f32.f32.f32:i32b0:m100n32k100z500:NN:rr:ld32.32:a1b0:alg12"
#define OTHER "spmm:csr:f32.f32.f32.f32:i32b0:m100n64k100z500:NN:rr:ld64.64:a1b0:alg12"
#define HALVES "spmm:csr:c32.c32.c32.c32:i32b0:m100n32k100z500:NN:rr:ld32.32:a0.5,1.5b0.5:alg0"
#define HERE "build=1 gpu=H200 driver=13000"
#define SIGNED HERE " math=exact"

static char path[64];

static int find(const char *word)
{
  struct shunt_problem p;
  return shunt_problem_parse(word, &p) == SHUNT_OK ? shunt_tune_find(&p) : -100;
}

static void keep(const char *word, int winner)
{
  struct shunt_problem p;
  if (shunt_problem_parse(word, &p) == SHUNT_OK)
    shunt_tune_keep(&p, (struct shunt_tune_answer){winner, 14.25, 17.5});
}

static void write_text(const char *text)
{
  FILE *f = fopen(path, "w");
  if (!f) return;
  fputs(text, f);
  fclose(f);
}

/* The child's verdict: its exit status is 0. */
static int in_child(int (*body)(void))
{
  fflush(stdout);
  pid_t child = fork();
  int status = 1;
  if (child == 0) {
    setenv("SHUNT_TUNE_FILE", path, 1);
    shunt_tune_sign(HERE);
    _exit(body() ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int nothing_known(void)
{
  return find(WORD) == SHUNT_TUNE_UNKNOWN && find(OTHER) == SHUNT_TUNE_UNKNOWN;
}

static int keeps_the_first(void)
{
  keep(WORD, shunt_route_index("vector"));
  keep(WORD, shunt_route_index("csr"));
  keep(OTHER, SHUNT_TUNE_ORIGINAL);
  return find(WORD) == shunt_route_index("vector") && find(OTHER) == SHUNT_TUNE_ORIGINAL;
}

static int finds_both(void)
{
  return find(WORD) == shunt_route_index("vector") && find(OTHER) == SHUNT_TUNE_ORIGINAL;
}

static int finds_one(void)
{
  return find(WORD) == shunt_route_index("csr") && find(OTHER) == SHUNT_TUNE_UNKNOWN;
}

static void test_files(void)
{
  static const struct {
    const char *what, *text;
  } bad[] = {
      {"another GPU",
       "# shunt tune 1 build=1 gpu=H100 driver=13000 math=exact\ncsr\t1\t2\t" WORD "\n"},
      {"a longer signature", "# shunt tune 1 " SIGNED "1\ncsr\t1\t2\t" WORD "\n"},
      {"another arithmetic", "# shunt tune 1 " HERE " math=tf32\ncsr\t1\t2\t" WORD "\n"},
      {"no arithmetic", "# shunt tune 1 " HERE "\ncsr\t1\t2\t" WORD "\n"},
      {"another version", "# shunt tune 2 " SIGNED "\ncsr\t1\t2\t" WORD "\n"},
      {"an unknown route", "# shunt tune 1 " SIGNED "\ncsr\t1\t2\t" OTHER "\ncs\t1\t2\t" WORD "\n"},
      {"a number missing", "# shunt tune 1 " SIGNED "\ncsr\t1\t" WORD "\n"},
      {"a number that is none", "# shunt tune 1 " SIGNED "\ncsr\t1x\t2\t" WORD "\n"},
      {"a broken problem", "# shunt tune 1 " SIGNED "\ncsr\t1\t2\tspmm:csr\n"},
      {"a last line cut short", "# shunt tune 1 " SIGNED "\ncsr\t1\t2\t" OTHER "\ncsr\t1\t2\tspm"},
      {"an empty file", ""},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_text(bad[i].text);
    check(in_child(nothing_known), "%s: nothing of the file counts", bad[i].what);
  }
  write_text("# shunt tune 1 " SIGNED "\ncsr\t1\t2\t" WORD "\n");
  check(in_child(finds_one), "a whole file counts");
}

/* Answers measured in one arithmetic are none in the other, whichever came first. */
static void test_math(void)
{
  unlink(path);
  check(in_child(keeps_the_first), "answers kept with exact f32");
  setenv("SHUNT_MATH", "tf32", 1);
  check(in_child(nothing_known), "SHUNT_MATH=tf32 finds none of them");
  check(in_child(keeps_the_first), "and keeps its own");
  check(in_child(finds_both), "for the next process with tf32");
  setenv("SHUNT_MATH", "tf32x3", 1);
  check(in_child(nothing_known), "SHUNT_MATH=tf32x3 finds none of either");
  setenv("SHUNT_MATH", "exact", 1);
  check(in_child(nothing_known), "but not for exact f32");
  unsetenv("SHUNT_MATH");
}

/* Files that somebody else could have written, or that cannot be written. */
static void test_refused(void)
{
  static const char good[] = "# shunt tune 1 " SIGNED "\ncsr\t1\t2\t" WORD "\n";
  char other[80];
  snprintf(other, sizeof other, "%s.other", path);
  const struct {
    const char *what;
    mode_t mode;
  } modes[] = {{"a file that others may write", 0666},
               {"a file that the group may write", 0620},
               {"a file that is ours alone", 0600}};
  for (int i = 0; i < 3; i++) {
    unlink(path);
    write_text(good);
    chmod(path, modes[i].mode);
    check(in_child(i < 2 ? nothing_known : finds_one), "%s", modes[i].what);
  }
  unlink(path);
  check(symlink(other, path) == 0 && in_child(keeps_the_first), "a symbolic link to nothing");
  check(access(other, F_OK) != 0, "is not written through");
  unlink(path);
  write_text(good);
  check(rename(path, other) == 0 && symlink(other, path) == 0 && in_child(nothing_known),
        "a symbolic link to a good file");
  unlink(other), unlink(path);
  check(mkfifo(path, 0600) == 0 && in_child(nothing_known), "a FIFO, without waiting");
  unlink(path);
  check(mkdir(path, 0700) == 0 && in_child(keeps_the_first), "a folder");
  rmdir(path);
  write_text(good);
  if (geteuid() == 0) {
    check(chown(path, 12345, 12345) == 0 && in_child(finds_one) == (geteuid() == 12345),
          "a file of another user");
    check(chown(path, 0, 0) == 0 && in_child(finds_one), "a file of root's");
  }
  unlink(path);
}

/* A disk that is full leaves the old file, and nothing beside it. */
static int keeps_on_a_full_disk(void)
{
  struct rlimit none = {8, 8};
  setrlimit(RLIMIT_FSIZE, &none);
  keep(OTHER, SHUNT_TUNE_ORIGINAL);
  return find(OTHER) == SHUNT_TUNE_ORIGINAL;
}

static void test_full_disk(void)
{
  char pattern[80];
  glob_t g;
  write_text("# shunt tune 1 " SIGNED "\ncsr\t1\t2\t" WORD "\n");
  check(in_child(keeps_on_a_full_disk), "the answer holds though the disk is full");
  check(in_child(finds_one), "and the old file stays whole");
  snprintf(pattern, sizeof pattern, "%s.*", path);
  check(glob(pattern, 0, NULL, &g) == GLOB_NOMATCH, "and nothing is left beside it");
}

/* A program whose numbers have commas writes and reads the same file as others. */
static int keeps_halves(void)
{
  struct shunt_problem p;
  char word[SHUNT_PROBLEM_TEXT];
  keep(HALVES, shunt_route_index("csr"));
  if (shunt_problem_parse(HALVES, &p) != SHUNT_OK) return 0;
  shunt_problem_print(&p, word);
  return strcmp(word, HALVES) == 0;
}

static int finds_halves(void)
{
  return find(HALVES) == shunt_route_index("csr");
}

static void test_commas(void)
{
  char folder[] = "/tmp/tune-locale.XXXXXX";
  unlink(path);
  if (comma_locale_set(folder)) {
    check(in_child(keeps_halves), "an answer kept where numbers have commas");
    check(in_child(finds_halves), "is found there");
    comma_locale_reset(folder);
    check(in_child(finds_halves), "and where they have points");
  } else {
    check_skip("there is no locale with commas");
    comma_locale_reset(folder);
  }
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/shunt-tune.%ld", (long)getpid());
  unlink(path);
  check(in_child(nothing_known), "no file, no answer");
  check(in_child(keeps_the_first), "the first answer for a problem stays");
  check(in_child(finds_both), "the next process finds the answers");
  test_files();
  test_math();
  test_refused();
  test_full_disk();
  test_commas();
  unlink(path);
  return check_finish();
}
