/* run.c: shunt run -- program arguments. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "backend/routes/words.h"
#include "backend/tool/report/run_report.h"

static const char help[] =
    "Usage: shunt run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Run PROGRAM with its cuSPARSE and GraphBLAS calls rerouted; at the end print to\n"
    "stderr which calls were taken and by what, which were left to the original and\n"
    "why, and what it saved (an estimate, unless --measure is given).\n"
    "\n"
    "  -r, --report FILE   FILE.html: a page to look at; others: the report's lines\n"
    "      --json FILE     write the same as a JSON object, for programs\n"
    "  -x, --explain       log each new decision as it is made (SHUNT_LOG=dispatch)\n"
    "      --routes LIST   routes that may be used: all, none, or some of\n"
    "                      csr,bundle,sorted,vector,sparse24,srbcrs,tile,\n"
    "                      dense,bsr (cuSPARSE), host,cuda (GraphBLAS)\n"
    "      --measure       measure what was saved, in 1 % of the run\n"
    "                      (SHUNT_MEASURE=1)\n"
    "      --strict        fail if a call was left to the original (SHUNT_STRICT=1)\n"
    "      --require LIST  fail if one of these routes or engines took no call\n"
    "      --dlsym         also serve programs that bind by handle, as JAX (default)\n"
    "      --no-dlsym      do not: leave the program's dlsym alone\n"
    "  -h, --help          print this text and exit\n"
    "\n"
    "Exit status: PROGRAM's own; 128 + N when signal N ended it; 2 usage; 123\n"
    "--strict or --require is not met, and PROGRAM's own was 0; 125 Shunt could not\n"
    "start it; 126 PROGRAM cannot be executed; 127 PROGRAM was not found.\n";

enum { OPT_ROUTES = 256, OPT_JSON, OPT_MEASURE, OPT_STRICT, OPT_REQUIRE, OPT_DLSYM, OPT_NO_DLSYM };
static const struct option options[] = {{"report", required_argument, NULL, 'r'},
                                        {"json", required_argument, NULL, OPT_JSON},
                                        {"explain", no_argument, NULL, 'x'},
                                        {"routes", required_argument, NULL, OPT_ROUTES},
                                        {"measure", no_argument, NULL, OPT_MEASURE},
                                        {"strict", no_argument, NULL, OPT_STRICT},
                                        {"require", required_argument, NULL, OPT_REQUIRE},
                                        {"dlsym", no_argument, NULL, OPT_DLSYM},
                                        {"no-dlsym", no_argument, NULL, OPT_NO_DLSYM},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

struct run_options {
  const char *report; /* lines or page; NULL: none asked for */
  const char *json;
  char routes[256], require[256]; /* "": none given */
  bool explain, measure, strict, dlsym;
};

/* A list of routes with the names that they have today; false, and a message: it is too long, or
   has a word that is not among the `accepted`.  */
static bool todays_words(const char *option, const char *list, const char *const *accepted,
                         char *to, size_t size)
{
  char copy[256], *rest;
  size_t used = 0;
  int word[TOOL_LIST];
  snprintf(copy, sizeof copy, "%s", list);
  *to = 0;
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
    used += (size_t)snprintf(to + (used < size ? used : size), size - (used < size ? used : size),
                             "%s%s", used ? "," : "", shunt_route_word(word));
  if (used < size && strlen(list) < sizeof copy)
    return tool_parse_words(option, to, accepted, word);
  tool_say("%s: the list is too long", option);
  return false;
}

