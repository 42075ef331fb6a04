/* fuzz.h: what the fuzzers share.

   A fuzzer is one function in libFuzzer's form, which takes any bytes:

     clang's libFuzzer (make fuzz) --\
                                      --> LLVMFuzzerTestOneInput(bytes) -> FUZZ_EXPECT(...)
     replay.c (make check)         --/

   It answers 0.  An expectation that does not hold ends the program, so that libFuzzer saves the
   bytes as a case.  */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_EXPECT(condition)                                                                     \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__, #condition);                    \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

/* The bytes as a string, to be freed: what is behind it is the sanitizer's to guard. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  if (!text) exit(3);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  return text;
}

/* A file with these bytes: of this process alone, removed at its end. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
