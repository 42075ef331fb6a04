/* test_semiring_masked.c: the host engine's T<M> = A B' with sparse operands against its twin, over
   random shapes, types, semirings and layouts, and over symmetric patterns.

     test_semiring_masked [cases]  */
#include "kernels/semiring/masked/masked.h"
#include "kernels/semiring/semiring_choice.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/semiring_random.h"

static const int32_t one = 1;

/* Beside what all products of semirings take: any, booleans and unsigned integers of 4 bytes. */
static struct shunt_semiring random_masked_semiring(void)
{
  struct shunt_semiring by = random_semiring();
  if (one_in(5)) by.monoid = SHUNT_ANY;
  by.is_unsigned = by.type == SHUNT_I32 && one_in(2);
  if (!one_in(6)) return by;
  by.type = SHUNT_U8;
  if (by.monoid == SHUNT_PLUS) by.monoid = SHUNT_MAX;
  if (by.multiplier == SHUNT_ADD) by.multiplier = SHUNT_TIMES;
  return by;
}

/* ---- operands ------------------------------------------------------------------------------- */

static int64_t at(const void *array, int bytes, int64_t i)
{
  return bytes == 8 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static int ascending_32(const void *x, const void *y)
{
  return *(const int32_t *)x < *(const int32_t *)y ? -1 : 1;
}

static int ascending_64(const void *x, const void *y)
{
  return *(const int64_t *)x < *(const int64_t *)y ? -1 : 1;
}

static void sort_integers(const void *array, int bytes, int64_t begin, int64_t end)
{
  char *from = (char *)(uintptr_t)array + begin * bytes;
  qsort(from, (size_t)(end - begin), (size_t)bytes, bytes == 8 ? ascending_64 : ascending_32);
}

/* Vectors and indices ascend, as GraphBLAS has them once it is asked for arrays. */
static struct shunt_sparse sorted_sparse(shunt_type t, int64_t rows, int64_t cols)
{
  struct shunt_sparse s = random_sparse(t, rows, cols, one_in(4));
  if (s.ids) sort_integers(s.ids, s.id_bytes, 0, s.vectors);
  for (int64_t v = 0; v < s.vectors; v++)
    sort_integers(s.indices, s.index_bytes, at(s.offsets, s.offset_bytes, v),
                  at(s.offsets, s.offset_bytes, v + 1));
  return s;
}

static struct shunt_sparse sorted_by_row(shunt_type t, int64_t rows, int64_t cols)
{
  for (;;) {
    struct shunt_sparse s = sorted_sparse(t, rows, cols);
    if (!s.by_column) return s;
    free_sparse(&s);
  }
}

/* n x n by row, with a symmetric pattern. */
static struct shunt_sparse symmetric(shunt_type t, int64_t n)
{
  struct shunt_sparse s = {.rows = n, .cols = n, .vectors = n, .offset_bytes = 8, .index_bytes = 4};
  char *there = calloc((size_t)(n * n) + 1, 1);
  int64_t *offsets = allocate((size_t)(n + 1) * sizeof *offsets);
  int32_t *indices = allocate((size_t)(n * n) * sizeof *indices);
  const int64_t rare = 1 + random_below(12);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) there[i * n + j] = there[j * n + i] = one_in(rare);
  for (int64_t i = 0; i < n; i++) {
    offsets[i] = s.nnz;
    for (int64_t j = 0; j < n; j++)
      if (there[i * n + j]) indices[s.nnz++] = (int32_t)j;
  }
  offsets[n] = s.nnz;
  free(there);
  s.offsets = offsets;
  s.indices = indices;
  s.iso = one_in(2);
  s.values = random_elements(t, false, s.iso ? 1 : s.nnz);
  return s;
}

struct product {
  struct shunt_masked_dot p;
  struct shunt_sparse owned[3];
  int owners;
};

