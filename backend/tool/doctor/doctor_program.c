/* doctor_program.c: the word given -> interpreter -> ELF file -> the objects that it needs. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/tool/doctor/doctor.h"

enum { MOST_INTERPRETERS = 4, MOST_OBJECTS = 1024 };
static const char standard_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* ---- objects -------------------------------------------------------------------------------- */

static const struct {
  const char *prefix[2], *calls[3], *mark, *file;
} kinds[DOCTOR_KINDS] = {
    [DOCTOR_CUSPARSE] = {{"cusparse", "cusparse"},
                         {"cusparseSpMM", "cusparseSDDMM", "cusparseSpMM_bufferSize"},
                         "cusparseGetVersion",
                         "libcusparse.so"},
    [DOCTOR_GRAPHBLAS] = {
        {"GrB_", "GxB_"}, {"GrB_mxm", "GrB_mxv", "GrB_vxm"}, "GrB_mxm", "libgraphblas.so"}};

/* Notes symbol `name`; of_table: it is one for the loader. */
static void note_symbol(struct doctor_use use[DOCTOR_KINDS], const char *name, bool defined,
                        bool of_table)
{
  for (int k = 0; k < DOCTOR_KINDS; k++) {
    const bool of_kind = strncmp(name, kinds[k].prefix[0], strlen(kinds[k].prefix[0])) == 0 ||
                         strncmp(name, kinds[k].prefix[1], strlen(kinds[k].prefix[1])) == 0;
    if (!of_kind) continue;
    if (defined && strcmp(name, kinds[k].mark) == 0) {
      use[k].defines = true;
      use[k].exports |= of_table;
    }
    if (defined || !of_table) continue;
    use[k].refers = true;
    for (int i = 0; i < 3; i++) use[k].calls |= strcmp(name, kinds[k].calls[i]) == 0;
  }
}

/* Functions of cuSPARSE's names that do nothing but find its own by name, as JAX has them?  Too
   small to hold cuSPARSE, whose kernels are tens of megabytes.  */
static bool is_go_between(const struct doctor_object *o, bool binds_by_name)
{
  const size_t least_of_cusparse = 8 << 20;
  const struct doctor_use *u = &o->use[DOCTOR_CUSPARSE];
  return binds_by_name && u->defines && !u->exports && o->elf.size < least_of_cusparse;
}

void doctor_read_uses(struct doctor_object *o)
{
  const struct doctor_elf *e = &o->elf;
  bool binds_by_name = false, defined;
  memset(o->use, 0, sizeof o->use);
  for (size_t i = 0; i < e->exported.count; i++) {
    const char *name = doctor_elf_symbol(&e->exported, i, &defined);
    binds_by_name |= !defined && (strcmp(name, "dlsym") == 0 || strcmp(name, "dlopen") == 0);
    note_symbol(o->use, name, defined, true);
  }
  for (size_t i = 0; i < e->all.count; i++) {
    const char *name = doctor_elf_symbol(&e->all, i, &defined);
    note_symbol(o->use, name, defined, false);
  }
  for (int k = 0; k < DOCTOR_KINDS; k++)
    o->use[k].opens = binds_by_name && !o->use[k].refers && !o->use[k].defines &&
                      doctor_elf_holds(e, kinds[k].calls[0]) && doctor_elf_holds(e, kinds[k].file);
  if (!is_go_between(o, binds_by_name)) return;
  o->use[DOCTOR_CUSPARSE].defines = false;
  o->use[DOCTOR_CUSPARSE].opens = true;
}

struct doctor_object *doctor_add_object(struct doctor_objects *l, const char *path,
                                        struct doctor_elf elf, int loader, bool local)
{
  if (l->count == l->room) {
    int room = l->room ? 2 * l->room : 64;
    struct doctor_object *longer = realloc(l->list, (size_t)room * sizeof *longer);
    if (longer) l->list = longer, l->room = room;
  }
  char *copy = l->count < l->room ? strdup(path) : NULL;
  if (!copy) {
    doctor_elf_close(&elf);
    return NULL;
  }
  struct doctor_object *o = &l->list[l->count++];
  *o = (struct doctor_object){.path = copy, .elf = elf, .loader = loader, .local = local};
  doctor_read_uses(o);
  return o;
}

void doctor_objects_free(struct doctor_objects *l)
{
  for (int i = 0; i < l->count; i++) {
    free(l->list[i].path);
    doctor_elf_close(&l->list[i].elf);
  }
  free(l->list);
  *l = (struct doctor_objects){0};
}

/* Is it in the list, under this path or as what this name stands for? */
static bool is_loaded(const struct doctor_objects *l, const char *path, const char *name)
{
  for (int i = 0; i < l->count; i++) {
    if (path && strcmp(l->list[i].path, path) == 0) return true;
    if (name && l->list[i].elf.soname && strcmp(l->list[i].elf.soname, name) == 0) return true;
  }
  return false;
}

