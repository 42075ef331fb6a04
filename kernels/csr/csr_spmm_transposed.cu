// csr_spmm_transposed.cu: checks and launches of the transposed product and its repair
// (csr_spmm_transposed.cuh says how they work).
#include <cuda_runtime.h>

#include "kernels/common/csr_operands.cuh"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_spmm_transposed.cuh"
#include "kernels/guard/guard.h"

namespace shunt
{
namespace csr::transposed
{

static shunt_status check(const shunt_spmm *p)
{
  if (p->compute != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->c.type != p->b.type && p->c.type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  return check_csr_operands(p, p->a.cols, p->a.rows);
}

static args make_args(const shunt_spmm *p)
{
  args a = {};
  a.offsets = p->a.row_offsets, a.columns = p->a.columns, a.values = p->a.values;
  a.b = p->b.values, a.c = p->c.values;
  a.a_rows = p->a.rows, a.rows = p->c.rows, a.n = p->c.cols;
  a.b_row_stride = p->b.row_stride, a.b_col_stride = p->b.col_stride;
  a.c_row_stride = p->c.row_stride, a.c_col_stride = p->c.col_stride;
  a.alpha = make_scalar_arg<float>(p->alpha), a.beta = make_scalar_arg<float>(p->beta);
  a.only_if = p->only_if;
  a.base = p->a.base;
  return a;
}

template <class S, class Out, class I>
static shunt_status launch(const args &a, const shunt_device *d, cudaStream_t stream)
{
  const int64_t tiles = ((a.rows + kRows - 1) / kRows) * ((a.n + kCols - 1) / kCols);
  const int64_t most = (int64_t)(d->multiprocessors > 0 ? d->multiprocessors : 1) * 6;
  return launch_early(spmm_transposed<S, Out, I>, dim3((unsigned)(tiles < most ? tiles : most)),
                      dim3(kThreads), d, stream, a);
}

template <class S, class Out>
static shunt_status choose_index(const shunt_spmm *p, const shunt_device *d, cudaStream_t stream)
{
  const args a = make_args(p);
  return p->a.index_type == SHUNT_I64 ? launch<S, Out, int64_t>(a, d, stream)
                                      : launch<S, Out, int32_t>(a, d, stream);
}

template <class S>
static shunt_status choose_output(const shunt_spmm *p, const shunt_device *d, cudaStream_t stream)
{
  return p->c.type == SHUNT_F32 ? choose_index<S, float>(p, d, stream)
                                : choose_index<S, S>(p, d, stream);
}

} // namespace csr::transposed
} // namespace shunt

using namespace shunt::csr::transposed;

extern "C" shunt_status shunt_csr_spmm_transposed_cuda(const struct shunt_spmm *p,
                                                       const struct shunt_device *d,
                                                       shunt_stream stream)
{
  const shunt_status status = check(p);
  if (status != SHUNT_OK) return status;
  if (p->c.rows <= 0 || p->c.cols <= 0) return SHUNT_OK;
  switch (p->b.type) {
  case SHUNT_F16: return choose_output<__half>(p, d, stream);
  case SHUNT_BF16: return choose_output<__nv_bfloat16>(p, d, stream);
  case SHUNT_F32: return choose_index<float, float>(p, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

extern "C" shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                           const struct shunt_guard *r,
                                                           const struct shunt_fingerprint *actual,
                                                           const struct shunt_device *d,
                                                           shunt_stream stream)
{
  shunt_status status = check(p);
  if (status != SHUNT_OK) return status;
  if (!r->product || !r->repaired || !actual != !r->expected) return SHUNT_E_ARGUMENT;
  if (p->c.rows <= 0 || p->c.cols <= 0) return SHUNT_OK;
  const compare_args g = {shunt::guard::make_probe(r->product),
                          p->only_if,
                          actual,
                          r->expected,
                          r->repaired,
                          r->changed,
                          r->nonfinite};
  status = shunt::launch_early(compare_copy, dim3(1), dim3(256), d, stream, g);
  if (status != SHUNT_OK) return status;
  shunt_spmm guarded = *p;
  guarded.only_if = r->repaired;
  return shunt_csr_spmm_transposed_cuda(&guarded, d, stream);
}
