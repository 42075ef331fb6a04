/* graph_overlap.h: lets the next kernel that is captured begin beside the one before it.

   A product seldom has work for all multiprocessors to its end, and what is launched behind it
   waits for that end.  In a captured graph the order of two kernels is an edge, and an edge may
   leave from the moment when all blocks of the first have begun (CUDA's launch completion) instead:

     whole     .. -- product | -- proof
     beside    .. -- product -------- |
                        \-- proof ... waits in the kernel .. goes on

   The second takes the multiprocessors that the first leaves free, never one that it needs.  It
   must wait for the first itself (kernels/common/early_launch.cuh) before it touches what that
   writes, and end after it; what was there before the first began it may read at once, which is why
   the first must itself have waited for all that stands before it: otherwise nothing is done.  */
#ifndef SHUNT_GRAPH_OVERLAP_H
#define SHUNT_GRAPH_OVERLAP_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* The next kernel captured on `stream` begins beside the last; false: it stands behind it as
   ever, since the stream is not in capture or its last work is no such kernel.  */
bool shunt_graph_overlap_begin(cudaStream_t stream);
/* After true, where no kernel was captured: whatever comes stands behind the last one again. */
void shunt_graph_overlap_undo(cudaStream_t stream);

#endif
