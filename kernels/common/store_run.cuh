// store_run.cuh: sums that a thread has of neighbouring elements of a row, to C.
#pragma once
#include <stdint.h>

#include "kernels/common/number.cuh"

namespace shunt
{

// c[i stride] = alpha v[i] + beta c[i stride] for i < Count and i < room, how many elements the row
// has from c on.  C's old content is not read where beta is 0.  at_once: stride is 1 and c a
// multiple of Wide elements, so that they are stored Wide by Wide where all have room.
template <int Wide, class Out, class Sum, int Count>
__device__ __forceinline__ void store_run(Out *c, int64_t stride, int room, bool at_once, Sum alpha,
                                          Sum beta, const Sum (&v)[Count])
{
  if constexpr (Count % Wide == 0) {
    if (at_once && Count <= room) {
#pragma unroll
      for (int j = 0; j < Count; j += Wide) {
        vec<Out, Wide> *to = reinterpret_cast<vec<Out, Wide> *>(c + j);
        vec<Out, Wide> out = {};
        if (beta != Sum(0)) out = *to;
#pragma unroll
        for (int i = 0; i < Wide; i++) {
          Sum x = scale(alpha, v[j + i]);
          if (beta != Sum(0)) x = multiply_add(beta, widen<Sum>(out.at[i]), x);
          out.at[i] = narrow<Out>(x);
        }
        *to = out;
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < Count; i++) {
    if (i >= room) break;
    Sum x = scale(alpha, v[i]);
    if (beta != Sum(0)) x = multiply_add(beta, widen<Sum>(c[i * stride]), x);
    c[i * stride] = narrow<Out>(x);
  }
}

} // namespace shunt
