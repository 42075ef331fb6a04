// vector_packed_spmm_tf32.cu: SpMM over the `vector` format for f32, by TF32: checks and launch.
//
// The kernel: vector_packed_spmm_strips_tf32.cuh.
#include "kernels/common/spmm_operands.cuh"
#include "kernels/common/tensor_map.h"
#include "kernels/vector/vector_packed_spmm_launch.cuh"
#include "kernels/vector/vector_packed_spmm_strips_tf32.cuh"

namespace shunt
{
namespace vector
{

using wide = strips_shape<64, 2, 7, 4>;
using slim = strips_shape<32, 2, 14, 4>;

template <int Products, class Shape>
static cudaError_t launch_tile(const arguments &p, const CUtensorMap &map, cudaStream_t stream)
{
  return launch_strips<float, float, strip_group_tf32<Products, Shape>, Shape>(p, map, stream);
}

template <int Products>
static cudaError_t launch_products(const arguments &p, int tile, const CUtensorMap &map,
                                   cudaStream_t stream)
{
  return tile == 64 ? launch_tile<Products, wide>(p, map, stream)
                    : launch_tile<Products, slim>(p, map, stream);
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" bool shunt_vector_packed_spmm_tf32_takes(const struct shunt_spmm *p,
                                                    const struct shunt_device *d)
{
  return p->a.value_type == SHUNT_F32 && check(p, NULL) == SHUNT_OK &&
         d->compute_capability >= 90 && wide::kBytes <= d->shared_per_block &&
         slim::kBytes <= d->shared_per_block;
}

extern "C" shunt_status
shunt_vector_packed_spmm_tf32_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                   int products, int tile, const struct shunt_device *d,
                                   void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (!shunt_vector_packed_spmm_tf32_takes(p, d) || v->order != SHUNT_VECTOR_WINDOWED)
    return SHUNT_E_UNSUPPORTED;
  if ((products != 1 && products != 3) || (tile != 32 && tile != 64)) return SHUNT_E_ARGUMENT;

  const struct shunt_vector_shape shape = {SHUNT_VECTOR_BLOCK_ROWS, tile, 0, 0};
  struct shunt_dense b;
  arguments k;
  CUtensorMap map = {};
  s = shunt::place_b(p->b, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  s = fill_arguments(&k, p, v, &b, &shape);
  if (s != SHUNT_OK) return s;
  if (!shunt::make_tensor_map(&map, b, SHUNT_VECTOR_STRIP, 32)) return SHUNT_E_UNSUPPORTED;
  s = shunt::copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = products == 3 ? launch_products<3>(k, tile, map, stream)
                                      : launch_products<1>(k, tile, map, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
