// parity_cases.h: the odd calls that parity.cu makes, as one list.
//
// A case is what a program might get wrong or do in an unusual way; its name says
// which.  The list only grows at its groups: names must stay unique, they join the
// record of the original's answers with the answers under Shunt.
#pragma once
#include "tests/gpu/blackbox/parity_case.h"
#include "tests/gpu/blackbox/parity_cases_bsr.h"
#include "tests/gpu/blackbox/parity_cases_complex.h"
#include "tests/gpu/blackbox/parity_cases_scalars.h"
#include "tests/gpu/blackbox/parity_cases_transposed.h"

namespace parity
{

inline void add_nulls(List &l)
{
  static const int arguments[] = {1, 4, 5, 6, 7, 8, 11};
  static const char *stages[] = {"bufferSize", "preprocess", "compute"};
  for (int sddmm = 0; sddmm < 2; sddmm++) {
    for (int stage = 0; stage < 3; stage++)
      for (int argument : arguments) {
        Case c;
        c.sddmm = sddmm;
        c.preprocess = stage == 1;
        c.null_argument = argument;
        c.null_stage = 1 << stage;
        l.add(c, text("null argument %d of %s", argument, stages[stage]));
      }
    for (int array = OFFSETS; array <= SECOND; array *= 2)
      for (int empty = 0; empty < 2; empty++) {
        Case c;
        c.sddmm = sddmm;
        c.null_array = array;
        if (empty) c.density = 0;
        c.beta = 0.5;
        l.add(c, text("null array %d%s", array, empty ? ", no entries" : ""));
      }
    Case c;
    c.sddmm = sddmm;
    c.null_buffer = true;
    l.add(c, "null buffer");
  }
}

inline void add_zero_sizes(List &l)
{
  for (int sddmm = 0; sddmm < 2; sddmm++)
    for (cudaDataType t : HALF_AND_SINGLE)
      for (double beta : {0.0, 0.5})
        for (int zero = 0; zero < 5; zero++) {
          Case c = typed(t);
          c.sddmm = sddmm;
          c.beta = beta;
          if (zero == 0 || zero == 4) c.m = 0;
          if (zero == 1 || zero == 4) c.k = 0;
          if (zero == 2 || zero == 4) c.n = 0;
          if (zero == 3) c.density = 0;
          static const char *what[] = {"m = 0", "k = 0", "n = 0", "nnz = 0", "all sizes 0"};
          l.add(c, text("%s, %s, beta %g", what[zero], type_text(t), beta));
        }
}

inline void add_types(List &l)
{
  static const cudaDataType inputs[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_R_8I};
  static const cudaDataType outputs[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F,
                                         CUDA_R_64F, CUDA_R_32I,  CUDA_R_8I};
  static const cudaDataType computes[] = {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F, CUDA_R_32I};
  for (int sddmm = 0; sddmm < 2; sddmm++)
    for (cudaDataType in : inputs)
      for (cudaDataType out : outputs)
        for (cudaDataType compute : computes) {
          if (sddmm &&
              (in == CUDA_R_8I || out == CUDA_R_32I || out == CUDA_R_8I || compute == CUDA_R_32I))
            continue;
          Case c;
          c.sddmm = sddmm;
          c.type_a = c.type_b = in;
          c.type_c = out;
          c.compute = compute;
          l.add(c, text("types %s x %s > %s in %s", type_text(in), type_text(in), type_text(out),
                        type_text(compute)));
        }
  for (cudaDataType other : {CUDA_R_16BF, CUDA_R_32F, CUDA_R_8I}) {
    Case c = typed(CUDA_R_16F);
    c.type_b = other;
    l.add(c, text("types f16 x %s", type_text(other)));
  }
}

inline void add_algorithms(List &l)
{
  for (cudaDataType t : FLOATS)
    for (int algorithm : {0, 1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 99, -1})
      for (int column = 0; column < 2; column++) {
        Case c = typed(t);
        c.algorithm = algorithm;
        c.order_first = c.order_second = column ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
        c.preprocess = algorithm == 4 || algorithm == 12;
        c.beta = 0.5;
        c.repeats = 2;
        l.add(c, text("algorithm %d, %s, %s", algorithm, type_text(t), column ? "col" : "row"));
      }
  for (int algorithm : {1, 99, -1}) {
    Case c;
    c.sddmm = true;
    c.algorithm = algorithm;
    l.add(c, text("algorithm %d", algorithm));
  }
}

inline void add_shapes(List &l)
{
  for (int sddmm = 0; sddmm < 2; sddmm++) {
    for (int which = 0; which < 4; which++)
      for (int by : {1, -1}) {
        Case c;
        c.sddmm = sddmm;
        (which == 0   ? c.grow_first_rows
         : which == 1 ? c.grow_first_cols
         : which == 2 ? c.grow_second_rows
                      : c.grow_second_cols) = by;
        static const char *what[] = {"first rows", "first columns", "second rows",
                                     "second columns"};
        l.add(c, text("%s off by %d", what[which], by));
      }
    for (int side = 0; side < 2; side++) {
      Case c;
      c.sddmm = sddmm;
      (side ? c.extra_second : c.extra_first) = -1;
      l.add(c, text("leading dimension too small, %d", side));
      Case d;
      d.sddmm = sddmm;
      (side ? d.order_second : d.order_first) = 99;
      l.add(d, text("order 99, %d", side));
    }
    for (int op : {3, 7}) {
      Case c;
      c.sddmm = sddmm;
      c.op_a = op;
      l.add(c, text("op(A) %d", op));
      Case d;
      d.sddmm = sddmm;
      d.op_b = op;
      l.add(d, text("op(B) %d", op));
    }
    for (int op_a = 0; op_a < 3; op_a++)
      for (int op_b = 0; op_b < 3; op_b++)
        for (cudaDataType t : {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F}) {
          Case c = typed(t);
          c.sddmm = sddmm;
          c.op_a = op_a;
          c.op_b = op_b;
          c.beta = 0.5;
          l.add(c, text("op(A) %d, op(B) %d, %s", op_a, op_b, type_text(t)));
        }
    for (int first = 1; first <= 2; first++)
      for (int second = 1; second <= 2; second++)
        for (int op_b = 0; op_b < 2; op_b++)
          for (cudaDataType t : HALF_AND_SINGLE) {
            Case c = typed(t);
            c.sddmm = sddmm;
            c.order_first = first;
            c.order_second = second;
            c.op_b = op_b;
            c.extra_first = 3;
            c.extra_second = 5;
            l.add(c, text("orders %d %d, op(B) %d, odd ld, %s", first, second, op_b, type_text(t)));
          }
  }
}

inline void add_numbers(List &l)
{
  for (int sddmm = 0; sddmm < 2; sddmm++)
    for (int bit = 0; bit < 7; bit++)
      for (cudaDataType t : HALF_AND_SINGLE)
        for (double beta : {0.0, 1.0})
          for (int dense = 0; dense < 2; dense++) {
            if (sddmm && dense) continue;
            Case c = typed(t);
            c.sddmm = sddmm;
            c.special = 1 << bit;
            c.beta = beta;
            if (dense) {
              c.m = c.k = 512;
              c.n = 128;
              c.density = 0.6;
              c.repeats = 4;
            } else
              c.group = 8;
            l.add(c, text("%s, %s, beta %g%s", SPECIAL[bit], type_text(t), beta,
                          dense ? ", half full" : ""));
          }
  struct {
    double alpha, beta;
    int special;
  } scalars[] = {{NAN, 0, 0},       {INFINITY, 0, 0}, {0, 0, NAN_SPARSE}, {0, 1, NAN_DENSE},
                 {0, 0, INF_DENSE}, {1, NAN, 0},      {1, INFINITY, 0},   {1, -0.0, 0},
                 {0, 0, 0},         {-0.0, 0.5, 0},   {1, 1, NAN_OLD},    {0, 0, NAN_OLD}};
  for (auto &s : scalars)
    for (cudaDataType t : HALF_AND_SINGLE)
      for (int device = 0; device < 2; device++)
        for (int sddmm = 0; sddmm < 2; sddmm++) {
          Case c = typed(t);
          c.sddmm = sddmm;
          c.alpha = s.alpha;
          c.beta = s.beta;
          c.special = s.special;
          c.device_scalars = device;
          l.add(c, text("alpha %g, beta %g, special %d, %s, %s", s.alpha, s.beta, s.special,
                        type_text(t), device ? "device" : "host"));
        }
  for (double magnitude : {300.0, 1e-4})
    for (int group : {1, 8})
      for (int sddmm = 0; sddmm < 2; sddmm++) {
        Case c = typed(CUDA_R_16F);
        c.sddmm = sddmm;
        c.magnitude = magnitude;
        c.group = group;
        l.add(c, text("f16 values near %g, group %d", magnitude, group));
      }
}

inline void add_storage(List &l)
{
  for (cudaDataType t : FLOATS)
    for (int sddmm = 0; sddmm < 2; sddmm++)
      for (int group : {1, 8}) {
        Case c = typed(t);
        c.sddmm = sddmm;
        c.group = group;
        c.beta = -0.5;
        Case d = c;
        d.unsorted = true;
        l.add(d, text("unsorted, %s, group %d", type_text(t), group));
        d = c;
        d.repeated = true;
        l.add(d, text("repeated columns, %s, group %d", type_text(t), group));
        d = c;
        d.base = 1;
        d.wide = group == 8;
        l.add(d, text("base 1, i%d, %s", d.wide ? 64 : 32, type_text(t)));
        d = c;
        d.wide = true;
        d.device_scalars = true;
        d.alpha = 2.5;
        l.add(d, text("64-bit, device scalars, %s, group %d", type_text(t), group));
        d = c;
        d.mixed_index = true;
        l.add(d, text("64-bit offsets, 32-bit columns, %s, group %d", type_text(t), group));
      }
  for (cudaDataType t : HALF_AND_SINGLE)
    for (int sddmm = 0; sddmm < 2; sddmm++) {
      for (int array = OFFSETS; array <= SECOND; array *= 2) {
        Case c = typed(t);
        c.sddmm = sddmm;
        c.misaligned = array;
        c.group = 8;
        l.add(c, text("array %d one element off, %s", array, type_text(t)));
      }
      for (int extra : {1, 2, 3, 7})
        for (int order = 1; order <= 2; order++) {
          Case c = typed(t);
          c.sddmm = sddmm;
          c.extra_first = extra;
          c.extra_second = extra + 1;
          c.order_first = c.order_second = order;
          c.group = 8;
          c.n = 33;
          c.k = 65;
          c.beta = 0.25;
          l.add(c, text("leading dimension + %d, order %d, %s", extra, order, type_text(t)));
        }
    }
}

inline void add_formats(List &l)
{
  for (cudaDataType t : {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F})
    for (int op = 0; op < 2; op++) {
      for (int algorithm : {0, 1, 2, 3, 5}) {
        Case c = typed(t);
        c.format = COO;
        c.algorithm = algorithm;
        c.op_a = op;
        c.beta = 0.5;
        l.add(c, text("COO algorithm %d, op(A) %d, %s", algorithm, op, type_text(t)));
      }
      Case c = typed(t);
      c.format = CSC;
      c.op_a = op;
      l.add(c, text("CSC, op(A) %d, %s", op, type_text(t)));
      c = typed(t);
      c.format = ELL;
      c.op_a = op;
      c.m = c.k = 64;
      c.block = 8;
      l.add(c, text("Blocked-ELL, op(A) %d, %s", op, type_text(t)));
      for (int block : {2, 3, 4, 8, 16}) {
        Case d = typed(t);
        d.format = BSR;
        d.op_a = op;
        d.block = block;
        d.m = 96;
        d.k = 48;
        l.add(d, text("BSR %d, op(A) %d, %s", block, op, type_text(t)));
      }
    }
  for (int base = 0; base < 2; base++)
    for (int wide = 0; wide < 2; wide++)
      for (Format f : {COO, CSC, BSR}) {
        Case c = typed(CUDA_R_16F);
        c.format = f;
        c.base = base;
        c.wide = wide;
        c.device_scalars = true;
        c.beta = 1;
        static const char *what[] = {"CSR", "COO", "CSC", "BSR"};
        l.add(c, text("%s base %d, i%d", what[f], base, wide ? 64 : 32));
      }
  for (Format f : {COO, CSC, BSR, ELL}) {
    Case c;
    c.sddmm = true;
    c.format = f;
    c.m = c.n = 64;
    l.add(c, text("format %d", (int)f));
  }
}

inline void add_batches(List &l)
{
  for (int sddmm = 0; sddmm < 2; sddmm++)
    for (cudaDataType t : HALF_AND_SINGLE)
      for (int algorithm : {0, 6, 12}) {
        if (sddmm && algorithm) continue;
        Case c = typed(t);
        c.sddmm = sddmm;
        c.batches = 3;
        c.beta = 0.5;
        c.algorithm = algorithm;
        l.add(c, text("3 batches, %s, algorithm %d", type_text(t), algorithm));
        c.broadcast = !sddmm;
        if (!sddmm)
          l.add(c,
                text("3 batches of one sparse matrix, %s, algorithm %d", type_text(t), algorithm));
        c.batches_second = 2;
        l.add(c, text("3 and 2 batches, %s, algorithm %d", type_text(t), algorithm));
      }
}

// Batches of one type, format and order in every arrangement that the setters allow.
inline void add_arrangements(List &l, const Case &c, const std::string &what)
{
  for (double beta : {0.0, -0.75}) {
    Case d = c;
    d.beta = beta;
    l.add(d, "4 batches, " + what + text(", beta %g", beta));
  }
  Case d = c;
  d.extra_first = 3;
  d.extra_second = 5;
  d.gap = 7;
  l.add(d, "4 batches apart, odd ld, " + what);
  d = c;
  d.own_offsets = true;
  d.base = 1;
  d.wide = true;
  l.add(d, "4 batches with own offsets, base 1, i64, " + what);
  d = c;
  d.shared_first = true;
  l.add(d, "4 batches of one dense operand, " + what);
  d = c;
  d.op_b = 1;
  d.broadcast = !c.sddmm;
  l.add(d, "4 batches, op(B) 1, " + what);
  d = c;
  d.device_scalars = true;
  d.alpha = 0.5;
  d.beta = 2;
  l.add(d, "4 batches, device scalars, " + what);
  if (c.sddmm || c.order_first == CUSPARSE_ORDER_COL) return;
  d = c;
  d.broadcast = true;
  d.side_by_side = true;
  d.extra_first = d.extra_second = d.n * (d.batches - 1);
  l.add(d, "4 batches side by side, " + what);
}

// So large that routes for large matrices may take them.
inline void add_large_batches(List &l, const Case &c, const std::string &what)
{
  if (c.type_a != CUDA_R_16F && c.type_a != CUDA_R_32F) return;
  Case d = c;
  d.batches = 2;
  d.m = 512;
  d.k = c.sddmm ? 128 : 512;
  d.n = c.sddmm ? 512 : 256;
  d.density = 0.6;
  d.beta = c.type_a == CUDA_R_32F ? 0 : 0.5;
  l.add(d, "2 large batches, " + what);
  d.broadcast = !c.sddmm;
  if (!c.sddmm) l.add(d, "2 large batches of one sparse matrix, " + what);
}

inline void add_batch_counts(List &l)
{
  for (int batches : {2, 16, 17, 100})
    for (int broadcast = 0; broadcast < 2; broadcast++) {
      Case c;
      c.batches = batches;
      c.broadcast = broadcast;
      c.algorithm = 6;
      c.m = c.k = 256;
      c.n = 64;
      c.order_first = c.order_second = CUSPARSE_ORDER_COL;
      c.repeats = 3;
      l.add(c, text("%d batches%s", batches, broadcast ? " of one matrix" : ""));
    }
}

inline void add_batch_strides(List &l)
{
  for (int sddmm = 0; sddmm < 2; sddmm++)
    for (cudaDataType t : FLOATS)
      for (Format f : {CSR, COO})
        for (int order = 1; order <= 2; order++) {
          if (sddmm && f == COO) continue;
          Case c = typed(t);
          c.sddmm = sddmm;
          c.format = f;
          c.order_first = c.order_second = order;
          c.algorithm = sddmm ? 0 : f == CSR ? 6 : 2;
          c.batches = 4;
          c.repeats = 3;
          std::string what =
              text("%s, order %d, %s", f == COO ? "COO" : "CSR", order, type_text(t));
          add_arrangements(l, c, what);
          add_large_batches(l, c, what);
        }
  add_batch_counts(l);
  for (int op_a = 0; op_a < 2; op_a++)
    for (int algorithm : {0, 4, 6, 12}) {
      Case c;
      c.batches = 3;
      c.op_a = op_a;
      c.algorithm = algorithm;
      c.m = c.k = 512;
      c.n = 128;
      c.density = 0.6;
      c.beta = 1;
      l.add(c, text("3 batches, op(A) %d, algorithm %d", op_a, algorithm));
    }
}

// Calls that the routes like, repeated until packed matrices serve them.
inline void add_favourites(List &l)
{
  for (cudaDataType t : FLOATS)
    for (int order = 1; order <= 2; order++)
      for (int beta = 0; beta < 2; beta++)
        for (int kind = 0; kind < 3; kind++) {
          Case c = typed(t);
          c.m = kind == 2 ? 509 : 512;
          c.k = kind == 2 ? 387 : 512;
          c.n = kind == 2 ? 67 : 128;
          c.density = kind == 0 ? 0.6 : 0.1;
          c.group = kind == 1 ? 8 : 1;
          c.order_first = c.order_second = order;
          c.beta = beta;
          c.alpha = beta ? -1.5 : 1;
          c.repeats = 5;
          l.add(c, text("favourite %d, %s, order %d, beta %d", kind, type_text(t), order, beta));
          c.sddmm = true;
          c.n = c.m;
          c.k = 64;
          if (kind == 1)
            l.add(c, text("favourite, %s, order %d, beta %d", type_text(t), order, beta));
        }
}

inline std::vector<Case> all_cases()
{
  List l;
  add_nulls(l);
  add_zero_sizes(l);
  add_types(l);
  add_algorithms(l);
  add_shapes(l);
  add_numbers(l);
  add_zero_alpha(l);
  add_storage(l);
  add_formats(l);
  add_batches(l);
  add_batch_strides(l);
  add_transposed(l);
  add_blocks(l);
  add_complex(l);
  add_favourites(l);
  return l.all;
}

} // namespace parity
