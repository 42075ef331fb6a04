/* cache_inside.h: the cache's own data, for cache.c (entries), cache_arrays.c (where their arrays
   stand), cache_profile.c (profiles on their way), cache_density.c (pictures, in front of them),
   packed.c (memory), memory/admission.c (which copies are made), memory/packed_pool.c (what they
   take of the device) and packed_uses.c (who uses them).  What others may know is in cache.h.  */
#ifndef SHUNT_CACHE_INSIDE_H
#define SHUNT_CACHE_INSIDE_H

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/plan/cache.h"
#include "backend/plan/frozen.h"
#include "conv/profile/density.h"

enum {
  ENTRY_PAGE = 256, /* entries that are allocated at once */
  MOST_ENTRIES = 1 << 16,
  FIRST_BUCKETS = 1024,
  PROFILES = 256, /* profiles on their way at a time, */
  SETTLINGS = 16, /* and those that are waited for */
  PROFILE_SLOTS = PROFILES + SETTLINGS,
  DENSITIES = 32,   /* pictures on their way, where a report is asked for */
  WORD_PAGE = 2048, /* copies that pinned memory is made for at once */
  MOST_WORD_PAGES = 32,
  MOST_USES = 8 /* streams whose last use of a copy is told apart */
};
/* A copy that so many calls with its matrix in a row did not use is idle. */
enum { IDLE_CALLS = 16 };
/* Calls of any matrix after which a use counts half. */
enum { HALF_LIFE = 8192 };
/* Memory is looked at after so many; where the device was late, after so many more. */
enum { RELIEVE_EVERY = 1024, RELIEVE_LATE = 64 };

/* What the device tells the host about a copy; pinned, polled, never waited for. */
struct word {
  uint32_t irregular, stamp;            /* copied from the memory's header */
  uint32_t changed, nonfinite;          /* written by repairs */
  char measures[SHUNT_PACKED_MEASURES]; /* copied from the header, before the stamp */
};

/* FREE -> LIVE -> RETIRED (not found any more) -> REAPED (its memory is on its way back) -> FREE */
enum state { FREE, LIVE, RETIRED, REAPED };

struct shunt_cache_packed {
  struct shunt_cache *cache;
  enum state state;
  struct shunt_cache_packed *before, *behind; /* in the list of its state */
  struct shunt_cache_entry *owner;
  const void *by;
  uint32_t note;
  uint64_t pattern_epoch;
  char *memory;
  size_t bytes;
  atomic_int holds;           /* calls that are enqueueing a use, and graphs that captured one */
  atomic_int idle;            /* calls with its matrix since the last use */
  atomic_uint used;           /* uses so far */
  atomic_bool built;          /* all of it is enqueued, */
  unsigned long long made_on; /* on this stream */
  uint32_t made_at;           /* by this call with its matrix */
  bool by_study;              /* made as a study of A said, which may have changed since */
  double worth;               /* microseconds saved, uses counting less with age, */
  uint64_t worth_at;          /* as of this clock */
  struct shunt_trust trust;
  cudaEvent_t proved;  /* behind the proofs that trust waits for, */
  atomic_bool awaited; /* once it is there */
  struct {
    unsigned long long stream;
    cudaEvent_t event;
  } use[MOST_USES];
  int uses, oldest_use;
  cudaEvent_t reaped; /* the memory is given back once this has passed */
  volatile struct word *word;
};

/* An array of a matrix, by its address. */
struct shunt_cache_array {
  struct shunt_cache_entry *owner;
  uintptr_t address; /* 0: it has none of that kind */
  struct shunt_cache_array *next, **at;
};
enum { SHUNT_KEY_ARRAYS = 4 };

struct shunt_cache_entry {
  struct shunt_key key;
  struct shunt_cache_array array[SHUNT_KEY_ARRAYS];
  uint64_t identity;                       /* 0: unused */
  struct shunt_cache_entry *next;          /* of its bucket, or of the free ones */
  struct shunt_cache_entry *newer, *older; /* by the last call */
  uint32_t calls, profiled_at, pack_from;  /* counts of calls: not packed before pack_from */
  uint32_t known_at;                       /* the first one that knew the profile */
  uint32_t changes, refusals;              /* how often in a row a copy was no good: A changed, */
  bool no_copies;                          /* or copies cannot stand for it */
  bool has_profile, has_study;
  uint64_t settled_epoch;                /* that `settled` was found for; 0: none */
  int profile_slot;                      /* of the one on its way; -1: none */
  struct shunt_profile profile, settled; /* the last; that of deterministic problems */
  char studied[SHUNT_PACKED_MEASURES];
  double missed;              /* what copies that found no room would have saved, */
  uint64_t missed_at;         /* as of this clock, */
  uint32_t missed_call;       /* and this call */
  double misses_us, makes_us; /* by a call, at last; what the copy takes to make */
  uint32_t weigh_from;        /* by count of calls: when it is weighed against others again, */
  uint32_t weigh_wait;        /* and how long after the last time */
  bool hopes;                 /* there may be room by now */
  struct {
    size_t bytes;
    const void *by;             /* NULL: none */
  } refused[SHUNT_MOST_PACKED]; /* copies that found no room since one was made */
  struct shunt_cache_packed *packed[SHUNT_MOST_PACKED], *study;
};

