/* option_table.h: every variable that the user may set, one row each.

   From these rows come the parsing (options.c), the lines of a configuration file (config_file.h),
   `shunt options`, and warnings of names and values that are not understood.  shunt-env(7) has a
   paragraph for each, which begins with the row's sentence and names its default;
   tests/unit/tool/check_documents.py compares the two.

   All of it is constant, and safe for any thread.  */
#ifndef SHUNT_OPTION_TABLE_H
#define SHUNT_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* How a value is read, and what stands at `place` in struct shunt_options. */
enum shunt_option_kind {
  SHUNT_OPTION_SWITCH,    /* 0 or 1                      bool */
  SHUNT_OPTION_NUMBER,    /* a whole number              int64_t; -1: unset */
  SHUNT_OPTION_MEGABYTES, /* a whole number              int64_t, in bytes; -1: unset */
  SHUNT_OPTION_WORD,      /* one of `words`              an enum, by the word's index */
  SHUNT_OPTION_PATH,      /* a path                      char[SHUNT_OPTION_PATH_BYTES] */
  SHUNT_OPTION_ROUTES,    /* all, none or a list         routes and engines; no place */
  SHUNT_OPTION_TEXT       /* read where it is needed     no place */
};
enum { SHUNT_OPTION_PATH_BYTES = 512 };

struct shunt_option {
  const char *name;
  const char *otherwise; /* the default, for people */
  const char *sentence;
  enum shunt_option_kind kind;
  bool environment_only; /* not in a configuration file */
  size_t place;
  const char *const *words; /* SHUNT_OPTION_WORD: NULL-terminated */
};

enum { SHUNT_OPTION_COUNT = 20 };
extern const struct shunt_option shunt_option_table[SHUNT_OPTION_COUNT];

/* The row of that name; -1: there is none. */
int shunt_option_index(const char *name);

/* The row whose name is nearest to `name` by edit distance; of several, the one that begins like it
   for longest.  */
int shunt_option_nearest(const char *name);

/* Is `name` one that this tree's tests, bootstrap or packaging read?  Nobody is warned of these. */
bool shunt_option_is_of_tests(const char *name);

/* What a row accepts, for people: "0, 1".  Returns text. */
const char *shunt_option_accepted(const struct shunt_option *o, char text[256]);

/* How many letters to insert, delete or replace to make b of a.  Of long names the first 63 letters
   count.  */
int shunt_edit_distance(const char *a, const char *b);

#endif
