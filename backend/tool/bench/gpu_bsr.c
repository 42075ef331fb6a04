/* gpu_bsr.c: the kernel of route `bsr`, on problems that are given in blocks.

   The program has its matrix in blocks, so they are made before any timing: nothing is converted in
   a call.  `routed` is given the blocks, too; all other columns time the same matrix in CSR.  */
#include <stdlib.h>

#include "backend/tool/bench/gpu.h"
#include "kernels/bsr/bsr_kernels.h"
#include "kernels/common/alignment.h"

/* The three arrays, one behind the other, at g->converted. */
static bool upload_blocks(struct gpu_case *g, const struct bench_operands *o, struct bench_way *w)
{
  struct shunt_csr *a = &g->blocked.spmm.a;
  const void **array[] = {&a->row_offsets, &a->columns, (const void **)&a->values};
  size_t total = 0, at = 0;
  for (int i = BENCH_OFFSETS; i <= BENCH_VALUES; i++) total += shunt_align_up(o->bytes[i], 256);
  if (!gpu_get(&g->converted, total, "blocks", w)) return false;
  for (int i = BENCH_OFFSETS; i <= BENCH_VALUES; i++) {
    void *to = (char *)g->converted + at;
    if (cudaMemcpy(to, o->array[i], o->bytes[i], cudaMemcpyHostToDevice) != cudaSuccess)
      return false;
    *array[i] = to;
    at += shunt_align_up(o->bytes[i], 256);
  }
  return true;
}

bool gpu_place_blocks(struct gpu_case *g, struct bench_way *w)
{
  const struct shunt_csr *a = &g->p.spmm.a;
  const size_t bytes = (size_t)a->nnz * shunt_type_size(a->value_type);
  void *values = malloc(bytes + 1);
  struct bench_operands o = {{0}, {0}};
  g->blocked = g->p;
  g->blocked.format = SHUNT_BSR;
  g->blocked.blocks = g->c->blocks;
  const bool good = values &&
                    cudaMemcpy(values, a->values, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                    bench_blocks_make(g->c, values, &o) && upload_blocks(g, &o, w);
  bench_operands_free(&o);
  free(values);
  return good;
}

bool gpu_prepare_bsr(struct gpu_case *g, struct bench_way *w)
{
  if (g->c->blocks.size == 0) return false;
  if (shunt_bsr_spmm_check(&g->p.spmm, &g->c->blocks) != SHUNT_OK) {
    snprintf(w->note, sizeof w->note, "not built for these types, or blocks of this size");
    return false;
  }
  return gpu_place_blocks(g, w) &&
         gpu_get_workspace(g, shunt_bsr_spmm_workspace(&g->blocked.spmm), w);
}

shunt_status gpu_bsr(struct gpu_case *g, cudaStream_t stream)
{
  return shunt_bsr_spmm_cuda(&g->blocked.spmm, &g->blocked.blocks, &g->gpu->device, g->workspace,
                             g->workspace_bytes, stream);
}
