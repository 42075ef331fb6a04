/* calibrate.h: what the files of `shunt calibrate` share.

     calibrate.c        options; what is printed, and in which order
     measure.c          matrices through the engine of shunt bench (bench/bench.h)
     timings.c          a file of timings, read and written
     lines.c            the lines of a table that timings tell of, and what they multiply
     least_squares.c    non-negative coefficients by least squares (least_squares.h)
     fit.c              timings into the lines of a table; of all matrices, and of all but one
     validate.c         what the choice by a table is worth
     changes.c          products that another table sends another way
     write.c            a table as text, into the user's folder

   Fitted are products (SpMM, B and C by rows) of scattered matrices, and of layers, by `csr`,
   `bundle`, `sorted` and cuSPARSE's default, CSR_ALG1 and CSR_ALG3; nothing that packs values.
   Estimates are asked of backend/routes, so no form of theirs is repeated here.  */
#ifndef SHUNT_CALIBRATE_H
#define SHUNT_CALIBRATE_H

#include "backend/costs/machine.h"
#include "backend/tool/tool.h"
#include "conv/profile/profile.h"

/* ---- timings -------------------------------------------------------------------------------- */

/* In the order in which the router compares them: where two are equal, the first one is taken.  The
   three of cuSPARSE come first. */
enum calibrate_way {
  CALIBRATE_DEFAULT,
  CALIBRATE_ALG1,
  CALIBRATE_ALG3,
  CALIBRATE_CSR,
  CALIBRATE_BUNDLE,
  CALIBRATE_SORTED,
  CALIBRATE_WAYS,
  CALIBRATE_ALGORITHMS = CALIBRATE_CSR /* as many are cuSPARSE's */
};
extern const char *const calibrate_way_words[CALIBRATE_WAYS];

enum { CALIBRATE_NAME = 96, CALIBRATE_MOST_CASES = 65536, CALIBRATE_MOST_MATRICES = 1024 };

struct calibrate_case {
  int matrix; /* into timings.name */
  shunt_type type;
  int64_t n, rows, cols, nnz, longest;
  int64_t idle, squares; /* of conv/profile: idle_steps, row_length_squares; 0: not known */
  struct shunt_sorted_counts lengths; /* of conv/profile; all 0: not known */
  int64_t vectors, group;    /* of conv/bundle: all, and the longest group's; -1: not known */
  double us[CALIBRATE_WAYS]; /* 0: not measured */
};

struct calibrate_timings {
  char gpu[64];
  char signature[384]; /* backend/plan/tune/tune_machine.h */
  struct shunt_device device;
  int cusparse; /* 126 is 12.6 */
  char (*name)[CALIBRATE_NAME];
  int matrices;
  struct calibrate_case *of;
  int count;
};

/* timings.c.  A file of timings: the machine, the names of columns, a line for each case; `-` where
   a way was not measured.

     # shunt timings 1 build=0.1.0 gpu=NVIDIA H200 driver=13000
     # multiprocessors=132 l2=62914560 cusparse=12.6
     matrix type n rows cols nnz longest idle squares lengths vectors group csr bundle sorted ..

   Lengths are rows of 1, 4, 8 .. 16384 entries and more, with commas between them.  Columns of
   other names are not read; `idle`, `squares`, `lengths` and `sorted` may be missing.  False after
   a message, with nothing kept, where a line is not understood or says what cannot be.  */
bool calibrate_read(const char *path, struct calibrate_timings *t);
bool calibrate_save(const char *path, const struct calibrate_timings *t);
/* NULL: there is no memory, or no room.  The matrix `name` is looked up, and added if it is new. */
struct calibrate_case *calibrate_add(struct calibrate_timings *t, const char *name);
void calibrate_free(struct calibrate_timings *t);

/* measure.c.  Measures made-up matrices, then the sources, words of tool_patterns.c or names of
   files, for so many minutes at most; false after a message, with nothing kept. */
bool calibrate_measure(int minutes, char **sources, int source_count, struct calibrate_timings *t);

/* ---- lines.c -------------------------------------------------------------------------------- */

enum { CALIBRATE_LINES = 37, CALIBRATE_TERMS = 10 };

/* What is fitted together: terms of a line of a table. */
struct calibrate_line {
  const char *name;
  enum calibrate_way way;
  const char *terms; /* of struct shunt_fit_costs, `start` is the first */
  bool layers;       /* of cuSPARSE's */
};
extern const struct calibrate_line calibrate_lines[CALIBRATE_LINES];

/* The line's terms in *t, of cuSPARSE in its first version: where they are; their number. */
/* Is the last of its terms `least`?  It is none of their sum, but beside the first one a bound. */
bool calibrate_has_least(int line);
int calibrate_places(int line, struct shunt_cost_table *t, double *place[CALIBRATE_TERMS]);
/* Puts what was fitted into *t, and 0 for what the line has no term for. */
void calibrate_put(int line, struct shunt_cost_table *t, const double c[CALIBRATE_TERMS]);

