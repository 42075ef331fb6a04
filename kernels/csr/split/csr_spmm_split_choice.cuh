// csr_spmm_split_choice.cuh: how the split kernel's shape is chosen: one table of rules, read from
// top to bottom; of layers by estimates (csr_spmm_split_layers.cuh).
//
// The shape is a function of sizes, the type, the device and a hint: the length of the longest row
// when the matrix was last profiled.  A wrong hint costs time only, as the kernel reads the rows'
// lengths itself.  The numbers were chosen by measurement (tests/bench/csr.md).
//
// What the estimates rest on: a warp with 16 bytes a lane takes 80 ns for a nonzero of one row, 25
// in whole chunks (of which 5 are for it to come from A, the others shared by the warp's groups),
// and the device gathers 8000 bytes a nanosecond.
#pragma once
#include <utility>

#include "kernels/csr/csr_unstaged.h"
#include "kernels/csr/csr_words.h"
#include "kernels/csr/split/csr_spmm_split_layers.cuh"
#include "kernels/csr/split/csr_spmm_split_walk_unstaged.cuh"

namespace shunt
{
namespace csr
{

constexpr int64_t kWalk = 80, kWholeWalk = 25, kGather = 8000;
constexpr int64_t kListWarps = 32; // that a multiprocessor runs at once, of lists

// The shape in the making, and what it is made from.
struct split_choice {
  int64_t rows, nonzeros, n, longest, multiprocessors; // longest: the hint, or negative
  int64_t mean;                                        // nonzeros of a row
  int V, size;                                         // elements of B in one load, bytes of each
  bool words;                                          // lanes may have two

  split_shape s;
  bool narrowed;             // groups are narrower than C for the sake of long rows
  int64_t slices, row_bytes; // of C; of B, that a group reads: by the first choice of lanes
  int64_t warps;             // of all teams, while they are chosen
  int64_t limit;             // where long rows begin
  int64_t window;

  int64_t slices_now() const { return (n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2); }
  int64_t warps_now() const { return (rows * slices << s.team_log2) / 32; }
  // Where a team takes 8 rows.
  int64_t list_warps() const { return (rows * slices_now() << s.lanes_log2) / (32 * 8); }
  // Can a team have more groups, and does each of those it has get more than so many nonzeros?
  bool is_worth(int64_t nonzeros_each) const
  {
    return s.team_log2 < 5 && mean > nonzeros_each << (s.team_log2 - s.lanes_log2);
  }

  bool known() const { return longest >= 0; }
  // Groups of half as many lanes: does the longest row that its warp keeps end sooner by more than
  // the slices of C that are more cost, each of whose rows takes a warp 0.4 ns of the device?  Not
  // where gathering takes far longer than that row, and fewer than 8 lanes only for few warps.
  bool gains_by_narrower() const
  {
    if (!known() || !chunks() || size > 8 || s.lanes_log2 <= 2) return false;
    if (s.lanes_log2 == 3 && rows * slices_now() > 8 * multiprocessors) return false;
    const int64_t kept = longest < 6 * mean ? longest : 6 * mean, width = V << s.lanes_log2;
    const int64_t more = (n + width / 2 - 1) / (width / 2) - slices_now();
    return mean >= kChunk << (5 - s.lanes_log2) &&
           4 * whole_row(kept) * kGather > nonzeros * n * size &&
           kept * (1 << s.lanes_log2) * kWholeWalk > 2 * 40 * (2 * rows * more / 5);
  }
  bool huge() const { return longest < 0 || longest > 2048; } // takes long even of a long block
  bool chunks() const { return V * size == 16; }              // has ways of its own, as built

  // ns: gathering all; walking a nonzero by a group; the longest row, by a warp in whole chunks.
  int64_t all() const { return nonzeros * (narrowed ? n * size : row_bytes) / kGather; }
  int64_t walk() const { return kWalk >> (5 - s.lanes_log2); }
  int64_t whole_row(int64_t length) const
  {
    return length * (8 + (1 << s.lanes_log2)) * kWholeWalk / 40;
  }
  // Nonzeros, if each multiprocessor had a row like the longest.
  int64_t longest_each() const { return longest * multiprocessors; }

