/* test_semiring_spmm.c: the host engine's S (x) B against its twin, over random shapes, types,
   semirings and layouts, with every instruction set of this machine; the twin against answers
   computed by hand.

     test_semiring_spmm [cases per instruction set]  */
#include "kernels/semiring/semiring_choice.h"
#include "tests/unit/check.h"
#include "tests/unit/semiring/semiring_random.h"

/* ---- one random case ---------------------------------------------------------------------- */
static void *copy_of(const void *from, size_t bytes)
{
  return memcpy(allocate(bytes), from, bytes);
}

static bool same_bytes(const struct shunt_full *x, const struct shunt_full *y, size_t size)
{
  const size_t n = (size_t)full_elements(x);
  return memcmp(x->values, y->values, n * size) == 0 &&
         (!x->present || memcmp(x->present, y->present, n) == 0);
}

static struct shunt_full copy_full(const struct shunt_full *f, size_t size)
{
  struct shunt_full copy = *f;
  copy.values = copy_of(f->values, (size_t)full_elements(f) * size);
  if (f->present) copy.present = copy_of(f->present, (size_t)full_elements(f));
  return copy;
}

static struct shunt_host_spmm random_product(void)
{
  struct shunt_host_spmm p = {.semiring = random_semiring()};
  const shunt_type t = p.semiring.type;
  const int64_t m = random_size(), k = random_size();
  const int64_t n = one_in(4) ? 1 : random_size(); /* one column has loops of its own */
  const bool special = one_in(3);

  p.s = random_sparse(t, m, k, special);
  p.b = random_full(t, k, n, special, true, true);
  p.accumulate = one_in(2);
  p.c = random_full(t, m, n, special, false, false);
  if (!p.accumulate && one_in(2)) {
    p.c.present = allocate((size_t)full_elements(&p.c));
    memset(p.c.present, 7, (size_t)full_elements(&p.c));
  }
  p.threads = 1 + (int)random_below(4);
  return p;
}

/* What the twin says for the absolute values of everything. */
static struct shunt_full magnitude_of(const struct shunt_host_spmm *p)
{
  const shunt_type t = p->semiring.type;
  struct shunt_host_spmm q = *p;
  q.s.values = magnitudes(t, p->s.values, p->s.iso ? 1 : p->s.nnz);
  q.b.values = magnitudes(t, p->b.values, full_elements(&p->b));
  q.c.values = magnitudes(t, p->c.values, full_elements(&p->c));
  q.c.present = NULL;
  shunt_host_spmm_twin(&q);
  free((void *)q.s.values);
  free(q.b.values);
  return q.c;
}

static bool agrees(const struct shunt_host_spmm *p, const struct shunt_full *got,
                   const struct shunt_full *want)
{
  const shunt_type t = p->semiring.type;
  const int64_t n = full_elements(want);
  struct shunt_full magnitude = {0};
  bool good = true;

  if (rounds(&p->semiring)) magnitude = magnitude_of(p);
  for (int64_t i = 0; i < n && good; i++) {
    good = magnitude.values ? near(t, got->values, want->values, magnitude.values, i, p->s.cols + 1)
                            : same_element(t, got->values, want->values, i);
    if (want->present) good = good && got->present[i] == want->present[i];
  }
  free(magnitude.values);
  return good;
}

/* The engine agrees with the twin, with itself: for any number of threads where nothing rounds. */
static bool holds(const struct shunt_host_spmm *p)
{
  const size_t size = shunt_type_size(p->semiring.type);
  struct shunt_host_spmm twin = *p, fast = *p, again = *p;
  twin.c = copy_full(&p->c, size);
  fast.c = copy_full(&p->c, size);
  again.c = copy_full(&p->c, size);
  if (!rounds(&p->semiring)) again.threads = 1 + (int)random_below(4);

  bool good = shunt_host_spmm_twin(&twin) == SHUNT_OK;
  if (semiring_built(&p->semiring)) {
    good = good && shunt_host_spmm(&fast) == SHUNT_OK && agrees(p, &fast.c, &twin.c);
    good = good && shunt_host_spmm(&again) == SHUNT_OK && same_bytes(&fast.c, &again.c, size);
  } else {
    good =
        good && shunt_host_spmm(&fast) == SHUNT_E_UNSUPPORTED && same_bytes(&fast.c, &p->c, size);
  }
  free_full(&twin.c);
  free_full(&fast.c);
  free_full(&again.c);
  return good;
}

