/* model_print.c: the figures of `shunt model`, for people and as JSON. */
#include <inttypes.h>
#include <math.h>

#include "backend/tool/model.h"
#include "conv/dcsr/dcsr_traversal.h"

static const char *const keys[SHUNT_TRAVERSALS] = {"c_stationary", "b_stationary", "a_stationary"};

/* The traffic of n columns: of the matrix itself, and of a random one of its size. */
struct both {
  struct shunt_traffic counted[SHUNT_TRAVERSALS], expected[SHUNT_TRAVERSALS];
};

static struct both traffic_of(const struct model *m, int64_t n)
{
  struct both t = {0};
  shunt_traffic_bytes(&m->counted, &m->tiles, n, m->index, m->value, t.counted);
  shunt_traffic_bytes(&m->expected, &m->tiles, n, m->index, m->value, t.expected);
  return t;
}

static double ratio(double x, double of)
{
  return of > 0 ? x / of : 0;
}

/* ---- for people ----------------------------------------------------------------------------- */

static void print_number(const char *what, double n)
{
  char text[32];
  printf("  %-40s %15s\n", what, tool_grouped(llround(n), text));
}

static void print_pattern(const struct model *m)
{
  const struct shunt_traffic_counts *c = &m->counted, *x = &m->expected;
  char segments[32];
  printf("%s\n", m->file);
  print_number("rows", c->rows);
  print_number("columns", c->cols);
  print_number("nonzeros", c->nnz);
  print_number("rows with an entry", c->filled_rows);
  printf(" strips of %" PRId64 " columns\n", m->tiles.width);
  print_number("strips", c->strips);
  printf("  %-40s %15s   %.3g in a random matrix\n", "segments: rows of strips with an entry",
         tool_grouped(llround(c->segments), segments), x->segments);
  printf("  %-40s %15.2f\n", "segments of a strip, mean", ratio(c->segments, c->strips));
  printf("  %-40s %15.4f\n", "entropy H_norm (Fujiki et al. 2019)", m->entropy);
  printf("  %-40s %15.4g   %s is faster (%.0f %% right)\n", "SSF (same)", m->ssf,
         shunt_traversal_name(shunt_traversal_by_ssf(m->ssf)), 100 * SHUNT_SSF_ACCURACY);
}

static void print_footprint(const char *what, const struct model *m, double bytes)
{
  char text[32];
  printf("  %-40s %15s %9.3f\n", what, tool_grouped(llround(bytes), text),
         ratio(bytes, m->csr_bytes));
}

static void print_footprints(const struct model *m)
{
  printf(" footprint, bytes (%s, %d-bit indices)                          of CSR\n", m->value_name,
         m->index == SHUNT_I32 ? 32 : 64);
  print_footprint("CSR", m, m->csr_bytes);
  print_footprint("dcsr, whole", m, m->dcsr_bytes);
  print_footprint("dcsr, strips", m, m->strips_bytes);
}

static void print_traffic(const struct model *m, int64_t n)
{
  struct both t = traffic_of(m, n);
  enum shunt_traversal best = shunt_traffic_choose(t.counted);
  enum shunt_traversal random = shunt_traffic_choose(t.expected);
  for (int k = 0; k < SHUNT_TRAVERSALS; k++) {
    const struct shunt_traffic *c = &t.counted[k];
    printf("  %8" PRId64 " %s %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f%s\n", n,
           shunt_traversal_name(k), c->a / 1e6, c->b / 1e6, c->c_read / 1e6, c->c_written / 1e6,
           shunt_traffic_total(c) / 1e6, shunt_traffic_total(&t.expected[k]) / 1e6,
           (int)best == k ? " <" : "");
  }
  printf("  %8s chosen: %s; for a random matrix of this size: %s\n", "", shunt_traversal_name(best),
         shunt_traversal_name(random));
}

static void print_rate(const char *what, double us, double elements)
{
  char text[24];
  if (us < 100)
    snprintf(text, sizeof text, "%.3f us", us);
  else
    tool_duration(us, text);
  printf("  %-40s %15s %12.1f M elements/s\n", what, text, us > 0 ? elements / us : 0);
}

