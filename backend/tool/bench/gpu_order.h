/* gpu_order.h: puts the products of a captured graph in order.

   Kernels may be launched while the one before them in the stream still runs (programmatic
   dependent launch), and have to wait in the kernel for what they read.  Those of cuSPARSE 12.9's
   CSR_ALG3 in f32 and f64 do not: one product after another they overlap, and where the second
   reads what the first wrote it is wrong.  A way that is wrong in a program is not measured so: the
   first kernel of a product begins when all of the product before have ended, while those of one
   product stay as they were captured.

     captured   k1 -> k2 -> k1 -> k2       ->  programmatic: may begin early
     in order   k1 -> k2 => k1 -> k2       =>  full: begins when that has ended
                 '========>'                                                            */
#ifndef SHUNT_BENCH_GPU_ORDER_H
#define SHUNT_BENCH_GPU_ORDER_H

#include "backend/tool/bench/gpu.h"

enum { GPU_ORDER_MOST = 64 }; /* products of a graph */

/* How many nodes the graph had behind each product. */
struct gpu_order {
  size_t end[GPU_ORDER_MOST];
  int count;
};

/* Behind a product, on the stream that is captured; false: a call failed, or there is no room. */
bool gpu_order_note(struct gpu_order *o, cudaStream_t stream);
/* The captured graph, before it is instantiated; false: a call failed. */
bool gpu_order_products(const struct gpu_order *o, cudaGraph_t graph);

#endif
