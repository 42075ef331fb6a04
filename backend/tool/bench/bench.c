/* bench.c: shunt bench: options into cases, one case after the other into the
   engine that runs here.  */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

static const char help[] =
    "Usage: shunt bench [OPTION]... SOURCE...|--suite NAME|--ablation [-- OPTION...]\n"
    "Time every route on each SOURCE against cuSPARSE and cuBLAS (without a GPU: the\n"
    "host engine) and check it against a float64 sum.  SOURCE: a matrix file, a\n"
    "problem of the log, or made up: random:ROWSxCOLUMNS:DENSITY ... (in shunt(1)).\n"
    "\n"
    "  -n, --columns LIST  columns of B and C; SDDMM: inner dimension [32,128]\n"
    "  -t, --types LIST    f16, bf16, f32, f64, i8, c32, c64, f16f32 ... [f16,f32]\n"
    "      --layout LIST   orders of the two dense matrices: rr, rc, cr, cc [rr]\n"
    "      --op OP         spmm or sddmm [spmm]\n"
    "      --op-a OP       SpMM of A: N, its transpose: T, or A^H: H [N]\n"
    "      --index TYPE    i32 or i64 [i32]\n"
    "  -v, --vector V      replace each stored entry by a V x 1 vector [1]\n"
    "      --suite NAME    in place of SOURCEs: calibrate, dlmc, integers, ...\n"
    "      --ablation      what the mapping of vectors to the tensor cores buys\n"
    "      --data FOLDER   where a suite's files are [$SHUNT_DATA]\n"
    "      --ways LIST     only these: csr, sorted, routed, cusparse, dense ... [all]\n"
    "      --list          print the cases, matrix and problem, and time none\n"
    "      --host          use the host engine even where there is a GPU\n"
    "  -o, --output FILE   write JSON\n"
    "      --csv           also print one comma-separated line per case\n"
    "      --quick         fewer and shorter samples\n"
    "      --seed N        seed of the random patterns and values [1]\n"
    "  -h, --help          print this text and exit\n"
    "Exit status: 0 success; 1 malformed input, or a wrong result; 2 usage.\n";

