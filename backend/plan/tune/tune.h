/* tune.h: which way was fastest when all were measured (SHUNT_TUNE=1).

   cusparseSpMM_preprocess and cusparseSDDMM_preprocess invite work ahead of time.  With
   SHUNT_TUNE=1 that time is spent on running every route and the original on the caller's
   own problem; the fastest then takes all calls of that problem (sizes, types, layouts,
   algorithm, number of nonzeros), whatever the cost model says.  This synchronises the
   stream, so it is done only where the user asks for it.

   SHUNT_TUNE_FILE=PATH keeps the answers from one process to the next, as text:

     # shunt tune 1 build=0.1.0 gpu=NVIDIA H200 driver=13000 math=exact
     csr <tab>  14.2 <tab> 17.9 <tab> spmm:csr:f32.f32.f32.f32:...
     winner     its us      original's us  problem

   The file is read once, all or nothing: one line that is not understood, or another
   build, GPU, driver or SHUNT_MATH in the first, and none of it counts.  A file that somebody else
   could have written is refused (user_file.h), with a line on stderr.  It is written anew (and
   renamed into place) when an answer is added.

   Thread-safe; shunt_tune_find takes no lock and costs nothing where nothing was tuned.  */
#ifndef SHUNT_TUNE_H
#define SHUNT_TUNE_H

#include <stdbool.h>

#include "backend/plan/problem.h"

enum { SHUNT_TUNE_UNKNOWN = -2, SHUNT_TUNE_ORIGINAL = -1 };

struct shunt_tune_answer {
  int winner; /* index in the table of routes, or SHUNT_TUNE_ORIGINAL */
  double us, original_us;
};

/* Is there anything to find, or to be added? */
bool shunt_tune_wanted(void);
/* SHUNT_TUNE_UNKNOWN, or the winner for this problem. */
int shunt_tune_find(const struct shunt_problem *p);
/* Adds an answer (the first for a problem stays) and rewrites the file, if there is one. */
void shunt_tune_keep(const struct shunt_problem *p, struct shunt_tune_answer answer);
/* Signs the file, and reads it: `machine`, and the arithmetic that was asked for, are what follows
   "# shunt tune 1 ".  Called once, before the first answer, with what is known of this
   build and machine.  */
void shunt_tune_sign(const char *machine);

#endif
