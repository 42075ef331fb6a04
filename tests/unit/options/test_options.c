/* Options: the table, the nearest name, values, the configuration file and what of it is refused,
   what is said and how often, and programs with more rights than their user.  */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/options/disable.h"
#include "backend/options/options.h"
#include "backend/options/user_folder.h"
#include "tests/unit/check.h"

static char folder[64], path[96];

static void clear(void)
{
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) unsetenv(shunt_option_table[i].name);
}

/* What is read now; the complaints are counted, and the first is kept. */
static struct shunt_options_reading r;
static struct shunt_complaints complaints;
static const struct shunt_options *read_now(void)
{
  complaints = (struct shunt_complaints){.to = NULL};
  shunt_options_read(&r, &complaints);
  return &r.options;
}
static bool said(int count, const char *first)
{
  return complaints.count == count && (count == 0 || strcmp(complaints.first, first) == 0);
}
static struct shunt_option_setting setting(const char *name)
{
  return r.setting[shunt_option_index(name)];
}

/* ---- table and names ------------------------------------------------------------------ */

static void test_table(void)
{
  bool good = true;
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    const struct shunt_option *o = &shunt_option_table[i];
    good = good && o->name && strncmp(o->name, "SHUNT_", 6) == 0 && o->otherwise && o->sentence &&
           o->sentence[strlen(o->sentence) - 1] == '.' && shunt_option_index(o->name) == i &&
           !shunt_option_is_of_tests(o->name) &&
           (o->kind == SHUNT_OPTION_WORD) == (o->words != NULL);
  }
  check(good, "each row has a name of its own, a default and a sentence");
  check(shunt_option_index("SHUNT_") == -1 && shunt_option_index("") == -1, "no row has no name");
}

