/* test_sparse24.c: CSR to the `sparse24` format and back on the host: by hand, the round trip on
   random matrices, what is irregular and what is refused; and the product over it, by the twin that
   decodes as the instruction does, against the product over CSR.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv/sparse24/sparse24_conv.h"
#include "kernels/common/host_half.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 2424
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/random_csr.h"

/* At most two entries in each four columns, no value +0, rarely a -0; whole numbers up to 4. */
static struct owned random_24_of(shunt_type type, int64_t rows, int64_t cols, double density,
                                 shunt_type index, int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, type, base);
  int64_t p = 0;

  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p + base);
    for (int64_t j = 0, in_quad = 0; j < cols; j++) {
      if (j % 4 == 0) in_quad = 0;
      if (in_quad == 2 || !chance(density)) continue;
      in_quad++;
      put(o.columns, index, p, j + base);
      float value = (float)(1 + random_next() % 4);
      if (type == SHUNT_I8)
        ((int8_t *)o.a.values)[p++] = (int8_t)(random_next() % 2 ? value : -value);
      else
        ((uint16_t *)o.a.values)[p++] =
            random_next() % 9 ? shunt_float_to_half(random_next() % 2 ? value : -value) : 0x8000;
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  return o;
}

static struct owned random_24(int64_t rows, int64_t cols, double density, shunt_type index,
                              int base)
{
  return random_24_of(SHUNT_F16, rows, cols, density, index, base);
}

struct packed {
  struct shunt_sparse24 v;
  unsigned char *memory;
  uint32_t irregular;
  int good; /* packed, within its memory */
};

static struct packed pack(const struct owned *o)
{
  struct packed k;
  size_t bytes = shunt_sparse24_bytes(&o->a);

  k.memory = malloc(bytes + 64);
  k.irregular = 0;
  memset(k.memory, 0xee, bytes + 64);
  k.good = shunt_sparse24_lay_out(&o->a, k.memory, &k.v) &&
           shunt_csr_to_sparse24_host(&o->a, &k.v, &k.irregular) == SHUNT_OK;
  for (int i = 0; i < 64; i++) k.good &= k.memory[bytes + (size_t)i] == 0xee;
  return k;
}

/* ---- the format --------------------------------------------------------------------------- */

static int round_trip(const struct owned *o, const struct packed *k)
{
  shunt_type index = o->a.index_type;
  size_t size = shunt_type_size(index);
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, index, o->a.value_type, o->a.base);
  int same =
      shunt_sparse24_to_csr_host(&k->v, &back.a) == SHUNT_OK && back.a.nnz == o->a.nnz &&
      back.a.rows == o->a.rows && back.a.cols == o->a.cols &&
      back.a.value_type == o->a.value_type &&
      !memcmp(back.offsets, o->offsets, (size_t)(o->a.rows + 1) * size) &&
      !memcmp(back.columns, o->columns, (size_t)o->a.nnz * size) &&
      !memcmp(back.a.values, o->a.values, (size_t)o->a.nnz * shunt_type_size(o->a.value_type));

  owned_free(&back);
  return same;
}

static int64_t p_at(const struct owned *o, int64_t p)
{
  return o->a.index_type == SHUNT_I64 ? ((const int64_t *)o->columns)[p]
                                      : ((const int32_t *)o->columns)[p];
}

static void test_round_trip(void)
{
  static const int64_t rows[] = {1, 64, 127, 300}, cols[] = {1, 63, 64, 201};
  static const double densities[] = {0, 0.05, 0.5, 1};

  for (int d = 0; d < 4; d++) {
    int good = 1;
    for (int n = 0; n < 32; n++) {
      struct owned o = random_24_of(n / 16 ? SHUNT_I8 : SHUNT_F16, rows[n % 4], cols[n / 4 % 4],
                                    densities[d], n % 2 ? SHUNT_I64 : SHUNT_I32, n / 2 % 2);
      struct packed k = pack(&o);
      good &= k.good && k.irregular == 0 && round_trip(&o, &k);
      free(k.memory);
      owned_free(&o);
    }
    check(good, "csr -> sparse24 -> csr gives the same bytes, density %g", densities[d]);
  }
}

/* Full quads: each piece of the columns has their low two bits, first entry first; the last tile
   ends with zeros. */
