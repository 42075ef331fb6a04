/* standin.h: what the parts of the loader tests know about each other.

   Everybody who sees a call writes it into the caller's handle, so a test needs no
   symbol of anybody's to learn where its call went, and threads do not meet:

     program -> [wrapper: wrapped++] -> [Shunt: entry++] -> [wrapper: wrapped++]
             -> library: calls++, copy = its number
*/
#ifndef LOADER_STANDIN_H
#define LOADER_STANDIN_H

#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <stdint.h>

struct cusparseContext {
  int copy;          /* number of the library copy that ran last */
  int calls;         /* calls that reached a library */
  int mixed;         /* more than one copy ran */
  int entry;         /* calls that went through Shunt, or its stand-in */
  int wrapped;       /* cusparseSpMM calls that went through another preload */
  int read_copy;     /* number of the copy whose getters that was given; 0: none */
  int64_t read_rows; /* rows of the sparse operand, as those getters say */
};

struct cusparseSpMatDescr {
  int64_t rows, cols, nnz;
  int copy; /* that made it */
  int batches;
  int64_t offsets_stride, entries_stride;
  int strides_by; /* number of the copy that set them */
};
struct cusparseDnMatDescr {
  int64_t rows, cols, ld;
};

/* Parameters of the exported functions, and the same as arguments. */
#define SPMM_PARAMETERS(last)                                                                      \
  cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,  \
      cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta,                  \
      cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpMMAlg_t alg, last
#define SDDMM_PARAMETERS(last)                                                                     \
  cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,  \
      cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta,                  \
      cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t alg, last
#define ARGUMENTS(last) handle, op_a, op_b, alpha, a, b, beta, c, compute, alg, last

#endif
