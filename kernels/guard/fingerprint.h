/* fingerprint.h: 128 bits that stand for the content of a CSR matrix; the one
   definition, used by the kernel (fingerprint.cu) and its twin
   (host_fingerprint.c).

   The arrays (row offsets: 0, columns: 1, values: 2) are hashed as bytes, each
   cut into tiles of 4096 bytes, the last one padded with zeros.  A tile is what
   one warp reads with eight 16-byte loads a lane; what one lane reads is a chunk:

     tile   |<------ 512 bytes ------>|<------ 512 ------>| ...        8 times
            | lane 0 | lane 1 | .. 31 | lane 0 | lane 1 | ..
            |16 bytes|                |16 bytes|
     chunk of lane 0 = piece 0          piece 1            ...  piece 7
                     = words w0, w1     w2, w3                  w14, w15

   A word is 8 bytes, little-endian, with halves l (low) and h (high).

     chunk:        x = sum over k of (l_k + K[2k])   (h_k + K[2k+1])   mod 2^64
                   y = sum over k of (l_k + K[2k+2]) (h_k + K[2k+3])   mod 2^64
                   sums in brackets mod 2^32: one add and one multiply-add each
     fingerprint:  seed + sum over all chunks of M(x, y; array, tile, lane)

   x and y are NH, the universal hash of UMAC (Black et al., CRYPTO '99), with
   the key shifted for the second (Toeplitz): two different chunks agree in both
   with odds of 2^-64 over the keys, and never when they differ in one 32-bit
   half only.  M is a bijection of (x, y) for each place and scrambles all bits,
   so that equal chunks swapped, or changes in two chunks, do not cancel.  The
   outer sum is associative: blocks may finish in any order and the bits are the
   same.  The keys are fixed: this detects change, it does not resist an
   adversary.  */
#ifndef SHUNT_FINGERPRINT_H
#define SHUNT_FINGERPRINT_H

#include "kernels/common/types.h"

#ifdef __CUDACC__
#define SHUNT_FP_INLINE static __host__ __device__ __forceinline__
#else
#define SHUNT_FP_INLINE static inline
#endif

enum {
  SHUNT_FP_PIECE = 16, /* bytes of one load */
  SHUNT_FP_PIECES = 8, /* loads of one lane */
  SHUNT_FP_LANES = 32,
  SHUNT_FP_ROW = SHUNT_FP_LANES * SHUNT_FP_PIECE, /* from one piece of a lane to its next */
  SHUNT_FP_TILE = SHUNT_FP_ROW * SHUNT_FP_PIECES
};

enum { SHUNT_FP_OFFSETS = 0, SHUNT_FP_COLUMNS = 1, SHUNT_FP_VALUES = 2, SHUNT_FP_SHAPE = 3 };

/* The i-th key: splitmix64.  Computed, not tabled, because a constant index
   folds into an immediate operand.  */
SHUNT_FP_INLINE uint32_t shunt_fp_key(unsigned i)
{
  uint64_t z = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)(z >> 32);
}

struct shunt_fp_chunk {
  uint64_t x, y;
};

/* Adds word k (0..15) of a chunk. */
SHUNT_FP_INLINE void shunt_fp_absorb(struct shunt_fp_chunk *c, unsigned k, uint32_t low,
                                     uint32_t high)
{
  uint32_t l0 = low + shunt_fp_key(2 * k), h0 = high + shunt_fp_key(2 * k + 1);
  uint32_t l1 = low + shunt_fp_key(2 * k + 2), h1 = high + shunt_fp_key(2 * k + 3);

  c->x += (uint64_t)l0 * h0;
  c->y += (uint64_t)l1 * h1;
}

/* A bijection of 64 bits in which every input bit reaches every output bit. */
SHUNT_FP_INLINE uint64_t shunt_fp_scramble(uint64_t x)
{
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 32;
  return x;
}

/* M: what a finished chunk contributes.  `index` is tile * 32 + lane. */
SHUNT_FP_INLINE struct shunt_fingerprint shunt_fp_close(struct shunt_fp_chunk c, unsigned array,
                                                        uint64_t index)
{
  uint64_t place = ((uint64_t)(array + 1) << 56 ^ index) * 0x9e3779b97f4a7c15u;
  uint64_t a = shunt_fp_scramble(c.x + place);
  uint64_t b = shunt_fp_scramble((c.y ^ a) + place);
  struct shunt_fingerprint f;

  f.lo = shunt_fp_scramble(a + b);
  f.hi = b;
  return f;
}

SHUNT_FP_INLINE void shunt_fp_add(struct shunt_fingerprint *sum, struct shunt_fingerprint f)
{
  sum->lo += f.lo;
  sum->hi += f.hi;
}

SHUNT_FP_INLINE int64_t shunt_fp_tiles(int64_t bytes)
{
  return (bytes + SHUNT_FP_TILE - 1) / SHUNT_FP_TILE;
}

/* Bytes of each array; an array that is not there (NULL) counts as empty, so a
   matrix without values has the fingerprint of its pattern.  */
static inline void shunt_fp_sizes(const struct shunt_csr *a, int64_t bytes[3])
{
  int64_t index = (int64_t)shunt_type_size(a->index_type);
  int64_t value = (int64_t)shunt_type_size(a->value_type);

  bytes[SHUNT_FP_OFFSETS] = a->row_offsets ? (a->rows + 1) * index : 0;
  bytes[SHUNT_FP_COLUMNS] = a->columns ? a->nnz * index : 0;
  bytes[SHUNT_FP_VALUES] = a->values ? a->nnz * value : 0;
}

/* a without its pattern: its fingerprint is that of a's values. */
static inline struct shunt_csr shunt_fp_values_of(const struct shunt_csr *a)
{
  struct shunt_csr v = *a;
  v.row_offsets = v.columns = NULL;
  return v;
}

/* a without its values: its fingerprint is that of a's pattern. */
static inline struct shunt_csr shunt_fp_pattern_of(const struct shunt_csr *a)
{
  struct shunt_csr p = *a;
  p.values = NULL;
  return p;
}

/* The part that the arrays' bytes do not tell: sizes, types, base. */
static inline struct shunt_fingerprint shunt_fp_seed(const struct shunt_csr *a)
{
  uint64_t word[5];
  int64_t bytes[3];
  struct shunt_fp_chunk c = {0, 0};
  unsigned k;

  shunt_fp_sizes(a, bytes);
  word[0] = (uint64_t)a->rows;
  word[1] = (uint64_t)a->cols;
  word[2] = (uint64_t)a->nnz;
  word[3] = (uint64_t)bytes[SHUNT_FP_VALUES];
  word[4] = (uint64_t)a->index_type | (uint64_t)a->value_type << 8 | (uint64_t)a->base << 16;
  for (k = 0; k < 5; k++) shunt_fp_absorb(&c, k, (uint32_t)word[k], (uint32_t)(word[k] >> 32));
  return shunt_fp_close(c, SHUNT_FP_SHAPE, 0);
}

#endif
