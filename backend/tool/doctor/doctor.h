/* doctor.h: what the files of `shunt doctor` share.

     doctor.c            options; the questions, in order
     doctor_driver.c     driver, GPUs, toolkits
     doctor_install.c    Shunt's own libraries: there, of this version, for this GPU
     doctor_program.c    the word given -> interpreter -> ELF file -> what it needs
     doctor_python.c     libraries that a Python program could import
     doctor_bindings.c   copies of cuSPARSE and GraphBLAS, and who binds them how
     doctor_reach.c      does LD_PRELOAD act on this program?
     doctor_settings.c   what is set, in the environment or a file, and the files that it names
     doctor_shared.c     the table by which processes share a device's memory
     doctor_findings.c   findings, verdict, exit status
     doctor_elf.c        one ELF file (doctor_elf.h)
     doctor_search.c     where the loader would find a library
     doctor_path.c       paths below a root folder

   Nothing is loaded but libcuda, nothing is run and no context is made.  Paths are the host's,
   below `root`, unless said; they are printed without it.  */
#ifndef SHUNT_TOOL_DOCTOR_H
#define SHUNT_TOOL_DOCTOR_H

#include <limits.h>

#include "backend/options/options.h"
#include "backend/tool/doctor/doctor_elf.h"
#include "backend/tool/tool.h"

/* The two libraries; DOCTOR_KINDS: both. */
enum doctor_kind { DOCTOR_CUSPARSE, DOCTOR_GRAPHBLAS, DOCTOR_KINDS };

/* ---- doctor_findings.c ---------------------------------------------------------------------- */

enum doctor_level {
  DOCTOR_OK,
  DOCTOR_NOTE,    /* worth knowing */
  DOCTOR_WARNING, /* Shunt works, though perhaps not as hoped */
  DOCTOR_PROBLEM  /* Shunt does not work before this is mended */
};

struct doctor_finding {
  enum doctor_level level;
  enum doctor_kind about;
  const char *topic;  /* static */
  const char *advice; /* static; NULL: nothing to be done */
  char *text;
};

struct doctor_findings {
  struct doctor_finding *list;
  int count, room;
  enum doctor_kind about; /* of those to come */
  bool lost;              /* memory was short: some are missing */
  bool idle;              /* the program uses neither library, as far as its files tell */
};

/* Adds one. */
void doctor_find(struct doctor_findings *f, enum doctor_level level, const char *topic,
                 const char *advice, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Can it be served?  `argv`: the program and its arguments; argv[0] is NULL when none was named,
   and then one of the two libraries is enough.  */
bool doctor_can_serve(const struct doctor_findings *f, char *const *argv);
/* All findings, the verdict - without a program one for each library - and what to do. */
void doctor_print(const struct doctor_findings *f, char *const *argv);
void doctor_print_json(const struct doctor_findings *f, char *const *argv);
void doctor_findings_free(struct doctor_findings *f);

/* ---- doctor_program.c ----------------------------------------------------------------------- */

/* What an object has to do with one of the two libraries. */
struct doctor_use {
  bool refers;  /* names some function of it, to be bound by the loader */
  bool calls;   /* ... and one that Shunt takes */
  bool defines; /* holds the library's code */
  bool exports; /* ... and exports it */
  bool opens;   /* holds its file name and binds by dlsym */
};

struct doctor_object {
  char *path;
  struct doctor_elf elf;
  int loader; /* the object that needs this one; -1: none */
  bool local; /* opened by Python, into a scope of its own */
  struct doctor_use use[DOCTOR_KINDS];
};

/* The objects of a program, the program itself first, and what Python could import. */
struct doctor_objects {
  struct doctor_object *list;
  int count, room;
};

struct doctor {
  const char *root;         /* "": this machine; no slash at its end */
  bool wants[DOCTOR_KINDS]; /* the program uses it; without a program, both count as used */
  int architecture;         /* lowest compute capability of the GPUs, times 10; 0: not known */
  int multiprocessors;      /* of the first GPU; 0: not known */
  bool h200;                /* ... which the cost table was measured on */
  int driver_cuda;          /* CUDA version of the driver, as 13000; 0: not known */
  bool has_dlsym;           /* libshunt-dlsym.so is installed */
  char library[PATH_MAX];   /* one of Shunt's libraries; "": none is installed */
  struct doctor_objects objects;
  struct doctor_findings findings;
  struct shunt_options_reading settings;
};

/* Finds the program that `word` names, as a shell would, and all that it needs.  False after a
   finding that says why it can't be looked at.  */
bool doctor_read_program(struct doctor *d, const char *word);
/* Fills `use` of an object that is open. */
void doctor_read_uses(struct doctor_object *o);
/* Takes over `elf` and copies path; NULL: no memory, and elf is closed. */
struct doctor_object *doctor_add_object(struct doctor_objects *l, const char *path,
                                        struct doctor_elf elf, int loader, bool local);
void doctor_objects_free(struct doctor_objects *l);

/* ---- the other questions, each of which adds its findings ----------------------------------- */

/* The first of all: reads what is set, and adds what is not understood. */
void doctor_read_settings(struct doctor *d);
void doctor_ask_driver(struct doctor *d);
void doctor_ask_toolkits(struct doctor *d);
void doctor_ask_install(struct doctor *d);
void doctor_ask_reach(struct doctor *d);
void doctor_ask_bindings(struct doctor *d);
void doctor_ask_settings(struct doctor *d);
void doctor_ask_shared(struct doctor *d);
/* The value of SHUNT_..., from the environment or the file; NULL: it is not set. */
const char *doctor_setting(const struct doctor *d, const char *name);
/* What `interpreter`, a Python as it was named, could import of the two libraries and their users
   is added to the objects.  */
void doctor_read_python(struct doctor *d, const char *interpreter);

/* ---- doctor_search.c ------------------------------------------------------------------------ */

/* The file that the loader would take for `name`, needed by object `from` of the list; false:
   none.  */
bool doctor_search(const struct doctor *d, int from, const char *name, char out[PATH_MAX]);

/* ---- doctor_path.c -------------------------------------------------------------------------- */

/* The file that `path`, seen from inside the root, leads to, all links followed; false: none. */
bool doctor_resolve(const char *root, const char *path, char out[PATH_MAX]);
/* `path` below the root, links not followed; false: too long. */
bool doctor_below(const char *root, const char *path, char out[PATH_MAX]);
/* The path as it is seen from inside the root. */
const char *doctor_shown(const struct doctor *d, const char *path);
/* Its last component. */
const char *doctor_base_name(const char *path);

#endif
