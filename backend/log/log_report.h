/* log_report.h: where the report of SHUNT_REPORT goes, and when.

     FILE                    the process' block is appended when it ends, by one write: blocks of
                             processes that end together stay whole
     FOLDER, FOLDER/         a file for each process, FOLDER/HOST.RANK.PID; FOLDER/ is made
     a path with %h %p %r    the same, of that name: host, process, rank ("-": none)

   A file of its own is written anew now and then, by a call, and put in place by a rename: whatever
   ends the process, what was written stays.  The first time is 0.1 s after the first call, later
   ones 2 s apart or more, so that they take a thousandth of the time at most.  A name that is taken
   gets .2, .3 ... behind it: the second library of a process, another container, an earlier run.

   No lock is held on any file.  A forked child starts from nothing.  */
#ifndef SHUNT_LOG_REPORT_H
#define SHUNT_LOG_REPORT_H

#include <stdint.h>

/* Something was counted that belongs into a report.  Cheap, any number of times. */
void shunt_report_begin(void);
/* From a call that is not captured, at a time of CLOCK_MONOTONIC_COARSE in nanoseconds: writes the
   report if it is due.  Else a load and a comparison.  */
void shunt_report_tick(int64_t now);

#endif
