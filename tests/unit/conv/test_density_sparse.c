/* test_density_sparse.c: the picture of a matrix of GraphBLAS is that of the same CSR matrix where
   all of it is looked at, whatever its indices' width, by row, by column and hypersparse; and close
   to it where little is.  */
#include <stdlib.h>
#include <string.h>

#include "conv/profile/density_sparse.h"
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

/* Rows of groups of `alike` have equal columns; of each place with such a chance an entry. */
static struct owned make(int64_t rows, int64_t cols, double density, int alike)
{
  const int64_t most = rows * cols;
  struct owned o = owned_new(rows, cols, most, SHUNT_I64, SHUNT_F32, 0);
  int64_t *offsets = o.offsets, *columns = o.columns, n = 0;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t first = offsets[i - i % alike], end = offsets[i - i % alike + (i % alike > 0)];
    offsets[i] = n;
    if (i % alike > 0)
      for (int64_t p = first; p < end; p++) columns[n++] = columns[p];
    else
      for (int64_t j = 0; j < cols; j++)
        if (chance(density)) columns[n++] = j;
    offsets[i + 1] = n;
  }
  o.a.nnz = n;
  return o;
}

static struct shunt_sparse sparse_of(const struct shunt_csr *a)
{
  return (struct shunt_sparse){.rows = a->rows,
                               .cols = a->cols,
                               .vectors = a->rows,
                               .nnz = a->nnz,
                               .offsets = a->row_offsets,
                               .indices = a->columns,
                               .id_bytes = 8,
                               .offset_bytes = 8,
                               .index_bytes = 8};
}

static uint32_t *narrowed(const void *from, int64_t n)
{
  uint32_t *to = malloc((size_t)(n + 1) * sizeof *to);
  for (int64_t i = 0; i < n; i++) to[i] = (uint32_t)((const int64_t *)from)[i];
  return to;
}

static bool same(const struct shunt_density *x, const struct shunt_density *y)
{
  return x->rows == y->rows && x->cols == y->cols && x->high == y->high && x->wide == y->wide &&
         memcmp(x->looked, y->looked, sizeof x->looked) == 0 &&
         memcmp(x->entries, y->entries, sizeof x->entries) == 0;
}

static bool turned(const struct shunt_density *x, const struct shunt_density *y)
{
  bool good = x->rows == y->cols && x->cols == y->rows && x->high == y->wide && x->wide == y->high;
  for (int i = 0; i < x->high; i++)
    for (int j = 0; j < x->wide; j++)
      good &= memcmp(x->entries[i][j], y->entries[j][i], sizeof x->entries[i][j]) == 0;
  return good;
}

/* In each form in which GraphBLAS may hold it. */
static void test_forms(int64_t rows, int64_t cols, double density, int alike)
{
  struct owned o = make(rows, cols, density, alike);
  struct shunt_density want, got;
  struct shunt_sparse s = sparse_of(&o.a);
  shunt_density_csr_host(&o.a, &want);
  shunt_density_sparse_host(&s, &got);
  check(same(&got, &want), "%d x %d, %g, %d alike: the picture of CSR", (int)rows, (int)cols,
        density, alike);

  uint32_t *offsets = narrowed(o.offsets, rows + 1), *columns = narrowed(o.columns, o.a.nnz);
  s.offsets = offsets, s.indices = columns, s.offset_bytes = s.index_bytes = 4;
  shunt_density_sparse_host(&s, &got);
  check(same(&got, &want), "... by indices of 4 bytes");

  s.by_column = true, s.rows = cols, s.cols = rows;
  shunt_density_sparse_host(&s, &got);
  check(turned(&got, &want), "... by column: turned");
  free(offsets);
  free(columns);
  owned_free(&o);
}

/* The rows that have entries, by their numbers. */
static void test_hypersparse(void)
{
  struct owned o = make(999, 40, 0.01, 1);
  struct shunt_sparse s = sparse_of(&o.a);
  struct shunt_density want, got;
  const int64_t *all = o.offsets;
  int64_t ids[999], offsets[1000] = {0}, n = 0;
  for (int64_t i = 0; i < 999; i++)
    if (all[i] < all[i + 1]) ids[n] = i, offsets[++n] = all[i + 1];
  s.vectors = n, s.ids = ids, s.offsets = offsets;
  shunt_density_csr_host(&o.a, &want);
  shunt_density_sparse_host(&s, &got);
  check(n < 500 && same(&got, &want), "hypersparse: the same picture");
  s.vectors = 0;
  shunt_density_sparse_host(&s, &got);
  memset(want.entries, 0, sizeof want.entries);
  check(same(&got, &want), "without a row none but the frame");
  owned_free(&o);
}

static uint64_t all_of(const struct shunt_density *d, int kind)
{
  uint64_t n = 0;
  for (int y = 0; y < d->high; y++)
    for (int x = 0; x < d->wide; x++) n += d->entries[y][x][kind];
  return n;
}

static void test_little(void)
{
  struct owned o = make(40000, 200, 0.2, 4);
  const struct shunt_sparse s = sparse_of(&o.a);
  struct shunt_density d;
  shunt_density_sparse_host(&s, &d);
  const double nnz = (double)o.a.nnz; /* fours of both halves of a group may meet */
  const double fours = (double)(all_of(&d, SHUNT_DENSITY_4) + all_of(&d, SHUNT_DENSITY_8));
  check(fours > 0.97 * nnz && fours < 1.03 * nnz && d.looked[31] == 1250,
        "of a twentieth that is looked at: %.0f of %.0f entries in fours", fours, nnz);
  for (int k = SHUNT_DENSITY_2; k < SHUNT_DENSITY_KINDS; k++)
    check(all_of(&d, k) == 0, "and none of kind %d", k);
  owned_free(&o);
}

/* Nearly all rows have half of the first two tiles' columns; the third has but 16, and hardly any
   row has all of them.  */
static void test_tiles(void)
{
  struct owned o = make(800, 80, 0.8, 1);
  const struct shunt_sparse s = sparse_of(&o.a);
  struct shunt_density d;
  shunt_density_sparse_host(&s, &d);
  uint64_t first = 0, last = 0;
  for (int y = 0; y < d.high; y++)
    for (int x = 0; x < d.wide; x++)
      *(x * 80 / d.wide < 64 ? &first : &last) += d.entries[y][x][SHUNT_DENSITY_TILE];
  const double nnz = (double)o.a.nnz;
  check((double)first > 0.78 * nnz && (double)first <= 0.81 * nnz && last == 0,
        "%.0f of %.0f entries in dense tiles, none in the columns behind", (double)first, nnz);
  owned_free(&o);
}

int main(void)
{
  test_forms(300, 50, 0.2, 1);
  test_forms(64, 300, 0.12, 8);
  test_forms(70, 130, 0.3, 4);
  test_forms(9, 33, 0.9, 2);
  test_forms(203, 70, 0.6, 1);
  test_forms(200, 64, 0.45, 4);
  test_forms(1, 5, 0.5, 1);
  test_forms(2048, 60, 0.03, 1);
  test_hypersparse();
  test_little();
  test_tiles();
  return check_finish();
}
