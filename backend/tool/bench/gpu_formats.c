/* gpu_formats.c: Shunt's kernels on converted matrices, and its planner as a whole.

   bundle           the caller's CSR under a hint of merged column lists
                    (kernels/bundle/bundle_format.h)
   sorted           the same with an order of its rows (kernels/sorted/sorted_format.h)
   vector-packed    column vectors, stored (kernels/vector/vector_format.h)
   tile-aligned-24  tiles of 16 x 32, 2:4 where an order of columns makes them so
                    (kernels/tile/tile_format.h)
   tile-24          the same with merged columns
   tile-aligned, tile   the same two with all tiles dense
   sparse24         2:4 throughout, by wgmma.sp (kernels/sparse24/sparse24_format.h)
   srbcrs           int8 column vectors in strides (kernels/srbcrs/srbcrs_format.h)
   routed           whatever the planner takes, once it knows the matrix; also under capture

   A way that is not for the case's operation, types or pattern is left out without a word.
   Converted once, before the timing: what a kept matrix costs a call, without the proof that
   it still stands for the caller's.  `routed` has the proof in it.  */
#include <stdio.h>

#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/planner.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/cost/tile_mixed_cost.h"
#include "backend/routes/rows_of_c.h"
#include "backend/tool/bench/gpu.h"
#include "conv/bundle/bundle_conv.h"
#include "conv/sorted/sorted_conv.h"
#include "conv/sparse24/sparse24_conv.h"
#include "conv/srbcrs/srbcrs_conv.h"
#include "conv/tile/tile_conv.h"
#include "conv/vector/vector_conv.h"
#include "kernels/bundle/bundle_kernels.h"
#include "kernels/sorted/sorted_kernels.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/tile/tile_kernels.h"
#include "kernels/vector/vector_kernels.h"

/* Calls after which a matrix is known: its profile has arrived, and what is kept is made. */
enum { CALLS_BEFORE = 64 };

static bool refuse(struct bench_way *w, const char *why)
{
  snprintf(w->note, sizeof w->note, "%s", why);
  return false;
}

static bool is_spmm(const struct gpu_case *g)
{
  return g->p.op == SHUNT_SPMM;
}

/* Waits for a conversion and reads what it says of the matrix. */
static bool converted(struct gpu_case *g, shunt_status status, void *to, const void *from,
                      size_t bytes, struct bench_way *w)
{
  if (status == SHUNT_OK &&
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, g->gpu->stream) == cudaSuccess &&
      cudaStreamSynchronize(g->gpu->stream) == cudaSuccess)
    return true;
  cudaGetLastError();
  return refuse(w, "the matrix could not be converted");
}

/* ---- bundle ------------------------------------------------------------------------ */

bool gpu_prepare_bundle(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  size_t bytes = shunt_bundle_bytes(a);
  if (!is_spmm(g) || (a->value_type != SHUNT_F32 && a->value_type != SHUNT_F64) || bytes == 0)
    return false;
  if (!gpu_get(&g->converted, bytes, "hint", w)) return false;
  shunt_bundle_lay_out(a, g->converted, &g->groups);
  shunt_status s = shunt_csr_to_bundle_cuda(a, &g->groups, &g->gpu->device, g->gpu->stream);
  if (!converted(g, s, &g->groups_known, g->groups.counts, sizeof g->groups_known, w)) return false;
  const size_t bytes_of_w = shunt_rows_of_c_bytes(&g->p.spmm, SHUNT_ROWS_AS_STORED);
  return gpu_get_workspace(g, bytes_of_w + shunt_bundle_spmm_workspace(&g->p.spmm), w);
}

shunt_status gpu_bundle(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  const struct shunt_spmm *p = &g->p.spmm;
  const struct shunt_rows_of_c r = shunt_rows_of_c_begin(
      p, SHUNT_ROWS_AS_STORED, shunt_bundle_spmm_workspace(p), g->workspace, g->workspace_bytes);
  const struct shunt_bundle_shape shape =
      shunt_bundle_spmm_shape(&r.product, &g->groups, &g->groups_known, d);
  const shunt_status made = shunt_bundle_spmm_cuda(&r.product, &g->groups, &shape, d, r.workspace,
                                                   r.workspace_bytes, stream);
  return shunt_rows_of_c_end(p, &r, made, d, stream);
}

/* ---- sorted ------------------------------------------------------------------------ */

