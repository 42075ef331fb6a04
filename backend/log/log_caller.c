/* log_caller.c: the line of the program that made a call, for the report.

   Of a Python program file, line and function (backend/log/log_python.h); in others, and where no
   such line can be read, the object and the symbol around the return address.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backend/log/log_python.h"
#include "backend/plan/log.h"

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
  if (!shunt_python_line(text, bytes)) object_and_symbol(address, text, bytes);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  errno = saved_errno;
}
