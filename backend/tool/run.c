/* run.c: shunt run -- program arguments. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/routes/words.h"
#include "backend/tool/tool.h"

static const char help[] =
    "Usage: shunt run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Run PROGRAM with its cuSPARSE and GraphBLAS calls rerouted; at the end print to\n"
    "stderr which calls were taken and by what, which were left to the original and\n"
    "why, and what it saved (estimated device time).\n"
    "\n"
    "  -r, --report FILE   keep the report's lines in FILE\n"
    "  -x, --explain       log each new decision as it is made (SHUNT_LOG=dispatch)\n"
    "      --routes LIST   routes that may be used: all, none, or some of\n"
    "                      csr,bundle,vector,sparse24,srbcrs,tile,dense,bsr\n"
    "                      (cuSPARSE), host,cuda (GraphBLAS)\n"
    "      --strict        fail if a call was left to the original (SHUNT_STRICT=1)\n"
    "      --require LIST  fail if one of these routes or engines took no call\n"
    "      --dlsym         also serve programs that bind cuSPARSE by handle, as JAX\n"
    "                      (the default)\n"
    "      --no-dlsym      do not: leave the program's dlsym alone\n"
    "  -h, --help          print this text and exit\n"
    "\n"
    "Exit status: PROGRAM's own; 128 + N when signal N ended it; 2 usage; 123\n"
    "--strict or --require is not met, and PROGRAM's own was 0; 125 Shunt could not\n"
    "start it; 126 PROGRAM cannot be executed; 127 PROGRAM was not found.\n";

enum { OPT_ROUTES = 256, OPT_STRICT, OPT_REQUIRE, OPT_DLSYM, OPT_NO_DLSYM };
static const struct option options[] = {{"report", required_argument, NULL, 'r'},
                                        {"explain", no_argument, NULL, 'x'},
                                        {"routes", required_argument, NULL, OPT_ROUTES},
                                        {"strict", no_argument, NULL, OPT_STRICT},
                                        {"require", required_argument, NULL, OPT_REQUIRE},
                                        {"dlsym", no_argument, NULL, OPT_DLSYM},
                                        {"no-dlsym", no_argument, NULL, OPT_NO_DLSYM},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

struct run_options {
  const char *report;
  char routes[256], require[256]; /* "": none given */
  bool explain, strict, dlsym;
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
  static const char *const routes[] = {"all",      "none",   "csr",  "bundle", "vector",
                                       "sparse24", "srbcrs", "tile", "dense",  "bsr",
                                       "host",     "cuda",   NULL};
  int c;
  *o = (struct run_options){.dlsym = true, .strict = tool_option_strict()};
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, "+:r:xh", options, NULL)) != -1) {
    switch (c) {
    case 'r': o->report = optarg; break;
    case 'x': o->explain = true; break;
    case OPT_ROUTES:
      if (!todays_words("--routes", optarg, routes, o->routes, sizeof o->routes)) return EXIT_USAGE;
      break;
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

/* An empty file for the report; absolute, as the program may change its folder. */
static char *make_report(const char *asked)
{
  if (!asked) return tool_temporary("shunt-report");
  FILE *f = fopen(asked, "w");
  if (f) fclose(f);
  char *path = f ? realpath(asked, NULL) : NULL;
  if (!path) tool_say("%s: %s", asked, strerror(errno));
  return path;
}

static int run_program(int argc, char **argv)
{
  struct run_options o;
  int status = parse(argc, argv, &o);
  if (status != EXIT_OK) return status < 0 ? EXIT_OK : status;

  char *report = NULL, *preload = launch_find_preload(o.dlsym);
  status = EXIT_RUN_SELF;
  if (preload && (report = make_report(o.report))) {
    struct launch l = {.argv = argv + optind,
                       .preload = preload,
                       .report = report,
                       .routes = o.routes[0] ? o.routes : NULL,
                       .explain = o.explain};
    struct launch_end end = launch_program(&l);
    const struct run_demands demands = {o.strict, o.require[0] ? o.require : NULL};
    const bool met = !end.ran || run_report_print(report, &end, &demands, stderr);
    if (!o.report) unlink(report);
    status = end.status == EXIT_OK && !met ? EXIT_RUN_UNMET : end.status;
  }
  free(report);
  free(preload);
  return status;
}

const struct tool_command tool_run = {"run", help, run_program};
