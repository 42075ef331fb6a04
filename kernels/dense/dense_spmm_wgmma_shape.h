/* dense_spmm_wgmma_shape.h: what dense_spmm_wgmma.cu has of dense_spmm_wide_wgmma.cu. */
#ifndef SHUNT_DENSE_SPMM_WGMMA_SHAPE_H
#define SHUNT_DENSE_SPMM_WGMMA_SHAPE_H

#include "kernels/guard/guard.h"

namespace shunt
{
namespace dense::wide
{

constexpr int kRows = 128; // of a tile

// shunt_dense_spmm_proved_cuda by such tiles of `columns` (64, 128, 256) columns, checked before.
shunt_status run(const struct shunt_spmm *p, const struct shunt_dense *copy,
                 const struct shunt_guard *r, int columns, const struct shunt_device *d,
                 shunt_stream stream);

} // namespace dense::wide
} // namespace shunt
#endif