/* Microseconds that the way is expected to take by table *t. */
double calibrate_estimate(const struct calibrate_timings *of, const struct calibrate_case *c,
                          enum calibrate_way way, const struct shunt_cost_table *t);
/* The line that this estimate comes from; -1: none that is fitted.  *t is changed, and set back. */
int calibrate_line_of(const struct calibrate_timings *of, const struct calibrate_case *c,
                      enum calibrate_way way, struct shunt_cost_table *t);
/* What the estimate multiplies the line's terms with; what it has besides.  *t as above. */
double calibrate_features(const struct calibrate_timings *of, const struct calibrate_case *c,
                          int line, struct shunt_cost_table *t, double f[CALIBRATE_TERMS]);

/* May the router take this way where a program asks for the algorithm? */
bool calibrate_is_open(const struct calibrate_timings *of, const struct calibrate_case *c,
                       enum calibrate_way way, enum calibrate_way algorithm);
/* By how much the way has to be better than others. */
double calibrate_margin(const struct calibrate_timings *of, const struct calibrate_case *c,
                        enum calibrate_way way);

/* ---- fit.c ---------------------------------------------------------------------------------- */

/* Lines of fewer matrices stay as they are. */
enum { CALIBRATE_LEAST_MATRICES = 6 };

struct calibrate_fit; /* what each case says of each line */
/* `base`: what is not fitted.  NULL: no memory. */
struct calibrate_fit *calibrate_fit_make(const struct calibrate_timings *t,
                                         const struct shunt_cost_table *base);
/* *out becomes base with the lines that all matrices but `without` (-1: none) give. */
void calibrate_fit_lines(const struct calibrate_fit *fit, int without,
                         struct shunt_cost_table *out);
void calibrate_fit_free(struct calibrate_fit *fit);

/* How a line was fitted. */
struct calibrate_residual {
  int matrices, cases; /* 0 cases: it was not */
  double off;          /* the factor that a case is off by: geometric standard deviation */
};
/* Of *t, whose lines were fitted; also sets what *t says of how far cuSPARSE's are off. */
void calibrate_residuals(const struct calibrate_fit *fit, struct shunt_cost_table *t,
                         struct calibrate_residual of[CALIBRATE_LINES]);

/* base with the version of cuSPARSE as its first: as it is there, or as the nearest. */
void calibrate_put_version_first(struct shunt_cost_table *t, int cusparse);

/* ---- validate.c ----------------------------------------------------------------------------- */

/* The way that the router takes, by *t, where a program asks for this algorithm of cuSPARSE. */
enum calibrate_way calibrate_choose(const struct calibrate_timings *of,
                                    const struct calibrate_case *c, enum calibrate_way algorithm,
                                    const struct shunt_cost_table *t);

/* Regret: by how much the chosen way is slower than the fastest that could have been chosen. */
struct calibrate_score {
  int cases, beyond;       /* 15 % */
  int lost;                /* slower than cuSPARSE by more than 2 % */
  double sum, worst;       /* regret */
  double gain, least;      /* how many times as fast as cuSPARSE: sum of logarithms; least */
  const char *matrix, *by; /* of the worst */
};
/* Of one algorithm; n 0: of all types and widths. */
struct calibrate_score calibrate_score_of(const struct calibrate_timings *t, const int *chosen,
                                          enum calibrate_way algorithm, shunt_type type, int64_t n);
/* chosen[case * CALIBRATE_ALGORITHMS + algorithm]: a way; -1: the algorithm was not measured.  By
   *table, or where that is NULL by fits that the case's matrix is left out of.  NULL: no memory. */
int *calibrate_choices(const struct calibrate_timings *t, const struct calibrate_fit *fit,
                       const struct shunt_cost_table *table);
/* Prints it; `all`: each algorithm, type and width.  Returns the mean regret of all choices. */
double calibrate_print_regret(const struct calibrate_timings *t, const int *chosen, bool all);

/* ---- changes.c ------------------------------------------------------------------------------ */

/* Prints the products that go another way, with what that gains by the timings; `all` of them, or
   the first few. */
void calibrate_print_changes(const struct calibrate_timings *t, const int *before, const int *after,
                             bool all);

/* ---- write.c -------------------------------------------------------------------------------- */

struct calibrate_table {
  const struct calibrate_timings *timings;
  const struct shunt_cost_table *costs;
  const struct calibrate_residual *residual;
};
/* To `path`; NULL: to the user's folder, and says where.  False after a message. */
bool calibrate_write(const struct calibrate_table *t, const char *path);

#endif
