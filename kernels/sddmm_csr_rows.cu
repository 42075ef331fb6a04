// sddmm_csr_rows.cu: SDDMM for any pattern: dot products.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   p = (i, j)
//
// Entries are cut into runs of equal length, one warp a run, so long rows spread over
// many warps and short ones share one; the row where a run begins is found by a
// search in row_offsets.
//
//   entries   | row 0 |r1|        row 2             |r3|r4|   row 5   |
//   warps     |---- 0 ----|---- 1 ----|---- 2 ----|---- 3 ----|-- 4 --|
//
// Patterns so dense that neighbouring rows share most of their columns take
// sddmm_csr_panel.cu instead.  Operands as sddmm_csr_operands.cuh makes them; the
// product of a batch of entries is in sddmm_csr_rows.cuh.
//
// Roofline: every entry gathers a column of B from L2 (A's row stays in registers or
// L1): nnz * K * size / 8.5 TB/s.
#include "kernels/sddmm_csr_operands.cuh"
#include "kernels/sddmm_csr_rows.cuh"

namespace shunt {
namespace sddmm {
namespace {

constexpr int THREADS = 128;

template <class T, class I, int N, int Chunks>
__global__ void __launch_bounds__(THREADS, 4) rows_kernel(args<T, I> p, int run)
{
  const int64_t warp = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
  if (warp * run >= p.c.nnz) return;
  const I begin = I(warp * run);
  const I end = p.c.nnz - begin < run ? p.c.nnz : I(begin + run);
  const int lane = threadIdx.x % WARP;
  row_window<I> window;
  window.seek(p.c, 0, guess_row(p.c, begin), begin, lane);
  rows_range<T, I, N, Chunks>(p, window, begin, end, lane);
}

// Enough warps to fill the device a few times over, each with a run worth its search.
int run_length(int64_t nnz, const struct shunt_device *d)
{
  int64_t warps = (int64_t)(d->multiprocessors > 0 ? d->multiprocessors : 1) * 16 * 3;
  int64_t run = nnz / warps / BATCH * BATCH;
  return (int)(run < BATCH ? BATCH : run > 16 * BATCH ? 16 * BATCH : run);
}

template <class T, class I, int N, int Chunks>
shunt_status launch(const struct shunt_sddmm *p, const operands &o, const struct shunt_device *d,
                    cudaStream_t stream)
{
  args<T, I> a = make_args<T, I>(p, o);
  int run = run_length(p->c.nnz, d);
  int64_t warps = (p->c.nnz + run - 1) / run;
  int64_t blocks = (warps + THREADS / WARP - 1) / (THREADS / WARP);
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  rows_kernel<T, I, N, Chunks><<<(unsigned)blocks, THREADS, 0, stream>>>(a, run);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T, class I>
shunt_status with_loads(const struct shunt_sddmm *p, const operands &o,
                        const struct shunt_device *d, cudaStream_t stream)
{
  constexpr int N = 16 / (int)sizeof(T);
  if (!o.aligned) return launch<T, I, 1, wide_slab<T, 1>>(p, o, d, stream);
  if (p->a.cols <= batch<T, I, N, NARROW>::SLAB) return launch<T, I, N, NARROW>(p, o, d, stream);
  return launch<T, I, N, wide_slab<T, N>>(p, o, d, stream);
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const operands &o,
                        const struct shunt_device *d, cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? with_loads<T, int32_t>(p, o, d, stream)
                                      : with_loads<T, int64_t>(p, o, d, stream);
}

}  // namespace

shunt_status rows_with(const struct shunt_sddmm *p, const operands &o,
                       const struct shunt_device *d, void *room, shunt_stream stream)
{
  if (panel_pays(p, o, d)) return panel_with(p, o, d, room, stream);
  switch (p->a.type) {
  case SHUNT_F16: return with_index<__half>(p, o, d, stream);
  case SHUNT_BF16: return with_index<__nv_bfloat16>(p, o, d, stream);
  case SHUNT_F32: return with_index<float>(p, o, d, stream);
  case SHUNT_F64: return with_index<double>(p, o, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

}  // namespace sddmm
}  // namespace shunt

extern "C" size_t shunt_sddmm_csr_rows_workspace(const struct shunt_sddmm *p,
                                                 const struct shunt_device *d)
{
  using namespace shunt::sddmm;
  return operands_bytes(p) + panel_bytes(p, d);
}

extern "C" shunt_status shunt_sddmm_csr_rows_cuda(const struct shunt_sddmm *p,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t workspace_bytes, shunt_stream stream)
{
  using namespace shunt::sddmm;
  shunt_status s = check_problem(p);
  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  if (workspace_bytes < shunt_sddmm_csr_rows_workspace(p, d)) return SHUNT_E_WORKSPACE;
  operands o;
  s = make_operands(p, d, workspace, workspace_bytes, stream, &o);
  if (s != SHUNT_OK) return s;
  return rows_with(p, o, d, (char *)workspace + operands_bytes(p), stream);
}
