// tensor_map.cu: see tensor_map.h.
#include "kernels/common/tensor_map.h"

namespace shunt
{

using encoder = decltype(&cuTensorMapEncodeTiled);

// Found once for the process; two threads may look at the same time and find the same.
static encoder find_encoder()
{
  static void *found;
  void *f = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
  if (f) return reinterpret_cast<encoder>(f);

  cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
  cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000,
                                                   cudaEnableDefault, &status);
#else
  cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &status);
#endif
  if (e != cudaSuccess || status != cudaDriverEntryPointSuccess) return nullptr;
  __atomic_store_n(&found, f, __ATOMIC_RELEASE);
  return reinterpret_cast<encoder>(f);
}

bool make_tensor_map(CUtensorMap *map, const struct shunt_dense &m, int box_rows, int box_cols)
{
  encoder encode = find_encoder();
  if (!encode) return false;
  const CUtensorMapDataType type = m.type == SHUNT_I8     ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : m.type == SHUNT_F32  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                   : m.type == SHUNT_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(m.cols), static_cast<cuuint64_t>(m.rows)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(m.row_stride) * shunt_type_size(m.type)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  const size_t row = box_cols * shunt_type_size(m.type);
  const CUtensorMapSwizzle swizzle = row == 32   ? CU_TENSOR_MAP_SWIZZLE_32B
                                     : row == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                 : CU_TENSOR_MAP_SWIZZLE_128B;
  return encode(map, type, 2, m.values, sizes, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

} // namespace shunt
