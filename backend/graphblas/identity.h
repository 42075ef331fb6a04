/* identity.h: which matrix an operand was read from, for those who keep copies of it.

   A handle alone proves nothing: the matrix may change in place and keep its arrays.
   The epoch (backend/graphblas/epoch/epochs.h) moves with every call that may change the matrix;
   equal handle, epoch and arrays together mean equal content.  Arrays that GraphBLAS calls
   read-only belong to the program, which may write them without telling anybody: nothing may be
   kept of those.  */
#ifndef SHUNT_GRAPHBLAS_IDENTITY_H
#define SHUNT_GRAPHBLAS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct grb_identity {
  const void *handle; /* the GrB_Matrix or GrB_Vector; NULL: fresh memory of Shunt's own */
  uint64_t epoch;
  bool read_only;
  bool own_array; /* the array that is read or written is the matrix' own, and no arena's */
};

#endif
