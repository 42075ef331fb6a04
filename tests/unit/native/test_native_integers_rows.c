/* test_native_integers_rows.c: softmax and attention of integers on the host engine over rows of
   hundreds of entries, where a weight of the softmax is far below what 8 bits can say of 1: each
   scheme against double, its error beside that of the f16 functions.  Errors are relative, root
   mean square over all of O; tests/bench/integers.md quotes them.  */
#include <math.h>
#include <string.h>

#include "backend/native/integers.h"
#include "kernels/common/host_element.h"

#define RANDOM_SEED 79
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

enum { ROWS = 24, COLS = 4096, DEPTH = 64, SET = 8 };

/* Rows of `entries` entries each, the same ones in an aligned set; every tenth column on an average
   for 410 of 4096. */
static struct owned long_rows(int64_t entries)
{
  struct owned o = owned_new(ROWS, COLS, ROWS * entries, SHUNT_I32, SHUNT_I8, 0);
  int32_t list[COLS];
  for (int64_t i = 0; i <= ROWS; i++) put(o.offsets, SHUNT_I32, i, i * entries);
  for (int64_t i = 0; i < ROWS; i++) {
    if (i % SET == 0)
      for (int64_t j = 0, left = entries; j < COLS; j++)
        if ((int64_t)(random_next() % (uint64_t)(COLS - j)) < left)
          list[entries - left--] = (int32_t)j;
    for (int64_t e = 0; e < entries; e++) put(o.columns, SHUNT_I32, i * entries + e, list[e]);
  }
  o.a.nnz = ROWS * entries;
  o.a.values = NULL;
  return o;
}

/* About normal, times `spread`. */
static float *random_floats(int64_t n, double spread)
{
  float *x = malloc((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < 12; k++) sum += (double)(random_next() % 65536) / 65536;
    x[i] = (float)(spread * (sum - 6));
  }
  return x;
}

/* ---- softmax --------------------------------------------------------------------------------- */

struct packed {
  struct shunt_packed_integers *p;
  float *scores, scales[ROWS];
  uint8_t *weights;
};

static struct packed pack_bits(const struct owned *o, shunt_type weights, int bits)
{
  struct packed k = {0};
  struct shunt_csr pattern = o->a;
  pattern.value_type = weights;
  if (shunt_pack_integers(&pattern, SHUNT_HOST, bits, SET, NULL, &k.p) != SHUNT_OK) exit(3);
  k.scores = aligned_alloc(256, (k.p->places * 4 + 255) / 256 * 256);
  k.weights = aligned_alloc(256, (k.p->places * 2 + 255) / 256 * 256);
  for (size_t i = 0; i < k.p->places; i++) k.scores[i] = 0;
  return k;
}

static struct packed pack(const struct owned *o, shunt_type weights)
{
  return pack_bits(o, weights, weights == SHUNT_I16 ? 16 : 8);
}

static void drop(struct packed *k)
{
  shunt_packed_integers_free(k->p);
  free(k->scores), free(k->weights);
}

/* Is each entry's weight of row i `weight`, and does the scale make 1 of their sum? */
static int row_is(const struct packed *k, int64_t i, int weight, int64_t entries)
{
  struct shunt_srbcrs v = k->p->v;
  v.values = k->weights;
  int good = 1;
  for (int64_t s = v.begin[i / SET]; s < v.end[i / SET]; s++)
    good &= shunt_srbcrs_value(&v, (int)(i % SET), s) == weight;
  return good && k->scales[i] == (float)(1 / (double)(weight * entries));
}

static void test_uniform(int64_t entries, shunt_type weights, int bits_b, int weight)
{
  struct owned o = long_rows(entries);
  struct packed k = pack(&o, weights);
  int good = shunt_integer_softmax(k.p, 1, k.scores, bits_b, k.weights, k.scales, NULL) == SHUNT_OK;
  for (int64_t i = 0; i < ROWS; i++) good &= row_is(&k, i, weight, entries);
  check(good, "%d equal scores: weights of type %d are %d, for values of %d bits", (int)entries,
        weights, weight, bits_b);
  drop(&k), owned_free(&o);
}

