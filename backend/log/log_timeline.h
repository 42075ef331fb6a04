/* log_timeline.h: when the calls of each route were made, for the report.

   For each route a row of buckets, each with the calls that fell into it and what they took.  The
   first second has buckets of 16 ms; from there on each octave, the time from t to 2 t, has 32: so
   a run of a day needs no more memory than one of a minute, and no bucket is wider than a 32nd of
   the time before it.

       16 ms each          32 ms each          64 ms each
     |-|-|-| ... |-|--|--| ...       |--|----|----| ...
     0           1 s                 2 s                  4 s

   Kept only where a report is asked for.  Thread-safe; counting takes no lock.  */
#ifndef SHUNT_LOG_TIMELINE_H
#define SHUNT_LOG_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `calls` more of `route`, a static string, now, and what calls took, in microseconds; negative:
   not known.  Returns the time, by CLOCK_MONOTONIC_COARSE in nanoseconds.  */
int64_t shunt_timeline_add(const char *route, uint64_t calls, double us);

/* From the first call to the last, since 1970, the last as exact as its bucket; false: there is
   none.  */
bool shunt_timeline_span(double *first, double *last);

/* In a forked child: what was added is not its own. */
void shunt_timeline_forget(void);

/* A line for each bucket that is not empty, times in seconds since 1970:

     # time <TAB> route <TAB> from <TAB> to <TAB> calls <TAB> us  */
void shunt_timeline_print(FILE *to);

#endif
