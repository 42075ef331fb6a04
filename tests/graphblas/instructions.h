/* instructions.h: how many instructions a piece of code executes, counted one by one.

   The caller's process is copied; the copy runs the piece under PTRACE_SINGLESTEP and the caller
   counts its steps.  Unlike a time, the count does not depend on how fast or how busy the machine
   is, so that a limit on it can be part of a test.  Only the calling thread is copied and counted.
 */
#ifndef TEST_INSTRUCTIONS_H
#define TEST_INSTRUCTIONS_H

/* Instructions of piece(argument), with a few hundred for the way in and out, which are the same
   for every piece; -1 where processes cannot be traced.  */
long instructions_of(void (*piece)(void *), void *argument);
/* The same, but the first call of the function left_out, from its first instruction until it
   returns, runs at full speed and is not counted; on other machines than x86-64 it is.  */
long instructions_without(void (*piece)(void *), void *argument, const void *left_out);

#endif
