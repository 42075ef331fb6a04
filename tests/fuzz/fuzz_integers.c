/* fuzz_integers.c: libshunt's functions of integers (backend/shunt.h) on the host, called as the
   bytes say: a matrix that is one or not, of any width, dense operands of which one may be
   described wrongly.

     what is given                            what is expected
     a matrix of the width it says            a packed copy; its products, to the bit
     anything else                            a status; never a packed copy of what is no matrix
     an operand described wrongly             a status, and results left as they were

   All arrays have the sizes that the calls were told, so that a sanitizer sees what is read beyond
   them.  */
#include "kernels/srbcrs/host_srbcrs_integers.h" /* before shunt.h, which leaves its own out */

#include <math.h>
#include <stdbool.h>

#include "backend/shunt.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_bytes.h"

enum { MOST_ROWS = 24, MOST_COLS = 50, MOST_IN_ROW = 12 };

static void *room_for(size_t n)
{
  void *room = aligned_alloc(256, (n + 255) / 256 * 256 + 256);
  if (!room) exit(3);
  memset(room, 0x5c, (n + 255) / 256 * 256 + 256);
  return room;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

struct matrix {
  struct shunt_csr a;
  int bits;
  int32_t *offsets, *columns;
  int64_t value[MOST_ROWS * MOST_IN_ROW];
};

static void store(struct matrix *m, int64_t p, int x)
{
  m->value[p] = m->a.value_type == SHUNT_I16  ? (int16_t)x
                : m->a.value_type == SHUNT_U8 ? (uint8_t)x
                                              : (int8_t)x;
  if (m->a.value_type == SHUNT_I16)
    ((int16_t *)m->a.values)[p] = (int16_t)x;
  else
    ((int8_t *)m->a.values)[p] = (int8_t)x;
}

/* Some of it put wrong. */
static void damage(struct matrix *m)
{
  static const int32_t odd[] = {-1, 0, 1, 1000, INT32_MAX, INT32_MIN};
  for (int changes = below(3); changes; changes--)
    if (below(2) && m->a.nnz)
      m->columns[take() % m->a.nnz] = odd[below(6)];
    else
      m->offsets[take() % (m->a.rows + 1)] = odd[below(6)];
}

static int value_of(int bits)
{
  if (bits == 4) return below(16) - 8;
  return bits == 12 ? take() * 16 - 2048 : take() * 257;
}

static void make_matrix(struct matrix *m)
{
  static const int widths[] = {16, 8, 4, 12};
  struct shunt_csr *a = &m->a;
  m->bits = below(16) ? widths[below(4)] : take();
  *a = (struct shunt_csr){.rows = 1 + below(MOST_ROWS),
                          .cols = 1 + below(MOST_COLS),
                          .index_type = SHUNT_I32,
                          .value_type = m->bits == 16 || m->bits == 12 ? SHUNT_I16 : SHUNT_I8,
                          .base = below(2)};
  if (m->bits == 8 && a->rows % 3 == 0) a->value_type = SHUNT_U8;
  m->offsets = room_for((size_t)(a->rows + 1) * sizeof *m->offsets);
  m->columns = room_for((size_t)a->rows * MOST_IN_ROW * sizeof *m->columns);
  a->values = room_for((size_t)a->rows * MOST_IN_ROW * 2);
  a->row_offsets = m->offsets, a->columns = m->columns;
  for (int64_t i = 0; i < a->rows; i++) {
    m->offsets[i] = (int32_t)a->nnz + a->base;
    const int count = below(MOST_IN_ROW);
    for (int64_t k = 0, j = below(8); k < count && j < a->cols; k++, j += 1 + below(6)) {
      m->columns[a->nnz] = (int32_t)j + a->base;
      store(m, a->nnz++, value_of(m->bits));
    }
  }
  m->offsets[a->rows] = (int32_t)a->nnz + a->base;
  if (below(4) == 0) damage(m);
}

static void free_matrix(struct matrix *m)
{
  free(m->offsets);
  free(m->columns);
  free(m->a.values);
}

static bool is_matrix(const struct matrix *m)
{
  const struct shunt_csr *a = &m->a;
  if (m->offsets[0] != a->base || m->offsets[a->rows] != a->nnz + a->base) return false;
  for (int64_t i = 0; i < a->rows; i++) {
    if (m->offsets[i] > m->offsets[i + 1]) return false;
    for (int64_t p = m->offsets[i] - a->base; p < m->offsets[i + 1] - a->base; p++) {
      if (p >= a->nnz) return false;
      const int64_t j = m->columns[p] - (int64_t)a->base;
      if (j < 0 || j >= a->cols) return false;
      if (p > m->offsets[i] - a->base && m->columns[p] <= m->columns[p - 1]) return false;
    }
  }
  return true;
}

/* ---- dense operands -------------------------------------------------------------------------- */

static struct shunt_integers make_integers(int bits, int64_t rows, int64_t cols)
{
  const int64_t pitch = (cols * bits / 8 + 16) / 16 * 16 + 16 * below(2);
  struct shunt_integers m = {NULL, bits, rows, cols, pitch, below(2)};
  char *memory = room_for((size_t)(rows * pitch));
  for (int64_t i = 0; i < rows * pitch; i++) memory[i] = (char)(take() * 77 + i);
  m.values = memory;
  return m;
}

/* In a way that no call may accept. */
static void describe_wrongly(struct shunt_integers *m)
{
  switch (below(7)) {
  case 0: m->values = NULL; break;
  case 1: m->values = (const char *)m->values + 8; break;
  case 2: m->bits = 2; break;
  case 3: m->rows++; break;
  case 4: m->row_bytes = 0; break;
  case 5: m->row_bytes += 8; break;
  default: m->cols = -m->cols; break;
  }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void expect_product(const struct matrix *m, const struct shunt_integers *b, const int32_t *c,
                           int64_t pitch)
{
  for (int64_t i = 0; i < m->a.rows; i++)
    for (int64_t j = 0; j < b->cols; j++) {
      uint32_t sum = 0;
      for (int64_t p = m->offsets[i] - m->a.base; p < m->offsets[i + 1] - m->a.base; p++)
        sum += (uint32_t)(m->value[p] * shunt_integer_at(b, m->columns[p] - m->a.base, j));
      FUZZ_EXPECT((uint32_t)c[i * pitch + j] == sum);
    }
}

static void call_spmm(const struct matrix *m, const struct shunt_packed_integers *p)
{
  static const int widths[] = {16, 8, 4};
  struct shunt_integers b = make_integers(widths[below(3)], m->a.cols, 1 + below(20));
  const struct shunt_integers right = b;
  const int64_t pitch = b.cols + below(3);
  const struct shunt_scaling plain = {.type = SHUNT_I32};
  const size_t bytes = (size_t)(m->a.rows * pitch) * 4;
  int32_t *c = room_for(bytes), *before = room_for(bytes);
  const bool wrong = below(3) == 0;
  if (wrong) describe_wrongly(&b);
  const shunt_status s = shunt_integer_spmm(p, NULL, &b, &plain, c, pitch, NULL);
  FUZZ_EXPECT((s == SHUNT_OK) == (!wrong && right.bits <= m->bits));
  if (s == SHUNT_OK)
    expect_product(m, &right, c, pitch);
  else
    FUZZ_EXPECT(memcmp(c, before, bytes) == 0);
  free(c), free(before), free((void *)(uintptr_t)right.values);
}

static void call_sddmm(const struct matrix *m, const struct shunt_packed_integers *p)
{
  static const int widths[] = {16, 8, 4};
  const int bits = widths[below(3)];
  const int64_t k = 1 + below(40);
  struct shunt_integers x[2] = {make_integers(bits, m->a.rows, k),
                                make_integers(bits, m->a.cols, k)};
  const struct shunt_integers right[2] = {x[0], x[1]};
  const struct shunt_scaling plain = {.type = below(2) ? SHUNT_I32 : SHUNT_F16, .scale = 1};
  struct shunt_packed_integers_info info;
  shunt_packed_integers_describe(p, &info);
  void *results = room_for(info.places * 4), *before = room_for(info.places * 4);
  const bool wrong = below(3) == 0;
  if (wrong) describe_wrongly(&x[below(2)]);
  const shunt_status s = shunt_integer_sddmm(p, &x[0], &x[1], &plain, results, NULL);
  FUZZ_EXPECT((s == SHUNT_OK) == !wrong);
  if (s != SHUNT_OK) FUZZ_EXPECT(memcmp(results, before, info.places * 4) == 0);
  free(results), free(before);
  for (int i = 0; i < 2; i++) free((void *)(uintptr_t)right[i].values);
}

/* Scores of all kinds of floats, NaN among them. */
static float *make_scores(size_t places)
{
  static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 0};
  float *scores = room_for(places * sizeof *scores);
  for (size_t i = 0; i < places; i++)
    scores[i] = below(40) == 1 ? odd[below(6)] : (float)(take() - 128) / 8;
  return scores;
}

/* Weights and scales that are no negative numbers. */
static void expect_weights(const struct matrix *m, size_t places, const uint8_t *weights,
                           const float *scales)
{
  for (size_t i = 0; m->a.value_type == SHUNT_I8 && i < places; i++) FUZZ_EXPECT(weights[i] < 128);
  for (int64_t i = 0; i < m->a.rows; i++) {
    FUZZ_EXPECT(!(scales[i] < 0) && !isinf(scales[i]));
    if (m->offsets[i] == m->offsets[i + 1]) FUZZ_EXPECT(scales[i] == 0);
  }
}

static void call_softmax(const struct matrix *m, const struct shunt_packed_integers *p)
{
  static const int widths[] = {16, 8, 4};
  struct shunt_packed_integers_info info;
  shunt_packed_integers_describe(p, &info);
  float *scores = make_scores(info.places);
  const size_t bytes = info.places * 2, scale_bytes = (size_t)m->a.rows * sizeof(float);
  uint8_t *weights = room_for(bytes), *before = room_for(bytes + scale_bytes);
  float *scales = room_for(scale_bytes);
  const int wrong = below(3) == 1 ? 1 + below(5) : 0;
  const shunt_status s =
      shunt_integer_softmax(p, 0.5f, wrong == 1 ? NULL : scores + (wrong == 2),
                            wrong == 3 ? take() * 2 + 1 : widths[below(3)], weights + (wrong == 4),
                            wrong == 5 ? NULL : scales, NULL);
  FUZZ_EXPECT((s == SHUNT_OK) == (!wrong && m->bits != 4));
  if (s == SHUNT_OK)
    expect_weights(m, info.places, weights, scales);
  else
    FUZZ_EXPECT(memcmp(weights, before, bytes) == 0 && memcmp(scales, before, scale_bytes) == 0);
  free(scores), free(weights), free(before), free(scales);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const int heights[] = {0, 2, 4, 8};
  next = data, left = size;
  struct matrix m = {0};
  struct shunt_packed_integers *p = NULL;
  make_matrix(&m);
  const bool width = m.bits == 16 || m.bits == 12 || m.bits == 8 || m.bits == 4;
  const int height = below(16) ? heights[below(4)] : take();
  const bool tall = height == 0 || height == 2 || height == 4 || height == 8;
  const shunt_status s = shunt_pack_integers(&m.a, SHUNT_HOST, m.bits, height, NULL, &p);
  FUZZ_EXPECT((s == SHUNT_OK) == (p != NULL));
  if (is_matrix(&m)) FUZZ_EXPECT((s == SHUNT_OK) == (width && tall));
  if (p && is_matrix(&m)) {
    call_spmm(&m, p);
    call_sddmm(&m, p);
    call_softmax(&m, p);
  }
  shunt_packed_integers_free(p);
  free_matrix(&m);
  return 0;
}
