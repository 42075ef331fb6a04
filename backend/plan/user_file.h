/* user_file.h: files in which a process leaves something for the user's next one.

   What such a file says decides how later products are computed, so it is read only if nobody else
   can have written it, and written so that a reader finds the old or the new one, whole.

   Thread-safe.  errno stays as it was.  */
#ifndef SHUNT_USER_FILE_H
#define SHUNT_USER_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Opens a regular file, no symbolic link, that belongs to this user or root and that neither group
   nor others may write.  NULL: there is none, and *why stays NULL; or it was refused, and *why says
   the reason in words.  Never waits (a FIFO is refused).  The caller closes it.  */
FILE *shunt_user_file_open(const char *path, const char **why);

/* Writes by `print` and puts the file in the place of `path`, readable and writable by this user alone.
   False: it could not, or `path` is not a file that would be read; nothing is left behind.  */
bool shunt_user_file_write(const char *path, void (*print)(FILE *f, void *argument),
                           void *argument);

#endif
