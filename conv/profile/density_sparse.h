/* density_sparse.h: where the entries of a matrix of GraphBLAS lie (density.h has the picture),
   found on the host beside a product, and so by looking at little: SHUNT_DENSITY_FEW_GROUPS of the
   aligned groups of 8 rows, evenly spread, and SHUNT_DENSITY_FEW_ENTRIES of a row's entries.

   What was looked at stands for all, so that all rows count as looked at.  Of a matrix by column
   groups are of columns, and the picture is turned: its vectors lie along rows.  */
#ifndef SHUNT_DENSITY_SPARSE_H
#define SHUNT_DENSITY_SPARSE_H

#include "conv/profile/density.h"
#include "kernels/semiring/semiring_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SHUNT_DENSITY_FEW_GROUPS = 256, SHUNT_DENSITY_FEW_ENTRIES = 64 };

/* a: host memory, of at most SHUNT_DENSITY_MOST rows and columns, indices of a row ascending, as
   GraphBLAS has sorted them; values are not read.  Takes some milliseconds at most.
   Thread-safe.  */
#define SHUNT_DENSITY_MOST (INT64_C(1) << 48)
void shunt_density_sparse_host(const struct shunt_sparse *a, struct shunt_density *out);

#ifdef __cplusplus
}
#endif
#endif
