/* inspect.c: shunt inspect FILE: what a pattern looks like, from the host engine; which route would
   take a product with it; a picture.  */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/inspect/inspect.h"

static const char help[] =
    "Usage: shunt inspect [OPTION]... FILE...\n"
    "Print the profile of matrix FILE (Matrix Market or .smtx, also gzipped; or a\n"
    "made-up pattern, as for shunt bench), which route would multiply it by a dense\n"
    "matrix, in what time (estimated), and what would change that.  Needs no GPU.\n"
    "\n"
    "  -v, --vector V      first replace each stored entry by a V x 1 vector\n"
    "  -n, --columns LIST  columns of the dense matrix (default 32,128,512)\n"
    "  -t, --types LIST    f16, bf16, f32, f64, i8, c32, c64 (default f16,f32)\n"
    "      --gpu LIST      h200 (default), h100, a100, a40, l40s, b200, rtx5090;\n"
    "                      routes that were not timed on it are marked \"scaled\"\n"
    "      --picture OUT   draw where vectors, tiles and empty strips lie, as SVG\n"
    "                      or, where OUT ends in .png, as PNG\n"
    "      --explain       print what the words mean; with no FILE nothing else\n"
    "      --json          print JSON, one object per FILE and line\n"
    "  -h, --help          print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 malformed input; 2 usage.\n";

