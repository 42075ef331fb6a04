/* test_native.c: libshunt.so's functions on the host engine: results against dense loops, with
   values of either owner; and what shunt.h says of itself.  */
#include <math.h>

#include "kernels/srbcrs/srbcrs_integers.h" /* before shunt.h, which then leaves its own out */
#include "tests/unit/native/native_header.h"
#include "tests/unit/native/native_operands.h"

/* ---- dense loops ----------------------------------------------------------------------------- */

static double score(const struct shunt_tensor *q, const struct shunt_tensor *k, int64_t z,
                    int64_t i, int64_t j)
{
  double sum = 0;

  for (int64_t c = 0; c < q->cols; c++) sum += element(q, z, i, c) * element(k, z, j, c);
  return sum;
}

/* Is o the attention of q, k and v at the pattern, to `allowed`? */
static int attention_right(const struct packed_pattern *p, const struct shunt_tensor *q,
                           const struct shunt_tensor *k, const struct shunt_tensor *v,
                           const struct shunt_tensor *o, double scale, double allowed)
{
  double worst = 0;

  for (int64_t z = 0; z < PROBLEMS; z++)
    for (int64_t i = 0; i < ROWS; i++) {
      double sum = 0, want[D] = {0};
      for (int64_t j = 0; j < COLS; j++) {
        if (!p->there[i * COLS + j]) continue;
        double w = exp(scale * score(q, k, z, i, j));
        sum += w;
        for (int64_t c = 0; c < D; c++) want[c] += w * element(v, z, j, c);
      }
      for (int64_t c = 0; c < D; c++)
        worst = fmax(worst, fabs(element(o, z, i, c) - (sum > 0 ? want[c] / sum : 0)));
    }
  return worst <= allowed;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void test_header(void)
{
  const size_t facts[NATIVE_HEADER_FACTS] = {NATIVE_HEADER_LIST};
  int texts = 1;

  check(!memcmp(facts, native_header_facts, sizeof facts),
        "shunt.h and kernels/common/types.h agree");
  for (int s = SHUNT_OK; s <= SHUNT_E_WRITTEN; s++)
    texts &= strcmp(shunt_status_text((shunt_status)s), "unknown status") != 0;
  check(texts && !strcmp(shunt_status_text((shunt_status)99), "unknown status"),
        "every status has its words");
}

static void test_spmm(void)
{
  struct made m = make(0.3, NULL);
  const int32_t *offsets = m.raw.a.row_offsets, *columns = m.raw.a.columns;
  struct shunt_tensor b = tensor_new(COLS, 7, SHUNT_F16), c = tensor_new(ROWS, 7, SHUNT_F32);
  double worst = 0;

  b.batches = b.heads = c.batches = c.heads = 1;
  check(shunt_spmm_workspace(m.p, &b, &c) == 0, "the host needs no workspace");
  check(shunt_spmm(m.p, NULL, 2, &b, 0, &c, NULL, 0, NULL) == SHUNT_OK &&
            shunt_spmm(m.p, NULL, 1, &b, -0.5f, &c, NULL, 0, NULL) == SHUNT_OK,
        "C = 2 A B, then C = A B - C / 2, which is 0");
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < 7; j++) worst = fmax(worst, fabs(element(&c, 0, i, j)));
  check(worst < 1e-5, "is 0 but for %g", worst);
  check(shunt_spmm(m.p, NULL, 1, &b, 0, &c, NULL, 0, NULL) == SHUNT_OK, "C = A B");
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < 7; j++) {
      double sum = element(&c, 0, i, j);
      for (int32_t e = offsets[i]; e < offsets[i + 1]; e++)
        sum -= shunt_load(m.raw.a.values, e, SHUNT_F16) * element(&b, 0, columns[e], j);
      worst = fmax(worst, fabs(sum));
    }
  check(worst < 1e-5, "differs from loops by %g", worst);
  free(b.values), free(c.values);
  unmake(&m);
}