static void print_conversion(const struct model *m)
{
  const struct shunt_dcsr_unit_counts *e = &m->unit;
  double n = (double)e->elements;
  puts(" CSC into strips");
  print_rate("this host, one thread, measured", m->host_us, n);
  print_rate("the paper's engine, modelled", m->estimate.us, n);
  print_rate("  were its 64 channels evenly loaded", m->estimate.balanced_us, n);
  printf("  %-40s %12.3f uJ\n", "  energy", m->estimate.uj);
  print_number("  minima taken by the comparator tree", (double)e->tree_activations);
  print_number("  prefetches", (double)e->prefetches);
  print_number("  bytes read", (double)e->bytes_read);
  print_number("  bytes written", (double)e->bytes_written);
}

void model_print_table(const struct model *m)
{
  print_pattern(m);
  print_footprints(m);
  puts(" compulsory traffic, MB\n"
       "   columns                       A          B     C read  C written      total     random");
  for (int i = 0; i < m->count; i++) print_traffic(m, m->n[i]);
  print_conversion(m);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_counts(const char *key, const struct shunt_traffic_counts *c)
{
  printf("\"%s\": {\"rows_with_entry\": %.17g, \"segments\": %.17g, \"strip_columns\": %.17g, "
         "\"tile_columns\": %.17g}, ",
         key, c->filled_rows, c->segments, c->strip_columns, c->tile_columns);
}

static void json_traffic(const struct model *m, int64_t n)
{
  struct both t = traffic_of(m, n);
  printf("{\"n\": %" PRId64 ", ", n);
  for (int k = 0; k < SHUNT_TRAVERSALS; k++) {
    const struct shunt_traffic *c = &t.counted[k];
    printf("\"%s\": {\"a\": %.17g, \"b\": %.17g, \"c_read\": %.17g, \"c_written\": %.17g, "
           "\"total\": %.17g, \"expected_total\": %.17g}, ",
           keys[k], c->a, c->b, c->c_read, c->c_written, shunt_traffic_total(c),
           shunt_traffic_total(&t.expected[k]));
  }
  printf("\"chosen\": \"%s\", \"chosen_for_random\": \"%s\"}",
         keys[shunt_traffic_choose(t.counted)], keys[shunt_traffic_choose(t.expected)]);
}

static void json_conversion(const struct model *m)
{
  const struct shunt_dcsr_unit_counts *e = &m->unit;
  printf("\"conversion\": {\"host_us\": %.17g, \"engine\": {\"us\": %.17g, \"balanced_us\": %.17g, "
         "\"elements_per_second\": %.17g, \"uj\": %.17g, \"elements\": %" PRId64
         ", \"cycles\": %" PRId64 ", \"busiest_cycles\": %" PRId64
         ", \"tree_activations\": %" PRId64 ", \"prefetches\": %" PRId64
         ", \"bytes_read\": %" PRId64 ", \"bytes_written\": %" PRId64 "}}",
         m->host_us, m->estimate.us, m->estimate.balanced_us, m->estimate.elements_a_second,
         m->estimate.uj, e->elements, e->cycles, e->busiest_cycles, e->tree_activations,
         e->prefetches, e->bytes_read, e->bytes_written);
}

void model_print_json(const struct model *m)
{
  const struct shunt_traffic_counts *c = &m->counted;
  fputs("{\"file\": ", stdout);
  tool_json_string(stdout, m->file);
  printf(", \"rows\": %.0f, \"columns\": %.0f, \"nonzeros\": %.0f, \"pattern_only\": %s, "
         "\"type\": \"%s\", \"index_bits\": %d, \"width\": %" PRId64 ", \"strips\": %.0f, ",
         c->rows, c->cols, c->nnz, m->made_up ? "true" : "false", m->value_name,
         m->index == SHUNT_I32 ? 32 : 64, m->tiles.width, c->strips);
  json_counts("counted", c);
  json_counts("expected", &m->expected);
  printf("\"entropy\": %.17g, \"ssf\": %.17g, \"faster_by_ssf\": \"%s\", "
         "\"bytes\": {\"csr\": %.17g, \"dcsr\": %.17g, \"strips\": %.17g}, \"traffic\": [",
         m->entropy, m->ssf, keys[shunt_traversal_by_ssf(m->ssf)], m->csr_bytes, m->dcsr_bytes,
         m->strips_bytes);
  for (int i = 0; i < m->count; i++) {
    if (i) fputs(", ", stdout);
    json_traffic(m, m->n[i]);
  }
  fputs("], ", stdout);
  json_conversion(m);
  puts("}");
}
