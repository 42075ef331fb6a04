// time_csr_spmm.cuh: tests/gpu/csr/time_csr_spmm.cuh for the emulator, which has no time to tell.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

inline bool time_csr_spmm(int, char **, bool)
{
  skip("times: the emulator has none");
  return true;
}

} // namespace harness
