/* log.h: what was decided, kept as counters, told on request.

   Every decision (call, route or original, reason, problem) has one counter.
   With SHUNT_LOG=dispatch the first of each prints a line:

     shunt,1,columns,call,route,reason,place,problem
     shunt,1,dispatch,cusparseSpMM,dense,fits,backend/routes/dense.c:88,spmm:csr:...

   and each profile that arrives another: a matrix, its SSF and the traversal that is faster by it
   (conv/dcsr/dcsr_traversal.h):

     shunt,1,profile,rows=62 cols=62 nnz=159 longest=12 ssf=1.234e+04,C-stationary

   With SHUNT_REPORT=FILE all of them are appended to FILE when the process ends:

     # shunt report 1 pid=123 prog=python3
     # faults seen 0
     # SHUNT_ASSUME=frozen was broken: a matrix changed     (where one did)
     call <tab> route-or-original <tab> reason <tab> calls <tab> saved_us <tab> problem

   saved_us is calls times what the cost model expects one call to have saved.
   Nothing is ever printed unasked, and nothing to stdout.  Thread-safe; counting
   takes no lock.  */
#ifndef SHUNT_LOG_H
#define SHUNT_LOG_H

#include "backend/plan/problem.h"
#include "conv/profile/profile.h"

/* `call`: the caller's function, a static string.  `route`: static, "original"
   when nothing took it.  `problem` may be NULL when it could not be read.  */
void shunt_log_decision(const char *call, const char *route, struct shunt_verdict why,
                        const struct shunt_problem *problem, double saved_us);

/* The same for a problem of another library: `hash` tells it from others, and `print` writes its
   one-word text, only when the decision is new.  `print` NULL: it could not be read.  */
void shunt_log_decision_of(const char *call, const char *route, struct shunt_verdict why,
                           uint64_t hash,
                           void (*print)(const void *problem, char text[SHUNT_PROBLEM_TEXT]),
                           const void *problem, double saved_us);

void shunt_log_profile(const struct shunt_profile *f);

/* Will anybody read it? */
bool shunt_log_wanted(void);

#endif