static struct product random_product(void)
{
  struct product x = {
      .p = {.semiring = random_masked_semiring(), .threads = 1 + (int)random_below(4)}};
  x.p.saxpy = one_in(2);
  const shunt_type t = x.p.semiring.type;
  /* The twin looks at all of A and B for every entry of M. */
  const int64_t m = random_size() % 41, n = random_size() % 41;
  const int64_t k = one_in(5) ? 700 : random_size() % 66;
  if (one_in(4)) {
    x.owned[x.owners++] = symmetric(t, m);
    x.p.m = x.p.a = x.p.b = x.owned[0];
    if (one_in(3)) {
      x.p.m.nnz -= x.p.m.nnz > 0; /* not symmetric any more: an entry fewer */
      ((int64_t *)(uintptr_t)x.p.m.offsets)[m] = x.p.m.nnz;
      for (int64_t i = m; i > 0 && ((const int64_t *)x.p.m.offsets)[i - 1] > x.p.m.nnz; i--)
        ((int64_t *)(uintptr_t)x.p.m.offsets)[i - 1] = x.p.m.nnz;
      x.p.a.nnz = x.p.b.nnz = x.p.m.nnz;
    }
    return x;
  }
  x.p.m = x.owned[x.owners++] = sorted_by_row(t, m, n);
  x.p.a = x.owned[x.owners++] = sorted_sparse(t, m, k);
  x.p.b = x.owned[x.owners++] = sorted_sparse(t, n, k);
  return x;
}

/* ---- one case ------------------------------------------------------------------------------- */

/* Both add in the order of k; a symmetric T has its operands the other way round.  Equal terms are
   counted and multiplied, which rounds once.  */
static bool same_sum(const struct shunt_masked_dot *p, const void *x, const void *y)
{
  const shunt_type t = p->semiring.type;
  if (p->semiring.monoid == SHUNT_PLUS && (t == SHUNT_F32 || t == SHUNT_F64)) {
    const double a = real_at(t, x, 0), b = real_at(t, y, 0);
    const double unit = t == SHUNT_F32 ? 0x1p-23 : 0x1p-52;
    if (isfinite(b)) return fabs(a - b) <= unit * (double)p->a.cols * fabs(b);
  }
  return same_element(t, x, y, 0);
}

/* T of the kernel against what the twin has at M's places. */
static bool agrees(const struct shunt_masked_dot *p, const uint64_t *offsets,
                   const uint64_t *indices, const void *values, const void *want,
                   const bool *exists)
{
  const shunt_type t = p->semiring.type;
  uint64_t next = 0;
  for (int64_t v = 0; v < p->m.vectors; v++) {
    if (offsets[v] != next) return false;
    for (int64_t q = at(p->m.offsets, p->m.offset_bytes, v);
         q < at(p->m.offsets, p->m.offset_bytes, v + 1); q++) {
      if (!exists[q]) continue;
      const size_t size = shunt_type_size(t);
      const bool same_place =
          next < offsets[v + 1] && indices[next] == (uint64_t)at(p->m.indices, p->m.index_bytes, q);
      if (!same_place) return false;
      char pair[2][8];
      const size_t from = shunt_masked_dot_uniform(p) ? 0 : next;
      memcpy(pair[0], (const char *)values + from * size, size);
      memcpy(pair[1], (const char *)want + (size_t)q * size, size);
      if (!same_sum(p, pair[0], pair[1])) return false;
      next++;
    }
  }
  return offsets[p->m.vectors] == next;
}

static bool holds(const struct shunt_masked_dot *p)
{
  const size_t n = (size_t)p->m.nnz, size = shunt_type_size(p->semiring.type);
  uint64_t *offsets = allocate((size_t)(p->m.vectors + 1) * sizeof *offsets);
  void *want = allocate(n * size);
  bool *exists = allocate(n * sizeof *exists);
  struct shunt_masked_dot_work *work = NULL;
  bool good = shunt_masked_dot_twin(p, want, exists) == SHUNT_OK &&
              shunt_masked_dot_begin(p, offsets, &work) == SHUNT_OK;
  if (good) {
    const size_t entries = (size_t)offsets[p->m.vectors];
    uint64_t *indices = allocate(entries * sizeof *indices);
    void *values = allocate((entries + 1) * size);
    shunt_masked_dot_finish(work, indices, values);
    good = agrees(p, offsets, indices, values, want, exists);
    free(indices);
    free(values);
  }
  free(offsets);
  free(want);
  free(exists);
  return good;
}

static void describe(const struct shunt_masked_dot *p)
{
  printf("# monoid %d multiplier %d type %d; M %lld x %lld, %lld entries%s; A %lld entries by %s; "
         "B %lld entries by %s, depth %lld; %d threads%s\n",
         p->semiring.monoid, p->semiring.multiplier, p->semiring.type, (long long)p->m.rows,
         (long long)p->m.cols, (long long)p->m.nnz, p->m.ids ? ", hyper" : "", (long long)p->a.nnz,
         p->a.by_column ? "column" : "row", (long long)p->b.nnz, p->b.by_column ? "column" : "row",
         (long long)p->a.cols, p->threads, p->saxpy ? ", saxpy" : "");
}

