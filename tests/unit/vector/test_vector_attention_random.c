/* test_vector_attention_random.c: the twins of SDDMM, softmax and attention over the `vector`
   format, and the host engine of attention, against dense loops on random patterns.  */
#include <math.h>

#include "kernels/vector/attention/attention_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/vector/vector_patterns.h"

/* batches x heads problems of one pattern, [batch][row][head][d] with a gap. */
struct problem {
  struct packed_pattern p;
  shunt_type t;
  int64_t batches, heads, d;
  uint16_t *q, *k, *v, *o, *values;
};

static struct shunt_heads heads_of(const struct problem *m, uint16_t *at, int64_t rows)
{
  return (struct shunt_heads){at, m->heads * (m->d + 1), m->d + 1, rows * m->heads * (m->d + 1)};
}

static double at(const struct problem *m, const uint16_t *x, int64_t rows, int64_t z, int64_t i,
                 int64_t c)
{
  struct shunt_heads h = heads_of(m, NULL, rows);

  return shunt_load(
      x, z / m->heads * h.batch_stride + z % m->heads * h.head_stride + i * h.row_stride + c, m->t);
}

static uint16_t *random_tensor(const struct problem *m, int64_t rows)
{
  int64_t n = m->batches * rows * m->heads * (m->d + 1);
  uint16_t *x = malloc((size_t)n * 2);

  fill_random(x, n, m->t, 2);
  return x;
}

static double score(const struct problem *m, int64_t z, int64_t i, int64_t j)
{
  double sum = 0;

  for (int64_t c = 0; c < m->d; c++)
    sum += at(m, m->q, m->p.rows, z, i, c) * at(m, m->k, m->p.cols, z, j, c);
  return sum;
}

static int close_to(double got, double want, shunt_type t)
{
  return fabs(got - want) <= (t == SHUNT_F16 ? 0x1p-10 : 0x1p-7) * (fabs(want) + 0x1p-13);
}

/* Row i of problem z: scores as sddmm has them (doubled), weights, and the row of O. */
static int row_right(const struct problem *m, const uint16_t *soft, int64_t z, int64_t i)
{
  const struct packed_pattern *p = &m->p;
  const unsigned char *there = p->there + i * p->cols;
  double sum = 0;
  int good = 1;

  for (int64_t j = 0; j < p->cols; j++)
    if (there[j]) sum += exp(0.25 * score(m, z, i, j));
  for (int64_t j = 0; j < p->cols; j++) {
    if (!there[j]) continue;
    int64_t place = z * p->value_count + packed_place(p, i, j);
    double s = score(m, z, i, j);
    good &= close_to(shunt_load(m->values, place, m->t), 2 * s, m->t);
    /* Softmax starts from rounded scores. */
    good &= fabs(shunt_load(soft, place, m->t) - exp(0.25 * s) / sum) < (m->t ? 0.1 : 0.01);
  }
  for (int64_t c = 0; c < m->d; c++) {
    double want = 0;
    for (int64_t j = 0; j < p->cols; j++)
      if (there[j]) want += exp(0.25 * score(m, z, i, j)) / sum * at(m, m->v, p->cols, z, j, c);
    good &= close_to(at(m, m->o, p->rows, z, i, c), want, m->t);
  }
  return good;
}

static int problem_right(struct problem *m)
{
  const struct packed_pattern *p = &m->p;
  int64_t problems = m->batches * m->heads;
  uint16_t *soft = malloc((size_t)(problems * p->value_count) * 2);
  struct shunt_heads q = heads_of(m, m->q, p->rows), k = heads_of(m, m->k, p->cols);
  struct shunt_heads v = heads_of(m, m->v, p->cols), o = heads_of(m, m->o, p->rows);
  struct shunt_vector_sddmm sddmm = {m->batches, m->heads, m->d,      2,
                                     q,          k,        m->values, p->value_count};
  struct shunt_vector_softmax softmax = {problems, 0.125f,         m->values,
                                         soft,     p->value_count, p->value_count};
  struct shunt_vector_attention attention = {m->batches, m->heads, m->d, 0.25f, q, k, v, o};
  int good = shunt_vector_sddmm_host(&sddmm, &p->v) == SHUNT_OK &&
             shunt_vector_softmax_host(&softmax, &p->v) == SHUNT_OK &&
             shunt_vector_attention_host(&attention, &p->v) == SHUNT_OK;

  for (int engine = 0; engine < 2; engine++) {
    for (int64_t z = 0; z < problems; z++)
      for (int64_t i = 0; i < p->rows; i++) good = good && row_right(m, soft, z, i);
    memset(m->o, 0xff, (size_t)(problems * p->rows * (m->d + 1)) * 2);
    good = good && shunt_vector_attention_parallel_host(&attention, &p->v) == SHUNT_OK;
  }
  free(soft);
  return good;
}