/* EXIT_OK and optind at the program, or the status to exit with; -1: help was asked for. */
static int parse(int argc, char **argv, struct run_options *o)
{
  static const char *const routes[] = {"all",    "none",     "csr",    "bundle", "sorted",
                                       "vector", "sparse24", "srbcrs", "tile",   "dense",
                                       "bsr",    "host",     "cuda",   NULL};
  int c;
  *o = (struct run_options){.dlsym = true, .strict = tool_option_strict()};
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, "+:r:xh", options, NULL)) != -1) {
    switch (c) {
    case 'r': o->report = optarg; break;
    case OPT_JSON: o->json = optarg; break;
    case 'x': o->explain = true; break;
    case OPT_ROUTES:
      if (!todays_words("--routes", optarg, routes, o->routes, sizeof o->routes)) return EXIT_USAGE;
      break;
    case OPT_MEASURE: o->measure = true; break;
    case OPT_STRICT: o->strict = true; break;
    case OPT_REQUIRE: /* all but "all" and "none" */
      if (!todays_words("--require", optarg, routes + 2, o->require, sizeof o->require))
        return EXIT_USAGE;
      break;
    case OPT_DLSYM: o->dlsym = true; break;
    case OPT_NO_DLSYM: o->dlsym = false; break;
    case 'h': fputs(help, stdout); return -1;
    default: return tool_bad_option("run", c, argv, options);
    }
  }
  if (optind < argc) return EXIT_OK;
  return tool_bad_usage("run", "no program given");
}

/* Is the report asked for as a page? */
static bool is_page(const char *path)
{
  const char *dot = path ? strrchr(path, '.') : NULL;
  return dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

/* Empties a file, so that it is known before the run that it can be written; NULL: none. */
static bool make_file(const char *path)
{
  FILE *f = path ? fopen(path, "w") : NULL;
  if (path && !f) tool_say("%s: %s", path, strerror(errno));
  if (f) fclose(f);
  return !path || f;
}

/* The folder where the libraries leave their lines. */
static char *make_report(const struct run_options *o)
{
  if (!make_file(o->json) || !make_file(o->report)) return NULL;
  return run_report_folder_make(o->report ? o->report : o->json);
}

/* The lines as they are, in the file that was asked for. */
static void keep_lines(const char *folder, const char *path)
{
  FILE *f = fopen(path, "w");
  bool good = f && run_report_folder_copy(folder, f);
  if (f && fclose(f) != 0) good = false;
  if (!good) tool_say("%s: %s", path, strerror(errno));
}

static double seconds_of(clockid_t clock)
{
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes the page or the object; what fails is said, and changes nothing else. */
static void write_file(const char *path, struct run_report *r, const struct run_end *run,
                       bool (*print)(struct run_report *, const struct run_end *, FILE *))
{
  FILE *f = fopen(path, "w");
  bool good = f && print(r, run, f);
  if (f && fclose(f) != 0) good = false;
  if (!good) tool_say("%s: %s", path, strerror(errno));
}

/* Tells of the run; false: a demand is not met, or there is no report to tell. */
static bool tell(const char *lines, const struct run_options *o, const struct run_end *run)
{
  const struct run_demands demands = {o->strict, o->require[0] ? o->require : NULL};
  struct run_report r;
  if (!run_report_read(lines, &r)) {
    tool_say("%s: %s", lines, strerror(errno));
    return !demands.strict && !demands.require;
  }
  const bool met = run_report_print(&r, run->end, &demands, stderr);
  if (o->report && !is_page(o->report)) keep_lines(lines, o->report);
  if (is_page(o->report)) write_file(o->report, &r, run, run_report_page);
  if (o->json) write_file(o->json, &r, run, run_report_json);
  run_report_free(&r);
  return met;
}

static int run_program(int argc, char **argv)
{
  struct run_options o;
  int status = parse(argc, argv, &o);
  if (status != EXIT_OK) return status < 0 ? EXIT_OK : status;

  char *report = NULL, *preload = launch_find_preload(o.dlsym);
  status = EXIT_RUN_SELF;
  if (preload && (report = make_report(&o))) {
    struct launch l = {.argv = argv + optind,
                       .preload = preload,
                       .report = report,
                       .routes = o.routes[0] ? o.routes : NULL,
                       .explain = o.explain,
                       .measure = o.measure};
    const double start = seconds_of(CLOCK_MONOTONIC);
    struct run_end run = {.argv = l.argv, .started = seconds_of(CLOCK_REALTIME)};
    const struct launch_end end = launch_program(&l);
    run.end = &end;
    run.seconds = seconds_of(CLOCK_MONOTONIC) - start;
    const bool met = !end.ran || tell(report, &o, &run);
    run_report_folder_remove(report);
    status = end.status == EXIT_OK && !met ? EXIT_RUN_UNMET : end.status;
  }
  free(report);
  free(preload);
  return status;
}

const struct tool_command tool_run = {"run", help, run_program};
