// time_spmm_whole24.cuh: times of shunt_spmm_whole24_cuda alone and with its proof, by graph
// replays, for 4096 and 8192 square.
#pragma once
#include "tests/gpu/spmm_whole24_problem.cuh"

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
  for (int columns : {128, 256}) {
    double us[2];
    q.o.columns = columns;
    for (int proves : {0, 1}) {
      q.proves = proves;
      us[proves] = time_graph([&](cudaStream_t s) {
        if (q.run(s) != SHUNT_OK) exit(3);
      });
    }
    printf("time whole24 %d^2 x %d, %s, B by %s, tiles of %d%s: %.2f us alone, %.2f with the "
           "proof, %.0f TFLOP/s of dense\n",
           (int)m, (int)n, q.o.index == SHUNT_I32 ? "int32" : "int64",
           b.col_stride == 1   ? "rows"
           : b.col_stride == m ? "columns"
                               : "columns (+ 8)",
           columns,
           columns == shunt_spmm_whole24_columns(&q.on_device, &q.device) ? " (chosen)" : "", us[0],
           us[1], 2e-6 * (double)m * (double)m * (double)n / us[1]);
  }
}

void time_products(Table *table)
{
  Options o;
  o.whole = false, o.b_layout = 3;
  for (int64_t m : {4096, 8192}) {
    const Pattern pattern = pattern_24(m, m, 1, 7);
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
