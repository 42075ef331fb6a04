// parity_cases_scalars.h: alpha = 0 on the device, where NaN and Inf stand in A or B.
//
// cuSPARSE documents C = alpha op(A) op(B) + beta C and no exception for alpha = 0.  Which products
// make 0 x NaN depends on format and algorithm, and on the version (shunt-cusparse(7)).
#pragma once
#include "tests/gpu/blackbox/parity_case.h"

namespace parity
{

// c with NaN or Inf in A or B, small and of a size that packed copies serve.
inline void add_absorbed(List &l, Case c, const std::string &what)
{
  static const int specials[] = {NAN_SPARSE, NAN_DENSE, INF_DENSE};
  c.alpha = 0;
  c.device_scalars = true;
  for (int large = 0; large < 2; large++)
    for (int i = 0; i < 3; i++) {
      Case d = c;
      d.special = specials[i];
      if (large) {
        d.m = d.k = 512;
        d.n = 128;
        d.density = 0.6;
        d.repeats = 4;
      } else if (c.format == BSR || c.format == ELL)
        d.m = d.k = 64;
      d.beta = i == 1 ? 0.5 : 0;
      l.add(d, text("alpha 0, %s, %s%s", SPECIAL[i == 0 ? 0 : i + 1], what.c_str(),
                    large ? ", large" : ""));
    }
}

inline void add_zero_alpha(List &l)
{
  static const cudaDataType types[][2] = {{CUDA_R_16F, CUDA_R_16F},
                                          {CUDA_R_16BF, CUDA_R_16BF},
                                          {CUDA_R_16F, CUDA_R_32F},
                                          {CUDA_R_32F, CUDA_R_32F},
                                          {CUDA_R_64F, CUDA_R_64F}};
  for (auto &t : types) {
    Case c = typed(t[0]);
    c.type_c = t[1];
    const std::string name = std::string(type_text(t[0])) + " > " + type_text(t[1]);
    for (int algorithm : {0, 4, 6, 12})
      for (int order = 1; order <= 2; order++) {
        Case d = c;
        d.algorithm = algorithm;
        d.order_first = d.order_second = order;
        add_absorbed(l, d, name + text(", CSR algorithm %d, order %d", algorithm, order));
      }
    Case d = c;
    d.op_a = 1;
    add_absorbed(l, d, name + ", CSR transposed");
    for (int algorithm : {0, 1, 2, 3, 5}) {
      d = c;
      d.format = COO;
      d.algorithm = algorithm;
      add_absorbed(l, d, name + text(", COO algorithm %d", algorithm));
    }
    static const char *const names[] = {"CSC", "BSR", "Blocked-ELL"};
    for (Format f : {CSC, BSR, ELL}) {
      d = c;
      d.format = f;
      d.block = 8;
      add_absorbed(l, d, name + ", " + names[f - CSC]);
    }
    d = c;
    d.sddmm = true;
    add_absorbed(l, d, name);
  }
}

} // namespace parity
