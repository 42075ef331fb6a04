/* test_srbcrs.c: CSR to the `srbcrs` format and back, on the host: by hand on a tiny matrix, by the
   format's own rules and the round trip on random ones, and what is refused; and the twin of the
   product against plain sums of 64 bits.  */
#include <stdlib.h>
#include <string.h>

#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/srbcrs/srbcrs_kernels.h"

#define RANDOM_SEED 25
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

enum { GUARD_BYTES = 64 };

/* Aligned sets of `share` rows have one list of columns.  Stored zeros, and the extremes. */
static struct owned random_matrix(int64_t rows, int64_t cols, double density, int share,
                                  shunt_type index, int base)
{
  static const int8_t extremes[] = {-128, 127, 0, -1};
  struct owned o = owned_new(rows, cols, rows * cols, index, SHUNT_I8, base);
  unsigned char *list = calloc((size_t)cols, 1);
  int64_t p = 0;

  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p + base);
    for (int64_t j = 0; j < cols; j++) {
      if (i % share == 0) list[j] = (unsigned char)chance(density);
      if (!list[j]) continue;
      put(o.columns, index, p, j + base);
      ((int8_t *)o.a.values)[p++] =
          random_next() % 5 ? (int8_t)random_next() : extremes[random_next() % 4];
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  free(list);
  return o;
}

/* The same pattern with other values, of 16 or 4 bits. */
static struct owned of_bits(const struct owned *o, int bits)
{
  const int half = 1 << (bits - 1), extremes[] = {-half, half - 1, 0, -1};
  const shunt_type index = o->a.index_type, type = bits > 8 ? SHUNT_I16 : SHUNT_I8;
  const size_t size = shunt_type_size(index);
  struct owned w = owned_new(o->a.rows, o->a.cols, o->a.nnz, index, type, o->a.base);
  w.a.nnz = o->a.nnz;
  memcpy(w.offsets, o->offsets, (size_t)(o->a.rows + 1) * size);
  memcpy(w.columns, o->columns, (size_t)o->a.nnz * size);
  for (int64_t p = 0; p < o->a.nnz; p++) {
    const int any = (int)(random_next() % (1u << bits)) - half;
    const int x = random_next() % 5 ? any : extremes[random_next() % 4];
    if (bits > 8)
      ((int16_t *)w.a.values)[p] = (int16_t)x;
    else
      ((int8_t *)w.a.values)[p] = (int8_t)x;
  }
  return w;
}

/* ---- a packed matrix ----------------------------------------------------------------------- */

struct packed {
  struct shunt_srbcrs v;
  unsigned char *memory;
  size_t bytes;
  int overrun; /* refused, or wrote beyond its memory */
};

static struct packed pack_as(const struct owned *o, struct shunt_srbcrs_layout layout)
{
  struct packed k = {.bytes = shunt_srbcrs_bytes(&o->a, &layout)};
  k.memory = malloc(k.bytes + GUARD_BYTES);
  memset(k.memory, 0xee, k.bytes + GUARD_BYTES);
  k.overrun = !shunt_srbcrs_lay_out(&o->a, &layout, k.memory, &k.v) ||
              shunt_csr_to_srbcrs_host(&o->a, &layout, &k.v) != SHUNT_OK;
  for (int i = 0; i < GUARD_BYTES; i++) k.overrun |= k.memory[k.bytes + (size_t)i] != 0xee;
  return k;
}

static struct packed pack_bits(const struct owned *o, int height, int share, int bits)
{
  return pack_as(o, (struct shunt_srbcrs_layout){height, share, bits, 0});
}

static struct packed pack(const struct owned *o, int height, int share)
{
  return pack_bits(o, height, share, 8);
}

static int round_trip(const struct owned *o, const struct packed *k)
{
  const shunt_type index = o->a.index_type;
  const size_t size = shunt_type_size(index);
  const shunt_type type = o->a.value_type;
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, index, type, o->a.base);
  const int same = shunt_srbcrs_to_csr_host(&k->v, &back.a) == SHUNT_OK && back.a.nnz == o->a.nnz &&
                   back.a.rows == o->a.rows && back.a.cols == o->a.cols &&
                   !memcmp(back.offsets, o->offsets, (size_t)(o->a.rows + 1) * size) &&
                   !memcmp(back.columns, o->columns, (size_t)o->a.nnz * size) &&
                   !memcmp(back.a.values, o->a.values, (size_t)o->a.nnz * shunt_type_size(type));
  owned_free(&back);
  return same;
}

