// fibers.cpp: see fibers.h.
#include "fibers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined SHUNT_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator
{

char *take_stack()
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *p = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(p, page, PROT_NONE)) {
    perror("emulator: a thread's stack");
    exit(3);
  }
  return (char *)p + page;
}

// ---- the sanitizer -----------------------------------------------------------------------------

#if defined SHUNT_EMULATOR_ASAN
// It finds accesses by what lies around each object, and needs to be told of a switch only where it
// keeps frames elsewhere (detect_stack_use_after_return=1).  Else that would take a sixth of the
// time of kernels whose lanes often meet.
static bool frames_lie_elsewhere()
{
  static const bool elsewhere = __asan_get_current_fake_stack() != nullptr;
  return elsewhere;
}
static thread_local const void *own_bottom; // of the caller of the grid
static thread_local size_t own_size;

static void find_own_stack()
{
  pthread_attr_t a;
  void *bottom;
  pthread_getattr_np(pthread_self(), &a);
  pthread_attr_getstack(&a, &bottom, &own_size);
  pthread_attr_destroy(&a);
  own_bottom = bottom;
}
static void announce(context *from, context *to, bool last)
{
  if (!frames_lie_elsewhere()) return;
  if (!own_bottom) find_own_stack();
  __sanitizer_start_switch_fiber(last ? nullptr : &from->fake_stack,
                                 to->stack ? to->stack : own_bottom,
                                 to->stack ? stack_bytes : own_size);
}
static void arrived(context *c)
{
  if (frames_lie_elsewhere()) __sanitizer_finish_switch_fiber(c->fake_stack, nullptr, nullptr);
}
#else
static void announce(context *, context *, bool) {}
static void arrived(context *) {}
#endif

void entered(context *c)
{
  c->fake_stack = nullptr;
  arrived(c);
}

// ---- switching ---------------------------------------------------------------------------------

#if defined __x86_64__
// Pushes what a call preserves, leaves the stack pointer at *from, takes `to`, pops.
asm(".text\n"
    ".p2align 4\n"
    "emulator_switch:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n");
extern "C" void emulator_switch(void **from, void *to) asm("emulator_switch");

void prepare(context *c, void (*entry)())
{
  // As if entry had been called from nowhere: its stack is 8 bytes off a multiple of 16.
  uint64_t *top = (uint64_t *)(c->stack + stack_bytes) - 3;
  top[0] = 0;
  *--top = (uint64_t)entry;
  for (int i = 0; i < 6; i++) *--top = 0;
  c->top = top;
}
void switch_context(context *from, context *to, bool last)
{
  announce(from, to, last);
  emulator_switch(&from->top, to->top);
  arrived(from);
}
#else
void prepare(context *c, void (*entry)())
{
  getcontext(&c->state);
  c->state.uc_stack.ss_sp = c->stack;
  c->state.uc_stack.ss_size = stack_bytes;
  c->state.uc_link = nullptr;
  makecontext(&c->state, entry, 0);
}
void switch_context(context *from, context *to, bool last)
{
  announce(from, to, last);
  swapcontext(&from->state, &to->state);
  arrived(from);
}
#endif

} // namespace emulator
