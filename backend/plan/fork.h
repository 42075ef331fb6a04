/* fork.h: work beside work, joined again on the caller's stream.

   A guarded plan reads all of A to prove that nothing changed, and that can run
   beside the fast kernel instead of before it:

        caller's stream ----+--------- main work ---------+---- repair ---->
                            |                             |
                            +---- side work (guard) ------+

   Main work is enqueued first, so that the device prefers it and the side work fills
   what it leaves free.  Outside capture the side work runs on a stream of our own that
   belongs to this caller's stream alone, so that two streams of the program never wait
   on each other because of us.  Inside capture no second stream is needed: the
   captured dependencies are written as drawn.  When no side stream can be had the side
   work follows the main work on the caller's stream: slower, equally right.

     shunt_fork_begin(&f, ...);   enqueue main work on the caller's stream
     shunt_fork_side(&f);         enqueue side work on f.side
     shunt_fork_join(&f);         what follows waits for both

   begin and side never fail; join must be called once begin was, and its status looked
   at: after a failed join the caller's stream does not wait for the side work.  */
#ifndef SHUNT_FORK_H
#define SHUNT_FORK_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "kernels/types.h"

struct shunt_forks; /* the side streams of one engine */
struct shunt_side;

enum { SHUNT_FORK_MOST_DEPENDENCIES = 16 };

struct shunt_fork {
  cudaStream_t main, side;
  struct shunt_side *own; /* eager: the side stream, ours until the join */
  bool captured;          /* dependencies are rewritten instead */
  cudaGraphNode_t before[SHUNT_FORK_MOST_DEPENDENCIES];
  cudaGraphNode_t main_last[SHUNT_FORK_MOST_DEPENDENCIES];
  size_t before_count, main_count;
};

shunt_status shunt_forks_make(struct shunt_forks **out);
void shunt_forks_free(struct shunt_forks *f);

/* `capturing`: the stream is being captured.  In capture no stream is made. */
void shunt_fork_begin(struct shunt_fork *f, struct shunt_forks *pool, cudaStream_t main,
                      bool capturing);
void shunt_fork_side(struct shunt_fork *f);
shunt_status shunt_fork_join(struct shunt_fork *f);

#endif
