// csr_spmm_split_uneven.cuh: the split kernel's shape for f32 layers whose rows differ in length.
//
// Rows of one length are at the same columns at the same time, so L1 has much of what they gather.
// Rows that differ are not: narrow slices of C, of which L1 holds more rows of B, gain more than A
// loses that is read again for each.  Of a few shapes that one is taken which is estimated to end
// first:
//
//   us = start + gather x nonzeros x n x 4 / 8 TB/s + row x rows x slices / 1000
//        + longest x kept / 100
//
// kept: nonzeros of the longest row that one warp walks alone, which all else may wait for.  The
// estimates are 1.07 off where they were fitted, 25 layers on an H200; what they choose takes 1.02
// times as long as the best, for layers left out of the fit, too (tests/bench/csr.md).
#pragma once
#include "kernels/csr/csr_spmm_split_shape.cuh"

namespace shunt
{
namespace csr
{

struct uneven_shape {
  int lanes_log2;
  int limit; // rows are long that have so many halves of the mean; 0: none is
  double start, gather, row, longest;
};

constexpr uneven_shape kUneven[] = {
    {2, 0, 1.45, 0.602, 0.327, 0.526}, {3, 0, 1.18, 0.492, 0.270, 0.856},
    {4, 0, 1.00, 0.487, 0.097, 1.541}, {2, 3, 5.85, 0.707, 0.341, 0.398},
    {3, 3, 5.82, 0.665, 0.308, 0.743},
};

// Where the estimates were fitted, and gain.  V: elements of B in one load.
inline bool is_uneven(const split_matrix &m, int64_t n, int V, int size)
{
  const int64_t longest = m.longest * m.rows;
  return m.layer && V == 4 && size == 4 && n >= 32 && m.nonzeros >= 24 * m.rows &&
         2 * longest >= 5 * m.nonzeros && longest <= 16 * m.nonzeros && m.nonzeros < kMostLimit;
}

inline int64_t uneven_limit(const uneven_shape &s, const split_matrix &m)
{
  const int64_t limit = s.limit * (m.nonzeros / m.rows) / 2;
  return s.limit == 0 ? kMostLimit : limit < 64 ? 64 : limit;
}

inline double uneven_us(const uneven_shape &s, const split_matrix &m, int64_t n, int V)
{
  const int64_t limit = uneven_limit(s, m), kept = m.longest < limit ? m.longest : limit;
  const int64_t slices = (n + (V << s.lanes_log2) - 1) / (V << s.lanes_log2);
  return s.start + s.gather * 4e-6 / 8 * (double)(m.nonzeros * n) +
         1e-3 * s.row * (double)(m.rows * slices) + 1e-2 * s.longest * (double)kept;
}

inline split_shape choose_split_uneven(const split_matrix &m, int64_t n, int V,
                                       const shunt_device *d)
{
  const uneven_shape *best = kUneven;
  for (const uneven_shape &x : kUneven)
    if (uneven_us(x, m, n, V) < uneven_us(*best, m, n, V)) best = &x;

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
  s.limit = (int)uneven_limit(*best, m);
  s.window = (int)(window < m.nonzeros ? window : m.nonzeros);
  s.search = best->limit != 0;
  s.whole = true;
  return s;
}

} // namespace csr
} // namespace shunt
