/* demo.c: shunt demo: one program on one matrix, without Shunt and with it.

   With a GPU: tests/clients/spmm_cusparse, an ordinary cuSPARSE program that
   knows nothing of Shunt, is run twice on the same file, without and with the
   preload, by the same code as `shunt run`.  Without one: the host engine.

   Of the client's output two lines are read:

     result us=12.3 ...            (or median_us=)
     ok - ... largest error 0.50 of one rounding   (or max_error=)  */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/bench/bench.h"
#include "backend/tool/report/run_report.h"

static const char help[] =
    "Usage: shunt demo [OPTION]... [FILE]\n"
    "The main job, before and after: a program that knows nothing of Shunt multiplies\n"
    "FILE (a matrix file or a made-up pattern, as for shunt bench; without it a\n"
    "random 4096 x 4096 matrix) by dense matrices through cuSPARSE, alone and under\n"
    "`shunt run`.  Without a GPU the same products run on the host engine.\n"
    "\n"
    "      --client PATH   the cuSPARSE program (tests/clients/spmm_cusparse)\n"
    "  -n, --columns LIST  columns of the dense matrix [64,256,1024; host: 64,256]\n"
    "  -t, --types LIST    f16, bf16, f32, f64 [f16; host: f32]\n"
    "  -v, --vector V      replace each stored entry by a V x 1 vector [1]\n"
    "  -h, --help          print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 malformed input, or a program failed; 2 usage.\n";

