// spmm_csr_rows_launch.cuh: host side of the rows kernels, for one stored type.
#pragma once
#include <cuda_runtime.h>

#include "kernels/spmm_csr_rows_guarded.cuh"
#include "kernels/spmm_csr_rows_join.cuh"
#include "kernels/spmm_csr_rows_split.cuh"
#include "kernels/spmm_csr_rows_tiled.cuh"

namespace shunt {
namespace spmm_rows {

inline shunt_status status_of(cudaError_t e)
{
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

inline bool aligned(const void *pointer, size_t bytes)
{
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

template <class T> args<T> make_args(const shunt_spmm *p, const plan &how, void *workspace)
{
  char *w = static_cast<char *>(workspace);
  args<T> a = {};
  a.offsets = p->a.row_offsets;
  a.columns = p->a.columns;
  a.values = p->a.values;
  a.rows = p->a.rows;
  a.nonzeros = p->a.nnz;
  a.base = p->a.base;
  a.wide = p->a.index_type == SHUNT_I64;
  a.b = how.copies_b ? w + how.b_at : p->b.values;
  a.b_row_stride = how.direct ? p->b.row_stride : how.b_stride;
  a.b_col_stride = how.direct ? p->b.col_stride : 1;
  a.c = p->c.values;
  a.c_row_stride = p->c.row_stride;
  a.c_col_stride = p->c.col_stride;
  a.n = p->c.cols;
  a.alpha = make_scalar_arg<T>(p->alpha);
  a.beta = make_scalar_arg<T>(p->beta);
  a.only_if = p->only_if;
  a.tile = how.tile;
  a.pitch = how.pitch;
  if (!how.direct && !how.split) {
    a.cuts = reinterpret_cast<cut_row *>(w + how.cuts_at);
    a.heads = reinterpret_cast<T *>(w + how.heads_at);
    a.tails = reinterpret_cast<T *>(w + how.tails_at);
  }
  return a;
}

template <class S, class Out, class T>
shunt_status launch_guarded(const args<T> &a, const plan &how, const shunt_device *d,
                            shunt_stream stream)
{
  int64_t strips = (a.n + 31) / 32, wanted = (a.rows * strips + 7) / 8;
  int64_t most = d->multiprocessors; // few blocks: mostly they have nothing to do
  if (!a.only_if && !how.repair.probe.row) most *= 16;
  spmm_csr_rows_guarded<S, Out, T>
      <<<(unsigned)(wanted < most ? wanted : most), kThreads, 0, stream>>>(a, how.repair);
  return status_of(cudaGetLastError());
}

// The join starts while the tiles still run, where the device can do that.
template <class Out, class T>
shunt_status launch_join(const args<T> &a, int64_t tiles, const shunt_device *d,
                         shunt_stream stream)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)((tiles + kJoinWarps - 1) / kJoinWarps));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = d->compute_capability >= 90 ? 1 : 0;
  return status_of(cudaLaunchKernelEx(&config, spmm_csr_rows_join<Out, T>, a, tiles));
}

// Rows of more than 4 times the mean are left to whole blocks.
template <class S, class Out, class T, int V>
shunt_status launch_split(args<T> a, shunt_stream stream)
{
  int lanes = kLeastLanes;
  while (lanes < 32 && lanes * V < a.n) lanes *= 2;
  while (1 << a.lanes_log2 < lanes) a.lanes_log2++;
  a.c_vector = a.c_col_stride == 1 && a.c_row_stride % V == 0 && aligned(a.c, V * sizeof(Out));
  const int groups = kThreads / lanes;
  const int64_t across = (a.n + lanes * V - 1) / (lanes * V);
  if (across > 65535) return SHUNT_E_UNSUPPORTED;
  int64_t limit = 4 * (a.nonzeros / a.rows);
  limit = limit < 2 * kBatch ? 2 * kBatch : limit;
  dim3 grid((unsigned)((a.rows + groups - 1) / groups), (unsigned)across);
  spmm_csr_rows_split<S, Out, T, V><<<grid, kThreads, 0, stream>>>(a, limit);
  return status_of(cudaGetLastError());
}

template <class S, class Out, class T, int V>
shunt_status launch_tiled(args<T> a, const plan &how, const shunt_device *d, shunt_stream stream)
{
  if (how.split) return launch_split<S, Out, T, V>(a, stream);
  int lanes = kSegment / (V * (int)sizeof(S));
  int needed = (int)((a.n + V - 1) / V < 32 ? (a.n + V - 1) / V : 32);
  lanes = lanes < 32 ? lanes : 32;
  while (lanes / 2 >= needed) lanes /= 2;
  while (1 << a.lanes_log2 < lanes) a.lanes_log2++;
  int64_t passes = (a.n + lanes * V - 1) / (lanes * V);
  int64_t apart = (passes + how.passes_per_block - 1) / how.passes_per_block;
  if (apart > 65535) apart = 65535;
  a.passes = (int)passes;
  a.buffers = passes > apart ? 2 : 1;
  a.c_vector = a.c_col_stride == 1 && a.c_row_stride % V == 0 && aligned(a.c, V * sizeof(Out));

  int shared = place_shared(&a, V);
  dim3 grid((unsigned)how.tiles, (unsigned)apart);
  spmm_csr_rows_tiled<S, Out, T, V><<<grid, kThreads, shared, stream>>>(a);
  shunt_status status = status_of(cudaGetLastError());
  // A single tile cuts nothing.
  if (status == SHUNT_OK && how.tiles > 1)
    status = launch_join<Out, T>(a, how.tiles, d, stream);
  return status;
}

// Whether B can be read V elements at a time.
template <class S, int V, class T> bool b_fits(const args<T> &a)
{
  return a.n % V == 0 && a.b_row_stride % V == 0 && aligned(a.b, V * sizeof(S));
}

// V: elements in 16 bytes of S (or less, where sums take more registers), the
// widest of the built V, HALF and 1 that fits is taken.
template <class S, class Out, class T, int V, int HALF>
shunt_status launch(const shunt_spmm *p, const shunt_device *d, const plan &how, void *workspace,
                    shunt_stream stream)
{
  args<T> a = make_args<T>(p, how, workspace);
  if (how.direct) return launch_guarded<S, Out, T>(a, how, d, stream);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(S));
  if (b_fits<S, V>(a)) return launch_tiled<S, Out, T, V>(a, how, d, stream);
  if (b_fits<S, HALF>(a)) return launch_tiled<S, Out, T, HALF>(a, how, d, stream);
  return launch_tiled<S, Out, T, 1>(a, how, d, stream);
}

}  // namespace spmm_rows
}  // namespace shunt