/* Row 0 has a NaN, row 1 only -Inf. */
static void test_no_numbers(void)
{
  struct owned o = long_rows(300);
  struct packed k = pack(&o, SHUNT_I8);
  const struct shunt_srbcrs *v = &k.p->v;
  k.scores[shunt_srbcrs_place(SET, 0, v->begin[0] + 7)] = NAN;
  for (int64_t s = v->begin[0]; s < v->end[0]; s++)
    k.scores[shunt_srbcrs_place(SET, 1, s)] = -INFINITY;
  int good = shunt_integer_softmax(k.p, 1, k.scores, 8, k.weights, k.scales, NULL) == SHUNT_OK;
  good &= isnan(k.scales[0]) && isnan(k.scales[1]) && row_is(&k, 2, 127, 300);
  for (int64_t s = v->begin[0]; s < v->end[0]; s++)
    good &= k.weights[shunt_srbcrs_place(SET, 0, s)] == 0;
  check(good, "rows that are no numbers: integers of 0, and NaN as their scale");
  good = shunt_integer_softmax(k.p, 1, k.scores, 3, k.weights, k.scales, NULL) != SHUNT_OK;
  good &= shunt_integer_softmax(k.p, 1, k.scores, 8, k.weights, NULL, NULL) == SHUNT_E_ARGUMENT;
  check(good, "refused: values of 3 bits, no memory for the scales");
  drop(&k), owned_free(&o);
}

/* ---- attention ------------------------------------------------------------------------------- */

struct operands {
  struct owned pattern;
  float *x[4]; /* Q, K, V, O */
  uint16_t *half[4];
  double *want;
};

static void fill_want(struct operands *k)
{
  k->want = calloc(ROWS * DEPTH, sizeof *k->want);
  for (int64_t i = 0; i < ROWS; i++) {
    const int64_t from = get(k->pattern.offsets, SHUNT_I32, i),
                  to = get(k->pattern.offsets, SHUNT_I32, i + 1);
    double sum = 0;
    for (int64_t e = from; e < to; e++) {
      const int64_t j = get(k->pattern.columns, SHUNT_I32, e);
      double score = 0;
      for (int64_t c = 0; c < DEPTH; c++)
        score += (double)k->x[0][i * DEPTH + c] * (double)k->x[1][j * DEPTH + c];
      const double weight = exp(score / 8);
      sum += weight;
      for (int64_t c = 0; c < DEPTH; c++)
        k->want[i * DEPTH + c] += weight * (double)k->x[2][j * DEPTH + c];
    }
    for (int64_t c = 0; c < DEPTH; c++) k->want[i * DEPTH + c] /= sum;
  }
}

/* Scores of a standard deviation of `spread`; the numbers are those that f16 has. */
static struct operands operands_of(int64_t entries, double spread)
{
  struct operands k = {.pattern = long_rows(entries)};
  for (int n = 0; n < 4; n++) {
    const int64_t count = (n % 3 ? COLS : ROWS) * DEPTH;
    k.x[n] = random_floats(count, n ? 1 : spread);
    k.half[n] = malloc((size_t)count * sizeof *k.half[n]);
    for (int64_t i = 0; i < count; i++) {
      shunt_store(k.half[n], i, SHUNT_F16, (double)k.x[n][i]);
      k.x[n][i] = (float)shunt_load(k.half[n], i, SHUNT_F16);
    }
  }
  fill_want(&k);
  return k;
}

static void drop_operands(struct operands *k)
{
  for (int n = 0; n < 4; n++) free(k->x[n]), free(k->half[n]);
  free(k->want), owned_free(&k->pattern);
}

static void describe(const struct operands *k, shunt_type type, struct shunt_tensor t[4])
{
  for (int n = 0; n < 4; n++) {
    void *const values = type == SHUNT_F16 ? (void *)k->half[n] : (void *)k->x[n];
    const int64_t rows = n % 3 ? COLS : ROWS;
    t[n] = (struct shunt_tensor){values, type, 1, 1, rows, DEPTH, DEPTH, 0, 0};
  }
}

/* Of O, in `type`. */
static double error_of(const struct operands *k, shunt_type type)
{
  double off = 0, all = 0;
  for (int64_t i = 0; i < ROWS * DEPTH; i++) {
    const double got = type == SHUNT_F16 ? shunt_load(k->half[3], i, type) : (double)k->x[3][i];
    off += (got - k->want[i]) * (got - k->want[i]);
    all += k->want[i] * k->want[i];
  }
  return sqrt(off / all);
}

static double error_of_f16(const struct operands *k)
{
  struct shunt_tensor t[4];
  struct shunt_csr pattern = k->pattern.a;
  struct shunt_packed *p = NULL;
  describe(k, SHUNT_F16, t);
  pattern.value_type = SHUNT_F16;
  if (shunt_pack(&pattern, SHUNT_HOST, NULL, NULL, &p) != SHUNT_OK) exit(3);
  const size_t bytes = shunt_attention_workspace(p, &t[0], &t[1], &t[2], &t[3]);
  void *room = aligned_alloc(256, (bytes + 256) & ~(size_t)255);
  const shunt_status s = shunt_attention(p, 0.125f, &t[0], &t[1], &t[2], &t[3], room, bytes, NULL);
  free(room), shunt_packed_free(p);
  return s == SHUNT_OK ? error_of(k, SHUNT_F16) : INFINITY;
}

