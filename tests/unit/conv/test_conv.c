/* test_conv.c: the host half of conv/ and of the fingerprint: by hand on tiny matrices, by other
   means on random ones, and against the figures of the real matrices in $SHUNT_DATA (its INDEX.md),
   where it is set.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv/coo/coo_conv.h"
#include "conv/dcsr/dcsr_traversal.h"
#include "conv/dense/dense_conv.h"
#include "conv/profile/profile.h"
#include "conv/read/read.h"
#include "conv/tile/tile_conv.h"
#include "kernels/guard/guard.h"
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

/* A dense 0/1 picture, row by row, as CSR. */
static struct owned from_picture(const char *picture, int64_t rows, int64_t cols, shunt_type index,
                                 int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, SHUNT_F32, base);
  int64_t p = 0;

  put(o.offsets, index, 0, base);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++)
      if (picture[i * cols + j] == '1') {
        put(o.columns, index, p, j + base);
        ((float *)o.a.values)[p++] = (float)(j + 1);
      }
    put(o.offsets, index, i + 1, p + base);
  }
  o.a.nnz = p;
  return o;
}

/* ---- csr <-> dense -------------------------------------------------------------- */

static int round_trip(shunt_type value, shunt_type index, int base, int64_t rows, int64_t cols,
                      int64_t stride)
{
  size_t size = shunt_type_size(value), bytes = (size_t)(rows * stride) * size;
  unsigned char *from = calloc(bytes + 1, 1), *to = malloc(bytes + 1);
  struct shunt_dense d = {rows, cols, stride, 1, from, value};
  struct owned o = owned_new(rows, cols, rows * cols, index, value, base);
  uint32_t irregular = 0;
  int good;

  memset(to, 0xee, bytes + 1);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      if (random_below(3) == 0)
        from[(size_t)(i * stride + j) * size] = (unsigned char)(1 + random_below(100));
  good = shunt_dense_to_csr_host(&d, &o.a) == SHUNT_OK;
  d.values = to;
  good = good && shunt_csr_to_dense_host(&o.a, &d, &irregular) == SHUNT_OK;
  good = good && irregular == 0 && memcmp(from, to, bytes) == 0 && to[bytes] == 0xee;
  free(from);
  free(to);
  owned_free(&o);
  return good;
}

static void test_dense(void)
{
  int good = 1;

  for (int value = 0; value < SHUNT_TYPE_COUNT; value++)
    for (int base = 0; base < 2; base++)
      for (int64_t rows = 0; rows < 12; rows += 5)
        for (int64_t cols = 1; cols < 20; cols += 6) {
          good &= round_trip((shunt_type)value, SHUNT_I32, base, rows, cols, cols);
          good &= round_trip((shunt_type)value, SHUNT_I64, base, rows, cols, cols + 3);
        }
  check(good, "dense -> csr -> dense gives the same bytes, all types, bases and strides");
}

static uint32_t scatter_flags(struct owned *o)
{
  unsigned char *to = malloc((size_t)(o->a.rows * o->a.cols) * 4 + 8);
  struct shunt_dense d = {o->a.rows, o->a.cols, o->a.cols, 1, to, SHUNT_F32};
  uint32_t irregular = 0;

  memset(to + o->a.rows * o->a.cols * 4, 0xee, 8);
  shunt_csr_to_dense_host(&o->a, &d, &irregular);
  for (int i = 0; i < 8; i++)
    if (to[o->a.rows * o->a.cols * 4 + i] != 0xee) irregular = 99;
  free(to);
  return irregular;
}

