/* test_log_python.c: the line of a Python program, read from an interpreter made up here.

   It exports the names that log_python.c looks for, and its structs lie as its table says.
   (tests/unit/tool/test_page.sh asks the Python that is installed.)  */
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <uchar.h>
#include <unistd.h>

#include "backend/log/log_python.h"
#include "tests/unit/check.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the interpreter ------------------------------------------------------------------------ */

struct object {
  long count;
  const void *type;
};
struct text {
  struct object head;
  const char32_t *of;
};
struct code {
  struct object head;
  struct text *name, *file;
  int line;
};
struct frame {
  char owner, padding[7];
  uintptr_t code; /* tagged */
  struct frame *previous;
};
struct thread {
  void *others[3];
  struct frame *frame;
};

EXPORT uint64_t _PyRuntime[80];
EXPORT char PyCode_Type[8], PyUnicode_Type[8];
EXPORT void *PyGILState_GetThisThreadState(void);
EXPORT int PyUnstable_InterpreterFrame_GetLine(struct frame *f);
EXPORT ssize_t PyUnicode_GetLength(struct text *t);
EXPORT uint32_t PyUnicode_ReadChar(struct text *t, ssize_t i);

static struct thread thread;
static bool known_thread;

void *PyGILState_GetThisThreadState(void)
{
  return known_thread ? &thread : NULL;
}

int PyUnstable_InterpreterFrame_GetLine(struct frame *f)
{
  return ((struct code *)(f->code & ~(uintptr_t)7))->line;
}

ssize_t PyUnicode_GetLength(struct text *t)
{
  ssize_t n = 0;
  while (t->of[n]) n++;
  return n;
}

uint32_t PyUnicode_ReadChar(struct text *t, ssize_t i)
{
  return t->of[i];
}

/* The table of 3.13 or 3.14. */
static void fill_table(unsigned minor)
{
  const int late = minor == 14;
  uint64_t *thread_part = _PyRuntime + (late ? 22 : 19),
           *frame_part = _PyRuntime + (late ? 31 : 28);
  uint64_t *code_part = _PyRuntime + (late ? 39 : 34), *object_part = _PyRuntime + (late ? 50 : 44);
  memset(_PyRuntime, 0, sizeof _PyRuntime);
  memcpy(_PyRuntime, "xdebugpy", 8);
  _PyRuntime[1] = 0x030005f0u | minor << 16;
  thread_part[0] = sizeof(struct thread);
  thread_part[4] = offsetof(struct thread, frame);
  frame_part[0] = sizeof(struct frame);
  frame_part[1] = offsetof(struct frame, previous);
  frame_part[2] = offsetof(struct frame, code);
  frame_part[5] = offsetof(struct frame, owner);
  code_part[0] = sizeof(struct code);
  code_part[1] = offsetof(struct code, file);
  code_part[2] = offsetof(struct code, name);
  object_part[0] = sizeof(struct object);
  object_part[1] = offsetof(struct object, type);
}

/* ---- its program ---------------------------------------------------------------------------- */

static struct text texts[] = {{{1, PyUnicode_Type}, U"/home/me/train.py"},
                              {{1, PyUnicode_Type}, U"step"},
                              {{1, PyUnicode_Type}, U"/env/lib/site-packages/torch/sparse.py"},
                              {{1, PyUnicode_Type}, U"mm"},
                              {{1, PyUnicode_Type}, U"/home/m\u00fc/\u4e2d\U0001f600\n.py"}};
static struct code step = {{1, PyCode_Type}, &texts[1], &texts[0], 12};
static struct code mm = {{1, PyCode_Type}, &texts[3], &texts[2], 345};
static struct code foreign = {{1, PyCode_Type}, &texts[1], &texts[4], 7};
static struct frame frames[3];

/* Innermost first. */
static void set_stack(struct code *first, struct code *second, struct code *third)
{
  struct code *const codes[3] = {first, second, third};
  thread.frame = NULL;
  for (int i = 2; i >= 0; i--) {
    frames[i] = (struct frame){.code = (uintptr_t)codes[i] | 1, .previous = thread.frame};
    if (codes[i]) thread.frame = &frames[i];
  }
}

