/* report_folder.c: the folder that `shunt run` gives its program, for a file a process.

   It stands beside the file that the user has named, so that ranks on other hosts find it on a file
   system that all share, and so that what was reported is still there when shunt itself is killed.
   Where nothing was named, or nothing can be made there, it is below TMPDIR or /tmp.  */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/report/run_report.h"

/* PATH with six letters behind it; NULL: it can't be. */
static char *make(const char *path, const char *stem)
{
  char *folder;
  if (asprintf(&folder, "%s%s-XXXXXX", path, stem) < 0) return NULL;
  if (mkdtemp(folder)) return folder;
  free(folder);
  return NULL;
}

char *run_report_folder_make(const char *beside)
{
  const char *temporary = getenv("TMPDIR");
  char *file = beside ? realpath(beside, NULL) : NULL;
  char *folder = file ? make(file, ".parts") : NULL;
  free(file);
  if (!folder) folder = make(temporary && *temporary ? temporary : "/tmp", "/shunt-report");
  if (!folder) tool_say("no temporary folder: %s", strerror(errno));
  char *whole = folder ? realpath(folder, NULL) : NULL; /* the program may change its own */
  free(folder);
  return whole;
}

static int is_file(const struct dirent *e)
{
  return e->d_name[0] != '.';
}

/* For each file of the folder, in order. */
static bool each(const char *folder, bool (*act)(const char *path, FILE *to), FILE *to)
{
  struct dirent **name;
  const int files = scandir(folder, &name, is_file, versionsort);
  bool good = files >= 0;
  for (int i = 0; i < files; i++) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name[i]->d_name) >= 0) {
      good = act(path, to) && good;
      free(path);
    }
    free(name[i]);
  }
  if (files >= 0) free(name);
  return good;
}

static bool copy(const char *path, FILE *to)
{
  char text[1 << 16];
  size_t n, written = 0, had = 0;
  const size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, ".tmp") == 0) return true; /* cut short by a signal */
  FILE *from = fopen(path, "r");
  if (!from) return false;
  while ((n = fread(text, 1, sizeof text, from)) > 0) {
    written += fwrite(text, 1, n, to);
    had += n;
  }
  fclose(from);
  return written == had;
}

static bool take_away(const char *path, FILE *to)
{
  (void)to;
  return unlink(path) == 0;
}

bool run_report_folder_copy(const char *folder, FILE *to)
{
  return each(folder, copy, to);
}

void run_report_folder_remove(const char *folder)
{
  each(folder, take_away, NULL);
  rmdir(folder);
}
