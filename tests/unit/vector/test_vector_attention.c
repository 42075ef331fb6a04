/* test_vector_attention.c: the twins of SDDMM, softmax and attention over the `vector` format, and
   the host engine of attention, by hand on tiny matrices; and what they refuse.  */
#include <math.h>

#include "kernels/vector/attention/attention_check.h"
#include "tests/unit/check.h"
#include "tests/unit/vector/vector_patterns.h"

static unsigned char *copy_there(const char *text, int64_t n)
{
  unsigned char *there = malloc((size_t)n);

  for (int64_t i = 0; i < n; i++) there[i] = text[i] == 'x';
  return there;
}

/* ---- by hand ----------------------------------------------------------------------------- */

/* Q[i] = (i, 1), K[j] = (1, j): half the dot product is (i + j) / 2. */
static void test_sddmm_by_hand(void)
{
  struct packed_pattern p;
  float q[9][2], k[3][2];
  uint16_t qh[9][2], kh[3][2], *out;
  int good = pattern_pack(&p, 9, 3,
                          copy_there("x.x"
                                     "xxx"
                                     "..."
                                     "x.."
                                     "..."
                                     "..."
                                     "..."
                                     ".x."
                                     "xxx",
                                     27),
                          SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL);
  struct shunt_vector_sddmm m = {.batches = 1, .heads = 1, .d = 2, .alpha = 0.5f};

  for (int i = 0; i < 9; i++) q[i][0] = (float)i, q[i][1] = 1;
  for (int j = 0; j < 3; j++) k[j][0] = 1, k[j][1] = (float)j;
  for (int i = 0; i < 18; i++) shunt_store(qh, i, SHUNT_F16, (double)q[i / 2][i % 2]);
  for (int i = 0; i < 6; i++) shunt_store(kh, i, SHUNT_F16, (double)k[i / 2][i % 2]);
  out = malloc((size_t)p.value_count * 2);
  memset(out, 0xee, (size_t)p.value_count * 2);
  m.q = (struct shunt_heads){qh, 2, 0, 0};
  m.k = (struct shunt_heads){kh, 2, 0, 0};
  m.values = out;
  good = good && shunt_vector_sddmm_host(&m, &p.v) == SHUNT_OK && rest_is_zero(&p, out);
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 3; j++)
      if (good && p.there[i * 3 + j])
        good = shunt_load(out, packed_place(&p, i, j), SHUNT_F16) == 0.5 * (i + j);
  check(good, "sddmm by hand: 9 x 3, two groups, an empty row");

  shunt_store(qh, 0, SHUNT_F16, NAN);
  m.alpha = 0;
  good = shunt_vector_sddmm_host(&m, &p.v) == SHUNT_OK &&
         shunt_load(out, packed_place(&p, 0, 0), SHUNT_F16) == 0;
  check(good, "alpha 0 gives 0 whatever Q is");
  free(out);
  pattern_free(&p);
}

/* Row i of `x` (9 rows, 4 columns, NAN where the pattern has none) through softmax. */
static int softmax_gives(const double x[9][4], const char *text, float scale,
                         const double want[9][4])
{
  struct packed_pattern p;
  int good = pattern_pack(&p, 9, 4, copy_there(text, 36), SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL);
  uint16_t *in = malloc((size_t)p.value_count * 2), *out = malloc((size_t)p.value_count * 2);
  struct shunt_vector_softmax m = {1, scale, in, out, 0, 0};

  memset(in, 0x7e, (size_t)p.value_count * 2); /* NaN wherever the pattern has nothing */
  memset(out, 0xee, (size_t)p.value_count * 2);
  for (int i = 0; i < 36; i++)
    if (p.there[i]) shunt_store(in, packed_place(&p, i / 4, i % 4), SHUNT_F16, x[i / 4][i % 4]);
  for (int in_place = 0; in_place < 2; in_place++) {
    if (in_place) m.out = in;
    good = good && shunt_vector_softmax_host(&m, &p.v) == SHUNT_OK && rest_is_zero(&p, m.out);
    for (int i = 0; i < 36; i++) {
      if (!p.there[i]) continue;
      double got = shunt_load(m.out, packed_place(&p, i / 4, i % 4), SHUNT_F16);
      double wanted = want[i / 4][i % 4];
      good = good && (isnan(wanted) ? isnan(got) : fabs(got - wanted) <= 0x1p-11 * wanted);
    }
  }
  free(in);
  free(out);
  pattern_free(&p);
  return good;
}

static void test_softmax_by_hand(void)
{
  static const char text[] = "xx.."
                             "xxxx"
                             "...."
                             "x.x."
                             "xxxx"
                             ".xxx"
                             "x..."
                             "xx.."
                             "xxx.";
  static const double x[9][4] = {{7, 7},      {0, 2, -INFINITY, 0},   {0},
                                 {-3, 0, -1}, {1, 2, NAN, 3},         {0, INFINITY, 1, 2},
                                 {-300},      {-INFINITY, -INFINITY}, {1000, 1002, -1000}};
  const double third = 1.0 / 4, most = 3.0 / 4;
  const double want[9][4] = {{0.5, 0.5},
                             {1.0 / 5, 3.0 / 5, 0, 1.0 / 5},
                             {0},
                             {third, 0, most},
                             {NAN, NAN, NAN, NAN},
                             {0, NAN, NAN, NAN},
                             {1},
                             {NAN, NAN},
                             {third, most, 0}};

  check(softmax_gives(x, text, logf(3) / 2, want),
        "softmax by hand: weights 1/4 and 3/4, -Inf, NaN, +Inf, -Inf alone, empty, large");
}

typedef shunt_status attention_function(const struct shunt_vector_attention *,
                                        const struct shunt_vector *);

