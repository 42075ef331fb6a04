// srbcrs_sddmm.cu: launch of SDDMM over strides (srbcrs_sddmm.cuh).
//
// The strides of a group are shared out among `phases` warps, in turn.  A block's warps take the
// same phase of groups side by side: so they walk the same columns at the same time, and rows of B
// that two groups want are fetched from L2 once.
//
//   group 0   | stride 0 | stride 1 | stride 2 | stride 3 | ..      2 phases:
//   group 1   | stride 0 | stride 1 | stride 2 | stride 3 | ..      block 0 takes strides 0, 2, ..
//    :                                                              block 1 takes strides 1, 3, ..
//   group 11  | stride 0 | stride 1 | ..
//
// The grid's y is the problem.
#include "kernels/common/early_launch.cuh"
#include "kernels/srbcrs/srbcrs_sddmm.cuh"

namespace shunt
{
namespace srbcrs
{
namespace sddmm
{

template <int Bits>
constexpr int warps_of = Bits == 16 ? SHUNT_SRBCRS_SDDMM_WARPS_16 : SHUNT_SRBCRS_SDDMM_WARPS;
template <int Bits>
constexpr int blocks_of = Bits == 16 ? SHUNT_SRBCRS_SDDMM_RESIDENT_16 : SHUNT_SRBCRS_SDDMM_RESIDENT;

template <int Bits, bool Signed>
__global__ void __launch_bounds__(warps_of<Bits> * 32, blocks_of<Bits>)
    sddmm_strides(const __grid_constant__ arguments p)
{
  wait_for_previous();
  let_next_in();
  const int64_t block = blockIdx.x;
  const int64_t group = block / p.phases * warps_of<Bits> + threadIdx.x / 32;
  if (group >= p.v.groups) return;
  const int64_t begin = __ldg(p.v.begin + group) / kStride;
  const int64_t end = (__ldg(p.v.end + group) + kStride - 1) / kStride;
  int64_t stride = begin + block % p.phases;
  if (stride >= end) return;
  multiplier<Bits, Signed> m(p, group);
  lane_lists now = m.lists(stride);
  while (stride < end) {
    const int64_t next = stride + p.phases;
    lane_lists ahead = now;
    if (next < end) ahead = m.lists(next);
    m.run(now);
    m.store(now, stride);
    stride = next, now = ahead;
  }
}

static shunt_status check(const struct shunt_srbcrs_sddmm *p, const struct shunt_srbcrs *v)
{
  if (!shunt_is_scaled_type(p->scaling.type) || p->a.bits != p->b.bits) return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->a, v->rows, p->a.cols) ||
      !shunt_integers_fit(&p->b, v->cols, p->a.cols))
    return SHUNT_E_ARGUMENT;
  if (!shunt_srbcrs_problems_fit(&p->problems, v->height)) return SHUNT_E_ARGUMENT;
  return p->values && (uintptr_t)p->values % 16 == 0 ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

template <int Bits, bool Signed>
static shunt_status launch(const arguments &k, int64_t problems, const struct shunt_device *d,
                           cudaStream_t stream)
{
  constexpr int warps = warps_of<Bits>;
  const int64_t blocks = (k.v.groups + warps - 1) / warps * k.phases;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(problems));
  return launch_early(sddmm_strides<Bits, Signed>, grid, dim3(warps * 32), d, stream, k);
}

} // namespace sddmm
} // namespace srbcrs
} // namespace shunt

extern "C" shunt_status shunt_srbcrs_sddmm_cuda(const struct shunt_srbcrs_sddmm *p,
                                                const struct shunt_srbcrs *v, int64_t phases,
                                                const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::srbcrs::sddmm;
  const shunt_status s = shunt::srbcrs::sddmm::check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  if (phases < 1 || phases > INT32_MAX) return SHUNT_E_ARGUMENT;
  const int64_t problems = shunt_srbcrs_count(&p->problems);
  const arguments k = {
      *v, p->a, p->b, p->scaling, p->values, static_cast<int>(phases), p->problems.places};
  const bool is_signed = !p->a.is_unsigned && !p->b.is_unsigned;
  if (p->a.bits == 4) return launch<4, false>(k, problems, d, stream);
  if (p->a.bits == 8)
    return is_signed ? launch<8, true>(k, problems, d, stream)
                     : launch<8, false>(k, problems, d, stream);
  return is_signed ? launch<16, true>(k, problems, d, stream)
                   : launch<16, false>(k, problems, d, stream);
}
