// proof_inside_launch.cuh: host side of proof_inside.cuh.
#pragma once
#include <algorithm>

#include "kernels/common/allow_shared.h"
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
// set.  Kernel: always given so many bytes.
template <auto Kernel, class Product, class Proof>
inline cudaError_t launch_proof(int threads, int bytes, int each, const Product &p, Proof f,
                                const struct shunt_device *d, cudaStream_t stream)
{
  const int at_once = std::min(each * d->multiprocessors, most_blocks);
  const int blocks = std::min(f.pieces, at_once);
  f.r.helpers = blocks;
  const cudaError_t e = bytes ? allow_shared<Kernel>(bytes) : cudaSuccess;
  if (e != cudaSuccess) return e;
  return launch_early_with(bytes, Kernel, dim3(static_cast<unsigned>(blocks)),
                           dim3(static_cast<unsigned>(threads)), d, stream, p, f) == SHUNT_OK
             ? cudaSuccess
             : cudaErrorUnknown;
}

} // namespace guard
} // namespace shunt