static void test_random(void)
{
  static const int64_t d[] = {1, 16, 70, 300};

  for (int order = 0; order < 2; order++)
    for (int type = 0; type < 2; type++) {
      int good = 1;
      for (int i = 0; i < 4; i++) {
        struct problem m = {
            .t = type ? SHUNT_BF16 : SHUNT_F16, .batches = 2, .heads = 3, .d = d[i]};
        good &= pattern_pack(&m.p, 35, 90, random_there(35, 90, 0.3, i % 2 ? 0.2 : 0), m.t,
                             (enum shunt_vector_order)order);
        m.q = random_tensor(&m, 35), m.k = random_tensor(&m, 90);
        m.v = random_tensor(&m, 90), m.o = random_tensor(&m, 35);
        m.values = malloc((size_t)(6 * m.p.value_count) * 2);
        good = good && problem_right(&m);
        free(m.q), free(m.k), free(m.v), free(m.o), free(m.values);
        pattern_free(&m.p);
      }
      check(good, "2 x 3 problems of 35 x 90 against dense loops, order %d, type %d", order, type);
    }
}

/* NaN and Inf here and there, large scores, large values: the host engine gives what the twin
   gives.  */
static void test_engine_nonfinite(void)
{
  enum { M = 40, N = 100, D = 24 };
  struct packed_pattern p;
  uint16_t *x = malloc((M + 2 * N) * D * 2), *o = malloc(M * D * 2), *want = malloc(M * D * 2);
  struct shunt_vector_attention m = {1,
                                     1,
                                     D,
                                     0.5f,
                                     {x, D, 0, 0},
                                     {x + M * D, D, 0, 0},
                                     {x + (M + N) * D, D, 0, 0},
                                     {want, D, 0, 0}};
  int good =
      pattern_pack(&p, M, N, random_there(M, N, 0.4, 0.3), SHUNT_BF16, SHUNT_VECTOR_SEQUENTIAL);

  fill_random(x, (M + 2 * N) * D, SHUNT_BF16, 6);
  shunt_store(x, 3 * D, SHUNT_BF16, NAN); /* Q */
  shunt_store(x, 9 * D + 5, SHUNT_BF16, INFINITY);
  for (int i = 0; i < 12; i++) {
    shunt_store(x, (M + 7 * i) * D + i, SHUNT_BF16, i == 4 ? NAN : i == 7 ? -INFINITY : 9); /* K */
    shunt_store(x, (M + N + 8 * i) * D + i, SHUNT_BF16, i % 3 ? 3e38 : i % 2 ? NAN : INFINITY);
  }
  good = good && shunt_vector_attention_host(&m, &p.v) == SHUNT_OK;
  m.o.values = o;
  good = good && shunt_vector_attention_parallel_host(&m, &p.v) == SHUNT_OK;
  for (int i = 0; i < M * D; i++) {
    double got = shunt_load(o, i, SHUNT_BF16), wanted = shunt_load(want, i, SHUNT_BF16);
    good &= isnan(wanted)   ? isnan(got)
            : isinf(wanted) ? got == wanted
                            : fabs(got - wanted) <= 0x1p-7 * (fabs(wanted) + 0x1p-7);
  }
  check(good,
        "NaN, Inf and values near the end of the range: the host engine agrees with the twin");
  free(x), free(o), free(want);
  pattern_free(&p);
}

int main(void)
{
  test_random();
  test_engine_nonfinite();
  return check_finish();
}
