/* host_srbcrs_attention.c: attention of integers on the host, the twin of srbcrs_attention.cuh: row
   by row, each score computed again whenever it is wanted. */
#include <math.h>

#include "kernels/srbcrs/attention/host_srbcrs_e4m3.h"
#include "kernels/srbcrs/attention/srbcrs_attention.h"
#include "kernels/srbcrs/host_srbcrs_integers.h"

/* A row of one problem. */
struct row {
  const struct shunt_srbcrs_attention *p;
  const struct shunt_srbcrs *m;
  int64_t i, first, end; /* slots */
  int r;                 /* among the group's */
};

static int is_entry(const struct row *k, int64_t s)
{
  return k->m->masks[s] >> k->r & 1;
}

static double score(const struct row *k, int64_t s)
{
  const struct shunt_scaling by = {.type = SHUNT_F16,
                                   .scale = k->p->scale,
                                   .row_scales = k->p->q_scales,
                                   .col_scales = k->p->k_scales};
  const int64_t j = k->m->columns[s];
  uint32_t sum = 0;
  uint16_t rounded;
  for (int64_t c = 0; c < k->p->q.cols; c++)
    sum += (uint32_t)(shunt_integer_at(&k->p->q, k->i, c) * shunt_integer_at(&k->p->k, j, c));
  shunt_put_scaled(&by, &rounded, 0, sum, k->i, j);
  return shunt_load(&rounded, 0, SHUNT_F16);
}

/* Of exp(score - *most): 0 of a row without entries, NaN where they are no numbers. */
static double sum_of(const struct row *k, double *most)
{
  double sum = 0;
  int good = 1, any = 0;
  *most = -INFINITY;
  for (int64_t s = k->first; s < k->end; s++)
    if (is_entry(k, s)) any = 1, *most = fmax(*most, score(k, s)), good &= !isnan(score(k, s));
  good &= isfinite(*most);
  for (int64_t s = k->first; good && s < k->end; s++)
    if (is_entry(k, s)) sum += exp(score(k, s) - *most);
  return good || !any ? sum : NAN;
}

/* What exp(score - *most) is multiplied by; *scale: of the integers. */
static double factor_of(const struct row *k, double *most, float *scale)
{
  const double sum = sum_of(k, most);
  *scale = (float)sum;
  if (!(sum > 0)) return 0;
  const double largest = (double)shunt_srbcrs_largest(k->m),
               room = (double)shunt_srbcrs_attention_room(k->p);
  const double factor = fmin(largest, fmax(1, floor(room / sum)));
  *scale = (float)(1 / (factor * sum));
  return factor;
}

static void one_row(const struct row *k, const struct shunt_scaling *to, int64_t at)
{
  uint32_t sums[SHUNT_SRBCRS_ATTENTION_WIDEST] = {0};
  double most;
  float scale;
  const double factor = factor_of(k, &most, &scale);
  struct shunt_scaling by = *to;
  by.row_scales = &scale;
  for (int64_t s = k->first; factor > 0 && s < k->end; s++) {
    if (!is_entry(k, s)) continue;
    const int q = (int)rint(factor * exp(score(k, s) - most));
    for (int64_t c = 0; c < k->p->q.cols; c++)
      sums[c] += (uint32_t)(q * shunt_integer_at(&k->p->v, k->m->columns[s], c));
  }
  for (int64_t c = 0; c < k->p->q.cols; c++) shunt_put_scaled(&by, k->p->o, at + c, sums[c], 0, c);
}

static double rounded_to(shunt_type type, double x)
{
  double place; /* has room for any type */
  shunt_store(&place, 0, type, x);
  return shunt_load(&place, 0, type);
}

/* Of V, the problem's first element of which is number `from` of real_v. */
static double real_value(const struct row *k, int64_t from, int64_t j, int64_t c)
{
  const struct shunt_srbcrs_real_v *v = &k->p->real_v;
  if (v->values) return shunt_load(v->values, from + j * v->row_stride + c, v->type);
  const double scale = (double)k->p->v_scale[0];
  return scale * shunt_e4m3_value((uint8_t)shunt_integer_at(&k->p->v, j, c));
}

/* With weights that are not integers. */
static void one_real_row(const struct row *k, int64_t from, int64_t at)
{
  const shunt_type type = k->p->real_v.values ? k->p->real_v.type : SHUNT_F16;
  double sums[SHUNT_SRBCRS_ATTENTION_WIDEST] = {0}, most;
  const double sum = sum_of(k, &most);
  for (int64_t s = k->first; sum > 0 && s < k->end; s++) {
    if (!is_entry(k, s)) continue;
    const double weight = rounded_to(type, exp(score(k, s) - most));
    for (int64_t c = 0; c < k->p->q.cols; c++)
      sums[c] += weight * real_value(k, from, k->m->columns[s], c);
  }
  for (int64_t c = 0; c < k->p->q.cols; c++)
    shunt_store(k->p->o, at + c, k->p->type, sum == 0 ? 0 : sums[c] / sum);
}

static void one_problem(const struct shunt_srbcrs_attention *p, const struct shunt_srbcrs *m,
                        int64_t z)
{
  const int64_t n = p->first + z;
  const struct shunt_scaling to = {
      .type = p->type, .scale = 1, .tensor_scale = p->v_scale ? p->v_scale + z : NULL};
  struct shunt_srbcrs_attention one = *p;
  int64_t first = 0, first_v = 0;
  one.q = shunt_integers_of(&p->q, z);
  one.k = shunt_integers_of(&p->k, z);
  if (!p->real_v.values) one.v = shunt_integers_of(&p->v, z);
  if (p->v_scale) one.v_scale += z;
  one.q_scales += z * m->rows;
  one.k_scales += z * m->cols;
  if (p->problems > 1) {
    first = n / p->heads * p->batch_stride + n % p->heads * p->head_stride;
    first_v = n / p->heads * p->real_v.batch_stride + n % p->heads * p->real_v.head_stride;
  }
  for (int64_t i = 0; i < m->rows; i++) {
    const int64_t g = i / m->height;
    const struct row k = {&one, m, i, m->begin[g], m->end[g], (int)(i % m->height)};
    if (p->real_v.values || p->v_e4m3)
      one_real_row(&k, first_v, first + i * p->row_stride);
    else
      one_row(&k, &to, first + i * p->row_stride);
  }
}

shunt_status shunt_srbcrs_attention_host(const struct shunt_srbcrs_attention *p,
                                         const struct shunt_srbcrs *m)
{
  const shunt_status s = shunt_srbcrs_attention_check(p, m);
  if (s != SHUNT_OK) return s;
  for (int64_t z = 0; z < p->problems; z++) one_problem(p, m, z);
  return SHUNT_OK;
}
