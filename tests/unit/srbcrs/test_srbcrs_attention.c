/* test_srbcrs_attention.c: the twin of attention in one launch has the bits of the twins of SDDMM
   with results of f16, softmax and SpMM.  Two heads, rows and columns of no round number, a group
   without entries, scores that are no numbers or beyond f16.  */
#include <math.h>
#include <string.h>

#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/srbcrs/attention/srbcrs_attention.h"

#define RANDOM_SEED 83
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

enum { ROWS = 29, COLS = 797, DEPTH = 20, PITCH = 32, HEADS = 2, O_STRIDE = HEADS * DEPTH + 1 };

struct operands {
  struct owned pattern;
  struct shunt_srbcrs_layout layout;
  struct shunt_srbcrs m;
  void *memory;
  int64_t places;
  _Alignas(16) int8_t q[HEADS * ROWS * PITCH], k[HEADS * COLS * PITCH], v[HEADS * COLS * PITCH];
  float q_scales[HEADS * ROWS], k_scales[HEADS * COLS], v_scales[HEADS];
};

static struct owned random_pattern(shunt_type values)
{
  struct owned o = owned_new(ROWS, COLS, ROWS * COLS, SHUNT_I32, values, 0);
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t j = 0; j < COLS; j++)
      if (i >= 8 && i < 16 ? 0 : chance(0.4)) ((int32_t *)o.columns)[o.a.nnz++] = (int32_t)j;
    ((int32_t *)o.offsets)[i + 1] = (int32_t)o.a.nnz;
  }
  return o;
}

static void fill(struct operands *x)
{
  const float special[] = {NAN, INFINITY, 0, 1e30f, -1e30f};
  int8_t *const bytes[] = {x->q, x->k, x->v};
  const size_t sizes[] = {sizeof x->q, sizeof x->k, sizeof x->v};
  for (int m = 0; m < 3; m++)
    for (size_t i = 0; i < sizes[m]; i++) bytes[m][i] = (int8_t)random_next();
  for (int i = 0; i < HEADS * ROWS; i++)
    x->q_scales[i] = i < 5 ? special[i] : 0.001f + (float)(random_next() % 100) / 1000;
  for (int i = 0; i < HEADS * COLS; i++)
    x->k_scales[i] = 0.001f + (float)(random_next() % 100) / 1000;
  x->k_scales[5] = -1e30f;
  x->v_scales[0] = 0.01f, x->v_scales[1] = 0.02f;
}

static int set_up(struct operands *x, int height, int bits, shunt_type values)
{
  x->pattern = random_pattern(values);
  x->layout = (struct shunt_srbcrs_layout){.height = height, .share = 1, .bits = bits};
  const size_t bytes = shunt_srbcrs_bytes(&x->pattern.a, &x->layout);
  x->memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  x->places = shunt_srbcrs_strides(&x->pattern.a, &x->layout) * SHUNT_SRBCRS_STRIDE * height;
  fill(x);
  return shunt_srbcrs_lay_out(&x->pattern.a, &x->layout, x->memory, &x->m) &&
         shunt_csr_to_srbcrs_host(&x->pattern.a, &x->layout, &x->m) == SHUNT_OK;
}

static struct shunt_srbcrs_attention problem(const struct operands *x, shunt_type type, void *o)
{
  return (struct shunt_srbcrs_attention){.q = {x->q, 8, ROWS, DEPTH, PITCH},
                                         .k = {x->k, 8, COLS, DEPTH, PITCH},
                                         .v = {x->v, 8, COLS, DEPTH, PITCH},
                                         .q_scales = x->q_scales,
                                         .k_scales = x->k_scales,
                                         .v_scale = x->v_scales,
                                         .scale = 0.01f,
                                         .type = type,
                                         .o = o,
                                         .row_stride = O_STRIDE,
                                         .head_stride = DEPTH,
                                         .problems = HEADS,
                                         .heads = HEADS};
}

static shunt_status three(const struct operands *x, const struct shunt_srbcrs_attention *p)
{
  const size_t places = (size_t)(HEADS * x->places);
  const struct shunt_srbcrs_problems all = {HEADS, x->places};
  uint16_t *scores = aligned_alloc(256, (places * 2 + 255) / 256 * 256);
  float row_scales[HEADS * ROWS];
  struct shunt_srbcrs w = x->m;
  w.values = aligned_alloc(256, (places * 2 + 255) / 256 * 256);
  const struct shunt_srbcrs_sddmm sddmm = {
      p->q, p->k, {SHUNT_F16, p->scale, NULL, p->q_scales, p->k_scales}, scores, all};
  const struct shunt_srbcrs_softmax softmax = {scores,     SHUNT_F16, 1, p->narrow_v ? 4 : 8,
                                               row_scales, all};
  const struct shunt_srbcrs_integer_spmm spmm = {.b = p->v,
                                                 .scaling = {.type = p->type,
                                                             .scale = 1,
                                                             .tensor_scale = p->v_scale,
                                                             .row_scales = row_scales},
                                                 .c = p->o,
                                                 .c_row_stride = p->row_stride,
                                                 .problems = all,
                                                 .heads = p->heads,
                                                 .head_stride = p->head_stride};
  shunt_status s = shunt_srbcrs_sddmm_host(&sddmm, &x->m);
  if (s == SHUNT_OK) s = shunt_srbcrs_softmax_host(&softmax, &w);
  if (s == SHUNT_OK) s = shunt_srbcrs_integer_spmm_host(&spmm, &w);
  free(scores), free(w.values);
  return s;
}

static void test_bits(int height, int bits, shunt_type values, shunt_type type, int narrow_v)
{
  static struct operands x;
  static char got[ROWS * O_STRIDE * 4], want[ROWS * O_STRIDE * 4];
  int good = set_up(&x, height, bits, values);
  struct shunt_srbcrs_attention p = problem(&x, type, got);
  p.narrow_v = narrow_v;
  /* Equal weights, of which a row has more than there is room for times integers of 8 bits. */
  if (narrow_v) p.scale = 0;
  for (size_t i = 0; narrow_v && i < sizeof x.v; i++) x.v[i] %= 8;
  memset(got, 0x5c, sizeof got), memset(want, 0x5c, sizeof want);
  good &= shunt_srbcrs_attention_host(&p, &x.m) == SHUNT_OK;
  p.o = want;
  good &= three(&x, &p) == SHUNT_OK;
  check(good && !memcmp(got, want, sizeof got),
        "V = %d, weights of %d bits of type %d, O of type %d, narrow V %d", height, bits, values,
        type, narrow_v);
  p.q.bits = 4;
  check(shunt_srbcrs_attention_host(&p, &x.m) == SHUNT_E_UNSUPPORTED, "refused: Q of 4 bits");
  free(x.memory), owned_free(&x.pattern);
}

int main(void)
{
  for (int height = 2; height <= 8; height *= 2) {
    test_bits(height, 8, SHUNT_U8, SHUNT_F32, 0);
    test_bits(height, 8, SHUNT_I8, SHUNT_F16, 0);
    test_bits(height, 12, SHUNT_I16, SHUNT_BF16, 0);
    for (int narrow = 0; narrow < 2; narrow++) test_bits(height, 16, SHUNT_I16, SHUNT_F32, narrow);
  }
  return check_finish();
}
