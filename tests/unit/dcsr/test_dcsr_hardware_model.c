/* test_dcsr_hardware_model.c: the model of the conversion unit against the stored strips, bit for
   bit, over random and real matrices; its counts, by hand on a tiny matrix.  */
#include <glob.h>
#include <math.h>

#include "conv/dcsr/dcsr_hardware_model.h"
#include "conv/read/read.h"
#include "tests/unit/check.h"
#include "tests/unit/dcsr/dcsr_random.h"

/* Everything but the rest of row_ids and offsets that is not used. */
static int same(const struct shunt_dcsr *x, const struct shunt_dcsr *y)
{
  size_t index = shunt_type_size(x->index_type), n = (size_t)x->nnz;
  size_t segments = (size_t)x->counts->segments;

  return x->counts->irregular == 0 && y->counts->irregular == 0 &&
         segments == y->counts->segments &&
         !memcmp(x->strip_begin, y->strip_begin, ((size_t)x->strips + 1) * index) &&
         !memcmp(x->row_ids, y->row_ids, segments * index) &&
         !memcmp(x->offsets, y->offsets, (segments + 1) * index) &&
         !memcmp(x->columns, y->columns, n * index) &&
         !memcmp(x->values, y->values, n * shunt_type_size(x->value_type));
}

struct unit_run {
  struct packed stored, emitted;
  size_t scratch, unit_scratch;
  struct shunt_dcsr_unit_counts counts;
  shunt_status status;
};

static struct unit_run unit_run(const struct shunt_dcsr_source *a,
                                const struct shunt_dcsr_layout *layout)
{
  struct unit_run r = {.scratch = shunt_dcsr_scratch_bytes(a, layout),
                       .unit_scratch = shunt_dcsr_unit_scratch_bytes(a, layout)};
  int64_t segments;

  r.stored = packed_new(a, layout, shunt_dcsr_most_segments(a, layout), r.scratch);
  r.status = shunt_dcsr_count_host(a, layout, r.stored.scratch, &segments, NULL);
  if (r.status == SHUNT_OK)
    r.status = shunt_source_to_dcsr_host(a, layout, r.stored.scratch, &r.stored.d, NULL);
  r.emitted = packed_new(a, layout, segments, r.unit_scratch);
  if (r.status == SHUNT_OK)
    r.status =
        shunt_dcsr_unit_run_host(a, layout, r.emitted.scratch, &r.emitted.d, &r.counts, NULL);
  return r;
}

static void unit_free(struct unit_run *r)
{
  packed_free(&r->stored);
  packed_free(&r->emitted);
}

/* ---- by hand: the drawing of kernels/dcsr/dcsr_format.h -------------------------------------- */

/* Strip 0: columns 0 {c}, 1 {a d}; strip 1: 0 {b}, 2 {f}, 3 {e}; and between them, in a second
   matrix, a strip without entries.  */
static struct owned drawing(int64_t shift)
{
  const struct entry e[] = {{2, 0, 0, 'c'},         {0, 1, 1, 'a'},         {2, 1, 2, 'd'},
                            {0, 4 + shift, 3, 'b'}, {4, 6 + shift, 4, 'f'}, {2, 7 + shift, 5, 'e'}};
  struct entries m = {5, 8 + shift, 6, (struct entry *)(uintptr_t)e};

  return source_new(&m, SHUNT_DCSR_FROM_CSC, SHUNT_I32, SHUNT_F32, 1);
}

static void test_by_hand(void)
{
  struct owned o = drawing(0);
  struct shunt_dcsr_layout layout = {4, SHUNT_I64};
  struct unit_run r = unit_run(&o.a, &layout);
  const struct shunt_dcsr_unit_counts *c = &r.counts;
  struct shunt_dcsr_unit_estimate e;

  check(r.status == SHUNT_OK && is_right(&r.emitted.d, &o), "the drawing is emitted");
  check(c->strips == 2 && c->elements == 6 && c->segments == 5, "6 elements in 5 rows of 2 strips");
  check(c->tree_activations == (2 + 1) + (3 + 1), "a minimum for each row, and one at the end");
  check(c->prefetches == 2 + 3, "a prefetch for each column with entries");
  check(c->bytes_read == 2 * 5 * 4 + 6 * 8, "bytes read: pointers of 2 x 5, 6 entries");
  check(c->bytes_written == 5 * 2 * 8 + 6 * 12, "bytes written, in 64-bit indices");
  check(c->cycles == 6 + 2 * 2 && c->busiest_cycles == 3 + 2, "cycles: elements, and two levels");
  unit_free(&r);
  source_free(&o);

  o = drawing(64 * 4);
  r = unit_run(&o.a, &layout);
  check(r.status == SHUNT_OK && c->strips == 2 && c->cycles == 10 && c->busiest_cycles == 5,
        "strips 0 and 65 are on channels 0 and 1");
  check(c->bytes_read == 66 * 5 * 4 + 6 * 8, "empty strips cost their pointers");
  unit_free(&r);
  source_free(&o);
  o = drawing(63 * 4);
  r = unit_run(&o.a, &layout);
  check(r.status == SHUNT_OK && c->busiest_cycles == 10, "strips 0 and 64 share channel 0");

  e = shunt_dcsr_unit_estimate(c, SHUNT_I32, SHUNT_F32);
  check(fabs(e.us - 10 * 0.588e-3) < 1e-12 && fabs(e.balanced_us * 64 - e.us) < 1e-12 &&
            fabs(e.uj - 6 * 6.29e-6) < 1e-15 && fabs(e.peak - 64 / 0.588e-9) < 1 &&
            fabs(e.elements_a_second - 6 / (10 * 0.588e-9)) < 1,
        "time, energy and throughput of these counts");
  e = shunt_dcsr_unit_estimate(c, SHUNT_I32, SHUNT_F64);
  check(fabs(e.element_ns - 0.882) < 1e-12, "an fp64 element takes half as long again");
  e = shunt_dcsr_unit_estimate(c, SHUNT_I32, SHUNT_F16);
  check(e.element_ns == 0.588, "an fp16 element is not faster");
  unit_free(&r);
  source_free(&o);
}