enum { OPT_JSON = 256, OPT_GPU, OPT_PICTURE, OPT_EXPLAIN, MOST_COLUMNS = 1 << 20 };
static const struct option options[] = {{"vector", required_argument, NULL, 'v'},
                                        {"columns", required_argument, NULL, 'n'},
                                        {"types", required_argument, NULL, 't'},
                                        {"gpu", required_argument, NULL, OPT_GPU},
                                        {"picture", required_argument, NULL, OPT_PICTURE},
                                        {"explain", no_argument, NULL, OPT_EXPLAIN},
                                        {"json", no_argument, NULL, OPT_JSON},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
static const char *const type_words[] = {"f16", "bf16", "f32", "f64", "i8", "c32", "c64", NULL};

struct inspect_options {
  int64_t v[TOOL_LIST], n[TOOL_LIST];
  int type[TOOL_LIST], gpu[TOOL_LIST];
  int ns, types, gpus;
  bool json, explain;
  const char *picture;
};

/* *shares is left as it is where there are no tiles: the matrix is empty, or too large. */
static shunt_status take_census(struct shunt_csr a, int how, struct shunt_tile_census *census,
                                struct shunt_tile_shares *shares)
{
  a.value_type = SHUNT_F16, a.values = NULL;
  if (a.rows == 0 || a.cols == 0) return SHUNT_OK;
  shunt_status s = shunt_csr_tile_census_host(&a, how, census);
  if (s == SHUNT_OK) *shares = shunt_tile_shares(a.rows, a.cols, census);
  return s == SHUNT_E_UNSUPPORTED ? SHUNT_OK : s;
}

/* Aligned tiles, and those of the route `tile`. */
static shunt_status count_tiles(struct inspection *i, const struct shunt_csr *a)
{
  struct shunt_tile_census aligned = {0}, merged = {0};
  i->tiles.fill = 1;
  shunt_status s = take_census(*a, 0, &aligned, &i->aligned);
  if (s == SHUNT_OK) s = take_census(*a, SHUNT_TILE_MERGE | SHUNT_TILE_REORDER, &merged, &i->tiles);
  i->merged = (int64_t)(merged.sparse + merged.dense);
  return s;
}

/* Values of 2 bytes are profiled further: merged tiles. */
static shunt_status profile_halves(struct inspection *i, struct shunt_csr a)
{
  a.value_type = SHUNT_F16, a.values = NULL;
  return shunt_profile_csr_host(&a, &i->half);
}

/* One type, width and GPU: as things stand, with rows in another order, and with n rounded up. */
static void estimate_one(struct inspection *i, struct inspect_question q)
{
  const int e = i->estimates;
  if (e == INSPECT_MOST_ESTIMATES || !inspect_estimate(&q, &i->estimate[e])) return;
  i->ordered[e] = i->padded[e] = i->estimate[e];
  q.order = i->order.tried ? &i->order.measure : NULL;
  if (q.order) inspect_estimate(&q, &i->ordered[e]);
  q.order = NULL;
  q.n = (q.n + 7) / 8 * 8;
  if (q.n != i->estimate[e].n) inspect_estimate(&q, &i->padded[e]);
  i->estimates++;
}

static void estimate_all(struct inspection *i, const struct shunt_csr *a,
                         const struct inspect_options *o)
{
  struct inspect_question q = {.a = a, .profile = &i->p, .half = &i->half};
  if (a->rows == 0 || a->cols == 0 || a->nnz == 0) return;
  for (int g = 0; g < o->gpus; g++)
    for (int t = 0; t < o->types; t++)
      for (int n = 0; n < o->ns; n++) {
        q.gpu = o->gpu[g];
        q.type = type_words[o->type[t]];
        q.n = o->n[n];
        estimate_one(i, q);
      }
}

/* What is computed of a matrix, in this order. */
enum step { PROFILE, HALVES, STRUCTURE, TILES, GRID, ORDER, ESTIMATES, STEPS };

static shunt_status take_step(enum step step, struct inspection *i, const struct shunt_csr *a,
                              const struct inspect_options *o)
{
  switch (step) {
  case PROFILE: return shunt_profile_csr_host(a, &i->p);
  case HALVES: return profile_halves(i, *a);
  case STRUCTURE: return shunt_structure_csr_host(a, &i->s);
  case TILES: return count_tiles(i, a);
  case GRID: return inspect_grid_make(a, &i->grid);
  case ORDER: inspect_order_try(a, &i->order); return SHUNT_OK;
  default: estimate_all(i, a, o); return SHUNT_OK;
  }
}

static shunt_status take_steps(struct inspection *i, const struct shunt_csr *a,
                               const struct inspect_options *o)
{
  static const char *const names[STEPS] = {
      "row lengths and vectors", "tiles of 2-byte values",    "structure", "tiles of 16 rows",
      "kinds of entries",        "another order of the rows", "estimates"};
  struct tool_progress progress = tool_progress_begin();
  shunt_status status = SHUNT_OK;
  for (int s = 0; s < STEPS && status == SHUNT_OK; s++) {
    tool_progress_at(&progress, (double)s / STEPS, names[s]);
    status = take_step((enum step)s, i, a, o);
  }
  tool_progress_clear(&progress);
  return status;
}

static bool inspect_one(const char *file, const struct inspect_options *o)
{
  struct tool_source source;
  struct shunt_matrix m;
  struct inspection i = {.file = file};
  bool good = false;
  if (!tool_load(file, (int)o->v[0], 1, &source, &m)) return false;
  const struct shunt_csr a = tool_view(&m);
  i.made_up = m.pattern;
  const shunt_status status = take_steps(&i, &a, o);
  if (status == SHUNT_OK) {
    (o->json ? inspect_print_json : inspect_print_table)(&i);
    good = !o->picture || inspect_write_picture(&i, o->picture);
  } else
    tool_say("%s: the profile failed (%s)", file,
             status == SHUNT_E_MEMORY ? "out of memory" : "internal error");
  inspect_grid_free(&i.grid);
  shunt_matrix_free(&m);
  return good;
}

/* EXIT_OK, or the status to exit with; -1: help was asked for. */
static int parse(int argc, char **argv, struct inspect_options *o)
{
  int c;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":v:n:t:h", options, NULL)) != -1) {
    bool good = true;
    switch (c) {
    case 'v': good = tool_parse_sizes("--vector", optarg, TOOL_MAX_V, o->v); break;
    case 'n': good = (o->ns = tool_parse_sizes("--columns", optarg, MOST_COLUMNS, o->n)); break;
    case 't': good = (o->types = tool_parse_words("--types", optarg, type_words, o->type)); break;
    case OPT_GPU:
      good = (o->gpus = tool_parse_words("--gpu", optarg, inspect_gpu_words, o->gpu));
      break;
    case OPT_PICTURE: o->picture = optarg; break;
    case OPT_EXPLAIN: o->explain = true; break;
    case OPT_JSON: o->json = true; break;
    case 'h': fputs(help, stdout); return -1;
    default: return tool_bad_option("inspect", c, argv, options);
    }
    if (!good) return EXIT_USAGE;
  }
  if (optind == argc && !o->explain) return tool_bad_usage("inspect", "no file given");
  if (o->picture && argc - optind != 1)
    return tool_bad_usage("inspect", "--picture takes one file");
  if (o->explain && o->json) return tool_bad_usage("inspect", "--explain is no JSON");
  return EXIT_OK;
}

static int inspect(int argc, char **argv)
{
  struct inspect_options o = {.v = {1}, .n = {32, 128, 512}, .type = {0, 2}};
  o.ns = 3, o.types = 2, o.gpus = 1;
  int status = parse(argc, argv, &o);
  if (status != EXIT_OK) return status < 0 ? EXIT_OK : status;
  for (; optind < argc; optind++)
    if (!inspect_one(argv[optind], &o)) status = EXIT_BAD;
  if (o.explain) inspect_print_words();
  if (fflush(stdout) != 0) status = EXIT_BAD;
  return status;
}

const struct tool_command tool_inspect = {"inspect", help, inspect};