static void test_random(int64_t cases)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < cases; i++) {
    struct product x = random_product();
    if (!holds(&x.p) && bad++ < 3) describe(&x.p);
    for (int o = 0; o < x.owners; o++) free_sparse(&x.owned[o]);
  }
  check(bad == 0, "%lld of %lld random products are right", (long long)(cases - bad),
        (long long)cases);
}

/* ---- long and short rows -------------------------------------------------------------------- */

/* Every row has an entry in about one of `rare` columns. */
static struct shunt_sparse evenly(shunt_type t, int64_t rows, int64_t cols, int64_t rare)
{
  struct shunt_sparse s = {
      .rows = rows, .cols = cols, .vectors = rows, .offset_bytes = 8, .index_bytes = 8};
  int64_t *offsets = allocate((size_t)(rows + 1) * sizeof *offsets);
  int64_t *indices = allocate((size_t)(rows * cols) * sizeof *indices);
  for (int64_t i = 0; i < rows; i++) {
    offsets[i] = s.nnz;
    for (int64_t j = 0; j < cols; j++)
      if (one_in(rare)) indices[s.nnz++] = j;
  }
  offsets[rows] = s.nnz;
  s.offsets = offsets;
  s.indices = indices;
  s.iso = one_in(2);
  s.values = random_elements(t, false, s.iso ? 1 : s.nnz);
  return s;
}

/* Where B's rows are far longer they are marked, and A's scanned; rows of few entries are compared
   with all.  Both with and without what this machine has for that.  */
static void test_lengths(int cases)
{
  static const struct {
    const char *what;
    int64_t cols, rare_a, rare_b;
  } kinds[] = {{"B's rows are longer", 600, 20, 2},
               {"B's rows are far longer", 3000, 400, 2},
               {"rows of few", 60, 8, 8},
               {"A's rows are longer", 600, 2, 20}};
  const int best = shunt_semiring_level();
  for (int kind = 0; kind < 4; kind++) {
    int bad = 0;
    for (int i = 0; i < cases; i++) {
      struct shunt_masked_dot p = {.semiring = random_masked_semiring(), .threads = 1 + i % 4};
      const shunt_type t = p.semiring.type;
      p.a = evenly(t, 24, kinds[kind].cols, kinds[kind].rare_a);
      p.b = evenly(t, 20, kinds[kind].cols, kinds[kind].rare_b);
      p.m = evenly(t, 24, 20, 2);
      shunt_semiring_limit(i % 2 ? 0 : best);
      bad += !holds(&p);
      free_sparse(&p.a);
      free_sparse(&p.b);
      free_sparse(&p.m);
    }
    check(bad == 0, "%s: %d products are right", kinds[kind].what, cases);
  }
  shunt_semiring_limit(best);
}

/* The same matrix held the other way. */
static struct shunt_sparse turned(shunt_type t, const struct shunt_sparse *s)
{
  const size_t size = shunt_type_size(t);
  struct shunt_sparse r = *s;
  int64_t *offsets = allocate((size_t)(s->cols + 1) * sizeof *offsets);
  int64_t *indices = allocate((size_t)s->nnz * sizeof *indices), n = 0;
  char *values = allocate((size_t)(s->nnz + 1) * size);
  if (s->iso) memcpy(values, s->values, size);
  for (int64_t k = 0; k < s->cols; k++) {
    offsets[k] = n;
    for (int64_t i = 0; i < s->rows; i++)
      for (int64_t q = at(s->offsets, 8, i); q < at(s->offsets, 8, i + 1); q++) {
        if (at(s->indices, 8, q) != k) continue;
        if (!s->iso)
          memcpy(values + (size_t)n * size, (const char *)s->values + (size_t)q * size, size);
        indices[n++] = i;
      }
  }
  offsets[s->cols] = n;
  r.by_column = true, r.vectors = s->cols;
  r.offsets = offsets, r.indices = indices, r.values = values;
  return r;
}