  // Whether the longest row, walked by a whole warp, would end last: a third of what all rows gather
  // lies before that, as L1 has much of it.  Huge rows are not trusted with whole chunks.  Long
  // rows that end within 3 us are no matter.
  bool ends_late() const
  {
    if (!chunks() || longest > 2048) return longest * walk() > all() / 3 + 4000;
    return whole_row(longest) > (narrowed ? all() / 2 + 5000 : all() / 3 + 3500);
  }
  bool may_widen() const { return !s.search && s.team_log2 < 5 && mean >= kChunk; }
  bool even_and_short() const { return s.lanes_log2 == 5 && mean < 32 && longest <= 3 * mean; }
  // Most of the time goes to a few rows, but none is huge.
  bool few_rows_last() const
  {
    return !huge() && longest > 64 * mean && 2 * longest_each() > mean * rows;
  }
  bool searches_wide() const { return s.search && s.lanes_log2 == 5; }
  bool alike() const { return 2 * longest <= 3 * mean; }
  // Rows of fewer than so many entries, and no long blocks.
  bool lists_alone(int64_t entries) const { return !s.search && known() && mean < entries; }
  // As many rows a team as let all warps run at once; 8 where even 16 would not.
  int list_rows() const
  {
    const int64_t at_once = kListWarps * multiprocessors;
    const int64_t all = (8 * list_warps() + at_once - 1) / at_once;
    return all > 16 ? 8 : all < 4 ? 4 : (int)all;
  }
  // Short rows of nearly one length, a group each, not as lists.
  bool alike_and_short() const
  {
    return chunks() && size > 1 && size <= 8 && lists_alone(11) && alike() && !s.team_rows &&
           s.team_log2 == s.lanes_log2 && s.lanes_log2 <= 4 && slices_now() == 1;
  }

