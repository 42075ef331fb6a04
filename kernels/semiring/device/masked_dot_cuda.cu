// masked_dot_cuda.cu: the launches of the masked dot product
// (kernels/semiring/device/masked_dot_cuda.h says how it works).
#include <cuda_runtime.h>

#include "kernels/semiring/device/masked_dot_cuda.h"
#include "kernels/semiring/device/masked_dot_rows.cuh"

namespace shunt
{
namespace masked
{

constexpr int64_t kMost = int64_t(1) << 30; // rows, columns and entries
constexpr int kWarpBlocks = 6, kBlocks = 8; // of a multiprocessor

static bool valid(const shunt_device_rows &x, bool values)
{
  return x.rows >= 0 && x.cols >= 0 && x.nnz >= 0 && x.offsets && (x.columns || x.nnz == 0) &&
         (!values || x.values);
}

static bool small_enough(const shunt_device_rows &x)
{
  return x.rows < kMost && x.cols < kMost && x.nnz < kMost;
}

static shunt_status check(const shunt_masked_device *p)
{
  const shunt_multiplier by = p->semiring.multiplier;
  const bool a = p->values && by != SHUNT_SECOND, b = p->values && by != SHUNT_FIRST;
  if (!valid(p->m, false) || !valid(p->a, a) || !valid(p->b, b) || !p->counts ||
      p->m.rows != p->a.rows || p->m.cols != p->b.rows || p->a.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (!small_enough(p->m) || !small_enough(p->a) || !small_enough(p->b)) return SHUNT_E_UNSUPPORTED;
  const bool sums = p->semiring.monoid == SHUNT_PLUS &&
                    (by == SHUNT_TIMES || by == SHUNT_FIRST || by == SHUNT_SECOND);
  return !p->values || sums ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

// A row has parts of one kind, the last of which may be smaller.
static int64_t most_parts(const shunt_masked_device *p)
{
  const int64_t rows = p->m.rows < p->m.nnz ? p->m.rows : p->m.nnz;
  return rows + p->m.nnz / shape<32>::kPairs + 1;
}

static rows_view view(const shunt_device_rows &x)
{
  return rows_view{x.offsets, x.columns, x.values, x.iso};
}

static args make_args(const shunt_masked_device *p, void *workspace)
{
  args x = {};
  x.m = view(p->m), x.a = view(p->a), x.b = view(p->b);
  x.rows = (int)p->m.rows, x.multiplier = p->semiring.multiplier;
  x.one_matrix = p->one_matrix && (!p->values || p->semiring.multiplier == SHUNT_TIMES);
  x.listed = static_cast<unsigned *>(workspace);
  x.taken = x.listed + kKinds;
  x.parts = reinterpret_cast<part *>(x.listed + 2 * kKinds);
  x.most_parts = (int)most_parts(p);
  x.counts = p->counts, x.values = p->values;
  return x;
}

static shunt_status zero(void *what, size_t bytes, cudaStream_t stream)
{
  return cudaMemsetAsync(what, 0, bytes, stream) == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T, bool Values>
static shunt_status launch(const args &x, const shunt_device *d, cudaStream_t stream)
{
  const unsigned multiprocessors = d->multiprocessors > 0 ? (unsigned)d->multiprocessors : 1;
  list_parts<<<(unsigned)((x.rows + 255) / 256), 256, 0, stream>>>(x);
  wide_parts<T, Values><<<multiprocessors * kBlocks, 256, 0, stream>>>(x);
  narrow_parts<T, Values><<<multiprocessors * kWarpBlocks, 256, 0, stream>>>(x);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

static shunt_status choose_type(const args &x, shunt_type type, const shunt_device *d,
                                cudaStream_t stream)
{
  if (!x.values) return launch<uint32_t, false>(x, d, stream);
  if (type == SHUNT_F32) return launch<float, true>(x, d, stream);
  if (type == SHUNT_F64) return launch<double, true>(x, d, stream);
  if (type == SHUNT_I32) return launch<uint32_t, true>(x, d, stream);
  if (type == SHUNT_I64 || type == SHUNT_U64) return launch<unsigned long long, true>(x, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace masked
} // namespace shunt

using namespace shunt;

extern "C" size_t shunt_masked_dot_workspace(const shunt_masked_device *p)
{
  return 2 * masked::kKinds * sizeof(unsigned) +
         (size_t)masked::most_parts(p) * sizeof(masked::part);
}

extern "C" shunt_status shunt_masked_dot_cuda(const shunt_masked_device *p, const shunt_device *d,
                                              void *workspace, size_t bytes, shunt_stream stream)
{
  shunt_status s = masked::check(p);
  if (s != SHUNT_OK) return s;
  if (p->m.nnz == 0) return SHUNT_OK;
  if (!workspace || bytes < shunt_masked_dot_workspace(p)) return SHUNT_E_WORKSPACE;
  const masked::args x = masked::make_args(p, workspace);
  s = masked::zero(workspace, 2 * masked::kKinds * sizeof(unsigned), stream);
  if (s == SHUNT_OK) s = masked::zero(p->counts, (size_t)p->m.nnz * sizeof *p->counts, stream);
  return s == SHUNT_OK ? masked::choose_type(x, p->semiring.type, d, stream) : s;
}