/* C<M> = L U where U is L', held as L is: B is A, but by column. */
static void test_turned(int cases)
{
  int bad = 0;
  for (int i = 0; i < cases; i++) {
    struct shunt_masked_dot p = {.semiring = random_masked_semiring(), .threads = 1 + i % 4};
    const shunt_type t = p.semiring.type;
    const int64_t n = 1 + random_below(40);
    p.m = symmetric(t, n);
    p.a = evenly(t, n, n, 1 + random_below(6));
    p.b = turned(t, &p.a);
    bad += !holds(&p);
    free_sparse(&p.m);
    free_sparse(&p.a);
    free_sparse(&p.b);
  }
  check(bad == 0, "B is A held the other way: %d products are right", cases);
}

/* ---- threads -------------------------------------------------------------------------------- */

struct computed {
  uint64_t *offsets, *indices;
  void *values;
};

static bool compute(struct shunt_masked_dot p, int threads, struct computed *out)
{
  struct shunt_masked_dot_work *work = NULL;
  p.threads = threads;
  *out = (struct computed){.offsets = allocate((size_t)(p.m.vectors + 1) * sizeof(uint64_t))};
  if (shunt_masked_dot_begin(&p, out->offsets, &work) != SHUNT_OK) return false;
  const size_t entries = (size_t)out->offsets[p.m.vectors];
  out->indices = allocate(entries * sizeof(uint64_t));
  out->values = allocate((entries + 1) * shunt_type_size(p.semiring.type));
  shunt_masked_dot_finish(work, out->indices, out->values);
  return true;
}

static void free_computed(struct computed *x)
{
  free(x->offsets);
  free(x->indices);
  free(x->values);
}

/* Four threads give the bits of one. */
static bool same_bits(const struct shunt_masked_dot *p)
{
  struct computed one, four;
  bool good = compute(*p, 1, &one);
  good = compute(*p, 4, &four) && good;
  const size_t vectors = (size_t)p->m.vectors, entries = good ? (size_t)one.offsets[vectors] : 0;
  const size_t values = shunt_masked_dot_uniform(p) ? 1 : entries;
  good = good && !memcmp(one.offsets, four.offsets, (vectors + 1) * sizeof(uint64_t)) &&
         !memcmp(one.indices, four.indices, entries * sizeof(uint64_t)) &&
         !memcmp(one.values, four.values, values * shunt_type_size(p->semiring.type));
  free_computed(&one);
  free_computed(&four);
  return good;
}

/* Large enough to be shared among four. */
static void test_threads(int cases)
{
  enum { NODES = 240, ENOUGH = 3 << 11 };
  int bad = 0, shared = 0;
  for (int i = 0; i < cases; i++) {
    struct shunt_masked_dot p = {.semiring = random_masked_semiring(), .saxpy = i % 2};
    const shunt_type t = p.semiring.type;
    struct shunt_sparse s = symmetric(t, NODES), a = sorted_sparse(t, NODES, NODES);
    p.m = p.a = p.b = s;
    if (i % 3) p.a = a;
    if (i % 3 == 2) p.b = a;
    shared += s.nnz >= ENOUGH;
    bad += !same_bits(&p);
    free_sparse(&s);
    free_sparse(&a);
  }
  check(bad == 0 && shared > 0, "%d products on four threads, %d of them shared: the bits of one",
        cases, shared);
}

/* Rows are added up under a mask of one long row, which threads part, and of few entries a row,
   which are sought in B's. */
static void test_saxpy(int cases)
{
  int bad = 0, bits = 0;
  for (int i = 0; i < cases; i++) {
    struct shunt_masked_dot p = {
        .semiring = random_masked_semiring(), .threads = 1 + i % 4, .saxpy = true};
    const shunt_type t = p.semiring.type;
    const int64_t rows = i % 2 ? 1 : 12, cols = i % 2 ? 1500 : 3000, inner = i % 2 ? 90 : 20;
    p.a = evenly(t, rows, inner, 2);
    struct shunt_sparse b = evenly(t, inner, cols, 2 + i % 3);
    p.b = b;
    p.b.by_column = true, p.b.rows = cols, p.b.cols = inner;
    p.m = evenly(t, rows, cols, i % 2 ? 2 : 1000);
    bad += !holds(&p);
    bits += !same_bits(&p);
    free_sparse(&p.a);
    free_sparse(&b);
    free_sparse(&p.m);
  }
  check(bad == 0 && bits == 0, "saxpy under long and short rows: %d products are right", cases);
}

