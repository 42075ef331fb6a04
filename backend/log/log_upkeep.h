/* log_upkeep.h: what a report tells of copies, beside the calls: how many were made and proved and
   in what time, how much memory they have, and which matrices there were.

   Kept only where a report is asked for.  Thread-safe; takes no lock but for matrices, which are
   rare.  */
#ifndef SHUNT_LOG_UPKEEP_H
#define SHUNT_LOG_UPKEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conv/profile/density.h"
#include "conv/profile/profile.h"

/* A copy of so many bytes was made, or one was proved, which is expected to take `us`. */
void shunt_log_conversion(double us, size_t bytes);
void shunt_log_proof(double us);
/* Bytes that copies have, and that everybody has of the device; negative: as before. */
void shunt_log_memory(int64_t copies, int64_t device);
/* A profile that has come.  Equal ones count once, and the first 32 are kept. */
void shunt_log_matrix(const struct shunt_profile *f);
/* The same, with its picture; and is there a place for one more? */
void shunt_log_density(const struct shunt_profile *f, const struct shunt_density *d);
bool shunt_log_wants_density(void);
/* The picture of a matrix that has no profile, as GraphBLAS' have none.  Of each size few are kept,
   since programs change graphs step by step; is this one wanted?  */
void shunt_log_pattern(const struct shunt_density *d, int64_t nnz);
bool shunt_log_wants_pattern(int64_t rows, int64_t cols, int64_t nnz);

/* The lines of the report (run_report.h):

     # upkeep <TAB> conversions=N <TAB> bytes=N <TAB> us=N <TAB> proofs=N <TAB> proof_us=N
     # memory <TAB> time <TAB> copies <TAB> device
     # matrix <TAB> rows=N <TAB> cols=N <TAB> nnz=N <TAB> longest=N <TAB> empty=N
        <TAB> alike8=X <TAB> alike4=X <TAB> alike2=X <TAB> two_of_four=X <TAB> squares=X
        [<TAB> densest=X <TAB> density=PICTURE]

   alikeV: the share of the groups of V rows with entries whose rows have equal columns;
   two_of_four: the share of rows of which no four neighbours hold more than two entries; squares:
   the sum of the squares of the rows' lengths; the picture: backend/log/log_density.h, densest: the
   share of its densest cell's places that have an entry.  A matrix without a profile has rows,
   cols, nnz and its picture.  */
void shunt_upkeep_print(FILE *to);

/* In a forked child: what was counted is not its own. */
void shunt_upkeep_forget(void);

#endif
