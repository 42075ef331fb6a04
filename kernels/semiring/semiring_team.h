/* semiring_team.h: the threads of a product, which need not all be there.

   One parallel region lasts as long as the product.  The caller drives: it does what is serial, and
   posts loops, whose tasks it takes along with whoever is there.

     caller   | serial | loop .......... | serial | loop ...... | over
     helper 1          | task | task | task       | task | task | leaves
     helper 2            (its core is taken)              task  | leaves

   A loop ends when its tasks are done, not when all threads have come: one whose core serves
   another program holds up at most the task that it has, and all once, at the end of the region.
   Loops outside of a region open one of their own.

   What the caller waits for helpers is measured.  Where others have taken it long, products that
   are worth less are the caller's alone, until those have lost as much as a wait, and then one is
   tried again.  Results do not depend on any of it.  */
#ifndef SHUNT_SEMIRING_TEAM_H
#define SHUNT_SEMIRING_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs drive(x) in the caller's thread, with so many threads, itself one, for its loops. */
void shunt_team_run(int threads, void (*drive)(void *x), void *x);

/* Of items 0 .. n, some: begin .. end.  worker: no two at a time have one number, and the caller
   has 0. */
typedef void (*shunt_team_step)(void *x, int64_t begin, int64_t end, int worker);
/* Does all of n items, `each` a task; a step may get several tasks at once.  threads: what a region
   of its own gets.  */
void shunt_team_loop(int threads, int64_t n, int64_t each, shunt_team_step step, void *x);
/* Workers that the loops have, by their numbers, at most. */
int shunt_team_workers(int threads);

/* Threads for a product that one thread takes so many nanoseconds for: `wanted`, or 1. */
int shunt_team_threads(int wanted, double ns);
/* What that goes by: a region waited so many nanoseconds for its helpers; and what the next one is
   expected to. */
void shunt_team_waited(double ns);
double shunt_team_wait(void);

#ifdef __cplusplus
}
#endif
#endif
