/* config_file.h: the file that SHUNT_CONFIG names.

     # comment
     SHUNT_ROUTES=csr,vector
     SHUNT_CACHE_MB = 512

   A line is NAME=VALUE, with spaces where one likes; the last of several lines with one name
   counts.  The environment goes before the file.

   There is no file by default, not even $XDG_CONFIG_HOME/shunt/config: a preloaded library is in
   programs of every kind.  If it read a file that nobody named, results would depend on whose home
   a program runs in (sudo may keep HOME), and programs would open files that they never did.  */
#ifndef SHUNT_CONFIG_FILE_H
#define SHUNT_CONFIG_FILE_H

#include <stdbool.h>

#include "backend/options/complaints.h"
#include "backend/options/option_table.h"

enum { SHUNT_CONFIG_BYTES = 16384 };

/* Values point into text. */
struct shunt_config {
  const char *value[SHUNT_OPTION_COUNT]; /* by row; NULL: not in the file */
  char text[SHUNT_CONFIG_BYTES];
};

/* Reads the file; complains of lines that are not understood and of unknown names.  False, and one
   complaint: nothing of the file counts, as it is not there, could have been written by somebody
   else (user_file.h), is no text, or has SHUNT_CONFIG_BYTES or more.  */
bool shunt_config_read(const char *path, struct shunt_config *c,
                       struct shunt_complaints *complaints);

#endif
