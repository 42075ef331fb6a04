#include "kernels/semiring/frontier/frontier_bits.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "kernels/semiring/semiring_operands.h"

enum { LANES = 16 };
typedef uint8_t bytes16 __attribute__((vector_size(LANES)));

/* ---- entries of a sparse row ----------------------------------------------------------------- */

static int64_t first_from(const struct shunt_sparse *s, struct shunt_line line, int64_t index)
{
  while (line.begin < line.end) {
    const int64_t middle = line.begin + (line.end - line.begin) / 2;
    if (shunt_entry_index(s, middle) < index)
      line.begin = middle + 1;
    else
      line.end = middle;
  }
  return line.begin;
}

struct shunt_line shunt_line_within(const struct shunt_sparse *s, struct shunt_line line,
                                    struct shunt_range range)
{
  const int64_t across = s->by_column ? s->rows : s->cols;
  if (range.begin > 0) line.begin = first_from(s, line, range.begin);
  if (range.end < across) line.end = first_from(s, line, range.end);
  return line;
}

static struct shunt_line line_of(const struct shunt_sparse *s, int64_t i, struct shunt_range range)
{
  return shunt_line_within(s, shunt_find_line(s, i), range);
}

/* ---- by row ---------------------------------------------------------------------------------- */

/* n <= 64 bytes; none: all are there. */
static uint64_t bits_of_bytes(const int8_t *present, int64_t n)
{
  uint64_t bits = 0;
  if (!present) return n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
#ifdef __SSE2__
  for (int i = 0; n == 64 && i < 64; i += LANES) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(present + i));
    const int missing = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128()));
    bits |= (uint64_t)(missing ^ 0xffff) << i;
  }
  if (n == 64) return bits;
#endif
  for (int64_t i = 0; i < n; i++) bits |= (uint64_t)(present[i] != 0) << i;
  return bits;
}

static const int8_t *present_of(const struct shunt_full *x, int64_t i, int64_t j)
{
  return x->present ? x->present + i * x->row_stride + j : NULL;
}

static int64_t block_size(int64_t block, int64_t end)
{
  return end - block < 64 ? end - block : 64;
}

void shunt_bits_of_row(const struct shunt_lines *x, int64_t i, struct shunt_range range,
                       uint64_t *bits)
{
  if (x->dense) {
    for (int64_t j = range.begin; j < range.end; j += 64)
      *bits++ = bits_of_bytes(present_of(&x->full, i, j), block_size(j, range.end));
    return;
  }
  const struct shunt_line l = line_of(&x->sparse, i, range);
  memset(bits, 0, (size_t)(range.end - range.begin + 63) / 64 * sizeof *bits);
  for (int64_t q = l.begin; q < l.end; q++) {
    const int64_t j = shunt_entry_index(&x->sparse, q) - range.begin;
    bits[j / 64] |= (uint64_t)1 << j % 64;
  }
}

void shunt_bits_spread(const uint64_t *bits, int64_t n, int8_t *present)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), each = UINT64_C(0x8040201008040201);
  const uint64_t low = ~(ones << 7);
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    /* Byte i keeps bit i, and carries it into its own highest bit. */
    const uint64_t x = (bits[j / 64] >> j % 64 & 0xff) * ones & each;
    const uint64_t one = (((x & low) + low) | x) >> 7 & ones;
    memcpy(present + j, &one, sizeof one);
  }
  for (; j < n; j++) present[j] = bits[j / 64] >> j % 64 & 1;
}

/* ---- by node --------------------------------------------------------------------------------- */

void shunt_bits_transpose(uint64_t w[64])
{
  uint64_t low = UINT32_MAX;
  for (int step = 32; step; step >>= 1, low ^= low << step)
    for (int i = 0; i < 64; i = (i + step + 1) & ~step) {
      const uint64_t t = ((w[i] >> step) ^ w[i + step]) & low;
      w[i] ^= t << step;
      w[i + step] ^= t;
    }
}

void shunt_bits_words(const struct shunt_lines *x, int64_t first, int rows,
                      struct shunt_range range, uint64_t *out)
{
  if (!x->dense) {
    memset(out + range.begin, 0, (size_t)(range.end - range.begin) * sizeof *out);
    for (int s = 0; s < rows; s++) {
      const struct shunt_line l = line_of(&x->sparse, first + s, range);
      for (int64_t q = l.begin; q < l.end; q++)
        out[shunt_entry_index(&x->sparse, q)] |= (uint64_t)1 << s;
    }
    return;
  }
  for (int64_t j = range.begin; j < range.end; j += 64) {
    const int64_t n = block_size(j, range.end);
    uint64_t w[64] = {0};
    for (int s = 0; s < rows; s++) w[s] = bits_of_bytes(present_of(&x->full, first + s, j), n);
    shunt_bits_transpose(w);
    memcpy(out + j, w, (size_t)n * sizeof *w);
  }
}

static void bytes_of_dense(const struct shunt_full *x, int64_t first, int rows,
                           struct shunt_range range, uint8_t *out)
{
  int64_t j = range.begin;
  for (; j + LANES <= range.end; j += LANES) {
    bytes16 bits = {0};
    for (int s = 0; s < rows; s++) {
      bytes16 there;
      memcpy(&there, present_of(x, first + s, j), sizeof there);
      bits |= (bytes16)(there != 0) & (uint8_t)(1 << s);
    }
    memcpy(out + j, &bits, sizeof bits);
  }
  for (; j < range.end; j++) {
    out[j] = 0;
    for (int s = 0; s < rows; s++) out[j] |= (uint8_t)((*present_of(x, first + s, j) != 0) << s);
  }
}

void shunt_bits_bytes(const struct shunt_lines *x, int64_t first, int rows,
                      struct shunt_range range, uint8_t *out)
{
  const bool all = x->dense && !x->full.present;
  if (x->dense && !all) {
    bytes_of_dense(&x->full, first, rows, range, out);
    return;
  }
  memset(out + range.begin, all ? (1 << rows) - 1 : 0, (size_t)(range.end - range.begin));
  for (int s = 0; !all && s < rows; s++) {
    const struct shunt_line l = line_of(&x->sparse, first + s, range);
    for (int64_t q = l.begin; q < l.end; q++)
      out[shunt_entry_index(&x->sparse, q)] |= (uint8_t)(1 << s);
  }
}

uint64_t shunt_bits_pick(const uint8_t *bytes, int s, int64_t n)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), gather = UINT64_C(0x0102040810204080);
  uint64_t bits = 0;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + j, sizeof eight);
    bits |= ((eight >> s & ones) * gather >> 56) << j;
  }
  for (; j < n; j++) bits |= (uint64_t)(bytes[j] >> s & 1) << j;
  return bits;
}
