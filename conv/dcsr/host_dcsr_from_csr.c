/* host_dcsr_from_csr.c: CSR, CSC and COO to dcsr and back, on the host.

   Two counting sorts, each stable, so that entries end up by (strip, row, order of the source):

     source --by row (CSR is)--> order[q], columns[q] --by strip--> dcsr

   The second walks the rows twice: first it counts, for each strip, its entries and segments,
   whose prefix sums are where the strips begin; then it writes, with one cursor a strip for
   entries and one for segments.  An entry opens a segment if the strip's last one is not of its
   row.  Values are moved, never computed with.

   scratch   [ entries: strips + 1 | segments: strips + 1 | last_row: strips ]
             and for CSC and COO [ offsets: rows + 1 | order: nnz | columns: nnz ], 64-bit  */
#include <string.h>

#include "conv/dcsr/dcsr_conv.h"
#include "conv/dcsr/dcsr_index.h"

/* The source's entries, row by row.  CSR is read in place: offsets is NULL. */
struct by_row {
  const struct shunt_dcsr_source *a;
  int64_t *offsets, *order, *columns;
};

/* Per strip: cursors, and the row of its last segment. */
struct strip_pass {
  int64_t *entries, *segments, *last_row;
  int64_t width, strips;
};

size_t shunt_dcsr_scratch_bytes(const struct shunt_dcsr_source *a,
                                const struct shunt_dcsr_layout *layout)
{
  size_t strips = (size_t)shunt_dcsr_strips(a->cols, shunt_dcsr_width(a->cols, layout));
  size_t words = 3 * strips + 2;

  if (a->from != SHUNT_DCSR_FROM_CSR) words += (size_t)a->rows + 1 + 2 * (size_t)a->nnz;
  return words * sizeof(int64_t);
}

static void divide_scratch(const struct shunt_dcsr_source *a,
                           const struct shunt_dcsr_layout *layout, void *scratch,
                           struct by_row *rows, struct strip_pass *pass)
{
  pass->width = shunt_dcsr_width(a->cols, layout);
  pass->strips = shunt_dcsr_strips(a->cols, pass->width);
  pass->entries = scratch;
  pass->segments = pass->entries + pass->strips + 1;
  pass->last_row = pass->segments + pass->strips + 1;
  *rows = (struct by_row){.a = a};
  if (a->from == SHUNT_DCSR_FROM_CSR) return;
  rows->offsets = pass->last_row + pass->strips;
  rows->order = rows->offsets + a->rows + 1;
  rows->columns = rows->order + a->nnz;
}

static int64_t row_begin(const struct by_row *r, int64_t i)
{
  if (r->offsets) return r->offsets[i];
  return from_base(index_at(r->a->offsets, r->a->index_type, i), r->a->base);
}

static int64_t column_of(const struct by_row *r, int64_t q)
{
  if (r->columns) return r->columns[q];
  return from_base(index_at(r->a->columns, r->a->index_type, q), r->a->base);
}

/* ---- by row ------------------------------------------------------------------------------ */

static int64_t row_index(const struct shunt_dcsr_source *a, int64_t p)
{
  return from_base(index_at(a->row_indices, a->index_type, p), a->base);
}

static void place_entry(struct by_row *r, int64_t p, int64_t column)
{
  int64_t q = r->offsets[row_index(r->a, p)]++;

  r->order[q] = p;
  r->columns[q] = column;
}

/* offsets[i] is used as row i's cursor and ends where row i + 1 begins; so it is moved on by one
   at last.  */
