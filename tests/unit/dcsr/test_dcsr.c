/* test_dcsr.c: CSR, CSC and COO to dcsr and back: by hand on a tiny matrix, by the format's
   definition on random ones, and every way to be declined.  */
#include "conv/dcsr/dcsr_conv.h"
#include "tests/unit/check.h"
#include "tests/unit/dcsr/dcsr_random.h"

static const char *const name_of[] = {"CSR", "CSC", "COO"};

/* ---- by hand: the drawing of kernels/dcsr/dcsr_format.h -------------------------------------- */

static struct entries drawing(void)
{
  static const struct entry e[] = {{0, 1, 0, 'a'}, {0, 4, 1, 'b'}, {2, 0, 2, 'c'},
                                   {2, 1, 3, 'd'}, {2, 7, 4, 'e'}, {4, 6, 5, 'f'}};
  struct entries m = {5, 8, 6, malloc(sizeof e)};

  memcpy(m.e, e, sizeof e);
  return m;
}

static int equal(const void *array, const int32_t *want, int n)
{
  return !memcmp(array, want, (size_t)n * sizeof *want);
}

static void test_by_hand(void)
{
  struct entries m = drawing();

  for (int from = 0; from < 3; from++) {
    struct owned o = source_new(&m, (enum shunt_dcsr_from)from, SHUNT_I64, SHUNT_I8, 1);
    struct shunt_dcsr_layout layout = {0, SHUNT_I32};
    size_t scratch = shunt_dcsr_scratch_bytes(&o.a, &layout);
    struct packed k = packed_new(&o.a, &layout, 3, scratch);
    int good = shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_OK;

    good = good && k.d.strips == 1 && k.d.width == 8 && k.d.counts->segments == 3;
    good = good && equal(k.d.strip_begin, (int32_t[]){0, 3}, 2) &&
           equal(k.d.row_ids, (int32_t[]){0, 2, 4}, 3) &&
           equal(k.d.offsets, (int32_t[]){0, 2, 5, 6}, 4) &&
           equal(k.d.columns, (int32_t[]){1, 4, 0, 1, 7, 6}, 6) && !memcmp(k.d.values, "abcdef", 6);
    check(good && packed_whole(&k, scratch), "the drawing, whole, from %s", name_of[from]);
    packed_free(&k);

    layout.width = 4;
    scratch = shunt_dcsr_scratch_bytes(&o.a, &layout);
    k = packed_new(&o.a, &layout, 5, scratch);
    good = shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_OK;
    good = good && k.d.strips == 2 && equal(k.d.strip_begin, (int32_t[]){0, 2, 5}, 3) &&
           equal(k.d.row_ids, (int32_t[]){0, 2, 0, 2, 4}, 5) &&
           equal(k.d.offsets, (int32_t[]){0, 1, 3, 4, 5, 6}, 6) &&
           equal(k.d.columns, (int32_t[]){1, 0, 1, 4, 7, 6}, 6) && !memcmp(k.d.values, "acdbef", 6);
    check(good && packed_whole(&k, scratch), "the drawing in strips of 4, from %s", name_of[from]);
    packed_free(&k);
    source_free(&o);
  }
  free(m.e);
}

static void test_footprint(void)
{
  check(shunt_csr_footprint(5, 6, SHUNT_I32, SHUNT_F32) == 6 * 4 + 6 * 8 &&
            shunt_dcsr_footprint(1, 3, 6, SHUNT_I32, SHUNT_F32) == (2 + 3 + 4) * 4 + 6 * 8 &&
            shunt_dcsr_footprint(2, 5, 6, SHUNT_I32, SHUNT_F64) == (3 + 5 + 6) * 4 + 6 * 12,
        "footprints of the drawing");
}

/* ---- random matrices, by the definition -------------------------------------------------------
 */

static struct shunt_csr csr_new(const struct shunt_dcsr_source *a, shunt_type index, int base)
{
  size_t n = (size_t)a->nnz;

  return (struct shunt_csr){.row_offsets = calloc((size_t)a->rows + 1, 8),
                            .columns = calloc(n + 1, 8),
                            .values = calloc(n + 1, 8),
                            .index_type = index,
                            .base = base};
}

static void csr_free(struct shunt_csr *a)
{
  free((void *)(uintptr_t)a->row_offsets);
  free((void *)(uintptr_t)a->columns);
  free(a->values);
}