enum { OPT_CLIENT = 256 };
static const struct option options[] = {{"client", required_argument, NULL, OPT_CLIENT},
                                        {"columns", required_argument, NULL, 'n'},
                                        {"types", required_argument, NULL, 't'},
                                        {"vector", required_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
/* The first four of bench's type words. */
static const char *const type_words[] = {"f16", "bf16", "f32", "f64", NULL};

struct demo {
  const char *file;
  char client[PATH_MAX];
  int64_t n[TOOL_LIST];
  int n_count, types[TOOL_LIST], type_count, v;
};

/* What one run of the client said. */
struct outcome {
  double us, error; /* < 0: not said */
  bool right;
};

/* ---- the client --------------------------------------------------------------- */

static double number_after(const char *line, const char *key)
{
  const char *at = strstr(line, key);
  return at ? strtod(at + strlen(key), NULL) : -1;
}

static void read_line(const char *line, struct outcome *o)
{
  double error = number_after(line, "max_error=");
  if (error < 0) error = number_after(line, "largest error ");
  if (error >= 0) o->error = error;
  if (strncmp(line, "not ok", 6) == 0 || strstr(line, "status=failed")) o->right = false;
  if (strncmp(line, "result ", 7) != 0) return;
  o->us = number_after(line, "median_us=");
  if (o->us < 0) o->us = number_after(line, " us=");
}

static bool run_client(const struct demo *d, const char *csrbin, int64_t n, const char *type,
                       const char *preload, const char *report, struct outcome *o)
{
  char columns[24], line[1024];
  snprintf(columns, sizeof columns, "%" PRId64, n);
  char *argv[] = {(char *)d->client, (char *)csrbin, "-n", columns, "-t", (char *)type, NULL};
  struct launch l = {.argv = argv, .preload = preload, .report = report, .output = tmpfile()};
  *o = (struct outcome){-1, -1, true};
  if (!l.output) {
    tool_say("no temporary file for the client's output");
    return false;
  }
  struct launch_end end = launch_program(&l);
  rewind(l.output);
  while (fgets(line, sizeof line, l.output)) read_line(line, o);
  if (end.status != 0 && o->us < 0) {
    rewind(l.output);
    while (fgets(line, sizeof line, l.output)) fputs(line, stderr);
    tool_say("%s ended with status %d", d->client, end.status);
  }
  fclose(l.output);
  return o->us >= 0;
}

static void print_pair(int64_t n, const char *type, const struct outcome *before,
                       const struct outcome *after)
{
  printf("%8" PRId64 "  %-5s %16.2f %16.2f %9.2fx   %s, %s\n", n, type, before->us, after->us,
         after->us > 0 ? before->us / after->us : 0, before->right ? "right" : "WRONG",
         after->right ? "right" : "WRONG");
  fflush(stdout);
}

static int run_pairs(const struct demo *d, const char *csrbin, const char *preload,
                     const char *report)
{
  struct outcome before, after;
  int status = EXIT_OK;
  printf("%8s  %-5s %16s %16s %10s   %s\n", "columns", "type", "cuSPARSE, us", "with Shunt, us",
         "speedup", "result before, after");
  for (int t = 0; t < d->type_count; t++)
    for (int i = 0; i < d->n_count; i++) {
      const char *type = type_words[d->types[t]];
      if (!run_client(d, csrbin, d->n[i], type, NULL, NULL, &before) ||
          !run_client(d, csrbin, d->n[i], type, preload, report, &after))
        return EXIT_BAD;
      print_pair(d->n[i], type, &before, &after);
      if (!after.right) status = EXIT_BAD;
    }
  struct launch_end end = {0, 0, true};
  const struct run_demands none = {false, NULL};
  struct run_report r;
  if (!run_report_read(report, &r)) {
    tool_say("%s: %s", report, strerror(errno));
    return status;
  }
  run_report_print(&r, &end, &none, stdout);
  run_report_free(&r);
  return status;
}

static int demo_client(const struct demo *d)
{
  struct tool_source source;
  struct shunt_matrix m;
  char rows[32], cols[32], nnz[32];
  int status = EXIT_BAD;
  if (!tool_load(d->file, d->v, 1, &source, &m)) return EXIT_BAD;
  char *csrbin = tool_temporary("shunt-demo"), *report = tool_temporary("shunt-report");
  char *preload = launch_find_preload(false);
  if (csrbin && report && preload && tool_write_csrbin(csrbin, &m)) {
    printf("%s: %s x %s, %s nonzeros (%.1f %% zeros)\n%s, without and with %s\n", d->file,
           tool_grouped(m.rows, rows), tool_grouped(m.cols, cols), tool_grouped(m.nnz, nnz),
           100 - 100 * (double)m.nnz / ((double)m.rows * (double)m.cols), d->client, preload);
    status = run_pairs(d, csrbin, preload, report);
  }
  if (csrbin) unlink(csrbin);
  if (report) unlink(report);
  free(csrbin);
  free(report);
  free(preload);
  shunt_matrix_free(&m);
  return status;
}

/* ---- without the client -------------------------------------------------------- */

static int demo_bench(const struct demo *d, bool host)
{
  struct bench_options o = bench_defaults();
  char *source = (char *)d->file;
  o.host = host;
  o.v = d->v;
  o.n_count = d->n_count;
  o.type_count = d->type_count;
  memcpy(o.n, d->n, sizeof o.n);
  memcpy(o.types, d->types, sizeof o.types);
  return bench_run(&(struct bench_step){o, &source, 1}, 1);
}

/* Where the build put the client: SHUNT_CLIENTDIR, or the tree around this program. */
static bool find_client(struct demo *d)
{
  char own[PATH_MAX];
  if (d->client[0]) return access(d->client, X_OK) == 0;
#ifdef SHUNT_CLIENTDIR
  snprintf(d->client, sizeof d->client, "%s/spmm_cusparse", SHUNT_CLIENTDIR);
  if (access(d->client, X_OK) == 0) return true;
#endif
  static const char *const beside[] = {"tests/clients", "../tests/clients"};
  for (int i = 0; i < 2 && launch_own_folder(own, sizeof own / 2); i++) {
    snprintf(d->client, sizeof d->client, "%.2000s/%s/spmm_cusparse", own, beside[i]);
    if (access(d->client, X_OK) == 0) return true;
  }
  return false;
}

static void set_defaults(struct demo *d, bool host)
{
  static const int64_t columns[] = {64, 256, 1024};
  if (!d->n_count) {
    d->n_count = host ? 2 : 3;
    memcpy(d->n, columns, sizeof columns);
  }
  if (!d->type_count) {
    d->type_count = 1;
    d->types[0] = host ? 2 : 0; /* f32 : f16 */
  }
  if (!d->file) d->file = "random:4096x4096:0.1";
}

static int demo(int argc, char **argv)
{
  struct demo d = {.v = 1};
  int64_t v[TOOL_LIST];
  char why[256] = "";
  int c;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":n:t:v:h", options, NULL)) != -1) {
    bool good = true;
    switch (c) {
    case OPT_CLIENT: snprintf(d.client, sizeof d.client, "%s", optarg); break;
    case 'n': good = (d.n_count = tool_parse_sizes("--columns", optarg, 1 << 24, d.n)) > 0; break;
    case 't':
      good = (d.type_count = tool_parse_words("--types", optarg, type_words, d.types)) > 0;
      break;
    case 'v':
      good = tool_parse_sizes("--vector", optarg, TOOL_MAX_V, v) > 0;
      if (good) d.v = (int)v[0];
      break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("demo", c, argv, options);
    }
    if (!good) return EXIT_USAGE;
  }
  if (argc - optind > 1) return tool_bad_usage("demo", "more than one file given");
  d.file = argv[optind]; /* NULL when none */

  bool host = !bench_have_gpu(why, sizeof why);
  set_defaults(&d, host);
  if (host) {
    printf("Without a GPU (%s) the same job runs on the host engine: one thread, then all.\n", why);
    return demo_bench(&d, true);
  }
  if (find_client(&d)) return demo_client(&d);
  tool_say("the client program %s is not there (make clients; --client PATH): timing the routes "
           "themselves",
           d.client);
  return demo_bench(&d, false);
}

const struct tool_command tool_demo = {"demo", help, demo};
