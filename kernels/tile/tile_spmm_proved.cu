// tile_spmm_proved.cu: launch of tile_spmm_proved.cuh, merged tiles with their proof inside.
#include "kernels/guard/proof_inside_launch.cuh"
#include "kernels/tile/tile_spmm_launch.cuh"
#include "kernels/tile/tile_spmm_proved.cuh"

namespace shunt
{
namespace tile
{

template <class T, class Out, int Split>
static cudaError_t launch_proved(const arguments &p, guard::proof f, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  constexpr int kWarps = gather_warps(Split), kUnits = kWarps / Split;
  const int64_t units = p.blocks * static_cast<int64_t>((p.n + kGatherTile - 1) / kGatherTile);
  if (units > INT32_MAX) return cudaErrorNotSupported;
  f.pieces = static_cast<int>((units + kUnits - 1) / kUnits);
  return guard::launch_proof<&spmm_gather_proved<T, Out, Split>>(
      proved_team<Split>::kThreads, gather_bytes(Split), proved_blocks(Split), p, f, d, stream);
}

template <class T, class Out>
static cudaError_t launch_proved_split(const arguments &p, const guard::proof &f,
                                       const struct shunt_device *d, cudaStream_t stream)
{
  switch (p.split) {
  case 1: return launch_proved<T, Out, 1>(p, f, d, stream);
  case 2: return launch_proved<T, Out, 2>(p, f, d, stream);
  case 4: return launch_proved<T, Out, 4>(p, f, d, stream);
  default: return launch_proved<T, Out, 8>(p, f, d, stream);
  }
}

template <class T>
static cudaError_t launch_proved_type(const arguments &p, const guard::proof &f, shunt_type out,
                                      const struct shunt_device *d, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_proved_split<T, float>(p, f, d, stream)
                          : launch_proved_split<T, T>(p, f, d, stream);
}

} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" shunt_status shunt_tile_spmm_proved_cuda(const struct shunt_spmm *p,
                                                    const struct shunt_tile *v,
                                                    const struct shunt_guard *r,
                                                    const struct shunt_device *d, void *workspace,
                                                    size_t workspace_bytes, shunt_stream stream)
{
  struct shunt_spmm product = *p;
  shunt::guard::proof f = {};
  const int split = shunt_tile_spmm_shape(p, d).split;
  arguments k;
  product.only_if = nullptr;
  if (p->beta.device || p->beta.host != 0 || !v->sparse.gather) return SHUNT_E_UNSUPPORTED;
  shunt_status s = shunt::guard::make_proof(p, r, &f);
  if (s == SHUNT_OK) s = prepare(&product, v, split, d, workspace, workspace_bytes, stream, &k);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_proved_type<__half>(k, f, p->c.type, d, stream)
                            : launch_proved_type<__nv_bfloat16>(k, f, p->c.type, d, stream);
  return e == cudaSuccess             ? SHUNT_OK
         : e == cudaErrorNotSupported ? SHUNT_E_UNSUPPORTED
                                      : SHUNT_E_CUDA;
}