static void sort_by_row(struct by_row *r)
{
  const struct shunt_dcsr_source *a = r->a;

  memset(r->offsets, 0, ((size_t)a->rows + 1) * sizeof *r->offsets);
  for (int64_t p = 0; p < a->nnz; p++) r->offsets[row_index(a, p) + 1]++;
  for (int64_t i = 0; i < a->rows; i++) r->offsets[i + 1] += r->offsets[i];
  if (a->from == SHUNT_DCSR_FROM_COO) {
    for (int64_t p = 0; p < a->nnz; p++)
      place_entry(r, p, from_base(index_at(a->columns, a->index_type, p), a->base));
  } else {
    for (int64_t j = 0; j < a->cols; j++) {
      int64_t end = from_base(index_at(a->offsets, a->index_type, j + 1), a->base);
      for (int64_t p = from_base(index_at(a->offsets, a->index_type, j), a->base); p < end; p++)
        place_entry(r, p, j);
    }
  }
  for (int64_t i = a->rows; i > 0; i--) r->offsets[i] = r->offsets[i - 1];
  r->offsets[0] = 0;
}

/* ---- by strip ---------------------------------------------------------------------------- */

static void forget_rows(struct strip_pass *s)
{
  for (int64_t k = 0; k < s->strips; k++) s->last_row[k] = -1;
}

/* Afterwards entries[k] and segments[k] say where strip k begins; [strips] the totals. */
static void count_strips(const struct by_row *r, struct strip_pass *s)
{
  memset(s->entries, 0, (2 * (size_t)s->strips + 2) * sizeof *s->entries);
  forget_rows(s);
  for (int64_t i = 0; i < r->a->rows; i++)
    for (int64_t q = row_begin(r, i), end = row_begin(r, i + 1); q < end; q++) {
      int64_t k = column_of(r, q) / s->width;
      s->entries[k + 1]++;
      s->segments[k + 1] += s->last_row[k] != i;
      s->last_row[k] = i;
    }
  for (int64_t k = 0; k < s->strips; k++) {
    s->entries[k + 1] += s->entries[k];
    s->segments[k + 1] += s->segments[k];
  }
}

static void write_entry(const struct by_row *r, int64_t q, int64_t column,
                        const struct shunt_dcsr *d, int64_t p)
{
  int64_t from = r->order ? r->order[q] : q;

  set_index(d->columns, d->index_type, p, column);
  dcsr_move(d->values, p, r->a->values, from, shunt_type_size(d->value_type));
}

static void write_strips(const struct by_row *r, struct strip_pass *s, const struct shunt_dcsr *d)
{
  int64_t segments = s->segments[s->strips];

  for (int64_t k = 0; k <= s->strips; k++)
    set_index(d->strip_begin, d->index_type, k, s->segments[k]);
  forget_rows(s);
  for (int64_t i = 0; i < r->a->rows; i++)
    for (int64_t q = row_begin(r, i), end = row_begin(r, i + 1); q < end; q++) {
      int64_t column = column_of(r, q), k = column / s->width;
      if (s->last_row[k] != i) {
        set_index(d->row_ids, d->index_type, s->segments[k], i);
        set_index(d->offsets, d->index_type, s->segments[k]++, s->entries[k]);
        s->last_row[k] = i;
      }
      write_entry(r, q, column, d, s->entries[k]++);
    }
  set_index(d->offsets, d->index_type, segments, d->nnz);
  *d->counts = (struct shunt_dcsr_counts){.segments = (uint64_t)segments};
}

/* Checks, sorts and counts: what both functions below begin with. */
static shunt_status begin(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                          void *scratch, struct by_row *rows, struct strip_pass *pass,
                          struct shunt_dcsr_fault *fault)
{
  shunt_status status = shunt_dcsr_check_host(a, fault);

  if (status != SHUNT_OK) return status;
  if (shunt_dcsr_bytes(a, layout, 0) == 0) return SHUNT_E_UNSUPPORTED;
  divide_scratch(a, layout, scratch, rows, pass);
  if (rows->offsets) sort_by_row(rows);
  count_strips(rows, pass);
  return SHUNT_OK;
}