static void expect(const char *what, const char *want)
{
  char text[192] = "";
  const bool read = shunt_python_line(text, sizeof text);
  check(want ? read && strcmp(text, want) == 0 : !read, "%s: %s", what, read ? text : "none");
}

static void read_lines(void)
{
  set_stack(&step, NULL, NULL);
  expect("a function of the program", "/home/me/train.py:12 in step");
  set_stack(&mm, &step, &foreign);
  expect("the innermost of the program's own", "/home/me/train.py:12 in step");
  set_stack(&mm, &mm, NULL);
  expect("installed ones alone", "/env/lib/site-packages/torch/sparse.py:345 in mm");
  set_stack(&foreign, NULL, NULL);
  expect("letters of the world", "/home/m\\xfc/\\u4e2d\\U0001f600\\x0a.py:7 in step");
  set_stack(&mm, &mm, &step);
  frames[1].owner = 3;
  frames[1].code = 0;
  expect("a frame that is no Python code", "/home/me/train.py:12 in step");
  set_stack(&mm, NULL, NULL);
  frames[0].previous = &frames[0];
  expect("a stack without an end", "/env/lib/site-packages/torch/sparse.py:345 in mm");
}

/* ---- what is left alone --------------------------------------------------------------------- */

static void leave_objects(void)
{
  static struct code none = {{1, PyUnicode_Type}, &texts[1], &texts[0], 1};
  static struct code nameless = {{1, PyCode_Type}, NULL, &texts[0], 1};
  static struct text number = {{1, PyCode_Type}, U"12"};
  static struct code odd = {{1, PyCode_Type}, &texts[1], &number, 1};
  set_stack(NULL, NULL, NULL);
  expect("a thread without frames", NULL);
  set_stack(&none, &nameless, &odd);
  expect("frames of something else", NULL);
  set_stack(&step, NULL, NULL);
  known_thread = false;
  expect("a thread that Python does not know", NULL);
  known_thread = true;
}

static void leave_tables(unsigned minor)
{
  set_stack(&step, NULL, NULL);
  _PyRuntime[2] = 1;
  expect("an interpreter without a global lock", NULL);
  fill_table(minor);
  _PyRuntime[1] ^= 0xa0 ^ 0xf0;
  expect("an alpha release", NULL);
  fill_table(minor);
  _PyRuntime[1] += 2 << 16;
  expect("a version that is not known", NULL);
  fill_table(minor);
  memcpy(_PyRuntime, "anything", 8);
  expect("something else at the start", NULL);
  fill_table(minor);
  _PyRuntime[minor == 14 ? 32 : 29] = sizeof(struct frame);
  expect("an offset outside its struct", NULL);
  fill_table(minor);
  _PyRuntime[minor == 14 ? 39 : 34] = 1 << 20;
  expect("a struct of a size that none has", NULL);
  fill_table(minor);
  expect("and the right table again", "/home/me/train.py:12 in step");
}

/* ---- its own reader ------------------------------------------------------------------------- */

EXPORT void PyUnstable_DumpTraceback(int file, void *of);
static const char *stack_text = "";

void PyUnstable_DumpTraceback(int file, void *of)
{
  (void)of;
  if (write(file, stack_text, strlen(stack_text)) < 0) stack_text = "";
}

static void read_text(void)
{
  stack_text = "Stack (most recent call first):\n"
               "  File \"/env/lib/site-packages/torch/sparse.py\", line 345 in mm\n"
               "  File \"/home/me/train.py\", line 12 in step\n"
               "  File \"/home/me/train.py\", line 90 in <module>\n";
  set_stack(&foreign, NULL, NULL);
  expect("what the interpreter writes comes first", "/home/me/train.py:12 in step");
  stack_text = "Stack (most recent call first):\n  <no Python frame>\n";
  set_stack(NULL, NULL, NULL);
  expect("it writes of no frame", NULL);
  stack_text = "";
}

int main(void)
{
  known_thread = true;
  for (unsigned minor = 13; minor <= 14; minor++) {
    fill_table(minor);
    read_lines();
    leave_objects();
    leave_tables(minor);
  }
  read_text();
  return check_finish();
}
