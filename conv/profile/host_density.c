/* host_density.c: where the entries of a pattern lie, counted on the host; the slow twin of
   density.cu (definitions: density.h).  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/profile/density.h"

enum { GROUP = 8 };

struct row {
  int64_t begin, length;
};

static struct row row_of(const struct shunt_csr *a, int64_t i)
{
  if (i >= a->rows) return (struct row){0, 0};
  const int64_t begin = index_at(a->row_offsets, a->index_type, i);
  const int64_t end = index_at(a->row_offsets, a->index_type, i + 1);
  if (begin < a->base || end < begin || end - a->base > a->nnz) return (struct row){0, 0};
  return (struct row){begin - a->base, end - begin};
}

static bool has(const struct shunt_csr *a, struct row r, int64_t column)
{
  for (int64_t p = r.begin; p < r.begin + r.length; p++)
    if (index_at(a->columns, a->index_type, p) == column) return true;
  return false;
}

/* Have rows first .. first + n - 1 an entry in that column each? */
static bool all_have(const struct shunt_csr *a, int64_t first, int n, int64_t column)
{
  for (int k = 0; k < n; k++)
    if (!has(a, row_of(a, first + k), column)) return false;
  return true;
}

/* Has the row half or more of the columns from `first` on that a tile has? */
static bool is_crowded(const struct shunt_csr *a, struct row r, int64_t first)
{
  int n = 0;
  for (int64_t p = r.begin; p < r.begin + r.length; p++) {
    const int64_t column = index_at(a->columns, a->index_type, p);
    n += column >= first && column < first + SHUNT_DENSITY_TILE_WIDE;
  }
  return n >= SHUNT_DENSITY_TILE_LEAST;
}

/* The tile's rows are i / 8 * 8 on. */
static bool in_tile(const struct shunt_csr *a, int64_t i, int64_t column)
{
  const int64_t first = column - (column - a->base) % SHUNT_DENSITY_TILE_WIDE;
  if (!is_crowded(a, row_of(a, i), first)) return false;
  for (int k = 0; k < GROUP; k++)
    if (!is_crowded(a, row_of(a, i / GROUP * GROUP + k), first)) return false;
  return true;
}

/* How many entries next to entry p of row r, and itself, lie in its aligned four columns. */
static int in_four(const struct shunt_csr *a, struct row r, int64_t p)
{
  const uint64_t base = (uint64_t)a->base;
  const uint64_t four = ((uint64_t)index_at(a->columns, a->index_type, p) - base) / 4;
  int n = 0;
  for (int64_t q = p - 3; q <= p + 3; q++)
    if (q >= r.begin && q < r.begin + r.length)
      n += ((uint64_t)index_at(a->columns, a->index_type, q) - base) / 4 == four;
  return n;
}

static enum shunt_density_kind kind_of(const struct shunt_csr *a, int64_t i, int64_t p)
{
  const int64_t column = index_at(a->columns, a->index_type, p);
  if (in_tile(a, i, column)) return SHUNT_DENSITY_TILE;
  if (all_have(a, i / 8 * 8, 8, column)) return SHUNT_DENSITY_8;
  if (all_have(a, i / 4 * 4, 4, column)) return SHUNT_DENSITY_4;
  if (all_have(a, i / 2 * 2, 2, column)) return SHUNT_DENSITY_2;
  return in_four(a, row_of(a, i), p) == 2 ? SHUNT_DENSITY_24 : SHUNT_DENSITY_OTHER;
}

static void count_row(const struct shunt_csr *a, int64_t i, struct shunt_density *out)
{
  const struct row r = row_of(a, i);
  const int64_t n = r.length < SHUNT_DENSITY_ENTRIES ? r.length : SHUNT_DENSITY_ENTRIES;
  const int64_t line = i * out->high / a->rows;
  out->looked[line]++;
  for (int64_t k = 0; k < n; k++) {
    const int64_t place = k * r.length / n, next = (k + 1) * r.length / n;
    const int64_t column = index_at(a->columns, a->index_type, r.begin + place);
    if (column < a->base || column - a->base >= a->cols) continue;
    out->entries[line][(column - a->base) * out->wide / a->cols][kind_of(a, i, r.begin + place)] +=
        (uint64_t)(next - place);
  }
}

shunt_status shunt_density_csr_host(const struct shunt_csr *a, struct shunt_density *out)
{
  const int64_t groups = (a->rows + GROUP - 1) / GROUP;
  const int64_t looked = groups < SHUNT_DENSITY_GROUPS ? groups : SHUNT_DENSITY_GROUPS;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  memset(out, 0, sizeof *out);
  out->rows = a->rows, out->cols = a->cols;
  out->high = shunt_density_cells(a->rows), out->wide = shunt_density_cells(a->cols);
  for (int64_t k = 0; k < looked; k++) {
    const int64_t first = k * groups / looked * GROUP;
    for (int64_t i = first; i < first + GROUP && i < a->rows; i++) count_row(a, i, out);
  }
  return SHUNT_OK;
}
