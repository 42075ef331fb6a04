/* test_dcsr_twin.c: the host products of dcsr matrices: by hand, and against the product of
   CSR (kernels/csr/host_csr_spmm.c) on random matrices in every layout.  */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dcsr/dcsr_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/dcsr/dcsr_random.h"

/* Small integers, whose sums are exact in any order, or numbers of the type at large. */
static double random_number(int whole)
{
  if (whole) return (double)(random_below(9) - 4);
  return (double)(int64_t)(random_next() >> 11) * 0x1p-52 - 1;
}

/* ---- one product, three ways -------------------------------------------------------------- */

enum { CSR, ROWS, STRIPS, WAYS };

struct product {
  struct owned a;              /* CSR */
  struct packed whole, strips; /* the same, packed */
  struct shunt_spmm p;
  void *c[WAYS];
  size_t c_bytes;
};

struct setting {
  shunt_type in, out;
  int64_t n, width;
  int b_by_column, c_by_column, pad;
  double alpha, beta;
  int on_device; /* scalars by pointer */
  int whole;     /* small integers */
};

static struct packed pack(const struct shunt_dcsr_source *a, int64_t width)
{
  struct shunt_dcsr_layout layout = {width, a->index_type};
  size_t scratch = shunt_dcsr_scratch_bytes(a, &layout);
  struct packed k = packed_new(a, &layout, shunt_dcsr_most_segments(a, &layout), scratch);

  if (shunt_source_to_dcsr_host(a, &layout, k.scratch, &k.d, NULL) != SHUNT_OK) abort();
  return k;
}

static struct shunt_dense dense_new(int64_t rows, int64_t cols, int by_column, int pad,
                                    shunt_type type, size_t *bytes)
{
  int64_t line = (by_column ? rows : cols) + pad, lines = by_column ? cols : rows;

  *bytes = (size_t)(line * lines + 1) * shunt_type_size(type);
  return (struct shunt_dense){rows,           cols, by_column ? 1 : line, by_column ? line : 1,
                              malloc(*bytes), type};
}

static struct product product_new(const struct entries *m, const struct setting *s)
{
  struct product x = {.a = source_new(m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, s->in, 1)};
  size_t b_bytes;

  for (int64_t p = 0; p < m->nnz; p++)
    shunt_store(x.a.values, p, s->in, random_below(7) ? random_number(s->whole) : 0);
  x.whole = pack(&x.a.a, 0);
  x.strips = pack(&x.a.a, s->width);
  x.p.a = (struct shunt_csr){m->rows,   m->cols, m->nnz, x.a.offsets, x.a.columns, x.a.values,
                             SHUNT_I32, s->in,   1};
  x.p.b = dense_new(m->cols, s->n, s->b_by_column, s->pad, s->in, &b_bytes);
  x.p.c = dense_new(m->rows, s->n, s->c_by_column, s->pad, s->out, &x.c_bytes);
  for (size_t i = 0; i < b_bytes / shunt_type_size(s->in); i++)
    shunt_store(x.p.b.values, (int64_t)i, s->in, random_number(s->whole));
  for (size_t i = 0; i < x.c_bytes / shunt_type_size(s->out); i++)
    shunt_store(x.p.c.values, (int64_t)i, s->out, s->beta == 0 ? NAN : random_number(s->whole));
  for (int w = 0; w < WAYS; w++) {
    x.c[w] = malloc(x.c_bytes);
    memcpy(x.c[w], x.p.c.values, x.c_bytes);
  }
  free(x.p.c.values);
  x.p.alpha.host = s->alpha, x.p.beta.host = s->beta;
  x.p.compute = s->in == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
  return x;
}

static void product_free(struct product *x)
{
  source_free(&x->a);
  packed_free(&x->whole);
  packed_free(&x->strips);
  free(x->p.b.values);
  for (int w = 0; w < WAYS; w++) free(x->c[w]);
}

