// srbcrs_integer_spmm.cuh: SpMM over strides for operands of 16, 12, 8 and 4 bits with scaled results.
// The kernels of each width of A are compiled by themselves (srbcrs_integer_spmm_16.cu ..).
#pragma once
#include "kernels/srbcrs/srbcrs_scaling.cuh"
#include "kernels/srbcrs/srbcrs_spmm_launch.cuh"

namespace shunt
{
namespace srbcrs
{

// Rows of C by rows, as struct shunt_scaling says.
struct scaled_store {
  static constexpr bool kWords = false, kEarly = true;
  void *c;
  int64_t row_stride;
  bool wide; // stored by 16 bytes
  struct shunt_scaling scaling;
  int64_t rows, cols, count; // of a problem, and how many of them
  int64_t first, heads, head_stride, batch_stride;
  bool is_unsigned; // B

  unsigned problems() const { return static_cast<unsigned>(count); }

  // Where the block's problem has its C.
  __device__ __forceinline__ int64_t origin() const
  {
    if (count == 1) return 0;
    const int64_t z = first + blockIdx.y;
    return z / heads * batch_stride + z % heads * head_stride;
  }

  template <class Out, class Sum, int X>
  __device__ __forceinline__ void put_as(float of_row, int64_t row, int column, int room,
                                         const Sum (&sums)[X]) const
  {
    constexpr int kWide =
        X < 16 / static_cast<int>(sizeof(Out)) ? X : 16 / static_cast<int>(sizeof(Out));
    Out *to = static_cast<Out *>(c) + origin() + row * row_stride + column;
    vec<Out, kWide> out[X / kWide] = {};
#pragma unroll
    for (int i = 0; i < X; i++)
      if (i < room)
        out[i / kWide].at[i % kWide] =
            scaled<Out>(sums[i], of_row * scale_of_column(scaling, blockIdx.y * cols + column + i));
    if (wide && X <= room) {
#pragma unroll
      for (int i = 0; i < X / kWide; i++) reinterpret_cast<vec<Out, kWide> *>(to)[i] = out[i];
      return;
    }
#pragma unroll
    for (int i = 0; i < X; i++)
      if (i < room) to[i] = out[i / kWide].at[i % kWide];
  }

  template <int X>
  __device__ __forceinline__ void put(int64_t row, int column, int room, const int (&sums)[X]) const
  {
    const float of_row = factor_of(scaling, blockIdx.y, blockIdx.y * rows + row);
    with_result_type(scaling.type,
                     [&](auto out) { put_as<decltype(out)>(of_row, row, column, room, sums); });
  }
};

using scaled_arguments = arguments<scaled_store>;

shunt_status launch_integers_16(const scaled_arguments &k, int bits_b,
                                const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                                cudaStream_t stream);
shunt_status launch_integers_12(const scaled_arguments &k, int bits_b,
                                const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                                cudaStream_t stream);
shunt_status launch_integers_8(const scaled_arguments &k, int bits_b,
                               const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                               cudaStream_t stream);
shunt_status launch_integers_4(const scaled_arguments &k, int bits_b,
                               const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                               cudaStream_t stream);

} // namespace srbcrs
} // namespace shunt
