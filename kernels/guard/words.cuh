// words.cuh: the guard words, in which the blocks of one launch add up what each has found.  A
// block that finds the sum complete knows the result; the last to arrive always does.
//
//   block      looks .. adds (hash, alarms, 1) ... sum complete? ... joins the work | leaves
//
// Two words carry all of it, so a block's part arrives with the count in one atomic and no
// fence is needed:
//
//   sum.lo, sum.hi   | 63 ............ 12 |   11    | 10 ........ 0 |
//                    | sum of 52 bits of  |  alarm  | blocks that   |
//                    | the blocks' parts  | bit     | have arrived  |
//
// A word is complete when its count is the number of blocks.  The block whose own addition to
// sum.lo makes it complete is the last: it may wait for sum.hi without a bound, because
// every block has issued its addition to sum.hi before the one to sum.lo and waits for nothing in
// between.  All other blocks wait as long as they like; none has to be resident for another to
// get on, so whatever else runs on the device, nothing can lock up.
//
// Back to zero.  A set of words has two turns, which launches take alternately:
//
//   launch g     reads generation g, adds to sum[g % 2]
//   its last     sum[(g + 1) % 2] = 0 for the next launch, generation = g + 1
//
// Blocks of launch g still read sum[g % 2] when the last has gone on, so that turn stays as it
// is.  The other turn's users, launch g - 1, are long done.  Nobody reads the generation
// later than its own addition (the address of which depends on it), and the last goes on only after
// all additions.  So every launch, and every replay of a captured one, begins with zero and leaves
// zero for the next: no launch or memset before it is needed.
//
// Which set.  Launches on different streams may run at once and must not add to the same set;
// launches one after another may.  What tells them apart is the address of the call's private
// workspace (`key`): while one launch uses it no other may.  The words cannot stand in the
// workspace itself, whose content is undefined: it could hold what a launch leaves half-way, and
// nothing on the device could tell.  So a table of sets stands in memory that only launches of this
// kind write, zero at first; the first block of the first launch with a key takes a free set for
// it, for good:
//
//   table    | key, generation, sums | 0 | key, .. | key, .. | 0 | ..      open addressing,
//              ^ home of key                                               nothing is removed
//
// A key is found or a free set taken by one short walk from its home; since keys neither move nor
// vanish, all blocks of a launch come to the same set, or all find nothing but other keys.  Sets
// that are free have generation 0, so the generation that was read with a free set's key is right
// whichever of the launch's blocks then takes it.
//
// What blocks take from `taken` before they arrive, they take in the same turn: a block that takes
// has not arrived yet, so the turn lasts.  A launch that takes nothing may count there the blocks
// that have stored, after the arrival (agreement.cuh): the last of the next launch clears it.
//
// Relaxed atomics suffice: what the sum tells depends on no other memory.
#pragma once
#include "kernels/guard/fingerprint.h"
#include "kernels/ptx/gpu_scope.cuh"

