/* row_sketch.h: what host_vector_row_clusters.c and row_clusters.cu compute alike: hashes of
   columns, sketches of rows, their similarity, and the places of both in the scratch.  Private to
   conv/.  */
#ifndef SHUNT_CONV_ROW_SKETCH_H
#define SHUNT_CONV_ROW_SKETCH_H

#include "conv/common/sort.h"
#include "conv/common/splitmix64.h"
#include "conv/vector/row_clusters.h"

#ifdef __CUDACC__
#define SHUNT_SKETCH_INLINE static inline __host__ __device__
#else
#define SHUNT_SKETCH_INLINE static inline
#endif

enum {
  SHUNT_CLUSTER_ROWS = 8,
  SHUNT_CLUSTER_HOOD = 8192,  /* rows among which a leader is sought */
  SHUNT_CLUSTER_WINDOW = 512, /* rows among which groups are made */
  SHUNT_CLUSTER_KEY_BITS = 24,
  SHUNT_SKETCH_BINS = 32,
  SHUNT_SKETCH_WORDS = 8,
  SHUNT_SKETCH_MINIMA = 4
};
/* Of a key: the row has no group yet. */
#define SHUNT_CLUSTER_FREE (UINT32_C(1) << (SHUNT_CLUSTER_KEY_BITS - 1))

SHUNT_SKETCH_INLINE uint64_t shunt_sketch_hash(int64_t column)
{
  uint64_t state = (uint64_t)column;

  return shunt_splitmix64(&state);
}

/* Another order of the columns for each i. */
SHUNT_SKETCH_INLINE uint32_t shunt_sketch_reorder(uint64_t hash, int i)
{
  uint64_t odd =
      (UINT64_C(0xd1342543de82ef95) + 2 * (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)) | 1;

  return (uint32_t)(hash * odd >> 32);
}

/* A bin's byte: 0 when it is empty. */
SHUNT_SKETCH_INLINE uint32_t shunt_sketch_byte(uint32_t minimum)
{
  return minimum == UINT32_MAX ? 0 : 1 + minimum % 255;
}

/* Which of 32 bytes are zero: bit 8 i + 7 - w for byte i of word w. */
SHUNT_SKETCH_INLINE uint32_t shunt_sketch_zeros(const uint32_t *x, const uint32_t *y)
{
  uint32_t zeros = 0;

#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int w = 0; w < SHUNT_SKETCH_WORDS; w++) {
    uint32_t z = x[w] ^ y[w];
    zeros |= ~(((z & 0x7f7f7f7fu) + 0x7f7f7f7fu) | z | 0x7f7f7f7fu) >> w;
  }
  return zeros;
}

SHUNT_SKETCH_INLINE uint32_t shunt_sketch_count(uint32_t x)
{
#ifdef __CUDA_ARCH__
  return (uint32_t)__popc(x);
#else
  return (uint32_t)__builtin_popcount(x);
#endif
}

/* Estimated intersection over union of two rows: bins that are equal, bins that are not empty. */
struct shunt_similarity {
  uint32_t equal, either;
};

/* filled: the bins that are not empty, as shunt_sketch_zeros has them. */
SHUNT_SKETCH_INLINE struct shunt_similarity
shunt_sketch_compare(const uint32_t *x, uint32_t x_filled, const uint32_t *y, uint32_t y_filled)
{
  struct shunt_similarity s;

  s.equal = shunt_sketch_count(shunt_sketch_zeros(x, y) & x_filled);
  s.either = shunt_sketch_count(x_filled | y_filled);
  return s;
}

/* Is x less than y, is x half of y at least? */
SHUNT_SKETCH_INLINE int shunt_sketch_less(struct shunt_similarity x, struct shunt_similarity y)
{
  return x.equal * y.either < y.equal * x.either;
}
SHUNT_SKETCH_INLINE int shunt_sketch_half(struct shunt_similarity x, struct shunt_similarity y)
{
  return 2 * x.equal * y.either >= y.equal * x.either;
}

/* Of 1024. */
SHUNT_SKETCH_INLINE uint32_t shunt_sketch_score(struct shunt_similarity s)
{
  return s.either ? s.equal * 1024 / s.either : 1024;
}

/* The key of a row that has no group, from two of its minima.  A minimum's high bits are
   small, its low bits as good as random.  */
SHUNT_SKETCH_INLINE uint32_t shunt_sketch_key(uint32_t first, uint32_t second)
{
  return SHUNT_CLUSTER_FREE | (first & 0xfff) << 11 | (second & 0x7ff);
}

/* Bits of the hash of a set that rows are sorted by: two of n sets with the same happen once in
   512 matrices.  */
SHUNT_SKETCH_INLINE int shunt_sketch_hash_bits(int64_t rows)
{
  int bits = 8;

  for (; rows > 0; rows >>= 1) bits += 2;
  bits = (bits + 7) / 8 * 8;
  return bits < 64 ? bits : 64;
}

/* Bits of a place's key when it is 0, or 1 + its leader. */
SHUNT_SKETCH_INLINE int shunt_sketch_leader_bits(int64_t rows)
{
  int bits = 1;

  for (; rows > 0; rows >>= 1) bits++;
  return bits;
}

/* The scratch. */
struct shunt_row_clusters {
  int64_t rows;
  struct shunt_pairs pairs, spare; /* places: rows, int32_t */
  uint32_t *sketch;                /* [rows][SHUNT_SKETCH_WORDS] bytes of bins */
  uint32_t *filled;                /* [rows] */
  uint32_t *own_key, *leader_key;  /* [rows] to be sorted by, before leaders and as a leader */
  void *temporary;                 /* of the sort */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Bytes in all, 0 when not to be had; pointers are set when there is memory. */
size_t shunt_row_clusters_lay_out(const struct shunt_csr *a, size_t temporary, void *memory,
                                  struct shunt_row_clusters *out);
#ifdef __cplusplus
}
#endif
#endif
