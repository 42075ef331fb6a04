/* comma_locale.h: a locale in which numbers have commas, made where the machine has none. */
#ifndef COMMA_LOCALE_H
#define COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Sets it for the process.  False: it cannot be had.  folder: "/tmp/NAME.XXXXXX", made here. */
static inline bool comma_locale_set(char *folder)
{
  char command[256];
  if (!mkdtemp(folder)) return false;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.utf8 2>%s/said", folder,
           folder);
  const int made = system(command);
  setenv("LOCPATH", folder, 1);
  return made == 0 && setlocale(LC_ALL, "de_DE.utf8") && strtod("2.5", NULL) == 2;
}

static inline void comma_locale_reset(const char *folder)
{
  char command[256];
  setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

#endif
