/* host_profile.c: what a pattern looks like, counted on the host; the slow twin of
   profile.cu (definitions: struct shunt_profile).

   Both twins treat an aligned group of 8 rows with an impossible offset (not
   monotone, or outside [base, nnz + base]) as 8 empty rows, so that garbage is
   counted as something and never followed.  */
#include <math.h>
#include <string.h>

#include "conv/common/index.h"
#include "conv/profile/profile.h"
#include "conv/profile/profile_segments.h"

struct row {
  int64_t begin, length;
};

/* The n (up to 8) rows from `first` on, all empty if one is impossible. */
static void load_group(const struct shunt_csr *a, int64_t first, int n, struct row rows[8])
{
  for (int k = 0; k < n; k++) {
    int64_t begin = index_at(a->row_offsets, a->index_type, first + k);
    int64_t end = index_at(a->row_offsets, a->index_type, first + k + 1);
    if (begin < a->base || end < begin || end - a->base > a->nnz) {
      memset(rows, 0, 8 * sizeof *rows);
      return;
    }
    rows[k].begin = begin - a->base;
    rows[k].length = end - begin;
  }
}

static int is_unsorted(const struct shunt_csr *a, struct row r)
{
  for (int64_t p = r.begin + 1; p < r.begin + r.length; p++)
    if (index_at(a->columns, a->index_type, p) <= index_at(a->columns, a->index_type, p - 1))
      return 1;
  return 0;
}

static int same_run(const struct shunt_csr *a, int64_t p, int64_t q, uint32_t width)
{
  return shunt_same_run(index_at(a->columns, a->index_type, p),
                        index_at(a->columns, a->index_type, q), a->base,
                        shunt_type_size(a->index_type), width);
}

static int is_crowded(const struct shunt_csr *a, struct row r)
{
  for (int64_t p = r.begin + 2; p < r.begin + r.length; p++)
    if (same_run(a, p, p - 2, 4)) return 1;
  return 0;
}

/* Adds the row's segments to *segments; their weight. */
static uint64_t count_segments(const struct shunt_csr *a, struct row r, int64_t *segments)
{
  static const uint32_t weight_of[SHUNT_PROFILE_STRIP + 1] = {SHUNT_SEGMENT_WEIGHTS};
  uint64_t weight = 0;
  int64_t entries = 0; /* of the run that is open */

  for (int64_t p = r.begin; p < r.begin + r.length; p++) {
    if (p == r.begin || !same_run(a, p, p - 1, SHUNT_PROFILE_STRIP)) {
      ++*segments;
      weight += weight_of[entries];
      entries = 0;
    }
    entries += entries < SHUNT_PROFILE_STRIP;
  }
  return weight + weight_of[entries];
}

static int same_columns(const struct shunt_csr *a, struct row r, struct row s)
{
  size_t size = shunt_type_size(a->index_type);
  const char *columns = a->columns;

  if (r.length != s.length) return 0;
  return r.length == 0 || memcmp(columns + (size_t)r.begin * size, columns + (size_t)s.begin * size,
                                 (size_t)r.length * size) == 0;
}

/* Counts the complete groups of `size` rows among the n rows of a group of 8. */
static void count_groups(const struct shunt_csr *a, const struct row rows[8], int n, int size,
                         int64_t *nonempty, int64_t *equal)
{
  for (int s = 0; s + size <= n; s += size) {
    int some = 0, same = 1;
    for (int k = s; k < s + size; k++) {
      some |= rows[k].length > 0;
      same &= k == s || same_columns(a, rows[k - 1], rows[k]);
    }
    *nonempty += some;
    *equal += some && same;
  }
}

static int64_t steps_of(struct row r)
{
  return r.length < SHUNT_PROFILE_ABREAST ? r.length : SHUNT_PROFILE_ABREAST;
}

/* Of the n rows of a group of 8, in fours. */
static int64_t idle_steps(const struct row rows[8], int n)
{
  int64_t idle = 0;
  for (int s = 0; s < n; s += 4) {
    int64_t most = 0;
    for (int k = s; k < s + 4 && k < n; k++)
      if (steps_of(rows[k]) > most) most = steps_of(rows[k]);
    for (int k = s; k < s + 4 && k < n; k++) idle += most - steps_of(rows[k]);
  }
  return idle;
}

static void count_length(struct row r, struct shunt_sorted_counts *lengths)
{
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++)
    lengths->at_least[i] += r.length >= shunt_sorted_least(i);
}

/* Of rows first .. first + 15: how many columns they have, modulo SHUNT_PROFILE_MODULUS. */
static int64_t merged_columns(const struct shunt_csr *a, int64_t first)
{
  unsigned char seen[SHUNT_PROFILE_MODULUS / 8] = {0};
  int64_t last = first + 16 < a->rows ? first + 16 : a->rows, columns = 0;
  int64_t begin = index_at(a->row_offsets, a->index_type, first);
  int64_t end = index_at(a->row_offsets, a->index_type, last);

  if (begin < a->base || end < begin || end - a->base > a->nnz) return 0;
  for (int64_t p = begin - a->base; p < end - a->base; p++) {
    uint64_t c = (uint64_t)index_at(a->columns, a->index_type, p) - (uint64_t)a->base;
    unsigned bit = (unsigned)(c % SHUNT_PROFILE_MODULUS);
    columns += !(seen[bit / 8] >> bit % 8 & 1);
    seen[bit / 8] |= (unsigned char)(1u << bit % 8);
  }
  return columns;
}

static void count_merged(const struct shunt_csr *a, struct shunt_profile *out)
{
  int64_t blocks = (a->rows + 15) / 16;
  int64_t step = (blocks + SHUNT_PROFILE_BLOCKS - 1) / SHUNT_PROFILE_BLOCKS;

  if (shunt_type_size(a->value_type) != 2) return;
  for (int64_t b = 0; b < blocks; b += step) {
    out->merged_blocks++;
    out->merged_tiles += (merged_columns(a, b * 16) + 31) / 32;
  }
}

shunt_status shunt_profile_csr_host(const struct shunt_csr *a, struct shunt_profile *out)
{
  uint64_t squares_low = 0, squares_high = 0, weight = 0;

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  memset(out, 0, sizeof *out);
  out->rows = a->rows;
  out->cols = a->cols;
  out->nnz = a->nnz;
  for (int64_t first = 0; first < a->rows; first += 8) {
    int n = a->rows - first < 8 ? (int)(a->rows - first) : 8;
    struct row rows[8];
    load_group(a, first, n, rows);
    for (int k = 0; k < n; k++) {
      uint64_t length = (uint64_t)rows[k].length;
      out->empty_rows += length == 0;
      count_length(rows[k], &out->lengths);
      out->unsorted_rows += is_unsorted(a, rows[k]);
      out->crowded_rows += is_crowded(a, rows[k]);
      weight += count_segments(a, rows[k], &out->segments);
      if (rows[k].length > out->longest_row) out->longest_row = rows[k].length;
      squares_low += length * length & 0xffffffffu;
      squares_high += length * length >> 32;
    }
    out->idle_steps += idle_steps(rows, n);
    for (int v = 0; v < 3; v++)
      count_groups(a, rows, n, 8 >> v, &out->groups_nonempty[v], &out->groups_equal[v]);
  }
  out->row_length_squares = (double)squares_high * 4294967296.0 + (double)squares_low;
  count_merged(a, out);
  shunt_profile_finish(out, weight, log2((double)a->nnz));
  return SHUNT_OK;
}
