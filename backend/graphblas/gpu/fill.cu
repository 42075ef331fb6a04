// fill.cu: see fill.h.  A grid of fixed size strides over the memory.
#include "backend/graphblas/gpu/fill.h"

namespace
{

template <class T> __global__ void fill(T *to, int64_t count, T value)
{
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = value;
}

template <class T> shunt_status launch(void *to, int64_t count, double value, shunt_stream stream)
{
  const int64_t blocks = (count + 255) / 256;
  fill<T><<<(unsigned)(blocks < 2048 ? blocks : 2048), 256, 0, stream>>>(static_cast<T *>(to),
                                                                         count, (T)value);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace

extern "C" shunt_status grb_gpu_fill(void *to, int64_t count, shunt_type type, double value,
                                     shunt_stream stream)
{
  if (count <= 0) return SHUNT_OK;
  if (type == SHUNT_F32) return launch<float>(to, count, value, stream);
  if (type == SHUNT_F64) return launch<double>(to, count, value, stream);
  return SHUNT_E_UNSUPPORTED;
}
