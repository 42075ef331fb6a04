// repair_args.cuh: what every kernel is told that proves, in its own launch, that a packed copy
// still stands for A, and repairs C where it does not (struct shunt_guard; agreement.cuh says how
// its blocks go about it).  Launchers of all formats make it here; beside it the kernel takes A, B
// and C as the caller has them, csr_operands.
#pragma once
#include "kernels/common/csr_operands.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/guard/guard.h"
#include "kernels/guard/probe.cuh"
#include "kernels/guard/words.cuh"

namespace shunt
{
namespace guard
{

struct repair_args {
  hash_job arrays;
  probe_args probe;
  const shunt_fingerprint *expected;
  word_table table;
  uint32_t *repaired, *changed, *nonfinite;
  int64_t wait_cycles;
  int helpers;   // blocks [0, helpers) wait to help
  int64_t piece; // strips (row_by_row.cuh) that a warp takes at a time
  enum shunt_guard_start start;
};

// Everything but the probe.  SHUNT_OK, or what is wrong with r or p's A.
shunt_status make_repair_args(const struct shunt_spmm *p, const struct shunt_guard *r, int helpers,
                              repair_args *to);

} // namespace guard
} // namespace shunt
