/* log_python.h: where this thread's Python program is. */
#ifndef SHUNT_LOG_PYTHON_H
#define SHUNT_LOG_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

/* "train.py:12 in step": the innermost function that is not of an installed package or of the
   standard library; where all of them are, the innermost of all.  False: the thread runs no Python,
   or its stack cannot be read.  Slow.  Needs no lock of the interpreter's.  */
bool shunt_python_line(char *text, size_t bytes);

#endif