bool gpu_prepare_sorted(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  const size_t bytes = shunt_sorted_bytes(a);
  if (!is_spmm(g) || !shunt_sorted_spmm_fits(&g->p.spmm) || bytes == 0 ||
      !shunt_choose_sorted_candidate(&g->p.spmm, &g->c->profile))
    return false;
  if (!gpu_get(&g->converted, bytes, "order", w)) return false;
  shunt_sorted_lay_out(a, g->converted, &g->sorted);
  shunt_status s = shunt_csr_to_sorted_cuda(a, &g->sorted, &g->gpu->device, g->gpu->stream);
  if (!converted(g, s, &g->sorted_known, g->sorted.counts, sizeof g->sorted_known, w)) return false;
  const size_t bytes_of_w = shunt_rows_of_c_bytes(&g->p.spmm, SHUNT_ROWS_BY_LENGTH);
  return gpu_get_workspace(g, bytes_of_w + shunt_sorted_spmm_workspace(&g->p.spmm), w);
}

shunt_status gpu_sorted(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  const struct shunt_spmm *p = &g->p.spmm;
  const struct shunt_sorted_shape shape = shunt_sorted_spmm_shape(p, &g->sorted_known, d);
  const struct shunt_rows_of_c r = shunt_rows_of_c_begin(
      p, SHUNT_ROWS_BY_LENGTH, shunt_sorted_spmm_workspace(p), g->workspace, g->workspace_bytes);
  const shunt_status made = shunt_sorted_spmm_cuda(&r.product, &g->sorted, &g->sorted_known, &shape,
                                                   d, r.workspace, r.workspace_bytes, stream);
  return shunt_rows_of_c_end(p, &r, made, d, stream);
}

/* ---- packed ------------------------------------------------------------------------ */

/* Twice, the second time timed. */
static shunt_status timed(struct gpu_case *g,
                          shunt_status (*convert)(struct gpu_case *, const void *),
                          const void *layout, struct bench_way *w)
{
  struct gpu *gpu = g->gpu;
  float ms = 0;
  shunt_status s = convert(g, layout);
  if (s != SHUNT_OK || cudaEventRecord(gpu->start, gpu->stream) != cudaSuccess) return s;
  s = convert(g, layout);
  if (s == SHUNT_OK && cudaEventRecord(gpu->stop, gpu->stream) == cudaSuccess &&
      cudaEventSynchronize(gpu->stop) == cudaSuccess &&
      cudaEventElapsedTime(&ms, gpu->start, gpu->stop) == cudaSuccess)
    w->conversion_us = 1e3 * ms;
  return s;
}

static shunt_status to_vectors(struct gpu_case *g, const void *layout)
{
  return shunt_csr_to_vector_cuda(shunt_problem_sparse(&g->p), layout, &g->packed, &g->gpu->device,
                                  g->gpu->stream);
}

bool gpu_prepare_packed(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  const int height = shunt_vector_profiled_height(&g->c->profile, 0.99);
  const struct shunt_vector_layout layout = {
      .order = shunt_choose_vector_order(&g->p.spmm, height, &g->gpu->machine), .height = height};
  struct shunt_vector_counts counts;
  size_t bytes = shunt_vector_bytes(a, &layout);
  if (!is_spmm(g) || shunt_type_size(a->value_type) != 2) return false;
  if (layout.height == 1 || bytes == 0) return false;
  if (!gpu_get(&g->converted, bytes, "vectors", w)) return false;
  shunt_vector_lay_out(a, &layout, g->converted, &g->packed);
  shunt_status s = timed(g, to_vectors, &layout, w);
  if (!converted(g, s, &counts, g->packed.counts, sizeof counts, w)) return false;
  if (counts.irregular) return refuse(w, "the matrix does not fit the format");
  return gpu_get_workspace(g, shunt_vector_packed_spmm_workspace(&g->p.spmm), w);
}

shunt_status gpu_packed(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  const struct shunt_vector_shape shape =
      shunt_choose_vector_shape_of(&g->p.spmm, &g->packed, &g->gpu->machine);
  return shunt_vector_packed_spmm_shaped_cuda(&g->p.spmm, &g->packed, &shape, d, g->workspace,
                                              g->workspace_bytes, stream);
}

/* ---- tile ------------------------------------------------------------------------ */

static shunt_status to_tiles(struct gpu_case *g, const void *layout)
{
  return shunt_csr_to_tile_cuda(shunt_problem_sparse(&g->p), layout, &g->tile, &g->gpu->device,
                                g->gpu->stream);
}

