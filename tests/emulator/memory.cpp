// memory.cpp: shared memory, the copies into it, and the barriers that stand in it.
//
//   shared memory of a block, in the order in which its threads come to the variables:
//
//   address  0      1024
//            | system | ~~~ | variable | ~~~ | variable | ~~~ ..     ~: nobody's (redzone)
//
// A variable begins at an odd multiple of the alignment that it asks for, so that it has no
// more by luck.  It is filled with a pattern; redzones with another, which must be there at the
// end.  AddressSanitizer is told what is nobody's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine.h"

#if defined SHUNT_EMULATOR_ASAN
#include <sanitizer/asan_interface.h> // its macros do nothing here: this file is not instrumented
#define POISON __asan_poison_memory_region
#define UNPOISON __asan_unpoison_memory_region
#else
#define POISON(p, n) ((void)0)
#define UNPOISON(p, n) ((void)0)
#endif

namespace emulator
{

constexpr uint32_t window = 512 << 10; // addresses; redzones lie beside the 227 KB
constexpr uint32_t system_bytes = 1024, redzone = 64;
constexpr unsigned char redzone_byte = 0xc5;

// ---- variables ---------------------------------------------------------------------------------

static std::vector<unsigned char *> free_windows;

void shared_begin(block_state *b)
{
  if (free_windows.empty()) {
    void *p = mmap(nullptr, window, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      perror("emulator: shared memory");
      exit(3);
    }
    POISON(p, window);
    free_windows.push_back((unsigned char *)p);
  }
  b->memory = free_windows.back();
  free_windows.pop_back();
  b->used = system_bytes;
}

static void check_redzone(const block_state *b, uint32_t from, uint32_t to, const char *beside)
{
  for (uint32_t i = from; i < to; i++)
    if (b->memory[i] != redzone_byte)
      fail("shared memory at %u was written, which is %s %s", i,
           i < from + redzone ? "behind or before" : "near", beside);
}

void shared_end(block_state *b)
{
  self = b->threads[0];
  uint32_t end = system_bytes;
  UNPOISON(b->memory, b->used);
  for (const shared_range &r : b->ranges) {
    check_redzone(b, end, r.begin, r.name);
    end = r.end;
  }
  if (!b->ranges.empty()) check_redzone(b, end, b->used, b->ranges.back().name);
  self = nullptr;
  POISON(b->memory, b->used);
  free_windows.push_back(b->memory);
}

static unsigned char *place(block_state *b, const char *name, size_t bytes, size_t align)
{
  const uint32_t from = b->used;
  uint32_t at = from + redzone;
  if (align < 8) align = 8; // the sanitizer's grain
  at = (at + (uint32_t)align - 1) / (uint32_t)align * (uint32_t)align;
  if (at / align % 2 == 0) at += (uint32_t)align;
  const uint32_t end = at + (uint32_t)bytes, next = (end + redzone + 7) / 8 * 8;
  if (next > window) fail("%zu bytes of shared memory for %s: too much", bytes, name);
  b->ranges.push_back({name, at, end});
  b->used = next;
  UNPOISON(b->memory + from, next - from);
  memset(b->memory + from, redzone_byte, next - from);
  memset(b->memory + at, 0xff, bytes); // NaN, or -1
  POISON(b->memory + from, next - from);
  UNPOISON(b->memory + at, bytes);
  return b->memory + at;
}

void *shared_variable(shared_slot &slot, const char *name, size_t bytes, size_t align)
{
  static unsigned slots;
  block_state *b = self->block;
  if (slot.number == 0) slot.number = ++slots;
  if (b->variables.size() <= slot.number) b->variables.resize(slot.number + 1);
  void *&at = b->variables[slot.number];
  if (at) return at;
  b->static_bytes += (uint32_t)bytes;
  if (b->static_bytes > static_shared_most)
    fail("%u bytes of __shared__ variables: more than 48 KB", b->static_bytes);
  if (b->static_bytes + grid->config.shared > shared_most)
    fail("%zu bytes of shared memory: more than 227 KB", b->static_bytes + grid->config.shared);
  return at = place(b, name, bytes, align);
}

void *dynamic_shared(size_t align)
{
  block_state *b = self->block;
  if (!b->dynamic) {
    b->dynamic = place(b, "the launch's shared memory", grid->config.shared, align);
    b->dynamic_align = align;
  }
  if (align > b->dynamic_align) fail("extern __shared__ arrays of different alignments");
  return b->dynamic;
}

// ---- addresses ---------------------------------------------------------------------------------

uint32_t shared_address(const void *p)
{
  const block_state *b = self->block;
  const unsigned char *at = static_cast<const unsigned char *>(p);
  if (at < b->memory || at > b->memory + b->used) fail("the address of what is not shared memory");
  return (uint32_t)(at - b->memory);
}

void *at_shared_of(block_state *b, uint32_t address, size_t bytes, size_t align, const char *what)
{
  if (address & (align - 1))
    fail("%s: shared address %u is not a multiple of %zu", what, address, align);
  for (const shared_range &r : b->ranges)
    if (address >= r.begin && address + bytes <= r.end) return b->memory + address;
  fail("%s: %zu bytes at shared address %u are outside of every variable", what, bytes, address);
}
void *at_shared(uint32_t address, size_t bytes, size_t align, const char *what)
{
  return at_shared_of(self->block, address, bytes, align, what);
}

// ---- cp.async ----------------------------------------------------------------------------------

static void finish(const copy_job &c)
{
  memcpy(c.to, c.from, (size_t)c.bytes);
  memset((char *)c.to + c.bytes, 0, (size_t)(c.size - c.bytes));
}

void copy_async(uint32_t to, const void *from, int bytes, int size)
{
  if (bytes < 0 || bytes > size) fail("cp.async of %d bytes, of %d", bytes, size);
  if (reinterpret_cast<uintptr_t>(from) & ((size_t)size - 1))
    fail("cp.async: global address %p is not a multiple of %d", from, size);
  const copy_job c = {at_shared(to, (size_t)size, (size_t)size, "cp.async"), from, bytes, size,
                      self->groups};
  if (draw() & 1) {
    finish(c);
    return;
  }
  // What it reads must be there now: the complaint is to come from here.
  unsigned char seen[16];
  memcpy(seen, from, (size_t)bytes);
  self->copies.push_back(c);
}
void copy_commit()
{
  self->groups++;
}
void copy_wait(int pending)
{
  std::vector<copy_job> &c = self->copies;
  size_t done = 0;
  for (; done < c.size() && c[done].group + (unsigned)pending < self->groups; done++)
    finish(c[done]);
  c.erase(c.begin(), c.begin() + (long)done);
}
// Nobody can have relied on them.
void forget_copies(thread_state *t)
{
  t->copies.clear();
}

// ---- mbarrier ----------------------------------------------------------------------------------

// What stands in the 8 bytes, so that it is seen when something else is written there.
constexpr uint64_t barrier_mark = 0x6261727269657221;

static shared_barrier &find_barrier(block_state *b, uint32_t at, const char *what)
{
  uint64_t mark;
  memcpy(&mark, at_shared_of(b, at, 8, 8, what), sizeof mark);
  auto found = b->shared_barriers.find(at);
  if (found == b->shared_barriers.end())
    fail("%s: the barrier at %u of block %u of the cluster is not initialised", what, at, b->rank);
  if (mark != barrier_mark) fail("%s: the barrier at %u was overwritten", what, at);
  return found->second;
}

static void end_phase_if_complete(shared_barrier &b)
{
  progress();
  if (b.pending || b.bytes) return;
  b.phase++;
  b.pending = b.arrivals;
}

void barrier_init(uint32_t at, uint32_t arrivals)
{
  if (arrivals < 1 || arrivals >= 1u << 20) fail("mbarrier.init: %u arrivals", arrivals);
  memcpy(at_shared(at, 8, 8, "mbarrier.init"), &barrier_mark, sizeof barrier_mark);
  self->block->shared_barriers[at] = {arrivals, arrivals, 0, 0};
}

void barrier_arrive(uint32_t at, uint32_t rank, uint32_t bytes)
{
  cluster_state *c = self->block->cluster;
  if (rank >= c->blocks.size()) fail("mapa: block %u of a cluster of %zu", rank, c->blocks.size());
  if (c->blocks[rank]->alive == 0) fail("mbarrier.arrive: block %u of the cluster has left", rank);
  shared_barrier &b = find_barrier(c->blocks[rank], at, "mbarrier.arrive");
  if (b.pending == 0)
    fail("mbarrier.arrive: more than the %u arrivals that the barrier at %u is for", b.arrivals,
         at);
  b.bytes += bytes;
  b.pending--;
  end_phase_if_complete(b);
}

void cluster_store(uint32_t to, uint32_t barrier, uint32_t rank, const void *from, uint32_t bytes)
{
  cluster_state *c = self->block->cluster;
  if (rank >= c->blocks.size()) fail("mapa: block %u of a cluster of %zu", rank, c->blocks.size());
  if (c->blocks[rank]->alive == 0) fail("st.async: block %u of the cluster has left", rank);
  shared_barrier &b = find_barrier(c->blocks[rank], barrier, "st.async");
  if (b.bytes < bytes)
    fail("st.async: %u bytes more than the barrier at %u waits for", bytes, barrier);
  memcpy(at_shared_of(c->blocks[rank], to, bytes, bytes, "st.async"), from, bytes);
  b.bytes -= bytes;
  end_phase_if_complete(b);
}

bool barrier_test(uint32_t at, uint32_t parity)
{
  if (parity > 1) fail("mbarrier.try_wait: parity %u", parity);
  for (int tries = 0;; tries++) {
    run_boxes(self->block->cluster, false);
    if ((find_barrier(self->block, at, "mbarrier.try_wait").phase & 1) != parity) return true;
    if (tries == 2) return false;
    poll("a barrier in shared memory (mbarrier.try_wait)");
  }
}

// ---- the copy engine ---------------------------------------------------------------------------

constexpr uint64_t map_magic = 0x74656e736f726d70;

extern "C" CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type,
                                           cuuint32_t rank, void *values, const cuuint64_t *sizes,
                                           const cuuint64_t *pitches, const cuuint32_t *box,
                                           const cuuint32_t *steps, CUtensorMapInterleave,
                                           CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                           CUtensorMapFloatOOBfill)
{
  static const uint32_t bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  static const uint32_t patterns[] = {0, 32, 64, 128};
  if (rank != 2 || (uintptr_t)values % 16 || pitches[0] % 16 || pitches[0] >> 40)
    return CUDA_ERROR_INVALID_VALUE;
  const uint32_t element = bytes_of[type], row = box[0] * element;
  for (int d = 0; d < 2; d++)
    if (box[d] < 1 || box[d] > 256 || steps[d] != 1 || sizes[d] < 1 || sizes[d] >> 32)
      return CUDA_ERROR_INVALID_VALUE;
  if (row % 16 || (patterns[swizzle] && row > patterns[swizzle])) return CUDA_ERROR_INVALID_VALUE;
  *map = {};
  map->values = (uint64_t)values;
  for (int d = 0; d < 2; d++) map->sizes[d] = sizes[d], map->box[d] = box[d];
  map->pitch = pitches[0];
  map->element = element;
  map->swizzle = patterns[swizzle];
  map->magic = map_magic;
  return CUDA_SUCCESS;
}

