// machine.h: what a running grid is made of; shared by the emulator's own sources.
#ifndef SHUNT_EMULATOR_MACHINE_H
#define SHUNT_EMULATOR_MACHINE_H

#include <map>
#include <vector>

#include "cuda.h"
#include "emulator.h"
#include "fibers.h"

namespace emulator
{

// An H200, as the runtime describes it.
constexpr int multiprocessors = 132;
constexpr size_t static_shared_most = 48 << 10, shared_most = 227 << 10;

struct block_state;

struct copy_job {
  void *to;
  const void *from;
  int bytes, size;
  unsigned group; // number of the commit that it belongs to
};

struct thread_state {
  context where;
  block_state *block;
  uint3 index;
  unsigned lane, warp;
  uint64_t cluster_phase; // of the cluster's barrier, when it arrived there
  bool left;
  const char *waits_for; // NULL: can run
  uint32_t wait_mask;
  int barrier_result;
  std::vector<copy_job> copies;
  unsigned groups; // committed so far
};

// Lanes that come together at one instruction.
struct gathering {
  const char *name;
  uint32_t mask, here;
  bool aligned;
  void *slots[32];
  completion done;
};

struct warp_state {
  thread_state *lanes[32];
  uint32_t alive;
  std::vector<gathering> open;
};

struct block_barrier_state {
  const char *name = nullptr;
  unsigned wanted = 0, count = 0, all = 0;
  reduction what = reduction::none;
  std::vector<thread_state *> here;
};

// A variable in shared memory; `redzone` bytes on both sides are nobody's.
struct shared_range {
  const char *name;
  uint32_t begin, end; // offsets
};

struct shared_barrier {
  uint32_t arrivals, pending;
  int64_t bytes; // announced and not yet come; negative: come before they were announced
  uint32_t phase;
};

struct cluster_state;

struct block_state {
  cluster_state *cluster;
  uint3 index;
  uint32_t rank;
  unsigned alive;
  std::vector<thread_state *> threads;
  std::vector<warp_state> warps;
  block_barrier_state barriers[16];
  unsigned char *memory; // its shared memory: shared_window bytes
  uint32_t used, static_bytes;
  std::vector<void *> variables; // by slot number
  unsigned char *dynamic;
  size_t dynamic_align;
  std::vector<shared_range> ranges;
  std::map<uint32_t, shared_barrier> shared_barriers;
};

struct box_job {
  CUtensorMap map;
  uint32_t to, barrier;
  block_state *block;
  int x, y;
};

struct cluster_state {
  std::vector<block_state *> blocks;
  unsigned alive, arrived; // threads; those at the barrier
  uint64_t phase = 0;      // of the barrier
  std::vector<thread_state *> waiting;
  std::vector<box_job> boxes; // copies under way
};

// The grid that runs, or NULL.
struct grid_state {
  launch_config config;
  const std::function<void()> *thread;
  const char *name;
  unsigned threads_a_block;
  std::vector<thread_state *> runnable;
  std::vector<cluster_state *> finished; // all threads have left
  unsigned alive;
  uint64_t idle_polls; // since something has changed
};
extern grid_state *grid;
extern thread_state *self;
extern std::vector<cluster_state *> alive_clusters;
extern uint64_t switches; // from one thread to another, so far

void make_ready(thread_state *t);
void wait_here(const char *what, uint32_t mask = 0); // until somebody calls make_ready

// report.cpp
void watch_threads();            // from now on: one that runs for long ends the program
void deadlock(const char *kind); // says which threads wait for what, and ends the program

// memory.cpp
void shared_begin(block_state *b);
void shared_end(block_state *b);
void *at_shared_of(block_state *b, uint32_t address, size_t bytes, size_t align, const char *what);
void run_boxes(cluster_state *c, bool all);
void forget_copies(thread_state *t);

} // namespace emulator
#endif
