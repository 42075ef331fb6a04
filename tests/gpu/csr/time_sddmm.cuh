// time_sddmm.cuh: times of the SDDMM kernels, of sampling a dense product and of a
// transposition, by graph replays: "time NAME type K sparsity us".
#pragma once
#include "kernels/common/dense_copy.h"
#include "tests/gpu/csr/sddmm_kernels.cuh"
#include "tests/gpu/csr/sddmm_operands.cuh"

namespace harness
{

inline void time_kernels(const shunt_device &d, shunt_type t, int64_t k, double sparsity, int group)
{
  const int64_t n = 4096;
  Pattern p = random_pattern(n, n, 1 - sparsity, group, 42);
  Setup s = {t, t, k, true, false, 0, 0, SHUNT_I32, 0, 1, 0, false};
  Random r(1);
  Matrix a(n, k, true, 0, 0, t), b(k, n, false, 0, 0, t), product(n, n, true, 0, 0, t);
  Sparse c(p, s.index, s.base, s.out, s.beta, r);
  CUDA_OK(cudaMemset(a.device.values, 0x3c, a.bytes.host.size()));
  CUDA_OK(cudaMemset(b.device.values, 0x3c, b.bytes.host.size()));
  CUDA_OK(cudaMemset(product.device.values, 0x3c, product.bytes.host.size()));
  shunt_sddmm task = {a.device, b.device, c.device, {nullptr, 1}, {nullptr, 0}, compute_of(t)};
  const char *shape = group == 8 ? "8x1" : "1x1";
  for (const Kernel *kernel : {&CSR, &VECTOR}) {
    size_t bytes = kernel->workspace(&task, &d);
    Buffer room(bytes);
    printf("time %s-%s %s %d %g %.2f\n", kernel->name, shape, type_name(t), (int)k, sparsity,
           time_graph([&](cudaStream_t stream) {
             kernel->launch(&task, &d, room.device, bytes, (shunt_stream)stream);
           }));
  }
  printf("time sample-%s %s %d %g %.2f\n", shape, type_name(t), (int)k, sparsity,
         time_graph([&](cudaStream_t stream) {
           shunt_dense_sddmm_sample_cuda(&task, &product.device, 1, &d, (shunt_stream)stream);
         }));
  fflush(stdout);
}

inline void time_copy(const shunt_device &d, shunt_type t)
{
  Matrix from(1024, 4096, true, 0, 0, t), to(1024, 4096, false, 0, 0, t);
  printf("time transpose %s 1024 0 %.2f\n", type_name(t), time_graph([&](cudaStream_t stream) {
           shunt_dense_copy_cuda(&from.device, &to.device, &d, (shunt_stream)stream);
         }));
}

inline void time_sddmm(const shunt_device &d)
{
  for (int64_t k : {256, 1024})
    for (shunt_type t : {SHUNT_F16, SHUNT_F32})
      for (int group : {8, 1})
        for (double sparsity : {0.9, 0.98}) time_kernels(d, t, k, sparsity, group);
  time_copy(d, SHUNT_F16);
  time_copy(d, SHUNT_F32);
}

} // namespace harness