/* Slots from..to of group g: ascending columns with entries, then zeros in a column of A. */
static int slots_right(const struct shunt_srbcrs *v, int64_t g)
{
  const int64_t begin = v->begin[g], end = v->end[g];
  const int64_t padded =
      (end + SHUNT_SRBCRS_STRIDE - 1) / SHUNT_SRBCRS_STRIDE * SHUNT_SRBCRS_STRIDE;
  int good = begin % SHUNT_SRBCRS_STRIDE == 0 && end >= begin;
  for (int64_t s = begin; s < padded; s++) {
    good &= s < end ? v->masks[s] != 0 && v->masks[s] >> v->height == 0 : v->masks[s] == 0;
    good &= s >= end || s == begin || v->columns[s] > v->columns[s - 1];
    good &= s < end || v->columns[s] == v->columns[end - 1];
    good &= v->columns[s] < v->cols;
    for (int r = 0; r < v->height; r++)
      good &= v->masks[s] >> r & 1 || shunt_srbcrs_value(v, r, s) == 0;
  }
  return good;
}

static int rules_hold(const struct shunt_srbcrs *v)
{
  uint64_t vectors = 0, strides = 0, longest = 0;
  int good = 1;
  for (int64_t g = 0; g < v->groups; g++) {
    const uint64_t own = v->end[g] - v->begin[g];
    const uint64_t of_own = (own + SHUNT_SRBCRS_STRIDE - 1) / SHUNT_SRBCRS_STRIDE;
    good &= slots_right(v, g);
    good &= g == 0 || v->begin[g] >= v->end[g - 1];
    vectors += own;
    strides += of_own;
    longest = of_own > longest ? of_own : longest;
  }
  return good && v->counts->vectors == vectors && v->counts->strides == strides &&
         v->counts->longest == longest;
}

/* ---- the format ---------------------------------------------------------------------------- */

/*          column 3   9  17  40         as kernels/srbcrs/srbcrs_format.h draws it; row 4 ragged
     row 0         1   4   .  10
     row 1         2   5   8  11
     row 2         .   6   9  12
     row 3         3   7 -10 -13
     row 4         .   .   0   .    */
static void test_by_hand(void)
{
  static const int offsets[] = {0, 3, 7, 10, 14, 15};
  static const int columns[] = {3, 9, 40, 3, 9, 17, 40, 9, 17, 40, 3, 9, 17, 40, 17};
  static const int8_t values[] = {1, 4, 10, 2, 5, 8, 11, 6, 9, 12, 3, 7, -10, -13, 0};
  static const int8_t row[4][4] = {{1, 4, 0, 10}, {2, 5, 8, 11}, {0, 6, 9, 12}, {3, 7, -10, -13}};
  static const uint32_t at[] = {3, 9, 17, 40};
  static const uint8_t masks[] = {11, 15, 14, 15};
  struct owned o = owned_new(5, 41, 15, SHUNT_I32, SHUNT_I8, 0);
  for (int i = 0; i < 6; i++) put(o.offsets, SHUNT_I32, i, offsets[i]);
  for (int i = 0; i < 15; i++) put(o.columns, SHUNT_I32, i, columns[i]);
  memcpy(o.a.values, values, 15);
  o.a.nnz = 15;
  struct packed k = pack(&o, 4, 1);
  const struct shunt_srbcrs *v = &k.v;
  int good = !k.overrun && v->groups == 2 && v->begin[0] == 0 && v->end[0] == 4;
  good &=
      v->end[1] == v->begin[1] + 1 && v->columns[v->begin[1]] == 17 && v->masks[v->begin[1]] == 1;
  for (int s = 0; s < 4; s++) good &= v->columns[s] == at[s] && v->masks[s] == masks[s];
  for (int r = 0; r < 4; r++) good &= !memcmp(v->values + r * SHUNT_SRBCRS_STRIDE, row[r], 4);
  check(good, "4 x 1 vectors of a tiny matrix stand as the header draws them");
  check(rules_hold(v) && round_trip(&o, &k), "and come back, the stored zero, too");
  free(k.memory);
  owned_free(&o);
}

static void test_random(void)
{
  static const int64_t rows[] = {1, 8, 35, 403}, cols[] = {1, 31, 32, 100, 777};
  static const double densities[] = {0, 0.02, 0.3, 1};
  static const int heights[] = {2, 4, 8};

  for (int h = 0; h < 3; h++) {
    const int height = heights[h];
    int trips = 1, rules = 1, bounds = 1;
    for (int n = 0; n < 4 * 5 * 4 * 2; n++) {
      const int share = n / 80 ? height : 1;
      struct owned o = random_matrix(rows[n % 4], cols[n / 4 % 5], densities[n / 20 % 4], share,
                                     n % 3 ? SHUNT_I32 : SHUNT_I64, n % 2);
      struct packed k = pack(&o, height, share);
      bounds &= !k.overrun && k.v.counts->irregular == 0;
      rules &= rules_hold(&k.v);
      trips &= round_trip(&o, &k);
      free(k.memory);
      owned_free(&o);
    }
    check(bounds, "V = %d: random matrices fit into the memory asked for", height);
    check(rules, "V = %d: columns ascend, what fills up is zero, two pointers a group", height);
    check(trips, "V = %d: csr -> srbcrs -> csr gives the same bytes", height);
  }
}

