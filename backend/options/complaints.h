/* complaints.h: what is wrong with the options, as lines for people.

   A library says one line in a process, so it keeps the first; `shunt options` prints all.  */
#ifndef SHUNT_OPTION_COMPLAINTS_H
#define SHUNT_OPTION_COMPLAINTS_H

#include <stdio.h>

struct shunt_complaints {
  FILE *to; /* where each goes, as a line "shunt: ..."; NULL: nowhere */
  int count;
  char first[1024];
};

/* Counts one more, keeps the text of the first, and writes the line. */
void shunt_complain(struct shunt_complaints *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