/* A column of 17 entries and one of 8, in buffers of 8: 3 + 1 prefetches. */
static void test_prefetch(void)
{
  struct entries m = {20, 2, 25, calloc(25, sizeof(struct entry))};
  struct shunt_dcsr_layout layout = {64, SHUNT_I32};
  struct unit_run r;
  struct owned o;

  for (int64_t p = 0; p < 25; p++)
    m.e[p] = (struct entry){p < 17 ? p : 19, p >= 17, p, (uint64_t)p};
  o = source_new(&m, SHUNT_DCSR_FROM_CSC, SHUNT_I64, SHUNT_F64, 0);
  r = unit_run(&o.a, &layout);
  check(r.status == SHUNT_OK && is_right(&r.emitted.d, &o) && r.counts.prefetches == 4 &&
            r.counts.segments == 18 && r.counts.tree_activations == 19 && r.counts.cycles == 26,
        "prefetches by eights; a repeated entry stays in one row");
  unit_free(&r);
  source_free(&o);
  free(m.e);
}

/* ---- random ------------------------------------------------------------------------------------
 */

static void test_random(void)
{
  static const int64_t rows[] = {0, 1, 9, 130}, cols[] = {0, 1, 64, 65, 200};
  static const int64_t widths[] = {0, 1, 5, 64};
  static const double densities[] = {0, 0.02, 0.3, 1};
  int equal = 1, right = 1, bounds = 1, sums = 1, cases = 0;

  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int d = 0; d < 4; d++)
        for (int w = 0; w < 4; w++) {
          struct entries m = random_entries(rows[i], cols[j], densities[d], (i + w) % 2);
          struct shunt_dcsr_layout layout = {widths[w], random_below(2) ? SHUNT_I32 : SHUNT_I64};
          reorder(&m, by_row_and_column); /* rows ascend in every column */
          struct owned o =
              source_new(&m, SHUNT_DCSR_FROM_CSC, random_below(2) ? SHUNT_I32 : SHUNT_I64,
                         random_below(2) ? SHUNT_F32 : SHUNT_F16, (int)random_below(2));
          struct unit_run r = unit_run(&o.a, &layout);
          equal &= r.status == SHUNT_OK && same(&r.stored.d, &r.emitted.d);
          right &= is_right(&r.emitted.d, &o);
          bounds &= packed_whole(&r.emitted, r.unit_scratch);
          sums &= r.counts.elements == m.nnz &&
                  r.counts.tree_activations == r.counts.segments + r.counts.strips &&
                  r.counts.busiest_cycles <= r.counts.cycles;
          unit_free(&r);
          source_free(&o);
          free(m.e);
          cases++;
        }
  check(equal, "the unit's output is the stored strips, %d matrices", cases);
  check(right, "and is what the format's definition says");
  check(bounds, "within the memory and scratch asked for");
  check(sums, "its counts agree with each other");
}

/* ---- real matrices ------------------------------------------------------------------------------
 */

static struct shunt_dcsr_source csc_of(const struct shunt_matrix *m, int64_t *offsets,
                                       int64_t *rows, double *values)
{
  memset(offsets, 0, ((size_t)m->cols + 1) * sizeof *offsets);
  for (int64_t p = 0; p < m->nnz; p++) offsets[m->columns[p] + 1]++;
  for (int64_t j = 0; j < m->cols; j++) offsets[j + 1] += offsets[j];
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t p = m->row_offsets[i]; p < m->row_offsets[i + 1]; p++) {
      int64_t q = offsets[m->columns[p]]++;
      rows[q] = i;
      values[q] = m->values[p];
    }
  for (int64_t j = m->cols; j > 0; j--) offsets[j] = offsets[j - 1];
  offsets[0] = 0;
  return (struct shunt_dcsr_source){
      SHUNT_DCSR_FROM_CSC, m->rows,   m->cols, m->nnz, offsets, rows, NULL, values,
      SHUNT_I64,           SHUNT_F64, 0};
}

