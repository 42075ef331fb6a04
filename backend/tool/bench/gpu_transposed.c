/* gpu_transposed.c: `csr` where op(A) is the transpose of what is stored: the transposed pattern is
   kept, and each call proves it and gathers the values anew (backend/routes/csr_transposed.h).

   What is timed is the route's own run, with a copy that this file made by the route's own pack: no
   planner is between that would leave the product to cuSPARSE.  What making the copy takes, which a
   program pays for once a matrix, is the way's conversion.  */
#include <stdio.h>

#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/planner.h"
#include "backend/routes/routes.h"
#include "backend/tool/bench/gpu.h"

static bool refuse(struct bench_way *w, const char *why)
{
  snprintf(w->note, sizeof w->note, "%s", why);
  return false;
}

/* ---- a call of the route ----------------------------------------------------------------- */

/* A product on `stream` from the copy in g->converted. */
struct product {
  struct shunt_problem settled;
  struct shunt_packed_view copy;
  struct shunt_call call;
};

/* In g->converted, 256 bytes each: fingerprint, measures, a word; then the payload. */
enum { MEASURES_AT = 256, WORD_AT = 512, PAYLOAD_AT = 768 };

/* *x stays where it is: its parts point to each other. */
static struct shunt_outcome settle(struct gpu_case *g, cudaStream_t stream, struct product *x)
{
  char *at = g->converted;
  *x = (struct product){.call = {.problem = &x->settled,
                                 .context = shunt_context_make(),
                                 .forced = true,
                                 .workspace = g->workspace,
                                 .workspace_bytes = g->workspace_bytes,
                                 .stream = stream}};
  if (at)
    x->copy = (struct shunt_packed_view){.irregular = (uint32_t *)(at + WORD_AT),
                                         .fingerprint = (struct shunt_fingerprint *)at,
                                         .measures = at + MEASURES_AT,
                                         .known = g->longest ? &g->longest : NULL,
                                         .payload = at + PAYLOAD_AT};
  const struct shunt_outcome v = shunt_plan_settle(&g->p, &x->settled);
  if (v.reason != SHUNT_FITS) return v;
  SHUNT_DECLINE_IF(!x->call.context, SHUNT_R_FAILED);
  return shunt_route_csr.fits(&x->settled, x->call.context);
}

/* ---- the way ------------------------------------------------------------------------------ */

/* Twice, the second time timed; then the longest row is known. */
static bool pack(struct gpu_case *g, struct bench_way *w)
{
  struct gpu *gpu = g->gpu;
  struct product x;
  float ms = 0;
  if (settle(g, gpu->stream, &x).reason != SHUNT_FITS ||
      shunt_route_csr.pack(&x.call, &x.copy) != SHUNT_OK ||
      cudaEventRecord(gpu->start, gpu->stream) != cudaSuccess ||
      shunt_route_csr.pack(&x.call, &x.copy) != SHUNT_OK ||
      cudaEventRecord(gpu->stop, gpu->stream) != cudaSuccess ||
      cudaMemcpyAsync(&g->longest, x.copy.measures, sizeof g->longest, cudaMemcpyDeviceToHost,
                      gpu->stream) != cudaSuccess ||
      cudaStreamSynchronize(gpu->stream) != cudaSuccess ||
      cudaEventElapsedTime(&ms, gpu->start, gpu->stop) != cudaSuccess) {
    cudaGetLastError();
    return refuse(w, "the matrix could not be transposed");
  }
  w->conversion_us = 1e3 * ms;
  return true;
}

bool gpu_prepare_transposed(struct gpu_case *g, struct bench_way *w)
{
  struct product x;
  g->longest = 0;
  const struct shunt_outcome v = settle(g, g->gpu->stream, &x);
  if (v.reason != SHUNT_FITS) return refuse(w, shunt_reason_text(v.reason));
  if (!gpu_get_workspace(g, shunt_route_csr.workspace(&x.settled, x.call.context), w)) return false;
  x.call.workspace_bytes = g->workspace_bytes;
  return gpu_get(&g->converted, PAYLOAD_AT + shunt_route_csr.pack_bytes(&x.call), "transpose", w) &&
         pack(g, w);
}

shunt_status gpu_transposed(struct gpu_case *g, cudaStream_t stream)
{
  struct product x;
  if (settle(g, stream, &x).reason != SHUNT_FITS) return SHUNT_E_UNSUPPORTED;
  x.call.packed = &x.copy;
  return shunt_route_csr.run(&x.call);
}
