/* host_fingerprint.c: the slow twin of fingerprint.cu's fingerprint; the
   mathematics is in kernels/guard/fingerprint.h.  */
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"

#include <string.h>

/* The 8 bytes from `at` on, zero beyond the array's end. */
static uint64_t load_word(const unsigned char *array, int64_t bytes, int64_t at)
{
  uint64_t word = 0;

  if (at + 8 <= bytes) {
    memcpy(&word, array + at, 8);
    return word;
  }
  for (int i = 0; i < 8 && at + i < bytes; i++) word |= (uint64_t)array[at + i] << (8 * i);
  return word;
}

static struct shunt_fingerprint hash_chunk(const unsigned char *array, int64_t bytes, unsigned id,
                                           int64_t tile, int lane)
{
  int64_t first = tile * SHUNT_FP_TILE + (int64_t)lane * SHUNT_FP_PIECE;
  struct shunt_fp_chunk c = {0, 0};

  for (unsigned k = 0; k < 2 * SHUNT_FP_PIECES; k++) {
    uint64_t word = load_word(array, bytes, first + (k / 2) * SHUNT_FP_ROW + (k % 2) * 8);
    shunt_fp_absorb(&c, k, (uint32_t)word, (uint32_t)(word >> 32));
  }
  return shunt_fp_close(c, id, (uint64_t)(tile * SHUNT_FP_LANES + lane));
}

struct shunt_fingerprint shunt_fingerprint_csr_host(const struct shunt_csr *a)
{
  const void *array[3] = {a->row_offsets, a->columns, a->values};
  struct shunt_fingerprint sum = shunt_fp_seed(a);
  int64_t bytes[3];

  shunt_fp_sizes(a, bytes);
  for (unsigned id = 0; id < 3; id++)
    for (int64_t tile = 0; tile < shunt_fp_tiles(bytes[id]); tile++)
      for (int lane = 0; lane < SHUNT_FP_LANES; lane++)
        shunt_fp_add(&sum, hash_chunk(array[id], bytes[id], id, tile, lane));
  return sum;
}
