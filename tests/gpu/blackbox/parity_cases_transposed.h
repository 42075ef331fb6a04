// parity_cases_transposed.h: the cases of parity.cu in which A comes transposed, by its storage,
// by op(A), or both.
#pragma once
#include "tests/gpu/blackbox/parity_case.h"

namespace parity
{

// What is stored is the transpose of op(A), or CSC stands for it.  Only the large ones are
// worth a dense product; the others are for a run that forces the routes (SHUNT_ROUTES).
static const struct {
  Format format;
  int op_a;
  const char *name;
} TURNED[] = {{CSR, 1, "CSR T"}, {CSC, 0, "CSC N"}, {CSC, 1, "CSC T"}, {COO, 1, "COO T"}};

inline void add_transposed_storage(List &l, const Case &c, const std::string &what)
{
  Case d = c;
  d.unsorted = c.format != COO;
  d.repeated = true;
  l.add(d, what + ", repeated");
  d = c;
  d.base = 1;
  d.wide = true;
  d.beta = 0.5;
  l.add(d, what + ", base 1, i64");
  d = c;
  d.op_b = 1;
  d.device_scalars = true;
  d.alpha = -2;
  d.beta = 0.25;
  l.add(d, what + ", op(B) 1, device scalars");
  for (int extra : {1, 3, 8}) {
    d = c;
    d.extra_first = extra;
    d.extra_second = extra + 1;
    l.add(d, what + text(", leading dimension + %d", extra));
  }
  for (int array = OFFSETS; array <= SECOND; array *= 2) {
    d = c;
    d.misaligned = array;
    l.add(d, what + text(", array %d one element off", array));
  }
  for (int array = OFFSETS; array <= SECOND; array *= 2) {
    d = c;
    d.null_array = array;
    d.repeats = 1;
    l.add(d, what + text(", null array %d", array));
  }
}

inline void add_transposed_odd(List &l, const Case &c, const std::string &what)
{
  for (int which = 0; which < 4; which++)
    for (int by : {1, -1}) {
      Case d = c;
      (which == 0   ? d.grow_first_rows
       : which == 1 ? d.grow_first_cols
       : which == 2 ? d.grow_second_rows
                    : d.grow_second_cols) = by;
      l.add(d, what + text(", size %d off by %d", which, by));
    }
  for (int zero = 0; zero < 4; zero++) {
    Case d = c;
    (zero == 0 ? d.m : zero == 1 ? d.k : d.n) = zero == 3 ? d.n : 0;
    if (zero == 3) d.density = 0;
    d.beta = 0.5;
    l.add(d, what + text(", zero size %d", zero));
  }
  for (int algorithm : {0, 1, 2, 3, 4, 5, 6, 12, 13, 14, 99}) {
    Case d = c;
    d.algorithm = algorithm;
    d.preprocess = algorithm == 4 || algorithm == 12;
    l.add(d, what + text(", algorithm %d", algorithm));
  }
  Case d = c;
  d.op_a = c.op_a ? 2 : 0;
  d.alpha = 0;
  d.beta = 0.5;
  l.add(d, what + ", alpha 0");
  d.alpha = NAN;
  l.add(d, what + ", alpha NaN");
  d = c;
  d.null_buffer = true;
  l.add(d, what + ", null buffer");
  if (c.op_a) {
    d = c;
    d.op_a = 2;
    l.add(d, what + ", conjugate");
  }
}

inline void add_transposed(List &l)
{
  for (auto &turned : TURNED)
    for (cudaDataType t : FLOATS)
      for (int order = 1; order <= 2; order++) {
        Case c = typed(t);
        c.format = turned.format;
        c.op_a = turned.op_a;
        c.density = 0.6;
        c.order_first = c.order_second = order;
        c.repeats = 4;
        std::string what = text("turned, %s, %s, order %d", turned.name, type_text(t), order);
        Case large = c;
        large.m = 131;
        large.k = 2999;
        large.n = 128;
        l.add(large, what + ", large");
        large.beta = -0.5;
        large.alpha = 1.5;
        l.add(large, what + ", large, beta");
        l.add(c, what);
        Case d = c;
        d.density = 0.05;
        d.beta = 0.5;
        l.add(d, what + ", sparse");
        if (order == CUSPARSE_ORDER_COL || t == CUDA_R_64F) continue;
        if (t == CUDA_R_16F) add_specials(l, large, what + ", large");
        add_specials(l, c, what);
        add_transposed_storage(l, c, what);
        add_transposed_odd(l, c, what);
      }
  for (auto &turned : TURNED)
    for (cudaDataType t : {CUDA_C_32F, CUDA_C_64F})
      for (int op = turned.op_a; op <= 2 * turned.op_a; op++) { // H, where it is T
        Case c = typed(t);
        c.format = turned.format;
        c.op_a = op;
        c.density = 0.2;
        c.repeats = 4;
        c.alpha_imaginary = -0.75;
        l.add(c, text("turned, %s, %s, op(A) %d", turned.name, type_text(t), op));
        c.beta = 0.5;
        c.base = 1;
        c.wide = true;
        l.add(c,
              text("turned, %s, %s, op(A) %d, beta, base 1, i64", turned.name, type_text(t), op));
      }
  for (auto &turned : TURNED) {
    Case c;
    c.format = turned.format;
    c.op_a = turned.op_a;
    c.type_a = c.type_b = CUDA_R_8I;
    c.type_c = c.compute = CUDA_R_32I;
    l.add(c, text("turned, %s, i8", turned.name));
    c.type_a = c.type_b = CUDA_R_16F;
    c.type_c = c.compute = CUDA_R_32F;
    c.density = 0.6;
    l.add(c, text("turned, %s, f16 > f32", turned.name));
  }
}

} // namespace parity
