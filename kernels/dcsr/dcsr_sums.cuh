// dcsr_sums.cuh: S, the matrix of ones that adds up what segments left
// (kernels/dcsr/dcsr_kernels.h), from the row of each segment.  Private to
// kernels/dcsr/dcsr_sums.cu and dcsr_csc_online.cu.
#pragma once
#include <stdint.h>

#include "kernels/common/alignment.h"
#include "kernels/dcsr/dcsr_kernels.h"

namespace shunt
{
namespace dcsr
{

constexpr int64_t kMostSegments = (int64_t{1} << 30) - 1; // what the csr kernel takes

// The segments to make S of.
struct segment_rows {
  const void *row_of;        // [room] what is not in [0, rows) is not a segment
  bool wide;                 // of 64 bits
  const uint64_t *count;     // device: only the first so many count; NULL: all of room
  const uint32_t *irregular; // device: not 0: none count; or NULL
};

// Enqueues; scratch as shunt_dcsr_sums_scratch_bytes says.
shunt_status make_sums(const segment_rows &of, const struct shunt_dcsr_sums *out, void *scratch,
                       const struct shunt_device *device, shunt_stream stream);

} // namespace dcsr
} // namespace shunt