/* d's entries as CSR, compared with those of `want`, a CSR source. */
static int comes_back(const struct shunt_dcsr *d, const struct owned *want)
{
  shunt_type t = want->a.index_type;
  size_t index = shunt_type_size(t), n = (size_t)want->a.nnz;
  struct shunt_csr back = csr_new(&want->a, t, want->a.base);
  int same = shunt_dcsr_to_csr_host(d, &back) == SHUNT_OK && back.rows == want->a.rows &&
             back.cols == want->a.cols && back.nnz == want->a.nnz &&
             back.value_type == want->a.value_type &&
             !memcmp(back.row_offsets, want->offsets, ((size_t)want->a.rows + 1) * index) &&
             !memcmp(back.columns, want->columns, n * index) &&
             !memcmp(back.values, want->values, n * shunt_type_size(want->a.value_type));

  csr_free(&back);
  return same;
}

/* What the trip there and back makes of a source: by row, then by strip, then by place. */
static int by_row_and_strip(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  int64_t s = a->column / sorting_width, t = b->column / sorting_width;
  return a->row == b->row && s != t ? (s < t ? -1 : 1) : by_row(x, y);
}

struct verdict {
  int right, bounds, counts, trips, exact;
};

static void try_one(const struct owned *o, const struct shunt_dcsr_layout *layout, int ascending,
                    struct verdict *v)
{
  size_t scratch = shunt_dcsr_scratch_bytes(&o->a, layout);
  int64_t most = shunt_dcsr_most_segments(&o->a, layout), segments;
  struct packed k = packed_new(&o->a, layout, most, scratch);
  struct shunt_dcsr_fault fault;
  struct owned want;

  v->counts &= shunt_dcsr_count_host(&o->a, layout, k.scratch, &segments, &fault) == SHUNT_OK &&
               fault.rule == SHUNT_DCSR_SOUND && segments <= most && packed_whole(&k, scratch);
  packed_free(&k);
  k = packed_new(&o->a, layout, segments, scratch); /* exactly enough */
  v->right &= shunt_source_to_dcsr_host(&o->a, layout, k.scratch, &k.d, &fault) == SHUNT_OK &&
              is_right(&k.d, o);
  v->bounds &= packed_whole(&k, scratch);

  sorting_width = k.d.width;
  struct entries sorted = o->m;
  sorted.e = malloc(((size_t)o->m.nnz + 1) * sizeof(struct entry));
  memcpy(sorted.e, o->m.e, (size_t)o->m.nnz * sizeof(struct entry));
  reorder(&sorted, by_row_and_strip);
  want = source_new(&sorted, SHUNT_DCSR_FROM_CSR, o->a.index_type, o->a.value_type, o->a.base);
  v->trips &= comes_back(&k.d, &want);
  if (o->a.from == SHUNT_DCSR_FROM_CSR && (ascending || k.d.strips <= 1))
    v->exact &= comes_back(&k.d, o);
  source_free(&want);
  free(sorted.e);
  packed_free(&k);
}

static void test_random(int from)
{
  static const int64_t rows[] = {0, 1, 9, 70}, cols[] = {0, 1, 63, 64, 150};
  static const int64_t widths[] = {0, 1, 7, 64, 1000};
  static const double densities[] = {0, 0.02, 0.3, 1};
  static const shunt_type values[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_I8};
  struct verdict v = {1, 1, 1, 1, 1};
  int cases = 0;

  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int d = 0; d < 4; d++)
        for (int w = 0; w < 5; w++) {
          struct entries m = random_entries(rows[i], cols[j], densities[d], w % 2);
          int ascending = (i + j + d) % 2, wide = random_below(2) == 0;
          if (ascending) reorder(&m, by_row_and_column);
          struct owned o =
              source_new(&m, (enum shunt_dcsr_from)from, random_below(2) ? SHUNT_I32 : SHUNT_I64,
                         values[random_below(4)], (int)random_below(2));
          struct shunt_dcsr_layout layout = {widths[w], wide ? SHUNT_I64 : SHUNT_I32};
          try_one(&o, &layout, ascending, &v);
          source_free(&o);
          free(m.e);
          cases++;
        }
  check(v.counts, "%s: segments are counted, within the bound, %d matrices", name_of[from], cases);
  check(v.right, "%s: arrays are what the format's definition says", name_of[from]);
  check(v.bounds, "%s: memory and scratch as asked for are enough", name_of[from]);
  check(v.trips, "%s: back to CSR gives every entry, grouped by strip", name_of[from]);
  if (from == SHUNT_DCSR_FROM_CSR)
    check(v.exact, "%s: rows that ascend, and whole matrices, come back byte for byte",
          name_of[from]);
}

