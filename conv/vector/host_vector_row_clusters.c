/* host_vector_row_clusters.c: similar rows next to each other, on the host: the slow twin of
   row_clusters.cu, and the layout of their scratch.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/vector/row_sketch.h"
#include "kernels/common/alignment.h"

/* ---- the scratch -------------------------------------------------------------------- */

size_t shunt_row_clusters_lay_out(const struct shunt_csr *a, size_t temporary, void *memory,
                                  struct shunt_row_clusters *out)
{
  size_t n = (size_t)a->rows, at = 0;

  if (a->rows < 1 || a->rows > INT32_MAX - 1024) return 0;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return 0;
  out->rows = a->rows;
  out->pairs.keys = shunt_place_in(memory, &at, n * sizeof(uint64_t));
  out->spare.keys = shunt_place_in(memory, &at, n * sizeof(uint64_t));
  out->pairs.places = shunt_place_in(memory, &at, n * sizeof(int32_t));
  out->spare.places = shunt_place_in(memory, &at, n * sizeof(int32_t));
  out->sketch = shunt_place_in(memory, &at, n * SHUNT_SKETCH_WORDS * sizeof(uint32_t));
  out->filled = shunt_place_in(memory, &at, n * sizeof(uint32_t));
  out->own_key = shunt_place_in(memory, &at, n * sizeof(uint32_t));
  out->leader_key = shunt_place_in(memory, &at, n * sizeof(uint32_t));
  out->temporary = shunt_place_in(memory, &at, temporary);
  return shunt_align_up(at, 256);
}

size_t shunt_row_clusters_host_bytes(const struct shunt_csr *a)
{
  struct shunt_row_clusters k;

  return shunt_row_clusters_lay_out(a, 0, NULL, &k);
}

/* ---- sketches ----------------------------------------------------------------------- */

/* Of all columns of a row; commutative, so that it does not matter in which order they come. */
struct row_hashes {
  uint64_t sum;
  uint32_t minimum[SHUNT_SKETCH_MINIMA];
  uint32_t bin[SHUNT_SKETCH_BINS];
};

static void add_column(struct row_hashes *s, int64_t column)
{
  uint64_t hash = shunt_sketch_hash(column);
  uint32_t value = (uint32_t)(hash >> 32), *bin = &s->bin[hash % SHUNT_SKETCH_BINS];

  s->sum += hash;
  if (value < *bin) *bin = value;
  for (int i = 0; i < SHUNT_SKETCH_MINIMA; i++) {
    uint32_t x = shunt_sketch_reorder(hash, i);
    if (x < s->minimum[i]) s->minimum[i] = x;
  }
}

static void sketch_row(const struct shunt_csr *a, int64_t row, const struct shunt_row_clusters *k)
{
  static const uint32_t zero[SHUNT_SKETCH_WORDS];
  int64_t begin = from_base(index_at(a->row_offsets, a->index_type, row), a->base);
  int64_t end = from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base);
  int bits = shunt_sketch_hash_bits(k->rows);
  uint32_t *sketch = k->sketch + row * SHUNT_SKETCH_WORDS;
  struct row_hashes s;

  if (begin < 0 || end < begin || end > a->nnz) begin = end = 0;
  memset(&s, 0xff, sizeof s);
  s.sum = 0;
  for (int64_t p = begin; p < end; p++)
    add_column(&s, from_base(index_at(a->columns, a->index_type, p), a->base));
  memset(sketch, 0, SHUNT_SKETCH_WORDS * sizeof *sketch);
  for (int i = 0; i < SHUNT_SKETCH_BINS; i++)
    sketch[i / 4] |= shunt_sketch_byte(s.bin[i]) << i % 4 * 8;
  k->filled[row] = ~shunt_sketch_zeros(sketch, zero);
  k->own_key[row] = shunt_sketch_key(s.minimum[0], s.minimum[1]);
  k->leader_key[row] = shunt_sketch_key(s.minimum[2], s.minimum[3]);
  k->pairs.keys[row] = s.sum << (64 - bits) >> (64 - bits);
  ((int32_t *)k->pairs.places)[row] = (int32_t)row;
}

/* ---- the sort ----------------------------------------------------------------------- */

/* One stable pass of 8 bits from `from` to `to`. */
static void sort_digit(const struct shunt_pairs *from, const struct shunt_pairs *to, int64_t n,
                       int shift)
{
  int64_t start[257] = {0};

  for (int64_t i = 0; i < n; i++) start[(from->keys[i] >> shift & 255) + 1]++;
  for (int d = 0; d < 256; d++) start[d + 1] += start[d];
  for (int64_t i = 0; i < n; i++) {
    int64_t at = start[from->keys[i] >> shift & 255]++;
    to->keys[at] = from->keys[i];
    ((int32_t *)to->places)[at] = ((const int32_t *)from->places)[i];
  }
}

static void exchange(struct shunt_row_clusters *k)
{
  struct shunt_pairs kept = k->pairs;

  k->pairs = k->spare;
  k->spare = kept;
}

static void sort(struct shunt_row_clusters *k, int bits)
{
  for (int shift = 0; shift < bits; shift += 8) {
    sort_digit(&k->pairs, &k->spare, k->rows, shift);
    exchange(k);
  }
}

/* ---- rows with the same columns --------------------------------------------------------- */

/* Runs of one key: every eight rows are a group, the others are free. */
static void mark_runs(struct shunt_row_clusters *k)
{
  const int32_t *rows = k->pairs.places;
  int64_t end;

  for (int64_t begin = 0; begin < k->rows; begin = end) {
    for (end = begin; end < k->rows && k->pairs.keys[end] == k->pairs.keys[begin];) end++;
    for (int64_t i = begin; i < end; i++) {
      int whole = i - begin < (end - begin) / SHUNT_CLUSTER_ROWS * SHUNT_CLUSTER_ROWS;
      k->spare.keys[i] = whole ? 0 : k->own_key[rows[i]];
      ((int32_t *)k->spare.places)[i] = rows[i];
    }
  }
  exchange(k);
}

