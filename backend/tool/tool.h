/* tool.h: what the files of the `shunt` command share.

     main.c           finds the command
     run.c            shunt run: a program under the preload
     launch.c           environment, fork, signals, exit status
     run_report.c       the table at the end; --strict, --require
     report/            page and object (run_report.h)
     inspect/         shunt inspect (inspect.h)
     model.c          shunt model: traffic, skewness and conversion of a matrix
     model_print.c      its figures, for people and as JSON (model.h)
     bench/           shunt bench (bench.h)
     calibrate/       shunt calibrate (calibrate.h)
     demo.c           shunt demo: one program, without Shunt and with it
     tool_options.c   shunt options: what is set, and where
     doctor/          shunt doctor (doctor.h)
     support/         shunt support (support.h)
     tool_matrix.c    files, made-up patterns and problems into host CSR
     tool_patterns.c    the made-up ones (tool_patterns.h)
     tool_networks.c    those of neural networks among them
     tool_text.c      messages and lists of words
     tool_progress.c  a bar for what takes long

   Results go to stdout, messages and progress to stderr.  */
#ifndef SHUNT_TOOL_H
#define SHUNT_TOOL_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/plan/problem.h"
#include "conv/read/read.h"

/* Exit statuses; shunt.1 documents them. */
enum {
  EXIT_OK = 0,
  EXIT_BAD = 1,          /* input not understood, or a result was wrong */
  EXIT_USAGE = 2,        /* unknown option, word or command */
  EXIT_RUN_UNMET = 123,  /* shunt run: the program did well, --strict or --require did not */
  EXIT_RUN_SELF = 125,   /* shunt run: failed before the program started */
  EXIT_RUN_DENIED = 126, /* shunt run: the program could not be executed */
  EXIT_RUN_MISSING = 127 /* shunt run: the program was not found */
};

struct tool_command {
  const char *name;
  const char *help; /* first line "Usage: ...", second what it does */
  int (*run)(int argc, char **argv);
};
extern const struct tool_command tool_run, tool_inspect, tool_bench, tool_model, tool_options,
    tool_demo, tool_doctor, tool_support, tool_calibrate;

/* ---- tool_text.c ---------------------------------------------------------- */

/* "shunt: text\n" on stderr. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* getopt_long, silent and with ':' for a missing argument, gave `c` ('?' or
   ':'): a line on stderr that says what is wrong and names what is accepted.
   Returns EXIT_USAGE.  */
struct option;
int tool_bad_option(const char *command, int c, char **argv, const struct option *options);
/* "shunt COMMAND: nothing to work on", and how to learn more; EXIT_USAGE. */
int tool_bad_usage(const char *command, const char *what);

enum { TOOL_LIST = 32 };
/* A comma-separated list of integers in [1, most]; returns how many, or 0 after
   a message that names `option`.  */
int tool_parse_sizes(const char *option, const char *text, int64_t most, int64_t out[TOOL_LIST]);
/* A comma-separated list of words of `accepted` (NULL-terminated) as indices
   into it; returns how many, or 0 after a message naming the accepted ones.  */
int tool_parse_words(const char *option, const char *text, const char *const *accepted,
                     int out[TOOL_LIST]);
/* An empty temporary file, below TMPDIR or /tmp, whose name begins with `stem`;
   to be unlinked and freed.  NULL after a message.  */
char *tool_temporary(const char *stem);
/* Makes text UTF-8 without control characters: a '?' for each byte that is none of it. */
void tool_clean(char *text);
/* A JSON string, quoted and escaped. */
void tool_json_string(FILE *to, const char *text);
/* The last component of a path, without .gz, .mtx and .smtx. */
void tool_short_name(const char *path, char *out, size_t bytes);
/* 1234567 as "1,234,567". */
const char *tool_grouped(int64_t n, char out[32]);
/* Microseconds for people: "12.3 us", "4.56 ms", "7.8 s". */
const char *tool_duration(double us, char out[24]);

/* ---- tool_progress.c ------------------------------------------------------ */

