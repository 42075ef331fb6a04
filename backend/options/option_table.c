#include "backend/options/option_table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/routes/route.h"

static const char *const math_words[] = {"exact", "tf32", "tf32x3", NULL};
static const char *const assume_words[] = {"nothing", "frozen", NULL};
static const char *const log_words[] = {"none", "dispatch", NULL};

#define PLACE(field) .place = offsetof(struct shunt_options, field)

const struct shunt_option shunt_option_table[SHUNT_OPTION_COUNT] = {
    {.name = "SHUNT_ROUTES",
     .otherwise = "all",
     .kind = SHUNT_OPTION_ROUTES,
     .sentence = "The routes and engines that may run: all, none, or a list with commas."},
    {.name = "SHUNT_MATH",
     .otherwise = "exact",
     .kind = SHUNT_OPTION_WORD,
     .words = math_words,
     PLACE(math),
     .sentence = "How products of fp32 operands may be computed: exact, tf32 or tf32x3."},
    {.name = "SHUNT_DETERMINISTIC",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(deterministic),
     .sentence = "With 1, the same bits on every run, from the first call on."},
    {.name = "SHUNT_ASSUME",
     .otherwise = "nothing",
     .kind = SHUNT_OPTION_WORD,
     .words = assume_words,
     PLACE(assume),
     .sentence = "What may be taken for granted of the program's matrices: nothing or frozen."},
    {.name = "SHUNT_EXTEND",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(extend),
     .sentence = "With 1, some calls that cuSPARSE refuses for their types are answered."},
    {.name = "SHUNT_CACHE_MB",
     .otherwise = "a tenth of the device's memory, a quarter while half of it is free",
     .kind = SHUNT_OPTION_MEGABYTES,
     PLACE(cache_bytes),
     .sentence = "Device memory, in MiB, for packed copies, on each device."},
    {.name = "SHUNT_LEAVE",
     .otherwise = "0",
     .kind = SHUNT_OPTION_NUMBER,
     PLACE(leave),
     .sentence = "Multiprocessors that persistent kernels leave to others, such as collectives."},
    {.name = "SHUNT_TUNE",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(tune),
     .sentence = "With 1, preprocess measures the routes and remembers the fastest."},
    {.name = "SHUNT_TUNE_FILE",
     .otherwise = "none",
     .kind = SHUNT_OPTION_PATH,
     PLACE(tune_file),
     .sentence = "A file that keeps these measurements from one process to the next."},
    {.name = "SHUNT_COSTS",
     .otherwise = "calibrated, else built in",
     .kind = SHUNT_OPTION_PATH,
     PLACE(costs),
     .sentence = "A file of what things take on this machine, by which ways are chosen."},
    {.name = "SHUNT_VERIFY",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(verify),
     .sentence = "With 1, matrices of GraphBLAS on a GPU are proved unchanged by a hash."},
    {.name = "SHUNT_DISABLE",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(disable),
     .sentence = "With 1, every call is handed to the original at once."},
    {.name = "SHUNT_STRICT",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(strict),
     .sentence = "With 1, shunt run fails if a call was left to the original."},
    {.name = "SHUNT_CONFIG",
     .otherwise = "none",
     .kind = SHUNT_OPTION_TEXT,
     .environment_only = true,
     .sentence = "A file of lines NAME=VALUE, for what the environment does not set."},
    {.name = "SHUNT_LOG",
     .otherwise = "none",
     .kind = SHUNT_OPTION_WORD,
     .words = log_words,
     PLACE(log),
     .sentence = "With dispatch, a line for each new decision and each profile."},
    {.name = "SHUNT_LOG_FILE",
     .otherwise = "standard error",
     .kind = SHUNT_OPTION_PATH,
     PLACE(log_file),
     .sentence = "The file that the log is appended to."},
    {.name = "SHUNT_REPORT",
     .otherwise = "none",
     .kind = SHUNT_OPTION_PATH,
     PLACE(report),
     .sentence = "Where a table of all decisions goes: a file, or a folder of one a process."},
    {.name = "SHUNT_MEASURE",
     .otherwise = "0",
     .kind = SHUNT_OPTION_SWITCH,
     PLACE(measure),
     .sentence = "With 1, a sample of the calls that are taken is timed both ways for the report."},
    {.name = "SHUNT_LIBDIR",
     .otherwise = "beside shunt",
     .kind = SHUNT_OPTION_TEXT,
     .sentence = "The folder of Shunt's libraries, for shunt run."},
    {.name = "SHUNT_DATA",
     .otherwise = "none",
     .kind = SHUNT_OPTION_TEXT,
     .sentence = "The folder of matrices that shunt bench --suite needs."},
    {.name = "SHUNT_FAULT",
     .otherwise = "none",
     .kind = SHUNT_OPTION_NUMBER,
     PLACE(fault),
     .sentence = "For Shunt's own tests: the call of its own that shall fail."},
};

