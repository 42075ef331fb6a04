/* doctor_search.c: where ld.so would find a library (ld.so(8)), seen from inside the root.

     a name with a slash   that file
     DT_RPATH              of the object that needs it and of those that loaded it, if the object
                           has no DT_RUNPATH
     LD_LIBRARY_PATH
     DT_RUNPATH            of the object itself
     /etc/ld.so.cache
     the system's folders

   A file of another class or machine is passed over.  */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/doctor/doctor.h"

struct search {
  const struct doctor *d;
  const struct doctor_object *from;
  const char *name;
  char *out; /* PATH_MAX */
};

static bool suits(const struct search *s, const char *path)
{
  struct doctor_elf e;
  char found[PATH_MAX];
  if (!doctor_resolve(s->d->root, path, found)) return false;
  if (doctor_elf_open(found, &e) != DOCTOR_ELF_READ) return false;
  const bool yes = e.bits == s->from->elf.bits && e.machine == s->from->elf.machine;
  doctor_elf_close(&e);
  if (yes) strcpy(s->out, found);
  return yes;
}

static bool in_folder(const struct search *s, const char *folder)
{
  char path[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, s->name);
  return suits(s, path);
}

/* $ORIGIN and $LIB, as the loader has them for object o; others stay as they are. */
static void expand(const struct search *s, const struct doctor_object *o, const char *text,
                   size_t n, char *to, size_t room)
{
  static const struct {
    const char *word;
    size_t length;
  } words[] = {{"$ORIGIN", 7}, {"${ORIGIN}", 9}, {"$LIB", 4}, {"${LIB}", 6}};
  char origin[PATH_MAX];
  size_t used = 0;
  snprintf(origin, sizeof origin, "%s", doctor_shown(s->d, o->path));
  origin[doctor_base_name(origin) - origin] = 0;
  for (size_t i = 0; i < n && used + 1 < room;) {
    int w = 3;
    while (w >= 0 &&
           (words[w].length > n - i || strncmp(text + i, words[w].word, words[w].length) != 0))
      w--;
    if (w < 0)
      to[used++] = text[i++];
    else {
      used += (size_t)snprintf(to + used, room - used, "%s", w < 2 ? origin : "lib64");
      i += words[w].length;
    }
  }
  to[used < room ? used : room - 1] = 0;
}

/* Folders between colons, of object o. */
static bool in_folders(const struct search *s, const struct doctor_object *o, const char *list)
{
  char folder[PATH_MAX];
  while (list && *list) {
    const size_t n = strcspn(list, ":;");
    expand(s, o, list, n, folder, sizeof folder);
    if (in_folder(s, folder)) return true;
    list += n + (list[n] != 0);
  }
  return false;
}

static bool by_rpath(const struct search *s)
{
  const struct doctor_object *o = s->from;
  if (o->elf.runpath) return false;
  for (;;) {
    if (o->elf.rpath && !o->elf.runpath && in_folders(s, o, o->elf.rpath)) return true;
    if (o->loader < 0) return false;
    o = &s->d->objects.list[o->loader];
  }
}

/* The cache of glibc 2.2 and later, by itself or behind an old one:

     magic[20]  count  bytes of texts  ...  -> 48 bytes
     count x { flags  key  value  ...       -> 24 bytes }   offsets from the magic  */
static bool in_cache(const struct search *s)
{
  static const char magic[] = "glibc-ld.so.cache1.1";
  enum { HEAD = 48, ENTRY = 24 };
  char path[PATH_MAX];
  bool found = false;
  if (!doctor_resolve(s->d->root, "/etc/ld.so.cache", path)) return false;
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  char *bytes = NULL;
  size_t size = 0, room = 0, n;
  do {
    char *longer = realloc(bytes, room += 1 << 16);
    if (!longer) break;
    bytes = longer;
    size += n = fread(bytes + size, 1, room - size - 1, f);
  } while (n > 0);
  fclose(f);
  if (bytes) bytes[size] = 0;
  size_t start = 0;
  while (bytes && start + HEAD <= size && memcmp(bytes + start, magic, sizeof magic - 1) != 0)
    start += 4;
  uint32_t count = 0, entry[3];
  if (bytes && start + HEAD <= size) memcpy(&count, bytes + start + 20, sizeof count);
  for (size_t i = 0; i < count && !found; i++) {
    const size_t at = start + HEAD + i * ENTRY;
    if (at + ENTRY > size) break;
    memcpy(entry, bytes + at, sizeof entry);
    if (entry[1] >= size - start || entry[2] >= size - start) break;
    found = strcmp(bytes + start + entry[1], s->name) == 0 && suits(s, bytes + start + entry[2]);
  }
  free(bytes);
  return found;
}

static bool in_system(const struct search *s)
{
  static const char *const x86[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", NULL};
  static const char *const arm[] = {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", NULL};
  static const char *const all[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib", NULL};
  const char *const *first = s->from->elf.machine == EM_AARCH64 ? arm : x86;
  for (; *first; first++)
    if (in_folder(s, *first)) return true;
  for (int i = 0; all[i]; i++)
    if (in_folder(s, all[i])) return true;
  return false;
}

bool doctor_search(const struct doctor *d, int from, const char *name, char out[PATH_MAX])
{
  const struct search s = {d, &d->objects.list[from], name, out};
  if (strchr(name, '/')) return suits(&s, name);
  return by_rpath(&s) || in_folders(&s, s.from, getenv("LD_LIBRARY_PATH")) ||
         in_folders(&s, s.from, s.from->elf.runpath) || in_cache(&s) || in_system(&s);
}
