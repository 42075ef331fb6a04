/* log_python.c: the line of a Python program, read from the thread's own stack.

   That stack stands still meanwhile, as its thread is here.  So nothing of the interpreter's has to
   be locked, allocated or counted, and most extensions gave up its lock before they called us.

     most, 3.15              the reader of stacks for crashes, _Py_DumpTraceback or
                             PyUnstable_DumpTraceback, writes it as text
     3.13, 3.14              do not export that one; they export a table of where the members of
                             their structs lie, _Py_DebugOffsets, for debuggers outside

   Those that have neither (3.9 and 3.10) and interpreters without a global lock, where code moves,
   are left alone.  */
#define _GNU_SOURCE
#include "backend/log/log_python.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- which frame ---------------------------------------------------------------------------- */

struct place {
  char *text;
  size_t bytes;
  bool any, of_program;
};

/* Not the program's own source: installed, of the standard library, or no file. */
static bool is_installed(const char *path)
{
  return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
         strstr(path, "/lib/python") || path[0] == '<';
}

/* Frames come from the innermost on. */
static void add_frame(struct place *p, const char *path, long line, const char *function)
{
  const bool installed = is_installed(path);
  if (!p->any || !installed) snprintf(p->text, p->bytes, "%s:%ld in %s", path, line, function);
  p->any = true;
  p->of_program = !installed;
}

/* ---- by the interpreter's own reader ------------------------------------------------------ */

enum { STACK_TEXT = 8192 };
typedef void (*dump_traceback)(int file, void *thread);

