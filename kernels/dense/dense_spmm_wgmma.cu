// dense_spmm_wgmma.cu: checks and launch of dense_spmm_wgmma.cuh.
#include "kernels/dense/dense_kernels.h"
#include "kernels/dense/dense_spmm_wgmma_shape.h"

#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include <algorithm>

#include "kernels/common/allow_shared.h"
#include "kernels/common/tensor_map.h"
#include "kernels/common/tensor_operand.h"
#include "kernels/dense/dense_spmm_wgmma.cuh"

namespace shunt
{
namespace dense
{

static shunt_status check(const struct shunt_spmm *p, const struct shunt_dense *copy,
                          const struct shunt_device *d)
{
  const shunt_type t = p->a.value_type;
  if (d->compute_capability != 90 || shared_bytes > d->shared_per_block) return SHUNT_E_UNSUPPORTED;
  if (t != SHUNT_F16 && t != SHUNT_BF16) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->beta.device || p->beta.host != 0) return SHUNT_E_UNSUPPORTED;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols ||
      copy->rows != p->a.rows || copy->cols != p->a.cols || copy->type != t)
    return SHUNT_E_ARGUMENT;
  const int64_t most = INT32_MAX - 1024; // of C in the kernel's coordinates
  if (p->a.rows < 1 || p->a.cols < 1 || p->c.cols < 1) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows > most || p->a.cols > most || p->c.cols > most) return SHUNT_E_UNSUPPORTED;
  return copy->col_stride == 1 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static arguments make_arguments(const struct shunt_spmm *p, const struct shunt_dense_shape &s,
                                bool trusted)
{
  arguments k = {};
  k.steps = (int)shunt_div_up(p->a.cols, kDepth);
  k.tiles_across = (int)shunt_div_up(p->c.cols, s.columns);
  k.tiles = (int)std::min<int64_t>(shunt_div_up(p->c.rows, kRows) * k.tiles_across, INT32_MAX);
  k.split = s.split;
  k.c = {p->c.values,
         p->c.rows,
         p->c.cols,
         p->c.row_stride,
         p->c.col_stride,
         make_scalar_arg<float>(p->alpha),
         p->c.type == SHUNT_F32,
         on_16_bytes(p->c)};
  k.trusted = trusted;
  return k;
}

struct maps {
  CUtensorMap d, b;
};

// How many blocks there are, and threads of each.
struct extent {
  int clusters, threads;
};

template <class T, int BMajor>
static shunt_status launch(const arguments &k, const maps &m, const csr_operands<float> &a,
                           const guard::repair_args &r, const extent &e, cudaStream_t stream)
{
  const auto kernel = &spmm_dense_wgmma<T, BMajor>;
  if (allow_shared<&spmm_dense_wgmma<T, BMajor>>(shared_bytes) != cudaSuccess) return SHUNT_E_CUDA;
  cudaLaunchAttribute with[2] = {};
  with[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  with[0].val.programmaticStreamSerializationAllowed = 1;
  with[1].id = cudaLaunchAttributeClusterDimension;
  with[1].val.clusterDim.x = k.split;
  with[1].val.clusterDim.y = with[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(e.clusters * k.split);
  config.blockDim = dim3(e.threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = with;
  config.numAttrs = k.split > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, k, m.d, m.b, a, r) == cudaSuccess ? SHUNT_OK
                                                                               : SHUNT_E_CUDA;
}

template <class T>
static shunt_status launch_type(const arguments &k, bool b_row_major, const maps &m,
                                const csr_operands<float> &a, const guard::repair_args &r,
                                const extent &e, cudaStream_t stream)
{
  return b_row_major ? launch<T, 1>(k, m, a, r, e, stream) : launch<T, 0>(k, m, a, r, e, stream);
}

// One tile a cluster, all at once.
static bool shape_fits(const struct shunt_dense_shape &s, const arguments &k,
                       const struct shunt_device *d)
{
  return s.rows == kRows && s.columns == kColumns &&
         (s.split == 1 || s.split == 2 || s.split == 4) && s.split <= k.steps &&
         k.tiles <= shunt_dense_tiles_at_once(s.split, d);
}

// Those without a tile hash only.
static extent make_extent(const struct shunt_spmm *p, const arguments &k,
                          const struct shunt_device *d)
{
  constexpr double much = 48 * 1024; // bytes that a block hashes
  if (k.trusted) return {k.tiles, kFewThreads};
  const int clusters = std::max(1, (int)shunt_dense_tiles_at_once(k.split, d));
  const double entry =
      (double)(shunt_type_size(p->a.index_type) + shunt_type_size(p->a.value_type));
  const bool few = (double)p->a.nnz * entry <= much * clusters * k.split;
  return {clusters, few ? kFewThreads : kManyThreads};
}

static shunt_status run(const struct shunt_spmm *p, const struct shunt_dense *copy,
                        const struct shunt_dense_shape &s, const struct shunt_guard *r,
                        const struct shunt_device *d, shunt_stream stream)
{
  shunt_status status = check(p, copy, d);
  if (status != SHUNT_OK) return status;
  if (s.columns <= 0 || s.split <= 0) return SHUNT_E_UNSUPPORTED;
  if (s.rows > kRows)
    return s.rows == wide::kRows && s.split == 1 ? wide::run(p, copy, r, s.columns, d, stream)
                                                 : SHUNT_E_UNSUPPORTED;
  const arguments k = make_arguments(p, s, !r->expected);
  if (!shape_fits(s, k, d)) return SHUNT_E_UNSUPPORTED;
  const extent e = make_extent(p, k, d);
  guard::repair_args repair;
  status = guard::make_repair_args(p, r, e.clusters * s.split, &repair);
  if (status != SHUNT_OK) return status;
  const struct shunt_dense b = as_stored(p->b);
  maps m;
  if (!on_16_bytes(*copy) || !on_16_bytes(b) || !make_tensor_map(&m.d, *copy, 64, 64) ||
      !make_tensor_map(&m.b, b, 64, 64))
    return SHUNT_E_UNSUPPORTED;
  const csr_operands<float> a = make_csr_operands<float>(p);
  const bool row_major = p->b.col_stride == 1;
  return p->a.value_type == SHUNT_F16
             ? launch_type<__half>(k, row_major, m, a, repair, e, stream)
             : launch_type<__nv_bfloat16>(k, row_major, m, a, repair, e, stream);
}

static bool takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const shunt_type t = p->a.value_type;
  return d->compute_capability == 90 && (t == SHUNT_F16 || t == SHUNT_BF16) && !p->beta.device &&
         p->beta.host == 0;
}

} // namespace dense
} // namespace shunt
#else
namespace shunt
{
namespace dense
{

static shunt_status run(const struct shunt_spmm *, const struct shunt_dense *,
                        const struct shunt_dense_shape &, const struct shunt_guard *,
                        const struct shunt_device *, shunt_stream)
{
  return SHUNT_E_UNSUPPORTED;
}
static bool takes(const struct shunt_spmm *, const struct shunt_device *)
{
  return false;
}

} // namespace dense
} // namespace shunt
#endif

extern "C" shunt_status
shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p, const struct shunt_dense *copy,
                             const struct shunt_dense_shape *shape, const struct shunt_guard *r,
                             const struct shunt_device *d, shunt_stream stream)
{
  return shunt::dense::run(p, copy, *shape, r, d, stream);
}

extern "C" bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p,
                                              const struct shunt_device *d)
{
  return shunt::dense::takes(p, d);
}
