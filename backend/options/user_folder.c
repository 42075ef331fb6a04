#define _GNU_SOURCE /* secure_getenv */
#include "backend/options/user_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool shunt_user_folder(char path[PATH_MAX])
{
  const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  int length = 0;
  if (cache && cache[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/shunt", cache);
  else if (home && home[0] == '/')
    length = snprintf(path, PATH_MAX, "%s/.cache/shunt", home);
  return length > 0 && length < PATH_MAX;
}

const char *shunt_user_folder_objection(const char *path)
{
  const int saved_errno = errno;
  struct stat s;
  const char *why = NULL;
  if (lstat(path, &s) != 0)
    why = errno == ENOENT ? NULL : "its folder cannot be asked";
  else if (!S_ISDIR(s.st_mode))
    why = S_ISLNK(s.st_mode) ? "its folder is a symbolic link" : "its folder is none";
  else if (s.st_uid != geteuid())
    why = "its folder belongs to another user";
  else if (s.st_mode & (S_IWGRP | S_IWOTH))
    why = "others may write its folder";
  errno = saved_errno;
  return why;
}

const char *shunt_user_folder_make(const char *path)
{
  const int saved_errno = errno;
  char part[PATH_MAX];
  bool good = snprintf(part, sizeof part, "%s", path) < (int)sizeof part;
  for (char *at = part; good && at;) {
    at = strchr(at + 1, '/');
    if (at) *at = 0;
    good = mkdir(part, 0700) == 0 || errno == EEXIST;
    if (at) *at = '/';
  }
  errno = saved_errno;
  return good ? shunt_user_folder_objection(path) : "its folder cannot be made";
}
