/* log_measure.h: which calls of a run under SHUNT_MEASURE=1 are timed both ways, and how much time
   that may take.

   Of each kind of call, told apart by a key, the second is due, as the first one of a program loads
   code, and after one at call n the next at 3/2 n: a kind that comes a million times is timed some
   thirty times.  A sample that would take more than a quarter of the time that there is waits until
   there are calls of Shunt's to compare it with (log_gain.h).  All of it together takes at most one
   part in a hundred of the time that the process has run; where an estimate of what a sample will
   take was too low, later ones wait until that is made up for.  A kind that has to wait for time,
   for no longer than the process has run, has it before those of which there are more samples
   already: long calls are most of what a sum is, and short ones would always find time first.

   Thread-safe; takes no lock.  */
#ifndef SHUNT_LOG_MEASURE_H
#define SHUNT_LOG_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Does anybody want it: is there a report, and the option? */
bool shunt_measure_wanted(void);

/* Counts a call; is one of its kind due, and is there time for a sample of `us` microseconds?  It
   stays due until shunt_measure_begin says yes.  */
bool shunt_measure_due(uint64_t key, double us);

/* Sets `us` microseconds, what a sample is expected to take, aside.  How many there are of its kind
   with this one; 0: there is no time for it.  */
int shunt_measure_begin(uint64_t key, double us);
/* How many it has had. */
int shunt_measure_count(uint64_t key);
/* It took `us` in their place. */
void shunt_measure_end(double set_aside, double us);

#endif
