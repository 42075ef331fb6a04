/* dcsr_hardware_model.h: a functional model of the hardware unit that makes dcsr strips out of CSC
   on their way from memory (Fujiki, Chatterjee, Lee and O'Connor, "Near-Memory Data Transformation
   for Efficient Sparse Matrix Multi-Vector Multiplication", SC '19).

   A strip's columns are the lanes (64 in the paper).  A lane has two pointers into the CSC arrays,
   and a prefetch buffer for what lies behind the first:

                      column_offsets
     lane  0  boundary |--------------->|        frontier: the next entry of the column that was
           |  frontier    |--> [r r r r]         not emitted;  boundary: the end of the column
           1  ...                 |
           :                      |   row at the frontier, or none left
           63 ...                 v
                        +------------------+
                        |  comparator tree |     the minimal row among the lanes, and which
                        +------------------+     lanes hold it
                           |  row, lanes
                           v
        dcsr: row_ids <- row; for each of these lanes, ascending: column, value; frontier + 1

   until no lane holds a row.  The output is the same, byte for byte, as shunt_source_to_dcsr_host
   makes of the same CSC matrix and layout.

   From the paper: frontier and boundary pointers, comparator tree, prefetch buffer, 64 lanes, one
   unit for each of 64 pseudo-channels, 0.588 ns and 6.29 pJ an element.  Assumed here: what counts
   as a cycle, the depth of the buffer, and that strip s is on channel s modulo 64.  An element of
   more than 8 bytes takes 0.588 ns for each 8 bytes, as a channel carries 13.6 GB/s.  */
#ifndef SHUNT_CONV_DCSR_HARDWARE_MODEL_H
#define SHUNT_CONV_DCSR_HARDWARE_MODEL_H

#include "conv/dcsr/dcsr_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_DCSR_UNIT_CHANNELS = 64, /* pseudo-channels, each with a unit */
  SHUNT_DCSR_UNIT_BUFFER = 8     /* entries of a lane's prefetch buffer */
};
#define SHUNT_DCSR_UNIT_ELEMENT_NS 0.588
#define SHUNT_DCSR_UNIT_ELEMENT_PJ 6.29
#define SHUNT_DCSR_UNIT_ELEMENT_BYTES 8.0 /* of one step: a 32-bit index and an fp32 value */

struct shunt_dcsr_unit_counts {
  int64_t strips;           /* with an entry; the others are passed over */
  int64_t elements;         /* entries emitted */
  int64_t segments;         /* rows emitted */
  int64_t tree_activations; /* minima taken: one for each row emitted, one to see the strip end */
  int64_t prefetches; /* a lane's buffer filled: ceil(entries / SHUNT_DCSR_UNIT_BUFFER) a column */
  int64_t bytes_read; /* column offsets (width + 1 a strip), row indices and values */
  int64_t bytes_written;  /* row_ids, offsets, columns, values, in the result's index type */
  int64_t cycles;         /* one for each element, and ceil(log2 lanes) a strip for the tree */
  int64_t busiest_cycles; /* of the channel that has most */
};

/* Bytes of scratch (8-byte aligned) for strips of this layout. */
size_t shunt_dcsr_unit_scratch_bytes(const struct shunt_dcsr_source *a,
                                     const struct shunt_dcsr_layout *layout);

/* Runs the unit over all strips of `a`, which is CSC with ascending (possibly repeated) rows in
   each column, into `out`, laid out for a and layout.
   SHUNT_E_UNSUPPORTED: not CSC, types.  SHUNT_E_ARGUMENT: bad input; *fault (may be NULL) says
   where.  SHUNT_E_WORKSPACE: no room for the segments.  out is irregular after any of them.  */
shunt_status shunt_dcsr_unit_run_host(const struct shunt_dcsr_source *a,
                                      const struct shunt_dcsr_layout *layout, void *scratch,
                                      const struct shunt_dcsr *out,
                                      struct shunt_dcsr_unit_counts *counts,
                                      struct shunt_dcsr_fault *fault);

/* What the counts come to in the paper's figures. */
struct shunt_dcsr_unit_estimate {
  double element_ns;        /* 0.588 x max(1, bytes of an element / 8) */
  double us;                /* the busiest channel's cycles */
  double balanced_us;       /* all cycles, spread evenly over the channels */
  double elements_a_second; /* elements / us */
  double peak;              /* the same if all channels were busy all the time */
  double uj;                /* 6.29 pJ an element */
};
struct shunt_dcsr_unit_estimate
shunt_dcsr_unit_estimate(const struct shunt_dcsr_unit_counts *counts, shunt_type index,
                         shunt_type value);

#ifdef __cplusplus
}
#endif
#endif
