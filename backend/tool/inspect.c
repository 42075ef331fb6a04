/* inspect.c: shunt inspect FILE: what a pattern looks like, from the host engine. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/tool.h"
#include "conv/dcsr/dcsr_traversal.h"
#include "conv/profile/profile.h"
#include "conv/tile/tile_conv.h"

static const char help[] =
    "Usage: shunt inspect [OPTION]... FILE...\n"
    "Print the profile of matrix FILE (Matrix Market or .smtx, also gzipped; or a\n"
    "made-up pattern, as for shunt bench).  Needs no GPU.\n"
    "\n"
    "  -v, --vector V  first replace each stored entry by a V x 1 vector\n"
    "      --json      print JSON, one object per FILE and line\n"
    "  -h, --help      print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 malformed input; 2 usage.\n";

enum { OPT_JSON = 256 };
static const struct option options[] = {{"vector", required_argument, NULL, 'v'},
                                        {"json", no_argument, NULL, OPT_JSON},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

struct inspection {
  const char *file;
  bool made_up; /* the file held no values */
  struct shunt_profile p;
  struct shunt_structure s;
  int64_t merged; /* tiles of 32 columns that 16 rows have */
  struct shunt_tile_shares tiles;
};

static double share(int64_t part, int64_t of)
{
  return of ? (double)part / (double)of : 0;
}

static double mean_length(const struct shunt_profile *p)
{
  return share(p->nnz, p->rows);
}

/* Standard deviation of the row lengths over their mean. */
static double variation(const struct shunt_profile *p)
{
  double mean = mean_length(p);
  if (mean <= 0) return 0;
  double variance = p->row_length_squares / (double)p->rows - mean * mean;
  return sqrt(variance > 0 ? variance : 0) / mean;
}

static void print_number(const char *what, int64_t n)
{
  char text[32];
  printf("  %-34s %15s\n", what, tool_grouped(n, text));
}

static void print_share(const char *what, double x)
{
  printf("  %-34s %14.2f%%\n", what, 100 * x);
}

static void print_table(const struct inspection *i)
{
  static const int v[3] = {8, 4, 2};
  const struct shunt_profile *p = &i->p;
  const struct shunt_structure *s = &i->s;
  char what[64];

  printf("%s\n", i->file);
  print_number("rows", p->rows);
  print_number("columns", p->cols);
  print_number("nonzeros", p->nnz);
  printf("  %-34s %15s\n", "values", i->made_up ? "none (pattern)" : "in the file");
  print_share("density",
              p->rows && p->cols ? (double)p->nnz / (double)p->rows / (double)p->cols : 0);
  puts(" row lengths");
  printf("  %-34s %15.2f\n", "mean", mean_length(p));
  print_number("longest", p->longest_row);
  printf("  %-34s %15.3f\n", "standard deviation / mean", variation(p));
  print_number("empty rows", p->empty_rows);
  print_number("rows not strictly ascending", p->unsorted_rows);
  puts(" column vectors, V aligned rows     V =       8          4          2");
  printf("  %-34s %9.2f%% %9.2f%% %9.2f%%\n", "groups whose rows share all columns",
         100 * share(p->groups_equal[0], p->groups_nonempty[0]),
         100 * share(p->groups_equal[1], p->groups_nonempty[1]),
         100 * share(p->groups_equal[2], p->groups_nonempty[2]));
  printf("  %-34s %9.2f%% %9.2f%% %9.2f%%\n", "fill of nonzero V x 1 vectors", 100 * s->fill[0],
         100 * s->fill[1], 100 * s->fill[2]);
  puts(" aligned 16 x 32 tiles");
  print_share("zero", s->tile_zero);
  print_share("2:4 along rows, of the nonzero", s->tile_24);
  print_share("dense, of the nonzero", s->tile_dense);
  puts(" 16 x 32 tiles, columns without entries left out");
  print_number("tiles", i->merged);
  print_share("2:4, columns in some order", i->tiles.sparse);
  print_share("dense", i->tiles.dense);
  print_share("fill", i->tiles.fill);
  puts(" 64-wide vertical strips");
  print_share("rows with an entry, mean", s->strip_occupancy);
  printf("  %-34s %15.4f\n", "entropy (Fujiki et al. 2019)", p->entropy);
  printf("  %-34s %15.4g   %s (%.0f %% right)\n", "SSF (same)", p->ssf,
         shunt_traversal_name(shunt_traversal_of(p)), 100 * SHUNT_SSF_ACCURACY);
  for (int j = 0; j < 3; j++) {
    if (share(p->groups_equal[j], p->groups_nonempty[j]) < 0.5) continue;
    snprintf(what, sizeof what, " most groups of %d rows share their columns", v[j]);
    puts(what);
    break;
  }
}

