// dense_spmm_wide_wgmma.cu: launch of dense_spmm_wide_wgmma.cuh.
#include "kernels/dense/dense_spmm_wgmma_shape.h"

#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/common/allow_shared.h"
#include "kernels/common/tensor_map.h"
#include "kernels/common/tensor_operand.h"
#include "kernels/dense/dense_spmm_wide_wgmma.cuh"

namespace shunt
{
namespace dense::wide
{
namespace
{

// All that a launch is told.
struct launch_arguments {
  arguments k;
  CUtensorMap d, b, c;
  csr_operands<float> a;
  guard::repair_args r;
  int blocks;
  cudaStream_t stream;
};

template <class T, int BMajor, class Shape> shunt_status launch(const launch_arguments &x)
{
  const auto kernel = &spmm_dense_wide<T, BMajor, Shape>;
  if (allow_shared<&spmm_dense_wide<T, BMajor, Shape>>(shared_bytes<Shape>) != cudaSuccess)
    return SHUNT_E_CUDA;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(x.blocks);
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = shared_bytes<Shape>;
  config.stream = x.stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, x.k, x.d, x.b, x.c, x.a, x.r) == cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}

arguments make_arguments(const struct shunt_spmm *p, int columns)
{
  arguments k = {};
  k.steps = static_cast<int>(shunt_div_up(p->a.cols, kDepth));
  k.down = static_cast<int>(shunt_div_up(p->c.rows, kRows));
  k.tiles_across = static_cast<int>(shunt_div_up(p->c.cols, columns));
  k.c = {p->c.values,
         p->c.rows,
         p->c.cols,
         p->c.row_stride,
         p->c.col_stride,
         make_scalar_arg<float>(p->alpha),
         p->c.type == SHUNT_F32,
         on_16_bytes(p->c)};
  return k;
}

template <class Shape>
shunt_status launch_shape(const struct shunt_spmm *p, const struct shunt_dense *copy,
                          const struct shunt_guard *r, const struct shunt_device *d,
                          cudaStream_t stream)
{
  const struct shunt_dense b = as_stored(p->b);
  launch_arguments x = {};
  x.k = make_arguments(p, Shape::kColumns);
  x.k.trusted = !r->expected;
  const int64_t tiles = static_cast<int64_t>(x.k.down) * x.k.tiles_across;
  if (tiles > INT32_MAX / 2 || d->shared_per_block < shared_bytes<Shape>)
    return SHUNT_E_UNSUPPORTED;
  x.k.tiles = static_cast<int>(tiles);
  x.blocks = d->multiprocessors; // those that no tile is left for hash only
  x.stream = stream;
  const shunt_status s = guard::make_repair_args(p, r, x.blocks, &x.r);
  if (s != SHUNT_OK) return s;
  if (!on_16_bytes(*copy) || !on_16_bytes(b) || !make_tensor_map(&x.d, *copy, kRows, 64) ||
      !make_tensor_map(&x.b, b, 64, 64))
    return SHUNT_E_UNSUPPORTED;
  // Rows that end within 16 bytes the engine would not cut off right (seen at 33 columns).
  x.k.boxes = x.k.c.aligned && !x.k.c.wide_sums && p->c.cols % 8 == 0 &&
              make_tensor_map(&x.c, p->c, kStoreRows, kStoreColumns);
  x.a = make_csr_operands<float>(p);
  const bool row_major = p->b.col_stride == 1;
  if (p->a.value_type == SHUNT_F16)
    return row_major ? launch<__half, 1, Shape>(x) : launch<__half, 0, Shape>(x);
  return row_major ? launch<__nv_bfloat16, 1, Shape>(x) : launch<__nv_bfloat16, 0, Shape>(x);
}

} // namespace

shunt_status run(const struct shunt_spmm *p, const struct shunt_dense *copy,
                 const struct shunt_guard *r, int columns, const struct shunt_device *d,
                 shunt_stream stream)
{
  if (columns == 64) return launch_shape<shape_64>(p, copy, r, d, stream);
  if (columns == 128) return launch_shape<shape_128>(p, copy, r, d, stream);
  return columns == 256 ? launch_shape<shape_256>(p, copy, r, d, stream) : SHUNT_E_UNSUPPORTED;
}

} // namespace dense::wide
} // namespace shunt
#endif
