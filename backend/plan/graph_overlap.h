/* graph_overlap.h: lets the next kernel that is captured begin beside the one before it.

   A product seldom has work for all multiprocessors to its end, and what is launched behind it
   waits for that end.  In a captured graph the order of two kernels is an edge, and an edge may
   leave from the moment when all blocks of the first have begun (CUDA's launch completion) instead:

     whole     .. -- product | -- proof
     beside    .. -- product -------- |
                        \-- proof ... waits in the kernel .. goes on

   The second kernel runs on multiprocessors that the first leaves free, never on one that it needs.
   It may read at once what was there before the first began.  Before it touches what the first
   writes it must wait for the first itself (kernels/common/early_launch.cuh), and it ends after the
   first.  All this is right only if the first kernel has waited for all work before it; where it
   has not, nothing is changed.  */
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
