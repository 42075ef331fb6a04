/* batches.h: strided batches as products of their own.

     C_i = alpha A_i B_i + beta C_i,   array of batch i = array of batch 0 + i * its stride

   Where all batches share A (its strides are 0), and each of B and C continues the one
   before it, they are one product with more columns:

     column-major, stride = ld * n            row-major, stride = n <= ld
     B_0     B_1     B_2                      B_0     B_1     B_2
     |||||   |||||   |||||                    =====   =====   =====
     |||||   |||||   |||||   k                =====   =====   =====   k
     <- n ->                                  <- n ->
     <------- 3 n ------->                    <------- 3 n ------->

   All functions are pure; the problem has passed shunt_problem_check.  */
#ifndef SHUNT_BATCHES_H
#define SHUNT_BATCHES_H

#include "backend/plan/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SpMM: is A the same in all batches? */
bool shunt_batches_share_a(const struct shunt_problem *p);

/* Fills *one with the single product that all of p's batches are; false if they are not. */
bool shunt_batches_join(const struct shunt_problem *p, struct shunt_problem *one);

/* Fills *one with batch i of p, as a problem of its own; */
void shunt_batch_at(const struct shunt_problem *p, int i, struct shunt_problem *one);
/* and turns *one, another batch of p, into batch i: only where its arrays stand differs. */
void shunt_batch_move(const struct shunt_problem *p, int i, struct shunt_problem *one);

#ifdef __cplusplus
}
#endif
#endif