static void test_positions(void)
{
  int good = 1;

  for (int wide = 0; wide < 2; wide++) {
    shunt_type index = wide ? SHUNT_I64 : SHUNT_I32;
    struct owned o = owned_new(67, 48, 67 * 24, index, SHUNT_F16, 0);
    int64_t piece = wide ? 2 : 4;
    for (int64_t p = 0; p < 67 * 24; p++) {
      put(o.columns, index, p, p % 24 / 2 * 4 + (p % 2 ? 2 + (p / 2) % 2 : (p / 3) % 2));
      ((uint16_t *)o.a.values)[p] = 0x3c00;
    }
    for (int64_t i = 0; i <= 67; i++) put(o.offsets, index, i, i * 24);
    o.a.nnz = 67 * 24;
    struct packed k = pack(&o);
    good &= k.good && !k.irregular && k.v.positions && round_trip(&o, &k);
    int64_t bytes = shunt_sparse24_position_bytes(shunt_sparse24_pieces(&o.a));
    for (int64_t i = 0; good && i < bytes; i++) {
      unsigned want = 0;
      for (int64_t e = 0; e < piece && i * piece + e < o.a.nnz; e++)
        want |= (unsigned)((p_at(&o, i * piece + e) & 3) << (2 * e));
      good &= ((unsigned char *)k.v.positions)[shunt_sparse24_position(i)] == want;
    }
    free(k.memory);
    owned_free(&o);
  }
  check(good, "positions of full quads stand in the order of the columns");
}

/* Row 41 = 16 x 2 + 8 + 1, columns 32 + 4 x 5 + {1, 3} of chunk 1: product 1, quad 5 of it. */
static void test_by_hand(void)
{
  struct owned o = owned_new(64, 128, 2, SHUNT_I32, SHUNT_F16, 0);
  struct packed k;
  const unsigned char *tile;
  uint16_t value[2];
  uint32_t word;

  for (int r = 0; r <= 64; r++) put(o.offsets, SHUNT_I32, r, r > 41 ? 2 : 0);
  put(o.columns, SHUNT_I32, 0, 64 + 32 + 21);
  put(o.columns, SHUNT_I32, 1, 64 + 32 + 23);
  ((uint16_t *)o.a.values)[0] = 0x1111;
  ((uint16_t *)o.a.values)[1] = 0x2222;
  o.a.nnz = 2;
  k = pack(&o);
  tile = k.memory + 4608;
  memcpy(value, tile + 2048 + 1024 + 41 / 8 * 128 + 41 % 8 * 16 + 4, 4);
  memcpy(&word, tile + 4096 + 4 * (2 * 32 + 1 * 4 + 3), 4);
  check(k.good && k.v.bands == 2 && k.v.chunks == 2 && value[0] == 0x1111 && value[1] == 0x2222,
        "the values of row 41, quad 5 of the second 32 columns");
  check(word == 0x44d44444, "its positions 1 and 3 in the word of lane 7 of warp 2 (%08x)", word);
  free(k.memory);
  owned_free(&o);
}

/* int8, row 41 again: columns 64 + 4 x 13 + {0, 2} of chunk 1, so quad 5 of the second 32 columns
   of its second product.  */
static void test_by_hand_i8(void)
{
  struct owned o = owned_new(64, 256, 2, SHUNT_I32, SHUNT_I8, 0);
  struct packed k;
  const unsigned char *tile;
  uint32_t word;

  for (int r = 0; r <= 64; r++) put(o.offsets, SHUNT_I32, r, r > 41 ? 2 : 0);
  put(o.columns, SHUNT_I32, 0, 128 + 64 + 52);
  put(o.columns, SHUNT_I32, 1, 128 + 64 + 54);
  ((int8_t *)o.a.values)[0] = 17;
  ((int8_t *)o.a.values)[1] = -18;
  o.a.nnz = 2;
  k = pack(&o);
  tile = k.memory + 5120;
  const int8_t *value = (const int8_t *)tile + 2048 + 1024 + 41 / 8 * 128 + 41 % 8 * 16 + 10;
  memcpy(&word, tile + 4096 + 8 * (2 * 32 + 1 * 4 + 2 + 1) + 4, 4);
  check(k.good && k.v.bands == 2 && k.v.chunks == 2 && value[0] == 17 && value[1] == -18,
        "int8: the values of row 41, quad 13 of the second 64 columns");
  check(word == 0x44844444, "its positions 0 and 2 in the second word of lane 7 of warp 2 (%08x)",
        word);
  free(k.memory);
  owned_free(&o);
}

/* ---- what is not 2:4 --------------------------------------------------------------------------
 */

static int is_irregular(int count, const int *columns, int row_end)
{
  struct owned o = owned_new(3, 70, 8, SHUNT_I32, SHUNT_F16, 0);
  struct packed k;
  int irregular;

  for (int i = 0; i < count; i++) put(o.columns, SHUNT_I32, i, columns[i]);
  for (int r = 1; r <= 3; r++) put(o.offsets, SHUNT_I32, r, r == 1 ? row_end : count);
  o.a.nnz = count;
  k = pack(&o);
  irregular = k.good && k.irregular == SHUNT_IRREGULAR;
  free(k.memory);
  owned_free(&o);
  return irregular;
}