shunt_status shunt_dcsr_count_host(const struct shunt_dcsr_source *a,
                                   const struct shunt_dcsr_layout *layout, void *scratch,
                                   int64_t *segments, struct shunt_dcsr_fault *fault)
{
  struct strip_pass pass;
  struct by_row rows;
  shunt_status status = begin(a, layout, scratch, &rows, &pass, fault);

  *segments = status == SHUNT_OK ? pass.segments[pass.strips] : 0;
  return status;
}

shunt_status shunt_source_to_dcsr_host(const struct shunt_dcsr_source *a,
                                       const struct shunt_dcsr_layout *layout, void *scratch,
                                       const struct shunt_dcsr *out, struct shunt_dcsr_fault *fault)
{
  struct shunt_dcsr_fault found = {.rule = SHUNT_DCSR_SOUND};
  struct strip_pass pass;
  struct by_row rows;
  shunt_status status = begin(a, layout, scratch, &rows, &pass, &found);

  if (status == SHUNT_OK && pass.segments[pass.strips] > out->room) status = SHUNT_E_WORKSPACE;
  if (status == SHUNT_OK)
    write_strips(&rows, &pass, out);
  else
    *out->counts =
        (struct shunt_dcsr_counts){.fault = dcsr_fault_word(&found), .irregular = SHUNT_IRREGULAR};
  if (fault) *fault = found;
  return status;
}

/* ---- back to CSR ------------------------------------------------------------------------- */

/* offsets[i] = where row i begins, from 0. */
static void count_rows(const struct shunt_dcsr *d, void *offsets, shunt_type type)
{
  memset(offsets, 0, ((size_t)d->rows + 1) * shunt_type_size(type));
  for (int64_t g = 0; g < (int64_t)d->counts->segments; g++) {
    int64_t next = index_at(d->row_ids, d->index_type, g) + 1;
    int64_t length =
        index_at(d->offsets, d->index_type, g + 1) - index_at(d->offsets, d->index_type, g);
    set_index(offsets, type, next, index_at(offsets, type, next) + length);
  }
  for (int64_t i = 0; i < d->rows; i++)
    set_index(offsets, type, i + 1, index_at(offsets, type, i + 1) + index_at(offsets, type, i));
}

/* Writes the entries of segment g from place q on; returns the end. */
static int64_t unpack_segment(const struct shunt_dcsr *d, int64_t g, struct shunt_csr *a, int64_t q)
{
  int64_t end = index_at(d->offsets, d->index_type, g + 1);

  for (int64_t p = index_at(d->offsets, d->index_type, g); p < end; p++, q++) {
    set_index((void *)(uintptr_t)a->columns, a->index_type, q,
              index_at(d->columns, d->index_type, p) + a->base);
    dcsr_move(a->values, q, d->values, p, shunt_type_size(d->value_type));
  }
  return q;
}

shunt_status shunt_dcsr_to_csr_host(const struct shunt_dcsr *d, struct shunt_csr *a)
{
  void *offsets = (void *)(uintptr_t)a->row_offsets;

  if (d->counts->irregular) return SHUNT_E_ARGUMENT;
  if (!is_index(a->index_type) || !dcsr_index_holds(a->index_type, d->nnz + a->base) ||
      !dcsr_index_holds(a->index_type, d->cols - 1 + a->base))
    return SHUNT_E_UNSUPPORTED;
  a->rows = d->rows, a->cols = d->cols, a->nnz = d->nnz, a->value_type = d->value_type;
  count_rows(d, offsets, a->index_type);
  for (int64_t g = 0; g < (int64_t)d->counts->segments; g++) { /* cursors, as in sort_by_row */
    int64_t row = index_at(d->row_ids, d->index_type, g);
    int64_t q = index_at(offsets, a->index_type, row);
    set_index(offsets, a->index_type, row, unpack_segment(d, g, a, q));
  }
  for (int64_t i = d->rows; i > 0; i--)
    set_index(offsets, a->index_type, i, index_at(offsets, a->index_type, i - 1) + a->base);
  set_index(offsets, a->index_type, 0, a->base);
  return SHUNT_OK;
}
