/* expect.h: checks of the loader tests.

   What depends on the preloads of the row is in the environment:
     ENTRY   calls shall pass the stand-in of Shunt: yes, no; unset: that cannot be seen
     WRAPS   how many wrappers each cusparseSpMM passes; unset: 0
     FAULTY  set: a look-up is made to fail, so getters may be missing  */
#ifndef LOADER_EXPECT_H
#define LOADER_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

static int expect_failures;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      expect_failures = 1;                                                                         \
    }                                                                                              \
  } while (0)

/* Did all calls of a fresh handle reach that copy, along the way this row prescribes? */
static void expect_way(cusparseHandle_t h, int copy, int calls, int entered)
{
  const char *entry = getenv("ENTRY"), *wraps = getenv("WRAPS");
  int each = wraps ? atoi(wraps) : 0;
  int expected = entry && strcmp(entry, "yes") == 0 && entered ? calls : 0;
  EXPECT(h->copy == copy && !h->mixed);
  EXPECT(h->calls == calls);
  if (calls == 1 || calls == 6) EXPECT(h->wrapped == each);
  if (entry) EXPECT(h->entry == expected);
  if (entry && expected && !getenv("FAULTY")) {
    EXPECT(h->read_copy == copy);
    EXPECT(calls < 6 || h->read_rows == 77);
  }
  if (expect_failures)
    fprintf(stderr, "# copy %d (%d), calls %d (%d), entry %d, wrapped %d (%d), read %d\n", h->copy,
            copy, h->calls, calls, h->entry, h->wrapped, each, h->read_copy);
}

static inline void expect_reached(cusparseHandle_t h, int copy, int calls)
{
  expect_way(h, copy, calls, 1);
}

static inline void expect_reached_unseen(cusparseHandle_t h, int copy, int calls)
{
  expect_way(h, copy, calls, 0);
}

#endif