/* Breadth first, as the loader goes. */
static void read_needed(struct doctor *d)
{
  struct doctor_objects *l = &d->objects;
  for (int i = 0; i < l->count && l->count < MOST_OBJECTS; i++)
    for (int j = 0; j < l->list[i].elf.needed_count; j++) {
      const char *name = l->list[i].elf.needed[j];
      char path[PATH_MAX];
      struct doctor_elf elf;
      if (is_loaded(l, NULL, name)) continue;
      if (!doctor_search(d, i, name, path)) {
        doctor_find(&d->findings, DOCTOR_PROBLEM, "program",
                    "install the library, or add its folder to LD_LIBRARY_PATH",
                    "%s, needed by %s, is not found: the program can't start", name,
                    doctor_base_name(l->list[i].path));
        continue;
      }
      if (is_loaded(l, path, NULL)) continue;
      if (doctor_elf_open(path, &elf) == DOCTOR_ELF_READ) doctor_add_object(l, path, elf, i, false);
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

/* As execvp finds it, not resolved: seen from inside the root. */
static bool find_word(const struct doctor *d, const char *word, char out[PATH_MAX])
{
  char found[PATH_MAX];
  if (strchr(word, '/')) {
    if (d->root[0] || word[0] == '/')
      return snprintf(out, PATH_MAX, "%s", word) < PATH_MAX && doctor_resolve(d->root, out, found);
    char here[PATH_MAX / 2];
    return getcwd(here, sizeof here) && snprintf(out, PATH_MAX, "%s/%s", here, word) < PATH_MAX &&
           doctor_resolve(d->root, out, found);
  }
  const char *path = d->root[0] ? NULL : getenv("PATH");
  if (!path || !*path) path = standard_path;
  while (*path) {
    const size_t n = strcspn(path, ":");
    struct stat s;
    if (snprintf(out, PATH_MAX, "%.*s/%s", (int)n, path, word) < PATH_MAX &&
        doctor_resolve(d->root, out, found) && stat(found, &s) == 0 && S_ISREG(s.st_mode) &&
        (s.st_mode & 0111))
      return true;
    path += n + (path[n] != 0);
  }
  return false;
}

/* The program named by a script's first line: "#! /usr/bin/env [-S] python3 -u" means python3. */
static bool read_script(const char *path, char out[PATH_MAX])
{
  char line[PATH_MAX], *rest;
  FILE *f = fopen(path, "r");
  if (!f) return false;
  const bool read = fgets(line, sizeof line, f) != NULL;
  fclose(f);
  if (!read || strncmp(line, "#!", 2) != 0) return false;
  char *word = strtok_r(line + 2, " \t\r\n", &rest);
  if (word && strcmp(doctor_base_name(word), "env") == 0) do
      word = strtok_r(NULL, " \t\r\n", &rest);
    while (word && (word[0] == '-' || strchr(word, '=')));
  return word && snprintf(out, PATH_MAX, "%s", word) < PATH_MAX;
}

static bool is_python(const char *path)
{
  return strncmp(doctor_base_name(path), "python", 6) == 0;
}

static bool is_shell(const char *path)
{
  static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "busybox", NULL};
  for (int i = 0; shells[i]; i++)
    if (strcmp(doctor_base_name(path), shells[i]) == 0) return true;
  return false;
}

/* Says why a file is none that could be run; false, for the caller to return. */
static bool refuse(struct doctor *d, const char *path, enum doctor_elf_status status)
{
  if (status == DOCTOR_ELF_UNREADABLE)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "program",
                "make the file readable, or ask as its owner",
                "%s may not be read, or is no regular file", doctor_shown(d, path));
  else
    doctor_find(&d->findings, DOCTOR_PROBLEM, "program",
                "name a program, or a script with a #! line",
                "%s is neither an ELF program nor a script", doctor_shown(d, path));
  return false;
}

static void describe(struct doctor *d, const char *named)
{
  const struct doctor_object *o = &d->objects.list[0];
  char machine[32];
  doctor_find(&d->findings, DOCTOR_OK, "program", NULL, "%s: %d-bit %s, %d librar%s",
              doctor_shown(d, o->path), o->elf.bits, doctor_elf_machine(o->elf.machine, machine),
              d->objects.count - 1, d->objects.count == 2 ? "y" : "ies");
  if (is_shell(o->path))
    doctor_find(&d->findings, DOCTOR_WARNING, "program",
                "ask again with the program that the script starts",
                "%s runs in a shell: what it starts is not seen here", named);
}

bool doctor_read_program(struct doctor *d, const char *word)
{
  char name[PATH_MAX], path[PATH_MAX], next[PATH_MAX];
  struct doctor_elf elf;
  snprintf(next, sizeof next, "%s", word);
  for (int i = 0; i <= MOST_INTERPRETERS; i++) {
    if (!find_word(d, next, name) || !doctor_resolve(d->root, name, path)) {
      doctor_find(&d->findings, DOCTOR_PROBLEM, "program", "check the name and PATH",
                  "%s is not found", next);
      return false;
    }
    const enum doctor_elf_status status = doctor_elf_open(path, &elf);
    if (status == DOCTOR_ELF_READ) {
      if (!doctor_add_object(&d->objects, path, elf, -1, false)) return false;
      read_needed(d);
      describe(d, word);
      if (is_python(name) || is_python(path)) doctor_read_python(d, name);
      return true;
    }
    if (status != DOCTOR_ELF_OTHER || !read_script(path, next)) return refuse(d, path, status);
    doctor_find(&d->findings, DOCTOR_NOTE, "program", NULL, "%s is a script of %s",
                doctor_shown(d, path), next);
  }
  doctor_find(&d->findings, DOCTOR_PROBLEM, "program", NULL, "%s: too many interpreters", word);
  return false;
}
