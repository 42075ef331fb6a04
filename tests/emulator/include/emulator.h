// emulator.h: runs CUDA kernels on the CPU, slowly and strictly, so that a machine without a
// GPU can test them.
//
//   kernels/*/*.cu(h), conv/*/*.cu, tests/gpu/*/*.cu
//        |  rewrite.py: what no macro can do (launches, shared variables, inline PTX)
//        v
//   the same lines, for g++ -I tests/emulator/include -I tests/emulator -I <rewritten> -I <top>
//        |        cuda_runtime.h, cuda_fp16.h, ..   kernels/ptx/*.cuh: one function for each
//        |        names of the device language      instruction, in plain C++
//        v
//   *.cpp of tests/emulator: threads as fibers (fibers), blocks and barriers (grid), shared and
//   global memory (memory), streams and graphs (streams), the runtime's calls (runtime*)
//
// How a grid runs.  A thread is a fiber: it runs until it has to wait for another and is then
// put aside.  Blocks are issued in a random order, a few of them alive at once; a cluster comes
// and goes as a whole.  Who runs next is drawn from all that can run:
//
//   alive      block 7: t0 t1 .. t255      block 2: t0 t1 .. t255
//   can run    t3 t200 t17 t4 ..           <- next: one at random
//   waiting    for a barrier, for the other lanes of a warp; polls stay among those that can run
//
// So a thread's steps between two waits are one piece, and the order of the pieces varies with
// SHUNT_EMULATOR_SEED: a missing barrier shows with one seed or another, not with every one.
// What may happen at any time between two points (cp.async, the copy engine) happens at one of
// the two, at random.  SHUNT_EMULATOR_BLOCKS sets how many blocks are alive at most.
//
// What is found, beyond wrong results; each ends the program with status 3 and one line that
// names kernel, block and thread:
//   - threads that wait for ever: what each of them waits for
//   - lanes of a warp that meet at different instructions, or ones that left
//   - shared memory: more than there is or was asked for, writes around a variable (with
//     AddressSanitizer reads too), use of an address that is no variable's
//   - operands of copies and matrix instructions that are misaligned
//   - barriers in shared memory that are not initialised, overwritten, or hear too much
//   - launches that the device would refuse answer as it would: with an error
// Global memory is malloc's: built with -fsanitize=address,alignment the compiler's own checks find
// what lies outside of an allocation and vectors that are misaligned.  Shared memory and what
// shfl gives for a lane that is not there are filled with patterns that make wrong results.
//
// Streams work at once, in the order of the calls; with SHUNT_EMULATOR_STREAMS=late they do what
// they were given later, in any order that their events allow (streams.h).
// SHUNT_EMULATOR_DEVICES=2 is a machine with two devices.
//
// What is not: races within a piece, memory order (all is sequentially consistent), two kernels at
// the same moment, time.
//
// To add an instruction that the lanes of a warp execute together: a struct that holds one
// lane's operands and results, with a name and a static complete() which gets all lanes' structs
// (NULL: not in the mask) and fills in the results; and a function that makes one and calls
// together().  instructions.h has many.  One that a thread executes alone is a plain
// function.  The wrapper in tests/emulator/kernels/ptx/ has the name and parameters of the one
// in kernels/ptx/.
#ifndef SHUNT_EMULATOR_H
#define SHUNT_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <tuple>
#include <type_traits>

#include "vector_types.h"

