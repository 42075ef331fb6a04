// parity_cases_bsr.h: the cases of parity.cu in which A is BSR or Blocked-ELL.
#pragma once
#include "tests/gpu/blackbox/parity_case.h"

namespace parity
{

// With one third of the blocks Blocked-ELL has no padding where 3 divides them across.
inline Case in_blocks(Format f, int block, cudaDataType t)
{
  Case c = typed(t);
  c.format = f;
  c.block = block;
  c.m = 5 * block;
  c.k = 9 * block;
  c.n = 40;
  c.density = 0.4;
  return c;
}

// Every pair of orders, with widths in turn.
inline void add_block_orders(List &l, const Case &c, const std::string &what)
{
  static const int widths[] = {37, 1, 136, 40};
  for (int i = 0; i < 4; i++) {
    Case d = c;
    d.order_first = 1 + i / 2;
    d.order_second = 1 + i % 2;
    d.n = widths[i];
    d.beta = i == 0 ? -0.75 : 0;
    d.repeats = 2;
    l.add(d, what + text(", orders %d %d", d.order_first, d.order_second));
  }
}

inline void add_block_layouts(List &l, const Case &c, const std::string &what)
{
  for (int extra : {1, 8}) {
    Case d = c;
    d.extra_first = extra;
    d.extra_second = extra + 1;
    l.add(d, what + text(", leading dimension + %d", extra));
  }
  Case d = c;
  d.op_b = 1;
  d.device_scalars = true;
  d.alpha = -2;
  d.beta = 0.25;
  l.add(d, what + ", op(B) 1, device scalars");
  if (type_size(c.type_a) != 2) return;
  d = c;
  d.type_c = CUDA_R_32F;
  d.beta = 0.5;
  l.add(d, what + " into f32");
}

inline void add_block_storage(List &l, const Case &c, const std::string &what)
{
  Case d = c;
  d.base = 1;
  l.add(d, what + ", base 1");
  d.wide = true;
  l.add(d, what + ", base 1, i64");
  d = c;
  d.unsorted = d.repeated = true;
  l.add(d, what + ", unsorted, repeated");
  d = c;
  d.preprocess = true;
  d.repeats = 2;
  l.add(d, what + ", preprocess");
  d = c;
  d.alpha = 0;
  d.beta = 0.5;
  l.add(d, what + ", alpha 0");
  for (int algorithm : {6, 13, 14}) {
    d = c;
    d.algorithm = algorithm;
    l.add(d, what + text(", algorithm %d", algorithm));
  }
  for (int array : {(int)VALUES, (int)FIRST, (int)SECOND}) {
    d = c;
    d.misaligned = array;
    l.add(d, what + text(", array %d one element off", array));
  }
  for (int array = OFFSETS; array <= SECOND; array *= 2) {
    if (c.format == ELL && array == OFFSETS) continue;
    d = c;
    d.null_array = array;
    l.add(d, what + text(", null array %d", array));
  }
  d = c;
  d.grow_first_rows = 1;
  l.add(d, what + ", B with one row more");
  d = c;
  d.null_buffer = true;
  l.add(d, what + ", null buffer");
}

// int8, into int32 and f32.
inline void add_integer_blocks(List &l)
{
  for (Format f : {BSR, ELL})
    for (cudaDataType out : {CUDA_R_32I, CUDA_R_32F})
      for (int block : {2, 4, 8, 16, 32})
        for (int i = 0; i < 4; i++) {
          Case c = in_blocks(f, block, CUDA_R_8I);
          c.type_c = c.compute = out;
          c.order_first = 1 + i / 2;
          c.order_second = 1 + i % 2;
          c.n = i == 0 ? 37 : i == 1 ? 1 : 136;
          c.alpha = -2;
          c.beta = i == 0 ? 3 : 0;
          c.repeats = 2;
          l.add(c, text("blocks, %s %d, int8 into %s, orders %d %d", f == BSR ? "BSR" : "ELL",
                        block, type_text(out), c.order_first, c.order_second));
        }
}

inline void add_blocks(List &l)
{
  add_integer_blocks(l);
  for (Format f : {BSR, ELL})
    for (cudaDataType t : FLOATS)
      for (int block : {4, 8, 16, 32}) {
        const Case c = in_blocks(f, block, t);
        const std::string what =
            text("blocks, %s %d, %s", f == BSR ? "BSR" : "ELL", block, type_text(t));
        if (block != 8 && (t == CUDA_R_16BF || t == CUDA_R_64F)) continue;
        add_block_orders(l, c, what);
        if (block != 8 || t == CUDA_R_64F) continue;
        add_block_layouts(l, c, what);
        if (t == CUDA_R_16BF) continue;
        add_specials(l, c, what);
        add_block_storage(l, c, what);
      }
  // Large enough to be worth it as they are.
  for (Format f : {BSR, ELL})
    for (cudaDataType t : FLOATS) {
      Case c = in_blocks(f, 8, t);
      c.m = 1024;
      c.k = 1152;
      c.n = 128;
      c.repeats = 3;
      l.add(c, text("blocks, favourite %s, %s", f == BSR ? "BSR" : "ELL", type_text(t)));
    }
}

} // namespace parity
