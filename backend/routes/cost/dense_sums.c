/* dense_sums.c: the workspace of products with a dense copy, where parts of K are summed apart. */
#include "backend/cublas/workspace.h"
#include "backend/routes/cost/costs.h"
#include "kernels/common/alignment.h"

/* Sums of as many parts of K as cuBLASLt was seen to take (tests/bench/results/dense), of whole
   tiles; 2-byte types are summed in f32.  cuBLAS' own advice for Hopper is the upper bound.  */
size_t shunt_dense_sums_bytes(int64_t rows, int64_t cols, shunt_type type)
{
  const bool half = shunt_type_size(type) == 2;
  const size_t tile = half ? 4 : 64, parts = half ? 16 : 36;
  const size_t sums = parts * (half ? 4 : (size_t)shunt_type_size(type));
  const size_t cells = shunt_align_up((size_t)rows, tile) * shunt_align_up((size_t)cols, tile);
  return cells < SHUNT_CUBLAS_WORKSPACE / sums ? shunt_align_up(cells * sums, 256)
                                               : SHUNT_CUBLAS_WORKSPACE;
}
