// parity_cases_complex.h: odd calls of complex types.
//
// There is no reference for these: results are compared with the original's.
#pragma once
#include "tests/gpu/blackbox/parity_case.h"

namespace parity
{

// Operations, orders, algorithms.
inline void add_complex_shapes(List &l, cudaDataType t, bool sddmm)
{
  Case c = typed(t);
  c.sddmm = sddmm;
  c.alpha_imaginary = -0.75;
  for (int op_a = 0; op_a < 3; op_a++)
    for (int op_b = 0; op_b < 3; op_b++) {
      Case d = c;
      // SDDMM is not documented for H: the original's results vary.
      d.statuses_only = sddmm && (op_a == 2 || op_b == 2);
      d.op_a = op_a;
      d.op_b = op_b;
      d.beta = 0.5;
      d.beta_imaginary = 1.5;
      l.add(d, text("complex %s, op(A) %d, op(B) %d", type_text(t), op_a, op_b));
    }
  for (int first = 1; first <= 2; first++)
    for (int second = 1; second <= 2; second++)
      for (int extra : {0, 1, 3}) {
        Case d = c;
        d.order_first = first;
        d.order_second = second;
        d.extra_first = extra;
        d.extra_second = extra + 1;
        d.n = 33;
        d.beta_imaginary = extra ? -1 : 0;
        l.add(d, text("complex %s, orders %d %d, leading dimension + %d", type_text(t), first,
                      second, extra));
      }
  for (int algorithm : {4, 6, 12}) {
    if (sddmm) continue;
    Case d = c;
    d.algorithm = algorithm;
    d.preprocess = algorithm != 6;
    d.repeats = 3;
    l.add(d, text("complex %s, algorithm %d", type_text(t), algorithm));
  }
}

// Formats, index types, how the matrix is stored.
inline void add_complex_storage(List &l, cudaDataType t, bool sddmm)
{
  static const char *what[] = {"CSR", "COO", "CSC", "BSR", "Blocked-ELL"};
  for (Format f : {CSR, COO, CSC, BSR, ELL})
    for (int op = 0; op < 3; op++) {
      if (sddmm && (f != CSR || op)) continue;
      Case c = typed(t);
      c.sddmm = sddmm;
      c.format = f;
      c.op_a = op;
      c.m = c.k = 64;
      c.repeats = 3;
      c.beta = 1;
      l.add(c, text("complex %s, %s, op(A) %d", type_text(t), what[f], op));
      if (f == BSR || f == ELL) continue;
      Case d = c;
      d.base = 1;
      d.wide = true;
      d.device_scalars = true;
      d.alpha_imaginary = 0.25;
      l.add(d, text("complex %s, %s, op(A) %d, base 1, i64, device scalars", type_text(t), what[f],
                    op));
    }
  Case c = typed(t);
  c.sddmm = sddmm;
  Case d = c;
  d.unsorted = true;
  l.add(d, text("complex %s, unsorted", type_text(t)));
  d = c;
  d.repeated = true;
  l.add(d, text("complex %s, repeated columns", type_text(t)));
  d = c;
  d.batches = 3;
  d.algorithm = sddmm ? 0 : 6;
  d.beta = 0.5;
  l.add(d, text("complex %s, 3 batches", type_text(t)));
  d = c;
  d.null_buffer = true;
  l.add(d, text("complex %s, null buffer", type_text(t)));
}

// NaN, Inf, scalars that are 0 in one part or both.
inline void add_complex_numbers(List &l, cudaDataType t, bool sddmm)
{
  static const double scalars[][4] = {{0, 0, 0, 0},    {0, 0, 1, 0},   {0, 0, 0, 2},
                                      {0, 2, 0, 0},    {1, 0, 0, -1},  {0, -1, 0.5, 0.25},
                                      {1, 0, -0.0, 0}, {NAN, 0, 0, 0}, {1, NAN, 0, 0}};
  Case c = typed(t);
  c.sddmm = sddmm;
  for (auto &s : scalars)
    for (int device = 0; device < 2; device++) {
      Case d = c;
      d.alpha = s[0];
      d.alpha_imaginary = s[1];
      d.beta = s[2];
      d.beta_imaginary = s[3];
      d.device_scalars = device;
      l.add(d, text("complex %s, alpha %g %g, beta %g %g, %s", type_text(t), s[0], s[1], s[2], s[3],
                    device ? "device" : "host"));
    }
  add_specials(l, c, text("complex %s", type_text(t)));
}

inline void add_complex(List &l)
{
  for (cudaDataType t : {CUDA_C_32F, CUDA_C_64F})
    for (int sddmm = 0; sddmm < 2; sddmm++) {
      add_complex_shapes(l, t, sddmm);
      add_complex_storage(l, t, sddmm);
      add_complex_numbers(l, t, sddmm);
      Case c = typed(t);
      c.sddmm = sddmm;
      c.m = 509;
      c.k = sddmm ? 65 : 387;
      c.n = sddmm ? 387 : 67;
      c.beta = 0.5;
      c.beta_imaginary = -0.25;
      c.repeats = 5;
      l.add(c, text("complex %s, large", type_text(t)));
    }
}

} // namespace parity
