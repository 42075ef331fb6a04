/* cache.h: what is remembered of the matrices that a context has seen.

   A matrix is known by its arrays' addresses, sizes and types.  That says which notes to look at,
   never that the content is still the same: a profile is only a hint for choosing among routes that
   are right for every pattern, and a packed copy is used only under a guard that proves it
   (kernels/guard).

   One entry a matrix:

     key | calls | profile (hint) | study (hint) | packed copies, of up to two formats

   Products of one matrix that differ in width may want it packed in two formats.  A third takes the
   place of a copy that many calls in a row had no use for.

   A study is what a route computes of a matrix before it knows whether packing pays: a result that
   is too large for the host, in packed memory of its own, and measures of it, which stay when that
   memory is given back.  Where a copy has found no room, there is no study before it would.

   Entries: as many as there are matrices, up to 65,536; then the one not seen for longest goes.

   Memory: copies count against the cache's limit, a larger one while most of the device is free.  A
   copy is worth what its uses have saved of late (each use counts half as much after 8,192 calls of
   any matrix).  Where a new copy finds no room, it takes the place of those that are worth less for
   each byte than the new one would have saved; else it is not made, and asks again later
   (memory/admission.c).  So matrices that come in turn do not drive each other out.  What is
   retired is freed in stream order after its last use: uses leave an event on their stream, graphs
   that captured one hold a reference.

   Thread-safety: every function may be called from any thread.  The lock inside is held over no
   CUDA call but those of making, relieving and releasing, which are rare.  */
#ifndef SHUNT_CACHE_H
#define SHUNT_CACHE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "conv/profile/profile.h"

struct shunt_cache;
struct shunt_budget;
struct shunt_cache_entry;
struct shunt_cache_packed;

enum { SHUNT_PACKED_MEASURES = 56, SHUNT_MOST_PACKED = 2 /* of one matrix */ };

struct shunt_key {
  const void *row_offsets, *columns, *values, *row_indices;
  int64_t rows, cols, nnz;
  int index_type, value_type, base;
};

/* What the cache knows when a call comes. */
struct shunt_lookup {
  struct shunt_cache_entry *entry; /* for the calls below */
  uint64_t identity;   /* tells an entry that was given to another matrix from this one */
  uint32_t calls;      /* with this key so far, this one included */
  bool pack_wise;      /* the matrix may be packed now, the first time or once more */
  bool study_wise;     /* it may be studied now */
  bool no_copies;      /* copies did not match the matrix: none are used for a while */
  bool awaits_copy;    /* a copy is being made that this call cannot use yet; */
  bool first_copy;     /* it is made by the first call that had the profile */
  bool profile_wanted; /* nobody has started a profile, or it is old */
  bool has_profile;
  bool known_now; /* this is the first call that knows it */
  struct shunt_profile profile;
  struct {
    struct shunt_cache_packed
        *copy;      /* ready to use, held until shunt_cache_packed_release; or NULL */
    const void *by; /* what shunt_cache_packed_make was given */
  } packed[SHUNT_MOST_PACKED];
  struct shunt_cache_packed *study; /* ready to use, held like a copy */
  bool has_study;
  _Alignas(8) char studied[SHUNT_PACKED_MEASURES]; /* the measures of the last study */
};

/* Copies are made in `pool`, which outlives the cache, and may have most_bytes in all; ample_bytes
   while more than half of the device is free.  */
shunt_status shunt_cache_make(struct shunt_cache **out, cudaMemPool_t pool, int64_t most_bytes,
                              int64_t ample_bytes);
void shunt_cache_free(struct shunt_cache *c);
/* From then on the limit is one for all processes in this table (memory/budget.h), which outlives
   the cache; NULL: none.  */
void shunt_cache_share(struct shunt_cache *c, struct shunt_budget *budget);

/* Fills *out, makes an entry where there is none (out->entry stays NULL without memory), and counts
   the call.  The caller gives back the copies that it then holds (shunt_lookup_release), and the
   study.  */
void shunt_cache_look_up(struct shunt_cache *c, const struct shunt_key *key,
                         struct shunt_lookup *out);

/* Gives a lookup the copy that it awaits, where the copy is made on `stream`: work that follows on
   that stream runs behind it.  Not for a capture, which may be replayed on another stream.  */
void shunt_cache_look_up_behind(struct shunt_cache *c, cudaStream_t stream, struct shunt_lookup *l);

/* Enqueues a profile of `a` whose result a later lookup will carry. */
shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_lookup *l,
                                 const struct shunt_csr *a, const struct shunt_device *d,
                                 cudaStream_t stream);

