/* host_engine.c: the engine of matrices in host memory: conv's host functions and the
   kernels' twins in plain C, which spread groups of rows over OpenMP's threads.  Streams do not
   count.  */
#include <stdlib.h>
#include <string.h>

#include "backend/native/integers.h"
#include "backend/plan/fault.h"

static shunt_status host_open(struct shunt_native_place *at, shunt_stream stream)
{
  (void)at, (void)stream;
  return SHUNT_OK;
}

static shunt_status host_look(struct shunt_native_place *at)
{
  (void)at;
  return SHUNT_OK;
}

static shunt_status host_enter(const struct shunt_native_place *at)
{
  (void)at;
  return SHUNT_OK;
}

static shunt_status host_allocate(void **memory, size_t bytes)
{
  *memory = SHUNT_TRY_OR(NULL, aligned_alloc(256, (bytes + 255) & ~(size_t)255));
  return *memory ? SHUNT_OK : SHUNT_E_MEMORY;
}

static shunt_status host_clear(void *memory, size_t bytes, shunt_stream stream)
{
  (void)stream;
  memset(memory, 0, bytes);
  return SHUNT_OK;
}

static shunt_status host_pack(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                              struct shunt_packed *p, shunt_stream stream)
{
  shunt_status s = shunt_csr_to_vector_host(a, layout, &p->v);

  (void)stream;
  if (s == SHUNT_OK) p->counts = *p->v.counts;
  return s;
}

static size_t host_spmm_workspace(const struct shunt_spmm *q)
{
  (void)q;
  return 0;
}

static shunt_status host_spmm(const struct shunt_packed *p, const struct shunt_spmm *q,
                              const struct shunt_vector *v, void *workspace, size_t workspace_bytes,
                              shunt_stream stream)
{
  (void)p, (void)workspace, (void)workspace_bytes, (void)stream;
  return shunt_vector_packed_spmm_host(q, v);
}

static shunt_status host_sddmm(const struct shunt_packed *p, const struct shunt_vector_sddmm *q,
                               shunt_stream stream)
{
  (void)stream;
  return shunt_vector_sddmm_host(q, &p->v);
}

static shunt_status host_softmax(const struct shunt_packed *p, const struct shunt_vector_softmax *q,
                                 shunt_stream stream)
{
  (void)stream;
  return shunt_vector_softmax_host(q, &p->v);
}

static int host_fuses(const struct shunt_vector_attention *q)
{
  (void)q;
  return 1;
}

static shunt_status host_attention(const struct shunt_packed *p,
                                   const struct shunt_vector_attention *q, shunt_stream stream)
{
  (void)stream;
  return shunt_vector_attention_parallel_host(q, &p->v);
}

const struct shunt_native_engine *shunt_native_host(void)
{
  static const struct shunt_native_engine engine = {.open = host_open,
                                                    .look = host_look,
                                                    .enter = host_enter,
                                                    .allocate = host_allocate,
                                                    .clear = host_clear,
                                                    .release = free,
                                                    .pack = host_pack,
                                                    .spmm_workspace = host_spmm_workspace,
                                                    .spmm = host_spmm,
                                                    .sddmm = host_sddmm,
                                                    .softmax = host_softmax,
                                                    .fuses = host_fuses,
                                                    .attention = host_attention,
                                                    .integers = &shunt_native_host_integers};
  return &engine;
}