/* What this tree's tests, ./bootstrap and packaging read; a name that ends with _ is a prefix. */
static const char *const of_tests[] = {
    "SHUNT_TEST_",          "SHUNT_EMULATOR_",    "SHUNT_FUZZ_",
    "SHUNT_PROPERTY_",      "SHUNT_SRCDIR",       "SHUNT_CUSPARSE_SO",
    "SHUNT_DLSYM_SO",       "SHUNT_GRAPHBLAS_SO", "SHUNT_SO",
    "SHUNT_GRAPHBLAS_A",    "SHUNT_LIBSHUNT_SO",  "SHUNT_LOOPS",
    "SHUNT_BOOTSTRAP_CUDA", "SHUNT_CONFIGURE",    "SHUNT_WHEEL_TOOLS",
};

int shunt_option_index(const char *name)
{
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++)
    if (strcmp(name, shunt_option_table[i].name) == 0) return i;
  return -1;
}

bool shunt_option_is_of_tests(const char *name)
{
  for (size_t i = 0; i < sizeof of_tests / sizeof *of_tests; i++) {
    const size_t n = strlen(of_tests[i]);
    if (strncmp(name, of_tests[i], n) == 0 && (name[n] == 0 || of_tests[i][n - 1] == '_'))
      return true;
  }
  return false;
}

/* The usual table, of which one row is kept: row[j] is the distance of a's first i letters to b's
   first j.  (Wagner and Fischer, 1974.)  */
int shunt_edit_distance(const char *a, const char *b)
{
  enum { MOST = 63 };
  int row[MOST + 1];
  const int m = (int)strnlen(a, MOST), n = (int)strnlen(b, MOST);
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; i <= m; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      const int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replaced < shorter ? replaced : shorter;
    }
  }
  return row[n];
}

static int common_letters(const char *a, const char *b)
{
  int n = 0;
  while (a[n] && a[n] == b[n]) n++;
  return n;
}

int shunt_option_nearest(const char *name)
{
  int nearest = 0, least = INT_MAX, common = 0;
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    const char *const other = shunt_option_table[i].name;
    const int distance = shunt_edit_distance(name, other), n = common_letters(name, other);
    if (distance > least || (distance == least && n <= common)) continue;
    least = distance;
    common = n;
    nearest = i;
  }
  return nearest;
}

static void add_word(char text[256], const char *word)
{
  const size_t used = strlen(text);
  snprintf(text + used, 256 - used, "%s%s", used ? ", " : "", word);
}

const char *shunt_option_accepted(const struct shunt_option *o, char text[256])
{
  *text = 0;
  switch (o->kind) {
  case SHUNT_OPTION_SWITCH: add_word(text, "0, 1"); break;
  case SHUNT_OPTION_NUMBER:
  case SHUNT_OPTION_MEGABYTES: add_word(text, "a whole number"); break;
  case SHUNT_OPTION_WORD:
    for (int i = 0; o->words[i]; i++) add_word(text, o->words[i]);
    break;
  case SHUNT_OPTION_PATH: add_word(text, "a path of at most 511 bytes"); break;
  case SHUNT_OPTION_ROUTES:
    add_word(text, "all, none");
    for (int i = 0; i < shunt_route_count(); i++) add_word(text, shunt_route_at(i)->name);
    add_word(text, "host, cuda");
    break;
  case SHUNT_OPTION_TEXT: add_word(text, "a path"); break;
  }
  return text;
}
