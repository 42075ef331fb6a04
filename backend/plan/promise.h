/* promise.h: what bufferSize answered, so that SpMM knows what it was given.

   cuSPARSE's buffer carries no size.  A caller's buffer is trusted to hold

     | what the original asked for | up to 256 | what Shunt asked for |
     0                             own_offset                     total

   only if our own bufferSize was asked about the very same problem before (hash of everything but
   pointers and scalar values, the device, and the original's library): then any buffer that the
   caller sized for such a problem is that large.  The original's part comes first and is never
   touched, so preprocess and declined calls find it as they left it.

   Where Shunt asked for less than before, since memory ran short, the least that it ever asked for
   counts, because buffers of all sizes may be about.  If the original ever asks for more than it
   did before, the promise is void: no workspace is trusted for that problem any more.

   The last 65,536 promises are kept.  A problem whose promise is gone runs without a workspace
   until bufferSize is asked again.  As a rule the answer is then the same, as both parts follow
   from the problem.  These do not, and stay for good:

     those of less than Shunt wants   memory was short, or the stream captured
     void ones
     all of an original that has asked for more than before

   Where they fill a set of the table, its other problems run without a workspace.

   Thread-safe; reading takes no lock.  */
#ifndef SHUNT_PROMISE_H
#define SHUNT_PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shunt_promise {
  size_t own_offset, own_bytes; /* own_bytes 0: nothing may be used */
};

/* What a promise is known by: a problem's hash, the number of the CUDA device, and where the
   original's library lies. */
static inline uint64_t shunt_promise_key(uint64_t problem_hash, int device, const void *library)
{
  const uint64_t key = problem_hash ^ (uint64_t)(device + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
                       (uintptr_t)library * UINT64_C(0xc2b2ae3d27d4eb4f);
  return key ? key : 1;
}

/* An answer of bufferSize. */
struct shunt_promise_answer {
  const void *library;
  size_t original_bytes, own_bytes;
  bool whole; /* own_bytes is all that Shunt would ever want for the problem */
};

/* Remembers it; returns the total to report to the caller: original_bytes alone when the promise
   can't be made. */
size_t shunt_promise_make(uint64_t key, const struct shunt_promise_answer *a);
struct shunt_promise shunt_promise_find(uint64_t key);
/* Would the answer be the last one again, the original having asked for as much?  Then *p is that,
   own_bytes 0: the original's alone.  No: nobody has asked, or Shunt was given less than it wants.
   Whether there still is memory for it is the caller's to ask.  */
bool shunt_promise_again(uint64_t key, size_t original, struct shunt_promise *p);

/* The part of `buffer` that is Shunt's, aligned to 256 bytes; NULL if none. */
static inline void *shunt_promise_workspace(struct shunt_promise p, void *buffer, size_t *bytes)
{
  *bytes = 0;
  if (!buffer || p.own_bytes < 256) return NULL;
  uintptr_t start = ((uintptr_t)buffer + p.own_offset + 255) & ~(uintptr_t)255;
  uintptr_t end = (uintptr_t)buffer + p.own_offset + p.own_bytes;
  *bytes = end > start ? end - start : 0;
  return *bytes ? (void *)start : NULL;
}

#endif