static void test_widths(void)
{
  static const int widths[] = {16, 12, 4};
  for (int w = 0; w < 3; w++)
    for (int height = 2; height <= 8; height *= 2) {
      int trips = 1, rules = 1, bounds = 1;
      for (int n = 0; n < 24; n++) {
        struct owned o = random_matrix(n % 2 ? 35 : 8, n % 3 ? 100 : 31, n % 5 ? 0.3 : 1,
                                       n % 4 ? height : 1, n % 3 ? SHUNT_I32 : SHUNT_I64, n % 2);
        struct owned wide = of_bits(&o, widths[w]);
        struct packed k = pack_bits(&wide, height, n % 4 ? height : 1, widths[w]);
        bounds &= !k.overrun && k.v.counts->irregular == 0;
        rules &= rules_hold(&k.v);
        trips &= round_trip(&wide, &k);
        free(k.memory);
        owned_free(&wide);
        owned_free(&o);
      }
      check(bounds && rules && trips, "V = %d, values of %d bits: csr -> srbcrs -> csr", height,
            widths[w]);
    }
}

/* Cycles that eight rows of B take that a spread stride reads together, over what they take at
   least. */
static double conflicts(const struct shunt_srbcrs *v)
{
  int64_t cycles = 0, reads = 0;
  for (int64_t g = 0; g < v->groups; g++)
    for (int64_t s = v->begin[g]; s < v->end[g]; s += SHUNT_SRBCRS_STRIDE)
      for (int set = 0; set < 4; set++, reads++) {
        int count[8] = {0}, most = 0;
        for (int i = 0; i < 8; i++) {
          const int64_t slot = s + SHUNT_SRBCRS_SPREAD_SLOT(set, i);
          const int same = v->masks[slot] != 0 ? ++count[v->columns[slot] % 8] : 0;
          if (same > most) most = same;
        }
        cycles += most;
      }
  return reads ? (double)cycles / (double)reads : 0;
}

static void test_spread(void)
{
  static const int64_t cols[] = {1, 33, 777, 3000};
  static const double densities[] = {0, 0.01, 0.1, 0.5};
  int trips = 1, bounds = 1;
  for (int n = 0; n < 3 * 4 * 4 * 2; n++) {
    const int height = 2 << n % 3, share = n / 48 ? height : 1;
    struct owned o =
        random_matrix(35, cols[n / 3 % 4], densities[n / 12 % 4], share, SHUNT_I32, n % 2);
    struct packed k = pack_as(&o, (struct shunt_srbcrs_layout){height, share, 8, 1});
    bounds &= !k.overrun && k.v.counts->irregular == 0;
    trips &= round_trip(&o, &k);
    free(k.memory);
    owned_free(&o);
  }
  check(bounds && trips, "spread vectors come back as the same CSR");

  struct owned o = random_matrix(64, 4000, 0.1, 8, SHUNT_I32, 0);
  struct packed plain = pack(&o, 8, 8);
  struct packed spread = pack_as(&o, (struct shunt_srbcrs_layout){8, 8, 8, 1});
  check(conflicts(&plain.v) > 2 && conflicts(&spread.v) < 1.5,
        "eight rows read together share banks less: %.2f cycles instead of %.2f",
        conflicts(&spread.v), conflicts(&plain.v));
  free(plain.memory), free(spread.memory);
  owned_free(&o);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static int irregular(const struct owned *o, int height, int share)
{
  struct packed k = pack(o, height, share);
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, o->a.index_type, SHUNT_I8, 0);
  int good = !k.overrun && k.v.counts->irregular == SHUNT_IRREGULAR;
  good &= shunt_srbcrs_to_csr_host(&k.v, &back.a) == SHUNT_E_ARGUMENT;
  for (int64_t g = 0; g < k.v.groups; g++) good &= k.v.end[g] >= k.v.begin[g];
  owned_free(&back);
  free(k.memory);
  return good;
}

static void test_irregular(void)
{
  static const struct {
    const char *what;
    int64_t at, value;
    int offset;
  } ways[] = {{"a repeated column", 5, 4, 0},          {"a column out of order", 5, 90, 0},
              {"a column beyond the last", 7, 100, 0}, {"a column before the first", 0, -1, 0},
              {"offsets that descend", 3, 500, 1},     {"an offset out of range", 3, 1 << 30, 1},
              {"an offset below the base", 3, -1, 1}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct owned o = random_matrix(16, 100, 1, 1, SHUNT_I32, 0);
    put(ways[i].offset ? o.offsets : o.columns, SHUNT_I32, ways[i].at, ways[i].value);
    check(irregular(&o, 4, 1), "%s is irregular", ways[i].what);
    owned_free(&o);
  }
  struct owned o = random_matrix(64, 400, 0.3, 1, SHUNT_I32, 0);
  check(irregular(&o, 8, 8), "rows that share less than planned have no room");
  owned_free(&o);
}

