// dense_spmm_fma.cu: checks and launch of dense_spmm_fma.cuh.
#include "kernels/common/allow_shared.h"
#include "kernels/common/divide.h"
#include "kernels/common/tensor_operand.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/dense/dense_spmm_fma.cuh"

namespace shunt
{
namespace dense
{
namespace fma
{

// Along K: `lines` are lines of memory.
static source make_source(const struct shunt_dense &stored, int64_t lines, int64_t depth)
{
  return {static_cast<const float *>(stored.values), stored.row_stride, (int)lines, (int)depth};
}

static bool is_operand(const struct shunt_dense &m)
{
  return m.type == SHUNT_F32 && (m.col_stride == 1 || m.row_stride == 1) &&
         on_16_bytes(as_stored(m)) && m.rows < INT32_MAX - 1024 && m.cols < INT32_MAX - 1024;
}

static bool takes(const struct shunt_dense *b, const struct shunt_dense *c,
                  const struct shunt_device *on)
{
  return on->compute_capability >= 80 && is_operand(*b) && c->type == SHUNT_F32 &&
         (c->col_stride == 1 || c->row_stride == 1) && c->rows >= 1 && c->cols >= 1 && b->rows >= 1;
}

static destination as_memory(const struct shunt_dense &c)
{
  const struct shunt_dense stored = as_stored(c);
  return {static_cast<float *>(stored.values), stored.row_stride, (int)stored.rows,
          (int)stored.cols, c.col_stride == 1};
}

static int64_t padded(const struct shunt_dense &c)
{
  return shunt_div_up(as_stored(c).cols, 4) * 4;
}

template <class T>
static shunt_status launch(const arguments &p, int64_t blocks, const struct shunt_device *on,
                           cudaStream_t stream)
{
  if (T::shared_bytes > on->shared_per_block) return SHUNT_E_UNSUPPORTED;
  if (allow_shared<&spmm_dense_fma<T>>(T::shared_bytes) != cudaSuccess) return SHUNT_E_CUDA;
  return launch_early_with(T::shared_bytes, &spmm_dense_fma<T>, dim3((unsigned)blocks),
                           dim3(T::threads), on, stream, p);
}

// By tiles of 64 rows, whichever way the operands lie.
template <int Columns, int OwnRows, int Stages>
static shunt_status launch_shape(const arguments &p, bool d_along, bool b_along, int64_t blocks,
                                 const struct shunt_device *on, cudaStream_t stream)
{
  if (d_along && b_along)
    return launch<tile<Columns, OwnRows, Stages, true, true>>(p, blocks, on, stream);
  if (d_along) return launch<tile<Columns, OwnRows, Stages, true, false>>(p, blocks, on, stream);
  if (b_along) return launch<tile<Columns, OwnRows, Stages, false, true>>(p, blocks, on, stream);
  return launch<tile<Columns, OwnRows, Stages, false, false>>(p, blocks, on, stream);
}

// A D of one row, or a B of one column, lies both ways.
static shunt_status multiply(arguments p, const struct shunt_dense_shape &s,
                             const struct shunt_dense *d, const struct shunt_dense *b,
                             const struct shunt_dense *c, const struct shunt_device *on,
                             cudaStream_t stream)
{
  const bool d_along = d->col_stride == 1, b_along = b->col_stride != 1;
  const int64_t tiles_across = shunt_div_up(c->cols, s.columns);
  const int64_t blocks = shunt_div_up(c->rows, s.rows) * tiles_across * s.split;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  p.tiles_across = (int)tiles_across;
  if (s.rows != 64) return SHUNT_E_UNSUPPORTED;
  if (s.columns == 64) return launch_shape<64, 8, 3>(p, d_along, b_along, blocks, on, stream);
  if (s.columns == 32) return launch_shape<32, 4, 4>(p, d_along, b_along, blocks, on, stream);
  if (s.columns == 16) return launch_shape<16, 2, 4>(p, d_along, b_along, blocks, on, stream);
  return SHUNT_E_UNSUPPORTED;
}

static shunt_status run(const struct shunt_dense *d, const struct shunt_dense *b,
                        const struct shunt_dense *c, const struct shunt_scalar *alpha,
                        const struct shunt_dense_shape *s, void *workspace,
                        const struct shunt_device *on, cudaStream_t stream)
{
  if (!takes(b, c, on) || !is_operand(*d) || s->rows < 1 || s->columns < 1 || s->split < 1)
    return SHUNT_E_UNSUPPORTED;
  if (d->rows != c->rows || d->cols != b->rows || b->cols != c->cols) return SHUNT_E_ARGUMENT;
  arguments p = {};
  p.d = make_source(as_stored(*d), d->rows, d->cols);
  p.b = make_source(as_stored(*b), b->cols, d->cols);
  p.out = as_memory(*c);
  p.parts = s->split;
  p.alpha = make_scalar_arg<float>(*alpha);
  if (s->split == 1) return multiply(p, *s, d, b, c, on, stream);
  p.out.values = static_cast<float *>(workspace);
  p.out.pitch = padded(*c);
  p.part_pitch = p.out.pitch * p.out.lines;
  p.alpha = {nullptr, 1};
  const shunt_status status = multiply(p, *s, d, b, c, on, stream);
  if (status != SHUNT_OK) return status;
  const int64_t blocks = shunt_div_up(p.part_pitch, 4 * kJoining);
  return launch_early(join_parts, dim3((unsigned)blocks), dim3(kJoining), on, stream, as_memory(*c),
                      static_cast<const float *>(workspace), p.out.pitch, p.part_pitch, p.parts,
                      make_scalar_arg<float>(*alpha));
}

} // namespace fma
} // namespace dense
} // namespace shunt

extern "C" bool shunt_dense_spmm_fma_takes(const struct shunt_dense *b, const struct shunt_dense *c,
                                           const struct shunt_device *on)
{
  return shunt::dense::fma::takes(b, c, on);
}

extern "C" shunt_status
shunt_dense_spmm_fma_cuda(const struct shunt_dense *d, const struct shunt_dense *b,
                          const struct shunt_dense *c, const struct shunt_scalar *alpha,
                          const struct shunt_dense_shape *shape, void *workspace,
                          const struct shunt_device *on, shunt_stream stream)
{
  return shunt::dense::fma::run(d, b, c, alpha, shape, workspace, on, stream);
}
