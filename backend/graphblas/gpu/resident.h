/* resident.h: what one device keeps of matrices between calls, and the proof that it is fresh.

   An entry is found by a key: handle, epoch, addresses of all arrays, sizes, forms and
   types.  It is used only if, besides, the operand's values at sampled places are what they
   were.  In verify mode the epoch is left out of the key and the whole content is hashed.

   No locks: gpu_engine.c, which owns the list, holds one.  */
#ifndef SHUNT_GRAPHBLAS_GPU_RESIDENT_H
#define SHUNT_GRAPHBLAS_GPU_RESIDENT_H

#include "backend/graphblas/identity.h"
#include "kernels/semiring/semiring_kernels.h"

/* All words zero where a kind of operand does not need them: compared as bytes. */
struct grb_gpu_key {
  uint64_t handle, epoch;
  uint64_t arrays[4];
  int64_t sizes[6];
  int64_t form; /* flags and types */
};

/* False: nothing may stay resident of this operand. */
bool grb_gpu_sparse_key(const struct shunt_sparse *s, shunt_type type, bool ones,
                        const struct grb_identity *id, bool verify, struct grb_gpu_key *key);
bool grb_gpu_dense_key(const struct shunt_full *m, shunt_type type, const struct grb_identity *id,
                       bool verify, struct grb_gpu_key *key);

/* Of the content: of all of it with `threads` threads, or of samples. */
uint64_t grb_gpu_sparse_hash(const struct shunt_sparse *s, shunt_type type, bool all, int threads);
uint64_t grb_gpu_dense_hash(const struct shunt_full *m, shunt_type type, bool all, int threads);

/* The rows of S, and of B, in chunks: chunk i begins with row rows * i / GRB_GPU_CHUNKS. */
enum { GRB_GPU_CHUNKS = 64 };
struct grb_gpu_chunks {
  int32_t begin[GRB_GPU_CHUNKS + 1]; /* the chunk's first entry */
  uint64_t needs[GRB_GPU_CHUNKS];    /* bit j: has entries that meet chunk j of B */
};

struct grb_gpu_resident {
  struct grb_gpu_key key;
  bool used, sparse;
  uint64_t hash;
  uint64_t last_use; /* larger is later */
  bool held;         /* by the product under way: not to be let go */
  void *memory;
  int64_t bytes;
  /* sparse: rows with 32-bit indices */
  int32_t *offsets, *columns;
  void *values;
  int64_t longest, empty_count;
  struct grb_gpu_chunks chunks;
  int32_t *empty; /* host memory, owned */
  /* sparse: rows first <= i < last of the matrix; both 0: all, and found so
     dense: columns first <= j < last in strips of `width` columns, row-major, each
     beginning strip_bytes after the one before */
  int64_t first, last, width, strip_bytes;
};

enum { GRB_GPU_MOST_RESIDENT = 32 };
struct grb_gpu_resident_list {
  struct grb_gpu_resident entry[GRB_GPU_MOST_RESIDENT];
  uint64_t clock;
};

/* The entry with this key, and of these rows or columns.  NULL: none.  Does not ask for hashes. */
struct grb_gpu_resident *grb_gpu_resident_find(struct grb_gpu_resident_list *l,
                                               const struct grb_gpu_key *key, bool sparse,
                                               int64_t first, int64_t last);
/* An entry of the same matrix that no key will find again, or else NULL. */
struct grb_gpu_resident *grb_gpu_resident_stale(struct grb_gpu_resident_list *l,
                                                const struct grb_gpu_key *key);
/* The entry that was used longest ago and is not held; NULL: none. */
struct grb_gpu_resident *grb_gpu_resident_oldest(struct grb_gpu_resident_list *l);
struct grb_gpu_resident *grb_gpu_resident_unused(struct grb_gpu_resident_list *l);
void grb_gpu_resident_touch(struct grb_gpu_resident_list *l, struct grb_gpu_resident *e);

#endif