static void describe(const struct shunt_host_spmm *p)
{
  printf("# monoid %d multiplier %d type %d; S %lld x %lld, %lld vectors, %lld entries, by %s%s%s, "
         "widths %d %d %d\n",
         p->semiring.monoid, p->semiring.multiplier, p->semiring.type, (long long)p->s.rows,
         (long long)p->s.cols, (long long)p->s.vectors, (long long)p->s.nnz,
         p->s.by_column ? "column" : "row", p->s.ids ? ", hyper" : "", p->s.iso ? ", iso" : "",
         p->s.id_bytes, p->s.offset_bytes, p->s.index_bytes);
  printf("# B strides %lld %lld%s%s; C %lld columns, strides %lld %lld%s%s; %d threads\n",
         (long long)p->b.row_stride, (long long)p->b.col_stride, p->b.iso ? ", iso" : "",
         p->b.present ? ", bitmap" : "", (long long)p->c.cols, (long long)p->c.row_stride,
         (long long)p->c.col_stride, p->c.present ? ", present" : "",
         p->accumulate ? ", accumulate" : "", p->threads);
}

static void test_random(int level, int64_t cases)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < cases; i++) {
    struct shunt_host_spmm p = random_product();
    if (!holds(&p) && bad++ < 3) describe(&p);
    free_sparse(&p.s);
    free_full(&p.b);
    free_full(&p.c);
  }
  check(bad == 0, "instruction set %d: %lld of %lld random products are right", level,
        (long long)(cases - bad), (long long)cases);
}

/* ---- larger than any block, in every layout ------------------------------------------------- */
static void test_large(void)
{
  bool good = true;
  for (int layout = 0; layout < 32; layout++) {
    static const int64_t columns[] = {1, 5, 16, 70};
    const int64_t m = 3000, k = 5000, n = columns[layout / 8];
    struct shunt_host_spmm p = {.semiring = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_F32, false},
                                .threads = 4};
    do {
      if (p.s.offsets) free_sparse(&p.s);
      p.s = random_sparse(SHUNT_F32, m, k, false);
    } while (p.s.by_column != (layout & 1) || p.s.ids);
    do {
      free_full(&p.b);
      p.b = random_full(SHUNT_F32, k, n, false, false, false);
    } while ((p.b.row_stride == 1) != ((layout & 2) != 0));
    do {
      free_full(&p.c);
      p.c = random_full(SHUNT_F32, m, n, false, false, false);
    } while ((p.c.row_stride == 1) != ((layout & 4) != 0));
    good = holds(&p) && good;
    free_sparse(&p.s);
    free_full(&p.b);
    free_full(&p.c);
  }
  check(good, "3000 x 5000 by 1, 5, 16 and 70 columns, 4 threads, in 8 layouts");
}

/* By column, with more rows than are sorted in one pass; values of 8, 4 and no bytes. */
static void test_many_rows(void)
{
  const shunt_type types[] = {SHUNT_F64, SHUNT_I32};
  bool good = true;
  for (int i = 0; i < 4; i++) {
    const shunt_type t = types[i & 1];
    struct shunt_host_spmm p = {.semiring = {SHUNT_PLUS, SHUNT_TIMES, t, false}, .threads = 3};
    do {
      if (p.s.offsets) free_sparse(&p.s);
      p.s = random_sparse(t, 70000, 400, false);
    } while (!p.s.by_column || p.s.iso != (i >= 2) || p.s.nnz < 1000);
    p.b = random_full(t, 400, 37, false, false, false);
    p.c = random_full(t, 70000, 37, false, false, false);
    good = holds(&p) && good;
    free_sparse(&p.s);
    free_full(&p.b);
    free_full(&p.c);
  }
  check(good, "70000 rows by 37 columns, S by column");
}

