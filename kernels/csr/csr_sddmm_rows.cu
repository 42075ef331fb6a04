// csr_sddmm_rows.cu: SDDMM for any pattern: dot products.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   p = (i, j)
//
// Entries are cut into runs of equal length, one warp a run, so long rows spread over
// many warps and short ones share one; the row where a run begins is found by a
// search in row_offsets.
//
//   entries   | row 0 |r1|        row 2             |r3|r4|   row 5   |
//   warps     |---- 0 ----|---- 1 ----|---- 2 ----|---- 3 ----|-- 4 --|
//   blocks    |------------- 0 -----------------------|------ 1 ------|
//
// The runs of a block lie beside each other and are short (RUN_BYTES of B): where
// neighbouring rows share columns, as those of finite elements do, its warps find in L1
// what another of them has brought.  Patterns so dense that all rows share columns take
// csr_sddmm_panel.cu instead, if entries do not crowd.  Operands as csr_sddmm_operands.cuh makes them; the product
// of 32 entries is in csr_sddmm_rows_teams.cuh.
//
// Roofline: every entry gathers a column of B, from L1 or L2 (A's row stays in registers).
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_sddmm_alike.cuh"
#include "kernels/csr/csr_sddmm_operands.cuh"

namespace shunt
{
namespace csr::sddmm
{
namespace
{

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / WARP;

// Lanes of a team: 4 fold fewer sums than 8 (1.2 times as fast), unless these are of 8 bytes and more
// (0.9 times).
template <class T> constexpr int team_of = sizeof(T) >= 8 ? 8 : 4;
// Blocks of a multiprocessor: as many as leave registers for 8 loads in flight.
template <class T, class I> constexpr int blocks_of = sizeof(T) >= 8 || sizeof(I) == 8 ? 4 : 5;

template <class T, class I, int N, int Chunks>
__global__ void __launch_bounds__(THREADS, (blocks_of<T, I>))
    rows_kernel(const __grid_constant__ args<T, I> p, const __grid_constant__ steps<I> step,
                int run)
{
  const int64_t warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
  wait_for_previous();
  if (warp * run >= p.c.nnz) return;
  const I begin = I(warp * run);
  const I end = p.c.nnz - begin < run ? p.c.nnz : I(begin + run);
  teams_range<T, I, N, team_of<T>, Chunks>(p, step, begin, end, threadIdx.x % WARP);
}

template <class T, class I, int N, int Chunks>
__global__ void __launch_bounds__(THREADS, 4)
    alike_kernel(const __grid_constant__ args<T, I> p, const __grid_constant__ steps<I> step,
                 int run)
{
  const int64_t warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
  const int lane = threadIdx.x % WARP;
  wait_for_previous();
  if (warp * run >= p.c.nnz) return;
  const I begin = I(warp * run), behind = p.c.nnz - begin < run ? p.c.nnz : I(begin + run);
  alike_run<T, I, N, team_of<T>, Chunks>(p, step, lane)
      .take(run_begins(p.c, begin, lane), run_begins(p.c, behind, lane));
}

// Entries of a warp, a multiple of 32.  `resident` warps of a multiprocessor run at a time, so
// runs go in waves; a wave takes as long as a run's batches and its start, the search.  Of the
// runs short enough for L1 the one whose waves end first: one entry too many for a wave would
// cost another.
int run_length(const struct shunt_sddmm *p, const struct shunt_device *d, int resident, bool alike)
{
  const int64_t RUN_BYTES = alike ? 3 * 49152 : 49152;
  const int64_t LEAST = (alike ? 12 : 4) * WARP, MOST = (alike ? 48 : 16) * WARP;
  constexpr int64_t START = 2; // batches that would have been done meanwhile
  const int64_t column = p->a.cols * (int64_t)shunt_type_size(p->a.type);
  const int64_t warps = (int64_t)(d->multiprocessors > 0 ? d->multiprocessors : 1) * resident;
  int64_t longest = RUN_BYTES / (column > 0 ? column : 1);
  if (longest < LEAST) longest = LEAST;
  if (longest > MOST) longest = MOST;
  int64_t best = WARP, least = INT64_MAX;
  for (int64_t run = WARP; run <= longest; run += WARP) {
    const int64_t waves = (p->c.nnz + run * warps - 1) / (run * warps);
    const int64_t time = waves * (run / WARP + START);
    if (time < least) {
      least = time;
      best = run;
    }
  }
  return (int)best;
}

// Does every place of the kernel fit in its type?  With 32-bit indices B may have 64 GB.
template <class I> bool places_fit(const struct shunt_sddmm *p, const operands &o, int n)
{
  const double most = (double)UINT32_MAX;
  if (p->a.cols > INT32_MAX) return false;
  return sizeof(I) == 8 || ((double)p->b.cols * (double)(o.b.ld / n) <= most &&
                            (double)WARP * (double)(o.a.ld / n) <= most);
}

// Not built for int8 and complex types, of which nobody measured it.
template <class T> constexpr bool has_alike = type_id<T>::value <= SHUNT_F64;

template <class T, class I, int N, int Chunks>
shunt_status launch(const struct shunt_sddmm *p, const operands &o, bool alike,
                    const struct shunt_device *d, cudaStream_t stream)
{
  alike = alike && has_alike<T>;
  const int run = run_length(p, d, (alike ? 4 : blocks_of<T, I>)*WARPS, alike);
  const int64_t warps = (p->c.nnz + run - 1) / run;
  const int64_t blocks = (warps + WARPS - 1) / WARPS;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  if (!places_fit<I>(p, o, N)) return SHUNT_E_UNSUPPORTED;
  using place = typename place_of<I>::type;
  const args<T, I> a = make_args<T, I>(p, o);
  const steps<I> step = {place(o.a.ld / N), place(o.b.ld / N), (int)p->a.cols};
  auto kernel = rows_kernel<T, I, N, Chunks>;
  if constexpr (has_alike<T>)
    if (alike) kernel = alike_kernel<T, I, N, Chunks>;
  return launch_early(kernel, dim3((unsigned)blocks), dim3(THREADS), d, stream, a, step, run);
}

template <class T, class I>
shunt_status with_loads(const struct shunt_sddmm *p, const operands &o, bool alike,
                        const struct shunt_device *d, cudaStream_t stream)
{
  constexpr int N = 16 / (int)sizeof(T), CHUNKS = 8 / team_of<T>, TEAM = team_of<T>;
  // Rows shorter than a load need not begin at multiples of one.
  if (!o.aligned || p->a.cols < N) return launch<T, I, 1, 2>(p, o, alike, d, stream);
  // A second chunk would hold nothing: 0.85 of the time on scattered matrices in f16.
  if constexpr (sizeof(T) <= 2)
    if (p->a.cols <= TEAM * N) return launch<T, I, N, 1>(p, o, alike, d, stream);
  return launch<T, I, N, CHUNKS>(p, o, alike, d, stream);
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const operands &o, bool alike,
                        const struct shunt_device *d, cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? with_loads<T, int32_t>(p, o, alike, d, stream)
                                      : with_loads<T, int64_t>(p, o, alike, d, stream);
}

} // namespace

shunt_status rows_with(const struct shunt_sddmm *p, const operands &o,
                       struct shunt_csr_sddmm_pattern pattern, const struct shunt_device *d,
                       void *room, shunt_stream stream)
{
  const bool alike = pattern.alike;
  if (!pattern.crowded && panel_pays(p, o, d)) return panel_with(p, o, d, room, stream);
  switch (p->a.type) {
  case SHUNT_F16: return with_index<__half>(p, o, alike, d, stream);
  case SHUNT_BF16: return with_index<__nv_bfloat16>(p, o, alike, d, stream);
  case SHUNT_F32: return with_index<float>(p, o, alike, d, stream);
  case SHUNT_F64: return with_index<double>(p, o, alike, d, stream);
  case SHUNT_C32: return with_index<complex<float>>(p, o, alike, d, stream);
  case SHUNT_C64: return with_index<complex<double>>(p, o, alike, d, stream);
  case SHUNT_I8: return with_index<int8_t>(p, o, alike, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

shunt_status copied(const struct shunt_sddmm *p, struct shunt_csr_sddmm_pattern pattern,
                    const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                    shunt_stream stream)
{
  if (workspace_bytes < operands_bytes(p) + panel_bytes(p, d)) return SHUNT_E_WORKSPACE;
  operands o;
  const shunt_status s = make_operands(p, d, workspace, workspace_bytes, stream, &o);
  if (s != SHUNT_OK) return s;
  return rows_with(p, o, pattern, d, (char *)workspace + operands_bytes(p), stream);
}

} // namespace csr::sddmm
} // namespace shunt

extern "C" size_t shunt_csr_sddmm_workspace(const struct shunt_sddmm *p,
                                            const struct shunt_device *d)
{
  using namespace shunt::csr::sddmm;
  return shunt_csr_sddmm_direct(p) ? 0 : operands_bytes(p) + panel_bytes(p, d);
}

extern "C" shunt_status shunt_csr_sddmm_cuda(const struct shunt_sddmm *p,
                                             struct shunt_csr_sddmm_pattern pattern,
                                             const struct shunt_device *d, void *workspace,
                                             size_t workspace_bytes, shunt_stream stream)
{
  using namespace shunt::csr::sddmm;
  const shunt_status s = check_problem(p);
  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  if (shunt_csr_sddmm_direct(p)) return direct(p, d, stream);
  return copied(p, pattern, d, workspace, workspace_bytes, stream);
}
