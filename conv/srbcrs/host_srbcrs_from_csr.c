/* host_srbcrs_from_csr.c: CSR to the `srbcrs` format on the host, the twin of srbcrs_from_csr.cu.

   A cursor for each row of a group; the leftmost column that any of them stands at is the next
   vector, and the rows that stand there take a step.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/srbcrs/srbcrs_conv.h"

enum { STRIDE = SHUNT_SRBCRS_STRIDE, TALLEST = SHUNT_SRBCRS_TALLEST };

struct group {
  const struct shunt_csr *a;
  const struct shunt_srbcrs *v;
  int64_t first_row, first, room;    /* of slots */
  int64_t at[TALLEST], end[TALLEST]; /* what is left of each row */
  int64_t vectors, last;             /* so far; the column of the last one */
  int irregular;
};

static int64_t offset_of(const struct shunt_csr *a, int64_t row)
{
  return from_base(index_at(a->row_offsets, a->index_type, row), a->base);
}

static int64_t column_of(const struct shunt_csr *a, int64_t entry)
{
  return from_base(index_at(a->columns, a->index_type, entry), a->base);
}

static int64_t first_stride_of(const struct group *k, const struct shunt_srbcrs_layout *layout,
                               int64_t g)
{
  if (g == k->v->groups) return shunt_srbcrs_strides(k->a, layout);
  const int64_t before = offset_of(k->a, g * layout->height);
  const int64_t inside = before < 0 ? 0 : before > k->a->nnz ? k->a->nnz : before;
  return shunt_srbcrs_first_stride(inside, g, layout->share);
}

static struct group open_group(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                               const struct shunt_srbcrs *v, int64_t g)
{
  struct group k = {.a = a, .v = v, .first_row = g * layout->height};
  k.first = first_stride_of(&k, layout, g) * STRIDE;
  k.room = first_stride_of(&k, layout, g + 1) * STRIDE - k.first;
  if (k.room < 0) k.room = 0, k.irregular = 1;
  for (int r = 0; r < layout->height && k.first_row + r < a->rows; r++) {
    const int64_t from = offset_of(a, k.first_row + r), to = offset_of(a, k.first_row + r + 1);
    if (from < 0 || to < from || to > a->nnz)
      k.irregular = 1;
    else
      k.at[r] = from, k.end[r] = to;
  }
  return k;
}

/* The leftmost column that a row stands at; -1: all rows are done. */
static int64_t next_column(const struct group *k)
{
  int64_t least = -1;
  for (int r = 0; r < k->v->height; r++) {
    if (k->at[r] >= k->end[r]) continue;
    const int64_t column = column_of(k->a, k->at[r]);
    if (least < 0 || column < least) least = column;
    if (column < 0) return INT64_MIN;
  }
  return least;
}

static int value_of(const struct shunt_csr *a, int64_t entry)
{
  return a->value_type == SHUNT_I16 ? ((const int16_t *)a->values)[entry]
                                    : ((const int8_t *)a->values)[entry];
}

static void put_nibble(uint8_t *row, int64_t at, unsigned x)
{
  uint8_t *byte = row + at % 16;
  const int shift = (int)(at / 16) * 4;
  *byte = (uint8_t)((*byte & ~(15u << shift)) | (x & 15u) << shift);
}

static void put_value(const struct shunt_srbcrs *v, int r, int64_t slot, int x)
{
  const int64_t stride = slot / STRIDE, at = slot % STRIDE;
  uint8_t *rows = v->values + stride * v->height * STRIDE * v->bits / 8;
  if (v->bits == 8) {
    rows[r * STRIDE + at] = (uint8_t)x;
  } else if (v->bits == 16) {
    rows[r * STRIDE + at] = (uint8_t)x;
    rows[(v->height + r) * STRIDE + at] = (uint8_t)((unsigned)x >> 8);
  } else if (v->bits == 12) {
    rows[r * STRIDE + at] = (uint8_t)x;
    put_nibble(rows + v->height * STRIDE + r * STRIDE / 2, at, (unsigned)x >> 8);
  } else {
    put_nibble(rows + r * STRIDE / 2, at, (unsigned)x);
  }
}

static void put(const struct group *k, int64_t slot, int64_t column)
{
  const struct shunt_srbcrs *v = k->v;
  v->columns[slot] = (uint32_t)column;
  v->masks[slot] = 0;
  for (int r = 0; r < v->height; r++) put_value(v, r, slot, 0);
}

/* The vector in `column`; false: the group is irregular from here on. */
static int take(struct group *k, int64_t column)
{
  const struct shunt_srbcrs *v = k->v;
  const int64_t slot = k->first + k->vectors;
  if (column < 0 || column >= v->cols || k->vectors >= k->room) return 0;
  if (k->vectors > 0 && column <= k->last) return 0;
  put(k, slot, column);
  for (int r = 0; r < v->height; r++) {
    if (k->at[r] >= k->end[r] || column_of(k->a, k->at[r]) != column) continue;
    const int x = value_of(k->a, k->at[r]++);
    if (!shunt_srbcrs_holds(v, x)) return 0;
    v->masks[slot] |= (uint8_t)(1u << r);
    put_value(v, r, slot, x);
  }
  k->last = column;
  k->vectors++;
  return 1;
}

static void pack_group(struct group *k, int64_t g)
{
  const struct shunt_srbcrs *v = k->v;
  for (int64_t column = next_column(k); column != -1; column = next_column(k))
    if (!take(k, column)) {
      k->irregular = 1;
      break;
    }
  const int64_t strides = (k->vectors + STRIDE - 1) / STRIDE;
  for (int64_t s = k->vectors; s < strides * STRIDE; s++) put(k, k->first + s, k->last);
  v->begin[g] = (uint32_t)k->first;
  v->end[g] = (uint32_t)(k->first + k->vectors);
  v->counts->vectors += (uint64_t)k->vectors;
  v->counts->strides += (uint64_t)strides;
  if (strides > v->counts->longest) v->counts->longest = (uint32_t)strides;
  if (k->irregular) v->counts->irregular = SHUNT_IRREGULAR;
}

shunt_status shunt_csr_to_srbcrs_host(const struct shunt_csr *a,
                                      const struct shunt_srbcrs_layout *layout,
                                      const struct shunt_srbcrs *v)
{
  if (shunt_srbcrs_strides(a, layout) == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols || v->nnz != a->nnz || v->height != layout->height ||
      v->bits != layout->bits)
    return SHUNT_E_ARGUMENT;
  memset(v->counts, 0, sizeof *v->counts);
  for (int64_t g = 0; g < v->groups; g++) {
    struct group k = open_group(a, layout, v, g);
    pack_group(&k, g);
    if (layout->spread && !k.irregular) shunt_srbcrs_spread_host(v, g);
  }
  return SHUNT_OK;
}
