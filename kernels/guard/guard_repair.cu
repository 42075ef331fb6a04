// guard_repair.cu: checks and launch of the repair kernel (repair.cuh), and the arguments of all
// kernels that repair.
#include <cuda_runtime.h>

#include "kernels/guard/guard.h"
#include "kernels/guard/repair.cuh"

namespace shunt
{
namespace guard
{

static bool check_table(const shunt_guard *r)
{
  const int count = r->set_count;
  return r->sets && r->key && count > 0 && count <= 1 << 20 && (count & (count - 1)) == 0 &&
         reinterpret_cast<uintptr_t>(r->sets) % SHUNT_GUARD_SET_BYTES == 0;
}

static int64_t strips_of(const shunt_spmm *p)
{
  return p->c.rows * ((p->c.cols + 31) / 32);
}

shunt_status make_repair_args(const shunt_spmm *p, const shunt_guard *r, int helpers,
                              repair_args *to)
{
  const int64_t strips = strips_of(p), most_pieces = 1 << 16;
  *to = {};
  if (!check_table(r)) return SHUNT_E_ARGUMENT;
  to->expected = r->expected;
  to->table = make_word_table(r->sets, (uint32_t)r->set_count, r->key);
  to->repaired = r->repaired;
  to->changed = r->changed;
  to->nonfinite = r->nonfinite;
  to->wait_cycles = r->wait_cycles;
  to->start = r->start;
  to->helpers = helpers;
  to->piece = strips > 4 * most_pieces ? (strips + most_pieces - 1) / most_pieces : 4;
  if (!r->expected) return SHUNT_OK;
  const struct shunt_csr hashed = r->of_values ? shunt_fp_values_of(&p->a) : p->a;
  return make_hash_job(&hashed, &to->arrays);
}

static bool is_built(shunt_type type, shunt_type out, shunt_type compute)
{
  if (shunt_type_is_complex(type) || type == SHUNT_F64) return out == type && compute == type;
  if (type == SHUNT_I8) return out == compute && (out == SHUNT_I32 || out == SHUNT_F32);
  if (type != SHUNT_F16 && type != SHUNT_BF16 && type != SHUNT_F32) return false;
  return compute == SHUNT_F32 && (out == type || out == SHUNT_F32);
}

static shunt_status check(const shunt_spmm *p, const shunt_guard *r)
{
  const shunt_type type = p->a.value_type;
  const shunt_status status = check_csr_operands(p, p->a.rows, p->a.cols);
  if (status != SHUNT_OK) return status;
  if (!is_built(type, p->c.type, p->compute)) return SHUNT_E_UNSUPPORTED;
  return r->product ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

// Blocks enough for A's arrays, beside the one that probes, and for C; as many as fit at once.
static int64_t blocks_for(const repair_args &r, int64_t strips, const shunt_device *d)
{
  const int most = d->multiprocessors * hash_blocks_per_multiprocessor;
  const int room = most < most_blocks ? most : most_blocks;
  const int64_t hashing = hash_blocks(r.arrays.tiles, d, room) + 1;
  // What is mostly hashed before the product ends is not worth many blocks behind it.
  const bool soon =
      r.start == SHUNT_GUARD_OVERLAPPED && (int64_t)r.arrays.tiles * SHUNT_FP_TILE <= 9 << 20;
  const int64_t repairing = soon ? d->multiprocessors + 1 : strips / (r.piece * hash_warps);
  const int64_t blocks = soon || repairing > hashing ? repairing : hashing;
  return blocks < room ? blocks : room;
}

template <class S, class Out, class T = float>
static shunt_status launch(const shunt_spmm *p, const repair_args &r, const shunt_device *d,
                           cudaStream_t stream)
{
  const csr_operands<T> a = make_csr_operands<T>(p);
  const dim3 grid((unsigned)blocks_for(r, strips_of(p), d)), block(hash_threads);
  if (r.start == SHUNT_GUARD_BEHIND)
    return launch_early(spmm_repair<S, Out, T, false>, grid, block, d, stream, a, r);
  if (r.start == SHUNT_GUARD_EARLY)
    return launch_early(spmm_repair<S, Out, T, true>, grid, block, d, stream, a, r);
  spmm_repair<S, Out, T, true><<<grid, block, 0, stream>>>(a, r);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class S>
static shunt_status launch_as(const shunt_spmm *p, const repair_args &r, const shunt_device *d,
                              cudaStream_t stream)
{
  return p->c.type == SHUNT_F32 ? launch<S, float>(p, r, d, stream) : launch<S, S>(p, r, d, stream);
}

template <class R>
static shunt_status launch_complex(const shunt_spmm *p, const repair_args &r, const shunt_device *d,
                                   cudaStream_t stream)
{
  return launch<complex<R>, complex<R>, complex<R>>(p, r, d, stream);
}

} // namespace guard
} // namespace shunt

extern "C" shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::guard;
  static_assert(sizeof(word_set) == SHUNT_GUARD_SET_BYTES, "a set of words");
  repair_args args;
  shunt_status status = check(p, r);
  if (status != SHUNT_OK) return status;
  status = make_repair_args(p, r, d->multiprocessors, &args);
  if (status != SHUNT_OK || p->c.rows == 0 || p->c.cols == 0) return status;
  args.probe = make_probe(r->product);
  switch (p->a.value_type) {
  case SHUNT_F16: return launch_as<__half>(p, args, d, stream);
  case SHUNT_BF16: return launch_as<__nv_bfloat16>(p, args, d, stream);
  case SHUNT_I8:
    return p->compute == SHUNT_I32 ? launch<int8_t, int32_t, int32_t>(p, args, d, stream)
                                   : launch<int8_t, float>(p, args, d, stream);
  case SHUNT_F64: return launch<double, double, double>(p, args, d, stream);
  case SHUNT_C32: return launch_complex<float>(p, args, d, stream);
  case SHUNT_C64: return launch_complex<double>(p, args, d, stream);
  default: return launch<float, float>(p, args, d, stream);
  }
}