static double error_of_integers(const struct operands *k, shunt_type weights, int bits, int bits_qk,
                                int bits_v)
{
  struct shunt_tensor t[4];
  struct packed m = pack_bits(&k->pattern, weights, bits);
  describe(k, SHUNT_F32, t);
  if (bits_v == SHUNT_REAL_V) t[2].type = SHUNT_F16, t[2].values = k->half[2];
  const size_t bytes =
      shunt_integer_attention_workspace(m.p, bits_qk, bits_v, &t[0], &t[1], &t[2], &t[3]);
  void *room = aligned_alloc(256, bytes);
  const shunt_status s = shunt_integer_attention(m.p, bits_qk, bits_v, 0.125f, &t[0], &t[1], &t[2],
                                                 &t[3], room, bytes, NULL);
  free(room), drop(&m);
  return s == SHUNT_OK ? error_of(k, SHUNT_F32) : INFINITY;
}

static void test_attention(int64_t entries, double spread)
{
  struct operands k = operands_of(entries, spread);
  const double f16 = error_of_f16(&k);
  const double of16 = error_of_integers(&k, SHUNT_I16, 16, 8, 8);
  const double of8 = error_of_integers(&k, SHUNT_U8, 8, 8, 8);
  const double of7 = error_of_integers(&k, SHUNT_I8, 8, 8, 8);
  const double of12 = error_of_integers(&k, SHUNT_I16, 12, 8, 8);
  const double real = error_of_integers(&k, SHUNT_U8, 8, 8, SHUNT_REAL_V);
  check(real < 0.03 && real < of16, "8b-f16 %.1e, less than 16b-8b", real);
  const double e4m3 = error_of_integers(&k, SHUNT_U8, 8, 8, SHUNT_E4M3_V);
  check(e4m3 > real && e4m3 < 0.05, "8b-e4m3 %.1e", e4m3);
  check(f16 < 1e-3 && of16 < 0.035 && of12 < 0.035 && of8 < 0.04 && of7 < 0.06,
        "%d entries a row, scores of deviation %g: error f16 %.1e, 16b-8b %.1e, 12b-8b %.1e, "
        "8b-8b %.1e, signed %.1e",
        (int)entries, spread, f16, of16, of12, of8, of7);
  const double values = error_of_integers(&k, SHUNT_U8, 8, 8, 4);
  const double all = error_of_integers(&k, SHUNT_U8, 8, 4, 4);
  check(values < 0.25 && all < 0.7, "8b-8b with V of 4 bits %.2f, 8b-4b %.2f", values, all);
  drop_operands(&k);
}

/* Bits that there are no products of. */
static void test_refused(void)
{
  static const int pairs[][2] = {
      {16, 8}, {8, SHUNT_REAL_V} /* of f32 */, {4, SHUNT_REAL_V}, {4, SHUNT_E4M3_V}, {3, 8},
      {8, 0}};
  struct operands k = operands_of(32, 1);
  struct packed m = pack(&k.pattern, SHUNT_I16);
  struct shunt_tensor t[4];
  int good = 1;
  describe(&k, SHUNT_F32, t);
  for (int i = 0; i < 6; i++) {
    const int *by = pairs[i];
    good &= shunt_integer_attention_workspace(m.p, by[0], by[1], &t[0], &t[1], &t[2], &t[3]) == 0;
    good &= shunt_integer_attention(m.p, by[0], by[1], 1, &t[0], &t[1], &t[2], &t[3], m.weights,
                                    1 << 30, NULL) == SHUNT_E_UNSUPPORTED;
  }
  check(good, "attention of other bits is refused");
  drop(&m), drop_operands(&k);
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__ /* other scores are other figures, and the same memory */
  enum { LENGTHS = 1, MOST_SPREAD = 1 };
#else
  enum { LENGTHS = 2, MOST_SPREAD = 4 };
#endif
  static const int64_t entries[] = {410, 820};
  /* First, so that the figures stand whatever is added. */
  for (int i = 0; i < LENGTHS; i++)
    for (double spread = 0; spread <= MOST_SPREAD; spread = spread > 0 ? 2 * spread : 1)
      test_attention(entries[i], spread);
  test_uniform(100, SHUNT_I8, 8, 127);
  test_uniform(820, SHUNT_I8, 8, 127);
  test_uniform(820, SHUNT_U8, 8, 255);
  test_uniform(200, SHUNT_I16, 8, 32767);
  test_uniform(820, SHUNT_I16, 8, 10230);
  test_uniform(820, SHUNT_I16, 4, 32767);
  test_uniform(820, SHUNT_I16, 16, 39);
  test_no_numbers();
  test_refused();
  return check_finish();
}
