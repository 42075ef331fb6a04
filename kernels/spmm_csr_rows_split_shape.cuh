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
constexpr int64_t kLeastLong = 64, kMostLong = 128; // a long row begins between, by the longest
constexpr int64_t kHuge = 2048;             // a row that takes long even of a long block
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

// Several groups to a row while warps are few and each group has more than a few chunks; more
// than one chunk where warps are so few that latency is all that counts.
inline void choose_team(split_shape *s, int64_t rows, int64_t mean, int64_t slices,
                        int64_t multiprocessors)
{
  s->team_log2 = s->lanes_log2;
  int64_t warps = (rows * slices << s->lanes_log2) / 32;
  while (s->team_log2 < 5 && warps <= 64 * multiprocessors) {
    const int64_t worth = warps > 8 * multiprocessors ? 5 * kChunk / 2 : kChunk;
    if (mean <= worth << (s->team_log2 - s->lanes_log2)) break;
    s->team_log2++;
    warps *= 2;
  }
}

// A warp with 16 bytes a lane takes 80 ns for a nonzero of one row, and the device gathers 8000 bytes
// a nanosecond; long rows that end within 3 us are no matter.
constexpr int64_t kWalk = 80, kGather = 8000, kStart = 3000;

// A row beyond the limit goes to the long blocks, which each look for theirs for a microsecond or
// two: there are none where the longest row ends before the others do.  Then a row that has grown
// since is walked like the others.
inline void choose_limit(split_shape *s, int64_t nonzeros, int64_t mean, int64_t row_bytes,
                         int64_t longest)
{
  const bool known = longest >= 0;
  int64_t limit = known ? longest / 4 : kMostLong;
  limit = limit < kLeastLong ? kLeastLong : limit > kMostLong ? kMostLong : limit;
  if (limit < 2 * mean) limit = 2 * mean;
  const int64_t alone = longest * kWalk >> (5 - s->lanes_log2);
  const bool late = alone > nonzeros * row_bytes / kGather + kStart;
  s->search = !known || nonzeros >= kMostLimit || (2 * longest > 3 * limit && late);
  s->limit = (int)(s->search && limit < kMostLimit ? limit : kMostLimit);
  // The warps of a long block share its rows; smaller blocks end sooner where none is huge.
  s->threads = s->search && (!known || longest > kHuge) ? kThreads : kThreads / 2;
}

// V: elements of B in one load, of `size` bytes each.  longest: the hint, negative where nothing is
// known.
inline split_shape choose_split(int64_t rows, int64_t nonzeros, int64_t n, int V, int size,
                                int64_t longest, const shunt_device *d)
{
  const int64_t mean = nonzeros / rows, multiprocessors = d->multiprocessors;
  split_shape s = {};
  s.lanes_log2 = s.long_lanes_log2 = 2;
  while (s.lanes_log2 < 5 && (V << s.lanes_log2) < n) s.lanes_log2++;
  // Few rows: narrower groups, so that more of them share a row.
  while (s.lanes_log2 > 2 && rows * ((n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2)) <
                                 4 * multiprocessors)
    s.lanes_log2--;
  if (n > V << 4) s.long_lanes_log2 = 3;  // the same search is made for each slice
  const int64_t width = V << s.lanes_log2, long_width = V << s.long_lanes_log2;
  choose_team(&s, rows, mean, (n + width - 1) / width, multiprocessors);
  choose_limit(&s, nonzeros, mean, width * size, longest);
  s.chunk = s.lanes_log2 == 5 && (V > 2 || mean < 12) && !s.search ? 4 : 8;

  // Not more long blocks than run at once, and a few for each multiprocessor.
  const int64_t long_slices = (n + long_width - 1) / long_width;
  int64_t window = nonzeros / (kBlocksPerSm * multiprocessors) * long_slices;
  if (V <= 2) window /= 4;
  const int64_t least = nonzeros < 2048 * multiprocessors ? 512 : 2048;
  if (window < least) window = least;
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
