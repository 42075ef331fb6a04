/* tile.c: the launchers of tile.  In the trace: T a conversion, t a product.  */
#include "conv/tile/tile_conv.h"
#include "kernels/tile/tile_kernels.h"
#include "kernels/tile/tile_mixed_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

PACKED(tile, shunt_tile, shunt_tile_spmm_host)

struct to_tile {
  struct shunt_csr a;
  struct shunt_tile_layout layout;
  struct shunt_tile v;
};
static void to_tile(const void *arguments)
{
  const struct to_tile *x = arguments;
  shunt_csr_to_tile_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_tile_cuda(const struct shunt_csr *a,
                                    const struct shunt_tile_layout *layout,
                                    const struct shunt_tile *v, const struct shunt_device *d,
                                    shunt_stream s)
{
  (void)d;
  return KERNEL('T', s, to_tile, *a, *layout, *v);
}
size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                              const struct shunt_device *d)
{
  (void)p, (void)d;
  return (struct shunt_tile_shape){64, 64, 1};
}
bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                  const struct shunt_device *d, void *workspace, size_t bytes,
                                  shunt_stream s)
{
  (void)d, (void)workspace, (void)bytes;
  return KERNEL('t', s, tile, *p, *v);
}
shunt_status shunt_tile_spmm_proved_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                         const struct shunt_guard *r, const struct shunt_device *d,
                                         void *workspace, size_t bytes, shunt_stream s)
{
  (void)p, (void)v, (void)r, (void)d, (void)workspace, (void)bytes, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
bool shunt_tile_mixed_spmm_fits(const struct shunt_tile_shape *shape, const struct shunt_tile *v,
                                const struct shunt_device *d)
{
  return (void)shape, (void)v, (void)d, true;
}
struct shunt_tile_shape shunt_tile_mixed_spmm_unblocked(const struct shunt_spmm *p,
                                                        const struct shunt_tile *v,
                                                        const struct shunt_device *d)
{
  (void)v;
  return shunt_tile_spmm_shape(p, d);
}
