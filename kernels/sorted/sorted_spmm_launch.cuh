// sorted_spmm_launch.cuh: host side of the kernels, for one combination of types.
#pragma once
#include "kernels/sorted/sorted_spmm_long.cuh"
#include "kernels/sorted/sorted_spmm_short.cuh"
#include "kernels/sorted/sorted_spmm_unstaged.cuh"

namespace shunt
{
namespace sorted
{

// Everything about a launch but its types.
struct launch_plan {
  const struct shunt_spmm *p;
  const struct shunt_sorted *v;
  const struct shunt_sorted_counts *known;
  const struct shunt_sorted_shape *shape;
  int longs, huge, wide; // rows of each, by their places
  const struct shunt_device *device;
  cudaStream_t stream;
};

shunt_status launch_f16(const launch_plan &l);
shunt_status launch_bf16(const launch_plan &l);
shunt_status launch_f32(const launch_plan &l);
shunt_status launch_f64(const launch_plan &l);

template <class S, class Out, class T> args<T> make_args(const struct shunt_spmm *p)
{
  constexpr int V = 16 / sizeof(S);
  args<T> a = {};
  static_cast<csr_operands<T> &>(a) = make_csr_operands<T>(p);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * (int64_t)sizeof(S));
  a.c_vector = a.c_col_stride == 1 && a.c_row_stride % V == 0 &&
               reinterpret_cast<uintptr_t>(a.c) % (V * sizeof(Out)) == 0;
  return a;
}

template <class S, class Out, class T>
shunt_status launch_long(const launch_plan &l, const args<T> &a)
{
  constexpr int V = 16 / sizeof(S);
  const int slices = (int)shunt_sorted_slices(a.n, V, l.shape->long_lanes_log2),
            cluster = l.shape->cluster;
  const long_args s = {l.v->order, l.huge,  l.longs,         l.shape->long_lanes_log2,
                       slices,     cluster, l.longs < a.rows};
  const int64_t alone = (int64_t)(l.longs - l.huge) * slices;
  const int64_t clusters = (int64_t)l.huge * slices + (alone + cluster - 1) / cluster;
  if (clusters * cluster > INT32_MAX) return SHUNT_E_UNSUPPORTED;

  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)(clusters * cluster));
  config.blockDim = dim3(kThreads);
  config.stream = l.stream;
  config.attrs = attributes;
  config.numAttrs = !can_launch_early(l.device->compute_capability) ? 0 : cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, multiply_long_rows<S, Out, T, V>, a, s) == cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}

inline bool is_known(const launch_plan &l)
{
  return l.known->at_least[0] > 0;
}

// Entries of a row that is not long, at most: as far as is known.
inline int most_but_long(const launch_plan &l)
{
  return is_known(l) && l.shape->limit ? l.shape->limit - 1 : INT32_MAX;
}

inline dim3 grid_of(int64_t warps, int64_t n, int V, int lanes_log2)
{
  return dim3((unsigned)((warps + kWarps - 1) / kWarps),
              (unsigned)shunt_sorted_slices(n, V, lanes_log2));
}

// The warps of a launch, by the rows that each kind of them has.
inline int64_t cut_rows(const launch_plan &l, row_args *s)
{
  const int64_t rows = l.p->a.rows;
  const auto *at_least = l.known->at_least;
  const auto place_of = [&](int64_t place) {
    return place < s->first + s->wide ? s->first + s->wide : place < rows ? (int)place : (int)rows;
  };
  s->first = l.longs;
  s->wide = l.wide;
  s->spread = l.shape->spread;
  while (at_least[0] && 2 << s->levels < l.shape->brief) s->levels++;
  s->end = s->levels ? place_of(at_least[s->levels]) : (int)rows;
  int64_t warps = s->wide;
  for (int j = s->levels - 1, at = s->end; j >= 0; j--) {
    const int end = j ? place_of(at_least[j]) : (int)rows;
    s->level[j] = {at, end > at ? end : at, (int)warps};
    at = s->level[j].end;
    const int rows_log2 = 5 - j - s->spread; // of a warp
    warps += (at - s->level[j].first + (1 << rows_log2) - 1) >> rows_log2;
  }
  s->list_warps = (int)warps - s->wide;
  const int64_t teams = 32 >> s->team_log2, others = s->end - s->first - s->wide;
  return warps + (others + teams - 1) / teams;
}