static void test_irregular(void)
{
  struct owned o = from_picture("1101"
                                "0000"
                                "0111",
                                3, 4, SHUNT_I64, 1);
  int64_t *c = o.columns, *f = o.offsets;

  check(scatter_flags(&o) == 0, "a regular matrix is not called irregular");
  c[0] = 2, c[1] = 1;
  check(scatter_flags(&o) == 0, "unsorted columns are not irregular");
  c[0] = 1, c[1] = 4, c[2] = 1;
  check(scatter_flags(&o) == SHUNT_IRREGULAR, "a repeated column is found");
  c[0] = 0;
  check(scatter_flags(&o) == SHUNT_IRREGULAR, "a column below the base is found");
  c[0] = 5;
  check(scatter_flags(&o) == SHUNT_IRREGULAR, "a column past the end is found");
  c[0] = 2, c[2] = 1, f[1] = 9;
  check(scatter_flags(&o) == SHUNT_IRREGULAR, "an offset past the end is found");
  f[1] = INT64_MIN;
  check(scatter_flags(&o) == SHUNT_IRREGULAR, "an absurd offset is found");
  owned_free(&o);
}

/* ---- coo -> csr ------------------------------------------------------------------ */

static void test_coo(void)
{
  int32_t rows32[] = {1, 1, 1, 3, 3, 6}, offsets32[8];
  int64_t rows64[] = {0, 0, 0, 2, 2, 5}, offsets64[8];
  static const int64_t want[7] = {0, 3, 3, 5, 5, 5, 6};
  uint32_t irregular = 0;
  int good = 1;

  shunt_coo_to_csr_host(6, 6, rows32, SHUNT_I32, 1, offsets32, &irregular);
  shunt_coo_to_csr_host(6, 6, rows64, SHUNT_I64, 0, offsets64, &irregular);
  for (int i = 0; i < 7; i++) good &= offsets32[i] == want[i] + 1 && offsets64[i] == want[i];
  check(good && irregular == 0, "coo -> csr, with empty rows, both bases and index types");
  shunt_coo_to_csr_host(3, 0, rows64, SHUNT_I64, 0, offsets64, &irregular);
  check(offsets64[0] == 0 && offsets64[3] == 0 && irregular == 0, "coo -> csr without entries");
  rows64[1] = 4;
  shunt_coo_to_csr_host(6, 6, rows64, SHUNT_I64, 0, offsets64, &irregular);
  check(irregular == SHUNT_IRREGULAR, "descending rows are found");
  rows64[1] = 0, irregular = 0;
  shunt_coo_to_csr_host(5, 6, rows64, SHUNT_I64, 0, offsets64, &irregular);
  check(irregular == SHUNT_IRREGULAR, "a row past the end is found");
}

/* ---- profile ------------------------------------------------------------------------ */

static void test_profile(void)
{
  /* 8 equal rows; then 4 equal, 1 + 1 different, 2 empty; then a ragged pair. */
  struct owned o = from_picture("1010"
                                "1010"
                                "1010"
                                "1010"
                                "1010"
                                "1010"
                                "1010"
                                "1010"
                                "0110"
                                "0110"
                                "0110"
                                "0110"
                                "1000"
                                "0100"
                                "0000"
                                "0000"
                                "1111"
                                "1111"
                                "0000",
                                19, 4, SHUNT_I32, 0);
  struct shunt_profile p;
  int32_t *c = o.columns;

  check(shunt_profile_csr_host(&o.a, &p) == SHUNT_OK && p.rows == 19 && p.cols == 4 &&
            p.nnz == o.a.nnz && p.empty_rows == 3 && p.longest_row == 4 && p.unsorted_rows == 0,
        "profile: sizes, empty and longest rows");
  check(p.crowded_rows == 2, "profile: rows that are not 2:4");
  check(p.groups_nonempty[0] == 2 && p.groups_equal[0] == 1, "profile: groups of 8");
  check(p.groups_nonempty[1] == 4 && p.groups_equal[1] == 3, "profile: groups of 4");
  check(p.groups_nonempty[2] == 8 && p.groups_equal[2] == 7, "profile: groups of 2");
  check(p.row_length_squares == 12 * 4 + 2 + 2 * 16, "profile: squares of row lengths");
  check(p.idle_steps == 2 + 4, "profile: what rows of a group of 4 wait for the longest");
  check(p.lengths.at_least[0] == 16 && p.lengths.at_least[1] == 2 && p.lengths.at_least[2] == 0,
        "profile: rows that are not empty, and those of 4 entries");
  check(p.merged_blocks == 0 && p.merged_tiles == 0, "profile: tiles of f32 are not counted");
  c[0] = 2, c[1] = 0; /* the first row, unsorted */
  c[3] = 0, c[2] = 0; /* the second, repeated */
  shunt_profile_csr_host(&o.a, &p);
  check(p.unsorted_rows == 2 && p.groups_equal[0] == 0 && p.groups_equal[1] == 2 &&
            p.groups_equal[2] == 6,
        "profile: unsorted and repeated columns");
  owned_free(&o);
}