static bool prepare_tile(struct gpu_case *g, int how, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  const struct shunt_device *d = &g->gpu->device;
  struct shunt_tile_layout layout = {.how = how};
  struct shunt_tile_census census, *device = (void *)((char *)g->words + 128);
  if (!is_spmm(g) || shunt_type_size(a->value_type) != 2) return false;
  shunt_status s = shunt_csr_tile_census_cuda(a, how, device, d, g->gpu->stream);
  if (!converted(g, s, &census, device, sizeof census, w)) return false;
  layout.sparse_room = (int64_t)census.sparse;
  layout.dense_room = (int64_t)census.halves;
  size_t bytes = shunt_tile_bytes(a, &layout);
  if (bytes == 0 || !gpu_get(&g->converted, bytes, "tiles", w)) return false;
  shunt_tile_lay_out(a, &layout, g->converted, &g->tile);
  s = timed(g, to_tiles, &layout, w);
  if (!converted(g, s, &census, g->tile.census, sizeof census, w)) return false;
  if (census.irregular) return refuse(w, "the matrix does not fit the format");
  return gpu_get_workspace(g, shunt_tile_spmm_workspace(&g->p.spmm), w);
}

bool gpu_prepare_tile_aligned_24(struct gpu_case *g, struct bench_way *w)
{
  return prepare_tile(g, SHUNT_TILE_REORDER, w);
}
bool gpu_prepare_tile_24(struct gpu_case *g, struct bench_way *w)
{
  return prepare_tile(g, SHUNT_TILE_REORDER | SHUNT_TILE_MERGE, w);
}
bool gpu_prepare_tile_aligned(struct gpu_case *g, struct bench_way *w)
{
  return prepare_tile(g, SHUNT_TILE_DENSE, w);
}
bool gpu_prepare_tile(struct gpu_case *g, struct bench_way *w)
{
  return prepare_tile(g, SHUNT_TILE_DENSE | SHUNT_TILE_MERGE, w);
}

shunt_status gpu_tile(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_device *d = &g->gpu->device;
  if (g->tile.sparse.gather && g->tile.sparse.room == 0) /* as route tile does */
    return shunt_tile_spmm_cuda(&g->p.spmm, &g->tile, d, g->workspace, g->workspace_bytes, stream);
  const struct shunt_tile_shape shape = shunt_choose_tile_shape(&g->p.spmm, &g->tile, d);
  return shunt_tile_mixed_spmm_shaped_cuda(&g->p.spmm, &g->tile, &shape, d, g->workspace,
                                           g->workspace_bytes, stream);
}

/* ---- sparse24 ----------------------------------------------------------------------- */

static bool is_for_sparse24(const struct gpu_case *g)
{
  const struct shunt_spmm *s = &g->p.spmm;
  if (!is_spmm(g) || g->c->profile.crowded_rows || g->c->profile.unsorted_rows) return false;
  return shunt_scalar_is_zero(&s->beta) && shunt_sparse24_bytes(&s->a) > 0 &&
         shunt_sparse24_spmm_built();
}

bool gpu_prepare_sparse24(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  uint32_t irregular = 0, *device = g->words + 32;
  if (!is_for_sparse24(g)) return false;
  if (!gpu_get(&g->converted, shunt_sparse24_bytes(a), "tiles", w)) return false;
  shunt_sparse24_lay_out(a, g->converted, &g->sparse24);
  if (cudaMemsetAsync(device, 0, sizeof *device, g->gpu->stream) != cudaSuccess) return false;
  shunt_status s =
      shunt_csr_to_sparse24_cuda(a, &g->sparse24, device, &g->gpu->device, g->gpu->stream);
  if (!converted(g, s, &irregular, device, sizeof irregular, w)) return false;
  if (irregular) return refuse(w, "the matrix does not fit the format");
  return gpu_get_workspace(g, SHUNT_GUARD_SET_BYTES, w) &&
         cudaMemsetAsync(g->workspace, 0, SHUNT_GUARD_SET_BYTES, g->gpu->stream) == cudaSuccess;
}

