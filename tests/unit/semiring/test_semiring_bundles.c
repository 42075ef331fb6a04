/* test_semiring_bundles.c: rows of S with the same columns, several at a time: the loops of
   kernels/semiring/semiring_bundles.h against those of one row at a time, bit for bit, and whole
   products by the engine against products of one row each.

     test_semiring_bundles [cases of each]  */
#include "kernels/semiring/semiring_choice.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/semiring_random.h"

/* ---- rows in groups ------------------------------------------------------------------------- */
struct lists {
  int64_t rows, cols, nnz;
  int64_t *offsets, *columns;
};

/* What a row makes of the one before: its list, with an entry changed or exchanged with another
   (the first, too), one of its length, none of that.  */
static void follow(struct lists *x, int64_t *place, int64_t length)
{
  int64_t *list = x->columns + x->nnz;
  const int64_t before = x->rows > 0 ? x->nnz - x->offsets[x->rows - 1] : 0;
  const int64_t change = random_below(8);
  if (before == 0 || change == 0) {
    const int64_t n = one_in(12) ? 0 : 1 + random_below(length);
    choose(place, x->cols, n);
    memcpy(list, place, (size_t)n * sizeof *list);
    x->nnz += n;
    return;
  }
  memcpy(list, list - before, (size_t)before * sizeof *list);
  if (change == 1) {
    const int64_t i = random_below(before), kept = list[before - 1];
    list[before - 1] = list[i];
    list[i] = kept;
  } else if (change == 2) {
    choose(place, x->cols, before);
    memcpy(list, place, (size_t)before * sizeof *list);
  }
  x->nnz += before;
}

static struct lists random_lists(int64_t rows, int64_t cols)
{
  struct lists x = {.cols = cols};
  const int64_t length = one_in(2) ? cols : cols / 4 + 1;
  int64_t *place = permutation_of(cols);
  x.offsets = allocate((size_t)(rows + 1) * sizeof *x.offsets);
  x.columns = allocate((size_t)(rows * cols) * sizeof *x.columns);
  x.offsets[0] = 0;
  while (x.rows < rows) {
    follow(&x, place, length);
    x.offsets[++x.rows] = x.nnz;
  }
  free(place);
  return x;
}

/* By row; hypersparse: every other row. */
static struct shunt_sparse grouped_sparse(shunt_type t, int64_t rows, int64_t cols, bool special)
{
  struct lists x = random_lists(rows, cols);
  struct shunt_sparse s = {.rows = rows, .cols = cols, .vectors = rows, .nnz = x.nnz};
  int64_t *ids = allocate((size_t)rows * sizeof *ids);
  for (int64_t i = 0; i < rows; i++) ids[i] = 2 * i + 1;
  s.iso = one_in(6);
  if (one_in(4)) {
    s.rows = 2 * rows;
    s.ids = indices_of_width(ids, rows, &s.id_bytes);
  }
  s.offsets = indices_of_width(x.offsets, rows + 1, &s.offset_bytes);
  s.indices = indices_of_width(x.columns, x.nnz, &s.index_bytes);
  s.values = random_elements(t, special, s.iso ? 1 : s.nnz);
  free(ids);
  free(x.offsets);
  free(x.columns);
  return s;
}

