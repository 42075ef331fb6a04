/* view.h: one product as the engine looks for what is resident of its operands: their keys
   and hashes (resident.h).

   A view refers to the product's arrays; it owns nothing.  For one thread at a time: hashes are
   computed when they are first asked for.  */
#ifndef SHUNT_GRAPHBLAS_GPU_VIEW_H
#define SHUNT_GRAPHBLAS_GPU_VIEW_H

#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/gpu/part.h"
#include "backend/graphblas/gpu/resident.h"

struct grb_gpu_view {
  const struct shunt_host_spmm *p;
  int threads;                    /* 1 .. GRB_GPU_MOST_LANES */
  bool s_keyed, b_keyed, c_keyed; /* may stay resident */
  struct grb_gpu_key s_key, b_key, c_key;
  bool s_hashed, b_hashed;
  uint64_t s_hash, b_hash;
  const void *b_own,
      *c_own; /* the matrices whose own arrays B and C are; NULL: may not be pinned */
};

/* Reads no values. */
struct grb_gpu_view grb_gpu_view_make(const struct shunt_host_spmm *p,
                                      const struct grb_spmm_sources *from);

/* Of the operands' content, or of samples of it; the first call reads them. */
uint64_t grb_gpu_view_sparse_hash(struct grb_gpu_view *v);
uint64_t grb_gpu_view_dense_hash(struct grb_gpu_view *v);

/* The part's rows of S, and its columns of B, as the list holds them; NULL: it does not.  Found by
   key alone: the caller compares hashes before use.  */
struct grb_gpu_resident *grb_gpu_view_find_sparse(const struct grb_gpu_view *v,
                                                  struct grb_gpu_resident_list *residents,
                                                  const struct grb_gpu_part *part);
struct grb_gpu_resident *grb_gpu_view_find_dense(const struct grb_gpu_view *v,
                                                 struct grb_gpu_resident_list *residents,
                                                 const struct grb_gpu_part *part);

#endif