static void test_nearest(void)
{
  static const struct {
    const char *a, *b;
    int distance;
  } pairs[] = {{"", "", 0},       {"", "abc", 3},           {"abc", "", 3},
               {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2},
               {"ab", "ba", 2}};
  static const char *const names[][2] = {{"SHUNT_ROUTE", "SHUNT_ROUTES"},
                                         {"SHUNT_LOGFILE", "SHUNT_LOG_FILE"},
                                         {"SHUNT_DETERMINSTIC", "SHUNT_DETERMINISTIC"},
                                         {"SHUNT_CACHE", "SHUNT_CACHE_MB"},
                                         {"SHUNT_DISABLED", "SHUNT_DISABLE"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    check(shunt_edit_distance(pairs[i].a, pairs[i].b) == pairs[i].distance,
          "'%s' to '%s': %d letters", pairs[i].a, pairs[i].b, pairs[i].distance);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    check(strcmp(shunt_option_table[shunt_option_nearest(names[i][0])].name, names[i][1]) == 0,
          "%s is nearest to %s", names[i][1], names[i][0]);
}

/* ---- the environment ------------------------------------------------------------------ */

static void test_defaults(void)
{
  clear();
  const struct shunt_options *o = read_now();
  check(o->routes == ~(uint32_t)0 && o->engines == 3 && !o->engines_forced &&
            o->math == SHUNT_MATH_EXACT && o->log == SHUNT_LOG_NONE && !o->deterministic &&
            !o->tune && !o->verify && !o->disable && !o->strict && o->cache_bytes == -1 &&
            o->fault == -1 && o->leave == -1 && !o->log_file[0] && !o->report[0] &&
            !o->tune_file[0],
        "nothing set: the defaults");
  check(said(0, ""), "and nothing to say");
}

static void test_values(void)
{
  clear();
  setenv("SHUNT_MATH", "tf32x3", 1);
  setenv("SHUNT_LOG", "dispatch", 1);
  setenv("SHUNT_ASSUME", "frozen", 1);
  setenv("SHUNT_CACHE_MB", "3", 1);
  setenv("SHUNT_DETERMINISTIC", "1", 1);
  setenv("SHUNT_VERIFY", "0", 1);
  setenv("SHUNT_REPORT", "/a b", 1);
  setenv("SHUNT_FAULT", "0", 1);
  setenv("SHUNT_LEAVE", "16", 1);
  setenv("SHUNT_ROUTES", "host", 1);
  const struct shunt_options *o = read_now();
  check(o->math == SHUNT_MATH_TF32X3 && o->log == SHUNT_LOG_DISPATCH && o->cache_bytes == 3 << 20 &&
            o->deterministic && o->assume == SHUNT_ASSUME_FROZEN && !o->verify &&
            strcmp(o->report, "/a b") == 0 && o->fault == 0 && o->leave == 16,
        "each kind of value is read");
  check(o->routes == 0 && o->engines == SHUNT_ENGINE_HOST && o->engines_forced,
        "a list of routes forces what it names");
  check(said(0, ""), "and nothing to say");
  check(setting("SHUNT_MATH").source == SHUNT_FROM_ENVIRONMENT &&
            strcmp(setting("SHUNT_MATH").text, "tf32x3") == 0 &&
            setting("SHUNT_TUNE").source == SHUNT_FROM_DEFAULT && !setting("SHUNT_TUNE").text,
        "with where it is from");
}

static void test_bad_values(void)
{
  static const char *const bad[][3] = {{"SHUNT_MATH", "TF32", "exact, tf32, tf32x3"},
                                       {"SHUNT_LOG", "all", "none, dispatch"},
                                       {"SHUNT_ASSUME", "1", "nothing, frozen"},
                                       {"SHUNT_CACHE_MB", "-1", "a whole number"},
                                       {"SHUNT_CACHE_MB", "12x", "a whole number"},
                                       {"SHUNT_CACHE_MB", "1099511627776", "a whole number"},
                                       {"SHUNT_TUNE", "yes", "0, 1"},
                                       {"SHUNT_DISABLE", "10", "0, 1"},
                                       {"SHUNT_ROUTES", "host,fast", "all, none, host, cuda"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char wanted[256];
    struct shunt_options plain;
    clear();
    plain = *read_now();
    setenv(bad[i][0], bad[i][1], 1);
    snprintf(wanted, sizeof wanted, "%s=%s is not understood; accepted: %s", bad[i][0], bad[i][1],
             bad[i][2]);
    check(memcmp(read_now(), &plain, sizeof plain) == 0 && said(1, wanted) &&
              setting(bad[i][0]).source == SHUNT_FROM_DEFAULT,
          "%s=%s: the default, and a line: %s", bad[i][0], bad[i][1], complaints.first);
  }
  char longest[SHUNT_OPTION_PATH_BYTES + 1];
  memset(longest, 'x', sizeof longest);
  longest[SHUNT_OPTION_PATH_BYTES] = 0;
  clear();
  setenv("SHUNT_REPORT", longest, 1);
  check(!read_now()->report[0] && complaints.count == 1, "a path that is too long is told");
  setenv("SHUNT_REPORT", longest + 1, 1);
  check(read_now()->report[0] && complaints.count == 0, "the longest path is taken");
}

static void test_unknown_names(void)
{
  clear();
  setenv("SHUNT_ROUTE", "csr", 1);
  read_now();
  check(said(1, "SHUNT_ROUTE is not known; the nearest name is SHUNT_ROUTES"), "%s",
        complaints.first);
  setenv("SHUNT_TEST_EVERY", "7", 1);
  setenv("SHUNT_EMULATOR_SEED", "1", 1);
  setenv("SHUNTED", "1", 1);
  read_now();
  check(complaints.count == 1, "names of the tests and of others are none of ours");
  unsetenv("SHUNT_ROUTE");
  unsetenv("SHUNT_TEST_EVERY");
  unsetenv("SHUNT_EMULATOR_SEED");
  unsetenv("SHUNTED");
}

/* ---- the file ------------------------------------------------------------------------- */

static void write_file(const char *text, size_t bytes)
{
  unlink(path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes) check(false, "%s is written", path);
  if (fd >= 0) close(fd);
}

static const struct shunt_options *read_file(const char *text)
{
  clear();
  write_file(text, strlen(text));
  setenv("SHUNT_CONFIG", path, 1);
  return read_now();
}

/* Complaints of lines begin with the file's name. */
static bool said_at(int line, const char *text)
{
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%s:%d: %s", path, line, text);
  return said(1, wanted);
}

static void test_file(void)
{
  const struct shunt_options *o =
      read_file("# a comment\n\nSHUNT_MATH=tf32\r\n  SHUNT_CACHE_MB =\t5 \nSHUNT_TUNE=0\n"
                "SHUNT_TUNE=1\nSHUNT_TEST_EVERY=3\nSHUNT_REPORT=/a=b");
  check(
      o->math == SHUNT_MATH_TF32 && o->cache_bytes == 5 << 20 && o->tune &&
          strcmp(o->report, "/a=b") == 0 && said(0, ""),
      "lines NAME=VALUE, comments, blanks, a last line without an end; the last of a name counts");
  check(setting("SHUNT_MATH").source == SHUNT_FROM_FILE, "with where it is from");
  setenv("SHUNT_MATH", "tf32x3", 1);
  setenv("SHUNT_TUNE", "", 1);
  o = read_now();
  check(o->math == SHUNT_MATH_TF32X3 && !o->tune && o->cache_bytes == 5 << 20,
        "the environment goes before the file, also where it is empty");
  read_file("SHUNT_TUNE=1\nSHUNT_MATHS=tf32\n");
  check(r.options.tune && said_at(2, "SHUNT_MATHS is not known; the nearest name is SHUNT_MATH"),
        "%s", complaints.first);
  read_file("SHUNT_TUNE\n");
  check(said_at(1, "'SHUNT_TUNE' is not NAME=VALUE"), "%s", complaints.first);
  read_file("\nSHUNT_CONFIG=/other\n");
  check(said_at(2, "SHUNT_CONFIG counts in the environment only"), "%s", complaints.first);
  read_file("SHUNT_TUNE=maybe\n");
  check(!r.options.tune && said(1, "SHUNT_TUNE=maybe is not understood; accepted: 0, 1"), "%s",
        complaints.first);
}

/* Nothing of the file counts, and one line says why. */
static void expect_refused(const char *why)
{
  char wanted[256];
  snprintf(wanted, sizeof wanted, "SHUNT_CONFIG=%s is not used: %s", path, why);
  read_now();
  check(!r.options.tune && said(1, wanted), "refused: %s", complaints.first);
}

static void test_refused_files(void)
{
  static const char good[] = "SHUNT_TUNE=1\n";
  static char large[SHUNT_CONFIG_BYTES];
  char other[128];
  check(read_file(good)->tune, "a file of the user's own is read");
  chmod(path, 0620);
  expect_refused("others may write it");
  chmod(path, 0602);
  expect_refused("others may write it");
  snprintf(other, sizeof other, "%s/other", folder);
  chmod(path, 0600);
  rename(path, other);
  if (symlink(other, path) != 0) check(false, "a link is made");
  expect_refused("it is a symbolic link");
  unlink(other);
  unlink(path);
  expect_refused("it could not be opened");
  mkdir(path, 0700);
  expect_refused("it is no regular file");
  rmdir(path);
  write_file("SHUNT_TUNE=1\n\0SHUNT_TUNE=1\n", 27);
  expect_refused("it is no text");
  memset(large, '\n', sizeof large);
  memcpy(large, good, sizeof good - 1);
  write_file(large, sizeof large);
  expect_refused("it is larger than 16 KiB");
  write_file(large, sizeof large - 1);
  check(read_now()->tune && said(0, ""), "the largest file is read");
  if (geteuid() == 0) {
    write_file(good, sizeof good - 1);
    if (chown(path, 65534, 65534) == 0) expect_refused("it belongs to another user");
  }
  unlink(path);
}

/* ---- once a process ------------------------------------------------------------------- */

extern atomic_flag shunt_options_warned;

/* What body() says on stderr in a child; "?" where it did not answer 0. */
static const char *in_child(int (*body)(void))
{
  static char text[1024];
  int ends[2], status = 1;
  ssize_t n = 0, got;
  fflush(stdout);
  if (pipe(ends) != 0) return "?";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    _exit(body());
  }
  close(ends[1]);
  while ((got = read(ends[0], text + n, sizeof text - 1 - (size_t)n)) > 0) n += got;
  text[n] = 0;
  close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? text : "?";
}

static int ask_twice(void)
{
  return shunt_options() != shunt_options() || shunt_options()->math != SHUNT_MATH_EXACT;
}
static int ask_after_another(void)
{
  atomic_flag_test_and_set(&shunt_options_warned);
  return ask_twice();
}
static int is_disabled(void)
{
  return !(shunt_disabled() && shunt_disabled() && shunt_disabled_state == 1);
}
static int is_enabled(void)
{
  return shunt_disabled() || shunt_disabled() || shunt_disabled_state != -1;
}

static void test_once(void)
{
  clear();
  check(!*in_child(ask_twice), "nothing set: nothing said");
  setenv("SHUNT_MATH", "fast", 1);
  check(strcmp(in_child(ask_twice), "shunt: SHUNT_MATH=fast is not understood; accepted: exact, "
                                    "tf32, tf32x3\n") == 0,
        "one line, once");
  setenv("SHUNT_TUNE", "2", 1);
  setenv("SHUNT_ROUTE", "all", 1);
  check(strcmp(in_child(ask_twice), "shunt: SHUNT_MATH=fast is not understood; accepted: exact, "
                                    "tf32, tf32x3; and 2 more: see `shunt options`\n") == 0,
        "three things wrong: one line");
  check(!*in_child(ask_after_another), "another library has said it: nothing");
  unsetenv("SHUNT_ROUTE");
}

static void test_disable(void)
{
  clear();
  check(!*in_child(is_enabled), "SHUNT_DISABLE unset: on");
  setenv("SHUNT_DISABLE", "1", 1);
  check(!*in_child(is_disabled), "SHUNT_DISABLE=1: off");
  setenv("SHUNT_DISABLE", "true", 1);
  check(!*in_child(is_enabled), "what is not understood leaves it on, in silence");
  clear();
  write_file("SHUNT_DISABLE=1\n", 16);
  setenv("SHUNT_CONFIG", path, 1);
  check(!*in_child(is_disabled), "by the file: off");
  setenv("SHUNT_DISABLE", "0", 1);
  check(!*in_child(is_enabled), "the environment goes before it: on");
  chmod(path, 0666);
  unsetenv("SHUNT_DISABLE");
  check(!*in_child(is_enabled), "not by a file that others may write");
  unlink(path);
}

/* ---- more rights than the user -------------------------------------------------------- */

enum { SECURE_NOT = 77 };

/* A copy of this program that belongs to another user, run with that user's rights. */
static int secure(void)
{
  if (!getauxval(AT_SECURE)) return SECURE_NOT;
  char cache[PATH_MAX];
  const struct shunt_options *o = shunt_options();
  const bool files = o->report[0] || o->log_file[0] || o->tune_file[0] || o->costs[0];
  return o->math != SHUNT_MATH_EXACT || o->tune || shunt_disabled() || files ||
         shunt_user_folder(cache);
}

static int become_secure(void)
{
  execl(path, "test_options", "secure", (char *)NULL);
  return 1;
}

static bool copy_program(void)
{
  static char buffer[1 << 16];
  FILE *from = fopen("/proc/self/exe", "r"), *to = fopen(path, "w");
  size_t n;
  while (from && to && (n = fread(buffer, 1, sizeof buffer, from)) > 0) fwrite(buffer, 1, n, to);
  const bool good = from && to && !ferror(from) && !ferror(to);
  if (from) fclose(from);
  return to && fclose(to) == 0 && good && chmod(folder, 0755) == 0 &&
         chown(path, 65534, 65534) == 0 && chmod(path, 04755) == 0;
}

static void test_secure(void)
{
  clear();
  if (geteuid() != 0 || !copy_program()) {
    check_skip("not root: no program with other rights can be made");
    return;
  }
  const pid_t child = fork();
  int status = 1;
  if (child == 0) _exit(become_secure());
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
      WEXITSTATUS(status) == SECURE_NOT) {
    check_skip("this file system gives no rights");
  } else {
    setenv("SHUNT_MATH", "tf32", 1);
    setenv("SHUNT_TUNE", "1", 1);
    setenv("SHUNT_VERIFY", "7", 1);
    setenv("SHUNT_DISABLE", "1", 1);
    setenv("SHUNT_NONSENSE", "1", 1);
    setenv("SHUNT_CONFIG", "/nonsense", 1);
    setenv("SHUNT_REPORT", "/nonsense", 1);
    setenv("SHUNT_LOG_FILE", "/nonsense", 1);
    setenv("SHUNT_TUNE_FILE", "/nonsense", 1);
    setenv("SHUNT_COSTS", "/nonsense", 1);
    check(!*in_child(become_secure), "setuid: the environment does not count, and nothing is said");
    unsetenv("SHUNT_NONSENSE");
    clear();
  }
  unlink(path);
}

int main(int argc, char **argv)
{
  /* At once: sanitizers that end in order would speak of what another user may not do. */
  if (argc > 1 && strcmp(argv[1], "secure") == 0) _exit(secure());
  snprintf(folder, sizeof folder, "/tmp/shunt-options.XXXXXX");
  if (!mkdtemp(folder)) return 2;
  snprintf(path, sizeof path, "%s/file", folder);
  unsetenv("SHUNT_SRCDIR");
  test_table();
  test_nearest();
  test_defaults();
  test_values();
  test_bad_values();
  test_unknown_names();
  test_file();
  test_refused_files();
  test_once();
  test_disable();
  test_secure();
  rmdir(folder);
  return check_finish();
}