enum {
  OPT_LAYOUT = 256,
  OPT_OP,
  OPT_OP_A,
  OPT_INDEX,
  OPT_SUITE,
  OPT_ABLATION,
  OPT_DATA,
  OPT_WAYS,
  OPT_LIST,
  OPT_HOST,
  OPT_CSV,
  OPT_QUICK,
  OPT_SEED
};
static const struct option options[] = {{"columns", required_argument, NULL, 'n'},
                                        {"types", required_argument, NULL, 't'},
                                        {"layout", required_argument, NULL, OPT_LAYOUT},
                                        {"op", required_argument, NULL, OPT_OP},
                                        {"op-a", required_argument, NULL, OPT_OP_A},
                                        {"index", required_argument, NULL, OPT_INDEX},
                                        {"vector", required_argument, NULL, 'v'},
                                        {"suite", required_argument, NULL, OPT_SUITE},
                                        {"ablation", no_argument, NULL, OPT_ABLATION},
                                        {"data", required_argument, NULL, OPT_DATA},
                                        {"ways", required_argument, NULL, OPT_WAYS},
                                        {"list", no_argument, NULL, OPT_LIST},
                                        {"host", no_argument, NULL, OPT_HOST},
                                        {"output", required_argument, NULL, 'o'},
                                        {"csv", no_argument, NULL, OPT_CSV},
                                        {"quick", no_argument, NULL, OPT_QUICK},
                                        {"seed", required_argument, NULL, OPT_SEED},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

const char *const bench_layout_words[] = {"rr", "rc", "cr", "cc", NULL};
static const char *const op_words[] = {"spmm", "sddmm", NULL};
static const char *const op_a_words[] = {"N", "T", "H", NULL};
static const char *const index_words[] = {"i32", "i64", NULL};

struct bench_options bench_defaults(void)
{
  return (struct bench_options){.n = {32, 128},
                                .n_count = 2,
                                .types = {0, 2},
                                .type_count = 2,
                                .layouts = {0},
                                .layout_count = 1,
                                .op = SHUNT_SPMM,
                                .op_a = 'N',
                                .index_type = SHUNT_I32,
                                .v = 1,
                                .seed = 1,
                                .data = tool_option_text("SHUNT_DATA")};
}

/* ---- a run ---------------------------------------------------------------- */

struct run {
  const struct bench_options *o;
  const struct bench_engine *engine;
  struct bench_machine machine;
  FILE *json;
  int done, total; /* cases */
  bool bad, wrong;
};

static void report_wrong(struct run *r, const struct bench_case *c)
{
  for (int i = 0; i < c->ways; i++) {
    const struct bench_way *w = &c->way[i];
    if (!w->ran || w->right || !w->ours) continue;
    tool_say("%s: %s is wrong: largest error %.3g, %.3g times what the types allow (%s)", c->matrix,
             w->name, w->max_error, w->error_ratio, c->word);
    r->wrong = true;
  }
}

/* False when the engine can measure nothing more. */
static bool run_case(void *of, struct bench_case *c, const struct bench_options *o)
{
  struct run *r = of;
  bool first = r->done == 0;
  r->o = o;
  if (r->o->list) {
    printf("%s %s\n", c->matrix, c->word);
    return true;
  }
  bench_progress(++r->done, r->total, c, NULL);
  bool alive = r->engine->measure(c, r->o);
  bench_progress_end();
  if (c->ways) {
    bench_print_case(&r->machine, c, first);
    bench_note_means(c);
    if (r->o->csv) bench_print_csv(c, first);
    if (r->json) bench_json_case(r->json, c, first);
  }
  report_wrong(r, c);
  if (!alive) r->bad = true;
  return alive;
}

bool bench_have_gpu(char *why, size_t bytes)
{
#ifdef HAVE_CUDA
  return bench_cuda_present(why, bytes);
#else
  snprintf(why, bytes, "this build has no CUDA");
  return false;
#endif
}

static void open_engine(struct run *r)
{
  char why[256] = "this build has no CUDA";
#ifdef HAVE_CUDA
  r->engine = &bench_cuda_engine;
  if (!r->o->host && r->engine->open(&r->machine, why, sizeof why)) return;
#endif
  if (!r->o->host) tool_say("timing the host engine: %s", why);
  r->engine = &bench_host_engine;
  r->engine->open(&r->machine, why, sizeof why);
}

int bench_run(const struct bench_step *steps, int count)
{
  const struct bench_options *how = &steps[0].o;
  struct run r = {.o = how, .total = bench_count_cases(steps, count)};
  open_engine(&r);
  if (how->json && !(r.json = bench_json_open(how->json, &r.machine))) {
    r.engine->close();
    return EXIT_BAD;
  }
  if (!how->list) bench_print_machine(&r.machine);
  if (!bench_each_case(steps, count, run_case, &r)) r.bad = true;
  bench_print_summary();
  if (r.json && !bench_json_close(r.json, how->json)) r.bad = true;
  r.engine->close();
  if (fflush(stdout) != 0) r.bad = true;
  return r.bad || r.wrong ? EXIT_BAD : EXIT_OK;
}

/* ---- options -------------------------------------------------------------- */

static bool parse_option(int c, struct bench_options *o)
{
  int64_t number[TOOL_LIST];
  int word[TOOL_LIST];
  o->sized = o->sized || c == 'n' || c == 't' || c == 'v';
  switch (c) {
  case 'n': return (o->n_count = tool_parse_sizes("--columns", optarg, 1 << 24, o->n)) > 0;
  case 't':
    o->type_count = tool_parse_words("--types", optarg, bench_type_words, o->types);
    return o->type_count > 0;
  case OPT_LAYOUT:
    return (o->layout_count =
                tool_parse_words("--layout", optarg, bench_layout_words, o->layouts)) > 0;
  case OPT_OP:
    if (!tool_parse_words("--op", optarg, op_words, word)) return false;
    o->op = word[0] == 0 ? SHUNT_SPMM : SHUNT_SDDMM;
    return true;
  case OPT_OP_A:
    if (!tool_parse_words("--op-a", optarg, op_a_words, word)) return false;
    o->op_a = *op_a_words[word[0]];
    return true;
  case OPT_INDEX:
    if (!tool_parse_words("--index", optarg, index_words, word)) return false;
    o->index_type = word[0] == 0 ? SHUNT_I32 : SHUNT_I64;
    return true;
  case 'v':
    if (!tool_parse_sizes("--vector", optarg, TOOL_MAX_V, number)) return false;
    o->v = (int)number[0];
    return true;
  case OPT_SEED:
    if (!tool_parse_sizes("--seed", optarg, INT64_MAX, number)) return false;
    o->seed = (uint64_t)number[0];
    return true;
  case OPT_SUITE: o->suite = optarg; return true;
  case OPT_ABLATION: o->ablation = true; return true;
  case OPT_DATA: o->data = optarg; return true;
  case OPT_WAYS: o->ways = optarg; return true;
  case OPT_LIST: o->list = o->host = true; return true;
  case OPT_HOST: o->host = true; return true;
  case OPT_CSV: o->csv = true; return true;
  case OPT_QUICK: o->quick = true; return true;
  default: o->json = optarg; return true; /* 'o' */
  }
}

static int bench_named_suite(const struct bench_options *o)
{
  struct bench_step steps[BENCH_STEPS];
  int count = bench_suite(o->suite, o->data, o, steps);
  if (count < 1) return count < 0 ? EXIT_USAGE : EXIT_BAD;
  int status = bench_run(steps, count);
  bench_suite_free(steps, count);
  return status;
}

static int bench(int argc, char **argv)
{
  struct bench_options o = bench_defaults();
  int c;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":n:t:v:o:h", options, NULL)) != -1) {
    if (c == '?' || c == ':') return tool_bad_option("bench", c, argv, options);
    if (c == 'h') {
      fputs(help, stdout);
      return EXIT_OK;
    }
    if (!parse_option(c, &o)) return EXIT_USAGE;
  }
  if (o.ablation && o.suite) return tool_bad_usage("bench", "--ablation is no suite");
  if (o.ablation) return bench_ablation(argv + optind, argc - optind, o.json);
  if (o.suite && optind < argc) return tool_bad_usage("bench", "a suite brings its own matrices");
  if (o.suite && o.sized)
    return tool_bad_usage("bench", "a suite brings its own types, columns and vectors");
  if (o.suite) return bench_named_suite(&o);
  if (o.op == SHUNT_SDDMM && o.op_a != 'N')
    return tool_bad_usage("bench", "--op-a is for spmm: sddmm has no sparse operand to transpose");
  if (optind == argc) return tool_bad_usage("bench", "no matrix, made-up pattern or problem given");
  struct bench_step step = {o, argv + optind, argc - optind};
  return bench_run(&step, 1);
}

const struct tool_command tool_bench = {"bench", help, bench};
