#include "backend/graphblas/gpu/view.h"

#include "backend/graphblas/gpu/device.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/options/options.h"

/* NULL unless every function is seen that may free the array. */
static const void *owner(const struct grb_identity *id)
{
  return id->own_array && id->epoch != 0 && !id->read_only ? id->handle : NULL;
}

struct grb_gpu_view grb_gpu_view_make(const struct shunt_host_spmm *p,
                                      const struct grb_spmm_sources *from)
{
  struct grb_gpu_view v = {.p = p, .threads = p->threads < 1 ? 1 : p->threads};
  const shunt_type type = p->semiring.type;
  if (v.threads > GRB_GPU_MOST_LANES) v.threads = GRB_GPU_MOST_LANES;
  v.s_keyed =
      grb_gpu_sparse_key(&p->s, type, grb_gpu_ones(p), &from->s, shunt_options()->verify, &v.s_key);
  v.b_keyed = !grb_gpu_constant_b(p) &&
              grb_gpu_dense_key(&p->b, type, &from->b, shunt_options()->verify, &v.b_key);
  struct shunt_full whole = p->c;
  whole.present = NULL; /* where elements are missing, nothing is kept (see grb_gpu_shard_keep) */
  v.c_keyed = !p->accumulate &&
              grb_gpu_dense_key(&whole, type, &from->c, shunt_options()->verify, &v.c_key);
  v.b_own = grb_gpu_constant_b(p) || p->b.iso ? NULL : owner(&from->b);
  v.c_own = p->accumulate ? NULL : owner(&from->c);
  return v;
}

uint64_t grb_gpu_view_sparse_hash(struct grb_gpu_view *v)
{
  if (!v->s_hashed)
    v->s_hash =
        grb_gpu_sparse_hash(&v->p->s, v->p->semiring.type, shunt_options()->verify, v->threads);
  v->s_hashed = true;
  return v->s_hash;
}

uint64_t grb_gpu_view_dense_hash(struct grb_gpu_view *v)
{
  if (!v->b_hashed)
    v->b_hash =
        grb_gpu_dense_hash(&v->p->b, v->p->semiring.type, shunt_options()->verify, v->threads);
  v->b_hashed = true;
  return v->b_hash;
}

struct grb_gpu_resident *grb_gpu_view_find_sparse(const struct grb_gpu_view *v,
                                                  struct grb_gpu_resident_list *residents,
                                                  const struct grb_gpu_part *part)
{
  return v->s_keyed ? grb_gpu_resident_find(residents, &v->s_key, true, part->row, part->row_end)
                    : NULL;
}

struct grb_gpu_resident *grb_gpu_view_find_dense(const struct grb_gpu_view *v,
                                                 struct grb_gpu_resident_list *residents,
                                                 const struct grb_gpu_part *part)
{
  return v->b_keyed ? grb_gpu_resident_find(residents, &v->b_key, false, part->first, part->last)
                    : NULL;
}
