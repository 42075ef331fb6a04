// sddmm_twin.cuh: the csr route's SDDMM beside its twin, over all patterns, for types of which float64
// is no reference.  Small patterns go to rows; one that is dense, with long columns, is cut into
// panels.
#pragma once
#include "kernels/csr/csr_kernels.h"
#include "tests/gpu/csr/sddmm_operands.cuh"
#include "tests/gpu/csr/sddmm_patterns.cuh"

namespace harness
{

// The launcher computes c.values, its twin *want, from the same operands; false: one of them
// refused.  On the host are the twin's scalars.
inline bool run_with_twin(const Matrix &a, const Matrix &b, Sparse &c, const shunt_sddmm &q,
                          const shunt_sddmm &on_host, bool alike, const shunt_device &d,
                          std::vector<char> *want)
{
  *want = c.values.host;
  shunt_sddmm twin = on_host;
  twin.a = a.host;
  twin.b = b.host;
  twin.c = c.device;
  twin.c.row_offsets = c.offsets.host.data();
  twin.c.columns = c.columns.host.data();
  twin.c.values = want->data();
  const size_t bytes = shunt_csr_sddmm_workspace(&q, &d);
  Buffer room(bytes);
  const shunt_status status =
      shunt_csr_sddmm_cuda(&q, {alike, false}, &d, bytes ? room.device : nullptr, bytes, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  if (status != SHUNT_OK || shunt_csr_sddmm_host(&twin) != SHUNT_OK) return false;
  c.values.download();
  return true;
}

// Every pattern, inner dimension and layout: right(pattern, k, turn) says whether a case is.
template <class Right>
void test_patterns(const char *what, const std::vector<int64_t> &inner, Right right)
{
  int turn = 0;
  Sample sample(7);
  for (const Named &n : patterns()) {
    int wrong = 0, cases = 0;
    for (int64_t k : inner)
      for (int layout = 0; layout < 4; layout++, turn++) {
        if (left_out() || sample.leaves_out()) continue;
        wrong += !right(n.pattern, k, turn);
        cases++;
      }
    check(!wrong, "%s, %s: %d cases", what, n.name, cases);
  }
}

// Columns of so many bytes: one slab, and several.
template <class Right>
void test_panels(const char *what, const std::vector<int64_t> &bytes, shunt_device d, Right right)
{
  d.multiprocessors = sized(d.multiprocessors, 4);
  const Pattern p = random_pattern(sized(1003, 203), sized(900, 300), 0.3, 1, 21);
  for (int64_t k : bytes) check(right(p, k, d), "%s, panels, columns of %d bytes", what, (int)k);
}

} // namespace harness
