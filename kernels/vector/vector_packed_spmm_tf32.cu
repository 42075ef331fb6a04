// vector_packed_spmm_tf32.cu: SpMM over the `vector` format for f32, by TF32: choice of a tile, launch.
//
// The kernel: vector_packed_spmm_strips_tf32.cuh.
#include <math.h>

#include "kernels/common/dense_copy.h"
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

// As strips_us of vector_packed_spmm.cu; fitted to 16 products of random vectors, 4 % off.
static double strips_us(const struct shunt_spmm *p, double vectors, int products, int tile,
                        const struct shunt_device *d)
{
  static const struct {
    double strip, full; // to bring a strip; with every vector there
  } fit[2][2] = {{{0.347, 5.85}, {0.31, 4.28}}, {{0.53, 10.4}, {0.374, 6.6}}};
  const int64_t rows = 32 * SHUNT_VECTOR_ROWS, n = p->b.cols;
  const int64_t blocks = (p->a.rows + rows - 1) / rows * ((n + tile - 1) / tile);
  const int64_t rounds = (blocks + d->multiprocessors - 1) / d->multiprocessors;
  const double groups = ceil(static_cast<double>(p->a.rows) / SHUNT_VECTOR_ROWS);
  const double strips = ceil(static_cast<double>(p->a.cols) / SHUNT_VECTOR_STRIP);
  const double full = fmin(1, vectors / (groups * strips * SHUNT_VECTOR_STRIP));
  const auto &f = fit[products == 3][tile == 32];
  return static_cast<double>(rounds) * (6 + strips * (f.strip + full * f.full));
}

static int best_tile(const struct shunt_spmm *p, double vectors, int products,
                     const struct shunt_device *d)
{
  return strips_us(p, vectors, products, 64, d) <= strips_us(p, vectors, products, 32, d) ? 64 : 32;
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

extern "C" double shunt_vector_packed_spmm_tf32_us(const struct shunt_spmm *p, double vectors,
                                                   int products, const struct shunt_device *d)
{
  return strips_us(p, vectors, products, best_tile(p, vectors, products, d), d);
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
  if ((products != 1 && products != 3) || (tile != 0 && tile != 32 && tile != 64))
    return SHUNT_E_ARGUMENT;
  const double vectors = static_cast<double>(p->a.nnz) / (v->height < 8 ? v->height : 8);
  if (tile == 0) tile = best_tile(p, vectors, products, d);

  const struct shunt_vector_shape shape = {256, tile, 0, 0};
  struct shunt_dense b;
  arguments k;
  CUtensorMap map = {};
  s = place_b(p, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  s = fill_arguments(&k, p, v, &b, &shape);
  if (s != SHUNT_OK) return s;
  if (!shunt::make_tensor_map(&map, b, SHUNT_VECTOR_STRIP, 32)) return SHUNT_E_UNSUPPORTED;
  if (b.values != p->b.values) {
    s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
    if (s != SHUNT_OK) return s;
  }
  const cudaError_t e = products == 3 ? launch_products<3>(k, tile, map, stream)
                                      : launch_products<1>(k, tile, map, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
