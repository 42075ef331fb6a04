// spmm_csr_rows_split_shape.cuh: how the split kernel cuts its work, and the choice.
//
// The shape is a function of sizes, the type, the device and a hint (how long the longest
// row was when somebody looked); a wrong hint costs time, since what rows look like the
// kernel finds out by itself.  The numbers were chosen by measurement (tests/bench/NOTES.md).
#pragma once
#include "kernels/spmm_csr_rows.cuh"

namespace shunt {
namespace spmm_rows {

constexpr int kLeastLanes = 4;    // of a group: a batch of its columns is then 2 chunks
constexpr int kMostLongLanes = 8; // of a group of a long block
constexpr int64_t kMostNonzeros = 1 << 30;  // of A, and rows: positions fit in an int
constexpr int64_t kMostLimit = 1 << 24;     // and so do 16 times the lengths of a warp's rows

struct split_shape {
  int threads;          // of a block: 64, 128 or 256
  int chunk;            // rows of B in flight per lane: 8, or 4 where rows are short
  int lanes_log2;       // threads of a group: they share the columns of a row of C
  int team_log2;        // threads of a team: the groups that share a row from the start
  int long_lanes_log2;  // threads of a group in the long blocks, 4 or 8
  int limit;            // rows with more nonzeros are left to the long blocks
  int window;           // nonzeros where a long block looks for beginnings of long rows
  bool search;          // whether there are long blocks
};

// V: elements of B in one load.  longest: the hint, negative where nothing is known.
inline split_shape choose_split(int64_t rows, int64_t nonzeros, int64_t n, int V, int64_t longest,
                                const shunt_device *d)
{
  const int64_t mean = nonzeros / rows, multiprocessors = d->multiprocessors;
  split_shape s = {};
  s.lanes_log2 = s.long_lanes_log2 = 2;
  while (s.lanes_log2 < 5 && (V << s.lanes_log2) < n) s.lanes_log2++;
  // Few rows: narrower groups, so that more of them share a row.
  while (s.lanes_log2 > 2 && rows * ((n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2)) <
                                 4 * multiprocessors)
    s.lanes_log2--;
  const int64_t slices = (n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2);
  if (n > V << 4) s.long_lanes_log2 = 3;  // the same search is made for each slice
  const int64_t long_slices = (n + (V << s.long_lanes_log2) - 1) / (V << s.long_lanes_log2);

  // Several groups to a row while warps are few and each group has more than a chunk.
  s.team_log2 = s.lanes_log2;
  int64_t warps = (rows * slices << s.lanes_log2) / 32;
  while (s.team_log2 < 5 && warps <= 64 * multiprocessors &&
         mean > kChunk << (s.team_log2 - s.lanes_log2)) {
    s.team_log2++;
    warps *= 2;
  }

  // A row beyond the limit goes to the long blocks, which each look for theirs for a
  // microsecond or two: not more of them than run at once, and none at all where rows were
  // short; then a row that has grown since is walked like the others.
  int64_t limit = 16 * kChunk > 4 * mean ? 16 * kChunk : 4 * mean;
  const bool few_long = longest >= 0 && longest <= (s.lanes_log2 <= 3 ? 4 : 2) * limit;
  s.search = !few_long || nonzeros >= kMostLimit;
  if (!s.search || limit > kMostLimit) limit = kMostLimit;
  s.threads = s.search ? kThreads : kThreads / 2; // the warps of a long block share its rows
  s.limit = (int)limit;
  s.chunk = s.lanes_log2 == 5 && mean >= 5 && !s.search ? 4 : 8;
  int64_t window = nonzeros / (kBlocksPerSm * multiprocessors) * long_slices;
  if (V <= 2) window /= 4;
  if (window < 2048) window = 2048;
  s.window = (int)(window < nonzeros ? window : nonzeros);
  return s;
}

// What the kernel reads of it.
struct split_args {
  int lanes_log2, team_log2, long_lanes_log2;
  int limit, window;
  uint32_t long_blocks, long_slices;  // the first blocks of the grid; slices of C
  uint32_t row_blocks;                // of each slice of C
};

}  // namespace spmm_rows
}  // namespace shunt
