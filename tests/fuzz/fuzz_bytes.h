/* fuzz_bytes.h: a fuzzed input as numbers, a byte each; 0 behind its end. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>

static const uint8_t *next;
static size_t left;

static int take(void)
{
  if (left == 0) return 0;
  left--;
  return *next++;
}

static int below(int n)
{
  return take() % n;
}

#endif