static shunt_status run_strips(const struct shunt_spmm *p, const struct shunt_dcsr *d)
{
  size_t bytes = shunt_dcsr_spmm_strips_workspace_host(p);
  unsigned char *workspace = malloc(bytes + GUARD);
  shunt_status status;

  memset(workspace + bytes, 0xee, GUARD);
  status = shunt_dcsr_spmm_strips_host(p, d, workspace, bytes);
  if (!is_guard(workspace + bytes)) status = SHUNT_E_WRITTEN;
  free(workspace);
  return status;
}

static shunt_status run(struct product *x, int way)
{
  x->p.c.values = x->c[way];
  if (way == CSR) return shunt_csr_spmm_host(&x->p);
  return way == ROWS ? shunt_dcsr_spmm_rows_host(&x->p, &x->whole.d)
                     : run_strips(&x->p, &x->strips.d);
}

/* The largest difference in units of the last place of 1, of sums of up to `terms` terms. */
static int close_enough(const struct product *x, const struct setting *s)
{
  static const double unit[] = {0x1p-10, 0x1p-7, 0x1p-22, 0x1p-50};
  double bound = unit[s->out] * 4 + unit[s->in == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32] * 200;
  int good = 1;

  for (int64_t i = 0; i < x->p.c.rows; i++)
    for (int64_t j = 0; j < s->n; j++) {
      int64_t at = i * x->p.c.row_stride + j * x->p.c.col_stride;
      double a = shunt_load(x->c[CSR], at, s->out), b = shunt_load(x->c[STRIPS], at, s->out);
      good &= fabs(a - b) <= bound * (1 + fabs(a));
    }
  return good;
}

struct verdict {
  int ran, rows_same, strips_close, strips_exact;
};

static void try_one(const struct setting *given, const struct entries *m, struct verdict *v)
{
  struct setting s = *given;
  struct product x = product_new(m, &s);
  double d[2] = {s.alpha, s.beta};
  float f[2] = {(float)s.alpha, (float)s.beta};

  if (s.on_device) {
    x.p.alpha = (struct shunt_scalar){s.in == SHUNT_F64 ? (void *)&d[0] : (void *)&f[0], 99, 0};
    x.p.beta = (struct shunt_scalar){s.in == SHUNT_F64 ? (void *)&d[1] : (void *)&f[1], 99, 0};
  }
  for (int w = 0; w < WAYS; w++) v->ran &= run(&x, w) == SHUNT_OK;
  v->rows_same &= !memcmp(x.c[CSR], x.c[ROWS], x.c_bytes); /* padding included */
  if (s.whole)
    v->strips_exact &= !memcmp(x.c[CSR], x.c[STRIPS], x.c_bytes);
  else
    v->strips_close &= close_enough(&x, &s);
  product_free(&x);
}

static void test_random(void)
{
  static const struct {
    shunt_type in, out;
    const char *name;
  } types[] = {{SHUNT_F16, SHUNT_F16, "f16"},    {SHUNT_F16, SHUNT_F32, "f16 into f32"},
               {SHUNT_BF16, SHUNT_BF16, "bf16"}, {SHUNT_BF16, SHUNT_F32, "bf16 into f32"},
               {SHUNT_F32, SHUNT_F32, "f32"},    {SHUNT_F64, SHUNT_F64, "f64"}};
  static const double scalars[][2] = {{1, 0}, {1, 1}, {-0.5, 2}, {0, 0.5}, {0, 0}};
  static const int64_t widths[] = {1, 5, 64, 200}, columns[] = {1, 3, 17};
  static const double densities[] = {0, 0.03, 0.4};

  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    struct verdict v = {1, 1, 1, 1};
    int cases = 0;
    for (int layout = 0; layout < 4; layout++)
      for (int k = 0; k < 5; k++)
        for (int i = 0; i < 18; i++) {
          struct entries m =
              random_entries(1 + random_below(60), 1 + random_below(180), densities[i % 3], i % 2);
          struct setting s = {types[t].in,   types[t].out, columns[i / 6], widths[i % 4],
                              layout & 1,    layout >> 1,  i % 4,          scalars[k][0],
                              scalars[k][1], i / 2 % 2,    i / 3 % 2};
          try_one(&s, &m, &v);
          free(m.e);
          cases++;
        }
    check(v.ran && v.rows_same, "%s: C-stationary gives CSR's bits, %d products", types[t].name,
          cases);
    check(v.strips_exact, "%s: B-stationary gives them where sums are exact", types[t].name);
    check(v.strips_close, "%s: B-stationary is within rounding elsewhere", types[t].name);
  }
}

