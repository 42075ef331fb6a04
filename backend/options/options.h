/* options.h: what the user has set: in the environment, in the file of SHUNT_CONFIG, or not at all.

     environment --.
                    >-- option_table.h: name, kind, place --> struct shunt_options
     config file --'        |
                            '--> not understood: one line on stderr for the whole process

   A variable that is set to nothing stands for its default, and goes before the file, too.
   A program with more rights than who started it (AT_SECURE: setuid, file capabilities) gets the
   defaults: there neither environment nor file counts, and nothing is said.  */
#ifndef SHUNT_OPTIONS_H
#define SHUNT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/options/config_file.h"
#include "backend/options/option_table.h"

/* Where products of GraphBLAS may be computed. */
enum { SHUNT_ENGINE_HOST = 1, SHUNT_ENGINE_CUDA = 2 };

/* How products of f32 operands may be computed: in f32; from operands rounded to TF32, with 10 bits
   of mantissa, and summed in f32; or by three such products of their upper and lower bits, about as
   exact as f32.  Other types know one way only.  */
enum shunt_math { SHUNT_MATH_EXACT, SHUNT_MATH_TF32, SHUNT_MATH_TF32X3 };

/* What the user promises: nothing; or that matrices which were met unchanged often enough stay so
   (backend/plan/frozen.h).  */
enum shunt_assume { SHUNT_ASSUME_NOTHING, SHUNT_ASSUME_FROZEN };

enum shunt_log { SHUNT_LOG_NONE, SHUNT_LOG_DISPATCH };

struct shunt_options {
  uint32_t routes;     /* bit i: route i of the table may run; all ones by default */
  uint32_t engines;    /* SHUNT_ENGINE_* that may be used; all by default */
  bool engines_forced; /* by a list: costs are not compared with the original's */
  bool routes_renamed; /* the list has names of an earlier release (backend/routes/words.h) */
  enum shunt_math math;
  enum shunt_log log;
  char log_file[SHUNT_OPTION_PATH_BYTES]; /* "": stderr */
  char report[SHUNT_OPTION_PATH_BYTES];   /* "": none (backend/log/log_report.h) */
  bool measure;                           /* time some calls both ways; only with a report */
  bool deterministic;
  enum shunt_assume assume;
  bool extend;
  bool tune;
  char tune_file[SHUNT_OPTION_PATH_BYTES]; /* "": answers last as long as the process */
  bool verify;
  bool disable;        /* disable.h is asked instead */
  bool strict;         /* for shunt run */
  int64_t cache_bytes; /* < 0: a tenth of the device's memory, a quarter while half is free */
  int64_t leave;       /* multiprocessors that are left to others; < 0: none (plan/leave.h) */
  int64_t fault;       /* < 0: none (fault.h) */
};

/* Read on first use (any thread); never changes afterwards.  Says the first thing that was not
   understood, and how many more there are, unless another library of Shunt's in this process has
   said so.  errno stays as it was.  */
const struct shunt_options *shunt_options(void);

/* ---- the same, with where each value is from ---------------------------------------------- */

enum shunt_option_source { SHUNT_FROM_DEFAULT, SHUNT_FROM_ENVIRONMENT, SHUNT_FROM_FILE };

/* text: NULL where the default counts, be it that the value was not understood. */
struct shunt_option_setting {
  const char *text; /* of the environment, or of `config` below */
  enum shunt_option_source source;
};

struct shunt_options_reading {
  struct shunt_options options;
  struct shunt_option_setting setting[SHUNT_OPTION_COUNT];
  struct shunt_config config;
};

/* Reads everything anew. */
void shunt_options_read(struct shunt_options_reading *r, struct shunt_complaints *complaints);

#endif
