// dcsr_spmm_rows.cu: C = alpha A B + beta C, C-stationary: A as whole dcsr.
//
// Columns and values of whole dcsr are those of CSR.  Where every row has entries its offsets are,
// too, and the csr kernel writes C.  Else two launches, in one of two ways:
//
//   offsets   those of all rows are made (dcsr_spmm_offsets.cuh), and the csr kernel writes C
//
//   P         the csr kernel multiplies the rows that have entries, into P, and P's rows are put
//             where they belong:
//
//     row_ids   .. 3 7 8 | 65 70 97 .. 126 | 130 ..     a block has kBand rows of C; those of its
//     C row     64 65 66 67 68 69 70 ..                 segments are found by a search of 32 ways
//     P row      .  g  .  .  .  . g+1 ..                .: none, C becomes beta C
//
//             Saved are the looks at empty rows, at the cost of 2 x segments x n x s bytes of P,
//             whose type is the one that is computed with: 2-byte results are rounded once, from P.
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dcsr/dcsr_spmm_offsets.cuh"
#include "kernels/dcsr/dcsr_spmm_panel.cuh"
#include "kernels/dcsr/dcsr_sums.cuh"

namespace shunt
{
namespace dcsr
{
namespace
{

constexpr int kThreads = 256;
constexpr int kBand = 256; // rows of a block

template <class Out, class T> struct expand_job {
  const void *row_ids;
  int64_t segments, rows;
  const T *partial; // [segments][pitch]
  Out *c;
  int64_t pitch, c_row_stride, c_col_stride;
  int n;
  scalar_arg<T> alpha, beta;
};

inline int64_t pitch_of(const struct shunt_spmm *p)
{
  const int64_t wide = 16 / static_cast<int64_t>(shunt_type_size(p->compute));
  return (p->c.cols + wide - 1) / wide * wide;
}

// segment_of[r]: of row first + r; -1 where it has no entry.
template <class I, class Out, class T>
__device__ __forceinline__ void find_segments(const expand_job<Out, T> &j, int64_t first,
                                              int *segment_of)
{
  __shared__ int64_t begin;
  const I *ids = static_cast<const I *>(j.row_ids);
  if (threadIdx.x < 32) {
    const int64_t g = warp_search(j.segments, [&](int64_t at) { return ids[at] >= first; });
    if (threadIdx.x == 0) begin = g;
  }
  segment_of[threadIdx.x] = -1;
  __syncthreads();
  const int64_t g = begin + threadIdx.x;
  const int64_t row = g < j.segments ? static_cast<int64_t>(ids[g]) : first + kBand;
  if (row < first + kBand) segment_of[row - first] = static_cast<int>(g);
  __syncthreads();
}

// Neighbouring threads along what lies together in C, V elements each (1 unless C is row-major).
template <class Out, class T, class I, int V>
__global__ void __launch_bounds__(kThreads)
    expand_rows(const __grid_constant__ expand_job<Out, T> j)
{
  __shared__ int segment_of[kBand];
  wait_for_previous();
  static_assert(kBand == kThreads, "a thread looks at one segment");
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBand;
  find_segments<I>(j, first, segment_of);
  const T alpha = j.alpha.get(), beta = j.beta.get();
  const int rows = static_cast<int>(min(j.rows - first, static_cast<int64_t>(kBand)));
  const int pieces = j.n / V;
  const bool by_row = j.c_col_stride == 1;
  for (int64_t i = threadIdx.x; i < static_cast<int64_t>(rows) * pieces; i += kThreads) {
    const int slow = static_cast<int>(i / (by_row ? pieces : rows));
    const int fast = static_cast<int>(i - static_cast<int64_t>(slow) * (by_row ? pieces : rows));
    const int r = by_row ? slow : fast, col = (by_row ? fast : slow) * V, g = segment_of[r];
    vec<T, V> sum = {};
    if (g >= 0) sum = *reinterpret_cast<const vec<T, V> *>(j.partial + g * j.pitch + col);
    vec<Out, V> *c =
        reinterpret_cast<vec<Out, V> *>(j.c + (first + r) * j.c_row_stride + col * j.c_col_stride);
    vec<Out, V> out = {};
    if (beta != T(0)) out = *c;
#pragma unroll
    for (int e = 0; e < V; e++) {
      T x = scale(alpha, sum.at[e]);
      if (beta != T(0)) x = multiply_add(beta, widen<T>(out.at[e]), x);
      out.at[e] = narrow<Out>(x);
    }
    *c = out;
  }
}

template <class I, class Out, class T>
shunt_status launch(const expand_job<Out, T> &j, const struct shunt_device *device,
                    shunt_stream stream)
{
  constexpr int V = kColumns<T>;
  const unsigned blocks = static_cast<unsigned>((j.rows + kBand - 1) / kBand);
  const bool wide = j.c_col_stride == 1 && j.n % V == 0 && j.c_row_stride % V == 0 &&
                    reinterpret_cast<uintptr_t>(j.c) % (V * sizeof(Out)) == 0;
  const auto kernel = wide ? expand_rows<Out, T, I, V> : expand_rows<Out, T, I, 1>;
  return launch_early(kernel, dim3(blocks), dim3(kThreads), device, stream, j);
}

template <class Out, class T>
shunt_status expand(const struct shunt_spmm *p, const struct shunt_dcsr *d, const void *partial,
                    const struct shunt_device *device, shunt_stream stream)
{
  const expand_job<Out, T> j = {d->row_ids,
                                d->room,
                                p->c.rows,
                                static_cast<const T *>(partial),
                                static_cast<Out *>(p->c.values),
                                pitch_of(p),
                                p->c.row_stride,
                                p->c.col_stride,
                                static_cast<int>(p->c.cols),
                                make_scalar_arg<T>(p->alpha),
                                make_scalar_arg<T>(p->beta)};
  return d->index_type == SHUNT_I32 ? launch<int32_t>(j, device, stream)
                                    : launch<int64_t>(j, device, stream);
}

bool has_all_rows(const struct shunt_dcsr *d)
{
  return d->room == d->rows;
}

// 45 ps for an empty row or P through L2 at 2.5 TB/s?  What P is put into must stay there, too.
bool takes_partial(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                   const struct shunt_device *device)
{
  const double row =
      static_cast<double>(p->c.cols) * static_cast<double>(shunt_type_size(p->compute));
  const double c = static_cast<double>(p->c.rows) * static_cast<double>(p->c.cols) *
                   static_cast<double>(shunt_type_size(p->c.type));
  return static_cast<double>(d->room) * row < 56 * static_cast<double>(d->rows - d->room) &&
         c < 0.75 * static_cast<double>(device->l2_bytes);
}

// How a product is made of one with CSR.
struct way {
  bool partial; // into P; else into C
  size_t bytes; // of P, or of the offsets of all rows, or 0
  struct shunt_spmm product;
};

way way_of(const struct shunt_spmm *p, const struct shunt_dcsr *d,
           const struct shunt_device *device, void *workspace)
{
  way w = {!has_all_rows(d) && takes_partial(p, d, device), 0, *p};
  const int64_t rows = w.partial ? d->room : d->rows;
  const bool makes_offsets = !w.partial && !has_all_rows(d);
  w.product.a = {rows,       d->cols,   d->nnz,        makes_offsets ? workspace : d->offsets,
                 d->columns, d->values, d->index_type, d->value_type,
                 0};
  if (makes_offsets)
    w.bytes = shunt_align_up(static_cast<size_t>(rows + 1) * shunt_type_size(d->index_type), 256);
  if (!w.partial) return w;
  w.bytes =
      shunt_align_up(static_cast<size_t>(rows * pitch_of(p)) * shunt_type_size(p->compute), 256);
  w.product.c = {rows, p->c.cols, pitch_of(p), 1, workspace, p->compute};
  w.product.alpha = {nullptr, 1};
  w.product.beta = {nullptr, 0};
  return w;
}

// Would one row's entries, at 1.2 ns each, end later in the kernel of one launch than all gathers
// of B?  An unknown longest row is taken for a mean one.
bool has_huge_row(const struct shunt_spmm *q, int64_t longest, const struct shunt_device *device)
{
  constexpr int64_t kHuge = 16384;
  if (longest < 0) longest = q->a.nnz / q->a.rows;
  const double bytes = static_cast<double>(q->a.nnz) * static_cast<double>(q->b.cols) *
                       static_cast<double>(shunt_type_size(q->b.type));
  return longest > kHuge &&
         1.2 * static_cast<double>(longest) * device->multiprocessors > bytes / 8000 * 132;
}

shunt_status multiply(const struct shunt_spmm *q, int64_t longest,
                      const struct shunt_device *device, void *workspace, size_t workspace_bytes,
                      shunt_stream stream)
{
  if (!has_huge_row(q, longest, device)) {
    const shunt_status s =
        shunt_csr_spmm_split_cuda(q, longest, device, workspace, workspace_bytes, stream);
    if (s != SHUNT_E_UNSUPPORTED) return s;
  }
  return shunt_csr_spmm_merge_cuda(q, device, workspace, workspace_bytes, stream);
}

shunt_status check_whole(const struct shunt_spmm *p, const struct shunt_dcsr *d)
{
  if (!has_types(p) || p->only_if) return SHUNT_E_UNSUPPORTED;
  const shunt_status s = check_shape(p);
  if (s != SHUNT_OK) return s;
  if (d->rows != p->a.rows || d->cols != p->a.cols || d->value_type != p->a.value_type)
    return SHUNT_E_ARGUMENT;
  return d->strips > 1 || d->room > kMostSegments ? SHUNT_E_UNSUPPORTED : SHUNT_OK;
}

} // namespace
} // namespace dcsr
} // namespace shunt

