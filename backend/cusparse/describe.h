/* describe.h: cuSPARSE's arguments, read back into a problem.

   Only the original's own getters are used, so descriptors may have been made in
   any way, also before Shunt was loaded.  Reading costs a few tens of nanoseconds
   and changes nothing.  */
#ifndef SHUNT_CUSPARSE_DESCRIBE_H
#define SHUNT_CUSPARSE_DESCRIBE_H

#include <cusparse.h>

#include "backend/cusparse/bsr.h"
#include "backend/cusparse/original.h"
#include "backend/cusparse/strides.h"
#include "backend/plan/problem.h"

/* The arguments of cusparseSpMM and its _bufferSize and _preprocess. */
struct shunt_spmm_arguments {
  cusparseHandle_t handle;
  cusparseOperation_t op_a, op_b;
  const void *alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  const void *beta;
  cusparseConstDnMatDescr_t c;
  cudaDataType compute;
  cusparseSpMMAlg_t algorithm;
};

/* The same of cusparseSDDMM: A and B dense, C sparse. */
struct shunt_sddmm_arguments {
  cusparseHandle_t handle;
  cusparseOperation_t op_a, op_b;
  const void *alpha;
  cusparseConstDnMatDescr_t a, b;
  const void *beta;
  cusparseConstSpMatDescr_t c;
  cudaDataType compute;
  cusparseSDDMMAlg_t algorithm;
};

/* SHUNT_FITS: *p and *stream are filled, for shunt_problem_check.  Another
   outcome: the original has to look at it (null descriptors, unknown formats and
   types, failed getters); *p may then be half filled.  */
struct shunt_outcome shunt_describe_spmm(const struct shunt_original *o,
                                         const struct shunt_spmm_arguments *x,
                                         struct shunt_problem *p, cudaStream_t *stream);
struct shunt_outcome shunt_describe_sddmm(const struct shunt_original *o,
                                          const struct shunt_sddmm_arguments *x,
                                          struct shunt_problem *p, cudaStream_t *stream);

/* What d was made of, if that was seen and the getters do not say otherwise. */
bool shunt_describe_bsr(const struct shunt_original *o, cusparseConstSpMatDescr_t d,
                        struct shunt_bsr *m);

/* What strides.h keeps a note by.  False: m is neither CSR nor COO, or cannot be read. */
bool shunt_describe_strided(const struct shunt_original *o, cusparseConstSpMatDescr_t m,
                            struct shunt_strided *out);

#endif
