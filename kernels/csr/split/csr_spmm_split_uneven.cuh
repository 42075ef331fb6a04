// csr_spmm_split_uneven.cuh: the split kernel's shape for f32 layers whose rows differ in length
// (csr_layers.h tells which gains, and by what estimate).
#pragma once
#include "kernels/csr/csr_layers.h"
#include "kernels/csr/split/csr_spmm_split_shape.cuh"

namespace shunt
{
namespace csr
{

// V: elements of B in one load.
inline bool is_uneven(const split_matrix &m, int64_t n, int V, int size)
{
  static_assert(kMostLimit == 1 << 24, "shunt_csr_is_uneven() has it, too");
  return m.layer && V == SHUNT_CSR_UNEVEN_COLUMNS && size == 4 &&
         shunt_csr_is_uneven(m.rows, m.nonzeros, m.longest, n);
}

inline split_shape choose_split_uneven(const split_matrix &m, int64_t n, int V,
                                       const shunt_device *d)
{
  const shunt_csr_uneven *best = shunt_csr_choose_uneven(m.rows, m.nonzeros, m.longest, n);
  const int64_t limit = shunt_csr_uneven_limit(best, m.rows, m.nonzeros);
  const int long_lanes_log2 = 3;
  const int64_t long_slices = (n + (V << long_lanes_log2) - 1) / (V << long_lanes_log2);
  const int64_t each = m.nonzeros / (kBlocksPerSm * d->multiprocessors) * long_slices;
  const int64_t window = each < 1024 ? 1024 : each;
  split_shape s = {};
  s.threads = best->limit ? kThreads : kThreads / 2;
  s.chunk = kChunk;
  s.lanes_log2 = best->lanes_log2;
  s.team_log2 = 5;
  s.long_lanes_log2 = long_lanes_log2;
  s.limit = (int)(limit < kMostLimit ? limit : kMostLimit);
  s.window = (int)(window < m.nonzeros ? window : m.nonzeros);
  s.search = best->limit != 0;
  s.whole = true;
  return s;
}

} // namespace csr
} // namespace shunt
