/* support_table.h: a table of words, in which rows that differ in one column alone become one.

     csr   N   f16   any   csr vector dense              csr   N   f16 bf16   any   csr vector dense
     csr   N   bf16  any   csr vector dense     ->       csr   N   f64        any   csr bundle
     csr   N   f64   any   csr bundle

   Cells are words with single spaces between them.  Row 0 is the head.  */
#ifndef SHUNT_TOOL_SUPPORT_TABLE_H
#define SHUNT_TOOL_SUPPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { SUPPORT_COLUMNS = 5, SUPPORT_ROWS = 4096, SUPPORT_CELL = 192 };

struct support_row {
  char cell[SUPPORT_COLUMNS][SUPPORT_CELL];
};

struct support_table {
  const char *title;
  int columns, rows;
  struct support_row *row; /* [SUPPORT_ROWS] */
};

/* With its head, whose titles are separated by '|'.  False: no memory. */
bool support_table_make(struct support_table *t, const char *title, const char *head);
void support_table_free(struct support_table *t);

/* Adds one row, its cells separated by '|'.  What is too long, or one too many, is cut: the test of
   the page that is made of it would show that.  */
void support_table_add(struct support_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Joins rows that are equal but for `column`. */
void support_table_merge(struct support_table *t, int column);
/* Puts `one` in place of a cell that has all the words of `all`, in any order. */
void support_table_name(struct support_table *t, int column, const char *all, const char *one);

/* As aligned text, cells wrapped to the widths given (0: as it comes); or one JSON object. */
void support_table_print(const struct support_table *t, const int *width, FILE *to);
void support_table_json(const struct support_table *t, FILE *to);

#endif