/* Four rows of 0, 9, 64 and 70 entries, which are as 64 each; then two of 3 and 5. */
static void test_profile_idle(void)
{
  static const int32_t ends[] = {0, 0, 9, 73, 143, 146, 151};
  struct owned o = owned_new(6, 200, 151, SHUNT_I32, SHUNT_F32, 0);
  struct shunt_profile p;
  int32_t *offsets = o.offsets, *columns = o.columns;
  for (int i = 0; i <= 6; i++) offsets[i] = ends[i];
  for (int i = 0; i < 151; i++) columns[i] = i;
  o.a.nnz = 151;
  shunt_profile_csr_host(&o.a, &p);
  check(p.idle_steps == 64 + 55 + 2, "profile: long rows count as 64, a ragged group too");
  static const uint32_t at_least[] = {5, 4, 3, 2, 2, 2, 0};
  check(memcmp(p.lengths.at_least, at_least, sizeof at_least) == 0, "profile: how long rows are");
  int wrong = 0, last = 0;
  for (int64_t length = 1; length < 40000; length++) {
    while (last + 1 < SHUNT_SORTED_COUNTS && shunt_sorted_least(last + 1) <= length) last++;
    wrong += shunt_sorted_count_of(length) != last;
  }
  check(wrong == 0, "each length has its count");
  owned_free(&o);
}

/* Two rows of three entries, in three strips, then in two; then a row that returns to a strip. */
static void test_profile_segments(void)
{
  struct owned o = owned_new(4, 130, 6, SHUNT_I32, SHUNT_F32, 1);
  struct shunt_profile p;
  int32_t *offsets = o.offsets, *columns = o.columns;
  const double h = (log2(6) - 2 * 2 * log2(2) / 6) / log2(6);

  o.a.nnz = 6;
  for (int i = 0; i <= 4; i++) offsets[i] = 1 + (i < 1 ? 0 : i < 3 ? 3 : 6);
  for (int i = 0; i < 6; i++) columns[i] = (i % 3 < 2 ? i % 3 + 63 : 129) + 1;
  shunt_profile_csr_host(&o.a, &p);
  check(p.segments == 6 && p.entropy == 1 && p.ssf == 0, "profile: a strip for each entry");
  columns[0] = columns[3] = 65, columns[1] = columns[4] = 66;
  shunt_profile_csr_host(&o.a, &p);
  check(p.segments == 4 && fabs(p.entropy - h) < 1e-9 &&
            fabs(p.ssf - 6 * 2 / (4. / 3) * (1 - h)) < 1e-9,
        "profile: segments, their entropy, SSF");
  check(shunt_traversal_of(&p) == SHUNT_C_STATIONARY, "profile: and what SSF chooses");
  columns[1] = 130, columns[2] = 66;
  shunt_profile_csr_host(&o.a, &p);
  check(p.segments == 5 && p.unsorted_rows == 1, "profile: out of order, runs");
  owned_free(&o);
}

