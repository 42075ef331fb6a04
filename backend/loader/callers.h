/* callers.h: what was found for whom: answers kept by the code that asked.

   Which library a call belongs to depends on who calls, and the loader's functions take its
   lock and 50 ns and more: so every answer is kept by the page of code that the
   question came from (a page belongs to one object).

       return address -> page -> hash -> sites[.]   page | answer
                                                            +- caller: file name of the object
                                                            +- what:   e.g. a table of functions

   A caller may be unloaded, and other code mapped to its page, as when two plugins take turns.  So
   an answer counts only for an object of the same file name.  Two changes are not noticed: a file
   that is replaced on disk, then closed and opened again at the same address, and is now linked to
   another copy; and generated code that takes the place of other generated code.

   Thread-safe without locks; answers are few and are never freed.  */
#ifndef SHUNT_LOADER_CALLERS_H
#define SHUNT_LOADER_CALLERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct caller_answer;
struct caller_site {
  atomic_uintptr_t page; /* 0: free; never changes again */
  _Atomic(const struct caller_answer *) answer;
};

/* Zeroed but for the first two; static. */
struct callers {
  struct caller_site *sites;
  size_t count;
  _Atomic(const struct caller_answer *) all;
};

/* What was remembered for the object around `address`; NULL: nothing. */
const void *callers_recall(const struct callers *c, const void *address);

/* Without memory, or where all places are taken, nothing is remembered; calls are then slower, and
   as right.  `what` must outlive the process's last call.  */
void callers_remember(struct callers *c, const void *address, const void *what);

#endif