  shunt_csr_work work() const
  {
    return {rows, nonzeros, longest, n, size, (int)multiprocessors, words};
  }
  // Two words a lane: not beside long blocks, nor where groups are narrower for long rows' sake.
  bool gains_by_words() const
  {
    const shunt_csr_work m = work();
    return !s.search && !narrowed && chunks() && shunt_csr_has_words(&m);
  }
};

// Narrow C: A is read without staging it.  Of a matrix whose rows differ much only beside long blocks.
inline bool is_unstaged(const split_choice &x)
{
  return x.chunks() && shunt_csr_is_unstaged(x.rows, x.nonzeros, x.longest, x.n, x.size) &&
         (x.s.search || shunt_csr_longest_is_near(x.longest, x.mean));
}

// Its shape: teams such that as many warps are made as run at once, 40 a multiprocessor; groups have
// no less than two and a half nonzeros of a row of the mean, or two.  Larger teams where a row that
// is not long would keep a group for more than 8 chunks, or 5 where teams are small for the mean.
inline void choose_unstaged(split_choice &x)
{
  const int lanes_log2 = x.n <= x.V ? 0 : 1;
  const int64_t kept = x.s.search ? 2 * x.mean : x.longest;
  int t = lanes_log2;
  const auto may_widen = [&] {
    return t < 5 && 2 * x.mean >= (t == lanes_log2 ? 4 : 5) << (t + 1 - lanes_log2);
  };
  while (may_widen() && 7 * 40 * 32 * x.multiprocessors > 10 * (x.rows << t)) t++;
  const auto most = [&] { return (t < 3 && x.mean >= 16 ? 5 : 8) * kUnstagedChunk; };
  while (may_widen() && kept > most() << (t - lanes_log2)) t++;
  x.s.unstaged = true;
  x.s.lanes_log2 = lanes_log2, x.s.team_log2 = t;
  x.s.team_rows = 0, x.s.threads = kThreads;
}

// Two words a lane: instead of lists and narrower groups.
inline void choose_words(split_choice &x)
{
  const shunt_csr_work m = x.work();
  x.s.words = 2;
  x.s.lanes_log2 = shunt_csr_words_lanes_log2(&m);
  x.s.team_log2 = shunt_csr_words_team_log2(&m, x.s.lanes_log2);
  x.s.team_rows = 0;
  x.s.whole = true, x.s.unstaged = false;
}

// `then` is done once where `when` holds (ONCE), or as long as it holds (WHILE).
struct split_rule {
  enum { ONCE, WHILE } how;
  bool (*when)(const split_choice &x);
  void (*then)(split_choice &x);
};

#define RULE(how, condition, action)                                                               \
  {                                                                                                \
    split_rule::how, [](const split_choice &x) -> bool { return (void)x, (condition); },           \
        [](split_choice &x) { action; }                                                            \
  }

constexpr split_rule split_rules[] = {
    // ---- lanes of a group, groups of a team
    // A group is as wide as C: 4 lanes to 32.
    RULE(WHILE, x.s.lanes_log2 < 5 && (x.V << x.s.lanes_log2) < x.n, x.s.lanes_log2++),
    // Few rows: narrower groups, so that more of them share a row.
    RULE(WHILE, x.s.lanes_log2 > 2 && x.rows * x.slices_now() < 4 * x.multiprocessors,
         x.s.lanes_log2--),
    // A warp would have a row to itself, and warps are few, so that latency is all that counts: two
    // groups to a row, each for half of C.
    RULE(ONCE,
         x.s.lanes_log2 == 5 && x.mean > kChunk &&
             x.rows * x.slices_now() <= (x.V > 2 ? 16 : 8) * x.multiprocessors,
         x.s.lanes_log2 = 4),
    // Rows that take a warp long: narrower groups, so that more of them share a row.
    RULE(WHILE, x.gains_by_narrower(), (x.s.lanes_log2--, x.narrowed = true)),
    // 2 lanes only where rows are long, too.
    RULE(WHILE,
         x.s.lanes_log2 == 2 && x.mean >= 16 * kChunk &&
             x.rows * x.slices_now() < 4 * x.multiprocessors,
         x.s.lanes_log2--),
    RULE(ONCE, true, (x.slices = x.slices_now(), x.row_bytes = (x.V << x.s.lanes_log2) * x.size)),
    // A team is a group at first, and 4 lanes at least.
    RULE(ONCE, true, x.s.team_log2 = x.s.lanes_log2),
    RULE(ONCE, x.s.team_log2 < kLeastTeamLog2, x.s.team_log2 = kLeastTeamLog2),
    RULE(ONCE, x.narrowed, x.s.team_log2 = 5),
    RULE(ONCE, true, x.warps = x.warps_now()),
    // Warps are so few that latency is all that counts: more groups while each has more than a
    // chunk.
    RULE(WHILE, x.is_worth(kChunk) && x.warps <= 8 * x.multiprocessors,
         (x.s.team_log2++, x.warps *= 2)),
    // Warps are few: more groups while each has more than two and a half.
    RULE(WHILE,
         x.is_worth(5 * kChunk / 2) && x.warps > 8 * x.multiprocessors &&
             x.warps <= (x.s.lanes_log2 <= 2 ? 16 : 64) * x.multiprocessors,
         (x.s.team_log2++, x.warps *= 2)),

    // ---- from where on rows are long, and whether they are searched for
    // A row is long that has four times the mean, and 64 nonzeros; in narrow products 128.
    RULE(ONCE, true, x.limit = x.row_bytes <= 128 ? 128 : 64),
    RULE(ONCE, x.limit < 4 * x.mean, x.limit = 4 * x.mean),
    // Half of that, where the longest is shorter and would still be what all wait for.
    RULE(ONCE, x.narrowed && 2 * x.longest <= 3 * x.limit && x.ends_late(), x.limit /= 2),
    // Long blocks look for their rows for a microsecond or two.  They pay where nobody looked yet,
    RULE(ONCE, !x.known(), x.s.search = true),
    // where 16 times the lengths of a warp's rows might not fit in an int,
    RULE(ONCE, x.nonzeros >= kMostLimit, x.s.search = true),
    // and where a row that is clearly long would end after all others.
    RULE(ONCE, 2 * x.longest > 3 * x.limit && x.ends_late(), x.s.search = true),
    // Without them no row is long: one that has grown since is walked like the others.
    RULE(ONCE, !x.s.search || x.limit > kMostLimit, x.limit = kMostLimit),

    // ---- second thoughts about groups and teams, where there are no long blocks
    // Narrow products: one step more where the longest row is several times the mean.
    RULE(ONCE, x.s.lanes_log2 == 2 && x.may_widen() && 2 * x.longest > 7 * x.mean, x.s.team_log2++),
    // Others: where it is many times the mean, and warps are not many more than above.
    RULE(ONCE,
         x.s.lanes_log2 != 2 && x.may_widen() && x.warps_now() <= 128 * x.multiprocessors &&
             x.is_worth(5 * kChunk / 2) && x.longest > 8 * x.mean,
         x.s.team_log2++),
    // Wide rows of B in two slices, two groups to a row, where the longest row takes a warp more
    // than an eighth of the whole: it ends sooner.  Elsewhere it is better to gather all at once.
    RULE(ONCE,
         x.chunks() && x.s.lanes_log2 == 5 && !x.s.search && x.nonzeros >= 4 * kChunk * x.rows &&
             8 * kWholeWalk * x.longest > x.all() && x.rows * x.slices > 32 * x.multiprocessors,
         x.s.lanes_log2 = 4),

    // ---- by how rows look
    // Whole chunks have a way of their own; not for short rows of one length,
    RULE(ONCE, !x.s.search && x.V > 2 && !x.even_and_short(), x.s.whole = true),
    // and of 8-byte values not in narrow groups, if they are as wide as C.
    RULE(ONCE, !x.s.search && x.V <= 2 && (x.s.lanes_log2 >= 4 || x.narrowed), x.s.whole = true),
    // Short rows, and many: a team takes several as one list,
    RULE(ONCE,
         x.s.lanes_log2 == 5 && x.lists_alone(12) && x.longest <= 96 &&
             x.list_warps() >= 12 * x.multiprocessors,
         x.s.team_rows = x.list_rows()),
    // in narrower groups of fewer rows, if they differ,
    RULE(ONCE,
         x.s.lanes_log2 == 4 && x.lists_alone(11) && x.longest <= 96 &&
             x.list_warps() >= (x.alike() ? 13 : 7) * x.multiprocessors,
         x.s.team_rows = x.list_rows()),
    // and in still narrower ones where none is much longer than others.
    RULE(ONCE,
         x.s.lanes_log2 == 3 && x.lists_alone(5) && x.longest <= 4 * x.mean &&
             x.list_warps() >= 14 * x.multiprocessors,
         x.s.team_rows = x.list_rows()),
    // Others, if they are alike, by groups that read A themselves.
    RULE(ONCE, x.alike_and_short(), x.s.unstaged = true),
    // Short rows beside long ones: so, too, where warps are more; then rows are long early.
    RULE(ONCE,
         x.searches_wide() && x.longest > 64 * x.mean && x.mean < (x.V > 2 ? 6 : 24) &&
             x.list_warps() >= 64 * x.multiprocessors,
         x.s.team_rows = 8),
    RULE(ONCE, x.searches_wide() && x.s.team_rows && x.limit > 64 && x.limit > 2 * x.mean,
         x.limit = 2 * x.mean > 64 ? 2 * x.mean : 64),
    // 4 rows of B in flight: in f32 beside huge rows, where most rows have next to nothing,
    RULE(ONCE, x.searches_wide() && x.V > 2 && x.known() && x.huge() && x.mean < 6, x.s.chunk = 4),
    // in f64 with more than one slice, the same,
    RULE(ONCE, x.searches_wide() && x.V <= 2 && x.known() && x.slices_now() > 1 && x.mean < 6,
         x.s.chunk = 4),
    // in f32 of few columns, where most of the time goes to a few rows,
    RULE(ONCE, x.searches_wide() && x.V > 2 && x.n < 256 && x.few_rows_last(), x.s.chunk = 4),
    // and in f32 for short rows of one length.
    RULE(ONCE, x.s.lanes_log2 == 5 && !x.s.search && !x.s.whole && x.V > 2, x.s.chunk = 4),
    // Two lanes of 16 bytes are a sector: more nonzeros at once, where columns are few.
    RULE(ONCE, x.n <= 2 * x.V, x.s.lanes_log2 = 1),

    // ---- long blocks
    // The warps of a long block have its rows in common: large blocks.
    RULE(ONCE, x.s.search, x.s.threads = kThreads),
    // Lanes of a group.  Wide groups search less, as each slice of C is searched for; narrow ones
    // have more of a row under way.
    RULE(ONCE, x.n > x.V << 4 && 2 * x.longest_each() <= 3 * x.nonzeros, x.s.long_lanes_log2 = 3),
    RULE(ONCE, x.n <= x.V << 3 && 2 * x.longest_each() > 3 * x.nonzeros, x.s.long_lanes_log2 = 1),
    RULE(ONCE, x.n <= x.V << 2 && 2 * x.longest_each() > x.nonzeros, x.s.long_lanes_log2 = 1),
    RULE(ONCE, x.n <= x.V << 1 || (x.n <= x.V << 5 && x.longest_each() > 4 * x.nonzeros),
         x.s.long_lanes_log2 = 1),

    // ---- long blocks: the window of each
    // Not more blocks than run at once, for all slices.
    RULE(ONCE, true,
         x.window = x.nonzeros / (kBlocksPerSm * x.multiprocessors) *
                    ((x.n + (x.V << x.s.long_lanes_log2) - 1) / (x.V << x.s.long_lanes_log2))),
    // In f64 more of them, where that is much.
    RULE(ONCE, x.V <= 2 && x.window > 20480, x.window /= 4),
    // But a few for each multiprocessor,
    RULE(ONCE, x.window < 512, x.window = 512),
    // fewer large ones,
    RULE(ONCE, x.s.threads == kThreads && x.n > 8 && x.window < 1024, x.window = 1024),
    // fewer of large matrices,
    RULE(ONCE, x.nonzeros >= 2048 * x.multiprocessors && x.window < 2048, x.window = 2048),
    // and one at least.
    RULE(ONCE, x.window > x.nonzeros, x.window = x.nonzeros),
};
#undef RULE

// Each rule known to the compiler, so that no call is left: a launch waits for this.
template <size_t I> inline void apply_rule(split_choice &x)
{
  constexpr split_rule rule = split_rules[I];
  while (rule.when(x)) {
    rule.then(x);
    if (rule.how == split_rule::ONCE) break;
  }
}
template <size_t... I> inline void apply_rules(split_choice &x, std::index_sequence<I...>)
{
  (apply_rule<I>(x), ...);
}

// V: elements of B in one load, of `size` bytes each.
inline split_shape choose_split(const split_matrix &m, int64_t n, int V, int size,
                                const shunt_device *d)
{
  split_shape of_layer;
  if (V * size == 16 && choose_split_of_layer(m, n, size, d, &of_layer)) return of_layer;
  split_choice x = {};
  x.rows = m.rows, x.nonzeros = m.nonzeros, x.n = n, x.V = V, x.size = size;
  x.words = m.words;
  x.longest = m.longest, x.multiprocessors = d->multiprocessors, x.mean = m.nonzeros / m.rows;
  x.s.lanes_log2 = x.s.long_lanes_log2 = 2;
  x.s.chunk = kChunk;
  x.s.threads = kThreads / 2;
  x.s.words = 1;
  apply_rules(x, std::make_index_sequence<sizeof split_rules / sizeof split_rules[0]>());
  if (is_unstaged(x))
    choose_unstaged(x);
  else if (x.gains_by_words())
    choose_words(x);
  x.s.limit = (int)x.limit;
  x.s.window = (int)x.window;
  return x.s;
}

} // namespace csr
} // namespace shunt
