/* user_folder.h: the user's folder for what one process leaves for the next without being told a
   path: $XDG_CACHE_HOME/shunt, else $HOME/.cache/shunt.

   What lies there decides how later products are computed (user_file.h), so it counts only where
   nobody else can put a file in the place of another.  Thread-safe.  errno stays as it was.  */
#ifndef SHUNT_USER_FOLDER_H
#define SHUNT_USER_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* Its path; false: neither variable is an absolute path that fits, or this program has more rights
   than its user.  */
bool shunt_user_folder(char path[PATH_MAX]);

/* NULL: it is a folder of this user's that nobody else may write, or there is none; else the reason
   in words why it does not count. */
const char *shunt_user_folder_objection(const char *path);

/* Makes it, and what is missing above it, for this user alone; NULL, or the reason in words. */
const char *shunt_user_folder_make(const char *path);

#endif
