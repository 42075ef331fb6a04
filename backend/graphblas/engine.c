#include "backend/graphblas/engine.h"

#include "backend/options/options.h"
#include "backend/plan/fault.h"

/* Where the way round GraphBLAS costs as much as it saves (2 threads of a Zen 4). */
enum { LEAST_WORK = 8192, LEAST_COLUMNS = 3, LEAST_MASK = 4096 };

bool grb_engine_forced(void)
{
  return shunt_options()->engines_forced;
}

enum shunt_reason grb_engine_reason(shunt_status status, enum shunt_reason unsupported)
{
  if (status == SHUNT_E_WORKSPACE) return SHUNT_R_LARGE; /* than the device's memory */
  if (status != SHUNT_E_UNSUPPORTED) return SHUNT_R_FAILED;
  return shunt_options()->engines & SHUNT_ENGINE_HOST ? unsupported : SHUNT_R_DISABLED;
}

bool grb_engine_worth(int64_t work)
{
  return work >= LEAST_WORK || grb_engine_forced();
}

bool grb_engine_worth_columns(int64_t columns)
{
  return columns >= LEAST_COLUMNS || grb_engine_forced();
}

bool grb_engine_worth_mask(int64_t entries)
{
  return entries >= LEAST_MASK || grb_engine_forced();
}

bool grb_engine_worth_vector(const struct grb_semiring *s)
{
  const bool floats = s->number == GRB_FP32 || s->number == GRB_FP64;
  return (floats && s->monoid != SHUNT_PLUS) || grb_engine_forced();
}

shunt_status grb_engine_spmm(struct grb_product *p, const struct shunt_host_spmm *x,
                             const struct grb_spmm_sources *from)
{
  uint32_t engines = shunt_options()->engines;
#ifdef SHUNT_HAVE_CUDA
  bool only = !(engines & SHUNT_ENGINE_HOST);
  if ((engines & SHUNT_ENGINE_CUDA) && (only || grb_gpu_wise(x, from))) {
    p->engine = "cuda";
    shunt_status status = grb_gpu_spmm(x, from);
    if (status == SHUNT_OK || status == SHUNT_E_WRITTEN) return status;
  }
#else
  (void)from;
#endif
  if (!(engines & SHUNT_ENGINE_HOST)) return SHUNT_E_UNSUPPORTED;
  p->engine = "host";
  return SHUNT_TRY_OR(SHUNT_E_MEMORY, shunt_host_spmm(x));
}

shunt_status grb_engine_sddmm(struct grb_product *p, const struct shunt_host_sddmm *x)
{
  if (!(shunt_options()->engines & SHUNT_ENGINE_HOST)) return SHUNT_E_UNSUPPORTED;
  p->engine = "host";
  return SHUNT_TRY_OR(SHUNT_E_MEMORY, shunt_host_sddmm(x));
}

bool grb_engine_masked_on_gpu(const struct shunt_masked_dot *x,
                              const struct grb_masked_sources *from, double reads, double otherwise)
{
#ifdef SHUNT_HAVE_CUDA
  const uint32_t engines = shunt_options()->engines;
  if (!(engines & SHUNT_ENGINE_CUDA)) return false;
  return !(engines & SHUNT_ENGINE_HOST) || grb_gpu_masked_wise(x, from, reads, otherwise);
#else
  (void)x, (void)from, (void)reads, (void)otherwise;
  return false;
#endif
}

shunt_status grb_engine_masked_dot(struct grb_product *p, const struct shunt_masked_dot *x,
                                   const struct grb_masked_sources *from, uint64_t *offsets,
                                   struct grb_masked_work *work)
{
  *work = (struct grb_masked_work){NULL, NULL};
#ifdef SHUNT_HAVE_CUDA
  if (p->cuda) {
    p->engine = "cuda";
    return grb_gpu_masked_begin(x, from, offsets, &work->cuda);
  }
#else
  (void)from;
#endif
  if (!(shunt_options()->engines & SHUNT_ENGINE_HOST)) return SHUNT_E_UNSUPPORTED;
  p->engine = "host";
  return SHUNT_TRY_OR(SHUNT_E_MEMORY, shunt_masked_dot_begin(x, offsets, &work->host));
}

shunt_status grb_engine_masked_finish(struct grb_masked_work *work, uint64_t *indices, void *values)
{
#ifdef SHUNT_HAVE_CUDA
  if (work->cuda) return grb_gpu_masked_finish(work->cuda, indices, values);
#endif
  shunt_masked_dot_finish(work->host, indices, values);
  return SHUNT_OK;
}

shunt_status grb_engine_frontier(struct grb_product *p, const struct shunt_frontier *x,
                                 uint64_t *offsets, struct shunt_frontier_work **work)
{
  *work = NULL;
  if (!(shunt_options()->engines & SHUNT_ENGINE_HOST)) return SHUNT_E_UNSUPPORTED;
  p->engine = "host";
  return SHUNT_TRY_OR(SHUNT_E_MEMORY, shunt_frontier_begin(x, offsets, work));
}

shunt_status grb_engine_frontier_bitmap(struct grb_product *p, const struct shunt_frontier *x,
                                        uint64_t *offsets, int8_t *present, void *values)
{
  if (!(shunt_options()->engines & SHUNT_ENGINE_HOST)) return SHUNT_E_UNSUPPORTED;
  p->engine = "host";
  return SHUNT_TRY_OR(SHUNT_E_MEMORY, shunt_frontier_bitmap(x, offsets, present, values));
}
