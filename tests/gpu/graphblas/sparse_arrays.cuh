// sparse_arrays.cuh: the indices of a sparse matrix in host memory, in the forms that GraphBLAS has.
#pragma once
#include "kernels/semiring/semiring_kernels.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

// To be filled vector by vector: indices, then end_vector; at last end and point.
struct SparseArrays {
  std::vector<int64_t> ids, offsets, indices;
  std::vector<uint32_t> ids32, offsets32, indices32;

  // The indices of vector v, from `begin` on, are there.  A hypersparse matrix leaves out vectors
  // that have none.
  void end_vector(int64_t v, int64_t begin, bool hyper)
  {
    if (hyper && (int64_t)indices.size() == begin) return;
    ids.push_back(v);
    offsets.push_back(begin);
  }

  // The matrix is there.  One without entries gets one, at (0, 0).
  void end()
  {
    if (indices.empty()) {
      indices.push_back(0);
      if (offsets.empty()) ids.push_back(0), offsets.push_back(0);
    }
    offsets.push_back((int64_t)indices.size());
  }

  // s stands on the arrays, with indices of 4 or 8 bytes; its values are the caller's.
  void point(shunt_sparse &s, bool hyper, int index_bytes)
  {
    const bool narrow = index_bytes == 4;
    ids32.assign(ids.begin(), ids.end());
    offsets32.assign(offsets.begin(), offsets.end());
    indices32.assign(indices.begin(), indices.end());
    s.vectors = (int64_t)offsets.size() - 1;
    s.nnz = (int64_t)indices.size();
    s.id_bytes = s.offset_bytes = s.index_bytes = index_bytes;
    s.ids = !hyper ? NULL : narrow ? (const void *)ids32.data() : ids.data();
    s.offsets = narrow ? (const void *)offsets32.data() : offsets.data();
    s.indices = narrow ? (const void *)indices32.data() : indices.data();
  }
};

} // namespace harness
