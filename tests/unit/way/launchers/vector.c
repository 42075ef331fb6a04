/* vector.c: the launchers of vector.  In the trace: v a product in place, V a conversion,
   w a product of what was packed.  */
#include "conv/vector/vector_conv.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

PACKED(vector, shunt_vector, shunt_vector_packed_spmm_host)

size_t shunt_vector_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, ROOM;
}
shunt_status shunt_vector_csr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                        void *workspace, size_t bytes, shunt_stream s)
{
  (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return launch_spmm('v', p, s);
}
bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p, const struct shunt_device *d,
                                         struct shunt_vector_single_launch *how)
{
  return (void)p, (void)d, (void)how, false;
}

size_t shunt_vector_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, 0;
}
shunt_status shunt_vector_csr_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                         void *workspace, size_t bytes, shunt_stream s)
{
  (void)d, (void)workspace, (void)bytes;
  return launch_sddmm('v', p, s);
}

struct to_vector {
  struct shunt_csr a;
  struct shunt_vector_layout layout;
  struct shunt_vector v;
};
static void to_vector(const void *arguments)
{
  const struct to_vector *x = arguments;
  shunt_csr_to_vector_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_vector_cuda(const struct shunt_csr *a,
                                      const struct shunt_vector_layout *layout,
                                      const struct shunt_vector *v, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('V', s, to_vector, *a, *layout, *v);
}
size_t shunt_vector_packed_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
bool shunt_vector_packed_spmm_fits(const struct shunt_vector_shape *s, enum shunt_vector_order o,
                                   const struct shunt_device *d)
{
  return (void)o, (void)d, s->rows != 256;
}
struct shunt_vector_shape shunt_vector_packed_spmm_gather(const struct shunt_spmm *p,
                                                          double vectors, int height,
                                                          const struct shunt_device *d)
{
  (void)p, (void)vectors, (void)height, (void)d;
  return (struct shunt_vector_shape){8, 64, 0, 0};
}
bool shunt_vector_packed_spmm_proves(const struct shunt_spmm *p,
                                     const struct shunt_vector_shape *shape)
{
  return (void)p, (void)shape, false;
}
shunt_status shunt_vector_packed_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_vector *v,
                                                  const struct shunt_vector_shape *shape,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t bytes, shunt_stream s)
{
  (void)shape, (void)d, (void)workspace, (void)bytes;
  return KERNEL('w', s, vector, *p, *v);
}
shunt_status shunt_vector_packed_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                         const struct shunt_vector *v,
                                                         const struct shunt_vector_shape *shape,
                                                         bool brief, const struct shunt_guard *r,
                                                         const struct shunt_device *d,
                                                         shunt_stream s)
{
  (void)p, (void)v, (void)shape, (void)brief, (void)r, (void)d, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
bool shunt_vector_packed_spmm_tf32_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)d, p->a.value_type == SHUNT_F32 && p->c.type == SHUNT_F32;
}
shunt_status shunt_vector_packed_spmm_tf32_cuda(const struct shunt_spmm *p,
                                                const struct shunt_vector *v, int products,
                                                int tile, const struct shunt_device *d,
                                                void *workspace, size_t bytes, shunt_stream s)
{
  (void)products, (void)tile, (void)d, (void)workspace, (void)bytes;
  return KERNEL('w', s, vector, *p, *v);
}
