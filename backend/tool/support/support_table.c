#include "backend/tool/support/support_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Reads the cells of text, separated by '|', into *row. */
static void split(const char *text, struct support_row *row, int columns)
{
  for (int i = 0; i < columns; i++) {
    const size_t length = strcspn(text, "|");
    snprintf(row->cell[i], SUPPORT_CELL, "%.*s", (int)length, text);
    text += length + (text[length] == '|');
  }
}

bool support_table_make(struct support_table *t, const char *title, const char *head)
{
  *t = (struct support_table){.title = title, .columns = 1, .rows = 1};
  for (const char *c = head; *c; c++) t->columns += *c == '|';
  t->row = calloc(SUPPORT_ROWS, sizeof *t->row);
  if (t->row) split(head, &t->row[0], t->columns);
  return t->row != NULL;
}

void support_table_free(struct support_table *t)
{
  free(t->row);
  t->row = NULL;
}

void support_table_add(struct support_table *t, const char *format, ...)
{
  char text[SUPPORT_COLUMNS * SUPPORT_CELL];
  va_list list;
  if (t->rows == SUPPORT_ROWS) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  split(text, &t->row[t->rows++], t->columns);
}

/* ---- merging ------------------------------------------------------------------------------ */

/* Is the word, of this length, among those of `cell`? */
static bool holds(const char *cell, const char *word, size_t length)
{
  while (*cell) {
    const size_t here = strcspn(cell, " ");
    if (here == length && strncmp(cell, word, length) == 0) return true;
    cell += here + (cell[here] == ' ');
  }
  return false;
}

/* Has `cell` every word of `all`? */
static bool holds_all(const char *cell, const char *all)
{
  while (*all) {
    const size_t length = strcspn(all, " ");
    if (!holds(cell, all, length)) return false;
    all += length + (all[length] == ' ');
  }
  return true;
}

static bool equal_but(const struct support_table *t, int i, int j, int column)
{
  for (int c = 0; c < t->columns; c++)
    if (c != column && strcmp(t->row[i].cell[c], t->row[j].cell[c]) != 0) return false;
  return true;
}

static void append(char *cell, const char *words)
{
  char both[2 * SUPPORT_CELL];
  if (holds_all(cell, words)) return;
  snprintf(both, sizeof both, "%s %s", cell, words);
  both[SUPPORT_CELL - 1] = 0;
  memcpy(cell, both, SUPPORT_CELL);
}

void support_table_merge(struct support_table *t, int column)
{
  int kept = 1;
  for (int i = 1; i < t->rows; i++) {
    int same = 1;
    while (same < kept && !equal_but(t, same, i, column)) same++;
    if (same < kept)
      append(t->row[same].cell[column], t->row[i].cell[column]);
    else
      t->row[kept++] = t->row[i];
  }
  t->rows = kept;
}

void support_table_name(struct support_table *t, int column, const char *all, const char *one)
{
  for (int i = 1; i < t->rows; i++)
    if (holds_all(t->row[i].cell[column], all))
      snprintf(t->row[i].cell[column], SUPPORT_CELL, "%s", one);
}

/* ---- printing ------------------------------------------------------------------------------- */

/* How much of text goes on a line of so many letters: whole words, at least one. */
static size_t line_of(const char *text, size_t width)
{
  size_t end = strlen(text);
  if (end <= width) return end;
  for (end = width; end > 0 && text[end] != ' '; end--) continue;
  return end > 0 ? end : strcspn(text, " ");
}

static void print_row(const struct support_table *t, int i, const int *width, FILE *to)
{
  const char *rest[SUPPORT_COLUMNS];
  bool more = true;
  for (int c = 0; c < t->columns; c++) rest[c] = t->row[i].cell[c];
  while (more) {
    more = false;
    int missing = 0;
    for (int c = 0; c < t->columns; c++) {
      const int length = (int)line_of(rest[c], (size_t)width[c]);
      if (length > 0) fprintf(to, "%*s%.*s", missing, "", length, rest[c]);
      missing = (length > 0 ? 0 : missing) + width[c] - length + 2;
      rest[c] += length + (rest[c][length] == ' ');
      more |= *rest[c] != 0;
    }
    fputc('\n', to);
  }
}

void support_table_print(const struct support_table *t, const int *wanted, FILE *to)
{
  int width[SUPPORT_COLUMNS] = {0};
  for (int c = 0; c < t->columns; c++) {
    for (int i = 0; i < t->rows; i++) {
      const int length = (int)strlen(t->row[i].cell[c]);
      if (length > width[c]) width[c] = length;
    }
    if (wanted[c] > 0 && width[c] > wanted[c]) width[c] = wanted[c];
  }
  fprintf(to, "%s\n\n", t->title);
  for (int i = 0; i < t->rows; i++) print_row(t, i, width, to);
}

static void print_string(const char *text, FILE *to)
{
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

void support_table_json(const struct support_table *t, FILE *to)
{
  fputs("{\"title\": ", to);
  print_string(t->title, to);
  fputs(", \"rows\": [", to);
  for (int i = 0; i < t->rows; i++) {
    fputs(i ? ",\n  [" : "\n  [", to);
    for (int c = 0; c < t->columns; c++) {
      fputs(c ? ", " : "", to);
      print_string(t->row[i].cell[c], to);
    }
    fputc(']', to);
  }
  fputs("]}", to);
}
