/* host_attention_parallel.c: attention on a pattern in the `vector` format: the host engine.

     O[i, c] = sum over j of w[j] V[j, c] / sum over j of w[j],   w[j] = exp(scale Q[i] K[j] - m)

   A group of 8 rows goes through its steps, 16 keys at a time, in float, with the largest score so
   far for m; sums are scaled when it grows.  A step's rows of K are turned, so that 16 scores of a
   query are one vector of 16 lanes and no sum changes its order:

     K turned   c  | slot 0 .. 15 |        scores[r] += Q[r][c] * K[c]       16 lanes
                   | ..           |
     V          slot | c 0 .. d   |        O[r]      += w[r][slot] * V[slot]    16 lanes of c

   Places that are no positions are left out of every sum.  A row with a result that is not finite
   is computed again as the twin does it: it knows what is NaN, and a sum of its does not overflow.
   Groups are independent: with OpenMP, threads take them, and the result does not depend on
   their number.

   Bound by multiplications: 2 x 128 x d a step, and the conversion of 2 x 16 x d elements.  */
#include <math.h>
#include <string.h>

#include "kernels/common/host_half.h"
#include "kernels/vector/attention/attention_check.h"
#include "kernels/vector/attention/host_attention_row.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

enum { ROWS = SHUNT_VECTOR_ROWS, STEP = SHUNT_VECTOR_STEP, LANES = 16, MOST_D = 256 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* One group of one problem. */
struct block {
  const struct shunt_vector_attention *p;
  const struct shunt_vector *v;
  const uint16_t *k_at, *v_at; /* the problem's matrices */
  int wide;                    /* d in lanes, rounded up */
  float q[ROWS][MOST_D];
  lanes k[MOST_D];
  lanes values[STEP][MOST_D / LANES];
  lanes o[ROWS][MOST_D / LANES];
  float most[ROWS], sum[ROWS];
};

static float widen(uint16_t x, shunt_type t)
{
  return t == SHUNT_F16 ? shunt_half_to_float(x) : shunt_bfloat_to_float(x);
}

static uint16_t narrow(float x, shunt_type t)
{
  return t == SHUNT_F16 ? shunt_float_to_half(x) : shunt_float_to_bfloat(x);
}

static const uint16_t *matrix_at(const struct shunt_heads *m, int64_t z, int64_t heads)
{
  return (const uint16_t *)m->values + z / heads * m->batch_stride + z % heads * m->head_stride;
}

static void start_block(struct block *b, int64_t z, int64_t group)
{
  const struct shunt_vector_attention *p = b->p;
  const uint16_t *q = matrix_at(&p->q, z, p->heads);

  b->k_at = matrix_at(&p->k, z, p->heads);
  b->v_at = matrix_at(&p->v, z, p->heads);
  for (int r = 0; r < ROWS; r++) {
    int64_t row = group * ROWS + r;
    b->most[r] = -INFINITY;
    b->sum[r] = 0;
    for (int64_t c = 0; row < b->v->rows && c < p->d; c++)
      b->q[r][c] = widen(q[row * p->q.row_stride + c], b->v->value_type);
    for (int i = 0; i < b->wide; i++) b->o[r][i] = (lanes){0};
  }
}

/* K, turned, and V of a step; zeros for slots that are not used. */
static void load_step(struct block *b, int64_t step)
{
  shunt_type t = b->v->value_type;

  for (int slot = 0; slot < STEP; slot++) {
    int64_t column = b->v->columns[step * STEP + slot];
    const uint16_t *k = b->k_at + column * b->p->k.row_stride;
    const uint16_t *v = b->v_at + column * b->p->v.row_stride;
    int used = b->v->masks[step * STEP + slot] != 0;
    for (int64_t c = 0; c < b->p->d; c++) {
      b->k[c][slot] = used ? widen(k[c], t) : 0;
      b->values[slot][c / LANES][c % LANES] = used ? widen(v[c], t) : 0;
    }
  }
}

/* The 16 scores of row r to weights; returns by what older sums are to be scaled. */
static float weigh(struct block *b, int r, const uint8_t *masks, float w[STEP])
{
  lanes s = {0};
  float before = b->most[r], base;

  for (int64_t c = 0; c < b->p->d; c++) s += b->q[r][c] * b->k[c];
  for (int slot = 0; slot < STEP; slot++)
    if (masks[slot] >> r & 1) b->most[r] = fmaxf(b->most[r], b->p->scale * s[slot]);
  base = b->most[r] == -INFINITY ? 0 : b->most[r];
  for (int slot = 0; slot < STEP; slot++)
    w[slot] = masks[slot] >> r & 1 ? expf(b->p->scale * s[slot] - base) : 0;
  return expf(before - base);
}

static void add_row(struct block *b, int r, const uint8_t *masks)
{
  float w[STEP], by = weigh(b, r, masks, w);

  b->sum[r] *= by;
  for (int i = 0; i < b->wide; i++) b->o[r][i] *= by;
  for (int slot = 0; slot < STEP; slot++) {
    if (!(masks[slot] >> r & 1)) continue;
    b->sum[r] += w[slot];
    for (int i = 0; i < b->wide; i++) b->o[r][i] += w[slot] * b->values[slot][i];
  }
}

static void store_row(const struct block *b, int r, int64_t z, int64_t row)
{
  const struct shunt_vector_attention *p = b->p;
  uint16_t *o = (uint16_t *)p->o.values + z / p->heads * p->o.batch_stride +
                z % p->heads * p->o.head_stride + row * p->o.row_stride;
  int finite = 1;

  for (int64_t c = 0; c < p->d; c++) {
    float x = b->o[r][c / LANES][c % LANES] / b->sum[r];
    finite &= isfinite(x) != 0;
    o[c] = narrow(x, b->v->value_type);
  }
  if (!finite) shunt_vector_attention_row(p, b->v, z, row); /* 0 / 0: no positions, too */
}

static void one_block(const struct shunt_vector_attention *p, const struct shunt_vector *v,
                      int64_t z, int64_t group)
{
  struct block b;

  b.p = p, b.v = v, b.wide = (int)((p->d + LANES - 1) / LANES);
  memset(b.values, 0, sizeof b.values); /* behind the d-th column */
  start_block(&b, z, group);
  for (int64_t s = v->begin[group]; s < (int64_t)v->begin[group] + v->count[group]; s++) {
    load_step(&b, s);
    for (int r = 0; r < ROWS; r++) add_row(&b, r, v->masks + s * STEP);
  }
  for (int r = 0; r < ROWS && group * ROWS + r < v->rows; r++)
    store_row(&b, r, z, group * ROWS + r);
}

shunt_status shunt_vector_attention_parallel_host(const struct shunt_vector_attention *p,
                                                  const struct shunt_vector *v)
{
  shunt_status status = shunt_check_attention(p, v);

  if (status != SHUNT_OK) return status;
  if (p->d > MOST_D) return shunt_vector_attention_host(p, v);
  SHUNT_OMP(omp parallel for schedule(dynamic, 4))
  for (int64_t i = 0; i < p->batches * p->heads * v->groups; i++)
    one_block(p, v, i / v->groups, i % v->groups);
  return SHUNT_OK;
}
