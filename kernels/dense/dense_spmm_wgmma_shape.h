/* dense_spmm_wgmma_shape.h: the shapes of dense_spmm_wgmma.cuh and dense_spmm_wide_wgmma.cuh, for the
   launchers and for tests.  */
#ifndef SHUNT_SPMM_DENSE_WGMMA_H
#define SHUNT_SPMM_DENSE_WGMMA_H

#include "kernels/guard/guard.h"

namespace shunt
{
namespace dense
{

// A tile of C has 64 rows and 64 columns, and `split` (1, 2) blocks share one; or 128 rows and
// `columns` (128, 256) columns (dense_spmm_wide_wgmma.cuh), where `split` is 1.
struct tile_shape {
  int columns, split;
};

// The best for a product; columns: 0 where none pays.
tile_shape choose_shape(const struct shunt_spmm *p, const struct shunt_device *d);

// shunt_dense_spmm_proved_cuda by a shape of the caller's choice; SHUNT_E_UNSUPPORTED where
// it cannot.
shunt_status run(const struct shunt_spmm *p, const struct shunt_dense *copy,
                 const struct shunt_guard *r, const tile_shape &s, const struct shunt_device *d,
                 shunt_stream stream);

} // namespace dense

namespace dense::wide
{

// The same by tiles of 128 rows and `columns` (128, 256) columns; p as dense::run checks it.
shunt_status run(const struct shunt_spmm *p, const struct shunt_dense *copy,
                 const struct shunt_guard *r, int columns, const struct shunt_device *d,
                 shunt_stream stream);

} // namespace dense::wide
} // namespace shunt
#endif
