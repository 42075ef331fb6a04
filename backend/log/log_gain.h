/* log_gain.h: what a decision's calls saved, from the few that were timed both ways.

   saved = calls x (original - ours), of which, where a clock of the host has timed every call,

     ours      what they all took, the first ones included, whatever these cost once
     original  its quotient with what Shunt's calls took around it, the mean of the samples in the
               middle, times what Shunt's calls take in the mean, without the first FIRST

   so that it does not matter when in the run samples were taken: another program that slows the
   machine down slows both down.  Samples from before there was anything to compare with count as
   they are, if there are no others.  Where only samples have times, both are such means.  Pure.  */
#ifndef SHUNT_LOG_GAIN_H
#define SHUNT_LOG_GAIN_H

enum { SHUNT_GAIN_FIRST = 4 }; /* calls that pay once: pages of new memory, threads, code */

struct shunt_gain_calls {
  double calls, us, first_us; /* all that they took, and the first ones; us 0: no clock told */
};

struct shunt_gain_sample {
  double original_us, ours_us;
  double around_us; /* the mean of Shunt's calls before it; 0: there were none but the first */
};

struct shunt_gain_times {
  double original_us, ours_us; /* of a call, in the mean */
  double error_us;             /* by so much the original's may be off, by its samples */
};

/* count is 1 to SHUNT_GAIN_SAMPLES. */
enum { SHUNT_GAIN_SAMPLES = 32 };
struct shunt_gain_times shunt_gain_times(const struct shunt_gain_calls *c,
                                         const struct shunt_gain_sample *samples, int count);

/* The mean of what calls took, those before `us` less and less. */
double shunt_gain_around(double before, double us);

#endif
