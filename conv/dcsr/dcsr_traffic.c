/* dcsr_traffic.c: counts of a pattern, counted or expected, and the bytes that follow from them
   (definitions: dcsr_traffic.h). */
#include "conv/dcsr/dcsr_traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv/dcsr/dcsr_conv.h"
#include "conv/dcsr/dcsr_index.h"

struct shunt_traffic_tiles shunt_traffic_tiles_default(void)
{
  return (struct shunt_traffic_tiles){SHUNT_DCSR_STRIP, SHUNT_DCSR_STRIP, SHUNT_DCSR_STRIP};
}

static int64_t width_of_strip(int64_t cols, int64_t width, int64_t strip)
{
  int64_t left = cols - strip * width;

  return left < width ? left : width;
}

/* ---- counted ----------------------------------------------------------------------------- */

/* Marks of the last row that each strip, and the last band of tiles that each column, was
   seen in, plus 1; the strips of the current row, and their entries in it.  */
struct counting {
  int64_t *strip_row, *entries, *list, *column_band;
  double weight; /* sum of m log m over segments */
};

static int counting_new(struct counting *c, int64_t strips, int64_t cols)
{
  c->weight = 0;
  c->strip_row = calloc((size_t)strips + 1, sizeof(int64_t));
  c->entries = calloc((size_t)strips + 1, sizeof(int64_t));
  c->list = calloc((size_t)strips + 1, sizeof(int64_t));
  c->column_band = calloc((size_t)cols + 1, sizeof(int64_t));
  return c->strip_row && c->entries && c->list && c->column_band;
}

static void counting_free(struct counting *c)
{
  free(c->strip_row);
  free(c->entries);
  free(c->list);
  free(c->column_band);
}

static void count_row(const struct shunt_csr *a, const struct shunt_traffic_tiles *tiles, int64_t i,
                      struct counting *c, struct shunt_traffic_counts *out)
{
  int64_t begin = index_at(a->row_offsets, a->index_type, i) - a->base;
  int64_t end = index_at(a->row_offsets, a->index_type, i + 1) - a->base;
  int64_t band = i / tiles->tile_rows + 1, listed = 0;

  for (int64_t p = begin; p < end; p++) {
    int64_t column = index_at(a->columns, a->index_type, p) - a->base;
    int64_t strip = column / tiles->width;
    out->tile_columns += c->column_band[column] != band;
    c->column_band[column] = band;
    if (c->strip_row[strip] != i + 1) {
      c->strip_row[strip] = i + 1;
      c->entries[strip] = 0;
      c->list[listed++] = strip;
    }
    c->entries[strip]++;
  }
  for (int64_t k = 0; k < listed; k++) {
    double m = (double)c->entries[c->list[k]];
    c->weight += m * log(m);
  }
  out->segments += (double)listed;
  out->filled_rows += listed > 0;
}

/* H = - sum (m / N) log(m / N) = log N - (sum m log m) / N. */
static void finish(const struct counting *c, const struct shunt_traffic_counts *out,
                   double *entropy, double *ssf)
{
  double n = out->nnz;

  *entropy = n > 1 ? (log(n) - c->weight / n) / log(n) : 0;
  *ssf =
      out->segments > 0 ? n * out->filled_rows / (out->segments / out->strips) * (1 - *entropy) : 0;
}

shunt_status shunt_traffic_count_host(const struct shunt_csr *a,
                                      const struct shunt_traffic_tiles *tiles,
                                      struct shunt_traffic_counts *counts, double *entropy,
                                      double *ssf)
{
  struct shunt_dcsr_source source = shunt_dcsr_source_csr(a);
  struct counting c;
  int64_t strips;
  shunt_status status = shunt_dcsr_check_host(&source, NULL);

  memset(counts, 0, sizeof *counts);
  *entropy = *ssf = 0;
  if (status != SHUNT_OK) return status;
  if (tiles->width < 1 || tiles->tile_rows < 1 || tiles->dense_columns < 1) return SHUNT_E_ARGUMENT;
  strips = shunt_dcsr_strips(a->cols, tiles->width);
  counts->rows = (double)a->rows, counts->cols = (double)a->cols, counts->nnz = (double)a->nnz;
  counts->strips = (double)strips;
  if (counting_new(&c, strips, a->cols)) {
    for (int64_t i = 0; i < a->rows; i++) count_row(a, tiles, i, &c, counts);
    for (int64_t s = 0; s < strips; s++)
      if (c.strip_row[s]) counts->strip_columns += (double)width_of_strip(a->cols, tiles->width, s);
    finish(&c, counts, entropy, ssf);
  } else {
    status = SHUNT_E_MEMORY;
  }
  counting_free(&c);
  return status;
}

