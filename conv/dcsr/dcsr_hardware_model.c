/* dcsr_hardware_model.c: the conversion unit, one step at a time (dcsr_hardware_model.h).

   Nothing but a lane's buffer is looked at by the tree, and nothing but a prefetch looks at the
   CSC arrays' row indices, so that the counts are those of the model and not of a shortcut.

   The tree is an array, its leaves (lanes, padded to a power of two) behind its inner nodes:

     node n has children 2n and 2n + 1           1
                                              2     3
     leaf l is node leaves + l              4  5   6  7      EMPTY: no row, larger than all  */
#include "conv/dcsr/dcsr_hardware_model.h"

#include <string.h>

#include "conv/dcsr/dcsr_index.h"

static const int64_t EMPTY = INT64_MAX;

struct lane {
  int64_t frontier, boundary;           /* entries of the column that are left */
  int64_t fetched;                      /* the buffer holds entries frontier .. fetched - 1 */
  int64_t rows[SHUNT_DCSR_UNIT_BUFFER]; /* of entry p at p % SHUNT_DCSR_UNIT_BUFFER */
  int64_t before;                       /* the row before the frontier, to see that they ascend */
};

struct unit {
  const struct shunt_dcsr_source *a;
  const struct shunt_dcsr *out;
  struct shunt_dcsr_unit_counts *counts;
  struct shunt_dcsr_fault fault;
  struct lane *lanes;
  int64_t *tree;
  int64_t leaves, levels;
  int64_t first_column, width; /* of the current strip */
  int64_t segment, element;    /* written so far */
};

static int64_t round_up_power(int64_t n, int64_t *levels)
{
  int64_t power = 1;

  *levels = 0;
  while (power < n) {
    power *= 2;
    ++*levels;
  }
  return power;
}

size_t shunt_dcsr_unit_scratch_bytes(const struct shunt_dcsr_source *a,
                                     const struct shunt_dcsr_layout *layout)
{
  int64_t levels, leaves = round_up_power(shunt_dcsr_width(a->cols, layout), &levels);

  return (size_t)leaves * (sizeof(struct lane) + 2 * sizeof(int64_t));
}

/* ---- a lane ------------------------------------------------------------------------------ */

static int64_t offset_at(const struct shunt_dcsr_source *a, int64_t column)
{
  return index_at(a->offsets, a->index_type, column) - a->base;
}

static shunt_status prefetch(struct unit *e, int64_t l)
{
  struct lane *lane = &e->lanes[l];
  int64_t end = lane->fetched + SHUNT_DCSR_UNIT_BUFFER;

  e->counts->prefetches++;
  for (; lane->fetched < end && lane->fetched < lane->boundary; lane->fetched++) {
    int64_t stored = index_at(e->a->row_indices, e->a->index_type, lane->fetched);
    int64_t row = stored - e->a->base;
    if (row < lane->before) {
      e->fault = (struct shunt_dcsr_fault){SHUNT_DCSR_UNSORTED, e->first_column + l, lane->fetched,
                                           stored};
      return SHUNT_E_ARGUMENT;
    }
    lane->before = row;
    lane->rows[lane->fetched % SHUNT_DCSR_UNIT_BUFFER] = row;
  }
  return SHUNT_OK;
}

/* Puts the row at lane l's frontier at its leaf, fetching it if need be. */
static shunt_status offer(struct unit *e, int64_t l)
{
  struct lane *lane = &e->lanes[l];
  shunt_status status = SHUNT_OK;

  if (lane->frontier < lane->boundary && lane->frontier == lane->fetched) status = prefetch(e, l);
  e->tree[e->leaves + l] =
      lane->frontier < lane->boundary ? lane->rows[lane->frontier % SHUNT_DCSR_UNIT_BUFFER] : EMPTY;
  return status;
}

/* ---- a strip ----------------------------------------------------------------------------- */

static shunt_status load_pointers(struct unit *e)
{
  shunt_status status = SHUNT_OK;

  for (int64_t l = 0; l < e->leaves; l++) e->tree[e->leaves + l] = EMPTY;
  for (int64_t l = 0; l < e->width && status == SHUNT_OK; l++) {
    struct lane *lane = &e->lanes[l];
    lane->frontier = lane->fetched = offset_at(e->a, e->first_column + l);
    lane->boundary = offset_at(e->a, e->first_column + l + 1);
    lane->before = -1;
    status = offer(e, l);
  }
  return status;
}

static int64_t minimal_row(struct unit *e)
{
  e->counts->tree_activations++;
  for (int64_t n = e->leaves - 1; n >= 1; n--)
    e->tree[n] = e->tree[2 * n] < e->tree[2 * n + 1] ? e->tree[2 * n] : e->tree[2 * n + 1];
  return e->tree[1];
}

/* Emits what lane l has in `row`: once, or as often as the entry is repeated. */
static shunt_status drain(struct unit *e, int64_t l, int64_t row)
{
  const struct shunt_dcsr *d = e->out;
  struct lane *lane = &e->lanes[l];
  shunt_status status = SHUNT_OK;

  while (status == SHUNT_OK && e->tree[e->leaves + l] == row) {
    int64_t from = lane->frontier++;
    set_index(d->columns, d->index_type, e->element, e->first_column + l);
    dcsr_move(d->values, e->element, e->a->values, from, shunt_type_size(d->value_type));
    e->element++;
    status = offer(e, l);
  }
  return status;
}

