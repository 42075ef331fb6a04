// srbcrs_spmm_combined.cuh: SpMM of int8 with the scalars of cuSPARSE, C = alpha A B + beta C: what
// becomes of sums, and what kernels are told.
#pragma once
#include "kernels/common/scalar.cuh"
#include "kernels/common/spmm_operands.cuh"
#include "kernels/common/store_run.cuh"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/srbcrs/srbcrs_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

// alpha sum + beta C, in the type of C.
template <class T> struct combined_store {
  static constexpr bool kWords = true, kEarly = false; // what stands before it is a stranger's
  T *c;
  int64_t row_stride, col_stride;
  bool wide; // row-major, stored by 16 bytes
  scalar_arg<T> alpha, beta;

  unsigned problems() const { return 1; }

  template <int X>
  __device__ __forceinline__ void put(int64_t row, int column, int room, const int (&sums)[X]) const
  {
    T v[X];
#pragma unroll
    for (int i = 0; i < X; i++) v[i] = static_cast<T>(sums[i]);
    store_run<4>(c + row * row_stride + column * col_stride, col_stride, room, wide, alpha.get(),
                 beta.get(), v);
  }
};

template <class T>
static arguments<combined_store<T>> combined_arguments(const struct shunt_spmm *p,
                                                       const struct shunt_srbcrs *v,
                                                       const struct shunt_dense *b)
{
  arguments<combined_store<T>> k = {};
  k.v = *v;
  k.b = static_cast<const uint8_t *>(b->values);
  k.b_row_bytes = b->row_stride;
  k.n = static_cast<int>(p->b.cols);
  k.store = {static_cast<T *>(p->c.values),
             p->c.row_stride,
             p->c.col_stride,
             aligned(p->c),
             make_scalar_arg<T>(p->alpha),
             make_scalar_arg<T>(p->beta)};
  k.next_waits = p->next_waits;
  return k;
}

// SHUNT_OK, or what is wrong with p, or with v for it (NULL: with p alone).
shunt_status check(const struct shunt_spmm *p, const struct shunt_srbcrs *v);

// C by strips of B (srbcrs_spmm_strips.cu), which is read where b says, and copied there first.
shunt_status run_strips(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                        const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                        const struct shunt_device *d, cudaStream_t stream);

// C by tiles of B that are whole (srbcrs_spmm_whole.cu).
shunt_status run_whole(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                       const struct shunt_dense *b, const struct shunt_device *d,
                       cudaStream_t stream);

// With the proof inside (srbcrs_spmm_strips_proved.cu), and in how many rounds; 0: not so.
double strips_proved_rounds(const struct shunt_spmm *p, int height,
                            const struct shunt_srbcrs_shape *shape, const struct shunt_device *d);
shunt_status run_strips_proved(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                               const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                               const struct shunt_guard *r, const struct shunt_device *d,
                               cudaStream_t stream);

} // namespace srbcrs
} // namespace shunt
