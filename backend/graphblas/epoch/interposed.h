/* interposed.h: what the assembly of interposed.c shares with the C around it.

     return address >> 12 --low bits--> sites [4096]      page | targets of the calling object
                                                                  |
                                        targets [number] <--------+   0: not looked up yet

   A page of code belongs to one loaded object, and an object's calls go to one copy of
   GraphBLAS: so the page that a call returns to says where the call goes.  */
#ifndef SHUNT_GRAPHBLAS_EPOCH_INTERPOSED_H
#define SHUNT_GRAPHBLAS_EPOCH_INTERPOSED_H

#include "backend/graphblas/epoch/mutators.h"

/* The static archive is linked with --wrap for the products alone: its users' other calls
   do not pass us.  */
#if defined __x86_64__ && !defined __ILP32__ && !defined GRB_STATIC
#define GRB_HAVE_TRAMPOLINES 1
#else
#define GRB_HAVE_TRAMPOLINES 0
#endif

/* Literals, for the assembler too.  The factor is odd and, as the assembler's 32-bit operand,
   sign-extended.  */
#define GRB_COUNTERS 8192
#define GRB_COUNTER_FACTOR -1640531535
#define GRB_SITES 4096
#define GRB_PAGE_BITS 12
#define GRB_PANIC_CODE -101

#ifndef __ASSEMBLER__
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHUNT_HIDDEN __attribute__((visibility("hidden")))

extern SHUNT_HIDDEN _Atomic uint64_t grb_counters[GRB_COUNTERS];
extern SHUNT_HIDDEN _Atomic uint64_t grb_all_counter; /* every epoch counts it, too */

struct grb_site {
  atomic_uintptr_t page; /* 0: free; never changes again; written after targets */
  _Atomic(void *_Atomic *) targets;
};
extern SHUNT_HIDDEN struct grb_site grb_sites[GRB_SITES];

/* Calls of two copies of GraphBLAS were seen.  From then on every call is looked up
   anew, and there are no epochs.  */
extern SHUNT_HIDDEN atomic_bool grb_several_copies;

/* The original of mutator `number` for the code at `return_address`; NULL: there is none.  `first`,
   its first argument: that matrix' array is not pinned any more if the function may free it.  */
SHUNT_HIDDEN void *grb_mutator_original(unsigned number, void *return_address, void *first);
#endif
#endif
