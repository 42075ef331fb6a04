/* host_srbcrs_quantise.c: symmetric quantisation on the host, the twin of srbcrs_quantise.cu. */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/srbcrs/attention/host_srbcrs_e4m3.h"
#include "kernels/srbcrs/attention/srbcrs_quantise.h"

static float element(const struct shunt_dense *m, int64_t i, int64_t j)
{
  return (float)shunt_load(m->values, i * m->row_stride + j, m->type);
}

static float largest(const struct shunt_dense *m, int64_t first, int64_t end)
{
  float most = 0;
  for (int64_t i = first; i < end; i++)
    for (int64_t j = 0; j < m->cols; j++)
      if (isfinite(element(m, i, j))) most = fmaxf(most, fabsf(element(m, i, j)));
  return most;
}

static int integer_of(float x, float scale, float most)
{
  if (!(scale > 0) || isnan(x / scale)) return 0;
  return (int)fminf(fmaxf(rintf(x / scale), -most), most);
}

static void put_row(const struct shunt_quantise *p, int64_t i, float scale, float most)
{
  char *row = (char *)p->to.values + i * p->to.row_bytes;
  for (int64_t j = 0; j < p->from.cols; j++) {
    const float x = element(&p->from, i, j);
    const int q = p->is_e4m3 ? shunt_e4m3_of(x, scale) : integer_of(x, scale, most);
    if (p->to.bits == 16)
      ((int16_t *)(void *)row)[j] = (int16_t)q;
    else if (p->to.bits == 8)
      row[j] = (char)q;
    else if (j % 2 == 0)
      row[j / 2] = (char)(q & 15);
    else
      row[j / 2] = (char)((unsigned char)row[j / 2] | (q & 15) << 4);
  }
}

static void one_problem(const struct shunt_quantise *p)
{
  const int bits = p->narrow ? 4 : p->to.bits;
  const float most = p->is_e4m3 ? 448 : (float)((1 << (bits - 1)) - 1);
  const float of_all = p->per_row ? 0 : largest(&p->from, 0, p->from.rows) / most;
  if (!p->per_row) p->scales[0] = of_all;
  for (int64_t i = 0; i < p->from.rows; i++) {
    const float scale = p->per_row ? largest(&p->from, i, i + 1) / most : of_all;
    if (p->per_row) p->scales[i] = scale;
    put_row(p, i, scale, most);
  }
}

shunt_status shunt_quantise_host(const struct shunt_quantise *p)
{
  const shunt_status s = shunt_quantise_check(p);
  if (s != SHUNT_OK) return s;
  for (int64_t z = 0; z < p->problems; z++) {
    const int64_t at = z / p->heads * p->batch_stride + z % p->heads * p->head_stride;
    struct shunt_quantise one = *p;
    one.from.values = (char *)p->from.values + at * (int64_t)shunt_type_size(p->from.type);
    one.to.values = (const char *)p->to.values + z * p->from.rows * p->to.row_bytes;
    one.scales = p->scales + (p->per_row ? z * p->from.rows : z);
    one_problem(&one);
  }
  return SHUNT_OK;
}
