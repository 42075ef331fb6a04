/* cublaslt.h: a dense product through cuBLASLt, opened when first needed.

     C[m,n] = alpha A[m,k] B[k,n] + beta C

   libcublasLt is never linked: shunt_cublaslt_open finds the copy that the
   program has already loaded, else the one beside `library_path` (cuSPARSE's own
   folder), else the system's.  cuBLASLt rather than cuBLAS: a call names its
   stream and its workspace, so one handle serves every thread and stream, no
   workspace is shared behind the caller's back, and capture is safe.

   Arithmetic, by the type of A and B:

     f16, bf16   products and sums in f32
     f32         the same; with SHUNT_MATH_TF32, A and B may be rounded to TF32 first
     f64         products and sums in f64
     c32, c64    the same in f32, never TF32, and f64

   Reduction inside a product is never narrower than what it sums in.  */
#ifndef SHUNT_CUBLASLT_H
#define SHUNT_CUBLASLT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "backend/options/options.h"
#include "kernels/common/types.h"

struct shunt_cublaslt;

/* Has the program loaded a copy?  Then opening it takes little. */
bool shunt_cublaslt_is_loaded(void);

/* Opens the library for the current context, once (backend/cublas/lazy_init.h says when): takes
   tens of milliseconds.  NULL: not to be had.  */
struct shunt_cublaslt *shunt_cublaslt_open(const char *library_path);

/* Enqueues the product.  a and b have one type (f16, bf16, f32, f64, c32, c64), c the same or,
   of real types, f32.  Any strides that struct shunt_dense allows.  `math` counts for f32 only.
   SHUNT_E_UNSUPPORTED when cuBLASLt has no algorithm for it (alignment, say).
   leaves_room: something else is to run beside the product; of 16-bit types.  `workspace` is
   256-byte aligned device memory, private to the call.  The choice of algorithm is made on the
   first call of a shape and arithmetic, and kept; of a program with thousands of shapes some are
   made on each call.  */
shunt_status shunt_cublaslt_multiply(struct shunt_cublaslt *lt, const struct shunt_dense *a,
                                     const struct shunt_dense *b, const struct shunt_dense *c,
                                     struct shunt_scalar alpha, struct shunt_scalar beta,
                                     enum shunt_math math, bool leaves_room, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream);

#endif
