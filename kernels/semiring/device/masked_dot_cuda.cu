// masked_dot_cuda.cu: the launches of the masked dot product
// (kernels/semiring/device/masked_dot_cuda.h says how it works).
#include <cuda_runtime.h>

#include "kernels/common/allow_shared.h"
#include "kernels/semiring/device/masked_dot_cuda.h"
#include "kernels/semiring/device/masked_dot_rows.cuh"
#include "kernels/semiring/device/masked_dot_turned.cuh"
#include "kernels/semiring/device/masked_dot_wide.cuh"

namespace shunt
{
namespace masked
{

constexpr int64_t kMost = int64_t(1) << 30;                // rows, columns and entries
constexpr int kWarpBlocks = 6, kBlocks = 8, kCounting = 3; // of a multiprocessor
constexpr int kMostBits = 13;                              // of a set of tags: 64 KiB

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

// Terms alone are counted, and no pair can be left to (j,i).
static bool may_turn(const shunt_masked_device *p)
{
  return !p->values && !p->one_matrix;
}

static int64_t most_turned_parts(const shunt_masked_device *p)
{
  const int64_t rows = p->b.rows < p->m.nnz ? p->b.rows : p->m.nnz;
  return may_turn(p) ? rows + p->m.nnz / kTeam + 1 : 0;
}

/* The workspace, parts aligned to 8 bytes:

     listed, taken [kKinds] | turned_count, unused | turned_end [b.rows]      zeroed: the head
     turned [m.nnz] | turned_parts | parts                                    turned: if any may be */
static size_t head_words(const shunt_masked_device *p)
{
  return 2 * kKinds + 2 + (may_turn(p) ? (size_t)(p->b.rows + 1) / 2 * 2 : 0);
}

static size_t head_bytes(const shunt_masked_device *p)
{
  return head_words(p) * sizeof(unsigned);
}

static size_t most_turned(const shunt_masked_device *p)
{
  return may_turn(p) ? (size_t)p->m.nnz : 0;
}

static rows_view view(const shunt_device_rows &x)
{
  return rows_view{x.offsets, x.columns, x.values, x.iso};
}

static args make_args(const shunt_masked_device *p, void *workspace)
{
  args x = {};
  x.m = view(p->m), x.a = view(p->a), x.b = view(p->b);
  x.rows = (int)p->m.rows, x.b_rows = (int)p->b.rows, x.multiplier = p->semiring.multiplier;
  x.one_matrix = p->one_matrix && (!p->values || p->semiring.multiplier == SHUNT_TIMES);
  x.listed = static_cast<unsigned *>(workspace);
  x.taken = x.listed + kKinds;
  x.most_parts = (int)most_parts(p);
  x.counts = p->counts, x.values = p->values;
  x.wide_pairs = shape<256>::kPairs;
  x.turned_count = x.listed + 2 * kKinds;
  x.turned_end = x.turned_count + 2;
  x.turned = reinterpret_cast<turned_pair *>(x.listed + head_words(p));
  x.turned_parts = reinterpret_cast<part *>(x.turned + most_turned(p));
  x.parts = x.turned_parts + most_turned_parts(p);
  return x;
}

// The golden ratio's digits, so that neighbours lie far apart.
static hashing hashing_of(int64_t columns)
{
  int width = kMostBits;
  while (int64_t(1) << width < columns) width++;
  return hashing{(unsigned)(0x9E3779B97F4A7C15ull >> (64 - width)) | 1u, width};
}

// Terms of long rows are counted by sets of tags, where they fit.
static void choose_tags(args &x, const shunt_masked_device *p, const shunt_device *d)
{
  x.by = hashing_of(p->a.cols);
  const int room = d->shared_per_block - (int)sizeof(counting) - 1024;
  if (x.values || room < 8 << kMostBits || x.by.width > kMostBits + kRest) return;
  x.most_bits = kMostBits, x.wide_pairs = kTeam;
  x.turning = may_turn(p);
}

static shunt_status zero(void *what, size_t bytes, cudaStream_t stream)
{
  return cudaMemsetAsync(what, 0, bytes, stream) == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

// Shared memory of a block: 2^kMostBits buckets.
template <kind Which>
static shunt_status count(const args &x, unsigned multiprocessors, cudaStream_t stream)
{
  constexpr int kBytes = 8 << kMostBits;
  if (allow_shared<&count_parts<Which, kCounting>>(kBytes) != cudaSuccess) return SHUNT_E_CUDA;
  count_parts<Which, kCounting><<<multiprocessors * kCounting, kTeam, kBytes, stream>>>(x);
  return SHUNT_OK;
}

static shunt_status turn(const args &x, unsigned multiprocessors, cudaStream_t stream)
{
  const unsigned warps = (unsigned)((x.rows + 7) / 8), rows = (unsigned)((x.b_rows + 255) / 256);
  turn_pairs<false><<<warps, 256, 0, stream>>>(x);
  place_turned<<<rows, 256, 0, stream>>>(x);
  turn_pairs<true><<<warps, 256, 0, stream>>>(x);
  return count<kTurned>(x, multiprocessors, stream);
}

template <class T, bool Values>
static shunt_status launch(const args &x, const shunt_device *d, cudaStream_t stream)
{
  const unsigned multiprocessors = d->multiprocessors > 0 ? (unsigned)d->multiprocessors : 1;
  list_parts<<<(unsigned)((x.rows + 255) / 256), 256, 0, stream>>>(x);
  if (x.turning) {
    const shunt_status s = turn(x, multiprocessors, stream);
    if (s != SHUNT_OK) return s;
  }
  if (x.most_bits) {
    const shunt_status s = count<kWide>(x, multiprocessors, stream);
    if (s != SHUNT_OK) return s;
  } else {
    wide_parts<T, Values><<<multiprocessors * kBlocks, 256, 0, stream>>>(x);
  }
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
  return masked::head_bytes(p) + masked::most_turned(p) * sizeof(masked::turned_pair) +
         (size_t)(masked::most_parts(p) + masked::most_turned_parts(p)) * sizeof(masked::part);
}

extern "C" shunt_status shunt_masked_dot_cuda(const shunt_masked_device *p, const shunt_device *d,
                                              void *workspace, size_t bytes, shunt_stream stream)
{
  shunt_status s = masked::check(p);
  if (s != SHUNT_OK) return s;
  if (p->m.nnz == 0) return SHUNT_OK;
  if (!workspace || bytes < shunt_masked_dot_workspace(p)) return SHUNT_E_WORKSPACE;
  masked::args x = masked::make_args(p, workspace);
  masked::choose_tags(x, p, d);
  s = masked::zero(workspace, masked::head_bytes(p), stream);
  if (s == SHUNT_OK) s = masked::zero(p->counts, (size_t)p->m.nnz * sizeof *p->counts, stream);
  return s == SHUNT_OK ? masked::choose_type(x, p->semiring.type, d, stream) : s;
}
