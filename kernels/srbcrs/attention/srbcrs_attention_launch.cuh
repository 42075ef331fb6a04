// srbcrs_attention_launch.cuh: the launch of attention of integers, a warp for a group.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/srbcrs/attention/srbcrs_attention.cuh"

namespace shunt
{
namespace srbcrs
{
namespace attention
{

struct real_arguments {
  arguments a;
  struct shunt_srbcrs_real_v v; // no values: those of `a`, of e4m3
};

// kept: scores stay in shared memory (srbcrs_attention_real.cu).
shunt_status launch_real(const real_arguments &k, bool kept, const struct shunt_device *d,
                         cudaStream_t stream);

// What a block may have without asking.
constexpr int kSharedUnasked = 48 << 10;

// longest: strides of a group whose scores are kept.
template <class Arguments>
inline shunt_status launch_groups(void (*kernel)(Arguments), const Arguments &k, int64_t groups,
                                  int64_t longest, const scaled_store &store,
                                  const struct shunt_device *d, cudaStream_t stream)
{
  const int shared = static_cast<int>(shunt_srbcrs_attention_shared(longest));
  const int64_t blocks = (groups + kAttentionWarps - 1) / kAttentionWarps;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  if (shared > kSharedUnasked &&
      cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess)
    return SHUNT_E_CUDA;
  const dim3 grid(static_cast<unsigned>(blocks), store.problems());
  return launch_early_with(shared, kernel, grid, dim3(kAttentionWarps * 32), d, stream, k);
}

} // namespace attention
} // namespace srbcrs
} // namespace shunt