struct profile_slot {
  struct shunt_cache_entry
      *owner;                    /* NULL: the entry went to another matrix, the result to nobody */
  uint64_t serial;               /* 0: free */
  struct shunt_density *density; /* on its way in front of it; NULL: none */
};

struct shunt_cache {
  pthread_mutex_t lock;
  pthread_mutex_t using; /* the events of uses; taken within `lock` or alone */
  uint64_t clock, identities, serials;
  atomic_bool relief_due;

  struct shunt_cache_entry **bucket;
  struct shunt_cache_array **arrays; /* as many lists as buckets */
  unsigned buckets, entries;
  struct shunt_cache_entry *page[MOST_ENTRIES / ENTRY_PAGE], *free, *newest, *oldest;
  int pages;

  struct profile_slot slot[PROFILE_SLOTS];
  struct shunt_profile *arriving; /* pinned, one a slot */
  char *scratch;                  /* device: SHUNT_PROFILE_SCRATCH a slot */

  struct shunt_density *densities; /* pinned; NULL: no report is asked for */
  char *density_scratch;           /* device: SHUNT_DENSITY_SCRATCH each */
  bool density_taken[DENSITIES];

  struct {
    struct shunt_cache_packed *packed; /* WORD_PAGE of them, */
    struct word *word;                 /* and their words, pinned */
  } words[MOST_WORD_PAGES];
  struct shunt_cache_packed *first[4], *last[4]; /* of each state */
  int word_pages, packed_in_use;
  int64_t bytes, most_bytes, ample_bytes; /* of copies; see packed.c, allowance */
  int64_t untrimmed;                      /* bytes given back that the pool may still keep, */
  int64_t awaited_in_vain;                /* as many as when they did not come in time */
  int64_t reserved;                       /* by the pool, when it was last asked */
  struct cache_allowance {
    int64_t budget, mine;
  } known;                     /* what copies might have (cache_allowance), */
  uint64_t known_at;           /* one more than by this clock; 0: not known */
  uint64_t relief_again;       /* by this clock; 0: not before it is due anyway */
  int64_t outgrown;            /* a copy of so many bytes made the pool too large; 0: none did; */
  uint64_t outgrown_until;     /* not tried before, */
  bool outgrown_lasts;         /* nor as long as none is given back; */
  int outgrowths;              /* up to so often */
  struct shunt_budget *budget; /* with other processes; not ours, may be NULL */
  cudaMemPool_t pool;          /* what copies are made in; not ours */
  cudaStream_t reaper;         /* waits for last uses, then frees */
};

/* What the pool takes of the device at a time. */
#define CACHE_PIECE (INT64_C(32) << 20)

/* What it may take where copies may have `most`. */
static inline int64_t cache_most_spread(int64_t most)
{
  return most > CACHE_PIECE ? most : CACHE_PIECE;
}

/* What copies have in front of their payload. */
enum { HEADER_BYTES = 256, FINGERPRINTS_AT = 16, MEASURES_AT = 48 };

/* What `us` microseconds saved at a time of the clock count for now. */
static inline double cache_aged(double us, uint64_t since, uint64_t now)
{
  return us > 0 ? us * exp2(-(double)(now - since) / HALF_LIFE) : 0;
}

/* By cache_arrays.c, with the lock held. */
void shunt_cache_arrays_add(struct shunt_cache *c, struct shunt_cache_entry *e);
void shunt_cache_arrays_drop(struct shunt_cache_entry *e);
/* One of the entries that have an array in [*base, end), or NULL; *base: up to there is none. */
struct shunt_cache_entry *shunt_cache_arrays_find(struct shunt_cache *c, uintptr_t *base,
                                                  uintptr_t end);

/* Is k there, made and measured? */
static inline bool cache_is_ready(const struct shunt_cache_packed *k)
{
  return k && atomic_load(&k->built) && k->word->stamp;
}

/* A study that has not told what it found yet: without it the work would be done again. */
static inline bool cache_is_study_under_way(const struct shunt_cache_packed *k)
{
  return !k->by && !cache_is_ready(k);
}

/* What the entry's study has told by now. */
static inline void cache_study_read(struct shunt_cache_entry *e)
{
  if (!cache_is_ready(e->study)) return;
  memcpy(e->studied, (const void *)e->study->word->measures, sizeof e->studied);
  e->has_study = true;
}

