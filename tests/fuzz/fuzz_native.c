/* fuzz_native.c: libshunt's API (backend/shunt.h) on the host, called as the bytes say: a matrix
   that is one or not, a packing, dense operands of which one may be described wrongly.

     what is given                            what is expected
     a matrix, the usual packing              a packed copy; its product, where C is f32, to the bit
     anything else                            a status; never a packed copy of what is no matrix
     an operand described wrongly             a status, and results left as they were

   All arrays have the sizes that the calls were told, so that a sanitizer sees what is read beyond
   them.  Values are small whole numbers: every sum is exact.  */
#include "kernels/common/types.h" /* before shunt.h, which then leaves its own out */

#include <stdbool.h>

#include "backend/shunt.h"
#include "kernels/common/host_half.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_bytes.h"

static void *room_for(size_t n)
{
  void *room = calloc(n ? n : 1, 1);
  if (!room) exit(3);
  return room;
}

static int64_t odd_number(void)
{
  static const int64_t odd[] = {-1, 0, 1, 1000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  return odd[below(8)];
}

/* ---- the matrix ------------------------------------------------------------------------------ */

enum { MOST_ROWS = 40, MOST_COLS = 70, MOST_IN_ROW = 24 };

struct matrix {
  struct shunt_csr a;
  int64_t offsets[MOST_ROWS + 1], columns[MOST_ROWS * MOST_IN_ROW];
  int number[MOST_ROWS * MOST_IN_ROW];
};

/* Of the type that the matrix says; `from` is left as that type holds it. */
static void *index_array(shunt_type type, int64_t *from, int64_t n)
{
  if (type != SHUNT_I32) {
    int64_t *to = room_for((size_t)n * sizeof *to);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
  }
  int32_t *to = room_for((size_t)n * sizeof *to);
  for (int64_t i = 0; i < n; i++) from[i] = to[i] = (int32_t)from[i];
  return to;
}

static void store_number(void *to, int64_t i, shunt_type type, int x)
{
  if (type == SHUNT_F16)
    ((uint16_t *)to)[i] = shunt_float_to_half((float)x);
  else if (type == SHUNT_BF16)
    ((uint16_t *)to)[i] = shunt_float_to_bfloat((float)x);
  else
    ((float *)to)[i] = (float)x;
}

static void make_entries(struct matrix *m)
{
  struct shunt_csr *a = &m->a;
  int64_t n = 0;
  m->offsets[0] = a->base;
  for (int64_t i = 0; i < a->rows; i++) {
    const int count = below(MOST_IN_ROW);
    for (int64_t k = 0, j = below(8); k < count && j < a->cols; k++, j += 1 + below(6)) {
      m->columns[n] = j + a->base;
      m->number[n++] = below(5) - 2;
    }
    m->offsets[i + 1] = n + a->base;
  }
  a->nnz = n;
}

/* Some of it put wrong. */
static void damage(struct matrix *m)
{
  for (int changes = below(3); changes; changes--)
    if (below(2) && m->a.nnz)
      m->columns[take() % m->a.nnz] = odd_number();
    else
      m->offsets[take() % (m->a.rows + 1)] = odd_number();
}

static struct matrix make_matrix(void)
{
  struct matrix m = {0};
  struct shunt_csr *a = &m.a;
  a->rows = below(MOST_ROWS + 1);
  a->cols = below(MOST_COLS + 1);
  a->base = below(16) ? below(2) : below(256) - 2;
  a->index_type = below(16) ? (below(2) ? SHUNT_I32 : SHUNT_I64) : (shunt_type)below(9);
  a->value_type = below(16) ? (below(2) ? SHUNT_F16 : SHUNT_BF16) : (shunt_type)below(9);
  make_entries(&m);
  if (below(2)) damage(&m);
  a->row_offsets = index_array(a->index_type, m.offsets, a->rows + 1);
  a->columns = index_array(a->index_type, m.columns, a->nnz);
  if (below(8)) {
    a->values = room_for((size_t)a->nnz * (a->value_type <= SHUNT_BF16 ? 2 : 8));
    for (int64_t p = 0; p < a->nnz && a->value_type <= SHUNT_BF16; p++)
      store_number(a->values, p, a->value_type, m.number[p]);
  } else {
    memset(m.number, 0, sizeof m.number); /* the pattern only */
  }
  return m;
}

static void free_matrix(struct matrix *m)
{
  free((void *)m->a.row_offsets);
  free((void *)m->a.columns);
  free(m->a.values);
}

/* As backend/shunt.h says.  Entries that no row has, before the first
   or behind the last, are the caller's: `whole` matrices have none.  */
static bool is_matrix(const struct matrix *m, bool whole)
{
  const struct shunt_csr *a = &m->a;
  if (a->base != 0 && a->base != 1) return false;
  if (whole && (m->offsets[0] != a->base || m->offsets[a->rows] != a->nnz + a->base)) return false;
  for (int64_t i = 0; i < a->rows; i++) {
    const int64_t from = m->offsets[i], to = m->offsets[i + 1];
    if (from < a->base || from > to || to > a->nnz + a->base) return false;
    for (int64_t p = from - a->base; p < to - a->base; p++) {
      const int64_t j = m->columns[p];
      if (j < a->base || j >= a->cols + a->base) return false;
      if (p > from - a->base && j <= m->columns[p - 1]) return false;
    }
  }
  return true;
}

static bool is_packable(const struct shunt_csr *a)
{
  return (a->value_type == SHUNT_F16 || a->value_type == SHUNT_BF16) &&
         (a->index_type == SHUNT_I32 || a->index_type == SHUNT_I64) && a->rows && a->cols;
}

/* ---- dense operands -------------------------------------------------------------------------- */

struct operand {
  struct shunt_tensor t;
  void *memory;
  size_t bytes;
  int *number; /* [batches][heads][rows][cols] */
};

static struct operand make_operand(int64_t batches, int64_t heads, int64_t rows, int64_t cols,
                                   shunt_type type)
{
  struct operand o = {.t = {NULL, type, batches, heads, rows, cols, 0, 0, 0}};
  struct shunt_tensor *t = &o.t;
  const int64_t size = type == SHUNT_F32 ? 4 : 2;
  t->row_stride = cols + below(4);
  t->head_stride = rows * t->row_stride + below(4);
  t->batch_stride = heads * t->head_stride + below(4);
  const int64_t last = (batches - 1) * t->batch_stride + (heads - 1) * t->head_stride +
                       (rows - 1) * t->row_stride + cols;
  o.bytes = rows && cols ? (size_t)(last * size) : 0;
  o.memory = t->values = room_for(o.bytes);
  o.number = room_for((size_t)(batches * heads * rows * cols) * sizeof *o.number);
  int *number = o.number;
  for (int64_t b = 0; b < batches; b++)
    for (int64_t h = 0; h < heads; h++)
      for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
          store_number(o.memory, b * t->batch_stride + h * t->head_stride + i * t->row_stride + j,
                       type, *number++ = below(5) - 2);
  return o;
}

static void free_operand(struct operand *o)
{
  free(o->memory);
  free(o->number);
}

/* Describes it in a way that no call may accept. */
static void describe_wrongly(struct shunt_tensor *t)
{
  switch (below(8)) {
  case 0: t->values = NULL; break;
  case 1: t->type = SHUNT_I8; break;
  case 2: t->rows++; break;
  case 3: t->cols = -t->cols - 1; break;
  case 4: t->batches += 1 + below(3); break;
  case 5: t->heads = INT64_MAX - below(2); break;
  case 6: t->row_stride = t->cols - 1 - below(3); break;
  default: t->values = (char *)t->values + 1; break;
  }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void *make_workspace(size_t bytes)
{
  return bytes ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
}

/* C = A B of the first problem, to the bit: all sums are small whole numbers. */
static void expect_product(const struct matrix *m, const struct operand *b, const struct operand *c)
{
  for (int64_t i = 0; i < c->t.rows; i++)
    for (int64_t j = 0; j < c->t.cols; j++) {
      int64_t sum = 0;
      for (int64_t p = m->offsets[i] - m->a.base; p < m->offsets[i + 1] - m->a.base; p++)
        sum += m->number[p] * b->number[(m->columns[p] - m->a.base) * b->t.cols + j];
      FUZZ_EXPECT(((float *)c->memory)[i * c->t.row_stride + j] == (float)sum);
    }
}

static void call_spmm(const struct matrix *m, const struct shunt_packed *p)
{
  const int heads = 1 + below(2), width = 1 + below(9);
  const shunt_type type = m->a.value_type, out = below(2) ? SHUNT_F32 : type;
  struct operand b = make_operand(1, heads, m->a.cols, width, type);
  struct operand c = make_operand(1, heads, m->a.rows, width, out);
  const struct shunt_tensor right_b = b.t, right_c = c.t;
  const bool wrong = below(3) == 0;
  void *before = room_for(c.bytes);
  memcpy(before, c.memory, c.bytes);
  if (wrong) describe_wrongly(below(2) ? &b.t : &c.t);
  const size_t bytes = shunt_spmm_workspace(p, &b.t, &c.t);
  void *workspace = make_workspace(bytes);
  const shunt_status s = shunt_spmm(p, NULL, 1, &b.t, 0, &c.t, workspace, bytes, NULL);
  /* Without values of their own there is one problem only. */
  FUZZ_EXPECT((s == SHUNT_OK) == (!wrong && heads == 1));
  if (s != SHUNT_OK) FUZZ_EXPECT(memcmp(before, c.memory, c.bytes) == 0);
  b.t = right_b, c.t = right_c;
  if (s == SHUNT_OK && out == SHUNT_F32) expect_product(m, &b, &c);
  free(workspace);
  free(before);
  free_operand(&b);
  free_operand(&c);
}

static void call_attention(const struct matrix *m, const struct shunt_packed *p)
{
  const int batches = 1 + below(2), heads = 1 + below(2), d = 1 + below(20);
  const shunt_type type = m->a.value_type;
  struct operand o[4] = {make_operand(batches, heads, m->a.rows, d, type),
                         make_operand(batches, heads, m->a.cols, d, type),
                         make_operand(batches, heads, m->a.cols, d, type),
                         make_operand(batches, heads, m->a.rows, d, type)};
  const bool wrong = below(3) == 0;
  void *before = room_for(o[3].bytes);
  memcpy(before, o[3].memory, o[3].bytes);
  if (wrong) describe_wrongly(&o[below(4)].t);
  const size_t bytes = shunt_attention_workspace(p, &o[0].t, &o[1].t, &o[2].t, &o[3].t);
  void *workspace = make_workspace(bytes);
  const shunt_status s =
      shunt_attention(p, 0.5f, &o[0].t, &o[1].t, &o[2].t, &o[3].t, workspace, bytes, NULL);
  FUZZ_EXPECT((s == SHUNT_OK) == !wrong);
  if (s != SHUNT_OK) FUZZ_EXPECT(memcmp(before, o[3].memory, o[3].bytes) == 0);
  free(workspace);
  free(before);
  for (int i = 0; i < 4; i++) free_operand(&o[i]);
}

/* ---- one case -------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  next = data, left = size;
  struct matrix m = make_matrix();
  struct shunt_packing how = {.height = below(4) ? 0 : below(256) - 2, .windowed = below(4) == 0};
  const bool usual = how.height == 0 && !how.windowed;
  struct shunt_packed *p = NULL;
  struct shunt_packed_info info;
  if (below(4) == 0) {
    how.memory_bytes = shunt_packed_bytes(&m.a, &how);
    how.memory = make_workspace(how.memory_bytes);
    if (how.memory && below(4) == 0) how.memory_bytes--;
  }
  const bool short_of_memory = how.memory && how.memory_bytes % 2;
  const enum shunt_place where = below(16) ? SHUNT_HOST : (enum shunt_place)(1 + below(3));
  const shunt_status s = shunt_pack(&m.a, where, below(4) ? &how : NULL, NULL, &p);
  FUZZ_EXPECT((s == SHUNT_OK) == (p != NULL));
  FUZZ_EXPECT(!p || (is_matrix(&m, false) && is_packable(&m.a) && where == SHUNT_HOST));
  if (is_matrix(&m, true) && is_packable(&m.a) && where == SHUNT_HOST && usual && !short_of_memory)
    FUZZ_EXPECT(p);
  if (p) {
    shunt_packed_describe(p, &info);
    FUZZ_EXPECT(info.rows == m.a.rows && info.cols == m.a.cols && info.nnz == m.a.nnz);
    FUZZ_EXPECT(info.vectors >= 0 && info.fill >= 0);
    call_spmm(&m, p);
    call_attention(&m, p);
  }
  shunt_packed_free(p);
  free(how.memory);
  free_matrix(&m);
  return 0;
}
