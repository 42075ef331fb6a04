/* fault.h: where a test makes Shunt's own fallible calls fail.

   Every allocation, CUDA or cuBLAS call and symbol look-up of Shunt's host code asks
   shunt_fault() first.  With SHUNT_FAULT=n in the environment the n-th question
   of the process (from 1) is answered "fail"; otherwise none is, at the price
   of one load and one branch.  The report says which call that was.  Thread-safe.  */
#ifndef SHUNT_FAULT_H
#define SHUNT_FAULT_H

#ifdef __cplusplus
extern "C" {
#endif

extern int shunt_fault_armed; /* set once, by the options */

struct shunt_fault_place {
  const char *call; /* its text in the source, "" where it has none */
  const char *file;
  int line;
};

/* Counts, and answers nonzero for the n-th. */
int shunt_fault_count(const char *call, const char *file, int line);
long shunt_faults_seen(void);                             /* questions so far */
const struct shunt_fault_place *shunt_fault_failed(void); /* the n-th's; NULL: it has not come */
void shunt_fault_arm(long n); /* fail the n-th from now; 0 counts without failing */

#ifdef __cplusplus
}
#endif

#define SHUNT_FAULT_IN(call) (shunt_fault_armed && shunt_fault_count(call, __FILE__, __LINE__))
#define shunt_fault() SHUNT_FAULT_IN("")

/* The value of `call`, or `failure` when this call shall fail. */
#define SHUNT_TRY_OR(failure, call) (SHUNT_FAULT_IN(#call) ? (failure) : (call))

#endif