/* ---- faults -----------------------------------------------------------------------------------
 */

/* Runs the conversion on a broken source; true if it says so, there, and writes nothing. */
static int declined(const struct owned *o, enum shunt_dcsr_rule rule, int64_t line, int64_t at,
                    int64_t value)
{
  struct shunt_dcsr_layout layout = {64, SHUNT_I64};
  size_t scratch = shunt_dcsr_scratch_bytes(&o->a, &layout);
  struct packed k = packed_new(&o->a, &layout, 1000, scratch);
  struct shunt_dcsr_fault fault = {0};
  struct shunt_csr back = csr_new(&o->a, SHUNT_I64, 0);
  int64_t segments = 7, place;
  int good = shunt_source_to_dcsr_host(&o->a, &layout, k.scratch, &k.d, &fault) == SHUNT_E_ARGUMENT;

  good &= k.d.counts->irregular == SHUNT_IRREGULAR && ((unsigned char *)k.d.offsets)[0] == 0xee;
  good &= fault.rule == rule && fault.line == line && fault.at == at && fault.value == value;
  good &= shunt_dcsr_fault_place(k.d.counts->fault, &place) == rule && place == at;
  if (!good)
    printf("  | rule %d line %lld at %lld: %lld\n", (int)fault.rule, (long long)fault.line,
           (long long)fault.at, (long long)fault.value);
  good &= shunt_dcsr_to_csr_host(&k.d, &back) == SHUNT_E_ARGUMENT;
  good &= shunt_dcsr_count_host(&o->a, &layout, k.scratch, &segments, NULL) == SHUNT_E_ARGUMENT &&
          segments == 0;
  csr_free(&back);
  packed_free(&k);
  return good;
}

/* Entry p of `array` becomes v for the time of the test. */
static int declined_with(struct owned *o, void *array, int64_t p, int64_t v,
                         enum shunt_dcsr_rule rule, int64_t line)
{
  int64_t kept = get(array, o->a.index_type, p);
  int good;

  put(array, o->a.index_type, p, v);
  good = declined(o, rule, line, p, v);
  put(array, o->a.index_type, p, kept);
  return good;
}

static void test_faults(void)
{
  struct entries m = drawing();
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, SHUNT_F32, 1);
  struct shunt_csr a = {5, 8, 6, o.offsets, o.columns, o.values, SHUNT_I32, SHUNT_F32, 1};
  struct shunt_dcsr_fault fault;

  check(shunt_dcsr_check_host(&o.a, &fault) == SHUNT_OK && fault.rule == SHUNT_DCSR_SOUND,
        "a sound matrix has no fault");
  o.a = shunt_dcsr_source_csr(&a);
  check(declined_with(&o, o.offsets, 0, 0, SHUNT_DCSR_FIRST, -1),
        "CSR: the first offset must be the base");
  check(declined_with(&o, o.offsets, 2, 2, SHUNT_DCSR_DESCENDING, 1),
        "CSR: offsets must not descend");
  check(declined_with(&o, o.offsets, 5, 8, SHUNT_DCSR_LAST, -1),
        "CSR: the last offset must be the number of entries");
  check(declined_with(&o, o.columns, 4, 9, SHUNT_DCSR_COLUMN, 2),
        "CSR: columns must not be beyond the last");
  check(declined_with(&o, o.columns, 5, 0, SHUNT_DCSR_COLUMN, 4), "CSR: nor before the first");
  for (int i = 0; i < 3; i++) {
    static const char *const name[] = {"rows", "columns", "entries"};
    int64_t *size = i == 0 ? &o.a.rows : i == 1 ? &o.a.cols : &o.a.nnz, kept = *size;
    *size = -1;
    check(shunt_dcsr_check_host(&o.a, &fault) == SHUNT_E_ARGUMENT &&
              fault.rule == SHUNT_DCSR_SIZES && fault.at == i && fault.value == -1,
          "sizes must not be negative: %s", name[i]);
    *size = kept;
  }
  source_free(&o);

  o = source_new(&m, SHUNT_DCSR_FROM_CSC, SHUNT_I64, SHUNT_F32, 0);
  check(declined_with(&o, o.offsets, 3, 2, SHUNT_DCSR_DESCENDING, 2),
        "CSC: offsets must not descend");
  check(declined_with(&o, o.row_indices, 5, 5, SHUNT_DCSR_ROW, 7),
        "CSC: rows must not be beyond the last");
  check(declined_with(&o, o.row_indices, 0, INT64_MIN, SHUNT_DCSR_ROW, 0), "CSC: nor absurd");
  source_free(&o);

  o = source_new(&m, SHUNT_DCSR_FROM_COO, SHUNT_I32, SHUNT_F32, 0);
  check(declined_with(&o, o.row_indices, 3, -1, SHUNT_DCSR_ROW, -1) &&
            declined_with(&o, o.columns, 3, 8, SHUNT_DCSR_COLUMN, -1),
        "COO: rows and columns must be in range");
  source_free(&o);
  free(m.e);
}