/* By packed.c, with the lock held. */
/* Nobody is to find it any more; a study has told its owner what it found. */
void shunt_cache_packed_retire(struct shunt_cache_packed *k);
void shunt_cache_packed_tidy(struct shunt_cache *c); /* gives back what is retired and not in use */
shunt_status shunt_cache_words_add(struct shunt_cache *c);
void shunt_cache_words_free(struct shunt_cache *c);

/* Gives a retired copy's memory back after its last use, without waiting. */
void cache_reap(struct shunt_cache *c, struct shunt_cache_packed *k);

/* By packed_uses.c, with the lock held: have all uses of k ended, or are they on `stream`? */
bool cache_is_behind(struct shunt_cache *c, struct shunt_cache_packed *k, cudaStream_t stream);

/* By memory/packed_pool.c, with the lock held. */
int64_t cache_reserved(struct shunt_cache *c); /* what the pool has of the device */
int64_t cache_counted(struct shunt_cache *c);  /* what of it counts against the budget */
bool cache_is_spread(struct shunt_cache *c, int64_t most); /* over more than `most` */
void cache_announce(struct shunt_cache *c);                /* to other processes */
bool cache_trim(struct shunt_cache *c); /* gives the device what is free; false: not yet */
/* The pool took more than it may for a copy of so many bytes, which has been given back. */
void cache_outgrew(struct shunt_cache *c, int64_t bytes);
/* Is one of so many bytes not to be tried where the pool would have to grow? */
bool cache_is_full(const struct shunt_cache *c, int64_t bytes, int64_t most);

/* By memory/admission.c, with the lock held. */

/* A copy, or a study, that is asked for. */
struct cache_wish {
  int64_t bytes, with; /* its own; with those of the copy that a study is for */
  double worth;        /* what it would have saved of late, less what it takes to make */
};
struct cache_wish cache_wish_for(const struct shunt_cache *c, struct shunt_cache_entry *e,
                                 const struct shunt_packed_request *r);
/* By what was known of the device at last: may there be room? */
bool cache_may_hope(struct shunt_cache *c, const struct cache_wish *w);
/* Bytes that copies may have, `need` more of them included; less than they have: they are to go. */
struct cache_allowance cache_allowance(struct shunt_cache *c, int64_t need);
/* Makes room for it, in the place of others if need be; false: there is none. */
bool cache_make_room(struct shunt_cache *c, const struct cache_wish *w,
                     struct cache_allowance most);
/* One whose place it may have as it stands, where there is no other room; or NULL. */
struct shunt_cache_packed *cache_predecessor(const struct shunt_cache *c,
                                             const struct cache_wish *w,
                                             struct cache_allowance most);
/* Lets copies worth up to `worth` a byte go until no more than `most` bytes are kept. */
void cache_give_way(struct shunt_cache *c, int64_t most, double worth);
/* The entry has found no room for it; it has got a copy, or is another matrix by now. */
void cache_refuse(struct shunt_cache_entry *e, const struct shunt_packed_request *r);
void cache_forget_refusals(struct shunt_cache_entry *e);
/* May the entry ask for a copy?  Of one that was refused: may there be room by now? */
bool cache_asks_again(struct shunt_cache *c, struct shunt_cache_entry *e);

/* By cache_profile.c, with the lock held. */
bool shunt_cache_profile_read(struct shunt_cache *c, struct shunt_cache_entry *e); /* it arrived */
void shunt_cache_profile_orphan(struct shunt_cache *c, struct shunt_cache_entry *e);

/* By cache_density.c.  Made and freed with the cache; `make` leaves none where it fails. */
void cache_density_make(struct shunt_cache *c);
void cache_density_free(struct shunt_cache *c);
/* With the lock held: a place for a picture, or NULL; and it is free again. */
struct shunt_density *cache_density_claim(struct shunt_cache *c);
void cache_density_release(struct shunt_cache *c, struct shunt_density *d);
/* Without: the picture, in front of the profile of that serial.  out: NULL: does nothing. */
void cache_density_enqueue(struct shunt_cache *c, struct shunt_density *out, uint64_t serial,
                           const struct shunt_csr *a, const struct shunt_device *d,
                           cudaStream_t stream);
/* With the lock held, the profile being here: to the report, and released.  d: may be NULL. */
void cache_density_tell(struct shunt_cache *c, struct shunt_density *d, uint64_t serial,
                        const struct shunt_profile *f);

/* Where one more copy of the matrix may stand: an empty place, or else an idle copy's; or NULL. */
static inline struct shunt_cache_packed **cache_place(struct shunt_cache_entry *e)
{
  struct shunt_cache_packed **place = NULL;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    if (!e->packed[i]) return &e->packed[i];
    if (atomic_load(&e->packed[i]->idle) > IDLE_CALLS) place = &e->packed[i];
  }
  return place;
}

#endif