static void print_three(const char *name, double x, double y, double z)
{
  printf("\"%s\": {\"8\": %.17g, \"4\": %.17g, \"2\": %.17g}, ", name, x, y, z);
}

/* JSON has no NaN or Inf. */
static double finite_or_zero(double x)
{
  return isfinite(x) ? x : 0;
}

static void print_json(const struct inspection *i)
{
  const struct shunt_profile *p = &i->p;
  const struct shunt_structure *s = &i->s;
  const int64_t *ne = p->groups_nonempty, *eq = p->groups_equal;
  fputs("{\"file\": ", stdout);
  tool_json_string(stdout, i->file);
  printf(", \"rows\": %" PRId64 ", \"columns\": %" PRId64 ", \"nonzeros\": %" PRId64
         ", \"pattern_only\": %s, ",
         p->rows, p->cols, p->nnz, i->made_up ? "true" : "false");
  printf("\"row_length\": {\"mean\": %.17g, \"longest\": %" PRId64 ", \"variation\": %.17g, "
         "\"empty_rows\": %" PRId64 ", \"unsorted_rows\": %" PRId64 "}, ",
         mean_length(p), p->longest_row, variation(p), p->empty_rows, p->unsorted_rows);
  print_three("groups_sharing_columns", share(eq[0], ne[0]), share(eq[1], ne[1]),
              share(eq[2], ne[2]));
  print_three("vector_fill", finite_or_zero(s->fill[0]), finite_or_zero(s->fill[1]),
              finite_or_zero(s->fill[2]));
  printf("\"tiles_16x32\": {\"zero\": %.17g, \"two_of_four\": %.17g, \"dense\": %.17g}, ",
         finite_or_zero(s->tile_zero), finite_or_zero(s->tile_24), finite_or_zero(s->tile_dense));
  printf("\"merged_tiles\": {\"tiles\": %" PRId64 ", \"two_of_four\": %.17g, \"dense\": %.17g, "
         "\"fill\": %.17g}, ",
         i->merged, i->tiles.sparse, i->tiles.dense, i->tiles.fill);
  printf("\"strip_occupancy\": %.17g, \"entropy\": %.17g, \"ssf\": %.17g, "
         "\"faster_by_ssf\": \"%c_stationary\"}\n",
         finite_or_zero(s->strip_occupancy), p->entropy, p->ssf,
         shunt_traversal_of(p) == SHUNT_B_STATIONARY ? 'b' : 'c');
}

/* The tiles of `merged` (backend/routes), 2:4 in any order of their columns. */
static shunt_status count_merged(struct inspection *i, struct shunt_csr a)
{
  struct shunt_tile_census census = {0};
  a.value_type = SHUNT_F16, a.values = NULL;
  shunt_status s = SHUNT_OK;
  if (a.rows > 0 && a.cols > 0)
    s = shunt_csr_tile_census_host(&a, SHUNT_TILE_MERGE | SHUNT_TILE_REORDER, &census);
  if (s == SHUNT_E_UNSUPPORTED) s = SHUNT_OK; /* too large: no tiles */
  i->merged = (int64_t)(census.sparse + census.dense);
  i->tiles = shunt_tile_shares(a.rows, a.cols, &census);
  return s;
}

static bool inspect_one(const char *file, int v, bool json)
{
  struct tool_source source;
  struct shunt_matrix m;
  struct inspection i = {.file = file};
  if (!tool_load(file, v, 1, &source, &m)) return false;
  struct shunt_csr a = tool_view(&m);
  i.made_up = m.pattern;
  shunt_status status = shunt_profile_csr_host(&a, &i.p);
  if (status == SHUNT_OK) status = shunt_structure_csr_host(&a, &i.s);
  if (status == SHUNT_OK) status = count_merged(&i, a);
  if (status == SHUNT_OK)
    (json ? print_json : print_table)(&i);
  else
    tool_say("%s: the profile failed (%s)", file,
             status == SHUNT_E_MEMORY ? "out of memory" : "internal error");
  shunt_matrix_free(&m);
  return status == SHUNT_OK;
}

static int inspect(int argc, char **argv)
{
  int64_t v[TOOL_LIST] = {1};
  bool json = false;
  int c, status = EXIT_OK;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":v:h", options, NULL)) != -1) {
    switch (c) {
    case 'v':
      if (!tool_parse_sizes("--vector", optarg, TOOL_MAX_V, v)) return EXIT_USAGE;
      break;
    case OPT_JSON: json = true; break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("inspect", c, argv, options);
    }
  }
  if (optind == argc) return tool_bad_usage("inspect", "no file given");
  for (; optind < argc; optind++)
    if (!inspect_one(argv[optind], (int)v[0], json)) status = EXIT_BAD;
  if (fflush(stdout) != 0) status = EXIT_BAD;
  return status;
}

const struct tool_command tool_inspect = {"inspect", help, inspect};
