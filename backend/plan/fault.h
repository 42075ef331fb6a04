/* fault.h: where a test makes Shunt's own fallible calls fail.

   Every allocation, CUDA or cuBLAS call and symbol look-up of Shunt's host code asks
   shunt_fault() first.  With SHUNT_FAULT=n in the environment the n-th question
   of the process (from 1) is answered "fail"; otherwise none is, at the price
   of one load and one branch.  Thread-safe.  */
#ifndef SHUNT_FAULT_H
#define SHUNT_FAULT_H

extern int shunt_fault_armed; /* set once, by the options */

int shunt_fault_count(void);  /* counts, and answers nonzero for the n-th */
long shunt_faults_seen(void); /* questions so far */
void shunt_fault_arm(long n); /* fail the n-th from now; 0 counts without failing */

static inline int shunt_fault(void)
{
  return shunt_fault_armed && shunt_fault_count();
}

/* The value of `call`, or `failure` when this call shall fail. */
#define SHUNT_TRY_OR(failure, call) (shunt_fault() ? (failure) : (call))

#endif
