/* options.h: what the user may set, all through the environment, read once.

   | variable        | values                      | meaning                                    |
   | SHUNT_ROUTES    | all, none, or a list        | routes of routes/table.c (cuSPARSE);       |
   |                 |                             | host,cuda (GraphBLAS)                      |
   | SHUNT_MATH      | exact, tf32, tf32x3         | dense, vector: how f32 is multiplied       |
   | SHUNT_LOG       | dispatch                    | a line per new decision                    |
   | SHUNT_LOG_FILE  | path                        | where the lines go instead of stderr       |
   | SHUNT_REPORT    | path                        | table of calls, appended at exit           |
   | SHUNT_DETERMINISTIC | 0, 1                    | the same bits on every run (planner.h)     |
   | SHUNT_CACHE_MB  | number                      | device memory for kept plans, per device   |
   | SHUNT_TUNE      | 0, 1                        | let preprocess measure the ways (tune.h)   |
   | SHUNT_TUNE_FILE | path                        | where its answers are kept between runs    |
   | SHUNT_VERIFY    | 0, 1                        | GraphBLAS: prove kept matrices by a hash   |
   | SHUNT_FAULT     | number                      | tests only: the n-th own call fails        |

   An unknown value gives one warning that names the accepted ones, and the default.  */
#ifndef SHUNT_OPTIONS_H
#define SHUNT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Where products of the GraphBLAS face may be computed. */
enum { SHUNT_ENGINE_HOST = 1, SHUNT_ENGINE_CUDA = 2 };

/* How products of f32 operands may be computed: in f32; from operands rounded to TF32, with 10 bits
   of mantissa, and summed in f32; or by three such products of their upper and lower bits, about as
   exact as f32.  Other types know one way only.  */
enum shunt_math { SHUNT_MATH_EXACT, SHUNT_MATH_TF32, SHUNT_MATH_TF32X3 };

struct shunt_options {
  uint32_t routes;     /* bit i: route i of the table may run; all ones by default */
  uint32_t engines;    /* SHUNT_ENGINE_* that may be used; all by default */
  bool engines_forced; /* by a list: costs are not compared with the original's */
  bool routes_renamed; /* the list has names of an earlier release (backend/routes/words.h) */
  enum shunt_math math;
  bool log_dispatch;
  char log_file[512]; /* "": stderr */
  char report[512];   /* "": none */
  bool deterministic;
  bool tune;
  char tune_file[512]; /* "": answers last as long as the process */
  bool verify;
  int64_t cache_bytes; /* < 0: a tenth of the device's memory, a quarter while half is free */
};

/* Read on first use (any thread); never changes afterwards. */
const struct shunt_options *shunt_options(void);

#endif
