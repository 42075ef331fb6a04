/* doctor_path.c: paths below a root folder.

   A link in a container's root means a place in that root: /lib64 -> /usr/lib64 must not lead to
   the host's.  So links are followed here, one component after the other.  */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/tool/doctor/doctor.h"

enum { MOST_LINKS = 40 };

bool doctor_below(const char *root, const char *path, char out[PATH_MAX])
{
  return snprintf(out, PATH_MAX, "%s%s%s", root, path[0] == '/' ? "" : "/", path) < PATH_MAX;
}

const char *doctor_shown(const struct doctor *d, const char *path)
{
  size_t n = strlen(d->root);
  return n && strncmp(path, d->root, n) == 0 ? path + n : path;
}

const char *doctor_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Takes the first component off *rest; false: there is none. */
static bool next_component(char *rest, char *name, size_t room)
{
  char *from = rest + strspn(rest, "/");
  size_t n = strcspn(from, "/");
  if (n == 0 || n >= room) return false;
  memcpy(name, from, n);
  name[n] = 0;
  memmove(rest, from + n, strlen(from + n) + 1);
  return true;
}

static void drop_last(char *inside)
{
  char *slash = strrchr(inside, '/');
  if (slash) *slash = 0;
}

/* Puts the target of the link in front of what is left to walk. */
static bool follow(const char *link, char *inside, char *rest)
{
  char target[PATH_MAX], longer[2 * PATH_MAX];
  ssize_t n = readlink(link, target, sizeof target - 1);
  if (n <= 0) return false;
  target[n] = 0;
  if (target[0] == '/') inside[0] = 0;
  if (snprintf(longer, sizeof longer, "%s%s", target, rest) >= PATH_MAX) return false;
  strcpy(rest, longer);
  return true;
}

bool doctor_resolve(const char *root, const char *path, char out[PATH_MAX])
{
  char inside[PATH_MAX] = "", rest[PATH_MAX], name[NAME_MAX + 1], step[PATH_MAX];
  int links = 0;
  if (!root[0]) return realpath(path, out) != NULL;
  if (snprintf(rest, sizeof rest, "%s", path) >= PATH_MAX) return false;
  while (next_component(rest, name, sizeof name)) {
    struct stat s;
    if (strcmp(name, ".") == 0) continue;
    if (strcmp(name, "..") == 0) {
      drop_last(inside);
      continue;
    }
    if (snprintf(step, sizeof step, "%s%s/%s", root, inside, name) >= PATH_MAX) return false;
    if (lstat(step, &s) != 0) return false;
    if (!S_ISLNK(s.st_mode))
      strcpy(inside, step + strlen(root));
    else if (++links > MOST_LINKS || !follow(step, inside, rest))
      return false;
  }
  return rest[strspn(rest, "/")] == 0 && snprintf(out, PATH_MAX, "%s%s", root, inside) < PATH_MAX;
}
