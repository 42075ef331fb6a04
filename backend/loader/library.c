#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "backend/loader/library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

/* The mark that a search of this thread is for. */
static _Thread_local const struct library_mark *sought __attribute__((tls_model("initial-exec")));

static bool is_ours(const void *address)
{
  static bool (*const here)(const void *) = is_ours;
  return loaded_base(address) == loaded_base((const void *)(uintptr_t)here);
}

/* Opens the object around `address` if it is a copy of what is sought. */
static bool open_copy(const void *address, struct loaded *out)
{
  if (!address || is_ours(address) || !loaded_open(address, out)) return false;
  if (loaded_defines(out, sought->defines)) return true;
  loaded_close(out);
  return false;
}

static bool shows_copy(const struct loaded_reference *r)
{
  struct loaded o;
  const bool yes = strncmp(r->name, sought->prefix, strlen(sought->prefix)) == 0 &&
                   !sought->exported(r->name) && open_copy(r->bound, &o);
  if (yes) loaded_close(&o);
  return yes;
}

static bool look_everywhere(struct loaded *out)
{
  void *bases[64];
  size_t n, skip = 0;
  while ((n = loaded_list(skip, bases, sizeof bases / sizeof *bases)) > 0) {
    for (size_t i = 0; i < n; i++)
      if (open_copy(bases[i], out)) return true;
    skip += n;
  }
  return false;
}

bool loaded_library_for(const void *caller, const struct library_mark *mark, struct loaded *out)
{
  struct loaded_reference other;
  struct loaded own;
  sought = mark;
  if (loaded_find_reference(caller, shows_copy, &other) && open_copy(other.bound, out)) return true;
  if (open_copy(loaded_symbol(RTLD_NEXT, mark->defines), out)) return true;
  if (loaded_open(caller, &own)) {
    const bool found = open_copy(loaded_symbol(own.handle, mark->defines), out);
    loaded_close(&own);
    if (found) return true;
  }
  return look_everywhere(out);
}

void *loaded_function_of(const struct loaded *copy, const struct library_mark *mark,
                         const char *name)
{
  struct loaded whole;
  void *next = loaded_symbol(RTLD_NEXT, name);
  sought = mark;
  if (next && !is_ours(next)) {
    if (!open_copy(next, &whole)) return next; /* a wrapper */
    loaded_close(&whole);
  }
  next = loaded_symbol(copy->handle, name);
  return next && !is_ours(next) ? next : NULL;
}
