/* inspect_print.c: the figures of `shunt inspect`, for people and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/inspect/inspect.h"
#include "conv/dcsr/dcsr_traversal.h"
#include "conv/profile/profile.h"
#include "conv/tile/tile_conv.h"

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

/* How the entries divide among the kinds from `first` to before `end`. */
static void print_kinds(const struct inspect_grid *g, int first, int end)
{
  uint64_t all = 0;
  for (int k = first; k < end; k++) all += g->entries[k];
  for (int k = first; k < end; k++)
    print_share(inspect_kind_name((enum inspect_kind)k),
                share((int64_t)g->entries[k], (int64_t)all));
}

/* ---- expected times ----------------------------------------------------------------------- */

static void print_time(double us)
{
  if (us > 0)
    printf(" %10.1f", us);
  else
    printf(" %10s", "-");
}

/* What the times of a GPU are by. */
static void print_costs(const struct inspect_estimate *x)
{
  printf("  %s: by the table of %s; the column cuSPARSE is of %d.%d\n", x->gpu, x->costs,
         x->cusparse / 10, x->cusparse % 10);
}

static void print_estimates(const struct inspection *i)
{
  bool scaled = false;
  if (i->estimates == 0) return;
  puts(" expected time, us (estimated; packed where that pays)\n"
       "  GPU     type        N  route           time   cuSPARSE     cuBLAS");
  for (int e = 0; e < i->estimates; e++) {
    const struct inspect_estimate *x = &i->estimate[e];
    printf("  %-7s %-5s %7" PRId64 "  %-8s", x->gpu, x->type, x->n, x->route);
    print_time(x->us);
    print_time(x->original_us);
    print_time(x->gemm_us);
    printf("%s%s%s\n", x->scaled ? "  scaled" : "", x->why[0] ? "  " : "", x->why);
    scaled |= x->scaled;
  }
  for (int e = 0; e < i->estimates; e++)
    if (e == 0 || strcmp(i->estimate[e].gpu, i->estimate[e - 1].gpu) != 0)
      print_costs(&i->estimate[e]);
  if (scaled) puts("  scaled: not timed on that GPU; another one's times, carried over");
}

/* A line for each estimate that another one undercuts by a twentieth. */
static int print_better(const struct inspection *i, const struct inspect_estimate *other,
                        const char *how)
{
  int n = 0;
  for (int e = 0; e < i->estimates; e++) {
    const struct inspect_estimate *x = &i->estimate[e], *y = &other[e];
    if (y->us >= 0.95 * x->us) continue;
    printf("  %s, %s N = %" PRId64 ": %s %.1f us instead of %.1f\n", x->gpu, x->type, x->n, how,
           y->us, x->us);
    n++;
  }
  return n;
}

static void print_changes(const struct inspection *i)
{
  const struct shunt_profile *p = &i->p;
  const struct inspect_order *o = &i->order;
  puts(" what would change that");
  if (p->unsorted_rows > 0)
    puts("  sort the columns of each row: bundle, vector, tile and sparse24 need it");
  if (p->rows % 8)
    printf("  the last %" PRId64 " rows are no group of 8: add %" PRId64 " empty rows\n",
           p->rows % 8, 8 - p->rows % 8);
  int better = print_better(i, i->padded, "with N rounded up to a multiple of 8");
  if (!o->tried) {
    puts("  rows in another order: not tried (it would take long, or there are no entries)");
  } else {
    printf("  rows in another order: fill of 8 x 1 vectors %.1f %% instead of %.1f %%\n",
           100 * o->fill_ordered, 100 * o->fill_now);
    better += print_better(i, i->ordered, "with rows in that order (Shunt finds it itself)");
  }
  if (i->estimates && !better) puts("  no change that was tried lowers an expected time");
}

void inspect_print_table(const struct inspection *i)
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
  print_share("zero", i->aligned.zero);
  print_share("2:4 along rows, of the nonzero", i->aligned.sparse);
  print_share("dense, of the nonzero", i->aligned.dense);
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
  puts(" entries, by columns that 8 aligned rows have in common");
  print_kinds(&i->grid, 0, INSPECT_VECTOR_KINDS);
  puts(" entries, by aligned 16 x 32 tiles");
  print_kinds(&i->grid, INSPECT_VECTOR_KINDS, INSPECT_KINDS);
  print_number("strips without an entry", i->grid.empty_strips);
  print_estimates(i);
  print_changes(i);
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

static void json_kinds(const struct inspect_grid *g)
{
  static const char *const keys[INSPECT_KINDS] = {"vector_8", "vector_4", "vector_2",  "shared",
                                                  "alone",    "tile_24",  "tile_other"};
  fputs("\"entries\": {", stdout);
  for (int k = 0; k < INSPECT_KINDS; k++)
    printf("%s\"%s\": %" PRIu64, k ? ", " : "", keys[k], g->entries[k]);
  printf("}, \"strips\": %" PRId64 ", \"empty_strips\": %" PRId64 ", ", g->strips, g->empty_strips);
}

static void json_order(const struct inspect_order *o)
{
  if (o->tried)
    printf("\"order\": {\"fill_now\": %.17g, \"fill_ordered\": %.17g}, ", o->fill_now,
           o->fill_ordered);
  else
    fputs("\"order\": null, ", stdout);
}

static void json_estimates(const struct inspection *i)
{
  fputs("\"estimates\": [", stdout);
  for (int e = 0; e < i->estimates; e++) {
    const struct inspect_estimate *x = &i->estimate[e];
    printf("%s{\"gpu\": \"%s\", \"costs\": \"%s\", \"cusparse\": \"%d.%d\", \"type\": \"%s\", "
           "\"n\": %" PRId64
           ", \"route\": \"%s\", \"us\": %.17g, \"cusparse_us\": %.17g, \"cublas_us\": %.17g, "
           "\"ordered_us\": %.17g, \"padded_us\": %.17g, \"scaled\": %s}",
           e ? ", " : "", x->gpu, x->costs, x->cusparse / 10, x->cusparse % 10, x->type, x->n,
           x->route, x->us, x->original_us, x->gemm_us, i->ordered[e].us, i->padded[e].us,
           x->scaled ? "true" : "false");
  }
  fputs("]", stdout);
}

void inspect_print_json(const struct inspection *i)
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
         i->aligned.zero, i->aligned.sparse, i->aligned.dense);
  printf("\"merged_tiles\": {\"tiles\": %" PRId64 ", \"two_of_four\": %.17g, \"dense\": %.17g, "
         "\"fill\": %.17g}, ",
         i->merged, i->tiles.sparse, i->tiles.dense, i->tiles.fill);
  printf("\"strip_occupancy\": %.17g, \"entropy\": %.17g, \"ssf\": %.17g, "
         "\"faster_by_ssf\": \"%c_stationary\", ",
         finite_or_zero(s->strip_occupancy), p->entropy, p->ssf,
         shunt_traversal_of(p) == SHUNT_B_STATIONARY ? 'b' : 'c');
  json_kinds(&i->grid);
  json_order(&i->order);
  json_estimates(i);
  puts("}");
}
