/* disable.h: SHUNT_DISABLE=1, asked at the head of every exported function.

   It is read alone, before the other options: where it is 1, a call finds its original, as every
   call does, and jumps there.  Thread-safe; a load and a branch.  */
#ifndef SHUNT_DISABLE_H
#define SHUNT_DISABLE_H

#include <stdatomic.h>
#include <stdbool.h>

/* 0: not read yet; 1: every call is handed on; -1: not so.  Assembly reads it, too. */
extern __attribute__((visibility("hidden"))) _Atomic signed char shunt_disabled_state;

bool shunt_disabled_read(void);

static inline bool shunt_disabled(void)
{
  const signed char state = atomic_load_explicit(&shunt_disabled_state, memory_order_relaxed);
  return __builtin_expect(state < 0, 1) ? false : state > 0 || shunt_disabled_read();
}

#endif
