/* test_semiring_frontier.c: a step of many searches at once against its twin, over random shapes,
   forms of F and M, both directions and every set of instructions; then with each of its
   allocations refused in turn.  Linked with --wrap for refused_memory.h.

     test_semiring_frontier [cases]  */
#include "kernels/semiring/frontier/frontier_kernels.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/refused_memory.h"
#include "tests/unit/semiring/semiring_random.h"

static void refuse_from_here(long n)
{
  atomic_store(&asked, 0);
  refused = n;
}

/* ---- operands ------------------------------------------------------------------------------- */

static int ascending(const void *x, const void *y)
{
  return (*(const int32_t *)x > *(const int32_t *)y) - (*(const int32_t *)x < *(const int32_t *)y);
}

static int ascending_wide(const void *x, const void *y)
{
  return (*(const int64_t *)x > *(const int64_t *)y) - (*(const int64_t *)x < *(const int64_t *)y);
}

/* The values stay where they are. */
static void sort_indices(struct shunt_sparse *s)
{
  const size_t bytes = (size_t)s->index_bytes;
  for (int64_t v = 0; v < s->vectors; v++) {
    const int64_t begin = shunt_vector_begin(s, v), end = shunt_vector_begin(s, v + 1);
    qsort((char *)s->indices + (size_t)begin * bytes, (size_t)(end - begin), bytes,
          bytes == 8 ? ascending_wide : ascending);
  }
}

static struct shunt_sparse sparse_by_row(int64_t rows, int64_t cols)
{
  for (;;) {
    struct shunt_sparse s = random_sparse(SHUNT_F64, rows, cols, true);
    sort_indices(&s);
    if (!s.by_column) return s;
    free_sparse(&s);
  }
}

static struct shunt_sparse not_hyper(int64_t rows, int64_t cols)
{
  for (;;) {
    struct shunt_sparse s = random_sparse(SHUNT_F64, rows, cols, false);
    sort_indices(&s);
    if (!s.ids) return s;
    free_sparse(&s);
  }
}

static struct shunt_full full_by_row(int64_t rows, int64_t cols)
{
  for (;;) {
    struct shunt_full f = random_full(SHUNT_F64, rows, cols, true, true, true);
    if (f.col_stride == 1 && f.row_stride >= cols) return f;
    free_full(&f);
  }
}

static struct shunt_lines random_lines(int64_t rows, int64_t cols)
{
  struct shunt_lines x = {.dense = one_in(2)};
  if (x.dense)
    x.full = full_by_row(rows, cols);
  else
    x.sparse = sparse_by_row(rows, cols);
  return x;
}

static void free_lines(struct shunt_lines *x)
{
  if (x->dense)
    free_full(&x->full);
  else
    free_sparse(&x->sparse);
}

enum kind { BITS, SUMS, PARENTS, WIDE_PARENTS, KINDS };
static const char *const kind_names[] = {"bits", "sums", "parents", "parents of 8 bytes"};

static struct shunt_frontier of_kind(enum kind kind)
{
  return (struct shunt_frontier){.sums = kind == SUMS,
                                 .parents = kind == PARENTS        ? 4
                                            : kind == WIDE_PARENTS ? 8
                                                                   : 0};
}

static enum kind kind_of(const struct shunt_frontier *p)
{
  return p->sums ? SUMS : p->parents == 8 ? WIDE_PARENTS : p->parents ? PARENTS : BITS;
}

static struct shunt_frontier random_frontier(void)
{
  struct shunt_frontier p = of_kind((enum kind)random_below(KINDS));
  p.complement = one_in(2);
  p.single = one_in(2);
  const int64_t k = random_size() % 101, n = random_size() % 101;
  p.rows = random_size() % 140;
  p.threads = 1 + (int)random_below(4);
  p.f = random_lines(p.rows, k);
  p.m = random_lines(p.rows, n);
  p.a = not_hyper(k, n);
  return p;
}

static void free_frontier(struct shunt_frontier *p)
{
  free_lines(&p->f);
  free_lines(&p->m);
  free_sparse(&p->a);
}

/* ---- one case ------------------------------------------------------------------------------- */

static bool close_to(double x, double y)
{
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-13 * 100;
}

static bool has_values(const struct shunt_frontier *p)
{
  return shunt_frontier_value(p) > 0;
}

