/* log_caller.c: the line of the program that made a call, for the report.

   In Python: the line of the innermost function that is not of an installed package or of the
   standard library.  The interpreter's own reader of stacks for crashes finds it: it takes no lock,
   neither allocates nor counts references, and works without the interpreter's lock, which most
   extensions give up before they call us.  Only a thread's own stack is read, which stands still
   meanwhile, and only on threads that Python knows.  That reader is not part of Python's API: where
   an interpreter does not export it (3.13 and 3.14 do not), and in programs of other languages, it
   is the object and the symbol around the return address that are told.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/plan/log.h"

/* ---- Python ------------------------------------------------------------------------------- */

typedef void *(*this_thread_state)(void);
typedef void (*dump_traceback)(int file, void *state);
enum { STACK_TEXT = 8192 };

/* The innermost frames of this thread's Python stack as text; false: it has none. */
static bool read_stack(char text[STACK_TEXT])
{
  this_thread_state state = (this_thread_state)dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  dump_traceback dump = (dump_traceback)dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
  void *thread = state && dump ? state() : NULL;
  const int file = thread ? memfd_create("shunt-stack", MFD_CLOEXEC) : -1;
  if (file < 0) return false;
  dump(file, thread);
  const ssize_t n = pread(file, text, STACK_TEXT - 1, 0);
  close(file);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

/* Not the program's own source: installed, of the standard library, or no file. */
static bool is_installed(const char *path)
{
  return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
         strstr(path, "/lib/python") || path[0] == '<';
}

/* `  File "train.py", line 12 in step` as "train.py:12 in step"; false: it is no such line. */
static bool parse_frame(char *line, char *text, size_t bytes, bool *installed)
{
  char *path = strstr(line, "File \"");
  char *end = path ? strstr(path + 6, "\", line ") : NULL;
  if (!end) return false;
  path += 6;
  *end = 0;
  *installed = is_installed(path);
  char *rest = end + 8;
  const long number = strtol(rest, &rest, 10);
  snprintf(text, bytes, "%s:%ld%s", path, number, rest);
  return true;
}

static bool python_line(char *text, size_t bytes)
{
  char stack[STACK_TEXT], frame[512], *rest;
  bool any = false, installed = true;
  if (!read_stack(stack)) return false;
  for (char *line = strtok_r(stack, "\n", &rest); line && installed;
       line = strtok_r(NULL, "\n", &rest)) {
    if (!parse_frame(line, frame, sizeof frame, &installed)) continue;
    if (!any || !installed) snprintf(text, bytes, "%s", frame);
    any = true;
  }
  return any;
}

/* ---- others --------------------------------------------------------------------------------- */

/* "solver: multiply+0x1c", "libfoo.so+0x1234" */
static void object_and_symbol(const void *address, char *text, size_t bytes)
{
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  const char *object = slash ? slash + 1 : info.dli_fname;
  const uintptr_t from = (uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase);
  snprintf(text, bytes, "%s%s%s+0x%zx", object, info.dli_sname ? ": " : "",
           info.dli_sname ? info.dli_sname : "", (size_t)((uintptr_t)address - from));
}

void shunt_log_caller(const void *address, char *text, size_t bytes)
{
  const int saved_errno = errno;
  *text = 0;
  if (!python_line(text, bytes)) object_and_symbol(address, text, bytes);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  errno = saved_errno;
}