// Where byte `offset` of a box stands that begins at a multiple of the pattern's repeat:
// 16-byte pieces of a row of `swizzle` bytes change places by the row's number.
static uint32_t swizzled(uint32_t address, uint32_t swizzle)
{
  // 128: bits 4..6 ^= bits 7..9;  64: bits 4..5 ^= bits 7..8;  32: bit 4 ^= bit 7
  if (swizzle) address ^= (address >> 7 & (swizzle / 16 - 1)) << 4;
  return address;
}

static void bring_row(const box_job &j, block_state *b, uint32_t row)
{
  const CUtensorMap &m = j.map;
  const uint32_t bytes = m.box[0] * m.element, pitch = m.swizzle ? m.swizzle : bytes;
  const int64_t y = j.y + (int64_t)row;
  unsigned char *window =
      (unsigned char *)at_shared_of(b, j.to + row * pitch, pitch, 16, "cp.async.bulk") -
      (j.to + row * pitch);
  for (uint32_t e = 0; e < m.box[0]; e++) {
    const int64_t x = j.x + (int64_t)e;
    const bool inside = x >= 0 && y >= 0 && x < (int64_t)m.sizes[0] && y < (int64_t)m.sizes[1];
    unsigned char *to = window + swizzled(j.to + row * pitch + e * m.element, m.swizzle);
    const unsigned char *from =
        (const unsigned char *)m.values + y * (int64_t)m.pitch + x * (int64_t)m.element;
    if (inside)
      memcpy(to, from, m.element);
    else
      memset(to, 0, m.element);
  }
}

