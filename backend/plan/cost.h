/* cost.h: microseconds that pieces of work are expected to take.

   Rates were measured on an H200 (tests/bench/limits.md); on another
   GPU they scale with the number of multiprocessors.  They only rank ways that are all
   right, so 20 % off is good enough.  All functions are pure.  */
#ifndef SHUNT_COST_H
#define SHUNT_COST_H

#include "backend/plan/options.h"
#include "backend/plan/problem.h"
#include "conv/profile/profile.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "kernels/vector/vector_kernels.h"

/* A launch that does next to nothing, in a stream that is kept busy. */
enum { SHUNT_COST_LAUNCH_US = 2 };

/* `bytes` read and written once, in order. */
double shunt_cost_copy(double bytes, const struct shunt_device *d);
/* `bytes` gathered in rows of `row_bytes` from a table of `table_bytes`. */
double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_device *d);
/* The product with a kept dense copy of A and its proof in one launch, where that pays
   (kernels/dense/dense_spmm_wgmma.cu).  */
double shunt_cost_dense_proved(const struct shunt_spmm *p, const struct shunt_device *d);
/* Dense product on cuBLAS; `math` counts for f32 only. */
double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_device *d);
/* SpMM by the kernels of `rows`, and of `groups` where its lists have so many `vectors`, the longest
   list `longest` of them.  f: NULL where nothing is known of the pattern.  */
double shunt_cost_csr(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_device *d);
double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_device *d);
/* SpMM by `blocks`, of such blocks. */
double shunt_cost_bsr(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                      const struct shunt_device *d);
/* SpMM by `vector`, each gathered row of B serving `reuse` rows of A, of which the longest has so
   many entries (0: not known).  */
double shunt_cost_vector(const struct shunt_spmm *p, double reuse, double longest_row,
                         const struct shunt_device *d);
/* The same in one launch, as `how` says. */
double shunt_cost_vector_single_launch(const struct shunt_spmm *p,
                                       const struct shunt_vector_single_launch *how, double reuse,
                                       double longest_row, const struct shunt_device *d);
/* The same from a packed copy, whose product takes so long if rows are even, and its proof, inside
   or let in while the product ends.  */
double shunt_cost_packed(const struct shunt_spmm *p, double product, double reuse,
                         double longest_row, bool inside, const struct shunt_device *d);
/* SpMM from merged tiles, whose product takes so long, and its proof, as above; and their making, where
   there are so many and the longest row has so many entries.  */
double shunt_cost_tile(const struct shunt_spmm *p, double product, bool inside,
                       const struct shunt_device *d);
double shunt_cost_tile_making(const struct shunt_csr *a, double tiles, double longest_row,
                              const struct shunt_device *d);
/* SpMM by the kernel of `sparse24` in this shape, with its proof. */
double shunt_cost_sparse24(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                           const struct shunt_device *d);
/* What the SDDMM kernels of `rows` and `vector` copy before they begin. */
double shunt_cost_sddmm_copies(const struct shunt_sddmm *p, const struct shunt_device *d);
/* SDDMM by the kernel of `rows`, with its copies. */
double shunt_cost_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_device *d);
/* SDDMM by the dense product that is sampled on the chip (kernels/dense/dense_sddmm_wgmma.cu). */
double shunt_cost_dense_sddmm(const struct shunt_sddmm *p, const struct shunt_device *d);
/* cuSPARSE itself, for the algorithm asked for. */
double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_device *d);

/* Bytes of the sparse operand's three arrays. */
double shunt_cost_csr_bytes(const struct shunt_csr *a);

#endif