/* Scores 0 and 2 with scale log(3) / 2: weights 1/4 and 3/4. */
static void test_attention_by_hand(const char *name, attention_function *attention)
{
  struct packed_pattern p;
  int good = pattern_pack(&p, 2, 3,
                          copy_there("x.x"
                                     "...",
                                     6),
                          SHUNT_BF16, SHUNT_VECTOR_WINDOWED);
  uint16_t q[2], k[3], v[3], o[2] = {0xeeee, 0xeeee};
  struct shunt_vector_attention m = {
      1, 1, 1, logf(3) / 2, {q, 1, 0, 0}, {k, 1, 0, 0}, {v, 1, 0, 0}, {o, 1, 0, 0}};

  for (int i = 0; i < 2; i++) shunt_store(q, i, SHUNT_BF16, 1);
  shunt_store(k, 0, SHUNT_BF16, 0), shunt_store(k, 1, SHUNT_BF16, NAN);
  shunt_store(k, 2, SHUNT_BF16, 2);
  shunt_store(v, 0, SHUNT_BF16, 8), shunt_store(v, 1, SHUNT_BF16, INFINITY);
  shunt_store(v, 2, SHUNT_BF16, -4);
  good = good && attention(&m, &p.v) == SHUNT_OK;
  check(good && shunt_load(o, 0, SHUNT_BF16) == -1 && shunt_load(o, 1, SHUNT_BF16) == 0,
        "%s by hand: 8 / 4 - 4 * 3 / 4, an empty row, NaN and Inf nobody names", name);
  shunt_store(v, 2, SHUNT_BF16, INFINITY);
  good = attention(&m, &p.v) == SHUNT_OK;
  check(good && shunt_load(o, 0, SHUNT_BF16) == INFINITY, "an Inf that is named, %s", name);
  shunt_store(k, 0, SHUNT_BF16, -INFINITY), shunt_store(k, 2, SHUNT_BF16, -INFINITY);
  good = attention(&m, &p.v) == SHUNT_OK;
  check(good && isnan(shunt_load(o, 0, SHUNT_BF16)), "scores of -Inf alone give NaN, %s", name);
  pattern_free(&p);
}

/* ---- what is refused ----------------------------------------------------------------------------
 */

static void test_refused(void)
{
  struct packed_pattern p;
  uint16_t x[256] = {0};
  struct shunt_heads h = {x, 4, 0, 0};
  struct shunt_vector_sddmm s = {1, 1, 4, 1, h, h, NULL, 0}, changed_s;
  struct shunt_vector_softmax f = {1, 1, NULL, NULL, 0, 0}, changed_f;
  struct shunt_vector_attention a = {1, 1, 4, 1, h, h, h, h}, changed_a;

  check(pattern_pack(&p, 8, 8, random_there(8, 8, 1, 0), SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL),
        "a full pattern is packed");
  s.values = p.v.values, f.in = f.out = p.v.values;
#define REFUSED(record, kind, change, status)                                                      \
  (changed_##record = record, changed_##record.change,                                             \
   shunt_vector_##kind##_host(&changed_##record, &p.v) == status)
  check(REFUSED(s, sddmm, d = 0, SHUNT_E_ARGUMENT), "sddmm: d 0");
  check(REFUSED(s, sddmm, heads = 0, SHUNT_E_ARGUMENT), "no heads");
  check(REFUSED(s, sddmm, d = INT64_MAX, SHUNT_E_UNSUPPORTED), "d too large");
  check(REFUSED(s, sddmm, batches = 65536, SHUNT_E_UNSUPPORTED), "65536 problems");
  check(REFUSED(s, sddmm, q.values = NULL, SHUNT_E_ARGUMENT), "no Q");
  check(REFUSED(s, sddmm, k.row_stride = 3, SHUNT_E_ARGUMENT), "rows of K that overlap");
  check(REFUSED(s, sddmm, values = NULL, SHUNT_E_ARGUMENT), "no values");
  check(REFUSED(s, sddmm, values_stride = 2, SHUNT_E_ARGUMENT), "a stride that breaks alignment");
  check(REFUSED(f, softmax, matrices = 0, SHUNT_E_ARGUMENT), "softmax: no problems");
  check(REFUSED(f, softmax, matrices = 65536, SHUNT_E_UNSUPPORTED), "too many");
  check(REFUSED(f, softmax, in = NULL, SHUNT_E_ARGUMENT), "no input");
  check(REFUSED(f, softmax, out = p.v.values + 1, SHUNT_E_ARGUMENT), "a misaligned result");
  check((f.matrices = 2, REFUSED(f, softmax, in_stride = 4, SHUNT_E_ARGUMENT)),
        "in place with two strides");
  check(REFUSED(a, attention, d = 0, SHUNT_E_ARGUMENT), "attention: d 0");
  check(REFUSED(a, attention, v.values = NULL, SHUNT_E_ARGUMENT), "no V");
  check(REFUSED(a, attention, o.row_stride = 0, SHUNT_E_ARGUMENT), "rows of O that overlap");
  check(REFUSED(a, attention, heads = 70000, SHUNT_E_UNSUPPORTED), "70000 problems");
  p.v.value_type = SHUNT_F32;
  check(shunt_vector_attention_host(&a, &p.v) == SHUNT_E_UNSUPPORTED &&
            shunt_vector_sddmm_host(&s, &p.v) == SHUNT_E_UNSUPPORTED,
        "values of f32");
  pattern_free(&p);
}

int main(void)
{
  test_sddmm_by_hand();
  test_softmax_by_hand();
  test_attention_by_hand("twin", shunt_vector_attention_host);
  test_attention_by_hand("host engine", shunt_vector_attention_parallel_host);
  test_refused();
  return check_finish();
}
