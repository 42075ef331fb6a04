/* host_integers.c: the host engine of integers: conv's host functions and the twins of kernels. */
#include "backend/native/integers.h"

static shunt_status host_pack(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                              const struct shunt_native_place *at, const struct shunt_srbcrs *v,
                              struct shunt_srbcrs_counts *counts, shunt_stream stream)
{
  const shunt_status s = shunt_csr_to_srbcrs_host(a, layout, v);
  (void)at, (void)stream;
  if (s == SHUNT_OK) *counts = *v->counts;
  return s;
}

static shunt_status host_quantise(const struct shunt_native_place *at,
                                  const struct shunt_quantise *q, int count, shunt_stream stream)
{
  shunt_status s = SHUNT_OK;
  (void)at, (void)stream;
  for (int i = 0; i < count && s == SHUNT_OK; i++) s = shunt_quantise_host(&q[i]);
  return s;
}

static shunt_status host_spmm(const struct shunt_packed_integers *p,
                              const struct shunt_srbcrs_integer_spmm *q,
                              const struct shunt_srbcrs *v, shunt_stream stream)
{
  (void)p, (void)stream;
  return shunt_srbcrs_integer_spmm_host(q, v);
}

static shunt_status host_sddmm(const struct shunt_packed_integers *p,
                               const struct shunt_srbcrs_sddmm *q, shunt_stream stream)
{
  (void)stream;
  return shunt_srbcrs_sddmm_host(q, &p->v);
}

static shunt_status host_softmax(const struct shunt_packed_integers *p,
                                 const struct shunt_srbcrs_softmax *q, const struct shunt_srbcrs *v,
                                 shunt_stream stream)
{
  (void)p, (void)stream;
  return shunt_srbcrs_softmax_host(q, v);
}

static int host_fuses(const struct shunt_packed_integers *p, int bits_qk, int bits_v, int64_t cols)
{
  (void)p, (void)bits_qk, (void)bits_v, (void)cols;
  return 0;
}

static shunt_status host_attention(const struct shunt_packed_integers *p,
                                   const struct shunt_srbcrs_attention *q, shunt_stream stream)
{
  (void)stream;
  return shunt_srbcrs_attention_host(q, &p->v);
}

const struct shunt_native_integers shunt_native_host_integers = {.pack = host_pack,
                                                                 .quantise = host_quantise,
                                                                 .spmm = host_spmm,
                                                                 .sddmm = host_sddmm,
                                                                 .softmax = host_softmax,
                                                                 .fuses = host_fuses,
                                                                 .attention = host_attention};
