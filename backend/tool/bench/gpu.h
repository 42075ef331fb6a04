/* gpu.h: what the GPU files of `shunt bench` share. */
#ifndef SHUNT_BENCH_GPU_H
#define SHUNT_BENCH_GPU_H

#include <cuda_runtime_api.h>

#include "backend/costs/machine.h"
#include "backend/tool/bench/bench.h"
#include "kernels/bundle/bundle_format.h"
#include "kernels/dcsr/dcsr_kernels.h"
#include "kernels/sorted/sorted_format.h"
#include "kernels/sparse24/sparse24_format.h"
#include "kernels/srbcrs/srbcrs_format.h"
#include "kernels/tile/tile_format.h"
#include "kernels/vector/vector_format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_peers; /* gpu_peers.c: cuSPARSE, cuBLAS and cuBLASLt, as far as they are here */

struct gpu {
  union {
    struct shunt_device device;
    struct shunt_machine machine; /* which begins with it */
  };
  struct shunt_cost_table costs;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  struct gpu_peers *peers;
  int cusparse; /* the version beside, 126 for 12.6: routes are chosen against it; 0: none */
};

/* One case on the device. */
struct gpu_case {
  struct gpu *gpu;
  const struct bench_case *c;
  struct shunt_problem p;       /* over device arrays; scalars as the case wants them */
  struct shunt_problem checked; /* the same with host scalars, and op(A) by rows, */
  void *turned[BENCH_ARRAYS];   /* whose arrays are these where A is transposed */
  void *array[BENCH_ARRAYS];
  void *result, *before; /* the result's array; its content before any call */
  size_t result_bytes;
  void *scalars;   /* alpha at 0, beta at 16, in the compute type */
  void *workspace; /* of the way being measured */
  size_t workspace_bytes;
  struct shunt_dense dense; /* SpMM: A as a dense matrix; SDDMM: the dense product */
  struct shunt_fingerprint *expected;
  uint32_t *words; /* a set of the repair's, then a counter; zero at first */
  void *scratch;
  void *converted; /* memory of the matrix as the way being measured wants it, one of: */
  struct shunt_bundle groups;
  struct shunt_bundle_counts groups_known;
  struct shunt_sorted sorted;
  struct shunt_sorted_counts sorted_known;
  struct shunt_vector packed;
  struct shunt_tile tile;
  struct shunt_sparse24 sparse24;
  struct shunt_srbcrs srbcrs;
  struct shunt_dcsr dcsr;
  struct shunt_dcsr_sums sums;  /* of dcsr */
  struct shunt_csr columns;     /* A in CSC, as the CSR of its transpose */
  struct shunt_problem blocked; /* p in blocks */
  uint32_t longest;             /* row of op(A) where A is transposed */
};

