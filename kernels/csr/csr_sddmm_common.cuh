// csr_sddmm_common.cuh: what the SDDMM kernels share: the arguments, the search for
// the row of an entry, the walk over rows, and the way a result is stored.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   entry p = (i, j)
//
// Both operands stand with the inner dimension along memory:
//
//   a  row i of A       | k = 0 .. K-1 |pad|    lda elements from row to row
//   b  column j of B    | k = 0 .. K-1 |pad|    ldb elements from column to column
//
// What stands in the padding is never multiplied: it may be NaN.
//
// Words: `position` counts the entries of C in CSR order from 0 (the index base is
// taken off); `lane` is the thread's place in its warp.
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"

namespace shunt
{
namespace csr::sddmm
{

constexpr unsigned ALL = 0xffffffffu; // every lane of a warp
constexpr int WARP = 32;

// The type that sums of T are kept in.
template <class T> struct compute_of {
  using type = float;
};
template <> struct compute_of<double> {
  using type = double;
};
template <class R> struct compute_of<complex<R>> {
  using type = complex<R>;
};
template <> struct compute_of<int8_t> {
  using type = int32_t; // exact, or wrapping
};
template <class T> using compute_t = typename compute_of<T>::type;

// I is the index type, int32_t or int64_t.  Positions fit in it.
template <class I> struct pattern {
  const I *offsets; // [rows + 1]
  const I *columns; // [nnz]
  int64_t rows;
  I nnz;
  I base;
};

// C.values and the scalars.  `wide`: 16-bit operands and results in f32; or int8 ones, whose
// scalars then are the bits of floats.
template <class T> struct output {
  void *values;
  bool wide;
  scalar_arg<compute_t<T>> alpha, beta;
};

template <class T, class I> struct args {
  const T *a, *b;
  int64_t lda, ldb;
  int64_t k;
  pattern<I> c;
  output<T> out;
};

// alpha and beta as read once by each thread.
template <class T> struct scale {
  compute_t<T> alpha, beta;
  __device__ __forceinline__ explicit scale(const output<T> &out)
      : alpha(out.alpha.get()), beta(out.beta.get())
  {
  }
};

// values[position] = alpha * dot + beta * values[position], rounded once.
template <class S, class C>
__device__ __forceinline__ void store_as(void *values, int64_t position, C dot, C alpha, C beta)
{
  S *p = static_cast<S *>(values) + position;
  C result = multiply(alpha, dot);
  if (beta != C(0)) result = multiply_add(beta, widen<C>(*p), result);
  *p = narrow<S>(result);
}

template <class T>
__device__ __forceinline__ void store_value(const output<T> &out, const scale<T> &by,
                                            int64_t position, compute_t<T> dot)
{
  if constexpr (sizeof(T) == 1) {
    if (out.wide)
      store_as<float>(out.values, position, (float)dot, __int_as_float(by.alpha),
                      __int_as_float(by.beta));
    else
      store_as<int32_t>(out.values, position, dot, by.alpha, by.beta);
  } else if constexpr (sizeof(T) == 2) {
    if (out.wide)
      store_as<float>(out.values, position, dot, by.alpha, by.beta);
    else
      store_as<T>(out.values, position, dot, by.alpha, by.beta);
  } else {
    store_as<T>(out.values, position, dot, by.alpha, by.beta);
  }
}

// The sums of a team's entries, folded over its lanes, of which this is lane q; they turn as
// they go, which leaves lane q the total of the team's entry q:
//
//   sums   u0..u7  --xor 4-->  4 of them  --xor 2-->  2  --xor 1-->  1
template <class C, int Team> __device__ __forceinline__ C fold_team(C (&sum)[Team], int q)
{
#pragma unroll
  for (int half = Team / 2; half; half /= 2) {
    const bool upper = q & half;
#pragma unroll
    for (int i = 0; i < half; i++) {
      C sent = upper ? sum[i] : sum[i + half];
      C kept = upper ? sum[i + half] : sum[i];
      sum[i] = add(kept, shuffle_xor(sent, half));
    }
  }
  return sum[0];
}

// The largest r in [low, count) with offsets[r * step] <= x, found by the whole warp, 32
// probes at a time: first of the neighbours of `guess`, which is where rows of like
// length put it, then of the whole range.  Needs offsets[low * step] <= x < the end of
// row count - 1.
template <class I>
__device__ __forceinline__ int64_t find_row(const I *offsets, int64_t low, int64_t count, int step,
                                            I x, int64_t guess, int lane)
{
  int64_t high = count, stride = 1;
  int64_t from = max(low, min(guess - WARP / 2, count - WARP));
  while (high - low > 1) {
    int64_t probe = from + lane * stride;
    bool below = probe < high && __ldg(offsets + probe * step) <= x;
    int last = __popc(__ballot_sync(ALL, below)) - 1;
    if (last < 0) {
      high = from; // the guess was too high
    } else {
      if (last < WARP - 1) high = min(high, from + (last + 1) * stride);
      low = from + last * stride;
    }
    from = low;
    stride = (high - low + WARP - 1) / WARP;
  }
  return low;
}

// Where entry `position` would be if all rows had one length.
template <class I>
__device__ __forceinline__ int64_t guess_row(const pattern<I> &c, int64_t position)
{
  return (int64_t)((float)position / (float)c.nnz * (float)c.rows);
}

// A warp's view of the rows around a position: lane l holds where row `first` + l
// ends.  Empty rows end where they begin.
//
//   position    0  1  2  3 | 4  5 | | 6 ...        '|' a row's end
//   ends        l=0: 4  l=1: 6  l=2: 6  l=3: ...
template <class I> struct row_window {
  int64_t first;
  I end;

  // The window's first row holds `position`; it is `low` or a later one.
  __device__ __forceinline__ void seek(const pattern<I> &c, int64_t low, int64_t guess, I position,
                                       int lane)
  {
    first = find_row(c.offsets, low, c.rows, 1, I(position + c.base), guess, lane);
    load(c, lane);
  }
  __device__ __forceinline__ void load(const pattern<I> &c, int lane)
  {
    int64_t i = first + 1 + lane;
    end = __ldg(c.offsets + (i < c.rows ? i : c.rows)) - c.base;
  }
  // Moves on until the window holds `position`, which is not before the window;
  // returns the position where the window ends.
  __device__ __forceinline__ I hold(const pattern<I> &c, I position, int lane)
  {
    I last = __shfl_sync(ALL, end, WARP - 1);
    if (last <= position) {
      seek(c, first + WARP, first + WARP, position, lane);
      last = __shfl_sync(ALL, end, WARP - 1);
    }
    return last;
  }
  // Which of the window's rows holds `position`, each lane asking for its own.
  __device__ __forceinline__ int row_of(I position) const
  {
    int row = 0;
#pragma unroll
    for (int step = WARP / 2; step; step /= 2)
      if (__shfl_sync(ALL, end, row + step - 1) <= position) row += step;
    return row;
  }
  // Drops `rows` rows from the front.
  __device__ __forceinline__ void advance(const pattern<I> &c, int rows, int lane)
  {
    first += rows;
    load(c, lane);
  }
};

} // namespace csr::sddmm
} // namespace shunt