/* The innermost frames as text; false: there are none, or no such reader. */
static bool read_text(void *thread, char text[STACK_TEXT])
{
  /* The newer one returns a message, which is not asked for. */
  dump_traceback dump = (dump_traceback)dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
  if (!dump) dump = (dump_traceback)dlsym(RTLD_DEFAULT, "PyUnstable_DumpTraceback");
  const int file = dump ? memfd_create("shunt-stack", MFD_CLOEXEC) : -1;
  if (file < 0) return false;
  dump(file, thread);
  const ssize_t n = pread(file, text, STACK_TEXT - 1, 0);
  close(file);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

/* `  File "train.py", line 12 in step` */
static void add_text_frame(struct place *p, char *line)
{
  char *path = strstr(line, "File \"");
  char *end = path ? strstr(path + 6, "\", line ") : NULL;
  if (!end) return;
  *end = 0;
  char *rest = end + 8;
  const long number = strtol(rest, &rest, 10);
  add_frame(p, path + 6, number, strncmp(rest, " in ", 4) == 0 ? rest + 4 : "?");
}

static void walk_text(void *thread, struct place *p)
{
  char stack[STACK_TEXT], *rest;
  if (!read_text(thread, stack)) return;
  for (char *line = strtok_r(stack, "\n", &rest); line && !p->of_program;
       line = strtok_r(NULL, "\n", &rest))
    add_text_frame(p, line);
}

/* ---- by the table of offsets ---------------------------------------------------------------- */

/* The table is of 64-bit words: "xdebugpy", version, whether there is no global lock; then for each
   struct its size and the offsets of its members.  Where those of four structs begin: */
static const struct layout {
  unsigned version; /* 3.13 as 0x030d */
  int thread, frame, code, object;
} layouts[] = {{0x030d, 19, 28, 34, 44}, {0x030e, 22, 31, 39, 50}};
/* And the words of their members behind that. */
enum { OF_THREAD_FRAME = 4 };
enum { OF_FRAME_PREVIOUS = 1, OF_FRAME_CODE = 2, OF_FRAME_OWNER = 5 };
enum { OF_CODE_FILE = 1, OF_CODE_NAME = 2, OF_OBJECT_TYPE = 1 };

enum {
  FRAMES = 100,         /* at most */
  OWNED_BY_C = 3,       /* owners from here on: no frame of Python code */
  TAGS = 7,             /* low bits of a pointer that hold something else */
  LARGEST_STRUCT = 4096 /* larger ones are a table that is not understood */
};

typedef int (*line_of)(void *frame);
typedef ssize_t (*length_of)(void *text);
typedef uint32_t (*character_of)(void *text, ssize_t i);
struct interpreter {
  size_t current_frame, previous, executable, owner, filename, name, type; /* offsets */
  const void *code_type, *text_type;
  line_of line;
  length_of length;
  character_of character;
};

/* A member's offset, from its struct's part of the table; it lies within the struct. */
static bool take(const uint64_t *part, int member, size_t bytes, size_t *offset)
{
  *offset = (size_t)part[member];
  return part[0] <= LARGEST_STRUCT && part[member] <= part[0] && part[0] - part[member] >= bytes;
}

static bool take_offsets(const uint64_t *table, const struct layout *l, struct interpreter *py)
{
  const size_t word = sizeof(void *);
  return take(table + l->thread, OF_THREAD_FRAME, word, &py->current_frame) &&
         take(table + l->frame, OF_FRAME_PREVIOUS, word, &py->previous) &&
         take(table + l->frame, OF_FRAME_CODE, word, &py->executable) &&
         take(table + l->frame, OF_FRAME_OWNER, 1, &py->owner) &&
         take(table + l->code, OF_CODE_FILE, word, &py->filename) &&
         take(table + l->code, OF_CODE_NAME, word, &py->name) &&
         take(table + l->object, OF_OBJECT_TYPE, word, &py->type);
}

static bool take_functions(struct interpreter *py)
{
  py->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  py->text_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  py->line = (line_of)dlsym(RTLD_DEFAULT, "PyUnstable_InterpreterFrame_GetLine");
  py->length = (length_of)dlsym(RTLD_DEFAULT, "PyUnicode_GetLength");
  py->character = (character_of)dlsym(RTLD_DEFAULT, "PyUnicode_ReadChar");
  return py->code_type && py->text_type && py->line && py->length && py->character;
}

/* False: an interpreter whose table is not known. */
static bool know_interpreter(struct interpreter *py)
{
  const uint64_t *table = dlsym(RTLD_DEFAULT, "_PyRuntime");
  if (!table || memcmp(table, "xdebugpy", 8) != 0 || table[2] != 0) return false;
  if ((table[1] & 0xf0) != 0xf0) return false; /* not a release */
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (table[1] >> 16 == layouts[i].version)
      return take_offsets(table, &layouts[i], py) && take_functions(py);
  return false;
}

static char *at(const void *object, size_t offset)
{
  char *member;
  memcpy(&member, (const char *)object + offset, sizeof member);
  return member;
}

/* A string of Python's, as the other reader writes it: what is not printable ASCII is escaped. */
static bool copy_text(const struct interpreter *py, char *object, char *text, size_t bytes)
{
  size_t used = 0;
  if (!object || at(object, py->type) != py->text_type) return false;
  const ssize_t n = py->length(object);
  for (ssize_t i = 0; i < n && used < bytes; i++) {
    const uint32_t c = py->character(object, i);
    const char *form = c >= 0x10000 ? "\\U%08x" : c >= 0x100 ? "\\u%04x" : "\\x%02x";
    if (c >= 32 && c < 127) form = "%c";
    used += (size_t)snprintf(text + used, bytes - used, form, c);
  }
  return n > 0;
}

static void walk_frames(char *thread, struct place *p)
{
  struct interpreter py;
  char path[512], function[128];
  if (!know_interpreter(&py)) return;
  char *frame = at(thread, py.current_frame);
  for (int i = 0; i < FRAMES && frame && !p->of_program; i++, frame = at(frame, py.previous)) {
    if (frame[py.owner] >= OWNED_BY_C) continue;
    char *code = (char *)((uintptr_t)at(frame, py.executable) & ~(uintptr_t)TAGS);
    if (!code || at(code, py.type) != py.code_type) continue;
    if (copy_text(&py, at(code, py.filename), path, sizeof path) &&
        copy_text(&py, at(code, py.name), function, sizeof function))
      add_frame(p, path, py.line(frame), function);
  }
}

typedef void *(*this_thread_state)(void);

bool shunt_python_line(char *text, size_t bytes)
{
  struct place p = {.text = text, .bytes = bytes};
  this_thread_state state = (this_thread_state)dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  void *thread = state ? state() : NULL;
  if (thread) walk_text(thread, &p);
  if (thread && !p.any) walk_frames(thread, &p);
  return p.any;
}