static double value_at(const struct shunt_frontier *p, const void *values, int64_t at)
{
  return p->sums           ? ((const double *)values)[at]
         : p->parents == 8 ? (double)((const int64_t *)values)[at]
                           : (double)((const int32_t *)values)[at];
}

/* T as a bitmap and as rows against the twin's. */
static bool agrees(const struct shunt_frontier *p, const uint64_t *offsets, const uint64_t *indices,
                   const void *values, const int8_t *present, const void *places,
                   const double *want, const bool *exists)
{
  const int64_t n = p->a.cols;
  uint64_t next = 0;
  for (int64_t s = 0; s < p->rows; s++) {
    if (offsets[s] != next) return false;
    for (int64_t j = 0; j < n; j++) {
      const int64_t at = s * n + j;
      if ((present[at] != 0) != exists[at]) return false;
      if (!exists[at]) continue;
      if (next == offsets[s + 1] || indices[next] != (uint64_t)j) return false;
      if (has_values(p) && (!close_to(value_at(p, values, (int64_t)next), want[at]) ||
                            !close_to(value_at(p, places, at), want[at])))
        return false;
      next++;
    }
  }
  return offsets[p->rows] == next;
}

static bool holds(const struct shunt_frontier *p)
{
  const size_t elements = (size_t)(p->rows * p->a.cols);
  uint64_t *offsets = allocate((size_t)(p->rows + 1) * sizeof *offsets);
  double *want = allocate(elements * sizeof *want), *places = allocate(elements * sizeof *places);
  bool *exists = allocate(elements);
  int8_t *present = allocate(elements);
  struct shunt_frontier_work *work = NULL;
  bool good = shunt_frontier_twin(p, want, exists) == SHUNT_OK &&
              shunt_frontier_begin(p, offsets, &work) == SHUNT_OK;
  if (good) {
    const size_t entries = (size_t)offsets[p->rows];
    uint64_t *indices = allocate(entries * sizeof *indices);
    double *values = allocate(entries * sizeof *values);
    shunt_frontier_finish(work, indices, has_values(p) ? values : NULL);
    good = shunt_frontier_begin(p, offsets, &work) == SHUNT_OK;
    if (good) shunt_frontier_finish_bitmap(work, present, has_values(p) ? places : NULL);
    good = good && agrees(p, offsets, indices, values, present, places, want, exists);
    good = good &&
           shunt_frontier_bitmap(p, offsets, present, has_values(p) ? places : NULL) == SHUNT_OK;
    good = good && agrees(p, offsets, indices, values, present, places, want, exists);
    free(indices);
    free(values);
  }
  free(offsets);
  free(want);
  free(places);
  free(exists);
  free(present);
  return good;
}

static void test_random(int64_t cases)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < cases; i++) {
    struct shunt_frontier p = random_frontier();
    const struct shunt_frontier_reads reads = shunt_frontier_reads(&p);
    const bool good = holds(&p) && reads.single >= reads.grouped && reads.grouped >= 0;
    if (!good && bad++ < 3)
      printf("# %s%s, %s, F %s, M %s, A by %s; %lld x %lld x %lld, %d threads\n",
             kind_names[kind_of(&p)], p.single ? " one by one" : "",
             p.complement ? "complement" : "mask", p.f.dense ? "dense" : "sparse",
             p.m.dense ? "dense" : "sparse", p.a.by_column ? "column" : "row", (long long)p.rows,
             (long long)p.a.rows, (long long)p.a.cols, p.threads);
    free_frontier(&p);
  }
  check(bad == 0, "%lld of %lld random steps are right, instructions of level %d",
        (long long)(cases - bad), (long long)cases, shunt_semiring_level());
}

/* ---- any number of threads ------------------------------------------------------------------- */

/* T as rows and as a bitmap. */
struct answer {
  uint64_t *offsets, *indices;
  int8_t *present;
  char *values, *places;
};

static bool answer(const struct shunt_frontier *p, struct answer *x)
{
  const size_t elements = (size_t)(p->rows * p->a.cols);
  struct shunt_frontier_work *work;
  *x = (struct answer){allocate((size_t)(p->rows + 1) * 8), allocate(elements * 8),
                       allocate(elements), calloc(elements, 8), calloc(elements, 8)};
  if (shunt_frontier_begin(p, x->offsets, &work) != SHUNT_OK) return false;
  shunt_frontier_finish(work, x->indices, has_values(p) ? x->values : NULL);
  return shunt_frontier_bitmap(p, x->offsets, x->present, has_values(p) ? x->places : NULL) ==
         SHUNT_OK;
}

