// dcsr_csc_online.cu: shunt_dcsr_csc_online_cuda: checks, workspace and launches; the kernel is in
// dcsr_csc_online.cuh.
//
//   for each panel   rows <- -1; strips are made and multiplied: P, rows     (one launch)
//   after the first  S from rows                                             (kernels/dcsr/dcsr_sums.cu)
//                    C = alpha S P + beta C                                  (the csr kernel)
//
// Workspace:  | P: entries x panel | rows: entries | S | scratch of S |
#include "kernels/dcsr/dcsr_csc_online.cuh"

#include "kernels/dcsr/dcsr_sums.cuh"

namespace shunt
{
namespace dcsr
{
namespace
{

constexpr int64_t kBlocksPerProcessor = 6; // wanted
constexpr int64_t kLeastEntries = 1024;    // of a block

struct layout {
  size_t rows_at, sums_at, scratch_at, scratch_bytes, bytes;
};

layout layout_of(const struct shunt_spmm *p)
{
  layout l = {};
  const size_t entries = static_cast<size_t>(p->a.nnz);
  l.rows_at = shunt_align_up(entries * partial_row_bytes(p), 256);
  l.sums_at = l.rows_at + shunt_align_up(entries * 4, 256);
  l.scratch_at = l.sums_at + shunt_dcsr_sums_bytes(p->a.rows, p->a.nnz, p->a.value_type);
  l.scratch_bytes = shunt_dcsr_sums_scratch_bytes(p->a.rows, p->a.nnz);
  l.bytes = l.scratch_at + l.scratch_bytes;
  return l;
}

shunt_status check_online(const struct shunt_spmm *p, const struct shunt_csr *columns)
{
  if (!has_types(p) || p->c.type != p->compute || p->a.value_type != p->compute || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  const shunt_status s = check_shape(p);
  if (s != SHUNT_OK) return s;
  if (p->a.rows > kMostSegments || p->a.nnz > kMostSegments) return SHUNT_E_UNSUPPORTED;
  if (!columns) return SHUNT_OK;
  if (columns->rows != p->a.cols || columns->cols != p->a.rows || columns->nnz != p->a.nnz)
    return SHUNT_E_ARGUMENT;
  if (columns->value_type != p->a.value_type) return SHUNT_E_ARGUMENT;
  if (columns->index_type != SHUNT_I32 && columns->index_type != SHUNT_I64)
    return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// Entries of a block: so few that the device is full, not less than its start is worth.
int64_t chunk_of(const struct shunt_csr *columns, const struct shunt_device *device)
{
  const int64_t full = columns->nnz / (device->multiprocessors * kBlocksPerProcessor);
  return full > kLeastEntries ? full : kLeastEntries;
}

template <class T, class I>
shunt_status launch(const struct shunt_spmm *p, const struct shunt_csr *columns, int64_t first,
                    const struct shunt_device *device, const partial_sink<T> &sink,
                    shunt_stream stream)
{
  const b_panel<T> b = panel_of<T>(p, first);
  const csc_view<T> a = {columns->row_offsets,
                         columns->columns,
                         static_cast<const T *>(columns->values),
                         p->a.rows,
                         columns->rows,
                         chunk_of(columns, device),
                         columns->base};
  const int bytes = online_bytes<T, I>(b);
  auto kernel = &spmm_csc_online<T, I, partial_sink<T>>;
  if (bytes > device->shared_per_block) return SHUNT_E_UNSUPPORTED;
  if (bytes > 48 * 1024 && cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                bytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  const int64_t blocks = online_blocks(a, columns->nnz);
  kernel<<<static_cast<unsigned>(blocks), kOnlineThreads, bytes, stream>>>(a, b, sink);
  return cudaPeekAtLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

// One panel's P and rows, and after the first S.
template <class T>
shunt_status expand(const struct shunt_spmm *p, const struct shunt_csr *columns, int64_t first,
                    const struct shunt_dcsr_sums *sums, char *workspace,
                    const struct shunt_device *device, shunt_stream stream)
{
  const layout l = layout_of(p);
  const partial_sink<T> sink = {reinterpret_cast<lane_sums<T> *>(workspace),
                                reinterpret_cast<int32_t *>(workspace + l.rows_at)};
  if (p->a.nnz > 0) {
    if (cudaMemsetAsync(sink.row_of, 0xff, static_cast<size_t>(p->a.nnz) * 4, stream) !=
        cudaSuccess)
      return SHUNT_E_CUDA;
    const shunt_status s = columns->index_type == SHUNT_I32
                               ? launch<T, int32_t>(p, columns, first, device, sink, stream)
                               : launch<T, int64_t>(p, columns, first, device, sink, stream);
    if (s != SHUNT_OK) return s;
  }
  if (first > 0) return SHUNT_OK;
  const segment_rows of = {sink.row_of, false, nullptr, nullptr};
  return make_sums(of, sums, workspace + l.scratch_at, device, stream);
}

} // namespace
} // namespace dcsr
} // namespace shunt

using namespace shunt::dcsr;

extern "C" size_t shunt_dcsr_csc_online_workspace(const struct shunt_spmm *p)
{
  return check_online(p, nullptr) == SHUNT_OK ? layout_of(p).bytes : 0;
}

extern "C" shunt_status shunt_dcsr_csc_online_cuda(const struct shunt_spmm *p,
                                                   const struct shunt_csr *columns,
                                                   const struct shunt_device *device,
                                                   void *workspace, size_t workspace_bytes,
                                                   shunt_stream stream)
{
  shunt_status s = check_online(p, columns);
  if (s != SHUNT_OK) return s;
  const layout l = layout_of(p);
  if (workspace_bytes < l.bytes || !workspace || reinterpret_cast<uintptr_t>(workspace) % 256)
    return SHUNT_E_WORKSPACE;
  char *memory = static_cast<char *>(workspace);
  struct shunt_dcsr_sums sums;
  shunt_dcsr_sums_lay_out(p->a.rows, p->a.nnz, p->a.value_type, memory + l.sums_at, &sums);
  const int width = panel_width(p);
  for (int64_t first = 0; s == SHUNT_OK && p->c.rows > 0 && first < p->c.cols; first += width) {
    const int64_t left = p->c.cols - first;
    s = p->a.value_type == SHUNT_F64
            ? expand<double>(p, columns, first, &sums, memory, device, stream)
            : expand<float>(p, columns, first, &sums, memory, device, stream);
    if (s == SHUNT_OK)
      s = add_segments(p, &sums, memory, width, static_cast<int>(left < width ? left : width),
                       first, device, stream);
    if (s != SHUNT_OK && first > 0) s = SHUNT_E_WRITTEN;
  }
  return s;
}
