// masked_dot_tags.cuh: a set of columns in shared memory: buckets of four tags of 16 bits.
//
//   column * odd factor mod 2^width   | bucket: high bits | rest: at most 14 bits |
//   tag                               | rest | 1 + how many buckets further |    0: free
//
//          bucket h            h + 1
//     | t  t  t  t  |  | t' t  .  .  |     what found h full is a bucket further, or two
//
// The product can be undone, so bucket and tag tell the column: nothing is compared but tags, four
// by one load of 8 bytes.  A column is sought in the next bucket only where its own is full: as
// buckets are as many as columns at least, hardly ever.
#pragma once
#include <cstdint>

namespace shunt
{
namespace masked
{

constexpr int kRest = 14, kFurther = 3;

struct hashing {
  unsigned factor;
  int width; // columns are below 2^width
};

__device__ __forceinline__ unsigned home_of(const hashing &by, unsigned column, int bits,
                                            unsigned *tag)
{
  const unsigned mixed = column * by.factor & ((1u << by.width) - 1);
  const int rest = by.width - bits;
  *tag = (mixed & ((1u << rest) - 1)) << 2 | 1;
  return mixed >> rest;
}

// Buckets for n columns: two for each where there are as many.
__device__ __forceinline__ int bits_for_tags(const hashing &by, int n, int most)
{
  const int wanted = 33 - __clz(n), least = by.width - kRest;
  const int bits = wanted > least ? wanted : least;
  return bits < most ? bits : most;
}

// False: no room within reach.
__device__ __forceinline__ bool add_tag(const hashing &by, uint2 *buckets, int bits,
                                        unsigned column)
{
  unsigned tag, home = home_of(by, column, bits, &tag);
  for (int further = 0; further < kFurther; further++, tag++, home++) {
    unsigned *words = &buckets[home & ((1u << bits) - 1)].x;
    for (int w = 0; w < 2; w++) {
      unsigned seen = 0, was;
      for (; seen < 0x10000u || !(seen & 0xffffu); seen = was) {
        was = atomicCAS(&words[w], seen, seen & 0xffffu ? seen | tag << 16 : seen | tag);
        if (was == seen) return true;
      }
    }
  }
  return false;
}

// Not 0: the tag is there.
__device__ __forceinline__ unsigned match(uint2 bucket, unsigned tag)
{
  const unsigned twice = tag * 0x10001u, x = bucket.x ^ twice, y = bucket.y ^ twice;
  return (((x - 0x10001u) & ~x) | ((y - 0x10001u) & ~y)) & 0x80008000u;
}

__device__ __forceinline__ bool is_full(uint2 bucket)
{
  return bucket.y > 0xffffu;
}

// In the buckets behind its own, which is full.
__device__ __forceinline__ bool is_further(const uint2 *buckets, int bits, unsigned home,
                                           unsigned tag)
{
  for (int further = 1; further < kFurther; further++) {
    const uint2 bucket = buckets[(home + further) & ((1u << bits) - 1)];
    if (match(bucket, tag + further)) return true;
    if (!is_full(bucket)) return false;
  }
  return false;
}

} // namespace masked
} // namespace shunt