static int64_t index_at(const void *array, int bytes, int64_t i)
{
  return bytes == 8 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* ---- one case, and both ways to compute it ------------------------------------------------------
 */
struct product {
  struct shunt_host_spmm p;
  size_t size;
  bool special;
};

static struct product random_product(int64_t rows, int64_t widest)
{
  const shunt_type t = one_in(2) ? SHUNT_F32 : SHUNT_F64;
  static const enum shunt_multiplier times[] = {SHUNT_TIMES, SHUNT_TIMES, SHUNT_SECOND};
  const int64_t cols = 1 + random_below(100);
  const int64_t n = one_in(3) ? 16 * (1 + random_below(widest / 16)) : 1 + random_below(widest);
  struct product x = {.size = shunt_type_size(t), .special = one_in(4)};
  x.p.semiring = (struct shunt_semiring){SHUNT_PLUS, times[random_below(3)], t, false};
  x.p.s = grouped_sparse(t, rows, cols, x.special);
  x.p.b = random_full(t, cols, n, x.special, false, false);
  x.p.c = random_full(t, x.p.s.rows, n, x.special, false, false);
  x.p.accumulate = one_in(2);
  x.p.threads = 1 + (int)random_below(3);
  return x;
}

static void free_product(struct product *x)
{
  free_sparse(&x->p.s);
  free_full(&x->p.b);
  free_full(&x->p.c);
}

static void *copy_of_c(const struct product *x)
{
  const size_t bytes = (size_t)full_elements(&x->p.c) * x->size;
  return memcpy(allocate(bytes), x->p.c.values, bytes);
}

/* Bit for bit but for the sign of a NaN, padding too. */
static bool same_c(const struct product *x, const void *a, const void *b)
{
  const int64_t n = full_elements(&x->p.c);
  if (!x->special) return memcmp(a, b, (size_t)n * x->size) == 0;
  for (int64_t i = 0; i < n; i++)
    if (!same_element(x->p.semiring.type, a, b, i)) return false;
  return true;
}

/* ---- the loops ------------------------------------------------------------------------------ */
static bool loops_agree(const struct product *x)
{
  const struct shunt_host_spmm *p = &x->p;
  struct shunt_semiring_choice choice;
  void *one = copy_of_c(x), *several = copy_of_c(x);
  const int64_t begin = random_below(p->s.vectors),
                end = begin + random_below(p->s.vectors - begin + 1);
  shunt_semiring_choose(&p->semiring, &choice);
  struct shunt_rows_job job = {
      .offsets = p->s.offsets,
      .indices = p->s.indices,
      .ids = p->s.ids,
      .offset_bytes = p->s.offset_bytes,
      .id_bytes = p->s.id_bytes,
      .index_step = p->s.index_bytes,
      .values = choice.constant[0] ? &choice.value[0] : p->s.values,
      .value_step = choice.constant[0] || p->s.iso ? 0 : (int64_t)x->size,
      .last = p->s.nnz > 0 ? p->s.nnz - 1 : 0,
      .far = one_in(2),
      .b = p->b.values,
      .b_stride = p->b.row_stride,
      .out_stride = p->c.row_stride,
      .width = (int)p->b.cols,
      .accumulate = p->accumulate,
  };
  job.out = one;
  choice.kernels->rows(&job, begin, end);
  job.out = several;
  choice.kernels->groups(&job, begin, end);
  const bool good = same_c(x, one, several);
  free(one);
  free(several);
  return good;
}

static bool loops_case(void)
{
  struct product x = {.size = 0};
  do {
    if (x.size) free_product(&x);
    x = random_product(1 + random_below(40), SHUNT_TILE_MAX);
  } while (x.p.b.col_stride != 1 || x.p.c.col_stride != 1);
  const bool good = loops_agree(&x);
  free_product(&x);
  return good;
}

/* ---- the engine -------------------------------------------------------------------------------
 */
/* A matrix of one row is in no groups. */
static shunt_status row_by_row(const struct product *x, void *c)
{
  const struct shunt_sparse *s = &x->p.s;
  shunt_status status = SHUNT_OK;
  for (int64_t v = 0; v < s->vectors && status == SHUNT_OK; v++) {
    struct shunt_host_spmm row = x->p;
    const int64_t id = s->ids ? 2 * v + 1 : v, q = index_at(s->offsets, s->offset_bytes, v);
    const int64_t offsets[] = {0, index_at(s->offsets, s->offset_bytes, v + 1) - q};
    row.s.rows = row.s.vectors = row.c.rows = 1;
    row.s.nnz = offsets[1];
    row.s.ids = NULL;
    row.s.offsets = offsets;
    row.s.offset_bytes = 8;
    row.s.indices = (const char *)s->indices + q * s->index_bytes;
    if (!s->iso) row.s.values = (const char *)s->values + (size_t)q * x->size;
    row.c.values = (char *)c + (size_t)(id * x->p.c.row_stride) * x->size;
    status = shunt_host_spmm(&row);
  }
  return status;
}

static void clear_c(const struct product *x, void *c)
{
  for (int64_t i = 0; i < x->p.c.rows; i++)
    for (int64_t j = 0; j < x->p.c.cols; j++)
      memset((char *)c + (size_t)(i * x->p.c.row_stride + j * x->p.c.col_stride) * x->size, 0,
             x->size);
}

static bool engine_case(void)
{
  struct product x = random_product(200 + random_below(300), 150);
  void *c = copy_of_c(&x);
  if (!x.p.accumulate) clear_c(&x, c);
  bool good = row_by_row(&x, c) == SHUNT_OK && shunt_host_spmm(&x.p) == SHUNT_OK;
  good = good && same_c(&x, c, x.p.c.values);
  free(c);
  free_product(&x);
  return good;
}

/* ---- all of it ----------------------------------------------------------------------------------
 */
static void run(int level, const char *what, bool (*one)(void), int64_t cases)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < cases; i++) bad += !one();
  check(bad == 0, "instruction set %d: %lld of %lld %s", level, (long long)(cases - bad),
        (long long)cases, what);
}

static bool has_groups(void)
{
  const struct shunt_semiring by = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F32, false};
  struct shunt_semiring_choice choice;
  return shunt_semiring_choose(&by, &choice) == SHUNT_OK && choice.kernels->groups;
}

int main(int argc, char **argv)
{
  const int64_t cases = argc > 1 ? atoll(argv[1]) : 2000;
  for (int level = 0; level < 3 && shunt_semiring_limit(level) == level; level++) {
    if (has_groups())
      run(level, "groups of rows have the sums of one row at a time", loops_case, cases);
    else
      check_skip("this instruction set has too few registers for groups of rows");
    run(level, "products with rows in groups are those of one row each", engine_case, cases / 20);
  }
  return check_finish();
}