static void bring(const box_job &j)
{
  if (j.block->alive == 0) fail("cp.async.bulk: the block has left");
  for (uint32_t row = 0; row < j.map.box[1]; row++) bring_row(j, j.block, row);
  shared_barrier &full = find_barrier(j.block, j.barrier, "cp.async.bulk");
  full.bytes -= (int64_t)j.map.box[0] * j.map.box[1] * j.map.element;
  end_phase_if_complete(full);
}

void copy_box(uint32_t to, const void *map, int x, int y, uint32_t barrier)
{
  cluster_state *c = self->block->cluster;
  box_job j = {*static_cast<const CUtensorMap *>(map), to, barrier, self->block, x, y};
  if (j.map.magic != map_magic) fail("cp.async.bulk: not a tensor map");
  if (to % (j.map.swizzle ? 128 : 16)) fail("cp.async.bulk: shared address %u is misaligned", to);
  c->boxes.push_back(j);
  progress();
  if (draw() & 1) run_boxes(c, false);
}

void store_box(const void *map, int x, int y, uint32_t from)
{
  const CUtensorMap &m = *static_cast<const CUtensorMap *>(map);
  if (m.magic != map_magic) fail("cp.async.bulk: not a tensor map");
  if (from % (m.swizzle ? 128 : 16)) fail("cp.async.bulk: shared address %u is misaligned", from);
  if (m.sizes[0] * m.element % 16) fail("cp.async.bulk: rows that end within 16 bytes");
  const uint32_t bytes = m.box[0] * m.element, pitch = m.swizzle ? m.swizzle : bytes;
  for (uint32_t row = 0; row < m.box[1]; row++) {
    const uint32_t at = from + row * pitch;
    const unsigned char *window =
        (const unsigned char *)at_shared_of(self->block, at, pitch, 16, "cp.async.bulk") - at;
    for (uint32_t e = 0; e < m.box[0]; e++) {
      const int64_t i = y + (int64_t)row, j = x + (int64_t)e;
      if (i < 0 || j < 0 || i >= (int64_t)m.sizes[1] || j >= (int64_t)m.sizes[0]) continue;
      memcpy((unsigned char *)m.values + i * (int64_t)m.pitch + j * (int64_t)m.element,
             window + swizzled(at + e * m.element, m.swizzle), m.element);
    }
  }
  progress();
}

// Some of the copies under way, in any order; all: all.
void run_boxes(cluster_state *c, bool all)
{
  for (size_t tries = c->boxes.size(); tries && !c->boxes.empty(); tries--) {
    if (!all && draw() % 2) continue;
    const size_t i = draw() % c->boxes.size();
    const box_job j = c->boxes[i];
    c->boxes[i] = c->boxes.back();
    c->boxes.pop_back();
    bring(j);
  }
}

} // namespace emulator