static void try_file(const char *path)
{
  struct shunt_dcsr_layout layout = {SHUNT_DCSR_STRIP, SHUNT_I32};
  struct shunt_matrix m;
  struct shunt_message why;

  if (shunt_read_matrix(path, &m, &why) != SHUNT_OK) {
    check(0, "%s", why.text);
    return;
  }
  int64_t *offsets = malloc(((size_t)m.cols + 1) * 8), *rows = malloc((size_t)m.nnz * 8 + 8);
  double *values = malloc((size_t)m.nnz * 8 + 8);
  struct shunt_dcsr_source a = csc_of(&m, offsets, rows, values);
  struct unit_run r = unit_run(&a, &layout);
  struct shunt_csr back = {.row_offsets = malloc(((size_t)m.rows + 1) * 8),
                           .columns = malloc((size_t)m.nnz * 8 + 8),
                           .values = malloc((size_t)m.nnz * 8 + 8),
                           .index_type = SHUNT_I64};
  int trip = r.status == SHUNT_OK && shunt_dcsr_to_csr_host(&r.emitted.d, &back) == SHUNT_OK &&
             !memcmp(back.row_offsets, m.row_offsets, ((size_t)m.rows + 1) * 8) &&
             !memcmp(back.columns, m.columns, (size_t)m.nnz * 8) &&
             !memcmp(back.values, m.values, (size_t)m.nnz * 8);

  check(trip && same(&r.stored.d, &r.emitted.d) && r.counts.elements == m.nnz,
        "%s: unit = stored strips, and back to the file's CSR", strrchr(path, '/') + 1);
  free((void *)(uintptr_t)back.row_offsets);
  free((void *)(uintptr_t)back.columns);
  free(back.values);
  unit_free(&r);
  free(offsets);
  free(rows);
  free(values);
  shunt_matrix_free(&m);
}

static void test_real_matrices(void)
{
  const char *data = getenv("SHUNT_DATA");
  char pattern[1100];
  glob_t files;

  snprintf(pattern, sizeof pattern, "%s/mtx/*.mtx.gz", data ? data : "");
  if (!data || glob(pattern, 0, NULL, &files) != 0) {
    check_skip("real matrices: SHUNT_DATA names no folder with mtx/*.mtx.gz");
    return;
  }
  for (size_t i = 0; i < files.gl_pathc; i++) try_file(files.gl_pathv[i]);
  globfree(&files);
}

/* ---- declined -----------------------------------------------------------------------------------
 */

static void test_declined(void)
{
  struct owned o = drawing(0);
  struct shunt_dcsr_layout layout = {4, SHUNT_I32};
  struct packed k = packed_new(&o.a, &layout, 4, shunt_dcsr_unit_scratch_bytes(&o.a, &layout));
  struct shunt_dcsr_unit_counts counts;
  struct shunt_dcsr_fault fault;
  int32_t *rows = o.row_indices;

  check(shunt_dcsr_unit_run_host(&o.a, &layout, k.scratch, &k.d, &counts, &fault) ==
                SHUNT_E_WORKSPACE &&
            k.d.counts->irregular == SHUNT_IRREGULAR && is_guard(k.memory + k.bytes),
        "more segments than there is room for");
  packed_free(&k);
  k = packed_new(&o.a, &layout, 6, shunt_dcsr_unit_scratch_bytes(&o.a, &layout));
  rows[1] = 4;
  check(shunt_dcsr_unit_run_host(&o.a, &layout, k.scratch, &k.d, &counts, &fault) ==
                SHUNT_E_ARGUMENT &&
            fault.rule == SHUNT_DCSR_UNSORTED && fault.line == 1 && fault.at == 2 &&
            fault.value == 3,
        "rows that descend in a column");
  rows[1] = 6;
  check(shunt_dcsr_unit_run_host(&o.a, &layout, k.scratch, &k.d, &counts, &fault) ==
                SHUNT_E_ARGUMENT &&
            fault.rule == SHUNT_DCSR_ROW && k.d.counts->irregular == SHUNT_IRREGULAR,
        "a row beyond the last");
  rows[1] = 1;
  layout.width = -1;
  check(shunt_dcsr_unit_run_host(&o.a, &layout, k.scratch, &k.d, &counts, NULL) ==
            SHUNT_E_UNSUPPORTED,
        "a width below 0");
  layout.width = 4;
  o.a.from = SHUNT_DCSR_FROM_COO, o.a.columns = o.columns;
  check(shunt_dcsr_unit_run_host(&o.a, &layout, k.scratch, &k.d, &counts, NULL) ==
            SHUNT_E_UNSUPPORTED,
        "a source that is not CSC");
  packed_free(&k);
  source_free(&o);
}

int main(void)
{
  test_by_hand();
  test_prefetch();
  test_random();
  test_declined();
  test_real_matrices();
  return check_finish();
}
