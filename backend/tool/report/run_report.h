/* run_report.h: reads what the library wrote about a run, and shows it in several ways.

     report_read.c      the file or folder of SHUNT_REPORT into blocks
     report_folder.c    the folder that `shunt run` gives its program
     report_merge.c     blocks into struct run_report
     run_report.c       the table on the terminal, and the demands of --strict and --require
     report_page.c      the page of `shunt run --report FILE.html`
     report_figures.c     its part about what was saved, and how that is known
     report_calls.c       its part about calls, by problem and by reason
     report_sums.c        its part about routes and processes
     report_timeline.c    its part about the time
     report_upkeep.c      its part about copies and memory
     report_matrices.c    its part about matrices
     report_ranks.c       its part about the time of each process, and the terminal's
     report_pieces.c      its cells and tables
     report_style.c       its style sheet
     report_json.c      the object of `shunt run --json FILE`
     report_words.c     a problem in words, and what can be done about each reason

   The library leaves a block for each process, and for each of its preload libraries there:

     # shunt report 2 pid=123 prog=python3
     # process <TAB> started=1790000000.250 <TAB> ...                   (backend/log/log_process.c)
     call <TAB> route <TAB> reason <TAB> calls <TAB> saved_us <TAB> problem [<TAB> name=value]...

   call is the function's name, route "original" for a call that was not taken, saved_us "-" where
   nothing is known of it, problem "-" where it could not be read.  The names after the problem:

     us=N        microseconds that the calls took, all together
     clock=table   ... by the cost table, on the device (otherwise: by the clock, of the host)
     off=X         saved_us is an estimate; those of the original are usually off by this factor
     samples=N     saved_us is measured: so many calls were timed both ways
     error=N       ... to so many microseconds, by how far the samples lie apart

   and, for stretches of time (since 1970) in which calls were made, of the timeline of each route:

     # time <TAB> route <TAB> from <TAB> to <TAB> calls <TAB> us

   and lines about copies, memory and matrices (backend/log/log_upkeep.h).
   Names that are not known are skipped, and so are other lines that begin with '#'.  Of blocks with
   the same block= the last one counts.  Blocks of one process are its libraries'.  Equal lines of
   several processes are added up; a line that is not understood is counted.  Version 1 has neither
   names nor "-" for saved_us.  (backend/plan/log.h writes it.)  */
#ifndef SHUNT_RUN_REPORT_H
#define SHUNT_RUN_REPORT_H

#include "backend/log/log_density.h"
#include "backend/tool/tool.h"

struct report_line {
  char call[32], route[24], reason[32], problem[SHUNT_PROBLEM_TEXT];
  int64_t calls;
  double saved, us;      /* 0 where not known; microseconds of all calls */
  double off;            /* estimates of the original are usually off by it; 0: not known */
  int64_t samples;       /* calls timed both ways; 0: `saved` is an estimate */
  double error;          /* by which `saved` may be off, where it is measured; 0: not told */
  int64_t saved_unknown; /* of the calls: nothing is known of what they saved */
  bool timed, by_table;  /* us is known; it is an estimate by the cost table */
  char from[192];        /* where the program made the first of them; "": not known */
  int process;           /* index in run_report.process; only in run_report.apart */
};

struct report_process {
  long pid; /* 0: the block has none */
  int rank; /* -1: none */
  char program[32], host[64];
  double space;            /* its pid namespace; 0: not told */
  double started, seconds; /* since 1970, and of the process' life; 0: not told */
  double first, last;      /* its first call and its last, since 1970; 0: not told */
  int64_t calls, taken, saved_unknown;
  double saved, us; /* us: what its calls took, as far as it is known */
  bool by_table;    /* some of that is an estimate by the cost table */
};

/* What a route did in some stretch of the time. */
struct report_span {
  char route[24];
  double from, to; /* since 1970 */
  double calls, us;
};

/* Copies of matrices, of all processes. */
struct report_upkeep {
  int64_t conversions, proofs;
  double bytes, us, proof_us;
};

/* Bytes of the device at some time since 1970; negative: not known. */
struct report_memory {
  int process; /* index in run_report.process */
  double time, copies, device;
};

/* A matrix (backend/log/log_upkeep.h); what is behind nnz is 0 without a profile. */
struct report_matrix {
  double rows, cols, nnz, longest, empty, alike[3], two_of_four, squares;
  bool profiled;
  double densest;                   /* the share of the densest cell's places that have an entry */
  char density[SHUNT_DENSITY_TEXT]; /* the picture, of as many cells as there should be; "": none */
};

