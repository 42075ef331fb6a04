// proof_inside_launch.cuh: host side of proof_inside.cuh.
#pragma once
#include <algorithm>

#include "kernels/csr/csr_spmm_launch.cuh"
#include "kernels/guard/proof_inside.cuh"

namespace shunt
{
namespace proved
{

// How the proof repairs p: as launch_repair of kernels/csr/csr_spmm_launch.cuh shares it.
inline shunt_status make_proof(const struct shunt_spmm *p, const struct shunt_guard *r, proof *f)
{
  const shunt_status s = csr::make_repair_args(p, r, &f->r);
  const int64_t strips = p->c.rows * ((p->c.cols + 31) / 32), most_pieces = 1 << 16;
  csr::plan how = {};
  how.direct = true;
  f->a = csr::make_args<float>(p, how, nullptr);
  f->r.piece = strips > 4 * most_pieces ? (strips + most_pieces - 1) / most_pieces : 4;
  return s;
}

// No more blocks than are at work at one time, which fit `each` on a multiprocessor; f.pieces is
// set.
template <class Product, class Proof>
inline cudaError_t launch(void (*kernel)(Product, Proof), int threads, int bytes, int each,
                          const Product &p, Proof f, const struct shunt_device *d,
                          cudaStream_t stream)
{
  const int at_once = std::min(each * d->multiprocessors, arrival_most_blocks);
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

} // namespace proved
} // namespace shunt
