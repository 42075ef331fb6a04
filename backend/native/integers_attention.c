/* integers_attention.c: shunt_integer_attention: Q, K and V as integers, all problems at once; then
   one call where the engine has one, with neither scores, weights nor their scales in memory; else
   three, as the paper has it, for as many problems as have scores that L2 holds:

     workspace  | Q | K | V | scales of Q's rows | of K's | of each V | scores | weights | scales |
                  \_________ quantise ___________________________/     |        |         |
                             SDDMM writes f16, scaled -----------------'        |         |
                             softmax writes integers of P's bits ---------------'         |
                                     and the scales of their rows ------------------------'
                             SpMM reads both, and V

   With V as it is (SHUNT_REAL_V) one call reads it in place: Q and K alone become integers.  Of
   e4m3 (SHUNT_E4M3_V) there is one call as well.  */
#include "backend/native/integers.h"

/* Half the memory of f32; their rounding, 2^-11, is small beside that of Q and K, 2^-8 and more. */
static const shunt_type SCORES = SHUNT_F16;
/* Problems of one launch. */
enum { MOST_AT_ONCE = 65535 };

/* Operands that have been looked at, and where their integers go. */
struct attention {
  const struct shunt_packed_integers *p;
  int bits_qk, bits_v;
  const struct shunt_tensor *q, *k, *v, *o;
  struct shunt_integers of_q, of_k, of_v; /* of the first problem */
  float *q_scales, *k_scales, *v_scale, *row_scales;
  void *scores, *weights; /* of three calls */
  int fused;
  int64_t at_once; /* problems, in one set of calls */
  size_t bytes;
};

static int is_real(const struct attention *x)
{
  return x->bits_v == SHUNT_REAL_V;
}
static int is_e4m3(const struct attention *x)
{
  return x->bits_v == SHUNT_E4M3_V;
}

static struct shunt_srbcrs_real_v real_v(const struct attention *x, int64_t z, int64_t count)
{
  const struct shunt_dense one = shunt_tensor_matrix(x->v, count > 1 ? 0 : z);
  const struct shunt_heads heads = shunt_tensor_heads(x->v);
  return (struct shunt_srbcrs_real_v){one.values, one.type, one.row_stride, heads.head_stride,
                                      heads.batch_stride};
}

