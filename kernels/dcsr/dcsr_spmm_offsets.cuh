// dcsr_spmm_offsets.cuh: the offsets of all rows, from those of whole dcsr's segments.
//
//     row_ids   .. 63 | 65 66 69 .. 126 | 130 ..    a block has 256 rows; their first segment, g,
//     is row       64 65  66  67  68  69  70 ..        found by a search of 32 ways filled     0  1
//     1   0   0   1   0           one bit a row offset of  g  g g+1 g+2 g+2 g+2 g+3           g +
//     the filled rows before it
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/dcsr/dcsr_spmm_panel.cuh"

namespace shunt
{
namespace dcsr
{

constexpr int kOffsetsBand = 256; // rows and threads of a block

template <class I> struct offsets_job {
  const I *row_ids, *offsets;
  int64_t segments, rows;
  I *all; // [rows + 1]
};

template <class I>
__global__ void __launch_bounds__(kOffsetsBand) offsets_of_rows(const offsets_job<I> j)
{
  __shared__ int64_t begin;
  __shared__ unsigned filled[kOffsetsBand / 32];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kOffsetsBand;
  const int word = threadIdx.x / 32, lane = threadIdx.x % 32;
  wait_for_previous();
  if (word == 0) {
    const int64_t g = warp_search(j.segments, [&](int64_t at) { return j.row_ids[at] >= first; });
    if (lane == 0) begin = g;
  }
  if (lane == 0) filled[word] = 0;
  __syncthreads();
  const int64_t mine = begin + threadIdx.x;
  const int64_t row =
      mine < j.segments ? static_cast<int64_t>(j.row_ids[mine]) : first + kOffsetsBand;
  if (row < first + kOffsetsBand) {
    const unsigned place = static_cast<unsigned>(row - first);
    atomicOr(&filled[place / 32], 1u << place % 32);
  }
  __syncthreads();
  int64_t g = begin + __popc(filled[word] & ((1u << lane) - 1));
  for (int w = 0; w < word; w++) g += __popc(filled[w]);
  if (first + threadIdx.x <= j.rows) j.all[first + threadIdx.x] = j.offsets[g];
}

template <class I>
shunt_status launch_offsets(const struct shunt_dcsr *d, void *all,
                            const struct shunt_device *device, shunt_stream stream)
{
  const offsets_job<I> j = {static_cast<const I *>(d->row_ids), static_cast<const I *>(d->offsets),
                            d->room, d->rows, static_cast<I *>(all)};
  const unsigned blocks = static_cast<unsigned>(d->rows / kOffsetsBand + 1);
  return launch_early(offsets_of_rows<I>, dim3(blocks), dim3(kOffsetsBand), device, stream, j);
}

// d's row_ids must ascend; all: [d->rows + 1] of its index type.
inline shunt_status make_offsets(const struct shunt_dcsr *d, void *all,
                                 const struct shunt_device *device, shunt_stream stream)
{
  return d->index_type == SHUNT_I32 ? launch_offsets<int32_t>(d, all, device, stream)
                                    : launch_offsets<int64_t>(d, all, device, stream);
}

} // namespace dcsr
} // namespace shunt