/* ---- the twin, by hand ------------------------------------------------------------------------
        | 1 . 2 |        | 1 2 |
    S = | . . . |    B = | 5 - |    "-" missing when `present` says so
        | . 3 . |        | 3 4 |                                                */
static const int32_t hand_offsets[] = {0, 2, 2, 3}, hand_indices[] = {0, 2, 1};
static const int32_t hand_s[] = {1, 2, 3};
static int32_t hand_b[] = {1, 2, 5, 6, 3, 4};
static int8_t hand_present[] = {1, 1, 1, 0, 1, 1};

static struct shunt_host_spmm by_hand(enum shunt_monoid monoid, enum shunt_multiplier multiplier,
                                      int32_t *c, int8_t *present)
{
  return (struct shunt_host_spmm){
      .semiring = {monoid, multiplier, SHUNT_I32, false},
      .s = {.rows = 3,
            .cols = 3,
            .vectors = 3,
            .nnz = 3,
            .offsets = hand_offsets,
            .indices = hand_indices,
            .values = hand_s,
            .offset_bytes = 4,
            .index_bytes = 4},
      .b = {.rows = 3,
            .cols = 2,
            .row_stride = 2,
            .col_stride = 1,
            .values = hand_b,
            .present = hand_present},
      .c =
          {.rows = 3, .cols = 2, .row_stride = 2, .col_stride = 1, .values = c, .present = present},
      .threads = 1,
  };
}

static void check_by_hand(enum shunt_monoid monoid, enum shunt_multiplier multiplier,
                          const int32_t want[6], const char *name)
{
  static const int8_t exists[6] = {1, 1, 0, 0, 1, 0};
  int32_t c[6] = {9, 9, 9, 9, 9, 9};
  int8_t present[6] = {9, 9, 9, 9, 9, 9};
  const struct shunt_host_spmm p = by_hand(monoid, multiplier, c, present);
  check(shunt_host_spmm_twin(&p) == SHUNT_OK && memcmp(c, want, sizeof c) == 0 &&
            memcmp(present, exists, sizeof present) == 0,
        "twin by hand: %s", name);
}

static void test_twin(void)
{
  check_by_hand(SHUNT_PLUS, SHUNT_TIMES, (int32_t[]){7, 10, 0, 0, 15, 0}, "PLUS_TIMES");
  check_by_hand(SHUNT_PLUS, SHUNT_FIRST, (int32_t[]){3, 3, 0, 0, 3, 0}, "PLUS_FIRST");
  check_by_hand(SHUNT_PLUS, SHUNT_SECOND, (int32_t[]){4, 6, 0, 0, 5, 0}, "PLUS_SECOND");
  check_by_hand(SHUNT_PLUS, SHUNT_PAIR, (int32_t[]){2, 2, 0, 0, 1, 0}, "PLUS_PAIR");
  check_by_hand(SHUNT_MIN, SHUNT_ADD, (int32_t[]){2, 3, 0, 0, 8, 0}, "MIN_PLUS");
  check_by_hand(SHUNT_MAX, SHUNT_TIMES, (int32_t[]){6, 8, 0, 0, 15, 0}, "MAX_TIMES");

  int32_t c[6] = {100, 100, 100, 100, 100, 100};
  struct shunt_host_spmm p = by_hand(SHUNT_PLUS, SHUNT_TIMES, c, NULL);
  p.accumulate = true;
  const shunt_status status = shunt_host_spmm_twin(&p);
  check(status == SHUNT_OK && memcmp(c, (int32_t[]){107, 110, 100, 100, 115, 100}, sizeof c) == 0,
        "twin by hand: accumulates, leaves elements without terms alone");
}

