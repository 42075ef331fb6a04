// time_sparse24.cuh: times of shunt_sparse24_spmm_shaped_cuda alone and with its proof, by graph
// replays, for 4096 and 8192 square.
#pragma once
#include "tests/gpu/sparse24/sparse24_problem.cuh"

namespace
{

// B and C reshaped within their memory: by rows, or by columns `pitch` apart.
void reshape(Product &q, int64_t n, int64_t pitch)
{
  shunt_dense &b = q.on_device.b, &c = q.on_device.c;
  b.cols = c.cols = c.row_stride = n;
  b.row_stride = pitch ? 1 : n;
  b.col_stride = pitch ? pitch : 1;
  q.product = c;
}

void time_shapes(Product &q)
{
  const shunt_dense &b = q.on_device.b;
  const int64_t m = b.rows, n = b.cols;
  for (shunt_sparse24_shape shape :
       {SHUNT_SPARSE24_128, SHUNT_SPARSE24_256, SHUNT_SPARSE24_2X128}) {
    double us[3];
    q.o.shape = shape;
    for (int proves : {0, 1}) {
      q.proves = proves;
      us[proves] = time_graph([&](cudaStream_t s) {
        if (q.run(s) != SHUNT_OK) exit(3);
      });
    }
    // As PyTorch calls it, which clears C first.
    us[2] = time_graph([&](cudaStream_t s) {
      const shunt_dense &c = q.on_device.c;
      CUDA_OK(cudaMemsetAsync(c.values, 0,
                              (size_t)(c.rows * c.row_stride) * shunt_type_size(c.type), s));
      if (q.run(s) != SHUNT_OK) exit(3);
    });
    printf("time sparse24 %s %d^2 x %d, %s, B by %s, tiles of %s%s: %.2f us alone, %.2f with the "
           "proof, %.2f behind a fill of C, %.0f TFLOP/s of dense\n",
           q.o.type == SHUNT_I8 ? "int8" : "f16", (int)m, (int)n,
           q.o.index == SHUNT_I32 ? "int32" : "int64",
           b.col_stride == 1   ? "rows"
           : b.col_stride == m ? "columns"
                               : "columns (+ 8)",
           name_of(shape),
           shape == shunt_choose_sparse24_shape(&q.on_device, machine_of(q.device)) ? " (chosen)"
                                                                                    : "",
           us[0], us[1], us[2], 2e-6 * (double)m * (double)m * (double)n / us[1]);
  }
}

void time_products(Table *table)
{
  Options o;
  o.whole = false, o.b_layout = 3;
  for (int64_t m : {4096, 8192}) {
    const Pattern pattern = pattern_24(m, m, 1, 7);
    for (shunt_type out : {SHUNT_I32, SHUNT_F32}) {
      Options i8 = o;
      i8.type = SHUNT_I8, i8.out = out;
      Product q(pattern, 2048, i8, 8, table);
      if (!q.a.pack_on_device()) exit(3);
      q.reset(0);
      for (int64_t n : {256, 512, 1024, 2048}) {
        reshape(q, n, m);
        time_shapes(q);
      }
    }
    for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
      o.index = index;
      Product q(pattern, 2048, o, 8, table);
      if (!q.a.pack_on_device()) exit(3);
      q.reset(0);
      for (int64_t n : {128, 256, 512, 1024, 2048})
        for (int64_t pitch : {(int64_t)0, m, m + 8})
          if (pitch == 0 || (index == SHUNT_I32 && n >= 512)) {
            reshape(q, n, pitch);
            time_shapes(q);
          }
    }
  }
}

} // namespace
