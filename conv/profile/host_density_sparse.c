/* host_density_sparse.c: where the entries of a matrix of GraphBLAS lie (density_sparse.h).

   "Row" is what the matrix is held by.  */
#include <string.h>

#include "conv/profile/density_sparse.h"

enum { GROUP = 8 };

static int64_t number(const void *array, int bytes, int64_t i)
{
  return bytes == 8 ? ((const int64_t *)array)[i] : ((const uint32_t *)array)[i];
}

static int64_t index_at(const struct shunt_sparse *a, int64_t p)
{
  return number(a->indices, a->index_bytes, p);
}

/* The first of [from, to) in an ascending array that is at least x; `to`: none. */
static int64_t first_from(const void *array, int bytes, int64_t from, int64_t to, int64_t x)
{
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (number(array, bytes, middle) < x)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

struct row {
  int64_t begin, end;
};

static struct row row_of(const struct shunt_sparse *a, int64_t i)
{
  int64_t v = i;
  if (a->ids) {
    v = first_from(a->ids, a->id_bytes, 0, a->vectors, i);
    if (v == a->vectors || number(a->ids, a->id_bytes, v) != i) return (struct row){0, 0};
  }
  return (struct row){number(a->offsets, a->offset_bytes, v),
                      number(a->offsets, a->offset_bytes, v + 1)};
}

static bool has(const struct shunt_sparse *a, struct row r, int64_t index)
{
  const int64_t p = first_from(a->indices, a->index_bytes, r.begin, r.end, index);
  return p < r.end && index_at(a, p) == index;
}

static bool all_have(const struct shunt_sparse *a, const struct row *of, int first, int n, int but,
                     int64_t index)
{
  for (int k = first; k < first + n; k++)
    if (k != but && !has(a, of[k], index)) return false;
  return true;
}

/* Has the row half or more of the columns from `first` on that a tile has? */
static bool is_crowded(const struct shunt_sparse *a, struct row r, int64_t first)
{
  const int64_t from = first_from(a->indices, a->index_bytes, r.begin, r.end, first);
  const int64_t last = from + SHUNT_DENSITY_TILE_LEAST - 1;
  return last < r.end && index_at(a, last) < first + SHUNT_DENSITY_TILE_WIDE;
}

static bool in_tile(const struct shunt_sparse *a, const struct row *of, int at, int64_t index)
{
  const int64_t first = index - index % SHUNT_DENSITY_TILE_WIDE;
  if (!is_crowded(a, of[at], first)) return false;
  for (int k = 0; k < GROUP; k++)
    if (!is_crowded(a, of[k], first)) return false;
  return true;
}

static bool one_of_two(const struct shunt_sparse *a, struct row r, int64_t p)
{
  int n = 0;
  for (int64_t q = p - 3; q <= p + 3; q++)
    if (q >= r.begin && q < r.end) n += index_at(a, q) / 4 == index_at(a, p) / 4;
  return n == 2;
}

/* The pair comes next: most entries of a graph are of none, and no more is asked of them. */
static enum shunt_density_kind kind_of(const struct shunt_sparse *a, const struct row *of, int at,
                                       int64_t p)
{
  const int64_t index = index_at(a, p);
  if (in_tile(a, of, at, index)) return SHUNT_DENSITY_TILE;
  if (!all_have(a, of, at & ~1, 2, at, index))
    return one_of_two(a, of[at], p) ? SHUNT_DENSITY_24 : SHUNT_DENSITY_OTHER;
  if (!all_have(a, of, at & ~3, 4, at, index)) return SHUNT_DENSITY_2;
  return all_have(a, of, 0, GROUP, at, index) ? SHUNT_DENSITY_8 : SHUNT_DENSITY_4;
}

/* The picture in the orientation in which the matrix is held; looked: as counted. */
static void count_row(const struct shunt_sparse *a, const struct row *of, int at, int64_t i,
                      struct shunt_density *d)
{
  const int64_t length = of[at].end - of[at].begin, line = i * d->high / d->rows;
  const int64_t n = length < SHUNT_DENSITY_FEW_ENTRIES ? length : SHUNT_DENSITY_FEW_ENTRIES;
  d->looked[line]++;
  for (int64_t k = 0; k < n; k++) {
    const int64_t place = k * length / n, next = (k + 1) * length / n;
    const int64_t p = of[at].begin + place;
    const int64_t cell = index_at(a, p) * d->wide / d->cols;
    d->entries[line][cell][kind_of(a, of, at, p)] += (uint64_t)(next - place);
  }
}

static void count(const struct shunt_sparse *a, struct shunt_density *d)
{
  const int64_t groups = (d->rows + GROUP - 1) / GROUP;
  const int64_t few = groups < SHUNT_DENSITY_FEW_GROUPS ? groups : SHUNT_DENSITY_FEW_GROUPS;
  for (int64_t k = 0; k < few; k++) {
    const int64_t first = k * groups / few * GROUP;
    struct row of[GROUP] = {{0, 0}};
    for (int at = 0; at < GROUP && first + at < d->rows; at++) of[at] = row_of(a, first + at);
    for (int at = 0; at < GROUP && first + at < d->rows; at++) count_row(a, of, at, first + at, d);
  }
}

/* Lets the rows that were looked at stand for all. */
static void spread(struct shunt_density *d)
{
  for (int y = 0; y < d->high; y++) {
    const double all = (double)shunt_density_extent(d->rows, d->high, y);
    const double by = d->looked[y] ? all / (double)d->looked[y] : 0;
    for (int x = 0; x < d->wide; x++)
      for (int k = 0; k < SHUNT_DENSITY_KINDS; k++)
        d->entries[y][x][k] = (uint64_t)(by * (double)d->entries[y][x][k] + 0.5);
    d->looked[y] = (uint64_t)all;
  }
}

static void turn(const struct shunt_density *d, struct shunt_density *out)
{
  memset(out, 0, sizeof *out);
  out->rows = d->cols, out->cols = d->rows;
  out->high = d->wide, out->wide = d->high;
  for (int y = 0; y < out->high; y++) {
    out->looked[y] = (uint64_t)shunt_density_extent(out->rows, out->high, y);
    for (int x = 0; x < out->wide; x++)
      memcpy(out->entries[y][x], d->entries[x][y], sizeof out->entries[y][x]);
  }
}

void shunt_density_sparse_host(const struct shunt_sparse *a, struct shunt_density *out)
{
  struct shunt_density d;
  memset(&d, 0, sizeof d);
  d.rows = a->by_column ? a->cols : a->rows;
  d.cols = a->by_column ? a->rows : a->cols;
  d.high = shunt_density_cells(d.rows), d.wide = shunt_density_cells(d.cols);
  if (d.rows > 0 && d.cols > 0) count(a, &d);
  spread(&d);
  if (a->by_column)
    turn(&d, out);
  else
    *out = d;
}