/* Rows of 17 with 40 columns, far apart, in the first block and one in the second. */
static void test_profile_tiles(void)
{
  enum { ROWS = 17, COLS = 40000 };
  struct owned o = owned_new(ROWS, COLS, 41, SHUNT_I32, SHUNT_F16, 1);
  struct shunt_profile p;
  int32_t *offsets = o.offsets, *columns = o.columns;

  o.a.nnz = 41;
  for (int i = 0; i < ROWS; i++) offsets[i] = i < 4 ? 10 * i + 1 : 41;
  offsets[ROWS] = 42;
  for (int i = 0; i < 40; i++) columns[i] = i % 10 * 1000 + i + 1;
  columns[40] = 1;
  shunt_profile_csr_host(&o.a, &p);
  check(p.merged_blocks == 2 && p.merged_tiles == 2 + 1, "profile: 40 columns are two tiles");
  columns[39] = columns[38] + SHUNT_PROFILE_MODULUS;
  shunt_profile_csr_host(&o.a, &p);
  check(p.merged_tiles == 2 + 1, "profile: 39 modulo 32768");
  for (int i = 10; i < 40; i++) columns[i] = columns[i - 10];
  shunt_profile_csr_host(&o.a, &p);
  check(p.merged_tiles == 1 + 1, "profile: shared columns count once");
  offsets[16] = -3;
  shunt_profile_csr_host(&o.a, &p);
  check(p.merged_blocks == 2 && p.merged_tiles == 0, "profile: an absurd offset ends both blocks");
  owned_free(&o);
}

/* ---- structure ------------------------------------------------------------------------- */

/* Of aligned tiles.  All -1: the census failed. */
static struct shunt_tile_shares shares_of(struct shunt_csr a)
{
  struct shunt_tile_census census;
  a.value_type = SHUNT_F16, a.values = NULL;
  if (shunt_csr_tile_census_host(&a, 0, &census) != SHUNT_OK)
    return (struct shunt_tile_shares){-1, -1, -1, -1, -1};
  return shunt_tile_shares(a.rows, a.cols, &census);
}

static void test_structure(void)
{
  static char picture[16 * 32 * 2];
  struct shunt_structure s;
  struct shunt_tile_shares tiles;
  struct owned o;

  memset(picture, '0', sizeof picture);
  for (int i = 0; i < 16; i++) /* left tile 2:4 */
    picture[i * 64] = picture[i * 64 + 3] = '1';
  for (int j = 0; j < 3; j++) /* right tile not */
    picture[5 * 64 + 32 + j] = '1';
  o = from_picture(picture, 16, 64, SHUNT_I64, 0);
  tiles = shares_of(o.a);
  check(tiles.zero == 0 && tiles.sparse == 0.5 && tiles.dense == 0.5,
        "structure: one 2:4 tile and one dense");
  check(shunt_structure_csr_host(&o.a, &s) == SHUNT_OK && fabs(s.fill[0] - 35. / (8 * 7)) < 1e-12 &&
            fabs(s.fill[2] - 35. / (2 * 19)) < 1e-12 && s.strip_occupancy == 1,
        "structure: fill and strips");
  owned_free(&o);

  memset(picture, '0', sizeof picture);
  for (int i = 0; i < 16; i++) picture[i * 64 + i] = '1';
  o = from_picture(picture, 16, 64, SHUNT_I64, 0);
  check(shares_of(o.a).zero == 0.5, "structure: half of the tiles are empty");
  ((int64_t *)o.columns)[3] = 64;
  check(shunt_structure_csr_host(&o.a, &s) == SHUNT_E_ARGUMENT, "structure: refuses bad columns");
  owned_free(&o);
}

/* One row of INDEX.md's table, cut at its bars. */
struct index_row {
  char text[1024];
  const char *cell[15];
};

static int parse_row(struct index_row *r)
{
  char *p = strtok(r->text, "|");
  int n = 0;

  for (; p && n < 15; p = strtok(NULL, "|")) {
    while (*p == ' ') p++;
    size_t length = strlen(p);
    while (length && (p[length - 1] == ' ' || p[length - 1] == '\n')) p[--length] = '\0';
    r->cell[n++] = p;
  }
  return n >= 13 && (strncmp(r->cell[0], "mtx/", 4) == 0 || strncmp(r->cell[0], "dlmc/", 5) == 0);
}

