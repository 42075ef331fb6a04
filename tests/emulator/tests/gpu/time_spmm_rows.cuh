// time_spmm_rows.cuh: tests/gpu/time_spmm_rows.cuh for the emulator, which has no time to tell.
#pragma once
#include "tests/gpu/harness.cuh"

namespace harness
{

inline bool time_spmm_rows(int, char **, bool)
{
  skip("times: the emulator has none");
  return true;
}

} // namespace harness
