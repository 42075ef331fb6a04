// profile_job.cuh: what the kernel of a profile is told, and the counts that its blocks add up.
#pragma once
#include <cuda_runtime.h>

#include "conv/profile/profile.h"

namespace shunt
{
namespace
{

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 8;
constexpr int batch = 2;           // entries a thread has in flight
constexpr int warp_most = 2048;    // entries of a group that one warp takes
constexpr int most_waiting = 64;   // groups of more that wait for their block; others do not wait
constexpr int resident_blocks = 4; // that registers are limited for
constexpr unsigned whole_warp = 0xffffffffu;

enum {
  COUNT_EMPTY,
  COUNT_UNSORTED,
  COUNT_CROWDED,
  COUNT_SQUARES_LOW, // squares are added in two halves: 96 bits in all
  COUNT_SQUARES_HIGH,
  COUNT_NONEMPTY,                   // 3: groups of 8, 4, 2
  COUNT_EQUAL = COUNT_NONEMPTY + 3, // 3
  COUNT_TILES = COUNT_EQUAL + 3,
  COUNT_IDLE,
  COUNT_SEGMENTS,
  COUNT_WEIGHT,
  COUNT_LENGTHS, // SHUNT_SORTED_COUNTS: rows that the next one does not count
  COUNT_SUMS = COUNT_LENGTHS + SHUNT_SORTED_COUNTS,
  COUNT_LONGEST = COUNT_SUMS, // a maximum
  COUNT_ALL
};

struct scratch_area {
  unsigned long long count[COUNT_ALL];
  unsigned done;
};
static_assert(sizeof(scratch_area) <= SHUNT_PROFILE_SCRATCH, "SHUNT_PROFILE_SCRATCH too small");

struct profile_job {
  const void *offsets, *columns;
  int64_t rows, cols, nnz, groups;
  int base;
  bool by_blocks;                     // every group is a block's work
  int64_t merged_blocks, merged_step; // so many blocks of 16 rows, each so far from the one before
  double log2_nnz;
  uint64_t serial;
  struct shunt_profile *out;
  scratch_area *scratch;
};

} // namespace
} // namespace shunt