using namespace shunt::dcsr;

extern "C" size_t shunt_dcsr_spmm_rows_workspace(const struct shunt_spmm *p,
                                                 const struct shunt_dcsr *d,
                                                 const struct shunt_device *device)
{
  if (check_whole(p, d) != SHUNT_OK) return 0;
  const way w = way_of(p, d, device, nullptr);
  return w.bytes + shunt_csr_spmm_workspace(&w.product, device);
}

extern "C" shunt_status shunt_dcsr_spmm_rows_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_dcsr *d, int64_t longest_row,
                                                  const struct shunt_device *device,
                                                  void *workspace, size_t workspace_bytes,
                                                  shunt_stream stream)
{
  shunt_status s = check_whole(p, d);
  if (s != SHUNT_OK) return s;
  if (workspace_bytes < shunt_dcsr_spmm_rows_workspace(p, d, device) ||
      reinterpret_cast<uintptr_t>(workspace) % 256)
    return SHUNT_E_WORKSPACE;
  if (p->c.rows == 0 || p->c.cols == 0) return SHUNT_OK;
  const way w = way_of(p, d, device, workspace);
  if (!w.partial && w.bytes) s = make_offsets(d, workspace, device, stream);
  if (s == SHUNT_OK && w.product.a.rows > 0)
    s = multiply(&w.product, longest_row, device, static_cast<char *>(workspace) + w.bytes,
                 workspace_bytes - w.bytes, stream);
  if (s != SHUNT_OK || !w.partial) return s;
  switch (p->c.type) {
  case SHUNT_F16: return expand<__half, float>(p, d, workspace, device, stream);
  case SHUNT_BF16: return expand<__nv_bfloat16, float>(p, d, workspace, device, stream);
  case SHUNT_F32: return expand<float, float>(p, d, workspace, device, stream);
  default: return expand<double, double>(p, d, workspace, device, stream);
  }
}
