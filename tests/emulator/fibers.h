// fibers.h: contexts that a program switches between by itself.
#ifndef SHUNT_EMULATOR_FIBERS_H
#define SHUNT_EMULATOR_FIBERS_H

#include <stddef.h>

#if !defined __x86_64__
#include <ucontext.h>
#endif

namespace emulator
{

constexpr size_t stack_bytes = 256 << 10; // of which only the pages used take memory

struct context {
  char *stack = nullptr; // lowest address; NULL: the program's own
  void *fake_stack = nullptr;
#if defined __x86_64__
  void *top = nullptr; // where its registers lie
#else
  ucontext_t state;
#endif
};

// Memory for a stack, with a page below that must not be touched; never given back.
char *take_stack();

// Makes `c`, which has a stack, begin with `entry` when it is switched to.
void prepare(context *c, void (*entry)());
// Leaves `from` and goes on where `to` was left; last: nobody will come back to `from`.
void switch_context(context *from, context *to, bool last = false);
// First in an entry.
void entered(context *c);

} // namespace emulator
#endif
