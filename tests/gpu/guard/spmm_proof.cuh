// spmm_proof.cuh: products that prove their copy of A inside their launch
// (kernels/guard/proof_inside.cuh), started from every state and looked at behind; for the tests
// test_*_proved of vector, tile and srbcrs.
#pragma once
#include "kernels/guard/guard.h"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/common/spmm_reference.cuh"

namespace
{

using namespace harness;

enum { CHANGED = 1, FLAG = 2 }; // what speaks against the copy
enum { VERDICT, ONLY_IF, WORDS };

// What a proof needs besides the product, which is a kernel of its own for each format.  Problem:
// the operands, and by wrong_elements(problem, C before) how many elements of C are wrong.
template <class Problem> struct Proof {
  Problem &q;
  int sets_count;
  Buffer words, sets, print, scratch;
  uint32_t *changed; // pinned
  uintptr_t key = 0x1000;
  int64_t wait_cycles = SHUNT_GUARD_WAIT_CYCLES;
  shunt_spmm s;
  shunt_guard_start start = SHUNT_GUARD_BEHIND;

  explicit Proof(Problem &problem, int count)
      : q(problem), sets_count(count), words(WORDS * 4),
        sets((size_t)count * SHUNT_GUARD_SET_BYTES), print(sizeof(shunt_fingerprint)),
        scratch(SHUNT_FINGERPRINT_SCRATCH), s(problem.spmm)
  {
    CUDA_OK(cudaMallocHost(&changed, sizeof *changed));
    std::fill(sets.host.begin(), sets.host.end(), (char)0);
    sets.upload();
    s.only_if = (const uint32_t *)words.device + ONLY_IF;
    if (shunt_fingerprint_csr_cuda(&q.spmm.a, (shunt_fingerprint *)print.device, &q.device,
                                   scratch.device, 0) != SHUNT_OK)
      check(false, "a fingerprint");
    CUDA_OK(cudaDeviceSynchronize());
  }
  virtual ~Proof() { cudaFreeHost(changed); }
  virtual shunt_status launch(cudaStream_t stream) = 0;

  shunt_guard repair()
  {
    shunt_guard r = {};
    r.expected = (const shunt_fingerprint *)print.device;
    r.sets = sets.device;
    r.set_count = sets_count;
    r.key = (const void *)key;
    r.wait_cycles = wait_cycles;
    r.repaired = (uint32_t *)words.device + VERDICT;
    r.changed = changed;
    r.start = start;
    return r;
  }
  // Before a launch: C and the words as nobody may leave them.
  void reset(int reasons)
  {
    uint32_t *word = (uint32_t *)words.host.data();
    word[VERDICT] = 77;
    word[ONLY_IF] = reasons & FLAG ? 4 : 0;
    words.upload();
    q.c.upload();
    *changed = 0;
    CUDA_OK(cudaDeviceSynchronize());
  }
  bool right(int reasons, bool no_room = false)
  {
    const std::vector<char> before = q.c.host;
    words.download();
    q.c.download();
    const int64_t wrong = wrong_elements(q, before);
    q.c.host = before;
    const uint32_t verdict = ((uint32_t *)words.host.data())[VERDICT];
    const uint32_t told = no_room             ? SHUNT_GUARD_NO_SET
                          : reasons & CHANGED ? SHUNT_GUARD_CHANGED
                                              : 0;
    if (wrong == 0 && verdict == (uint32_t)(no_room || reasons != 0) && *changed == told)
      return true;
    printf("# %lld wrong, verdict %u, changed %u; %lld x %lld x %lld\n", (long long)wrong, verdict,
           *changed, (long long)q.pattern.rows, (long long)q.pattern.cols, (long long)q.cl.cols);
    return false;
  }
  bool runs(int reasons, bool no_room = false)
  {
    reset(reasons);
    const shunt_status status = launch(0);
    CUDA_OK(cudaDeviceSynchronize());
    return status == SHUNT_OK && right(reasons, no_room);
  }
  // The last value becomes another, and back.
  void change()
  {
    q.values.host[q.values.host.size() - 2] ^= 1;
    q.values.upload();
  }

  // ---- what holds for every format --------------------------------------------------------------

  // Each reason alone, and none before and behind.
  void each_reason(bool *rests, bool *repaired)
  {
    *rests &= runs(0) && runs(0);
    change();
    *repaired &= runs(CHANGED) && runs(CHANGED);
    change();
    *repaired &= runs(FLAG);
    *rests &= runs(0);
  }
  // With a table of one set: a second key finds no room, the first keeps its set.
  void full_table(bool *keeps, bool *turned_away)
  {
    *keeps &= runs(0) && runs(0);
    key = 0x99000;
    *turned_away &= runs(0, true);
    change();
    *turned_away &= runs(0, true);
    change();
    key = 0x1000;
    *keeps &= runs(0);
  }
  // Repaired by the last block alone, and by those that wait to help.
  bool any_wait()
  {
    bool good = true;
    for (int64_t cycles : {(int64_t)0, (int64_t)100, (int64_t)SHUNT_GUARD_WAIT_CYCLES}) {
      wait_cycles = cycles;
      good &= runs(0);
      change();
      good &= runs(CHANGED);
      change();
    }
    return good;
  }
  // NaN and Inf in B are the product's own business: nothing speaks against the copy.
  bool nonfinite()
  {
    const Pattern &p = q.pattern;
    for (int64_t row : {0, 9, 22}) {
      const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
      store(q.b.host.data(), q.bl.at(p.columns[(size_t)from], 3 + row), q.o.type, NAN);
      store(q.b.host.data(), q.bl.at(p.columns[(size_t)to - 1], 40 + row), q.o.type, -INFINITY);
    }
    q.b.upload();
    bool good = runs(0);
    change();
    return runs(CHANGED) && good;
  }
  // A graph of two calls, replayed while A changes and changes back.
  bool replays()
  {
    Captured calls([&](cudaStream_t stream) {
      return launch(stream) == SHUNT_OK && launch(stream) == SHUNT_OK;
    });
    bool good = calls.good;
    for (int round = 0; round < 9; round++) {
      const int reasons = round % 3 == 1 ? CHANGED : 0;
      if (reasons) change();
      reset(reasons);
      calls.replay(3);
      good &= right(reasons);
      if (reasons) change();
    }
    return good;
  }
};

// An entry of the pattern moves to a column that its row does not have, which the copy lacks.
template <class Problem> void move_entry(Pattern &p, Problem &q)
{
  int64_t row = p.rows - 1;
  while (row > 0 && (p.offsets[(size_t)row] == p.offsets[(size_t)row + 1] ||
                     p.columns[(size_t)p.offsets[(size_t)row + 1] - 1] == p.cols - 1))
    row--;
  const int64_t at = p.offsets[(size_t)row + 1] - 1;
  p.columns[(size_t)at] = p.cols - 1;
  memcpy(q.columns.host.data(), p.columns.data(), q.columns.host.size());
  q.columns.upload();
}

} // namespace