static shunt_status check_real(const struct attention *x)
{
  const struct shunt_srbcrs_real_v v = real_v(x, 0, shunt_tensor_problems(x->v));
  const int is_type = v.type == SHUNT_F16 || v.type == SHUNT_BF16;
  if (x->bits_qk != 8 || !is_type || x->v->cols > SHUNT_SRBCRS_ATTENTION_WIDEST)
    return SHUNT_E_UNSUPPORTED;
  return shunt_srbcrs_real_v_fits(&v, x->v->cols) ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static shunt_status check_e4m3(const struct attention *x)
{
  const int fits = x->v->cols <= SHUNT_SRBCRS_ATTENTION_WIDEST && x->v->cols % 8 == 0;
  return x->bits_qk == 8 && fits ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static shunt_status check(const struct attention *x)
{
  if (!x->p || shunt_tensor_problems(x->q) == 0) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(x->q, x->q, x->p->v.rows, x->q->cols, 0) ||
      !shunt_tensor_fits(x->k, x->q, x->p->v.cols, x->q->cols, 0) ||
      !shunt_tensor_fits(x->v, x->q, x->p->v.cols, x->q->cols, 0) ||
      !shunt_tensor_fits(x->o, x->q, x->p->v.rows, x->q->cols, 1))
    return SHUNT_E_ARGUMENT;
  if (x->p->v.bits == 4) return SHUNT_E_UNSUPPORTED;
  if (is_real(x)) return check_real(x);
  if (is_e4m3(x)) return check_e4m3(x);
  if ((x->bits_qk != 8 && x->bits_qk != 4) || (x->bits_v != 8 && x->bits_v != 4))
    return SHUNT_E_UNSUPPORTED;
  return x->q->cols <= INT32_MAX - 1024 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

/* The next `bytes` of the workspace, which may be NULL: sizes only. */
static void *place(struct attention *x, char *workspace, size_t bytes)
{
  const size_t at = x->bytes;
  x->bytes = (at + bytes + 255) & ~(size_t)255;
  return workspace ? workspace + at : NULL;
}

static struct shunt_integers place_integers(struct attention *x, char *workspace,
                                            const struct shunt_tensor *t, int bits)
{
  const int64_t pitch = ((t->cols * bits + 7) / 8 + 15) / 16 * 16;
  const size_t bytes = (size_t)(shunt_tensor_problems(t) * t->rows * pitch);
  return (struct shunt_integers){place(x, workspace, bytes), bits, t->rows, t->cols, pitch, 0};
}

/* What three calls leave for one another. */
static void lay_out_scores(struct attention *x, char *workspace)
{
  const size_t problems = (size_t)shunt_tensor_problems(x->q);
  const size_t score_bytes = x->p->places * shunt_type_size(SCORES);
  const size_t fit = score_bytes ? x->p->score_bytes / score_bytes : problems;
  const size_t at_once = fit < 1 ? 1 : fit < problems ? fit : problems;
  x->at_once = (int64_t)at_once;
  x->scores = place(x, workspace, at_once * score_bytes);
  x->weights = place(x, workspace, at_once * x->p->places * (size_t)x->p->v.bits / 8);
  x->row_scales = place(x, workspace, at_once * (size_t)x->q->rows * sizeof(float));
}

static void lay_out(struct attention *x, char *workspace)
{
  const size_t problems = (size_t)shunt_tensor_problems(x->q), size = sizeof(float);
  x->fused = is_real(x) || is_e4m3(x) ||
             x->p->at.engine->integers->fuses(x->p, x->bits_qk, x->bits_v, x->q->cols);
  x->at_once = problems < MOST_AT_ONCE ? (int64_t)problems : MOST_AT_ONCE;
  x->bytes = 0;
  x->of_q = place_integers(x, workspace, x->q, x->fused ? 8 : x->bits_qk);
  x->of_k = place_integers(x, workspace, x->k, x->fused ? 8 : x->bits_qk);
  if (!is_real(x)) x->of_v = place_integers(x, workspace, x->v, x->fused ? 8 : x->bits_v);
  x->q_scales = place(x, workspace, problems * (size_t)x->q->rows * size);
  x->k_scales = place(x, workspace, problems * (size_t)x->k->rows * size);
  if (!is_real(x)) x->v_scale = place(x, workspace, problems * size);
  if (!x->fused) lay_out_scores(x, workspace);
}

static struct shunt_integers of_problem(const struct shunt_integers *m, int64_t z)
{
  struct shunt_integers one = *m;
  one.values = (const char *)m->values + z * m->rows * m->row_bytes;
  return one;
}

static shunt_status quantise(const struct attention *x, shunt_stream stream)
{
  struct shunt_quantise of[] = {shunt_quantise_of(x->q, &x->of_q, x->q_scales, 1),
                                shunt_quantise_of(x->k, &x->of_k, x->k_scales, 1),
                                shunt_quantise_of(x->v, &x->of_v, x->v_scale, 0)};
  of[2].is_e4m3 = is_e4m3(x);
  of[0].narrow = of[1].narrow = x->fused && x->bits_qk == 4;
  of[2].narrow = x->fused && x->bits_v == 4;
  return x->p->at.engine->integers->quantise(&x->p->at, of, is_real(x) ? 2 : 3, stream);
}

/* `count` problems from number z on, in one call. */
static shunt_status fused_problems(const struct attention *x, int64_t z, int64_t count, float scale,
                                   shunt_stream stream)
{
  const struct shunt_dense o = shunt_tensor_matrix(x->o, count > 1 ? 0 : z);
  const struct shunt_heads heads = shunt_tensor_heads(x->o);
  struct shunt_srbcrs_attention q = {.q = of_problem(&x->of_q, z),
                                     .k = of_problem(&x->of_k, z),
                                     .q_scales = x->q_scales + z * x->q->rows,
                                     .k_scales = x->k_scales + z * x->k->rows,
                                     .scale = scale,
                                     .type = o.type,
                                     .o = o.values,
                                     .row_stride = o.row_stride,
                                     .head_stride = heads.head_stride,
                                     .batch_stride = heads.batch_stride,
                                     .problems = count,
                                     .first = z,
                                     .heads = x->o->heads};
  if (is_real(x))
    q.real_v = real_v(x, z, count);
  else
    q.v = of_problem(&x->of_v, z), q.v_scale = x->v_scale + z, q.v_e4m3 = is_e4m3(x),
    q.narrow_v = x->bits_v == 4;
  return x->p->at.engine->integers->attention(x->p, &q, stream);
}

/* The same in three. */
static shunt_status some_problems(const struct attention *x, int64_t z, int64_t count, float scale,
                                  shunt_stream stream)
{
  const struct shunt_packed_integers *p = x->p;
  const struct shunt_native_integers *engine = p->at.engine->integers;
  const struct shunt_dense o = shunt_tensor_matrix(x->o, count > 1 ? 0 : z);
  const struct shunt_heads heads = shunt_tensor_heads(x->o);
  const struct shunt_srbcrs_problems problems = {count, (int64_t)p->places};
  const struct shunt_srbcrs weights = shunt_integers_view(p, x->weights);
  const struct shunt_srbcrs_sddmm sddmm = {.a = of_problem(&x->of_q, z),
                                           .b = of_problem(&x->of_k, z),
                                           .scaling = {.type = SCORES,
                                                       .scale = scale,
                                                       .row_scales = x->q_scales + z * x->q->rows,
                                                       .col_scales = x->k_scales + z * x->k->rows},
                                           .values = x->scores,
                                           .problems = problems};
  const struct shunt_srbcrs_softmax softmax = {x->scores, SCORES,        1,
                                               x->bits_v, x->row_scales, problems};
  const struct shunt_srbcrs_integer_spmm spmm = {.b = of_problem(&x->of_v, z),
                                                 .scaling = {.type = o.type,
                                                             .scale = 1,
                                                             .tensor_scale = x->v_scale + z,
                                                             .row_scales = x->row_scales},
                                                 .c = o.values,
                                                 .c_row_stride = o.row_stride,
                                                 .problems = problems,
                                                 .c_first = z,
                                                 .heads = x->o->heads,
                                                 .head_stride = heads.head_stride,
                                                 .batch_stride = heads.batch_stride};
  shunt_status s = engine->sddmm(p, &sddmm, stream);
  if (s == SHUNT_OK) s = engine->softmax(p, &softmax, &weights, stream);
  return s == SHUNT_OK ? engine->spmm(p, &spmm, &weights, stream) : s;
}

size_t shunt_integer_attention_workspace(const struct shunt_packed_integers *p, int bits_qk,
                                         int bits_v, const struct shunt_tensor *q,
                                         const struct shunt_tensor *k, const struct shunt_tensor *v,
                                         const struct shunt_tensor *o)
{
  struct attention x = {p, bits_qk, bits_v, .q = q, .k = k, .v = v, .o = o};
  if (check(&x) != SHUNT_OK) return 0;
  lay_out(&x, NULL);
  return x.bytes;
}

shunt_status shunt_integer_attention(const struct shunt_packed_integers *p, int bits_qk, int bits_v,
                                     float scale, const struct shunt_tensor *q,
                                     const struct shunt_tensor *k, const struct shunt_tensor *v,
                                     const struct shunt_tensor *o, void *workspace,
                                     size_t workspace_bytes, shunt_stream stream)
{
  struct attention x = {p, bits_qk, bits_v, .q = q, .k = k, .v = v, .o = o};
  shunt_status s = check(&x);
  if (s != SHUNT_OK) return s;
  lay_out(&x, workspace);
  if (!workspace || (uintptr_t)workspace % 256 || workspace_bytes < x.bytes)
    return SHUNT_E_WORKSPACE;
  s = p->at.engine->enter(&p->at);
  if (s == SHUNT_OK) s = quantise(&x, stream);
  const int64_t problems = shunt_tensor_problems(q);
  for (int64_t z = 0; s == SHUNT_OK && z < problems; z += x.at_once) {
    const int64_t left = problems - z;
    const int64_t count = left < x.at_once ? left : x.at_once;
    s = x.fused ? fused_problems(&x, z, count, scale, stream)
                : some_problems(&x, z, count, scale, stream);
    if (s != SHUNT_OK && z > 0) s = SHUNT_E_WRITTEN;
  }
  return s;
}
