/* engine.h: where a product is computed, the GPU if that pays, else the CPU. */
#ifndef SHUNT_GRAPHBLAS_ENGINE_H
#define SHUNT_GRAPHBLAS_ENGINE_H

#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/gpu/gpu_masked.h"
#include "backend/graphblas/product.h"
#include "kernels/semiring/frontier/frontier_kernels.h"
#include "kernels/semiring/masked/masked.h"

/* Does a list in SHUNT_ROUTES say that costs do not count? */
bool grb_engine_forced(void);

/* Is this much work (multiplications) better done here than by the original?  Yes to all if
   forced.  */
bool grb_engine_worth(int64_t work);
/* Are so many columns of a dense operand? */
bool grb_engine_worth_columns(int64_t columns);
/* Are so many entries of the mask of a product of two sparse matrices? */
bool grb_engine_worth_mask(int64_t entries);
/* Is a product with a vector by this semiring?  GraphBLAS' sums run at the speed of memory, and so
   do its least and greatest integers; for those of floats it calls fmin and fmax.  */
bool grb_engine_worth_vector(const struct grb_semiring *s);

/* Computes; p->engine is set to what did it.  A status other than SHUNT_OK has written nothing but
   the result.  */
shunt_status grb_engine_spmm(struct grb_product *p, const struct shunt_host_spmm *x,
                             const struct grb_spmm_sources *from);
shunt_status grb_engine_sddmm(struct grb_product *p, const struct shunt_host_sddmm *x);
/* In two steps, as shunt_masked_dot_begin and _finish; the second releases the work, also where it
   fails.  p->cuda: by the GPU.  */
struct grb_masked_work {
  struct shunt_masked_dot_work *host;
  struct grb_gpu_masked *cuda;
};
shunt_status grb_engine_masked_dot(struct grb_product *p, const struct shunt_masked_dot *x,
                                   const struct grb_masked_sources *from, uint64_t *offsets,
                                   struct grb_masked_work *work);
shunt_status grb_engine_masked_finish(struct grb_masked_work *work, uint64_t *indices,
                                      void *values);
/* Is it the GPU's, where the best of other ways takes `otherwise` seconds?  reads: as
   shunt_masked_dot_reads has them.  */
bool grb_engine_masked_on_gpu(const struct shunt_masked_dot *x,
                              const struct grb_masked_sources *from, double reads,
                              double otherwise);
shunt_status grb_engine_frontier(struct grb_product *p, const struct shunt_frontier *x,
                                 uint64_t *offsets, struct shunt_frontier_work **work);
shunt_status grb_engine_frontier_bitmap(struct grb_product *p, const struct shunt_frontier *x,
                                        uint64_t *offsets, int8_t *present, void *values);

/* Why these failed: `unsupported` is what the kernels say by SHUNT_E_UNSUPPORTED. */
enum shunt_reason grb_engine_reason(shunt_status status, enum shunt_reason unsupported);

#endif
