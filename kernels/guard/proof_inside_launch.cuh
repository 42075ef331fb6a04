// proof_inside_launch.cuh: host side of proof_inside.cuh.
#pragma once
#include <algorithm>

#include "kernels/common/early_launch.cuh"
#include "kernels/guard/proof_inside.cuh"

namespace shunt
{
namespace guard
{

// The proof of p's A; its blocks repair p's C.
template <class T>
inline shunt_status make_proof(const struct shunt_spmm *p, const struct shunt_guard *r,
                               proof_in<T> *f)
{
  f->a = make_csr_operands<T>(p);
  return make_repair_args(p, r, 0, &f->r); // helpers: launch_proof knows
}

// No more blocks than are at work at one time, which fit `each` on a multiprocessor; f.pieces is
// set.
template <class Product, class Proof>
inline cudaError_t launch_proof(void (*kernel)(Product, Proof), int threads, int bytes, int each,
                                const Product &p, Proof f, const struct shunt_device *d,
                                cudaStream_t stream)
{
  const int at_once = std::min(each * d->multiprocessors, most_blocks);
  const int blocks = std::min(f.pieces, at_once);
  f.r.helpers = blocks;
  // Kept by the context, which the program may destroy: so asked for each time.
  const cudaError_t e = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (e != cudaSuccess) return e;
  return launch_early_with(bytes, kernel, dim3(static_cast<unsigned>(blocks)),
                           dim3(static_cast<unsigned>(threads)), d, stream, p, f) == SHUNT_OK
             ? cudaSuccess
             : cudaErrorUnknown;
}

} // namespace guard
} // namespace shunt