/* ---- expected ---------------------------------------------------------------------------- */

/* 1 - (1 - p)^w */
static double has_entry(double p, double w)
{
  return w > 0 && p > 0 ? -expm1(w * log1p(-p)) : 0;
}

/* The mean number of aligned runs of `width` elements, of `size` in a line, with an entry. */
static double runs_with_entry(double p, int64_t size, int64_t width)
{
  return (double)(size / width) * has_entry(p, (double)width) +
         has_entry(p, (double)(size % width));
}

void shunt_traffic_expect(int64_t rows, int64_t cols, int64_t nnz,
                          const struct shunt_traffic_tiles *tiles,
                          struct shunt_traffic_counts *counts)
{
  double m = (double)rows, k = (double)cols, w = (double)tiles->width;
  double last = (double)(cols % tiles->width), p = m * k > 0 ? (double)nnz / (m * k) : 0;

  if (p > 1) p = 1; /* repeated entries */
  *counts = (struct shunt_traffic_counts){.rows = m, .cols = k, .nnz = (double)nnz};
  counts->strips = (double)shunt_dcsr_strips(cols, tiles->width);
  counts->filled_rows = m * has_entry(p, k);
  counts->segments = m * runs_with_entry(p, cols, tiles->width);
  counts->strip_columns =
      (double)(cols / tiles->width) * w * has_entry(p, w * m) + last * has_entry(p, last * m);
  counts->tile_columns = k * runs_with_entry(p, rows, tiles->tile_rows);
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* shunt_dcsr_footprint for numbers of segments that need not be whole. */
static double footprint(const struct shunt_traffic_counts *c, double strips, double segments,
                        double index, double value)
{
  return (strips + 1 + 2 * segments + 1) * index + c->nnz * (index + value);
}

double shunt_traffic_total(const struct shunt_traffic *t)
{
  return t->a + t->b + t->c_read + t->c_written;
}

void shunt_traffic_bytes(const struct shunt_traffic_counts *counts,
                         const struct shunt_traffic_tiles *tiles, int64_t n, shunt_type index,
                         shunt_type value, struct shunt_traffic out[SHUNT_TRAVERSALS])
{
  double i = (double)shunt_type_size(index), v = (double)shunt_type_size(value);
  double row = (double)n * v; /* bytes of a row of B or C */
  double passes = (double)((n + tiles->dense_columns - 1) / tiles->dense_columns);
  double strips = footprint(counts, counts->strips, counts->segments, i, v);
  double again = counts->segments - counts->filled_rows;
  struct shunt_traffic *c = &out[SHUNT_C_STATIONARY], *b = &out[SHUNT_B_STATIONARY];

  *c = (struct shunt_traffic){
      .a = passes * footprint(counts, counts->cols > 0 ? 1 : 0, counts->filled_rows, i, v),
      .b = counts->nnz * row,
      .c_written = counts->rows * row};
  *b = (struct shunt_traffic){.a = passes * strips,
                              .b = counts->strip_columns * row,
                              .c_read = again * row,
                              .c_written = (again + counts->rows) * row};
  out[SHUNT_A_STATIONARY] = *b;
  out[SHUNT_A_STATIONARY].a = strips;
  out[SHUNT_A_STATIONARY].b = counts->tile_columns * row;
}

enum shunt_traversal shunt_traffic_choose(const struct shunt_traffic traffic[SHUNT_TRAVERSALS])
{
  enum shunt_traversal best = SHUNT_C_STATIONARY;

  for (int t = 1; t < SHUNT_TRAVERSALS; t++)
    if (shunt_traffic_total(&traffic[t]) < shunt_traffic_total(&traffic[best]))
      best = (enum shunt_traversal)t;
  return best;
}