static shunt_status emit_row(struct unit *e, int64_t row)
{
  const struct shunt_dcsr *d = e->out;
  shunt_status status = SHUNT_OK;

  if (e->segment == d->room) return SHUNT_E_WORKSPACE;
  set_index(d->row_ids, d->index_type, e->segment, row);
  set_index(d->offsets, d->index_type, e->segment, e->element);
  e->segment++;
  for (int64_t l = 0; l < e->width && status == SHUNT_OK; l++) status = drain(e, l, row);
  return status;
}

/* All of one strip; *cycles it takes. */
static shunt_status run_strip(struct unit *e, int64_t strip, int64_t *cycles)
{
  int64_t before = e->element, row;
  shunt_status status;

  e->first_column = strip * e->out->width;
  e->width = e->out->cols - e->first_column;
  if (e->width > e->out->width) e->width = e->out->width;
  e->counts->bytes_read += (e->width + 1) * (int64_t)shunt_type_size(e->a->index_type);
  set_index(e->out->strip_begin, e->out->index_type, strip, e->segment);
  *cycles = 0;
  if (offset_at(e->a, e->first_column) == offset_at(e->a, e->first_column + e->width))
    return SHUNT_OK;
  status = load_pointers(e);
  while (status == SHUNT_OK && (row = minimal_row(e)) != EMPTY) status = emit_row(e, row);
  e->counts->strips++;
  *cycles = e->element - before + e->levels;
  return status;
}

static shunt_status run_strips(struct unit *e)
{
  int64_t channel[SHUNT_DCSR_UNIT_CHANNELS] = {0}, cycles;
  struct shunt_dcsr_unit_counts *c = e->counts;

  for (int64_t s = 0; s < e->out->strips; s++) {
    shunt_status status = run_strip(e, s, &cycles);
    if (status != SHUNT_OK) return status;
    c->cycles += cycles;
    channel[s % SHUNT_DCSR_UNIT_CHANNELS] += cycles;
  }
  for (int k = 0; k < SHUNT_DCSR_UNIT_CHANNELS; k++)
    if (channel[k] > c->busiest_cycles) c->busiest_cycles = channel[k];
  return SHUNT_OK;
}

static void finish(struct unit *e)
{
  const struct shunt_dcsr *d = e->out;
  struct shunt_dcsr_unit_counts *c = e->counts;
  int64_t value = (int64_t)shunt_type_size(d->value_type);
  int64_t in = (int64_t)shunt_type_size(e->a->index_type);
  int64_t out = (int64_t)shunt_type_size(d->index_type);

  set_index(d->strip_begin, d->index_type, d->strips, e->segment);
  set_index(d->offsets, d->index_type, e->segment, e->element);
  *d->counts = (struct shunt_dcsr_counts){.segments = (uint64_t)e->segment};
  c->elements = e->element;
  c->segments = e->segment;
  c->bytes_read += e->element * (in + value);
  c->bytes_written = e->segment * 2 * out + e->element * (out + value);
}

shunt_status shunt_dcsr_unit_run_host(const struct shunt_dcsr_source *a,
                                      const struct shunt_dcsr_layout *layout, void *scratch,
                                      const struct shunt_dcsr *out,
                                      struct shunt_dcsr_unit_counts *counts,
                                      struct shunt_dcsr_fault *fault)
{
  struct unit e = {.a = a, .out = out, .counts = counts};
  shunt_status status = shunt_dcsr_check_host(a, &e.fault);

  memset(counts, 0, sizeof *counts);
  if (status == SHUNT_OK && (a->from != SHUNT_DCSR_FROM_CSC || !shunt_dcsr_bytes(a, layout, 0)))
    status = SHUNT_E_UNSUPPORTED;
  if (status == SHUNT_OK) {
    e.leaves = round_up_power(out->width, &e.levels);
    e.lanes = scratch;
    e.tree = (int64_t *)(e.lanes + e.leaves);
    status = run_strips(&e);
  }
  if (status == SHUNT_OK)
    finish(&e);
  else
    *out->counts = (struct shunt_dcsr_counts){.fault = dcsr_fault_word(&e.fault),
                                              .irregular = SHUNT_IRREGULAR};
  if (fault) *fault = e.fault;
  return status;
}

/* ---- in the paper's figures -------------------------------------------------------------- */

struct shunt_dcsr_unit_estimate
shunt_dcsr_unit_estimate(const struct shunt_dcsr_unit_counts *counts, shunt_type index,
                         shunt_type value)
{
  double bytes = (double)(shunt_type_size(index) + shunt_type_size(value));
  double steps = bytes > SHUNT_DCSR_UNIT_ELEMENT_BYTES ? bytes / SHUNT_DCSR_UNIT_ELEMENT_BYTES : 1;
  struct shunt_dcsr_unit_estimate out = {.element_ns = SHUNT_DCSR_UNIT_ELEMENT_NS * steps};

  out.us = (double)counts->busiest_cycles * out.element_ns * 1e-3;
  out.balanced_us = (double)counts->cycles * out.element_ns * 1e-3 / SHUNT_DCSR_UNIT_CHANNELS;
  out.elements_a_second = out.us > 0 ? (double)counts->elements / (out.us * 1e-6) : 0;
  out.peak = SHUNT_DCSR_UNIT_CHANNELS / (out.element_ns * 1e-9);
  out.uj = (double)counts->elements * SHUNT_DCSR_UNIT_ELEMENT_PJ * 1e-6;
  return out;
}
