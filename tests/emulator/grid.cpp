// grid.cpp: runs a grid: threads, who is next, and all that they wait for but memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "../splitmix64.h"
#include "machine.h"
#include "runtime_api.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator
{

grid_state *grid;
thread_state *self;
static context scheduler; // the caller of the grid
static int64_t ticks;
uint64_t switches;
std::vector<cluster_state *> alive_clusters;

// ---- who is next -------------------------------------------------------------------------------

static void select_thread(thread_state *t)
{
  self = t;
  switches++;
  ticks += 4;
  if (!t) return;
  threadIdx = t->index;
  blockIdx = t->block->index;
}

uint64_t draw()
{
  static uint64_t state = [] {
    const char *seed = getenv("SHUNT_EMULATOR_SEED");
    return seed ? strtoull(seed, nullptr, 0) * 0x9e3779b97f4a7c15u + 1 : 1;
  }();
  return splitmix64(&state);
}

static thread_state *take_next()
{
  std::vector<thread_state *> &r = grid->runnable;
  const size_t i = r.size() > 1 ? draw() % r.size() : 0;
  thread_state *t = r[i];
  r[i] = r.back();
  r.pop_back();
  return t;
}

void make_ready(thread_state *t)
{
  t->waits_for = nullptr;
  t->wait_mask = 0;
  grid->runnable.push_back(t);
}

// Goes on with another thread, or with the scheduler when there is none.
static void leave(thread_state *from, bool last)
{
  context *to = &scheduler;
  thread_state *next = nullptr;
  if (!grid->runnable.empty() && grid->finished.empty()) {
    next = take_next();
    if (next == from) return; // its own turn again
    to = &next->where;
  }
  select_thread(next);
  switch_context(&from->where, to, last);
}

void wait_here(const char *what, uint32_t mask)
{
  self->waits_for = what;
  self->wait_mask = mask;
  leave(self, false);
}

void yield()
{
  thread_state *me = self;
  if (grid->runnable.empty()) return;
  grid->runnable.push_back(me);
  leave(me, false);
}

void progress()
{
  grid->idle_polls = 0;
}

void poll(const char *what)
{
  if (++grid->idle_polls > 20000 + 400 * (uint64_t)grid->alive) {
    self->waits_for = what;
    deadlock("nobody gets on");
  }
  self->waits_for = what;
  yield();
  self->waits_for = nullptr;
}

int64_t clock()
{
  return ticks += 20;
}
void sleep(unsigned nanoseconds)
{
  ticks += 2 * (int64_t)nanoseconds + 100;
  poll("a change of memory (__nanosleep)");
}

unsigned lane()
{
  return self->lane;
}
uint32_t cluster_rank()
{
  return self->block->rank;
}

void enter_kernel(const char *name, int threads, int)
{
  grid->name = name;
  if (threads > 0 && grid->threads_a_block > (unsigned)threads)
    fail("%u threads a block, but its __launch_bounds__ are %d: the device refuses the launch",
         grid->threads_a_block, threads);
}

// ---- warps -------------------------------------------------------------------------------------

static void complete(warp_state &w, size_t i)
{
  const gathering g = w.open[i];
  w.open[i] = w.open.back();
  w.open.pop_back();
  progress();
  g.done(g.slots);
  for (int l = 0; l < 32; l++)
    if ((g.here >> l & 1) && w.lanes[l] != self) make_ready(w.lanes[l]);
}

void warp_collective(const char *name, uint32_t mask, bool aligned, void *mine, completion done)
{
  warp_state &w = self->block->warps[self->warp];
  const uint32_t me = 1u << self->lane;
  if (!(mask & me)) fail("%s: the mask %08x does not name this lane, %u", name, mask, self->lane);
  if (aligned && w.alive != ~0u)
    fail("%s: a warp of which only lanes %08x are there", name, w.alive);

  size_t i = 0;
  for (; i < w.open.size(); i++)
    if (w.open[i].mask & mask) break;
  if (i == w.open.size()) {
    w.open.push_back({name, mask, 0, aligned, {}, done});
  } else if (w.open[i].mask != mask || w.open[i].done != done) {
    fail("%s of lanes %08x, while lanes %08x of them are at %s of lanes %08x", name, mask,
         w.open[i].here, w.open[i].name, w.open[i].mask);
  }
  gathering &g = w.open[i];
  g.slots[self->lane] = mine;
  g.here |= me;
  if (((g.here ^ g.mask) & w.alive) == 0)
    complete(w, i);
  else
    wait_here(name, mask);
}

// ---- blocks ------------------------------------------------------------------------------------

static void release(block_barrier_state &b)
{
  const int result = b.what == reduction::count ? (int)b.count
                     : b.what == reduction::any ? b.count != 0
                                                : b.count == b.all;
  progress();
  for (thread_state *t : b.here) {
    t->barrier_result = result;
    if (t != self) make_ready(t);
  }
  b.here.clear();
  b.count = b.all = 0;
}

int block_barrier(const char *name, unsigned id, unsigned threads, reduction what, bool predicate)
{
  block_state *block = self->block;
  if (id >= 16) fail("%s: barrier %u, of 16", name, id);
  if (threads % 32) fail("%s: %u threads, not a multiple of a warp's", name, threads);
  block_barrier_state &b = block->barriers[id];
  if (b.here.empty()) {
    b.name = name;
    b.what = what;
    b.wanted = threads;
  } else if (b.what != what || b.wanted != threads) {
    fail("%s at barrier %u, where %zu threads are at %s", name, id, b.here.size(), b.name);
  }
  b.here.push_back(self);
  b.count += predicate;
  b.all++;
  if (b.here.size() == (threads ? threads : block->alive))
    release(b);
  else
    wait_here(name);
  return self->barrier_result;
}

static void release(cluster_state *c)
{
  progress();
  c->phase++;
  c->arrived = 0;
  for (thread_state *t : c->waiting)
    if (t != self) make_ready(t);
  c->waiting.clear();
}
void cluster_arrive()
{
  cluster_state *c = self->block->cluster;
  self->cluster_phase = c->phase;
  if (++c->arrived == c->alive) release(c);
}
void cluster_wait()
{
  cluster_state *c = self->block->cluster;
  if (self->cluster_phase != c->phase) return;
  c->waiting.push_back(self);
  wait_here("barrier.cluster");
}

// ---- threads' lives ----------------------------------------------------------------------------

// Whoever waited for this thread waits for one less.
static void thread_leaves()
{
  thread_state *t = self;
  block_state *b = t->block;
  cluster_state *c = b->cluster;
  warp_state &w = b->warps[t->warp];
  t->left = true;
  forget_copies(t);
  progress();
  w.alive &= ~(1u << t->lane);
  b->alive--;
  c->alive--;
  grid->alive--;
  for (size_t i = 0; i < w.open.size(); i++)
    if (((w.open[i].here ^ w.open[i].mask) & w.alive) == 0) {
      if (w.open[i].aligned) fail("%s: a lane has left", w.open[i].name);
      complete(w, i--);
    }
  block_barrier_state &all = b->barriers[0];
  if (!all.here.empty() && all.wanted == 0 && all.here.size() == b->alive) release(all);
  if (c->alive && c->arrived == c->alive) release(c);
  if (c->alive == 0) grid->finished.push_back(c);
}

static void thread_entry()
{
  entered(&self->where);
  (*grid->thread)();
  thread_leaves();
  leave(self, true);
  abort();
}

// ---- blocks' lives -----------------------------------------------------------------------------

// Threads are used again, with their stacks.
static auto &unused_threads = *new std::vector<thread_state *>; // never destroyed
static thread_state *take_thread()
{
  if (unused_threads.empty()) {
    thread_state *t = new thread_state();
    t->where.stack = take_stack();
    return t;
  }
  thread_state *t = unused_threads.back();
  unused_threads.pop_back();
  return t;
}

static void start_block(cluster_state *c, uint3 index, uint32_t rank)
{
  const dim3 d = grid->config.block;
  block_state *b = new block_state();
  b->cluster = c;
  b->index = index;
  b->rank = rank;
  b->alive = grid->threads_a_block;
  b->warps.resize((b->alive + 31) / 32);
  shared_begin(b);
  for (unsigned i = 0; i < b->alive; i++) {
    thread_state *t = take_thread();
    t->block = b;
    t->index = {i % d.x, i / d.x % d.y, i / d.x / d.y};
    t->lane = i % 32;
    t->warp = i / 32;
    t->left = false;
    t->groups = 0;
    prepare(&t->where, thread_entry);
    b->threads.push_back(t);
    b->warps[t->warp].lanes[t->lane] = t;
    b->warps[t->warp].alive |= 1u << t->lane;
    make_ready(t);
  }
  grid->alive += b->alive;
  c->alive += b->alive;
  c->blocks.push_back(b);
}

// Number n of the clusters that the grid is cut into.
static void start_cluster(uint64_t n)
{
  const dim3 g = grid->config.grid, k = grid->config.cluster;
  const dim3 across(g.x / k.x, g.y / k.y, g.z / k.z);
  const uint3 corner = {(unsigned)(n % across.x) * k.x, (unsigned)(n / across.x % across.y) * k.y,
                        (unsigned)(n / across.x / across.y) * k.z};
  cluster_state *c = new cluster_state();
  for (unsigned i = 0; i < k.x * k.y * k.z; i++)
    start_block(c, {corner.x + i % k.x, corner.y + i / k.x % k.y, corner.z + i / k.x / k.y}, i);
  alive_clusters.push_back(c);
}

static void end_cluster(cluster_state *c)
{
  if (!c->boxes.empty()) {
    self = c->blocks[0]->threads[0];
    fail("the cluster has left while the copy engine still writes its shared memory");
  }
  for (block_state *b : c->blocks) {
    shared_end(b);
    unused_threads.insert(unused_threads.end(), b->threads.begin(), b->threads.end());
    delete b;
  }
  alive_clusters.erase(std::find(alive_clusters.begin(), alive_clusters.end(), c));
  delete c;
}

// An order of 0 .. count - 1 that looks random: i -> (i step + start) % count.
static uint64_t coprime_step(uint64_t count)
{
  if (count <= 2) return 1;
  for (;;) {
    uint64_t step = 1 + draw() % (count - 1), a = step, b = count;
    while (b) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) return step;
  }
}