static bool same_bits(const struct shunt_frontier *p, const struct answer *x,
                      const struct answer *y)
{
  const size_t elements = (size_t)(p->rows * p->a.cols), n = (size_t)x->offsets[p->rows];
  const size_t bytes = shunt_frontier_value(p);
  bool same = memcmp(x->offsets, y->offsets, (size_t)(p->rows + 1) * 8) == 0 &&
              memcmp(x->indices, y->indices, n * 8) == 0 &&
              memcmp(x->present, y->present, elements) == 0 &&
              memcmp(x->values, y->values, n * bytes) == 0;
  for (size_t i = 0; i < elements; i++)
    same = same &&
           (!x->present[i] || memcmp(x->places + i * bytes, y->places + i * bytes, bytes) == 0);
  return same;
}

static void free_answer(struct answer *x)
{
  free(x->offsets);
  free(x->indices);
  free(x->present);
  free(x->values);
  free(x->places);
}

/* Every third place, ascending: work for several threads. */
static struct shunt_sparse large_sparse(int64_t rows, int64_t cols, bool by_column)
{
  const int64_t vectors = by_column ? cols : rows, across = by_column ? rows : cols;
  int64_t *offsets = allocate((size_t)(vectors + 1) * 8), n = 0;
  int32_t *indices = allocate((size_t)(vectors * across) * 4);
  for (int64_t v = 0; v < vectors; v++) {
    offsets[v] = n;
    for (int64_t i = random_below(5); i < across; i += 1 + random_below(5)) indices[n++] = (int)i;
  }
  offsets[vectors] = n;
  return (struct shunt_sparse){.rows = rows,
                               .cols = cols,
                               .vectors = vectors,
                               .nnz = n,
                               .by_column = by_column,
                               .offsets = offsets,
                               .indices = indices,
                               .values = random_elements(SHUNT_F64, false, n),
                               .offset_bytes = 8,
                               .index_bytes = 4};
}

static struct shunt_lines large_lines(int64_t rows, int64_t cols, bool dense)
{
  struct shunt_lines x = {.dense = dense};
  if (dense)
    x.full = full_by_row(rows, cols);
  else
    x.sparse = large_sparse(rows, cols, false);
  return x;
}

/* Enough for 8 threads: those of sums count each of the groups.  On more than two threads rows go
   one by one, where they can.  */