/* ---- leaders --------------------------------------------------------------------------- */

static int is_free(const struct shunt_row_clusters *k, int64_t i)
{
  return (k->pairs.keys[i] & SHUNT_CLUSTER_FREE) != 0;
}

static struct shunt_similarity compare(const struct shunt_row_clusters *k, int64_t i, int64_t j)
{
  int64_t x = ((const int32_t *)k->pairs.places)[i], y = ((const int32_t *)k->pairs.places)[j];

  return shunt_sketch_compare(k->sketch + x * SHUNT_SKETCH_WORDS, k->filled[x],
                              k->sketch + y * SHUNT_SKETCH_WORDS, k->filled[y]);
}

static int64_t end_of(const struct shunt_row_clusters *k, int64_t begin, int64_t size)
{
  return k->rows - begin < size ? k->rows : begin + size;
}

/* The first of places begin .. i that is half as similar to place i as the most similar. */
static int64_t leader_of(const struct shunt_row_clusters *k, int64_t begin, int64_t i)
{
  int64_t end = end_of(k, begin, SHUNT_CLUSTER_HOOD);
  struct shunt_similarity best = {0, 1};

  for (int64_t j = begin; j < end; j++)
    if (j != i && is_free(k, j)) {
      struct shunt_similarity s = compare(k, i, j);
      if (shunt_sketch_less(best, s)) best = s;
    }
  if (best.equal == 0) return i;
  for (int64_t j = begin; j < i; j++)
    if (is_free(k, j) && shunt_sketch_half(compare(k, i, j), best)) return j;
  return i;
}

static void find_leaders(struct shunt_row_clusters *k)
{
  const int32_t *rows = k->pairs.places;

  for (int64_t i = 0; i < k->rows; i++) {
    int64_t begin = i / SHUNT_CLUSTER_HOOD * SHUNT_CLUSTER_HOOD;
    k->spare.keys[i] = is_free(k, i) ? 1 + (uint64_t)rows[leader_of(k, begin, i)] : 0;
    ((int32_t *)k->spare.places)[i] = rows[i];
  }
  exchange(k);
}

/* Eight rows of one leader are a group. */
static void mark_eights(struct shunt_row_clusters *k)
{
  const uint64_t *keys = k->pairs.keys;
  int64_t end;

  for (int64_t begin = 0; begin < k->rows; begin = end) {
    for (end = begin; end < k->rows && keys[end] == keys[begin];) end++;
    for (int64_t i = begin; i < end; i++) {
      int whole = keys[i] == 0 || end - begin == SHUNT_CLUSTER_ROWS;
      k->spare.keys[i] = whole ? 0 : k->leader_key[keys[i] - 1];
      ((int32_t *)k->spare.places)[i] = ((const int32_t *)k->pairs.places)[i];
    }
  }
  exchange(k);
}

/* ---- groups ---------------------------------------------------------------------------- */

/* The free place most similar to `seed`, the first of them; -1: none is free. */
static int64_t most_similar(const struct shunt_row_clusters *k, int64_t seed, int64_t end)
{
  uint32_t most = 0;
  int64_t best = -1;

  for (int64_t i = seed + 1; i < end; i++) {
    if (!is_free(k, i)) continue;
    uint32_t s = shunt_sketch_score(compare(k, seed, i));
    if (best < 0 || s > most) best = i, most = s;
  }
  return best;
}

/* The free places of a window to row_of, group by group, behind those that have a group. */
static void make_groups(struct shunt_row_clusters *k, int64_t begin, uint32_t *row_of)
{
  const int32_t *rows = k->pairs.places;
  int64_t end = end_of(k, begin, SHUNT_CLUSTER_WINDOW), at = begin;

  for (; at < end && !is_free(k, at); at++) row_of[at] = (uint32_t)rows[at];
  for (int64_t seed = at; seed < end; seed++) {
    if (!is_free(k, seed)) continue;
    int64_t next = seed;
    for (int i = 0; i < SHUNT_CLUSTER_ROWS && next >= 0; i++) {
      k->pairs.keys[next] = 0;
      row_of[at++] = (uint32_t)rows[next];
      next = most_similar(k, seed, end);
    }
  }
}

shunt_status shunt_csr_cluster_rows_host(const struct shunt_csr *a, uint32_t *row_of, void *scratch,
                                         size_t scratch_bytes)
{
  struct shunt_row_clusters k;
  size_t bytes = shunt_row_clusters_lay_out(a, 0, scratch, &k);

  if (bytes == 0) return SHUNT_E_UNSUPPORTED;
  if (!scratch || scratch_bytes < bytes || (uintptr_t)scratch % 256) return SHUNT_E_WORKSPACE;
  for (int64_t row = 0; row < k.rows; row++) sketch_row(a, row, &k);
  sort(&k, shunt_sketch_hash_bits(k.rows));
  mark_runs(&k);
  sort(&k, SHUNT_CLUSTER_KEY_BITS);
  find_leaders(&k);
  sort(&k, shunt_sketch_leader_bits(k.rows));
  mark_eights(&k);
  sort(&k, SHUNT_CLUSTER_KEY_BITS);
  for (int64_t begin = 0; begin < k.rows; begin += SHUNT_CLUSTER_WINDOW)
    make_groups(&k, begin, row_of);
  return SHUNT_OK;
}