static size_t most_clusters_alive()
{
  static const int most = [] {
    const char *s = getenv("SHUNT_EMULATOR_BLOCKS");
    return s ? atoi(s) : 0;
  }();
  return most > 0 ? (size_t)most : 1 + draw() % 3;
}

void run_grid(const launch_config &config, const std::function<void()> &thread)
{
  grid_state g = {};
  watch_threads();
  if (grid) fail("a launch from a kernel");
  g.config = config;
  g.thread = &thread;
  g.name = "a kernel";
  g.threads_a_block = config.block.x * config.block.y * config.block.z;
  grid = &g;
  gridDim = config.grid;
  blockDim = config.block;
  const uint64_t blocks = (uint64_t)config.grid.x * config.grid.y * config.grid.z;
  const uint64_t clusters = blocks / (config.cluster.x * config.cluster.y * config.cluster.z);
  const uint64_t step = coprime_step(clusters), start = draw() % clusters;
  const size_t most = most_clusters_alive();

  for (uint64_t issued = 0; issued < clusters || !alive_clusters.empty();) {
    while (issued < clusters && alive_clusters.size() < most)
      start_cluster((start + (unsigned __int128)issued++ * step) % clusters);
    if (g.runnable.empty()) deadlock("deadlock");
    thread_state *t = take_next();
    select_thread(t);
    switch_context(&scheduler, &t->where);
    self = nullptr;
    for (cluster_state *c : g.finished) end_cluster(c);
    g.finished.clear();
  }
  grid = nullptr;
}

} // namespace emulator
