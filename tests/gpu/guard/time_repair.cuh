// time_repair.cuh: what a repair costs, by graph replays: a proof that finds nothing, with A's
// arrays in L2 or not, and a product computed anew.
#pragma once
#include <memory>

#include "tests/gpu/guard/repair_output.cuh"

namespace harness
{

// Microseconds of a proof that finds nothing: `copies` of A's arrays in turn, so that 1
// reads what L2 still holds, and many read device memory.
inline double time_rest(Lab &lab, Output &o, int copies)
{
  const shunt_csr original = lab.a;
  const Buffer *from[3] = {&lab.offsets, &lab.columns, &lab.values};
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<shunt_csr> a(1, original);
  for (int k = 1; k < copies; k++) {
    void *at[3];
    for (int i = 0; i < 3; i++) {
      memory.emplace_back(new Buffer());
      cudaFree(memory.back()->device);
      CUDA_OK(cudaMalloc(&memory.back()->device, from[i]->host.size() + 512));
      at[i] = memory.back()->device;
      CUDA_OK(cudaMemcpy(at[i], from[i]->device, from[i]->host.size(), cudaMemcpyDeviceToDevice));
    }
    shunt_csr copy = original;
    copy.row_offsets = at[0];
    copy.columns = at[1];
    copy.values = at[2];
    a.push_back(copy);
  }
  o.reset();
  size_t turn = 0;
  double us = time_graph([&](cudaStream_t s) {
    lab.a = a[turn++ % a.size()];
    o.launch(s);
  });
  lab.a = original;
  if (!o.words_right()) check(false, "a proof that was timed found something");
  return us;
}

inline void time_proof(double density, shunt_type index)
{
  Lab lab(random_pattern(4096, 4096, density, 1, 4), 256, SHUNT_F16, index, 0, false);
  How how;
  how.out = SHUNT_F16;
  Output o(lab, how);
  double bytes =
      (double)(lab.offsets.host.size() + lab.columns.host.size() + lab.values.host.size());
  int copies = (int)(3e8 / bytes) + 1;
  printf("time repair_rests 4096x4096_%.2f_%s %6.1f MB  same A %7.2f us  fresh A %7.2f us  at 4.28 "
         "TB/s %6.2f us\n",
         1 - density, index == SHUNT_I32 ? "i32" : "i64", bytes / 1e6, time_rest(lab, o, 1),
         time_rest(lab, o, copies), bytes / 4.28e6);
}

// Without arrays to read, as after a direct product: what the launch itself costs.
inline void time_direct()
{
  Lab lab(random_pattern(4096, 4096, 0.01, 1, 4), 256, SHUNT_F16, SHUNT_I32, 0, false);
  How how;
  how.out = SHUNT_F16;
  how.asks_print = false;
  Output o(lab, how);
  printf("time repair_rests 4096x4096 direct %7.2f us\n", time_rest(lab, o, 1));
}

inline void time_needed(int64_t wait_cycles, const char *who)
{
  Lab lab(random_pattern(4096, 4096, 0.1, 1, 4), 256, SHUNT_F16, SHUNT_I32, 0, false);
  How how;
  how.out = SHUNT_F16;
  how.reasons = CHANGED;
  how.wait_cycles = wait_cycles;
  Output o(lab, how);
  CUDA_OK(cudaDeviceSynchronize());
  double us = time_graph([&](cudaStream_t s) { o.launch(s); }, 2);
  printf("time repair_runs 4096x4096_0.90_i32_N256 %s %10.1f us\n", who, us);
}

inline void time_repair()
{
  for (shunt_type index : {SHUNT_I32, SHUNT_I64})
    for (double density : {0.5, 0.3, 0.1, 0.05}) time_proof(density, index);
  time_direct();
  time_needed(SHUNT_GUARD_WAIT_CYCLES, "all blocks");
  time_needed(0, "last block");
}

} // namespace harness