static void test_declined(void)
{
  struct owned o = random_matrix(16, 40, 0.3, 1, SHUNT_I32, 0);
  static const struct shunt_srbcrs_layout bad[] = {{3, 1, 8, 0}, {16, 1, 8, 0}, {1, 1, 8, 0},
                                                   {4, 0, 8, 0}, {4, 8, 8, 0},  {4, 1, 16, 0},
                                                   {4, 1, 2, 0}, {4, 1, 4, 1}};
  const struct shunt_srbcrs_layout layout = {4, 1, 8, 0};
  int refused = 1;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refused &= shunt_srbcrs_bytes(&o.a, &bad[i]) == 0;
  check(refused, "heights other than 2, 4, 8, and shares beyond them");
  struct shunt_csr a = o.a;
  a.value_type = SHUNT_F16;
  refused = shunt_srbcrs_bytes(&a, &layout) == 0;
  a = o.a, a.index_type = SHUNT_F32;
  refused &= shunt_srbcrs_bytes(&a, &layout) == 0;
  a = o.a, a.nnz = (int64_t)1 << 33;
  refused &= shunt_srbcrs_bytes(&a, &layout) == 0;
  check(refused, "other types, and more than 2^31 slots");
  owned_free(&o);
}

/* ---- the product ---------------------------------------------------------------------------- */

/* Element (i, j) of A B in 64 bits. */
static int64_t sum_of(const struct owned *o, const int8_t *b, int64_t n, int64_t i, int64_t j)
{
  int64_t sum = 0;
  for (int64_t q = get(o->offsets, SHUNT_I32, i); q < get(o->offsets, SHUNT_I32, i + 1); q++)
    sum += (int64_t)((const int8_t *)o->a.values)[q] * b[get(o->columns, SHUNT_I32, q) * n + j];
  return sum;
}

static int product_right(int height, int share, int filled, shunt_type out, double alpha,
                         double beta)
{
  enum { M = 45, K = 90, N = 7 };
  struct owned o = random_matrix(M, K, 0.4, share, SHUNT_I32, 0);
  struct packed k = pack(&o, height, share);
  int8_t b[K * N];
  union {
    int32_t i;
    float f;
  } c[M * N];
  int good = !k.overrun;
  if (filled) memset(o.a.values, 0x80, (size_t)o.a.nnz);
  if (filled) free(k.memory), k = pack(&o, height, share);
  for (int i = 0; i < K * N; i++) b[i] = filled ? -128 : (int8_t)random_next();
  for (int i = 0; i < M * N; i++)
    if (out == SHUNT_I32)
      c[i].i = i - 99;
    else
      c[i].f = (float)(i - 99);
  const struct shunt_spmm p = {.a = o.a,
                               .b = {K, N, N, 1, b, SHUNT_I8},
                               .c = {M, N, N, 1, c, out},
                               .alpha.host = alpha,
                               .beta.host = beta,
                               .compute = out};
  good &= shunt_srbcrs_spmm_host(&p, &k.v) == SHUNT_OK;
  for (int i = 0; i < M * N; i++) {
    const double want =
        alpha * (double)sum_of(&o, b, N, i / N, i % N) + (beta != 0 ? beta * (i - 99) : 0);
    good &= out == SHUNT_I32 ? c[i].i == (int32_t)(uint32_t)(int64_t)want : c[i].f == (float)want;
  }
  free(k.memory);
  owned_free(&o);
  return good;
}

static void test_twin(void)
{
  int good = 1, wide = 1;
  for (int height = 2; height <= 8; height *= 2)
    for (int n = 0; n < 8; n++) {
      const shunt_type out = n & 1 ? SHUNT_F32 : SHUNT_I32;
      good &= product_right(height, n & 4 ? height : 1, n & 2, out, 1, 0);
      good &= product_right(height, n & 4 ? height : 1, n & 2, out, -3, 2);
    }
  check(good, "the twin's products are sums of 64 bits, random and all least");
  for (int height = 2; height <= 8; height *= 2)
    wide &= product_right(height, 1, 1, SHUNT_I32, 1 << 20, 0);
  check(wide, "alpha times a sum wraps in int32");
}

int main(void)
{
  test_by_hand();
  test_random();
  test_widths();
  test_spread();
  test_irregular();
  test_declined();
  test_twin();
  return check_finish();
}