static void test_declined(void)
{
  struct entries m = drawing();
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, SHUNT_F32, 0);
  struct shunt_dcsr_layout layout = {4, SHUNT_I32};
  size_t scratch = shunt_dcsr_scratch_bytes(&o.a, &layout);
  struct packed k = packed_new(&o.a, &layout, 4, scratch);
  struct shunt_csr back = csr_new(&o.a, SHUNT_F32, 0);
  struct shunt_dcsr_source big = o.a;
  struct shunt_dcsr d;
  int64_t place;

  check(shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_E_WORKSPACE &&
            k.d.counts->irregular == SHUNT_IRREGULAR && packed_whole(&k, scratch) &&
            shunt_dcsr_fault_place(k.d.counts->fault, &place) == SHUNT_DCSR_SOUND,
        "more segments than there is room for");
  packed_free(&k);
  k = packed_new(&o.a, &layout, 5, scratch);
  check(shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_OK &&
            shunt_dcsr_to_csr_host(&k.d, &back) == SHUNT_E_UNSUPPORTED,
        "back to CSR of an index type that is none");
  back.index_type = SHUNT_I32;
  d = k.d, d.cols = INT64_C(1) << 32;
  check(shunt_dcsr_to_csr_host(&d, &back) == SHUNT_E_UNSUPPORTED,
        "back to 32-bit CSR of columns that it does not hold");
  layout.width = -1;
  check(shunt_dcsr_bytes(&o.a, &layout, 5) == 0 &&
            !shunt_dcsr_lay_out(&o.a, &layout, 5, NULL, &d) &&
            shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_E_UNSUPPORTED,
        "a width below 0");
  layout = (struct shunt_dcsr_layout){4, SHUNT_F32};
  check(shunt_dcsr_bytes(&o.a, &layout, 5) == 0, "a layout whose index type is none");
  layout.index_type = SHUNT_I32;
  o.a.index_type = SHUNT_F64;
  check(shunt_dcsr_check_host(&o.a, NULL) == SHUNT_E_UNSUPPORTED &&
            shunt_source_to_dcsr_host(&o.a, &layout, k.scratch, &k.d, NULL) == SHUNT_E_UNSUPPORTED,
        "a source whose index type is none");
  check(shunt_dcsr_bytes(&big, &layout, -1) == 0, "room below 0");
  big.cols = INT64_C(1) << 31;
  check(shunt_dcsr_bytes(&big, &layout, 5) == 0, "2^31 columns in 32-bit indices");
  layout.index_type = SHUNT_I64;
  check(shunt_dcsr_bytes(&big, &layout, 5) > 0, "2^31 columns in 64-bit indices can be had");
  big.nnz = INT64_MAX;
  check(shunt_dcsr_bytes(&big, &layout, 5) == 0, "sizes whose bytes are beyond counting");
  csr_free(&back);
  packed_free(&k);
  source_free(&o);
  free(m.e);
}

int main(void)
{
  test_by_hand();
  test_footprint();
  for (int from = 0; from < 3; from++) test_random(from);
  test_faults();
  test_declined();
  return check_finish();
}