static void test_attention(void)
{
  struct shunt_packing windowed = {.windowed = 1};

  for (int i = 0; i < 2; i++) {
    struct made m = make(i ? 0.2 : 0, i ? &windowed : NULL);
    struct shunt_tensor q = tensor_new(ROWS, D, SHUNT_F16), k = tensor_new(COLS, D, SHUNT_F16);
    struct shunt_tensor v = tensor_new(COLS, D, SHUNT_F16), o = tensor_new(ROWS, D, SHUNT_F16);
    struct shunt_packed_info info;
    struct shunt_values values;

    shunt_packed_describe(m.p, &info);
    check(info.rows == ROWS && info.cols == COLS && info.nnz == m.raw.a.nnz && info.windowed == i &&
              info.where == SHUNT_HOST && info.type == SHUNT_F16 && info.fill > 0.3 &&
              info.fill <= 1 && info.vectors > 0 && info.bytes > info.value_bytes,
          "is described");
    check(shunt_attention_workspace(m.p, &q, &k, &v, &o) == 0 &&
              shunt_attention(m.p, 0.5f, &q, &k, &v, &o, NULL, 0, NULL) == SHUNT_OK &&
              attention_right(&m.raw, &q, &k, &v, &o, 0.5, 0x1p-10),
          "attention of %d problems, order %d", PROBLEMS, i);

    values.stride = info.value_bytes;
    values.values = aligned_alloc(256, PROBLEMS * info.value_bytes);
    memset(o.values, 0xff, (size_t)(PROBLEMS * ROWS * D) * 2);
    check(shunt_sddmm(m.p, 0.5f, &q, &k, &values, NULL) == SHUNT_OK &&
              shunt_softmax(m.p, PROBLEMS, 1, &values, &values, NULL) == SHUNT_OK &&
              shunt_spmm(m.p, &values, 1, &v, 0, &o, NULL, 0, NULL) == SHUNT_OK &&
              attention_right(&m.raw, &q, &k, &v, &o, 0.5, 0x1p-8),
          "its three parts give the same");
    free(values.values);
    free(q.values), free(k.values), free(v.values), free(o.values);
    unmake(&m);
  }
}

/* values NULL; the matrix's own values as the result. */
static void test_pattern_only(void)
{
  struct made m = make(0, NULL);
  struct shunt_csr a = m.raw.a;
  struct shunt_tensor q = tensor_new(ROWS, 3, SHUNT_F16), k = tensor_new(COLS, 3, SHUNT_F16);
  struct shunt_packed *p;
  int zero = 1, good;

  a.values = NULL;
  good = shunt_pack(&a, SHUNT_HOST, NULL, NULL, &p) == SHUNT_OK;
  for (int64_t i = 0; good && i < p->v.count[0] * SHUNT_VECTOR_STEP_VALUES; i++)
    zero &= ((const uint16_t *)p->v.values)[p->v.begin[0] * SHUNT_VECTOR_STEP_VALUES + i] == 0;
  check(good && zero, "without values they are zeros");
  q.batches = q.heads = k.batches = k.heads = 1;
  good = shunt_sddmm(p, 1, &q, &k, NULL, NULL) == SHUNT_OK &&
         shunt_softmax(p, 1, 1, NULL, NULL, NULL) == SHUNT_OK;
  for (int64_t i = 0, e = 0; good && i < ROWS; i++) {
    double sum = 0, want = 0;
    for (; e < ((const int32_t *)a.row_offsets)[i + 1]; e++) {
      int64_t j = ((const int32_t *)a.columns)[e];
      struct packed_pattern view = m.raw;
      view.v = p->v;
      sum += shunt_load(p->v.values, packed_place(&view, i, j), SHUNT_F16);
      want = 1;
    }
    good = fabs(sum - want) < 0.01;
  }
  check(good, "the matrix's own values become weights that add up to 1");
  free(q.values), free(k.values);
  shunt_packed_free(p);
  unmake(&m);
}

/* No entries, no arrays of them: zeros. */
static void test_no_entries(void)
{
  int32_t offsets[ROWS + 1] = {0};
  struct shunt_csr a = {
      .rows = ROWS, .cols = COLS, .row_offsets = offsets, .index_type = SHUNT_I32};
  struct shunt_tensor q = tensor_new(ROWS, D, SHUNT_F16), k = tensor_new(COLS, D, SHUNT_F16);
  struct shunt_tensor o = tensor_new(ROWS, D, SHUNT_F16);
  struct shunt_packed_info info;
  struct shunt_packed *p;
  int zero = 1;

  check(shunt_pack(&a, SHUNT_HOST, NULL, NULL, &p) == SHUNT_OK, "a pattern without entries");
  shunt_packed_describe(p, &info);
  check(info.nnz == 0 && info.vectors == 0 && info.fill == 1, "has no vectors");
  check(shunt_attention(p, 1, &q, &k, &k, &o, NULL, 0, NULL) == SHUNT_OK, "its attention");
  for (int64_t i = 0; i < PROBLEMS * ROWS * D; i++) zero &= ((uint16_t *)o.values)[i] == 0;
  check(zero, "is zero");
  shunt_packed_free(p);
  free(q.values), free(k.values), free(o.values);
}

int main(void)
{
  test_header();
  test_spmm();
  test_attention();
  test_pattern_only();
  test_no_entries();
  return check_finish();
}