static void test_irregular(void)
{
  check(!is_irregular(4, (int[]){3, 4, 8, 69}, 4), "ascending columns are regular");
  check(is_irregular(3, (int[]){4, 6, 7}, 3), "three entries of four columns are not");
  check(!is_irregular(3, (int[]){4, 6, 7}, 2), "of two rows they are");
  check(is_irregular(2, (int[]){5, 5}, 2), "a column twice");
  check(is_irregular(2, (int[]){6, 5}, 2), "columns that descend in a quad");
  check(is_irregular(2, (int[]){66, 5}, 2), "columns that descend");
  check(is_irregular(2, (int[]){3, 70}, 2), "a column beyond the last, in the same chunk");
  check(is_irregular(2, (int[]){3, 200}, 2), "far beyond it");
  check(is_irregular(2, (int[]){-1, 5}, 2), "before the first");
  check(is_irregular(2, (int[]){3, 5}, 3), "an offset out of range");
  check(is_irregular(2, (int[]){3, 5}, -1), "and below it");
}

static void test_refused(void)
{
  struct owned o = random_24(10, 10, 0.5, SHUNT_I32, 0);
  struct packed k = pack(&o);
  struct shunt_csr a = o.a;
  struct shunt_sparse24 v;
  uint32_t irregular = 0;

  a.rows = 11;
  check(shunt_csr_to_sparse24_host(&a, &k.v, &irregular) == SHUNT_E_ARGUMENT, "another size");
  a.rows = 0;
  check(shunt_sparse24_bytes(&a) == 0 && !shunt_sparse24_lay_out(&a, k.memory, &v), "no rows");
  a = o.a;
  a.value_type = SHUNT_F32;
  check(shunt_sparse24_bytes(&a) == 0 &&
            shunt_csr_to_sparse24_host(&a, &k.v, &irregular) == SHUNT_E_UNSUPPORTED,
        "f32");
  free(k.memory);
  owned_free(&o);
}

/* ---- the product ------------------------------------------------------------------------------
 */

static struct shunt_dense dense(int64_t rows, int64_t cols, int by_row, void *values, shunt_type t)
{
  return (struct shunt_dense){rows, cols, by_row ? cols : 1, by_row ? 1 : rows, values, t};
}

/* Whole numbers: all sums are exact.  bad: stands in one place of B. */
static int product_agrees(int64_t m, int64_t k, int64_t n, double density, uint16_t bad)
{
  struct owned o = random_24(m, k, density, SHUNT_I32, 0);
  struct packed packed = pack(&o);
  uint16_t *b = malloc((size_t)(k * n) * 2);
  float *c[2] = {malloc((size_t)(m * n) * 4), malloc((size_t)(m * n) * 4)};
  struct shunt_spmm p = {
      .a = o.a, .alpha = {.host = -2}, .beta = {.host = 3}, .compute = SHUNT_F32};
  int good = packed.good && packed.irregular == 0;

  for (int64_t i = 0; i < k * n; i++)
    b[i] = shunt_float_to_half((float)(int)(random_next() % 9) - 4);
  if (bad) b[k * n / 2] = bad;
  for (int64_t i = 0; i < m * n; i++) c[0][i] = c[1][i] = (float)(random_next() % 5);
  p.b = dense(k, n, n % 2 == 0, b, SHUNT_F16);
  p.c = dense(m, n, m % 2 == 0, c[0], SHUNT_F32);
  good = good && shunt_csr_spmm_host(&p) == SHUNT_OK;
  p.c.values = c[1];
  good = good && shunt_sparse24_spmm_host(&p, &packed.v) == SHUNT_OK;
  for (int64_t i = 0; i < m * n; i++) good &= isnan(c[0][i]) ? isnan(c[1][i]) : c[0][i] == c[1][i];
  free(c[0]);
  free(c[1]);
  free(b);
  free(packed.memory);
  owned_free(&o);
  return good;
}

static void test_product(void)
{
  static const int64_t sizes[][3] = {{1, 1, 1}, {64, 64, 8}, {70, 130, 9}, {129, 63, 4}};

  for (int i = 0; i < 4; i++) {
    const int64_t *s = sizes[i];
    check(product_agrees(s[0], s[1], s[2], 1, 0) && product_agrees(s[0], s[1], s[2], 0.2, 0),
          "product of %d x %d by %d columns", (int)s[0], (int)s[1], (int)s[2]);
    check(product_agrees(s[0], s[1], s[2], 0.1, 0x7e00) &&
              product_agrees(s[0], s[1], s[2], 0.1, 0xfc00),
          "NaN and Inf of B reach the sums of entries only");
  }
}

int main(void)
{
  test_round_trip();
  test_positions();
  test_by_hand();
  test_by_hand_i8();
  test_irregular();
  test_refused();
  test_product();
  return check_finish();
}
