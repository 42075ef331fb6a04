/* dcsr_traversal.h: which traversal of C = A B is the faster on an H200, from SSF
   (conv/profile/profile_segments.h); the threshold was learned from times.

   Fujiki et al. (SC '19) take B-stationary where SSF is large.  Measured were 37 matrices (26 of
   SuiteSparse and SNAP; random, R-MAT, banded, hypersparse ones; runs of 8, 16 and 64 columns) at
   8, 32 and 128 columns, fp32 and fp64, 220 cases: B-stationary on stored strips
   (shunt_dcsr_spmm_strips_cuda) against the better of the kernels that keep C (`csr`, `bundle`).
   C-stationary is the faster in all 156 cases of the 26 and in 212 of the 220: gathers from an L2
   that holds B cost less than writing and reading the sums of segments.  B-stationary is the faster
   where segments are full (64 entries) and C is narrow, or rows are few and long; no threshold on
   SSF finds those, for bands have a larger SSF (3.2e8).  So the threshold that is most often right
   lies above all that were measured.  */
#ifndef SHUNT_CONV_DCSR_TRAVERSAL_H
#define SHUNT_CONV_DCSR_TRAVERSAL_H

#include "conv/dcsr/dcsr_traffic.h"
#include "conv/profile/profile.h"

#define SHUNT_SSF_THRESHOLD 3.2e8 /* B-stationary from here on */
#define SHUNT_SSF_ACCURACY 0.964  /* share of the 220 cases; on average 1.6 % of the time is lost */

static inline enum shunt_traversal shunt_traversal_by_ssf(double ssf)
{
  return ssf >= SHUNT_SSF_THRESHOLD ? SHUNT_B_STATIONARY : SHUNT_C_STATIONARY;
}

static inline enum shunt_traversal shunt_traversal_of(const struct shunt_profile *f)
{
  return shunt_traversal_by_ssf(f->ssf);
}

static inline const char *shunt_traversal_name(enum shunt_traversal t)
{
  return t == SHUNT_C_STATIONARY   ? "C-stationary"
         : t == SHUNT_B_STATIONARY ? "B-stationary"
                                   : "A-stationary";
}

#endif
