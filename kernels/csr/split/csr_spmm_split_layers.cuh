// csr_spmm_split_layers.cuh: the split kernel's shape for layers, by estimates (csr_layers.h).
#pragma once
#include "kernels/csr/csr_layers.h"
#include "kernels/csr/split/csr_spmm_split_shape.cuh"

namespace shunt
{
namespace csr
{

// Sets *s where there are lines for such a product.  size: bytes of an element of B, which is read 16
// bytes at a time.  No row is long: its team or block takes it, however long it has become.
inline bool choose_split_of_layer(const split_matrix &m, int64_t n, int size, const shunt_device *d,
                                  split_shape *s)
{
  const shunt_csr_work work = {m.rows, m.nonzeros, m.longest, n, size, d->multiprocessors, m.words};
  shunt_csr_layer layer;
  double us;
  if (!m.layer || !shunt_csr_layer_of(&work, &layer)) return false;
  const shunt_csr_layer_cut cut = shunt_csr_choose_layer_cut(&layer, &us);
  if (!cut.threads_log2) return false;
  *s = {};
  s->threads = cut.unstaged ? kThreads : kThreads / 2;
  s->chunk = kChunk;
  s->words = cut.words;
  s->lanes_log2 = cut.lanes_log2;
  s->team_log2 = cut.threads_log2 < 5 ? cut.threads_log2 : 5;
  s->long_lanes_log2 = 2;
  s->limit = (int)kMostLimit;
  s->whole = true;
  s->unstaged = cut.unstaged;
  s->row_warps = cut.threads_log2 > 5 ? 1 << (cut.threads_log2 - 5) : 0;
  return true;
}

} // namespace csr
} // namespace shunt