// Of the thread that runs.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace emulator
{

// ---- reports ---------------------------------------------------------------------------------

// Prints "not ok - emulator: kernel, block, thread: text" and ends the program with status 3.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Random bits that depend on SHUNT_EMULATOR_SEED and on what was drawn before.
uint64_t draw();

// First in every kernel (rewrite.py puts it there); `threads`: its launch bound, 0: none.
void enter_kernel(const char *name, int threads, int blocks = 0);

// ---- threads that wait -----------------------------------------------------------------------

unsigned lane(); // threadIdx is linear in x, y, z; 32 threads make a warp
uint32_t cluster_rank();

// Lets others run.  poll: nothing changes unless another thread does something; when all
// threads do nothing else for long, that is a deadlock.
void yield();
void poll(const char *what);
// Tells poll() that something has changed.
void progress();

int64_t clock(); // grows with every call and with every wait
void sleep(unsigned nanoseconds);

enum class reduction { none, count, any, all };
// Waits for `threads` threads of the block (0: for all that have not left) at barrier `id`.
int block_barrier(const char *name, unsigned id, unsigned threads, reduction what, bool predicate);
void cluster_arrive(); // at the cluster's barrier; a thread waits before it arrives again
void cluster_wait();

using completion = void (*)(void *const *lanes);
void warp_collective(const char *name, uint32_t mask, bool aligned, void *mine, completion done);

// Waits until all lanes of `mask` that have not left have come here with an Operation; the last
// calls Operation::complete(Operation *const *lanes).
template <class Operation> inline void together(uint32_t mask, Operation &mine)
{
  warp_collective(Operation::name, mask, false, &mine, [](void *const *lanes) {
    Operation::complete(reinterpret_cast<Operation *const *>(lanes));
  });
}
// The same for instructions that say .aligned: all 32 lanes must be there.
template <class Operation> inline void all_together(Operation &mine)
{
  warp_collective(Operation::name, ~0u, true, &mine, [](void *const *lanes) {
    Operation::complete(reinterpret_cast<Operation *const *>(lanes));
  });
}

// ---- shared memory ---------------------------------------------------------------------------

// One for each __shared__ variable and instantiation (rewrite.py declares them).
struct shared_slot {
  unsigned number = 0;
};
void *shared_variable(shared_slot &slot, const char *name, size_t bytes, size_t align);
void *dynamic_shared(size_t align);
template <class T> inline T &shared(shared_slot &slot, const char *name, size_t align)
{
  return *static_cast<T *>(
      shared_variable(slot, name, sizeof(T), align > alignof(T) ? align : alignof(T)));
}
template <class T> inline T *dynamic(size_t align)
{
  return static_cast<T *>(dynamic_shared(align > alignof(T) ? align : alignof(T)));
}

// The 32-bit address of a shared variable, and back: `bytes` there, a multiple of `align`.
// The block is this thread's.
uint32_t shared_address(const void *p);
void *at_shared(uint32_t address, size_t bytes, size_t align, const char *what);

// ---- copies that take their time ----------------------------------------------------------------

// cp.async: `bytes` of `size` come from `from`, the others are zeros.
void copy_async(uint32_t to, const void *from, int bytes, int size);
void copy_commit();
void copy_wait(int pending); // until at most so many groups are under way

// mbarrier (one address for each; parities as in kernels/ptx/mbarrier.cuh)
void barrier_init(uint32_t at, uint32_t arrivals);
void barrier_arrive(uint32_t at, uint32_t rank, uint32_t bytes); // in block `rank`; announces bytes
// To the shared memory of block `rank`, whose barrier has been told of these bytes.
void cluster_store(uint32_t to, uint32_t barrier, uint32_t rank, const void *from, uint32_t bytes);
bool barrier_test(uint32_t at, uint32_t parity);

// cp.async.bulk.tensor.2d: see include/cuda.h for the map.
void copy_box(uint32_t to, const void *map, int x, int y, uint32_t barrier);
void store_box(const void *map, int x, int y, uint32_t from);

// ---- launches --------------------------------------------------------------------------------

struct launch_config {
  dim3 grid, block, cluster;
  size_t shared = 0;
  void *stream = nullptr;
};

// Answers a cudaError_t.  `thread` is called once for each thread.  `kernel` is its identity.
int launch(const launch_config &config, const void *kernel, std::function<void()> thread);

// Puts work into a stream: runs it now, or keeps it for the graph that is being captured.
int enqueue(void *stream, std::function<void()> work);

using invoker = std::function<void()> (*)(const void *kernel, void **parameters);
const void *remember_kernel(const void *kernel, invoker make);
int launch_remembered(const launch_config &config, const void *kernel, void **parameters);

template <class... P>
std::function<void()> bind_kernel(void (*kernel)(P...), std::tuple<P...> values)
{
  return [kernel, values]() { std::apply(kernel, values); };
}
template <size_t... I, class... P>
std::function<void()> unpack_kernel(void (*kernel)(P...), void **parameters,
                                    std::index_sequence<I...>)
{
  return bind_kernel(kernel, std::tuple<P...>(*static_cast<P *>(parameters[I])...));
}

// reinterpret_cast<const void *>(x), which for a kernel also remembers how to call it.
template <class... P> const void *kernel_address(void (*kernel)(P...))
{
  return remember_kernel(reinterpret_cast<const void *>(kernel),
                         [](const void *k, void **parameters) {
                           return unpack_kernel(reinterpret_cast<void (*)(P...)>(k), parameters,
                                                std::index_sequence_for<P...>());
                         });
}
template <class T> const void *kernel_address(T *object)
{
  return reinterpret_cast<const void *>(object);
}
inline const void *kernel_address(uintptr_t number)
{
  return reinterpret_cast<const void *>(number);
}

// kernel<<<grid, block, shared, stream>>>(..) becomes launcher(kernel, grid, ..)(..).
template <class... P> struct bound_launch {
  void (*kernel)(P...);
  launch_config config;

  template <class... A> void operator()(A &&...values) const
  {
    launch(config, reinterpret_cast<const void *>(kernel),
           bind_kernel(kernel, std::tuple<P...>(static_cast<P>(values)...)));
  }
};
template <class... P>
inline bound_launch<P...> launcher(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared = 0,
                                   void *stream = nullptr)
{
  return {kernel, {grid, block, dim3(1), shared, stream}};
}

} // namespace emulator
#endif