/* Whether `want` is `value` rounded to `digits`.  The table's figures were rounded
   twice, to one digit more first, hence the twentieth.  */
static int rounds_to(double value, const char *want, int digits)
{
  return fabs(value - atof(want)) <= 0.55 * pow(10, -digits);
}

static void compare_with_index(const char *folder, const struct index_row *r)
{
  char path[1200];
  struct shunt_matrix m;
  struct shunt_message why;
  struct shunt_structure s;
  struct shunt_profile p;
  shunt_status status;

  snprintf(path, sizeof path, "%s/%s", folder, r->cell[0]);
  status = shunt_read_matrix(path, &m, &why);
  if (status != SHUNT_OK) {
    check(0, "%s: %s", r->cell[0], why.text);
    return;
  }
  struct shunt_csr a = {m.rows,    m.cols,    m.nnz, m.row_offsets, m.columns, m.values,
                        SHUNT_I64, SHUNT_F64, 0};
  const double tile_24 = shares_of(a).sparse;
  status = shunt_structure_csr_host(&a, &s);
  if (status == SHUNT_OK) status = shunt_profile_csr_host(&a, &p);
  check(status == SHUNT_OK && m.rows == atoll(r->cell[1]) && m.cols == atoll(r->cell[2]) &&
            m.nnz == atoll(r->cell[3]) && rounds_to(tile_24, r->cell[6], 3) &&
            rounds_to(s.fill[0], r->cell[7], 3) && rounds_to(s.fill[1], r->cell[8], 3) &&
            rounds_to(s.fill[2], r->cell[9], 3) && rounds_to(s.strip_occupancy, r->cell[10], 5) &&
            p.longest_row == atoll(r->cell[12]),
        "%s is as INDEX.md says (nnz %lld T24 %.3f F %.3f %.3f %.3f strip %.5f longest %lld)",
        r->cell[0], (long long)m.nnz, tile_24, s.fill[0], s.fill[1], s.fill[2], s.strip_occupancy,
        (long long)p.longest_row);
  shunt_matrix_free(&m);
}

static FILE *open_index(char folder[1024])
{
  const char *data = getenv("SHUNT_DATA");
  char path[1100];

  if (!data) return NULL;
  snprintf(folder, 1024, "%s", data);
  snprintf(path, sizeof path, "%s/INDEX.md", folder);
  return fopen(path, "r");
}

static void test_real_matrices(void)
{
  char folder[1024];
  FILE *index = open_index(folder);
  struct index_row r;

  if (!index) {
    check_skip("real matrices: SHUNT_DATA names no folder with an INDEX.md");
    return;
  }
  while (fgets(r.text, sizeof r.text, index))
    if (r.text[0] == '|' && parse_row(&r)) compare_with_index(folder, &r);
  fclose(index);
}

/* ---- fingerprint -------------------------------------------------------------------------- */