namespace shunt
{
namespace guard
{

struct alignas(16) word_sum {
  uint64_t lo, hi;
};

struct alignas(64) word_set {
  uint64_t key, generation;
  word_sum sum[2];
  uint32_t next[2];  // work that the blocks share once the sum is complete: the next piece
  uint32_t taken[2]; // work that they share before they arrive: what has been taken of it
};
static_assert(sizeof(word_set) == 64, "the size that the table's owner reckons with");

struct word_table {
  word_set *sets;
  uint32_t count; // a power of two
  uint32_t home;  // of the key
  uint64_t key;   // not 0
};

inline word_table make_word_table(void *sets, uint32_t count, const void *key)
{
  const uint64_t bits = (uint64_t) reinterpret_cast<uintptr_t>(key);
  const uint32_t home = (uint32_t)(bits * 0x9e3779b97f4a7c15u >> 40) & (count - 1);
  return word_table{static_cast<word_set *>(sets), count, home, bits};
}

// A launch's place: a set, and its generation there.
struct word_place {
  word_set *set; // NULL: there is no room near the key's home
  uint64_t generation;
  __device__ word_sum *sum() const { return &set->sum[generation % 2]; }
  __device__ uint32_t *next() const { return &set->next[generation % 2]; }
  __device__ uint32_t *taken() const { return &set->taken[generation % 2]; }
};

constexpr uint64_t word_count = 0x7ff, word_alarm = 0x800; // bits of a word
constexpr int word_shift = 12;
constexpr int most_blocks = 1024;
constexpr uint32_t word_reach = 16; // sets that a walk looks at

// `at_home`: what stood at the key's home earlier in this launch, by any kind of read.  If it
// holds the key, it holds for the whole of the launch; else it says nothing.
__device__ __forceinline__ word_place find_place(const word_table &t, ptx::word_pair at_home)
{
  if (at_home.first == t.key) return word_place{&t.sets[t.home], at_home.second};
  for (uint32_t step = 0; step < t.count && step < word_reach; step++) {
    word_set *set = &t.sets[(t.home + step) & (t.count - 1)];
    ptx::word_pair seen = ptx::load_relaxed(set);
    if (seen.first == 0) seen.first = ptx::swap_relaxed(&set->key, 0, t.key);
    if (seen.first == 0 || seen.first == t.key) return word_place{set, seen.second};
  }
  return word_place{nullptr, 0};
}

// Adds a block's part and its alarms; true: it is the last of `blocks`.  after: the words as they
// then were.  Several blocks may raise an alarm, so its bit is not added but set; being of the same
// word, it is there when the block's count is.
__device__ __forceinline__ bool arrive(const word_place &p, struct shunt_fingerprint part,
                                       bool alarm_lo, bool alarm_hi, uint32_t blocks,
                                       word_sum *after)
{
  word_sum *sum = p.sum();
  if (alarm_hi) ptx::or_relaxed(&sum->hi, word_alarm);
  if (alarm_lo) ptx::or_relaxed(&sum->lo, word_alarm);
  const uint64_t hi = (part.hi << word_shift) + 1, lo = (part.lo << word_shift) + 1;
  after->hi = ptx::add_relaxed(&sum->hi, hi) + hi;
  after->lo = ptx::add_relaxed(&sum->lo, lo) + lo;
  return (after->lo & word_count) == blocks;
}

// Whether all blocks have arrived.  (More than all: two launches share a key at once against
// the rules; even then nobody waits for ever.)
__device__ __forceinline__ bool is_complete(const word_sum &sum, uint32_t blocks)
{
  return (sum.lo & word_count) >= blocks && (sum.hi & word_count) >= blocks;
}

// The sum once all blocks have arrived; `sum` comes in as arrive() gave it.  False: not within
// `cycles` of the clock, 0: not even a look; the last waits until it is so.
__device__ __forceinline__ bool wait_for_all(const word_place &p, uint32_t blocks, bool last,
                                             int64_t cycles, word_sum *sum)
{
  if (!last && cycles <= 0) return false;
  const int64_t start = clock64();
  while (!is_complete(*sum, blocks)) {
    if (!last && clock64() - start > cycles) return false;
    __nanosleep(40);
    const ptx::word_pair seen = ptx::load_relaxed(p.sum());
    *sum = word_sum{seen.first, seen.second};
  }
  return true;
}

// By the last, once it knows the sum: makes the set ready for the next launch.
__device__ __forceinline__ void pass_on(const word_place &p)
{
  const uint64_t coming = p.generation + 1;
  p.set->sum[coming % 2] = word_sum{0, 0};
  p.set->next[coming % 2] = 0;
  p.set->taken[coming % 2] = 0;
  p.set->generation = coming;
}

// Whether the hashes in a complete sum are those of f, as far as they are kept.
__device__ __forceinline__ bool same_hashes(const word_sum &sum, struct shunt_fingerprint f)
{
  return sum.lo >> word_shift == f.lo << word_shift >> word_shift &&
         sum.hi >> word_shift == f.hi << word_shift >> word_shift;
}

} // namespace guard
} // namespace shunt
