/* scanner.h: what the file readers share: a scanner over plain or gzip text, and
   the assembly of entries into a CSR matrix.  Private to conv/.

   The scanner hands out tokens of the current line; it never looks past a line's
   end unasked, so a message can name the line it is about.

     buffer   [ consumed | not yet read text ............. | free ]
              0          at                                end     READ_BUFFER

   A token must fit between `at` and `end`: when fewer than READ_TOKEN bytes are
   left, the rest moves down and the file is read on.  buffer[end] is always
   '\0', so that loops over digits and blanks need no bound.  */
#ifndef SHUNT_CONV_SCANNER_H
#define SHUNT_CONV_SCANNER_H

#include <zlib.h>

#include "conv/read/read.h"

#define READ_BUFFER (1 << 18)
#define READ_TOKEN 512 /* no number is this long */

struct read_text {
  gzFile file;
  const char *path;
  char *buffer;
  size_t at, end;
  int at_eof;     /* nothing more to come from the file */
  char separator; /* counts as a blank: ',' in .smtx */
  int64_t line;
  struct shunt_message *why;
  const struct shunt_read_watch *watch; /* NULL: nobody is told */
  double bytes;                         /* of the file, as it lies there */
};

/* The readers (read.h). */
shunt_status read_mtx(const char *path, struct shunt_matrix *out, struct shunt_message *why,
                      const struct shunt_read_watch *watch);
shunt_status read_smtx(const char *path, struct shunt_matrix *out, struct shunt_message *why,
                       const struct shunt_read_watch *watch);

/* Opens path, with an empty message; on failure says why and returns nonzero status. */
shunt_status read_open(struct read_text *t, const char *path, struct shunt_message *why);
void read_close(struct read_text *t);
/* Writes "path:line: ..." to the message and returns SHUNT_E_INPUT. */
shunt_status read_fail(struct read_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says so in the message and returns SHUNT_E_MEMORY. */
shunt_status read_no_memory(struct read_text *t);

/* The next token is a whole number (with range check) or a real number; `name` is
   what a message calls it.  Blanks before it are skipped, a line's end is not.  */
shunt_status read_int(struct read_text *t, const char *name, int64_t *value);
shunt_status read_real(struct read_text *t, const char *name, double *value);
/* 1 when nothing but blanks is left of the line; 0, or -1 on a read error. */
int read_at_line_end(struct read_text *t);
/* Fails unless the line ends here; goes to the next line. */
shunt_status read_line_end(struct read_text *t);
/* Goes to the next line that is neither blank nor, with comment != 0, begins with
   that character.  *found is 0 at the end of the file.  */
shunt_status read_next_line(struct read_text *t, int comment, int *found);
/* Copies the rest of the line, cut to size - 1 bytes, and goes to the next. */
shunt_status read_rest_of_line(struct read_text *t, char *copy, size_t size);

/* ---- entries -> CSR ------------------------------------------------------- */

struct read_entries {
  int64_t count, room;
  int64_t *row, *column;
  double *value; /* NULL for patterns */
  int pattern;
};

void entries_init(struct read_entries *e, int pattern);
void entries_free(struct read_entries *e);
/* Appends; memory grows with what was read, never with what a header promised. */
shunt_status entries_add(struct read_entries *e, int64_t row, int64_t column, double value);
/* Refuses sizes whose row offsets alone would need memory out of proportion to the
   `entries` really read.  */
shunt_status read_check_sizes(struct read_text *t, int64_t rows, int64_t cols, int64_t entries);
/* out = the entries as CSR, columns ascending, repeated ones summed in file order;
   pattern files get values from shunt_fill_values.  */
shunt_status entries_to_csr(const struct read_entries *e, int64_t rows, int64_t cols,
                            struct shunt_matrix *out);
/* The second half of it: sorts each row, sums repeats, makes up values. */
shunt_status matrix_tidy(struct shunt_matrix *m);

#endif