/* Of A and B that have the same arrays, B has more rows. */
static void test_taller(void)
{
  static const int64_t ids[] = {0, 1}, offsets[] = {0, 1, 2}, columns[] = {3, 3};
  static const int64_t far_offsets[] = {0, 2}, far[] = {1, 999}, row[] = {0};
  struct shunt_masked_dot p = {{SHUNT_PLUS, SHUNT_PAIR, SHUNT_I32, false},
                               {.rows = 2,
                                .cols = 1000,
                                .vectors = 1,
                                .nnz = 2,
                                .ids = row,
                                .offsets = far_offsets,
                                .indices = far,
                                .values = &one},
                               {.rows = 2,
                                .cols = 4,
                                .vectors = 2,
                                .nnz = 2,
                                .ids = ids,
                                .offsets = offsets,
                                .indices = columns,
                                .values = &one},
                               .threads = 1};
  p.a.id_bytes = p.a.offset_bytes = p.a.index_bytes = 8, p.a.iso = true;
  p.m.id_bytes = p.m.offset_bytes = p.m.index_bytes = 8, p.m.iso = true;
  p.b = p.a;
  p.b.rows = 1000;
  check(holds(&p), "operands of the same arrays and unequal heights");
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* The triangle 0 1 2 and the edge 2 3: one common neighbour at each side of the triangle. */
static const int64_t hand_offsets[] = {0, 2, 4, 7, 8};
static const int32_t hand_indices[] = {1, 2, 0, 2, 0, 1, 3, 2};
static struct shunt_masked_dot by_hand(void)
{
  const struct shunt_sparse s = {.rows = 4,
                                 .cols = 4,
                                 .vectors = 4,
                                 .nnz = 8,
                                 .offsets = hand_offsets,
                                 .indices = hand_indices,
                                 .values = &one,
                                 .offset_bytes = 8,
                                 .index_bytes = 4,
                                 .iso = true};
  return (struct shunt_masked_dot){{SHUNT_PLUS, SHUNT_PAIR, SHUNT_I32, false}, s, s, s, 2, false};
}

static void test_by_hand(void)
{
  const struct shunt_masked_dot p = by_hand();
  uint64_t offsets[5], indices[8];
  int32_t values[8];
  bool exists[8];
  struct shunt_masked_dot_work *work;
  check(shunt_masked_dot_twin(&p, values, exists) == SHUNT_OK && exists[0] && exists[1] &&
            exists[2] && exists[3] && exists[4] && exists[5] && !exists[6] && !exists[7] &&
            values[0] == 1 && values[5] == 1,
        "twin by hand: a triangle and an edge");
  check(shunt_masked_dot_begin(&p, offsets, &work) == SHUNT_OK && offsets[4] == 6,
        "the kernel finds the six sides");
  shunt_masked_dot_finish(work, indices, values);
  check(indices[0] == 1 && indices[1] == 2 && indices[5] == 1 && values[0] == 1 && values[5] == 1,
        "each has one common neighbour");
}

static void test_failures(void)
{
  uint64_t offsets[5];
  struct shunt_masked_dot_work *work;
  struct shunt_masked_dot p = by_hand();
  p.a.cols = 5;
  check(shunt_masked_dot_begin(&p, offsets, &work) == SHUNT_E_ARGUMENT, "shapes that do not fit");
  p = by_hand(), p.semiring.type = SHUNT_I8;
  check(shunt_masked_dot_begin(&p, offsets, &work) == SHUNT_E_UNSUPPORTED, "a type not built");
  p = by_hand(), p.a.cols = p.b.cols = (int64_t)1 << 40;
  check(shunt_masked_dot_begin(&p, offsets, &work) == SHUNT_E_UNSUPPORTED, "far too many columns");
  p = by_hand();
  check(shunt_masked_dot_begin(&p, offsets, &work) == SHUNT_OK, "a product that fails in no way");
  shunt_masked_dot_finish(work, NULL, NULL);
}

/* 12 of the long and short rows meet each count of threads and of entries a row. */
#ifdef __SANITIZE_ADDRESS__
enum { SAXPY_CASES = 12 };
#else
enum { SAXPY_CASES = 60 };
#endif

int main(int argc, char **argv)
{
  const int64_t cases = argc > 1 ? atoll(argv[1]) : 1000;
  test_by_hand();
  test_random(cases);
  test_lengths(20);
  test_turned(200);
  test_threads(24);
  test_saxpy(SAXPY_CASES);
  test_taller();
  test_failures();
  return check_finish();
}
