#include "backend/routes/keep_measures.h"

#include "backend/plan/cuda_call.h"

shunt_status shunt_keep_measures(const struct shunt_call *c, const struct shunt_packed_view *into,
                                 shunt_status made, const void *counts, size_t bytes)
{
  shunt_status r = made;
  if (r == SHUNT_OK)
    r = SHUNT_CUDA(cudaMemsetAsync(into->irregular, 0, sizeof *into->irregular, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_CUDA(
        cudaMemcpyAsync(into->measures, counts, bytes, cudaMemcpyDeviceToDevice, c->stream));
  return r;
}