struct run_report {
  struct report_line *line; /* of all processes, equal ones added up */
  int count, room;
  struct report_line *apart; /* of each process, in the order of these */
  int aparts, apart_room;
  struct report_process *process; /* those with calls, by rank; behind them those that have none */
  int processes, process_room;
  struct report_span *span; /* in no order */
  int spans, span_room;
  struct report_upkeep upkeep;
  struct report_memory *memory; /* in the order of each process' time */
  int memories, memory_room;
  struct report_matrix *matrix; /* no two alike */
  int matrices, matrix_room;
  char costs[256];    /* the table of costs of the first process that said so; "": none did */
  bool frozen_broken; /* a matrix changed in spite of SHUNT_ASSUME=frozen */
  int strange;        /* lines not understood */
  int64_t lost;       /* calls that were not counted by problem */
  int64_t calls, taken;
  double saved, measured; /* `measured`: what of it was not estimated */
  double error;           /* by which `measured` may be off; 0: not told */
  int64_t saved_unknown;  /* taken calls of which it is not known what they saved */
};

/* How the run itself went. */
struct run_end {
  const struct launch_end *end;
  char *const *argv;       /* of the program, NULL-terminated */
  double started, seconds; /* since 1970, and of the run */
};

/* What a run must have done, beside what its program did. */
struct run_demands {
  bool strict;         /* no call is left to the original */
  const char *require; /* routes and engines, each of which takes a call: "csr,host"; NULL: none */
};

/* Of a file, or of all files in a folder but those that end with .tmp.  All text in *r is UTF-8
   without control characters.  False, errno set and *r empty: it cannot be read.  Lines for which
   there is no memory count as not understood.  */
bool run_report_read(const char *path, struct run_report *r);
void run_report_free(struct run_report *r);

/* A folder for a file a process, beside the file of that name or, where that is NULL, anywhere;
   absolute, to be freed.  NULL after a message.  */
char *run_report_folder_make(const char *beside);
/* All that is in it; false: not all. */
bool run_report_folder_copy(const char *folder, FILE *to);
void run_report_folder_remove(const char *folder);

/* ---- between report_read.c and report_merge.c ---- */

struct report_block {
  char id[24];                   /* "": none */
  struct report_process process; /* without its sums */
  struct run_report content;     /* lines as they stand, in `apart`; no processes */
};
/* Adds the blocks up in *r, which is empty, and frees them. */
void run_report_merge(struct report_block *block, int blocks, struct run_report *r);
/* A place for one more of `count` things of `bytes`; NULL: no memory. */
void *run_report_room(void **things, int count, int *room, size_t bytes);

/* ---- what it says ---- */

/* Was the call not taken? */
bool run_report_is_original(const struct report_line *l);
/* How is it known what the calls saved?  "measured", "estimated", "unknown"; "-" for calls that
   were left.  */
const char *run_report_known(const struct report_line *l);
/* The same of the whole run: also "partly measured". */
const char *run_report_known_of_all(const struct run_report *r);
/* What the process saved that saved most: ranks that run side by side save at once; 0: none did. */
double run_report_most_saved(const struct run_report *r);
/* The greatest factor that estimates of this run are usually off by, of those that tell; 0:
   none. */
double run_report_worst_off(const struct run_report *r);
/* Taken calls first, those that saved most before others. */
void run_report_sort(struct run_report *r);

/* Prints the table for people, and what of the demands is not met, a line for each problem with its
   call and reason.  False: something is not met.  Sorts the lines.  */
bool run_report_print(struct run_report *r, const struct launch_end *end,
                      const struct run_demands *demands, FILE *to);
/* The page and the object; both sort the lines.  False: `to` took less than all. */
bool run_report_page(struct run_report *r, const struct run_end *run, FILE *to);
bool run_report_json(struct run_report *r, const struct run_end *run, FILE *to);
extern const char run_report_style[];
/* Text in the page: escaped, for content and for attributes in double quotes (report_pieces.c). */
void run_report_text(FILE *to, const char *text);
/* The part of the page about the time (report_timeline.c). */
void run_report_timeline(const struct run_report *r, FILE *to);

/* The process whose calls took longest, of those with a rank, or of all where none has one. */
struct report_slowest {
  int process; /* -1: fewer than two have times */
  double us, median_us;
  bool by_table;
};
struct report_slowest run_report_slowest(const struct run_report *r);
/* The time of each process, on the terminal and on the page; nothing where there is only one. */
void run_report_ranks_print(const struct run_report *r, FILE *to);
void run_report_ranks(const struct run_report *r, FILE *to);

/* Those about copies and memory (report_upkeep.c), and about matrices (report_matrices.c). */
void run_report_upkeep(const struct run_report *r, FILE *to);
void run_report_matrices(const struct run_report *r, FILE *to);

/* The reason that a word names; SHUNT_R_COUNT: a newer library's. */
enum shunt_reason run_report_reason(const char *word);
/* The sentence for a reason's word; the word itself when it is a newer library's. */
const char *run_report_sentence(const char *word);
/* What the user can do about it, in whole sentences; "" when it is not known. */
const char *run_report_advice(const char *word);
/* A problem in words, "4,096 x 4,096 ..."; "" where it is not understood. */
void run_report_words(const char *problem, char out[SHUNT_PROBLEM_TEXT]);

#endif
