// csr_spmm_split_shape.cuh: how the split kernel cuts its work, and the choice.
//
// The shape is a function of sizes, the type, the device and a hint (how long the longest
// row was when somebody looked); a wrong hint costs time, since what rows look like the
// kernel finds out by itself.  The numbers were chosen by measurement (tests/bench/csr.md).
#pragma once
#include "kernels/csr/csr_spmm.cuh"

namespace shunt
{
namespace csr
{

constexpr int kLeastTeamLog2 = 2;                   // a batch of a team's columns is then 2 chunks
constexpr int kMostLongLanes = 8;                   // of a group of a long block
constexpr int64_t kMostNonzeros = 1 << 30;          // of A, and rows: positions fit in an int
constexpr int64_t kLeastLong = 64, kMostLong = 128; // a long row begins between, by the longest
constexpr int64_t kWideRow = 256,
                  kMostWideLong = 512; // bytes of B a group has; the latest, for twice them
constexpr int64_t kMostWindow = 20480; // of long blocks in f64, or a fourth
constexpr int64_t kHuge = 2048;        // a row that takes long even of a long block
constexpr int64_t kShortMean = 8, kShortMost = 96; // what rows are short: on average, the longest
constexpr int kShortRows = 8;                      // of a team, then
constexpr int64_t kSkewed = 64,
                  kSkewedMean = 24;     // and beside long ones: the longest over the mean, the mean
constexpr int64_t kSparseMean = 6;      // most rows have next to nothing
constexpr int64_t kMostLimit = 1 << 24; // and so do 16 times the lengths of a warp's rows

inline int64_t least_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

struct split_shape {
  int threads;         // of a block: 64, 128 or 256
  int chunk;           // rows of B in flight per lane: 8, or 4 where rows are short
  int lanes_log2;      // threads of a group: they share the columns of a row of C
  int team_log2;       // threads of a team: the groups that share a row from the start
  int long_lanes_log2; // threads of a group in the long blocks, 4 or 8
  int limit;           // rows with more nonzeros are left to the long blocks
  int window;          // nonzeros where a long block looks for beginnings of long rows
  bool search;         // whether there are long blocks
  bool whole;          // whether a way of its own takes full chunks; not with search
  int team_rows;       // rows that a team takes as one list; 0: one at a time
};

// Several groups to a row while warps are few and each group has more than a few chunks; more
// than one chunk where warps are so few that latency is all that counts.
inline void choose_team(split_shape *s, int64_t rows, int64_t mean, int64_t slices,
                        int64_t multiprocessors)
{
  s->team_log2 = s->lanes_log2 > kLeastTeamLog2 ? s->lanes_log2 : kLeastTeamLog2;
  int64_t warps = (rows * slices << s->team_log2) / 32;
  while (s->team_log2 < 5 && warps <= 64 * multiprocessors) {
    const int64_t worth = warps > 8 * multiprocessors ? 5 * kChunk / 2 : kChunk;
    if (mean <= worth << (s->team_log2 - s->lanes_log2)) break;
    s->team_log2++;
    warps *= 2;
  }
}

// A warp with 16 bytes a lane takes 80 ns for a nonzero of one row, 25 in whole chunks, and the
// device gathers 8000 bytes a nanosecond; long rows that end within 3 us are no matter.
constexpr int64_t kWalk = 80, kWholeWalk = 25, kGather = 8000, kStart = 3000, kWholeStart = 3500;

// One more step for rows that are several times the mean, in narrow products; for such that are
// many times the mean, where warps are not many more than for the steps before.
inline void widen_team(split_shape *s, int64_t rows, int64_t mean, int64_t slices, int64_t longest,
                       int64_t multiprocessors)
{
  if (s->search || s->team_log2 == 5 || mean < kChunk) return;
  const int64_t warps = (rows * slices << s->team_log2) / 32;
  const bool few = warps <= 128 * multiprocessors;
  const bool long_enough = mean > 5 * kChunk / 2 << (s->team_log2 - s->lanes_log2);
  if (s->lanes_log2 == 2 ? 2 * longest > 7 * mean : few && long_enough && longest > 8 * mean)
    s->team_log2++;
}

// Wide rows of B in two slices, two groups to a row, where what the longest row takes a warp is
// more than an eighth of the whole: it ends sooner.  Elsewhere it is better to gather all at once.
inline void narrow_groups(split_shape *s, int64_t rows, int64_t nonzeros, int64_t slices,
                          int64_t row_bytes, int64_t longest, int64_t multiprocessors)
{
  const bool wide = s->lanes_log2 == 5 && nonzeros >= 4 * kChunk * rows;
  const bool late = 8 * kWholeWalk * longest > nonzeros * row_bytes / kGather;
  if (wide && late && !s->search && rows * slices > 32 * multiprocessors) s->lanes_log2 = 4;
}

// Whether the longest row, walked by a whole warp, would end last.  In whole chunks 5 of those 25
// ns are for a nonzero to come from A, the others are shared by the warp's groups; up to a third of
// what all rows gather lies before that.  Huge rows are not trusted with it.
inline bool ends_late(int lanes_log2, bool chunks, int64_t longest, int64_t all)
{
  if (!chunks || longest > kHuge) return longest * (kWalk >> (5 - lanes_log2)) > all + kStart;
  return longest * (8 + (1 << lanes_log2)) * kWholeWalk / 40 > all / 3 + kWholeStart;
}

// A row beyond the limit goes to the long blocks, which each look for theirs for a microsecond or
// two: there are none where the longest row ends before the others do.  Then a row that has grown
// since is walked like the others.  In wide products a row is long where walking it would take a 25th
// of the whole; of rows of 256 bytes, if none is more than one and a half multiprocessors' share.
inline void choose_limit(split_shape *s, int64_t nonzeros, int64_t mean, int64_t row_bytes,
                         bool chunks, int64_t longest, int64_t multiprocessors)
{
  const bool known = longest >= 0;
  const int64_t all = nonzeros * row_bytes / kGather;
  const int64_t walk = kWalk >> (5 - s->lanes_log2);
  int64_t limit = known ? longest / 4 : kMostLong, most = kMostLong;
  const bool even = 2 * longest * multiprocessors <= 3 * nonzeros;
  if (known && row_bytes >= (even ? kWideRow : 2 * kWideRow))
    most = least_of(all / (25 * walk), row_bytes > kWideRow ? kMostWideLong : kMostLong);
  if (limit > most) limit = most;
  if (limit < kLeastLong) limit = kLeastLong;
  if (limit < 2 * mean) limit = 2 * mean;
  const bool late = ends_late(s->lanes_log2, chunks, longest, all);
  s->search = !known || nonzeros >= kMostLimit || (2 * longest > 3 * limit && late);
  s->limit = (int)(s->search && limit < kMostLimit ? limit : kMostLimit);
}

// By how rows look: whole chunks, several rows a team, rows of B in flight.
inline void choose_way(split_shape *s, int64_t rows, int64_t n, int V, int64_t mean,
                       int64_t longest, int64_t multiprocessors)
{
  const bool huge = longest < 0 || longest > kHuge;
  const bool even_short = s->lanes_log2 == 5 && mean < 32 && longest <= 3 * mean;
  s->whole = !s->search && (V > 2 ? !even_short : s->lanes_log2 >= 4);
  const int64_t slices = (n + (V << s->lanes_log2) - 1) / (V << s->lanes_log2);
  const int64_t warps = (rows * slices << s->lanes_log2) / (32 * kShortRows);
  const bool is_short = s->lanes_log2 >= 4 && !s->search && mean < kShortMean && longest >= 0 &&
                        longest <= kShortMost && warps >= 12 * multiprocessors;
  // Beside long blocks it takes more warps to pay.
  const bool is_skewed = s->lanes_log2 == 5 && s->search && longest > kSkewed * mean &&
                         mean < (V > 2 ? kSparseMean : kSkewedMean) &&
                         warps >= 64 * multiprocessors;
  if (is_short || is_skewed) s->team_rows = kShortRows;
  if (is_skewed) s->limit = (int)least_of(s->limit, kLeastLong > 2 * mean ? kLeastLong : 2 * mean);
  // Chunks of 4 beside long blocks: where most rows do not fill them; and in f32, where most of the
  // time goes to a few rows, but none is huge.
  const bool sparse = longest >= 0 && mean < kSparseMean && (V > 2 ? huge : slices > 1);
  const bool skewed = V > 2 && !huge && n < 256 && longest > kSkewed * mean &&
                      2 * longest * multiprocessors > mean * rows;
  const bool light = s->search ? sparse || skewed : !s->whole && V > 2;
  s->chunk = s->lanes_log2 == 5 && light ? 4 : kChunk;
}

// Wide groups search less, as each slice of C is searched for; narrow ones have more of a row under
// way, where that is more than a multiprocessor's share.  all: what the longest row would be, if each
// multiprocessor had one.
inline int choose_long_lanes(int64_t nonzeros, int64_t n, int V, int size, int64_t all)
{
  if (n <= 2 * V || (n <= 4 * V && all > nonzeros)) return 1;
  if (all > 4 * nonzeros) return n * size < 4 * kWideRow ? 1 : 2;
  const int narrow = all < 0 || 2 * all > 3 * nonzeros ? 4 : 2 * all > nonzeros ? 3 : 2;
  return n > V << narrow ? 3 : 2;
}

// How long rows are shared.  The warps of a long block have its rows in common; smaller blocks end
// sooner where none is huge, or most of the work.
inline void choose_long_blocks(split_shape *s, int64_t nonzeros, int64_t n, int V, int size,
                               int64_t longest, int64_t multiprocessors)
{
  const int64_t all = longest * multiprocessors;
  const bool huge = longest < 0 || longest > kHuge;
  const bool most = n > 16 && n * size < 4 * kWideRow && 2 * all > nonzeros;
  const bool large = huge || most || n <= 8;
  s->threads = s->search && large ? kThreads : kThreads / 2;
  s->long_lanes_log2 = choose_long_lanes(nonzeros, n, V, size, all);

  // Not more long blocks than run at once, and a few for each multiprocessor.
  const int64_t long_width = V << s->long_lanes_log2;
  const int64_t long_slices = (n + long_width - 1) / long_width;
  int64_t window = nonzeros / (kBlocksPerSm * multiprocessors) * long_slices;
  if (V <= 2 && window > kMostWindow) window /= 4;
  int64_t narrowest = s->search && large && n > 8 ? 1024 : 512;
  if (nonzeros >= 2048 * multiprocessors) narrowest = 2048;
  if (window < narrowest) window = narrowest;
  s->window = (int)least_of(window, nonzeros);
}

// V: elements of B in one load, of `size` bytes each.  longest: the hint, negative where nothing is
// known.
inline split_shape choose_split(int64_t rows, int64_t nonzeros, int64_t n, int V, int size,
                                int64_t longest, const shunt_device *d)
{
  const int64_t mean = nonzeros / rows, multiprocessors = d->multiprocessors;
  split_shape s = {};
  s.lanes_log2 = 2;
  while (s.lanes_log2 < 5 && (V << s.lanes_log2) < n) s.lanes_log2++;
  // Few rows: narrower groups, so that more of them share a row.
  const int least = mean >= kChunk << 4 ? 1 : 2;
  while (s.lanes_log2 > least &&
         rows * ((n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2)) < 4 * multiprocessors)
    s.lanes_log2--;
  const int64_t width = V << s.lanes_log2;
  const int64_t slices = (n + width - 1) / width;
  choose_team(&s, rows, mean, slices, multiprocessors);
  const bool chunks = V * size == 16 && size >= 4; // as built (has_ways)
  choose_limit(&s, nonzeros, mean, width * size, chunks, longest, multiprocessors);
  widen_team(&s, rows, mean, slices, longest, multiprocessors);
  if (chunks) narrow_groups(&s, rows, nonzeros, slices, width * size, longest, multiprocessors);
  choose_way(&s, rows, n, V, mean, longest, multiprocessors);
  // Two lanes of 16 bytes are a sector: more nonzeros at once, where columns are few.
  if (n <= 2 * V) s.lanes_log2 = 1;
  choose_long_blocks(&s, nonzeros, n, V, size, longest, multiprocessors);
  return s;
}

// What the kernel reads of it.
struct split_args {
  int lanes_log2, team_log2, long_lanes_log2;
  int limit, window;
  uint32_t long_blocks, long_slices; // the first blocks of the grid; slices of C
  uint32_t row_blocks;               // of each slice of C
  int team_rows;
};

} // namespace csr
} // namespace shunt