static void test_threads(int64_t rows, enum kind kind)
{
  const bool sums = kind == SUMS;
  const int64_t k = sums && rows >= 44 ? 300 : 700, n = sums && rows >= 44 ? 431 : 1003;
  int bad = 0;
  for (int way = 0; way < 8; way++) {
    struct shunt_frontier p = of_kind(kind);
    p.complement = way & 1, p.rows = rows, p.threads = 1;
    struct answer one = {0}, other = {0};
    p.f = large_lines(rows, k, way & 2);
    p.m = large_lines(rows, n, one_in(2));
    p.a = large_sparse(k, n, way & 4);
    const bool quick = rows < 8 && p.f.dense && p.m.dense; /* for the twin */
    bad += (quick && !holds(&p)) || !answer(&p, &one);
    for (p.threads = 2; p.threads <= 8; p.threads += 3) {
      p.single = p.threads > 2;
      bad += !answer(&p, &other) || !same_bits(&p, &one, &other);
      bad += quick && !holds(&p);
      free_answer(&other);
      other = (struct answer){0};
    }
    free_answer(&one);
    free_frontier(&p);
  }
  check(bad == 0, "%lld rows of %s: the same bits on 1, 2, 5 and 8 threads, also one by one",
        (long long)rows, kind_names[kind]);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* 0 -> 1, 2; 1 -> 2.  Row 0 of F stands at 0 and 1, row 1 at 1; row 0 has seen 1. */
static const int64_t arcs[] = {0, 2, 3, 3}, heads[] = {1, 2, 2};
static const int64_t starts[] = {0, 2, 3}, stands[] = {0, 1, 1};
static const double paths[] = {3, 4, 5};
static const int64_t seen_from[] = {0, 1, 1}, seen[] = {1};

static struct shunt_frontier by_hand(void)
{
  struct shunt_sparse a = {3, 3, 3, 3, false, NULL, arcs, heads, NULL, 0, 8, 8, true};
  struct shunt_sparse f = {2, 3, 2, 3, false, NULL, starts, stands, paths, 0, 8, 8, false};
  struct shunt_sparse m = {2, 3, 2, 1, false, NULL, seen_from, seen, NULL, 0, 8, 8, true};
  return (struct shunt_frontier){.sums = true,
                                 .complement = true,
                                 .rows = 2,
                                 .f = {.sparse = f},
                                 .m = {.sparse = m},
                                 .a = a,
                                 .threads = 1};
}

static void test_by_hand(void)
{
  struct shunt_frontier p = by_hand();
  uint64_t offsets[3], indices[2];
  double values[6];
  bool exists[6];
  struct shunt_frontier_work *work;
  check(shunt_frontier_twin(&p, values, exists) == SHUNT_OK && !exists[1] && exists[2] &&
            values[2] == 7 && exists[5] && values[5] == 5,
        "twin by hand: two paths meet, a node is not seen again");
  p.sums = false, p.parents = 8;
  check(shunt_frontier_twin(&p, values, exists) == SHUNT_OK && exists[2] && values[2] == 0 &&
            exists[5] && values[5] == 1,
        "twin by hand: the least node that it came from");
  p = by_hand();
  check(shunt_frontier_begin(&p, offsets, &work) == SHUNT_OK && offsets[1] == 1 && offsets[2] == 2,
        "the kernel finds both");
  shunt_frontier_finish(work, indices, values);
  check(indices[0] == 2 && indices[1] == 2 && values[0] == 7 && values[1] == 5, "and their paths");
}

static void test_failures(void)
{
  uint64_t offsets[3];
  struct shunt_frontier_work *work;
  struct shunt_frontier p = by_hand();
  p.a.rows = 4;
  check(shunt_frontier_begin(&p, offsets, &work) == SHUNT_E_ARGUMENT, "shapes that do not fit");
  p = by_hand(), p.f.sparse.by_column = true;
  check(shunt_frontier_begin(&p, offsets, &work) == SHUNT_E_ARGUMENT, "F by column");
  p = by_hand(), p.a.ids = heads, p.a.id_bytes = 8;
  check(shunt_frontier_begin(&p, offsets, &work) == SHUNT_E_UNSUPPORTED, "A hypersparse");
}

/* ---- without memory -------------------------------------------------------------------------- */

static bool attempt(const struct shunt_frontier *p, long n, bool *reached)
{
  uint64_t *offsets = __real_malloc((size_t)(p->rows + 1) * sizeof *offsets);
  struct shunt_frontier_work *work = NULL;
  const long before = atomic_load(&held);
  refuse_from_here(n);
  const shunt_status status = shunt_frontier_begin(p, offsets, &work);
  *reached = n && atomic_load(&asked) >= n;
  refuse_from_here(0);
  bool good = status == SHUNT_OK || (*reached && status == SHUNT_E_MEMORY && !work);
  if (status == SHUNT_OK) shunt_frontier_finish(work, NULL, NULL);
  __real_free(offsets);
  return good && atomic_load(&held) == before;
}

static void test_memory(enum kind kind, bool single, int threads)
{
  struct shunt_frontier p = of_kind(kind);
  p.complement = true, p.single = single, p.rows = 100, p.threads = threads;
  bool reached, good;
  long n = 0;
  p.f = large_lines(100, 700, !single);
  p.m = large_lines(100, 700, false);
  p.a = large_sparse(700, 700, false);
  attempt(&p, 0, &reached); /* leaves its block of scratch to the next */
  good = attempt(&p, 0, &reached);
  do good = good && attempt(&p, ++n, &reached);
  while (good && reached);
  check(good && n > 1, "%s%s on %d threads: %ld allocations refused in turn", kind_names[kind],
        single ? " one by one" : "", threads, n - 1);
  free_frontier(&p);
}

int main(int argc, char **argv)
{
  const int64_t cases = argc > 1 ? atoll(argv[1]) : 1000;
  test_by_hand();
  for (int level = 0; level <= 2; level++)
    if (shunt_semiring_limit(level) == level) test_random(cases);
  for (int64_t rows = 4; rows <= 84; rows += 40)
    for (int kind = 0; kind < KINDS; kind++) test_threads(rows, (enum kind)kind);
  test_failures();
  for (int kind = 0; kind < PARENTS + 1; kind++)
    for (int single = 0; single < 2; single++)
      for (int threads = 1; threads <= 4; threads += 3)
        test_memory((enum kind)kind, single, threads);
  return check_finish();
}