// The same by teams of 1 << k groups.  Where rows were not counted, all have the teams of the mean.
inline int64_t cut_teams(const launch_plan &l, unstaged_args *s)
{
  const int64_t rows = l.p->a.rows, mean = l.p->a.nnz / rows;
  int64_t warps = 0, at = l.longs;
  s->levels = 6 - s->lanes_log2;
  for (int k = s->levels - 1; k >= 0; k--) {
    const int64_t least = k ? (int64_t)l.shape->share << (k - 1) : 0;
    const int64_t end = is_known(l)     ? shunt_sorted_rows_of(l.known, least, rows)
                        : mean >= least ? rows
                                        : 0;
    const int most = k < s->levels - 1 ? (l.shape->share << k) - 1 : most_but_long(l);
    s->level[k] = {(int)at, (int)(end > at ? end : at), (int)warps, is_known(l) ? most : INT32_MAX};
    at = s->level[k].end;
    const int rows_log2 = 5 - s->lanes_log2 - k; // of a warp
    warps += (at - s->level[k].first + (1 << rows_log2) - 1) >> rows_log2;
  }
  return warps;
}

template <class S, class Out, class T>
auto kernel_of(const struct shunt_sorted_shape &s, bool lists)
{
  constexpr int V = 16 / sizeof(S);
  if (s.words == 2) return multiply_rows<false, true, S, Out, T, V, 4>;
  if (lists) return multiply_rows<true, false, S, Out, T, V, 4>;
  return s.chunk == 4 ? multiply_rows<false, false, S, Out, T, V, 4>
                      : multiply_rows<false, false, S, Out, T, V, 8>;
}

template <class S, class Out, class T>
shunt_status launch_staged(const launch_plan &l, const args<T> &a)
{
  constexpr int V = 16 / sizeof(S);
  row_args s = {};
  s.order = l.v->order;
  s.lanes_log2 = l.shape->lanes_log2, s.team_log2 = l.shape->team_log2;
  const int64_t warps = cut_rows(l, &s);
  s.most_wide = most_but_long(l);
  s.most_other = is_known(l) && l.shape->wide ? l.shape->wide - 1 : s.most_wide;
  s.stale = l.v->stale;
  s.beside = l.longs > 0;
  if (warps == 0) return SHUNT_OK;
  return launch_early(kernel_of<S, Out, T>(*l.shape, s.levels > 0),
                      grid_of(warps, a.n, V * l.shape->words, s.lanes_log2), dim3(kThreads),
                      l.device, l.stream, a, s);
}

template <class S, class Out, class T>
shunt_status launch_unstaged(const launch_plan &l, const args<T> &a)
{
  constexpr int V = 16 / sizeof(S);
  unstaged_args s = {};
  s.order = l.v->order;
  s.lanes_log2 = l.shape->lanes_log2;
  const int64_t warps = cut_teams(l, &s);
  s.stale = l.v->stale;
  s.beside = l.longs > 0;
  if (warps == 0) return SHUNT_OK;
  return launch_early(multiply_rows_unstaged<S, Out, T, V>, grid_of(warps, a.n, V, s.lanes_log2),
                      dim3(kThreads), l.device, l.stream, a, s);
}

template <class S, class Out, class T> shunt_status launch(const launch_plan &l)
{
  const args<T> a = make_args<S, Out, T>(l.p);
  const auto launch_others = [&] {
    return l.shape->share ? launch_unstaged<S, Out, T>(l, a) : launch_staged<S, Out, T>(l, a);
  };
  if (!l.longs) return launch_others();
  shunt_status status = launch_long<S, Out, T>(l, a);
  if (status != SHUNT_OK) return status;
  // Once more if it fails, as some of C is written by then.
  status = launch_others();
  if (status != SHUNT_OK) status = launch_others();
  return status == SHUNT_OK ? SHUNT_OK : SHUNT_E_WRITTEN;
}

} // namespace sorted
} // namespace shunt
