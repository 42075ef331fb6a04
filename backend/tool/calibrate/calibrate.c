/* calibrate.c: shunt calibrate: timings, measured or of a file -> a table of costs -> what that is
   worth.  */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/calibrate/calibrate.h"

static const char help[] =
    "Usage: shunt calibrate [OPTION]... [SOURCE]...\n"
    "Measure what products of made-up matrices, and of each SOURCE (as of shunt\n"
    "bench: a file, a pattern), take on this GPU, by Shunt's kernels and by cuSPARSE,\n"
    "and fit the table of costs by which ways are chosen.  Prints how far off the\n"
    "fit is, what the choice by it is worth on matrices that are left out of it, and\n"
    "which products would go another way.  The table is left in the user's cache\n"
    "folder, where programs under Shunt on this machine find it; not if the built-in\n"
    "one chooses better by more than 0.2 %.\n"
    "\n"
    "      --from FILE          fit to the timings of FILE; needs no GPU\n"
    "      --save-timings FILE  write what was measured, for --from\n"
    "      --minutes N          measure for at most N minutes, 1 to 10 [10]\n"
    "  -o, --output TABLE       write the table to TABLE alone, whatever it is worth\n"
    "  -v, --verbose            each type and width, and all products that change\n"
    "  -h, --help               print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 no GPU, timings that are not understood, or a file\n"
    "that cannot be written; 2 usage.  SHUNT_COSTS=TABLE uses a table by name.\n";

