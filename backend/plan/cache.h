/* cache.h: what is remembered of the matrices that a context has seen.

   A matrix is known by its arrays' addresses, sizes and types.  That says which
   notes to look at, never that the content is still the same: a profile is only
   a hint for choosing among routes that are right for every pattern, and kept
   memory is used only under a guard that proves it (kernels/guard/fingerprint.cu).

   One entry:
     key | sights | profile (hint) | study (hint) | kept plans: one or two routes' converted matrix

   Products of one matrix that differ in width may want it converted in two ways.  A third takes the
   place of a plan that many calls in a row had no use for.

   A study is what a route computes of a matrix before it knows whether a conversion pays: a
   result that is too large for the host, in kept memory of its own, and measures of it, which
   stay when that memory is given back.

   Kept memory is counted against the cache's limit, evicted by least recent
   use, and freed in stream order after its last use: uses leave an event on their
   stream, graphs that captured it hold a reference.

   Thread-safety: every function may be called from any thread.  The lock inside
   is held over no CUDA call but those of shunt_cache_packed_make and shunt_cache_relieve,
   which are rare.  */
#ifndef SHUNT_CACHE_H
#define SHUNT_CACHE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "conv/profile/profile.h"

struct shunt_cache;
struct shunt_cache_packed;

enum { SHUNT_PACKED_MEASURES = 48, SHUNT_MOST_PACKED = 2 /* of one matrix */ };

struct shunt_key {
  const void *row_offsets, *columns, *values, *row_indices;
  int64_t rows, cols, nnz;
  int index_type, value_type, base;
};

/* What the cache knows at the moment of a call. */
struct shunt_lookup {
  int index;           /* entry, for the calls below */
  uint64_t identity;   /* tells a reused entry from this one */
  uint32_t sights;     /* calls with this key so far, this one included */
  bool keep_wise;      /* nothing speaks against keeping a plan, or one more, now */
  bool study_wise;     /* nor against a study */
  bool no_copies;      /* copies were found not to stand for this matrix */
  bool profile_wanted; /* nobody has started a profile, or it is old */
  bool has_profile;
  struct shunt_profile profile;
  struct {
    struct shunt_cache_packed
        *kept; /* ready to use, held for the caller until shunt_cache_packed_release; or NULL */
    const void *by; /* what shunt_cache_packed_make was given */
  } plan[SHUNT_MOST_PACKED];
  struct shunt_cache_packed *study; /* ready to use, held like `kept` */
  bool has_study;
  _Alignas(
      8) char studied[SHUNT_PACKED_MEASURES]; /* the measures of the study, the last one made */
};

shunt_status shunt_cache_make(struct shunt_cache **out, int64_t most_bytes);
void shunt_cache_free(struct shunt_cache *c);

void shunt_cache_look_up(struct shunt_cache *c, const struct shunt_key *key,
                         struct shunt_lookup *out);

/* Enqueues a profile of `a` whose result a later sight will carry. */
shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_lookup *s,
                                 const struct shunt_csr *a, const struct shunt_device *d,
                                 cudaStream_t stream);

/* Device memory that outlives the call:
     header | payload, 256-byte aligned
     | irregular (u32) | stamp (u32) | .. | fingerprints (2 x 16 bytes) | measures (48 bytes) |
   The owner fills the header's irregular word and the payload on `stream`, the fingerprints and
   the measures where its route reads them, then calls shunt_cache_packed_built.  */
struct shunt_packed_view {
  uint32_t *irregular;                   /* device */
  struct shunt_fingerprint *fingerprint; /* device: A's, */
  struct shunt_fingerprint *of_values;   /* and that of its values alone */
  void *measures;                        /* device: what the conversion says of the matrix */
  const void *known;                     /* host: the measures, once they have arrived; or NULL */
  uint32_t *note;                        /* host: the route's own, from its keep to later runs */
  uint64_t *pattern_epoch;               /* host: the problem's (problem.h) when this was made */
  bool pattern_stands;                   /* this call has the same one, and is not captured */
  void *payload;                         /* device */
  size_t payload_bytes;
  uint32_t *changed;   /* pinned host: a repair found that A changed */
  uint32_t *nonfinite; /* pinned host: a repair had to run for NaN or Inf */
};
/* Makes room (evicting) and enqueues the allocation on `stream`; not in capture.
   The caller holds the result (as from shunt_cache_look_up).  `by` tells whose format
   it is; SHUNT_E_MEMORY also where the matrix has one of that format, or has no place for one
   more.  */
shunt_status shunt_cache_packed_make(struct shunt_cache *c, const struct shunt_lookup *s,
                                     const void *by, cudaMemPool_t pool, size_t payload_bytes,
                                     cudaStream_t stream, struct shunt_cache_packed **out);
/* The same for a study, which has nothing to do with what is kept. */
shunt_status shunt_cache_study_make(struct shunt_cache *c, const struct shunt_lookup *s,
                                    cudaMemPool_t pool, size_t payload_bytes, cudaStream_t stream,
                                    struct shunt_cache_packed **out);
struct shunt_packed_view shunt_cache_packed_view(struct shunt_cache_packed *k);
/* The work that fills it is enqueued on `stream`; later sights may carry it. */
shunt_status shunt_cache_packed_built(struct shunt_cache_packed *k, cudaStream_t stream);
/* A use of it is enqueued on `stream` (eager), or captured there. */
shunt_status shunt_cache_packed_used(struct shunt_cache_packed *k, cudaStream_t stream,
                                     bool capturing);
/* Gives the hold back; `discard` drops the plan (its building failed). */
void shunt_cache_packed_release(struct shunt_cache *c, struct shunt_cache_packed *k, bool discard);

/* Gives back the holds of the plans that a sight carries; not that of its study. */
static inline void shunt_lookup_release(struct shunt_cache *c, const struct shunt_lookup *s)
{
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (s->plan[i].kept) shunt_cache_packed_release(c, s->plan[i].kept, false);
}

/* Forgets all matrices, whose addresses others are about to have. */
void shunt_cache_forget(struct shunt_cache *c);

/* Frees kept memory when the device runs short of it; eager calls only. */
void shunt_cache_relieve(struct shunt_cache *c);

#endif