/* min over k of (s + b) where a term is NaN, and where all are. */
static void test_nan(void)
{
  const int32_t offsets[] = {0, 2, 3}, indices[] = {0, 1, 0};
  const float s[] = {1, 2, 1};
  float b[] = {NAN, 4}, c[] = {0, 0};
  const struct shunt_host_spmm p = {
      .semiring = {SHUNT_MIN, SHUNT_ADD, SHUNT_F32, false},
      .s = {.rows = 2,
            .cols = 2,
            .vectors = 2,
            .nnz = 3,
            .offsets = offsets,
            .indices = indices,
            .values = s,
            .offset_bytes = 4,
            .index_bytes = 4},
      .b = {.rows = 2, .cols = 1, .row_stride = 1, .col_stride = 1, .values = b},
      .c = {.rows = 2, .cols = 1, .row_stride = 1, .col_stride = 1, .values = c},
      .threads = 1,
  };
  check(shunt_host_spmm_twin(&p) == SHUNT_OK && c[0] == 6 && isnan(c[1]),
        "twin by hand: MIN_PLUS drops a NaN unless there is nothing else");
  c[0] = c[1] = 0;
  check(shunt_host_spmm(&p) == SHUNT_OK && c[0] == 6 && isnan(c[1]), "the engine does, too");
}

/* ---- failures ---------------------------------------------------------------------------------
 */
static shunt_status both(const struct shunt_host_spmm *p)
{
  const shunt_status status = shunt_host_spmm(p);
  return shunt_host_spmm_twin(p) == status ? status : SHUNT_E_WRITTEN;
}

static void test_failures(void)
{
  int32_t c[6] = {0};
  int8_t present[6];
  const struct shunt_host_spmm good = by_hand(SHUNT_PLUS, SHUNT_TIMES, c, present);
  struct shunt_host_spmm p = good;
  check(both(&p) == SHUNT_OK, "a product that fails in no way");
  p.accumulate = true;
  check(both(&p) == SHUNT_E_ARGUMENT, "accumulate into a C with missing elements");
  p = good, p.c.iso = true;
  check(both(&p) == SHUNT_E_ARGUMENT, "an iso C");
  p = good, p.b.rows = 2;
  check(both(&p) == SHUNT_E_ARGUMENT, "shapes that do not fit");
  p = good, p.s.vectors = 2;
  check(both(&p) == SHUNT_E_ARGUMENT, "too few vectors");
  p = good, p.s.index_bytes = 2;
  check(both(&p) == SHUNT_E_ARGUMENT, "indices of 2 bytes");
  p = good, p.b.col_stride = 3;
  check(both(&p) == SHUNT_E_ARGUMENT, "two strides");
  p = good, p.semiring.type = SHUNT_F16;
  check(both(&p) == SHUNT_E_UNSUPPORTED, "a type that is not built");

  const int64_t huge = (int64_t)1 << 50;
  p = good, p.s.rows = 1, p.s.vectors = 1, p.s.cols = huge, p.c.rows = 1;
  p.b.rows = huge, p.b.row_stride = 1, p.b.col_stride = huge, p.b.present = NULL;
  check(shunt_host_spmm(&p) == SHUNT_E_MEMORY, "no memory for the packed B");
  p.s.by_column = true, p.s.vectors = 0, p.s.ids = hand_indices, p.s.id_bytes = 4, p.s.nnz = 0;
  check(shunt_host_spmm(&p) == SHUNT_E_UNSUPPORTED, "more than 2^31 columns, by column");
  p = good, p.s.rows = p.c.rows = huge, p.s.vectors = 0, p.s.ids = hand_indices, p.s.id_bytes = 4;
  check(shunt_host_spmm_twin(&p) == SHUNT_E_MEMORY, "no memory for the twin's T");
}

int main(int argc, char **argv)
{
  const int64_t cases = argc > 1 ? atoll(argv[1]) : 3000;
  test_twin();
  for (int level = 0; shunt_semiring_limit(level) == level && level < 3; level++) {
    test_random(level, cases);
    test_nan();
    test_large();
    test_many_rows();
  }
  test_failures();
  return check_finish();
}