typedef shunt_status (*gpu_enqueue)(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_memory.c ------------------------------------------------------ */

/* Device memory for `what`, none for 0 bytes; false with w->note when it cannot be had. */
bool gpu_get(void **to, size_t bytes, const char *what, struct bench_way *w);
bool gpu_get_workspace(struct gpu_case *g, size_t bytes, struct bench_way *w);

/* ---- gpu_time.c ------------------------------------------------------- */

/* in_order: each is waited for before the next begins (gpu_order.h). */
struct gpu_timed {
  gpu_enqueue enqueue;
  bool in_order;
};
/* Median microseconds of one: replays of a graph of many, or plain
   launches when it cannot be captured.  False: a call failed.  */
bool gpu_time(struct gpu_case *g, const struct gpu_timed *of, bool quick, double *us,
              const char **timing);

/* ---- gpu_shunt.c ------------------------------------------------------ */

/* Workspace of the route; false with w->note when it cannot be had. */
bool gpu_prepare_csr(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_vector(struct gpu_case *g, struct bench_way *w);
/* Memory for the dense matrix, and its content. */
bool gpu_prepare_dense(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_csr(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_vector(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_dense(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_dense_packed(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_formats.c ---------------------------------------------------- */

/* The converted matrix and the workspace; false, with w->note where it could have been. */
bool gpu_prepare_bundle(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_sorted(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_packed(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_tile_aligned_24(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_tile_24(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_tile_aligned(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_tile(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_sparse24(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_srbcrs(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_bundle(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_sorted(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_packed(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_tile(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_sparse24(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_srbcrs(struct gpu_case *g, cudaStream_t stream);
/* Through the planner: w->note is the route taken, or why none was (false). */
bool gpu_prepare_routed(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_routed(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_bsr.c --------------------------------------------------------- */

/* False where the problem is not given in blocks. */
bool gpu_prepare_bsr(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_bsr(struct gpu_case *g, cudaStream_t stream);
/* g->blocked, over g->converted; of a problem in blocks. */
bool gpu_place_blocks(struct gpu_case *g, struct bench_way *w);

/* ---- gpu_clusters.c --------------------------------------------------- */

/* As those of gpu_formats.c; w->conversion_us is set.  Enqueued by gpu_packed. */
bool gpu_prepare_clustered(struct gpu_case *g, struct bench_way *w);

/* ---- gpu_transposed.c ---------------------------------------------------- */

/* As those of gpu_formats.c; w->conversion_us is set. */
bool gpu_prepare_transposed(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_transposed(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_dcsr.c ------------------------------------------------------- */

/* As those of gpu_formats.c; w->conversion_us is set. */
bool gpu_prepare_dcsr_b(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_dcsr_online(struct gpu_case *g, struct bench_way *w);
bool gpu_prepare_dcsr_c(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_dcsr_b(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_dcsr_online(struct gpu_case *g, cudaStream_t stream);
shunt_status gpu_dcsr_c(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_peers.c ------------------------------------------------------ */

struct gpu_peers *gpu_peers_open(struct gpu *gpu, struct bench_machine *m);
void gpu_peers_close(struct gpu_peers *peers);
bool gpu_has_cusparse(const struct gpu *gpu);
bool gpu_has_cublas(const struct gpu *gpu);
/* A scalar that is known on the host, in the compute type. */
union gpu_scalar {
  float f32;
  double f64;
  int32_t i32;
  float c32[2];
  double c64[2];
};
union gpu_scalar gpu_scalar_of(const struct shunt_scalar *s, shunt_type compute);
shunt_type gpu_compute_of(const struct shunt_problem *p);

/* Both libraries read the case's scalars from host or device. */
void gpu_peers_scalars(struct gpu_case *g);
/* ---- gpu_cublas.c ------------------------------------------------------ */

/* c = alpha a b + beta c, dense; SDDMM's product is alpha = 1, beta = 0. */
shunt_status gpu_gemm(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_cublaslt.c ---------------------------------------------------- */

/* The dense product in int8 or, e4m3, in 8-bit floats, of an SpMM of int8 into int32. */
bool gpu_prepare_cublaslt(struct gpu_case *g, bool e4m3, struct bench_way *w);
void gpu_finish_cublaslt(struct gpu_case *g);
shunt_status gpu_cublaslt(struct gpu_case *g, cudaStream_t stream);

/* ---- gpu_cusparse.c ---------------------------------------------------- */

/* cuSPARSE with algorithm 0 (default) to 3, preprocessed or as most programs call it. */
bool gpu_prepare_cusparse(struct gpu_case *g, int algorithm, bool preprocess, struct bench_way *w);
/* A matrix of as many entries in blocks as high as the case's vectors; false where it has none. */
bool gpu_prepare_blocked_ell(struct gpu_case *g, struct bench_way *w);
void gpu_finish_cusparse(struct gpu_case *g);
shunt_status gpu_cusparse(struct gpu_case *g, cudaStream_t stream);

/* ---- reference.cu ------------------------------------------------------ */

/* The result of p (device arrays, host scalars) against a float64 sum over the
   same operands; `before` is the result's array before the call, `operands` the unit
   roundoff of operands that are rounded first (tolerance.h), or 0.  error[0]: the
   largest error, error[1]: the largest error ratio, both as the bits of a
   double, device memory zeroed by the caller.  */
shunt_status bench_reference_cuda(const struct shunt_problem *p, double operands,
                                  const void *before, unsigned long long *error,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
