/* rows_of_c.h: SpMM whose C lies by columns, by way of a matrix W that lies by rows.

   Kernels that have a row of C to a team write it element by element where C lies by columns, each
   to a sector of its own.  Where the warp has neighbouring rows, their elements of a column join
   there; others in L2, while C is there.  Beyond, each sector goes to memory several times, and a
   product by rows and a copy take half of that (tests/bench/columns.md).

     stream      W = alpha A B -- C = W              where beta is 0 and the host knows it
                 W = A B -- C = alpha W + beta C     else
     workspace   | W, rows at multiples of 16 bytes | the product's own |

   Either way a result is rounded once, and has the bits that the product would write itself.  */
#ifndef SHUNT_ROWS_OF_C_H
#define SHUNT_ROWS_OF_C_H

#include "backend/routes/cost/costs.h"
#include "kernels/common/device.h"

struct shunt_rows_of_c {
  struct shunt_spmm product; /* into W; into C itself where there is no W */
  bool copies;
  void *workspace; /* the product's own */
  size_t workspace_bytes;
};

/* Bytes of W, a multiple of 256; 0: C is better written where it lies, or W would be larger than 1
   GiB.  Of p types, sizes, entries and C's order are looked at.  */
size_t shunt_rows_of_c_bytes(const struct shunt_spmm *p, enum shunt_rows_taken taken);

/* The product to run in p's place, whose own workspace takes `own` bytes.  There is no W where
   `workspace` has no room for both.  */
struct shunt_rows_of_c shunt_rows_of_c_begin(const struct shunt_spmm *p,
                                             enum shunt_rows_taken taken, size_t own,
                                             void *workspace, size_t workspace_bytes);
/* Behind it; made: what it returned, which is handed on where it failed or there is no W. */
shunt_status shunt_rows_of_c_end(const struct shunt_spmm *p, const struct shunt_rows_of_c *r,
                                 shunt_status made, const struct shunt_device *d,
                                 shunt_stream stream);

#endif