/* For deterministic problems, the profile that shunt_cache_settle found for this epoch (problem.h),
   and nothing else: neither does this change what the cache knows, nor does it change with that. */
void shunt_cache_look_up_settled(struct shunt_cache *c, const struct shunt_key *key, uint64_t epoch,
                                 struct shunt_lookup *out);
/* Profiles `a` and waits for the result.  Called by preprocess, which may take its time, never by
   SpMM or SDDMM.  A failure leaves the epoch without a settled profile.  */
shunt_status shunt_cache_settle(struct shunt_cache *c, const struct shunt_lookup *l, uint64_t epoch,
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
  uint32_t *note;                        /* host: the route's own, from its packing to later runs */
  uint64_t *pattern_epoch;               /* host: the problem's (problem.h) when this was made */
  bool pattern_stands;                   /* this call has the same one, and is not captured */
  bool trusted;                          /* this call may use it without a proof (frozen.h) */
  void *payload;                         /* device */
  size_t payload_bytes;
  uint32_t *changed;   /* pinned host: a repair found that A changed */
  uint32_t *nonfinite; /* pinned host: a repair had to run for NaN or Inf */
};

/* What a copy is made for. */
struct shunt_packed_request {
  const void *by;        /* whose format it is; NULL: a study, */
  const void *study_for; /* for a copy by this one; or NULL */
  size_t payload_bytes;
  double saves_us; /* what one call with it is expected to save against the next best way, */
  double makes_us; /* and what making it takes */
};
/* Makes room and enqueues the allocation on `stream`; not in capture.  The caller holds the result,
   as from a lookup.  SHUNT_E_MEMORY where the copies that it would displace save more, where the
   matrix has a copy of that format, and where it has no place for one more.  */
shunt_status shunt_cache_packed_make(struct shunt_cache *c, const struct shunt_lookup *l,
                                     const struct shunt_packed_request *r, cudaStream_t stream,
                                     struct shunt_cache_packed **out);
struct shunt_packed_view shunt_cache_packed_view(struct shunt_cache_packed *k);
/* The work that fills it is enqueued on `stream`; later lookups may carry it. */
shunt_status shunt_cache_packed_built(struct shunt_cache *c, struct shunt_cache_packed *k,
                                      cudaStream_t stream);
/* How a copy was used. */
struct shunt_packed_use {
  double saved_us;
  bool capturing; /* it was captured, not run */
  bool unproved;  /* without a proof */
};
/* A use of it is enqueued on `stream`, or captured there. */
shunt_status shunt_cache_packed_used(struct shunt_cache *c, struct shunt_cache_packed *k,
                                     const struct shunt_packed_use *use, cudaStream_t stream);
/* Work that reads or writes it is enqueued on `stream`, or captured there, but gives no result: the
   memory stays until that work is done, and this is not counted as a use.  */
shunt_status shunt_cache_packed_touched(struct shunt_cache *c, struct shunt_cache_packed *k,
                                        bool capturing, cudaStream_t stream);
/* May its next use go without a proof?  Never where the user has not said so (frozen.h). */
bool shunt_cache_packed_trusted(struct shunt_cache_packed *k);
/* Gives the hold back; `discard` drops the copy (its building failed). */
void shunt_cache_packed_release(struct shunt_cache *c, struct shunt_cache_packed *k, bool discard);

/* Gives back the holds of the copies that a lookup carries; not that of its study. */
static inline void shunt_lookup_release(struct shunt_cache *c, const struct shunt_lookup *l)
{
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (l->packed[i].copy) shunt_cache_packed_release(c, l->packed[i].copy, false);
}

/* Pinned memory for more copies, where little is left; from bufferSize, as it may wait for the
   device.  */
void shunt_cache_reserve(struct shunt_cache *c);

/* Forgets all matrices, because their memory may be given to others. */
void shunt_cache_forget(struct shunt_cache *c);
/* Forgets those of which an array lies in [base, base + bytes), which is being freed. */
void shunt_cache_forget_range(struct shunt_cache *c, const void *base, size_t bytes);

/* Whether shunt_cache_relieve is due: other processes want packed memory, or 1,024 calls have come
   since it was last due. */
bool shunt_cache_wants_relief(struct shunt_cache *c);
/* Gives packed memory back while the device is short of it, or other processes want their part;
   eager calls only.  */
void shunt_cache_relieve(struct shunt_cache *c);
/* Gives all packed memory back and waits until the device has it, for up to 0.3 s: the program's
   own allocation has failed.  Returns the bytes that the device got back by this, those of copies
   dropped earlier included.  Copies that graphs or calls under way hold stay.  */
size_t shunt_cache_release_all(struct shunt_cache *c);

#endif