/* A bar on stderr, from 2 s after its beginning on; none where stderr is no terminal. */
struct tool_progress {
  bool on, drawn;
  double next; /* seconds, when it may be drawn again */
};
struct tool_progress tool_progress_begin(void);
/* `share`, 0 to 1, is done; `what` is under way. */
void tool_progress_at(struct tool_progress *p, double share, const char *what);
/* Takes the bar away, before something else is printed, or at the end. */
void tool_progress_clear(struct tool_progress *p);

/* ---- tool_options.c ------------------------------------------------------- */

/* What SHUNT_... is set to, in the environment or the file of SHUNT_CONFIG; NULL: nothing. */
const char *tool_option_text(const char *name);
bool tool_option_strict(void);  /* SHUNT_STRICT=1 */
bool tool_option_disable(void); /* SHUNT_DISABLE=1 */

/* Writes a line for each name and value that is not understood. */
void tool_option_complain(FILE *to);

/* ---- tool_matrix.c -------------------------------------------------------- */

/* Where a pattern comes from: a file, a word of tool_patterns.c, or a problem. */
struct tool_source {
  const char *text;
  bool from_problem;
  struct shunt_problem problem;
};

enum { TOOL_MAX_V = 64 };

/* Reads or makes the pattern that `text` names.  `v` > 1: each stored entry of
   a file becomes a v x 1 vector (rows x v, as DLMC benchmarks do); a random
   pattern or a problem keeps its rows, v aligned rows sharing their columns.
   False after a message.  */
bool tool_load(const char *text, int v, uint64_t seed, struct tool_source *source,
               struct shunt_matrix *out);
/* The matrix as a borrowed view: 64-bit indices, base 0, f64 values. */
struct shunt_csr tool_view(const struct shunt_matrix *m);
/* int64 rows, cols, nnz; int64 offsets[rows + 1]; int32 columns[nnz]. */
bool tool_write_csrbin(const char *path, const struct shunt_matrix *m);

/* ---- tool_patterns.c ------------------------------------------------------ */

enum tool_made {
  TOOL_NO_PATTERN, /* the text is no such word */
  TOOL_NOT_MADE,   /* it is one; a message says what is wrong */
  TOOL_MADE,
  TOOL_MADE_VECTORS /* of height v already */
};
enum tool_made tool_make_pattern(const char *text, int v, uint64_t seed, struct shunt_matrix *out);
/* A random pattern of exactly `nnz` / v aligned v x 1 vectors, columns
   ascending; every such pattern is equally likely.  */
bool tool_random_pattern(int64_t rows, int64_t cols, int64_t nnz, int v, uint64_t seed,
                         struct shunt_matrix *out);
/* False after a message when `bytes` is more than this machine's memory bears. */
bool tool_fits_memory(double bytes, const char *what);
/* Says so, frees m, returns false. */
bool tool_out_of_memory(struct shunt_matrix *m);

/* ---- launch.c ------------------------------------------------------------- */

struct launch {
  char **argv;         /* of the program, NULL-terminated */
  const char *preload; /* objects to put in front of LD_PRELOAD, or NULL */
  const char *report;  /* SHUNT_REPORT, or NULL */
  const char *routes;  /* SHUNT_ROUTES, or NULL: as it is */
  bool explain;        /* SHUNT_LOG=dispatch */
  bool measure;        /* SHUNT_MEASURE=1 */
  FILE *output;        /* what the program prints on stdout goes here; NULL: to our stdout */
};
struct launch_end {
  int status; /* the program's exit status, 128 + signal, or EXIT_RUN_* */
  int signal; /* 0: it ended by itself */
  bool ran;
};
/* Runs the program to its end, handing signals on. */
struct launch_end launch_program(const struct launch *l);
/* The value for launch.preload, to be freed; NULL after a message. */
char *launch_find_preload(bool with_dlsym);
/* The folder of this executable; false when the system does not say. */
bool launch_own_folder(char *out, size_t bytes);

/* ---- backend/tool/bench/bench.c, for demo ---------------------------------------------------- */

/* True when the bench would run on a GPU; `why` says why not. */
bool bench_have_gpu(char *why, size_t bytes);

#endif