/* ---- by hand ------------------------------------------------------------------------------- */

/* Sums of 1 and 2^24: what is added first shows. */
static void test_order(void)
{
  static const struct entry e[] = {{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 4, 2, 0}, {0, 5, 3, 0}};
  struct entries m = {2, 8, 4, malloc(sizeof e)};
  struct setting s = {SHUNT_F32, SHUNT_F32, 1, 4, 0, 0, 0, 1, 0, 0, 1};
  struct product x;
  float *a, *c;

  memcpy(m.e, e, sizeof e);
  x = product_new(&m, &s);
  a = x.a.values;
  a[0] = 0x1p24f, a[1] = 0, a[2] = 1, a[3] = 1;
  memcpy(x.whole.d.values, a, 16);
  memcpy(x.strips.d.values, a, 16);
  for (int i = 0; i < 8; i++) ((float *)x.p.b.values)[i] = 1;
  run(&x, ROWS);
  c = x.c[ROWS];
  check(c[0] == 0x1p24f && c[1] == 0, "C-stationary adds entry by entry; empty rows become 0");
  run(&x, STRIPS);
  c = x.c[STRIPS];
  check(c[0] == 0x1p24f + 2 && c[1] == 0, "B-stationary adds each segment first, then the strips");
  product_free(&x);
  free(m.e);
}

