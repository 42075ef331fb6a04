/* log.h: counts what was decided, and prints it where the user asks for it.

   Every decision (call, route or original, reason, problem) has one counter.
   Where there are too many (4096), those to come share one for each call, route and reason, whose
   problem is "-".  With SHUNT_LOG=dispatch the first of each prints a line:

     shunt,1,columns,call,route,reason,place,problem
     shunt,1,dispatch,cusparseSpMM,dense,fits,backend/routes/dense.c:88,spmm:csr:...

   and each profile that arrives another: a matrix, its SSF and the traversal that is faster by it
   (conv/dcsr/dcsr_traversal.h):

     shunt,1,profile,rows=62 cols=62 nnz=159 longest=12 ssf=1.234e+04,C-stationary

   With SHUNT_REPORT all of them are written (log_report.h has where and when) as a block:

     # shunt report 2 pid=123 prog=python3
     # faults seen 0
     # fault <tab> call <tab> file:line                      (that a test made fail; fault.h)
     # SHUNT_ASSUME=frozen was broken: a matrix changed     (where one did)
     # process <tab> started=1790000000.250 <tab> seconds=12.500 <tab> ...      (log_process.c)
     call <tab> route-or-original <tab> reason <tab> calls <tab> saved_us <tab> problem
       <tab> us=N ...

   saved_us is what the calls saved, by the cost model, "-" where there is no such model; off=X
   tells that its estimates of the original are usually off by that factor, either way.  Where N
   calls were timed both ways (log_measure.h), samples=N stands there, with the times of the
   original and of the call, original=US and ours=US (log_gain.h), and saved_us is calls times their
   difference, to error=US by how far the samples lie apart.
   us is what the calls took, left out where it is not known, and followed by <tab> clock=table
   where the cost model expects it; from=PLACE is where the program made the first such call.
   Lines of log_timeline.h follow.
   (backend/tool/report/run_report.h reads it.)
   Nothing is ever printed unasked, and nothing to stdout.  Thread-safe; counting
   takes no lock.  */
#ifndef SHUNT_LOG_H
#define SHUNT_LOG_H

#include <stdio.h>

#include "backend/plan/problem.h"
#include "conv/profile/profile.h"

/* Of one call; times in microseconds.  All calls of one decision know the same times. */
struct shunt_log_call {
  double us;          /* what it took; negative: not known */
  double saved_us;    /* an estimate; negative: it cost more than the original; NAN: not known */
  double off;         /* factor that the estimate of the original is usually off by; 0: not known */
  bool by_table;      /* us is what the cost model expects, not what a clock told */
  uint64_t hash;      /* of the problem; 0: not known */
  const void *caller; /* the return address; NULL: captured, so that nothing slow is done now: who
                         called is not looked for, and no report is written */
};

/* A decision that was made, for shunt_log_took. */
struct shunt_decision;

/* `call`: the caller's function, a static string.  `route`: static, "original"
   when nothing took it.  `problem` may be NULL when it could not be read.  Returns as below. */
struct shunt_decision *shunt_log_decision(const char *call, const char *route,
                                          struct shunt_outcome why,
                                          const struct shunt_problem *problem,
                                          struct shunt_log_call times);

/* The same for a problem of another library: `hash` tells it from others, and `print` writes its
   one-word text, only when the decision is new.  `print` NULL: it could not be read.  NULL: the
   decision found no place, not even one without its problem.  */
struct shunt_decision *
shunt_log_decision_of(const char *call, const char *route, struct shunt_outcome why, uint64_t hash,
                      void (*print)(const void *problem, char text[SHUNT_PROBLEM_TEXT]),
                      const void *problem, struct shunt_log_call times);

/* What the last call of a decision took, told when it is done.  `d` may be NULL. */
void shunt_log_took(struct shunt_decision *d, double us);

/* One of the decision's calls was timed both ways.  The last 32 samples count (log_gain.h). */
void shunt_log_sampled(struct shunt_decision *d, double original_us, double ours_us);
/* What the original takes by these; 0: there are none. */
double shunt_log_original(const struct shunt_decision *d);

/* The table of costs that ways are chosen by; the first to say so counts.  For the report. */
void shunt_log_costs(const char *text);

/* A line of the log, and of the report, for a profile that has come. */
void shunt_log_profile(const struct shunt_profile *f);

/* Will anybody read it? */
bool shunt_log_wanted(void);

/* Where in the program a call came from that returns to `address`: "train.py:12 in step", or object
   and symbol, "solver: multiply+0x1c"; "" where neither is known.  Slow (log_caller.c).  */
void shunt_log_caller(const void *address, char *text, size_t bytes);

/* For how long this process has run; 0: not told.  Slow (log_process.c). */
double shunt_process_seconds(void);

/* Its number among those that a launcher started together; negative: none. */
long shunt_process_rank(void);

/* A line of the report about this process, whose calls took `us` (log_process.c). */
void shunt_log_process(FILE *to, double us);

/* ---- for log_report.c ------------------------------------------------------------------------ */

/* Is there anything to report? */
bool shunt_log_has_content(void);
/* The block. */
void shunt_log_print(FILE *to);
/* In a forked child: what was counted is not its own. */
void shunt_log_forget(void);

#endif
