/* host_bundle_from_csr.c: CSR to merged column lists of groups of 8 rows, on the host: the slow
   twin of bundle_from_csr.cu.

   Eight cursors, one a row; each step takes the least of the columns they stand at, and
   moves on those that stand there.  */
#include "conv/bundle/bundle_conv.h"
#include "conv/common/index.h"

#include <string.h>

enum { ROWS = SHUNT_BUNDLE_ROWS };

/* ---- merging -------------------------------------------------------------------- */

/* Where the rows of a group begin and end; false: offsets that cannot be. */
static int find_rows(const struct shunt_csr *a, int64_t group, int64_t *at, int64_t *end)
{
  for (int r = 0; r < ROWS; r++) {
    int64_t row = group * ROWS + r;
    at[r] = end[r] = 0;
    if (row >= a->rows) continue;
    at[r] = from_base(index_at(a->row_offsets, a->index_type, row), a->base);
    end[r] = from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base);
    if (at[r] < 0 || end[r] < at[r] || end[r] > a->nnz) return 0;
  }
  return 1;
}

/* The group's list; the number of its vectors, or -1: irregular. */
static int64_t merge_group(const struct shunt_csr *a, const struct shunt_bundle *g, int64_t begin,
                           int64_t *at, const int64_t *end)
{
  int64_t count = 0, before = -1;

  for (;; count++) {
    int64_t next = a->cols;
    uint8_t mask = 0;
    for (int r = 0; r < ROWS; r++) {
      if (at[r] == end[r]) continue;
      int64_t column = from_base(index_at(a->columns, a->index_type, at[r]), a->base);
      /* A row that falls back, or repeats a column, is behind what was taken before. */
      if (column <= before || column >= a->cols) return -1;
      if (column < next) next = column, mask = 0;
      if (column == next) mask |= (uint8_t)(1u << r);
    }
    if (!mask) return count;
    g->columns[begin + count] = (uint32_t)next;
    g->masks[begin + count] = mask;
    for (int r = 0; r < ROWS; r++) at[r] += mask >> r & 1;
    before = next;
  }
}

static void add_group(const struct shunt_bundle *g, int64_t group, int64_t count)
{
  struct shunt_bundle_counts *c = g->counts;

  g->count[group] = count < 0 ? 0 : (uint32_t)count;
  if (count < 0) {
    c->irregular++;
    return;
  }
  c->vectors += (uint64_t)count;
  if (count > c->longest) c->longest = (uint32_t)count;
  if (count <= SHUNT_BUNDLE_LONG) return;
  /* Offsets that run back and forth can make more long groups than there is room for. */
  if (c->long_groups < g->nnz / SHUNT_BUNDLE_LONG) g->long_list[c->long_groups] = (uint32_t)group;
  c->long_groups++;
}

shunt_status shunt_csr_to_bundle_host(const struct shunt_csr *a, const struct shunt_bundle *out)
{
  int64_t at[ROWS], end[ROWS];

  if (shunt_bundle_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (out->rows != a->rows || out->cols != a->cols || out->nnz < a->nnz) return SHUNT_E_ARGUMENT;
  memset(out->counts, 0, sizeof *out->counts);
  for (int64_t group = 0; group < out->groups; group++) {
    int sound = find_rows(a, group, at, end);
    out->begin[group] = sound ? (uint32_t)at[0] : 0;
    add_group(out, group, sound ? merge_group(a, out, at[0], at, end) : -1);
  }
  return SHUNT_OK;
}
