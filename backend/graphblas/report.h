/* report.h: the decisions about GraphBLAS' products, for SHUNT_LOG and SHUNT_REPORT (plan/log.h).

   The problem column is one word:

     mxm:plus_times:fp32:m20000n64k20000w25612544:sr.fr.fc:NT:am:t2
     |   |          |    |                        |        |  |  GraphBLAS' threads
     |   |          |    |                        |        |  a(ccum) m(ask) s(tructural)
     |   |          |    |                        |        |  c(omplemented) r(eplace), or '-'
     |   |          |    |                        |        transposes of A and B: N or T
     |   |          |    |                        A, B, C: s(parse) h(ypersparse) b(itmap) f(ull),
     |   |          |    |                        held by r(ow) or c(olumn); +i: iso
     |   |          |    C is m x n; inner size k; w multiplications (of two sparse operands:
     |   |          |    entries that will be read), 0 if not counted
     |   |          type of the semiring
     |   monoid and multiplication
     function

   A call that was let go before its semiring was known has "-".  */
#ifndef SHUNT_GRAPHBLAS_REPORT_H
#define SHUNT_GRAPHBLAS_REPORT_H

#include "backend/graphblas/product.h"
#include "backend/plan/log.h"

/* `us`: what the call took if it was taken; negative: not known.  What it saved is estimated
   (gain.h).  Returns the decision, for shunt_log_took; NULL: it found no place.  Ask
   shunt_log_wanted first.  */
struct shunt_decision *grb_report(const struct grb_product *p, struct shunt_outcome why, double us);

/* Pictures of the sparse operands, for the report, each drawn once, and few of one size: programs
   change graphs step by step.  grb_read has been there, whatever it said: operands that it left
   alone are read here, as the original will.  C is not written yet.  */
void grb_report_pictures(const struct grb_product *p);

/* Of everything that is printed of a product. */
uint64_t grb_report_hash(const struct grb_product *p);

#endif