shunt_status gpu_sparse24(struct gpu_case *g, cudaStream_t stream)
{
  /* The product alone: nothing is expected of A, which is not read then. */
  const struct shunt_guard r = {.product = &g->p.spmm.c,
                                .sets = g->workspace,
                                .set_count = 1,
                                .key = g->workspace,
                                .wait_cycles = shunt_guard_wait_cycles(&g->p.spmm)};
  const bool in_place = shunt_sparse24_in_place(&g->p.spmm.a);
  const struct shunt_sparse24_proof none = {0};
  const struct shunt_device *d = &g->gpu->device;
  const enum shunt_sparse24_shape shape = shunt_choose_sparse24_shape(&g->p.spmm, &g->gpu->machine);
  return shunt_sparse24_spmm_shaped_cuda(&g->p.spmm, &g->sparse24, shape, in_place, &none, &r, d,
                                         stream);
}

/* ---- srbcrs ------------------------------------------------------------------------- */

static shunt_status to_strides(struct gpu_case *g, const void *layout)
{
  return shunt_csr_to_srbcrs_cuda(shunt_problem_sparse(&g->p), layout, &g->srbcrs, &g->gpu->device,
                                  g->gpu->stream);
}

bool gpu_prepare_srbcrs(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = shunt_problem_sparse(&g->p);
  const int height = shunt_vector_profiled_height(&g->c->profile, 1);
  const int v = height > SHUNT_SRBCRS_TALLEST ? SHUNT_SRBCRS_TALLEST : height;
  const struct shunt_srbcrs_layout layout = {.height = v, .share = v, .bits = 8, .spread = 1};
  struct shunt_srbcrs_counts counts;
  if (!is_spmm(g) || g->p.spmm.c.type != g->p.spmm.compute) return false;
  const size_t bytes = shunt_srbcrs_bytes(a, &layout);
  if (bytes == 0 || !gpu_get(&g->converted, bytes, "strides", w)) return false;
  shunt_srbcrs_lay_out(a, &layout, g->converted, &g->srbcrs);
  const shunt_status s = timed(g, to_strides, &layout, w);
  if (!converted(g, s, &counts, g->srbcrs.counts, sizeof counts, w)) return false;
  if (counts.irregular) return refuse(w, "the matrix does not fit the format");
  return gpu_get_workspace(g, shunt_srbcrs_spmm_workspace(&g->p.spmm), w);
}

shunt_status gpu_srbcrs(struct gpu_case *g, cudaStream_t stream)
{
  const struct shunt_srbcrs_shape shape =
      shunt_choose_srbcrs_spmm_shape(&g->p.spmm, g->srbcrs.height, &g->gpu->machine);
  return shunt_srbcrs_spmm_shaped_cuda(&g->p.spmm, &g->srbcrs, &shape, &g->gpu->device,
                                       g->workspace, g->workspace_bytes, stream);
}

/* ---- routed ------------------------------------------------------------------------ */

/* The problem as a program has it: in blocks where it was given so. */
static const struct shunt_problem *as_given(const struct gpu_case *g)
{
  return g->c->blocks.size ? &g->blocked : &g->p;
}

bool gpu_prepare_routed(struct gpu_case *g, struct bench_way *w)
{
  struct shunt_answer answer = {.route = ""};
  if (g->c->blocks.size && !gpu_place_blocks(g, w)) return false;
  const struct shunt_problem *p = as_given(g);
  if (!gpu_get_workspace(g, shunt_plan_workspace(p, g->gpu->stream, NULL), w)) return false;
  struct shunt_context *context = shunt_context_find();
  if (context) {
    shunt_cache_forget(context->cache); /* the case before may have stood at the same addresses */
    shunt_context_initialize(context, ~(uint32_t)0); /* as in a program that has run for a while */
  }
  for (int i = 0; i < CALLS_BEFORE; i++) {
    answer = shunt_plan_run(p, g->workspace, g->workspace_bytes, g->gpu->stream);
    if (cudaStreamSynchronize(g->gpu->stream) != cudaSuccess) return refuse(w, "failed");
  }
  bool taken = answer.why.reason == SHUNT_FITS;
  const bool ordered = answer.how.reason == SHUNT_R_ORDERED;
  snprintf(w->note, sizeof w->note, "%s%s",
           taken ? answer.route : shunt_reason_text(answer.why.reason), ordered ? ", ordered" : "");
  return taken;
}

shunt_status gpu_routed(struct gpu_case *g, cudaStream_t stream)
{
  struct shunt_answer a = shunt_plan_run(as_given(g), g->workspace, g->workspace_bytes, stream);
  return a.why.reason == SHUNT_FITS ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}