static int same(struct shunt_fingerprint a, struct shunt_fingerprint b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

/* Flips every bit (or every `step`-th) of an array and counts the flips not seen. */
static int64_t unseen_flips(const struct shunt_csr *a, void *array, size_t bytes, size_t step)
{
  struct shunt_fingerprint f = shunt_fingerprint_csr_host(a);
  unsigned char *at = array;
  int64_t unseen = 0;

  for (size_t bit = 0; bit < 8 * bytes; bit += step) {
    at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    unseen += same(f, shunt_fingerprint_csr_host(a));
    at[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  return unseen;
}

static struct owned random_matrix(int64_t rows, int64_t cols, int64_t length)
{
  struct owned o = owned_new(rows, cols, rows * length, SHUNT_I32, SHUNT_F16, 0);

  for (int64_t i = 0; i <= rows; i++) put(o.offsets, SHUNT_I32, i, i * length);
  for (int64_t p = 0; p < rows * length; p++) {
    put(o.columns, SHUNT_I32, p, random_below(cols));
    ((uint16_t *)o.a.values)[p] = (uint16_t)random_next();
  }
  o.a.nnz = rows * length;
  return o;
}

static void test_fingerprint(void)
{
  struct owned o = random_matrix(37, 1000, 19);
  struct shunt_fingerprint f = shunt_fingerprint_csr_host(&o.a), g;
  size_t n = (size_t)o.a.nnz;
  int32_t *c = o.columns, kept;
  int seen = 1;

  check(same(f, shunt_fingerprint_csr_host(&o.a)), "the fingerprint repeats");
  check(unseen_flips(&o.a, o.offsets, 38 * 4, 1) == 0 && unseen_flips(&o.a, c, n * 4, 7) == 0 &&
            unseen_flips(&o.a, o.a.values, n * 2, 3) == 0,
        "every single-bit change of every array is seen");
  for (size_t p = 1; p < n; p++) { /* swap two columns */
    size_t q = (size_t)random_below((int64_t)p);
    if (c[p] == c[q]) continue;
    kept = c[p], c[p] = c[q], c[q] = kept;
    seen &= !same(f, shunt_fingerprint_csr_host(&o.a));
    kept = c[p], c[p] = c[q], c[q] = kept;
  }
  check(seen, "two entries changing places are seen");
  o.a.cols++;
  g = shunt_fingerprint_csr_host(&o.a);
  o.a.cols--, o.a.base = 1;
  seen = !same(f, g) && !same(f, shunt_fingerprint_csr_host(&o.a));
  o.a.base = 0, o.a.value_type = SHUNT_BF16;
  seen &= !same(f, shunt_fingerprint_csr_host(&o.a));
  o.a.value_type = SHUNT_F16;
  check(seen && same(f, shunt_fingerprint_csr_host(&o.a)), "sizes, base and types count");

  char *moved = malloc(n * 2 + 16);
  void *values = o.a.values;
  memcpy(moved + 2, values, n * 2);
  o.a.values = moved + 2;
  check(same(f, shunt_fingerprint_csr_host(&o.a)), "the pointer's alignment does not count");
  o.a.values = values;
  free(moved);
  owned_free(&o);
}

/* Regular changes that a weak hash would cancel: signs of many values, +1 -2 +1. */
static void test_structured_changes(void)
{
  struct owned o = random_matrix(64, 1 << 20, 64);
  struct shunt_fingerprint f = shunt_fingerprint_csr_host(&o.a);
  uint16_t *v = o.a.values;
  int32_t *c = o.columns;
  int seen = 1;

  for (int64_t step = 1; step <= 1024; step *= 2)
    for (int64_t p = 0; p + step < o.a.nnz; p += 97) {
      v[p] ^= 0x8000, v[p + step] ^= 0x8000;
      seen &= !same(f, shunt_fingerprint_csr_host(&o.a));
      v[p] ^= 0x8000, v[p + step] ^= 0x8000;
    }
  check(seen, "two signs changing together are seen");
  for (int64_t step = 1; step <= 1024; step *= 2)
    for (int64_t p = 0; p + 2 * step < o.a.nnz; p += 97) {
      c[p]++, c[p + step] -= 2, c[p + 2 * step]++;
      seen &= !same(f, shunt_fingerprint_csr_host(&o.a));
      c[p]--, c[p + step] += 2, c[p + 2 * step]--;
    }
  check(seen && same(f, shunt_fingerprint_csr_host(&o.a)), "+1 -2 +1 is seen");
  owned_free(&o);
}

int main(void)
{
  test_dense();
  test_irregular();
  test_coo();
  test_profile();
  test_profile_tiles();
  test_profile_idle();
  test_profile_segments();
  test_structure();
  test_fingerprint();
  test_structured_changes();
  test_real_matrices();
  return check_finish();
}
