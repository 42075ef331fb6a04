// harness.cuh: what every GPU test needs: TAP-like lines, random matrices,
// device copies, float64 references and timing by CUDA-graph replays.
//
// A test program prints "ok - text" / "not ok - text" / "skip - text" per check and
// ends with "N passed, N failed, N skipped"; its exit status is 0 when nothing
// failed.  With --time it prints timing lines ("time ...") after the checks.
#pragma once
#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "kernels/common/device.h"
#include "tests/gpu/common/sizes.cuh"
#include "tests/splitmix64.h"
#include "tests/unit/check.h"

namespace harness
{

inline void skip(const char *why)
{
  check_skip("%s", why);
}

inline int finish()
{
  return check_finish();
}

#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    cudaError_t e_ = (call);                                                                       \
    if (e_ != cudaSuccess) {                                                                       \
      printf("not ok - %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));        \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() { return splitmix64(&state); }
  double uniform() { return (double)(next() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return (int64_t)(next() % (uint64_t)n); }
  double value() { return 2 * uniform() - 1; }
};

// A pattern on the host: base 0, 64-bit indices.
struct Pattern {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offsets{0}, columns;
  int64_t nnz() const { return (int64_t)columns.size(); }
};

// Random rows; `group` aligned rows share one column list (1: unstructured).
inline Pattern random_pattern(int64_t rows, int64_t cols, double density, int group, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < rows; i++) {
    if (i % group == 0) {
      list.clear();
      for (int64_t j = 0; j < cols; j++)
        if (r.uniform() < density) list.push_back(j);
    }
    p.columns.insert(p.columns.end(), list.begin(), list.end());
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// Skewed rows: lengths follow a power law, so a few rows hold most entries.
inline Pattern skewed_pattern(int64_t rows, int64_t cols, double mean, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    double u = r.uniform();
    int64_t length = (int64_t)(mean * 0.3 / pow(u + 1e-4, 0.7));
    length = std::min(length, cols);
    std::vector<int64_t> list;
    for (int64_t k = 0; k < length; k++) list.push_back(r.below(cols));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    p.columns.insert(p.columns.end(), list.begin(), list.end());
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// ---- element conversion ----------------------------------------------------
inline void store(void *to, int64_t i, shunt_type t, double v)
{
  switch (t) {
  case SHUNT_F16: ((__half *)to)[i] = __float2half_rn((float)v); break;
  case SHUNT_BF16: ((__nv_bfloat16 *)to)[i] = __float2bfloat16_rn((float)v); break;
  case SHUNT_F32: ((float *)to)[i] = (float)v; break;
  case SHUNT_F64: ((double *)to)[i] = v; break;
  case SHUNT_I8: ((int8_t *)to)[i] = (int8_t)v; break;
  case SHUNT_I32: ((int32_t *)to)[i] = (int32_t)v; break;
  default: ((int64_t *)to)[i] = (int64_t)v; break;
  }
}
inline double load(const void *from, int64_t i, shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return __half2float(((const __half *)from)[i]);
  case SHUNT_BF16: return __bfloat162float(((const __nv_bfloat16 *)from)[i]);
  case SHUNT_F32: return ((const float *)from)[i];
  case SHUNT_F64: return ((const double *)from)[i];
  case SHUNT_I8: return ((const int8_t *)from)[i];
  case SHUNT_I32: return ((const int32_t *)from)[i];
  default: return (double)((const int64_t *)from)[i];
  }
}
// Largest error allowed for a sum whose terms have absolute sum `scale`, of
// `terms` products, accumulated in `compute` and rounded once to `t`.
inline double tolerance(shunt_type t, shunt_type compute, double scale, double result,
                        int64_t terms)
{
  double eps_acc = compute == SHUNT_F64 ? 0x1p-53 : compute == SHUNT_I32 ? 0 : 0x1p-24;
  double eps_out = t == SHUNT_F16    ? 0x1p-11
                   : t == SHUNT_BF16 ? 0x1p-8
                   : t == SHUNT_F32  ? 0x1p-24
                   : t == SHUNT_F64  ? 0x1p-53
                                     : 0;
  double tiny = t == SHUNT_F16 ? 0x1p-25 : 0;
  return eps_out * fabs(result) * 1.01 + tiny + eps_acc * scale * (4 + sqrt((double)terms) * 2);
}

// NaN is as good as NaN, an infinity only as itself.
inline bool same_value(double got, double want, double allowed)
{
  if (isnan(want)) return isnan(got);
  if (isinf(want)) return got == want;
  return fabs(got - want) <= allowed;
}

// ---- buffers in both memories ----------------------------------------------
struct Buffer {
  std::vector<char> host;
  void *device = nullptr;
  // In the emulator next to nothing is behind it, so that a read beyond the end is found.
  static constexpr size_t behind = sized(512, 1);
  explicit Buffer(size_t bytes = 0) : host(bytes)
  {
    CUDA_OK(cudaMalloc(&device, bytes + behind));
    CUDA_OK(cudaMemset(device, 0xff, bytes + behind));
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { cudaFree(device); }
  void upload() { CUDA_OK(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice)); }
  void download() { CUDA_OK(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost)); }
};

inline shunt_device this_device()
{
  cudaDeviceProp p;
  CUDA_OK(cudaGetDeviceProperties(&p, 0));
  return shunt_device{p.multiProcessorCount, p.major * 10 + p.minor, (int)p.sharedMemPerBlockOptin,
                      p.l2CacheSize};
}

// ---- timing ------------------------------------------------------------------
// Median over 7 of the mean microseconds of `replays` graph replays of `enqueue(stream)`.
template <class F> double time_graph(F enqueue, int replays = 20)
{
  cudaStream_t s;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int i = 0; i < 3; i++) enqueue(s);
  CUDA_OK(cudaStreamSynchronize(s));
  cudaGraph_t g;
  cudaGraphExec_t x;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < replays; i++) enqueue(s);
  CUDA_OK(cudaStreamEndCapture(s, &g));
  CUDA_OK(cudaGraphInstantiate(&x, g, 0));
  cudaEvent_t a, b;
  CUDA_OK(cudaEventCreate(&a));
  CUDA_OK(cudaEventCreate(&b));
  std::vector<float> t;
  for (int i = 0; i < 8; i++) {
    CUDA_OK(cudaEventRecord(a, s));
    CUDA_OK(cudaGraphLaunch(x, s));
    CUDA_OK(cudaEventRecord(b, s));
    CUDA_OK(cudaStreamSynchronize(s));
    float ms;
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    if (i) t.push_back(ms * 1000 / replays);
  }
  std::sort(t.begin(), t.end());
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
  cudaEventDestroy(a);
  cudaEventDestroy(b);
  cudaStreamDestroy(s);
  return t[t.size() / 2];
}

} // namespace harness
