/* cache_entry.h: the cache's own data, for cache.c (what is known of matrices) and packed.c (memory
   that is kept for them).  What others may know stands in cache.h.  */
#ifndef SHUNT_CACHE_PARTS_H
#define SHUNT_CACHE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/plan/cache.h"

/* Entries live in sets of a few ways, so that a look-up reads one or two cache
   lines' worth of keys and eviction is local.  */
enum { SETS = 64, WAYS = 4, ENTRIES = SETS * WAYS, MOST_KEPT = 64, MOST_USES = 8 };
/* A plan that so many calls with its matrix in a row did not use is idle. */
enum { IDLE_CALLS = 16 };

/* What the device tells the host about kept memory; pinned, polled, never waited for. */
struct word {
  uint32_t irregular, stamp;            /* copied from the memory's header */
  uint32_t changed, nonfinite;          /* written by repairs */
  char measures[SHUNT_PACKED_MEASURES]; /* copied from the header, before the stamp */
};

enum state { FREE, LIVE, RETIRED, REAPED };

struct shunt_cache_packed {
  enum state state;
  struct entry *owner;
  const void *by;
  uint32_t note;
  uint64_t pattern_epoch;
  char *memory;
  size_t bytes;
  atomic_int holds; /* calls that are enqueueing a use, and graphs that captured one */
  atomic_int idle;  /* calls with its matrix since the last use */
  bool built;
  bool by_study; /* made as a study of A said, which may have changed since */
  uint64_t last;
  struct {
    unsigned long long stream;
    cudaEvent_t event;
  } use[MOST_USES];
  int uses;
  cudaEvent_t reaped; /* the memory is given back once this has passed */
  volatile struct word *word;
};

struct entry {
  struct shunt_key key;
  uint64_t identity; /* 0: unused */
  uint64_t last;
  uint32_t sights, keep_from, strikes, profiled_at;
  bool no_copies, has_profile, profile_pending;
  struct shunt_profile profile;
  bool has_study;
  char studied[SHUNT_PACKED_MEASURES];
  struct shunt_cache_packed *plan[SHUNT_MOST_PACKED], *study;
};

struct shunt_cache {
  pthread_mutex_t lock;
  uint64_t clock;
  struct entry entry[ENTRIES];
  struct shunt_cache_packed kept[MOST_KEPT];
  int64_t bytes, most_bytes;
  cudaStream_t reaper; /* waits for last uses, then frees */
  struct pinned {
    struct shunt_profile profile[ENTRIES];
    struct word word[MOST_KEPT];
  } * pinned;
  char *scratch; /* device: SHUNT_PROFILE_SCRATCH per entry */
};

/* By packed.c, with the lock held. */
void shunt_cache_packed_retire(struct shunt_cache_packed *k); /* nobody is to find it any more */
void shunt_cache_packed_tidy(
    struct shunt_cache *c); /* gives back what was retired and is not in use */

/* Where one more plan of the matrix may stand: an empty place, or else an idle plan's; or NULL. */
static inline struct shunt_cache_packed **cache_place(struct entry *e)
{
  struct shunt_cache_packed **place = NULL;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    if (!e->plan[i]) return &e->plan[i];
    if (atomic_load(&e->plan[i]->idle) > IDLE_CALLS) place = &e->plan[i];
  }
  return place;
}

/* Work of ours that is not part of the caller's stream must neither disturb nor be
   refused by a capture that another thread has under way.  */
static inline enum cudaStreamCaptureMode cache_enter_relaxed(void)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

static inline void cache_leave_relaxed(enum cudaStreamCaptureMode mode)
{
  cudaThreadExchangeStreamCaptureMode(&mode);
}

#endif