enum { OPT_FROM = 256, OPT_SAVE, OPT_MINUTES };
static const struct option options[] = {{"from", required_argument, NULL, OPT_FROM},
                                        {"save-timings", required_argument, NULL, OPT_SAVE},
                                        {"minutes", required_argument, NULL, OPT_MINUTES},
                                        {"output", required_argument, NULL, 'o'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

struct request {
  const char *from, *save, *output;
  int minutes;
  bool verbose;
};

/* ---- a table and its worth ------------------------------------------------------------------ */

struct tables {
  struct shunt_cost_table base, fitted; /* built in, for this machine; with the fitted lines */
  struct shunt_cost_table in_use;       /* by which ways are chosen now */
  struct calibrate_residual residual[CALIBRATE_LINES];
};

static void find_tables(const struct calibrate_timings *t, struct tables *b)
{
  const struct shunt_costs_here here = {.gpu = t->gpu,
                                        .multiprocessors = t->device.multiprocessors,
                                        .signature = t->signature,
                                        .named = tool_option_text("SHUNT_COSTS")};
  shunt_costs_choose(t->gpu, t->device.multiprocessors, &b->base);
  shunt_costs_find(&here, &b->in_use);
  calibrate_put_version_first(&b->base, t->cusparse);
}

static void print_residuals(const struct calibrate_residual *of)
{
  int others = 0;
  puts("fitted, and by which factor a case is usually off:");
  for (int i = 0; i < CALIBRATE_LINES; i++) {
    const struct calibrate_line *l = &calibrate_lines[i];
    others += of[i].cases == 0;
    if (of[i].cases)
      printf("  %-24s %4d cases of %2d matrices, %.2f off\n", l->name, of[i].cases, of[i].matrices,
             of[i].off);
  }
  if (others)
    printf("  %d more that could be are as built in: fewer than %d matrices tell of each\n", others,
           (int)CALIBRATE_LEAST_MATRICES);
}

static int write_table(const struct request *r, const struct calibrate_timings *t,
                       const struct tables *b, bool better)
{
  const struct calibrate_table table = {t, &b->fitted, b->residual};
  if (!better && !r->output) {
    puts("no table is written: the built-in one chooses better (-o TABLE writes it all the same)");
    return EXIT_OK;
  }
  if (!calibrate_write(&table, r->output)) return EXIT_BAD;
  const char *named = tool_option_text("SHUNT_COSTS");
  if (named && !r->output) printf("SHUNT_COSTS=%s comes before it\n", named);
  return EXIT_OK;
}

/* A matrix that is left out tells less than one that the built-in table was fitted to: so much more
   regret, of 1, is none. */
static const double as_good = 0.002;

/* What the choices are worth, and what changes; the status. */
static int judge(const struct request *r, const struct calibrate_timings *t,
                 const struct calibrate_fit *fit, const struct tables *b)
{
  int *left_out = calibrate_choices(t, fit, NULL), *built_in = calibrate_choices(t, NULL, &b->base);
  int *now = calibrate_choices(t, NULL, &b->in_use), *then = calibrate_choices(t, NULL, &b->fitted);
  int status = EXIT_BAD;
  if (left_out && built_in && now && then) {
    puts("the choice between cuSPARSE, csr, bundle and sorted, each matrix left out of its own "
         "fit:");
    const double fitted = calibrate_print_regret(t, left_out, r->verbose);
    puts("by the built-in table:");
    const double before = calibrate_print_regret(t, built_in, r->verbose);
    calibrate_print_changes(t, now, then, r->verbose);
    status = write_table(r, t, b, fitted <= before + as_good);
  }
  free(left_out);
  free(built_in);
  free(now);
  free(then);
  return status;
}

static int fit_and_judge(const struct request *r, const struct calibrate_timings *t)
{
  struct tables b;
  printf("%s, cuSPARSE %d.%d: %d cases of %d matrices\n", t->gpu, t->cusparse / 10,
         t->cusparse % 10, t->count, t->matrices);
  if (t->matrices <= CALIBRATE_LEAST_MATRICES) {
    tool_say("calibrate: a fit takes more than %d matrices", (int)CALIBRATE_LEAST_MATRICES);
    return EXIT_BAD;
  }
  find_tables(t, &b);
  struct calibrate_fit *fit = calibrate_fit_make(t, &b.base);
  if (!fit) return EXIT_BAD;
  calibrate_fit_lines(fit, -1, &b.fitted);
  calibrate_residuals(fit, &b.fitted, b.residual);
  print_residuals(b.residual);
  const int status = judge(r, t, fit, &b);
  calibrate_fit_free(fit);
  return status;
}

/* ---- options -------------------------------------------------------------------------------- */

static bool parse_option(int c, struct request *r)
{
  int64_t number[TOOL_LIST];
  switch (c) {
  case OPT_FROM: r->from = optarg; return true;
  case OPT_SAVE: r->save = optarg; return true;
  case OPT_MINUTES:
    if (tool_parse_sizes("--minutes", optarg, 10, number) != 1) return false;
    r->minutes = (int)number[0];
    return true;
  case 'o': r->output = optarg; return true;
  default: r->verbose = true; return true; /* 'v' */
  }
}

static int calibrate(int argc, char **argv)
{
  struct request r = {.minutes = 10};
  struct calibrate_timings t;
  int c;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":o:vh", options, NULL)) != -1) {
    if (c == '?' || c == ':') return tool_bad_option("calibrate", c, argv, options);
    if (c == 'h') {
      fputs(help, stdout);
      return EXIT_OK;
    }
    if (!parse_option(c, &r)) return EXIT_USAGE;
  }
  if (optind < argc && r.from) return tool_bad_usage("calibrate", "--from measures no SOURCE");
  if (r.from && r.save) return tool_bad_usage("calibrate", "--from has the timings already");
  if (!(r.from ? calibrate_read(r.from, &t)
               : calibrate_measure(r.minutes, argv + optind, argc - optind, &t)))
    return EXIT_BAD;
  const bool saved = !r.save || calibrate_save(r.save, &t);
  int status = fit_and_judge(&r, &t);
  if (!saved || fflush(stdout) != 0) status = EXIT_BAD;
  calibrate_free(&t);
  return status;
}

const struct tool_command tool_calibrate = {"calibrate", help, calibrate};