/* 0 x NaN is NaN for a stored zero, and nothing where there is no entry. */
static void test_nan(void)
{
  static const struct entry e[] = {{0, 0, 0, 0}, {1, 1, 1, 0}};
  struct entries m = {3, 2, 2, malloc(sizeof e)};
  struct setting s = {SHUNT_F64, SHUNT_F64, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  struct product x;
  int good = 1;

  memcpy(m.e, e, sizeof e);
  x = product_new(&m, &s);
  for (int i = 0; i < 2; i++)
    ((double *)x.whole.d.values)[i] = ((double *)x.strips.d.values)[i] = i;
  ((double *)x.p.b.values)[0] = NAN, ((double *)x.p.b.values)[1] = 3;
  for (int w = ROWS; w < WAYS; w++) {
    good &= run(&x, w) == SHUNT_OK;
    double *c = x.c[w];
    good &= isnan(c[0]) && c[1] == 3 && c[2] == 0;
  }
  check(good, "a stored zero meets a NaN, a missing entry does not; C's NaN dies with beta 0");
  product_free(&x);
  free(m.e);
}

/* S of the drawing of kernels/dcsr/dcsr_format.h in strips of 4: rows 0 2 | 0 2 4 of 5. */
static void test_sums(void)
{
  int32_t ids[] = {0, 2, 0, 2, 4};
  struct shunt_dcsr_counts counts = {5, 0, 0};
  struct shunt_dcsr d = {.rows = 5,
                         .room = 5,
                         .index_type = SHUNT_I32,
                         .value_type = SHUNT_F64,
                         .counts = &counts,
                         .row_ids = ids};
  static const int32_t offsets[] = {0, 2, 2, 4, 4, 5}, segments[] = {0, 2, 1, 3, 4};
  size_t bytes = shunt_dcsr_sums_bytes(5, 5, SHUNT_F64);
  char *memory = aligned_alloc(256, bytes);
  struct shunt_dcsr_sums s;
  int good = shunt_dcsr_sums_lay_out(5, 5, SHUNT_F64, memory, &s) &&
             shunt_dcsr_sums_host(&d, &s) == SHUNT_OK;

  good = good && !memcmp(s.offsets, offsets, sizeof offsets) &&
         !memcmp(s.segments, segments, sizeof segments);
  for (int g = 0; g < 5; g++) good = good && ((double *)s.ones)[g] == 1;
  check(good, "S names each row's segments, strip after strip");
  s.room = 4;
  check(shunt_dcsr_sums_host(&d, &s) == SHUNT_E_WORKSPACE, "S without room is refused");
  s.room = 5, s.rows = 4;
  check(shunt_dcsr_sums_host(&d, &s) == SHUNT_E_ARGUMENT, "S of other rows is refused");
  s.rows = 5, counts.irregular = SHUNT_IRREGULAR;
  check(shunt_dcsr_sums_host(&d, &s) == SHUNT_E_ARGUMENT, "S of an irregular matrix is refused");
  check(!shunt_dcsr_sums_bytes(-1, 5, SHUNT_F64) && !shunt_dcsr_sums_bytes(5, 5, SHUNT_F16) &&
            !shunt_dcsr_sums_bytes(5, (int64_t)1 << 30, SHUNT_F32),
        "sizes and types that cannot be made are refused");
  free(memory);
}

/* ---- declined -------------------------------------------------------------------------------- */

static void test_declined(void)
{
  struct entries m = random_entries(9, 20, 0.3, 0);
  struct setting s = {SHUNT_F32, SHUNT_F32, 3, 4, 0, 0, 0, 1, 1, 0, 0};
  struct product x = product_new(&m, &s);
  struct shunt_spmm p;
  uint32_t never = 0;
  double workspace[10];

  x.p.c.values = x.c[ROWS];
#define BOTH(change, want, text)                                                                   \
  p = x.p;                                                                                         \
  change;                                                                                          \
  check(shunt_dcsr_spmm_rows_host(&p, &x.whole.d) == want && run_strips(&p, &x.strips.d) == want,  \
        text)
  BOTH(p.c.type = SHUNT_F64, SHUNT_E_UNSUPPORTED, "f32 into f64 is not built");
  BOTH(p.b.type = SHUNT_F64, SHUNT_E_UNSUPPORTED, "nor B of another type than A");
  BOTH(p.compute = SHUNT_F64, SHUNT_E_UNSUPPORTED, "nor f64 sums of f32");
  BOTH(p.b.rows++, SHUNT_E_ARGUMENT, "B with more rows than A has columns");
  BOTH(p.c.rows--, SHUNT_E_ARGUMENT, "C with fewer rows than A");
  BOTH(p.c.cols--, SHUNT_E_ARGUMENT, "C with fewer columns than B");
  BOTH(p.only_if = &never, SHUNT_OK, "a product that is not wanted");
  x.whole.d.value_type = x.strips.d.value_type = SHUNT_I8;
  BOTH(, SHUNT_E_UNSUPPORTED, "int8 is not built");
  x.whole.d.value_type = x.strips.d.value_type = SHUNT_F32;
  x.whole.d.counts->irregular = x.strips.d.counts->irregular = 4;
  BOTH(, SHUNT_E_ARGUMENT, "an irregular matrix");
  x.whole.d.counts->irregular = x.strips.d.counts->irregular = 0;
  check(shunt_dcsr_spmm_rows_host(&x.p, &x.strips.d) == SHUNT_E_UNSUPPORTED,
        "C-stationary wants one strip");
  check(shunt_dcsr_spmm_strips_host(&x.p, &x.strips.d, workspace, 71) == SHUNT_E_WORKSPACE &&
            shunt_dcsr_spmm_strips_host(&x.p, &x.strips.d, (char *)workspace + 1, 72) ==
                SHUNT_E_WORKSPACE,
        "B-stationary wants its workspace, aligned");
  check(!memcmp(x.c[ROWS], x.c[CSR], x.c_bytes), "C was not touched by any of these");
  product_free(&x);
  free(m.e);
}

int main(void)
{
  test_order();
  test_nan();
  test_sums();
  test_random();
  test_declined();
  return check_finish();
}
